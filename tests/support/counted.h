/* SPDX-License-Identifier: MIT */
/* counted.h - caches of values that know who they are, and that count what is alive. */
#ifndef PE_TESTS_SUPPORT_COUNTED_H
#define PE_TESTS_SUPPORT_COUNTED_H

#include <stdatomic.h>

#include "cache/cache.h"

typedef struct counted_value {
    size_t bytes;
    char name[32];
} counted_value;

/** What a fill is told: how heavy its value claims to be. */
typedef struct counted_wish {
    const char *name;
    size_t bytes;
} counted_wish;

/** Values and bytes that are alive; fills of the cache made last. */
extern atomic_size_t counted_values, counted_bytes, counted_fills;
/** Names of one letter that were freed, in order, where a test has one thread. */
extern char counted_freed[256];

/** A fill, and its context: a counted_wish. */
pe_status counted_fill(void *context, void **out, size_t *bytes, pe_problem *why);

pe_cache *counted_cache_make(size_t bytes_max);
/** Fails the test when a value stays alive. */
void counted_cache_free(pe_cache *cache);
pe_cache_stats counted_stats(pe_cache *cache);

/** The entry of `name`, filled with `bytes` when absent. Returns whether it was there. */
int counted_touch(pe_cache *cache, const char *name, size_t bytes);

/** What an entry with a key of one byte weighs besides its value. */
size_t counted_overhead(void);

#endif
