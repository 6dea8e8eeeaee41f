/* SPDX-License-Identifier: MIT */
/* hash.c - a seeded 64-bit hash of byte strings, for maps in memory. */
#include "cache/hash.h"

#include <string.h>
#include <sys/random.h>
#include <time.h>

__extension__ typedef unsigned __int128 u128;

/* The fraction of the golden ratio in 64 bits, odd: no pattern, about half its bits set. */
#define GOLDEN UINT64_C(0x9e3779b97f4a7c15)

pe_hash_seed pe_hash_seed_make(void)
{
    pe_hash_seed seed = {0};
    if (getentropy(&seed, sizeof seed) != 0) {
        /* Only kernels before 3.17 have no such call. Keys that collide are then easier to find. */
        struct timespec now = {0};
        clock_gettime(CLOCK_REALTIME, &now);
        seed.start = (uint64_t)now.tv_nsec * GOLDEN;
        seed.multiplier = (uint64_t)now.tv_sec * GOLDEN;
    }
    seed.multiplier |= 1;
    return seed;
}

/* Both halves of the product, so that each bit of the result depends on all bits. */
static uint64_t fold(uint64_t a, uint64_t b)
{
    const u128 product = (u128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint64_t pe_hash(const pe_hash_seed *seed, const void *data, size_t bytes)
{
    const unsigned char *at = data;
    uint64_t hash = seed->start ^ bytes * GOLDEN; /* the length tells padded ends apart */
    uint64_t word;
    for (size_t left = bytes; left > 0;) {
        const size_t n = left < sizeof word ? left : sizeof word;
        word = 0;
        memcpy(&word, at, n);
        hash = fold(hash ^ word, seed->multiplier);
        at += n;
        left -= n;
    }
    return fold(hash ^ seed->multiplier, GOLDEN);
}
