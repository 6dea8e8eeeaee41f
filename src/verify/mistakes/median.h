/* SPDX-License-Identifier: MIT */
/* median.h - the middle of many numbers, and the length of a pair. */
#ifndef PE_VERIFY_MISTAKES_MEDIAN_H
#define PE_VERIFY_MISTAKES_MEDIAN_H

#include <math.h>
#include <stddef.h>

/** The number that has n/2 before it in order; NAN: there is none. The list, of no NaN, is
 * reordered. */
double pe_median(double *list, size_t n);

/** sqrt(x^2 + y^2), to an ulp or two; of numbers whose squares are numbers. */
static inline double pe_length(double x, double y)
{
    return sqrt(x * x + y * y);
}

#endif
