/* SPDX-License-Identifier: MIT */
/* pair.h - numbers as sums of two doubles: about 106 bits, the same ones on every machine. */
#ifndef PE_EXACT_PAIR_H
#define PE_EXACT_PAIR_H

#include <stddef.h>

/** hi + lo, hi the double nearest to it. Nothing here may overflow: callers keep below 2^1000. */
typedef struct pe_pair {
    double hi, lo;
} pe_pair;

/** a + b and a * b, exactly (but for what lies below 2^-1074). The sum is Knuth's: six operations,
 * whichever is larger. */
static inline pe_pair pe_pair_sum(double a, double b)
{
    const double sum = a + b, part = sum - a;
    return (pe_pair){sum, (a - (sum - part)) + (b - part)};
}
pe_pair pe_pair_product(double a, double b);

/**
 * a + b, and a * b.
 *
 * Source    Joldes, Muller, Popescu 2017, "Tight and rigorous error bounds for basic building
 *           blocks of double-word arithmetic", algorithms 6 and 11.
 * Accuracy  2^-103 relative.
 */
pe_pair pe_pair_add(pe_pair a, pe_pair b);
pe_pair pe_pair_mul(pe_pair a, pe_pair b);

/** hi + lo rounded to odd: the last bit is odd unless the double is exact. Rounded once more, to a
 * narrower type, it is as if hi + lo had been rounded once. */
double pe_pair_to_odd(pe_pair x);

/** sum[i] += a * x[i] for n of them, each by a step of pe_pair_dot; sums are normal only after
 * pe_pair_sum of their two parts. */
void pe_pair_accumulate(pe_pair a, const double *x, size_t n, pe_pair *sum);

/**
 * x . y: products and sums of pairs, first to last.
 *
 * Source    Ogita, Rump, Oishi 2005, "Accurate sum and dot product", algorithm 5.3 (Dot2).
 * Accuracy  2^-105 n^2 sum_j |x_j y_j|, absolute.
 */
pe_pair pe_pair_dot(const double *x, const double *y, size_t n);

#endif
