/* SPDX-License-Identifier: MIT */
/* tables.h - frequency sets, rows of sines and cosines, and other numbers that requests share. */
#ifndef PE_TABLES_TABLES_H
#define PE_TABLES_TABLES_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "cache/cache.h"
#include "exact/wave.h"
#include "tables/learned_tables.h"

/** Rows of a block; blocks are aligned to absolute multiples of this. */
#define PE_BLOCK_ROWS 64

typedef struct pe_tables pe_tables;

pe_status pe_tables_make(size_t bytes_max, pe_tables **out, pe_problem *why) PE_MUST_CHECK;
void pe_tables_free(pe_tables *tables);
void pe_tables_stats(pe_tables *tables, pe_cache_stats *out);
/** As pe_cache_evict. */
size_t pe_tables_evict(pe_tables *tables, size_t bytes);

/** From now on these are the learned tables; NULL: there are none. Takes the reference. What was
 * there before lives until its last user is done.   Threads  any. */
void pe_tables_use_learned(pe_tables *tables, pe_learned_tables *learned);
/** A reference, which pe_learned_tables_free ends; NULL where there are none.   Threads  any. */
pe_learned_tables *pe_tables_learned(pe_tables *tables);

/** Ends the reference that a pe_shared_wave, pe_block or pe_shared_numbers holds, which begin with it;
 * nothing of one that holds none. As pe_plan_owns wants it. */
void pe_tables_unref(void *shared);

/** A shared frequency set; made by one thread from spec when absent. The key is the whole spec
 * (callbacks and formula). */
typedef struct pe_shared_wave {
    pe_cache_entry *entry;
    const pe_wave *wave;
    uint64_t id; /* names the set in the keys of its row blocks; never reused */
} pe_shared_wave;

pe_status pe_tables_wave(pe_tables *tables, const pe_wave_spec *spec, pe_shared_wave *out,
                         pe_problem *why) PE_MUST_CHECK;

/**
 * cos and sin, float64, amplitude included, correctly rounded: cos[r*n + i] for positions block*64
 * + r. Absolute, so 0:512, 0:2048 and any rotation find the same rows.
 */
typedef struct pe_block {
    pe_cache_entry *entry;
    const double *cos, *sin; /* [PE_BLOCK_ROWS, n] */
} pe_block;

/** block may be negative; positions outside +-2^53 are not asked for. */
pe_status pe_tables_block(pe_tables *tables, const pe_shared_wave *wave, int64_t block,
                          pe_block *out, pe_problem *why) PE_MUST_CHECK;

/** Numbers of any kind that make(formula, out) writes. */
typedef struct pe_numbers_spec {
    size_t bytes;                                 /* of all numbers */
    void (*make)(const void *formula, void *out); /* out: [bytes], zeroed, aligned for any type */
    const void *formula;                          /* plain data without padding */
    size_t formula_bytes;
} pe_numbers_spec;

typedef struct pe_shared_numbers {
    pe_cache_entry *entry;
    const void *data; /* [bytes] */
} pe_shared_numbers;

/** Made by one thread from spec when absent. The key is the whole spec: formula tells all that make
 * depends on. Errors  OVERLOADED (memory). */
pe_status pe_tables_numbers(pe_tables *tables, const pe_numbers_spec *spec, pe_shared_numbers *out,
                            pe_problem *why) PE_MUST_CHECK;

#endif
