/* SPDX-License-Identifier: MIT */
/* packs_data.S - the table that pack.c declares; the Makefile lists the files. */

/* A row of pe_pack_recipe, and what it points at. */
.macro pack name, file
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
    .global pe_pack_table
    .type pe_pack_table, %object
    .balign 8
pe_pack_table:
    .include "packs.inc"
    .section .data.rel.ro, "aw"
4:
    .size pe_pack_table, . - pe_pack_table

    .section .rodata
    .global pe_pack_length
    .type pe_pack_length, %object
    .balign 8
pe_pack_length:
    .8byte (4b - pe_pack_table) / 24
    .size pe_pack_length, 8

    .section .note.GNU-stack, "", %progbits
