/* SPDX-License-Identifier: MIT */
/* random.c - random numbers whose seed is told, so that a failure can be had again. */
#include "support/check.h"
#include "support/random.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

random_source random_make(const char *name)
{
    const char *given = getenv("POSENC_TEST_SEED");
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    const uint64_t clock = (uint64_t)now.tv_sec * 1000000007 + (uint64_t)now.tv_nsec;
    const uint64_t seed = given ? strtoull(given, NULL, 10) : clock;
    print_message("%s: POSENC_TEST_SEED=%" PRIu64 "\n", name, seed);
    return (random_source){.seed = seed, .state = seed};
}

/* SplitMix64: Steele, Lea, Flood 2014, "Fast splittable pseudorandom number generators", figure 17.
 */
uint64_t random_bits(random_source *source)
{
    uint64_t z = source->state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
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
