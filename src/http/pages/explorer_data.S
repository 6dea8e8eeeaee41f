/* SPDX-License-Identifier: MIT */
/* explorer_data.S - the table that document_pages.h declares; src/web/pack lists the files. */

/* A pe_document_form: the bytes of the file, their number, and the tag, of 32 digits. */
.macro form file, tag
    .section .rodata
1:
    .incbin "\file"
2:
    .section .data.rel.ro, "aw"
    .8byte 1b, 2b - 1b
    .asciz "\"\tag\""
    .balign 8
.endm

/* A row of pe_explorer_files, its forms in the order of pe_coding. */
.macro asset path, type, file, plain, gzip, zstd
    .section .rodata
1:
    .asciz "\path"
2:
    .asciz "\type"
    .section .data.rel.ro, "aw"
    .8byte 1b, 2b
    form "\file", \plain
    form "\file\().gz", \gzip
    form "\file\().zst", \zstd
.endm

    .section .data.rel.ro, "aw"
    .global pe_explorer_files
    .type pe_explorer_files, %object
    .balign 8
pe_explorer_files:
    .include "assets.inc"
    .section .data.rel.ro, "aw"
4:
    .size pe_explorer_files, . - pe_explorer_files

    .section .rodata
    .global pe_explorer_length
    .type pe_explorer_length, %object
    .balign 8
pe_explorer_length:
    .8byte (4b - pe_explorer_files) / (16 + 3 * 56)
    .size pe_explorer_length, 8

    .section .note.GNU-stack, "", %progbits
