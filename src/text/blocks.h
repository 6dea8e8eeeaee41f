/* SPDX-License-Identifier: MIT */
/* blocks.h - many numbers as text at once, and the variants that print them. */
#ifndef PE_TEXT_BLOCKS_H
#define PE_TEXT_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/dtype.h"

/** One variant. All variants write the same text. */
typedef struct pe_blocks {
    const char *name; /* "baseline", "v3", "v4", "vbmi2" */
    /**
     * Print n elements of a float32, float16 or bfloat16 array, each followed by the separator, and
     * return where the text ends. Room as for pe_blocks_print.
     */
    char *(*print)(pe_dtype dtype, const void *data, size_t n, char separator, char *out);
    /** The same for float64. */
    char *(*print_doubles)(const void *data, size_t n, char separator, char *out);
} pe_blocks;

/** The variant chosen at start. Before pe_blocks_select it is the best the CPU has. */
const pe_blocks *pe_blocks_get(void);

/** The variants this CPU can run, baseline first; NULL-terminated. */
const pe_blocks *const *pe_blocks_all(void);

/**
 * Choose how pe_blocks_print works on blocks, by name: "auto", "baseline", "v3", "v4" or "vbmi2".
 * All give the same text. False when there is no such variant or this CPU cannot run it; the one
 * in use then stays, at first the best there is. Threads: once, before others run.
 */
bool pe_blocks_select(const char *name);

/**
 * Print n elements of dtype at `data` (packed little-endian, any alignment), each followed by
 * `separator` except the last. out needs n * PE_NUMBER_TEXT_MAX bytes. Returns the bytes written.
 */
size_t pe_blocks_print(pe_dtype dtype, const void *data, size_t n, char separator, char *out);

/** What the text of a number costs, printed with n - 1 others, beside what it costs in binary: units
 * of work (plan/price.h), as measured. */
size_t pe_blocks_work(pe_dtype dtype, size_t n);

#endif
