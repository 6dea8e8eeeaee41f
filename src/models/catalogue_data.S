/* SPDX-License-Identifier: MIT */
/* catalogue_data.S - the table that catalogue.c declares, and the texts of model_types.c and
 * input.c; the Makefile lists the files. */

/* A row of pe_catalogue_file, and what it points at. */
.macro model name, file
    .section .rodata
1:
    .asciz "\name"
2:
    .incbin "\file"
3:
    .byte 0

    .section .data.rel.ro, "aw"
    .8byte 1b, 2b, 3b - 2b
.endm

    .section .data.rel.ro, "aw"
    .global pe_catalogue_table
    .type pe_catalogue_table, %object
    .balign 8
pe_catalogue_table:
    .include "models.inc"
    .section .data.rel.ro, "aw"
4:
    .size pe_catalogue_table, . - pe_catalogue_table

    .section .rodata
    .global pe_catalogue_length
    .type pe_catalogue_length, %object
    .balign 8
pe_catalogue_length:
    .8byte (4b - pe_catalogue_table) / 24
    .size pe_catalogue_length, 8

    .global pe_model_types_text
    .type pe_model_types_text, %object
pe_model_types_text:
    .incbin "config/model_types.json"
    .byte 0
    .size pe_model_types_text, . - pe_model_types_text

    .global pe_renamings_text
    .type pe_renamings_text, %object
pe_renamings_text:
    .incbin "config/renamings.json"
    .byte 0
    .size pe_renamings_text, . - pe_renamings_text

    .section .note.GNU-stack, "", %progbits
