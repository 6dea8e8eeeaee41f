/* SPDX-License-Identifier: MIT */
/* random.h - random numbers whose seed is told, so that a failure can be had again. */
#ifndef PE_TESTS_SUPPORT_RANDOM_H
#define PE_TESTS_SUPPORT_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"

typedef struct random_source {
    uint64_t seed, state;
} random_source;

/** Seeded by POSENC_TEST_SEED, else by the clock; prints the seed under `name`. */
random_source random_make(const char *name);

uint64_t random_bits(random_source *source);
/** Uniform in [low, high], inclusive; not all of int64_t. */
int64_t random_int(random_source *source, int64_t low, int64_t high);
/** Uniform in [low, high). */
double random_real(random_source *source, double low, double high);
/** A finite value of dtype: magnitudes of every exponent, zeros of both signs, subnormals. */
double random_value(random_source *source, pe_dtype dtype);

#endif
