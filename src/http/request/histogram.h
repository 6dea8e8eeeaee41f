/* SPDX-License-Identifier: MIT */
/* histogram.h - how many durations were how long. */
#ifndef PE_HTTP_REQUEST_HISTOGRAM_H
#define PE_HTTP_REQUEST_HISTOGRAM_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/** Upper bounds of the buckets, in nanoseconds; the last bucket has none. */
#define PE_HISTOGRAM_BOUNDS 17
extern const int64_t pe_histogram_bounds[PE_HISTOGRAM_BOUNDS];

typedef struct pe_histogram {
    atomic_uint_fast64_t bucket[PE_HISTOGRAM_BOUNDS + 1]; /* of each alone, not cumulative */
    atomic_uint_fast64_t nanoseconds;                     /* the sum */
} pe_histogram;

static inline void pe_histogram_add(pe_histogram *histogram, int64_t nanoseconds)
{
    size_t b = 0;
    while (b < PE_HISTOGRAM_BOUNDS && nanoseconds > pe_histogram_bounds[b])
        b++;
    atomic_fetch_add_explicit(&histogram->bucket[b], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&histogram->nanoseconds, (uint64_t)nanoseconds, memory_order_relaxed);
}

#endif
