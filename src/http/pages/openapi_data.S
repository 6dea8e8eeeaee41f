/* SPDX-License-Identifier: MIT */
/* openapi_data.S - the bytes that document_pages.h declares; the Makefile says where the files lie. */

/* name: the file and a zero byte; name_bytes: its size without that, as a size_t of 64 bits. */
.macro document name, file
    .global \name
    .type \name, %object
    .balign 16
\name:
    .incbin "\file"
1:
    .byte 0
    .size \name, . - \name

    .global \name\()_bytes
    .type \name\()_bytes, %object
    .balign 8
\name\()_bytes:
    .8byte 1b - \name
    .size \name\()_bytes, 8
.endm

    .section .rodata
    document pe_openapi_data_yaml, "openapi.yaml"
    document pe_openapi_data_json, "openapi.json"

    .section .note.GNU-stack, "", %progbits
