/* SPDX-License-Identifier: MIT */
/* catalogue_data.S - the table that catalogue.c declares, and the texts of model_types.c, input.c
 * and engine_setting.c; the Makefile lists the files. */
#include "base/file_table.inc"

    file_table pe_catalogue_table, pe_catalogue_length, "models.inc"

/* A file and a zero byte. */
.macro text name, path
    .global \name
    .type \name, %object
\name:
    .incbin "\path"
    .byte 0
    .size \name, . - \name
.endm

    .section .rodata
    text pe_model_types_text, "config/model_types.json"
    text pe_renamings_text, "config/renamings.json"
    text pe_engines_text, "config/engines.json"

    .section .note.GNU-stack, "", %progbits
