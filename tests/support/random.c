/* SPDX-License-Identifier: MIT */
/* random.c - the random numbers of all tests. One seed makes all numbers of a program. */
#include "support/random.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t seed_of_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static uint64_t seed_of_program(void)
{
    static uint64_t seed;
    static bool known;
    if (known)
        return seed;
    const char *given = getenv("POSENC_TEST_SEED");
    seed = given ? strtoull(given, NULL, 10) : seed_of_clock();
    known = true;
    printf("POSENC_TEST_SEED=%" PRIu64 " %s\n", seed, program_invocation_name);
    fflush(stdout); /* a program that crashes has told its seed */
    return seed;
}

random_source random_make(const char *name)
{
    const uint64_t seed = seed_of_program();
    random_source source = random_fixed(seed);
    for (const char *c = name; *c != '\0'; c++) /* FNV-1a: Fowler, Noll, Vo 1991 */
        source.state = (source.state ^ (unsigned char)*c) * 0x100000001b3;
    source.state = random_bits(&source);
    return source;
}

random_source random_fixed(uint64_t seed)
{
    return (random_source){.seed = seed, .state = seed};
}

#define STEP 0x9e3779b97f4a7c15

/* SplitMix64: Steele, Lea, Flood 2014, "Fast splittable pseudorandom number generators", fig. 17 */
uint64_t random_bits(random_source *source)
{
    uint64_t z = source->state += STEP;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

uint64_t random_at(uint64_t seed, uint64_t k)
{
    random_source source = random_fixed(seed + k * STEP);
    return random_bits(&source);
}

size_t random_below(random_source *source, size_t n)
{
    return random_bits(source) % n;
}

int64_t random_int(random_source *source, int64_t low, int64_t high)
{
    const uint64_t span = (uint64_t)high - (uint64_t)low + 1;
    return (int64_t)((uint64_t)low + random_bits(source) % span);
}

double random_real(random_source *source, double low, double high)
{
    return low + (high - low) * ((double)(random_bits(source) >> 11) * 0x1p-53);
}

double *random_reals(random_source *source, size_t n, double low, double high)
{
    double *out = malloc(n * sizeof *out);
    if (out == NULL)
        abort();
    for (size_t i = 0; i < n; i++)
        out[i] = random_real(source, low, high);
    return out;
}

double random_magnitude(random_source *source, double most)
{
    return pow(most, random_real(source, 0, 1));
}

double random_value(random_source *source, pe_dtype dtype)
{
    for (;;) {
        const uint64_t bits = random_bits(source);
        unsigned char element[8];
        memcpy(element, &bits, sizeof element);
        const double value = pe_dtype_load(dtype, element);
        if (isfinite(value))
            return value;
    }
}
