/* SPDX-License-Identifier: MIT */
/* hash.h - a seeded 64-bit hash of byte strings, for maps in memory. */
#ifndef PE_CACHE_HASH_H
#define PE_CACHE_HASH_H

#include <stddef.h>
#include <stdint.h>

/** Secret of one map, so that nobody outside can choose keys that collide. */
typedef struct pe_hash_seed {
    uint64_t start, multiplier;
} pe_hash_seed;

pe_hash_seed pe_hash_seed_make(void);

/** Every bit depends on every byte of data; differs from process to process: never stored or
 * sent. */
uint64_t pe_hash(const pe_hash_seed *seed, const void *data, size_t bytes);

#endif
