/* SPDX-License-Identifier: MIT */
/* blocks.h - printing many numbers at once: the variants, and what they share. */
#ifndef PE_TEXT_BLOCKS_H
#define PE_TEXT_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

#include "base/array.h"

/** One variant. All variants write the same text. */
typedef struct pe_blocks {
    const char *name; /* "baseline", "v3", "v4", "vbmi2" */
    /**
     * Print n elements of a float32, float16 or bfloat16 array, each followed by the separator, and
     * return where the text ends. Room as for pe_numbers_print.
     */
    char *(*print)(pe_dtype dtype, const void *data, size_t n, char separator, char *out);
    /** The same for float64. */
    char *(*print_doubles)(const void *data, size_t n, char separator, char *out);
} pe_blocks;

/** The variant chosen at start. Before pe_blocks_select it is the best the CPU has. */
const pe_blocks *pe_blocks_get(void);

/** The variants this CPU can run, baseline first; NULL-terminated. */
const pe_blocks *const *pe_blocks_all(void);

#endif
