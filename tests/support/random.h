/* SPDX-License-Identifier: MIT */
/* random.h - the random numbers of all tests. One seed makes all numbers of a program. */
#ifndef PE_TESTS_SUPPORT_RANDOM_H
#define PE_TESTS_SUPPORT_RANDOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"

typedef struct random_source {
    uint64_t seed, state;
} random_source;

/**
 * The numbers that the program's seed gives to `name`. Two names get independent numbers.
 *
 * The environment variable POSENC_TEST_SEED is the seed; without it the clock is. The first call
 * prints the line "POSENC_TEST_SEED=seed program", which is the command that repeats the run.
 * tests/run knows by this line that a program draws random numbers. Threads: the main thread only.
 */
random_source random_make(const char *name);

/** The same numbers in every run: for inputs of benchmarks, and for what digests were made of. */
random_source random_fixed(uint64_t seed);
/** Number k, from 0 on, of random_fixed(seed). */
uint64_t random_at(uint64_t seed, uint64_t k);

uint64_t random_bits(random_source *source);
/** Uniform in [0, n). */
size_t random_below(random_source *source, size_t n);
/** Uniform in [low, high], inclusive; not all of int64_t. */
int64_t random_int(random_source *source, int64_t low, int64_t high);
/** Uniform in [low, high). */
double random_real(random_source *source, double low, double high);
/** n of them; free them. */
double *random_reals(random_source *source, size_t n, double low, double high);
/** In [1, most), its logarithm uniform. */
double random_magnitude(random_source *source, double most);
/** A finite value of dtype: magnitudes of every exponent, zeros of both signs, subnormals. */
double random_value(random_source *source, pe_dtype dtype);

#endif
