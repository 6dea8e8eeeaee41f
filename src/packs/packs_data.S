/* SPDX-License-Identifier: MIT */
/* packs_data.S - the table that pack.c declares; the Makefile lists the files. */
#include "base/file_table.inc"

    file_table pe_pack_table, pe_pack_length, "packs.inc"

    .section .note.GNU-stack, "", %progbits
