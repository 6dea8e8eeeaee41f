/* SPDX-License-Identifier: MIT */
/* pair.c - numbers as sums of two doubles: about 106 bits, the same ones on every machine. */
#include "exact/pair.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/yield.h"

/* Dekker's: |a| >= |b|. */
static pe_pair quick_sum(double a, double b)
{
    const double sum = a + b;
    return (pe_pair){sum, b - (sum - a)};
}

pe_pair pe_pair_product(double a, double b)
{
    const double product = a * b;
    return (pe_pair){product, fma(a, b, -product)};
}

pe_pair pe_pair_add(pe_pair a, pe_pair b)
{
    const pe_pair high = pe_pair_sum(a.hi, b.hi), low = pe_pair_sum(a.lo, b.lo);
    const pe_pair sum = quick_sum(high.hi, high.lo + low.hi);
    return quick_sum(sum.hi, low.lo + sum.lo);
}

pe_pair pe_pair_mul(pe_pair a, pe_pair b)
{
    const pe_pair high = pe_pair_product(a.hi, b.hi);
    const double cross = fma(a.lo, b.hi, a.hi * b.lo);
    return quick_sum(high.hi, high.lo + cross);
}

double pe_pair_to_odd(pe_pair x)
{
    uint64_t bits;
    memcpy(&bits, &x.hi, sizeof bits);
    if (x.lo != 0 && x.hi != 0 && (bits & 1) == 0)
        bits += (x.lo > 0) == (x.hi > 0) ? 1 : UINT64_MAX;
    memcpy(&x.hi, &bits, sizeof x.hi);
    return x.hi;
}

void pe_pair_accumulate(pe_pair a, const double *x, size_t n, pe_pair *sum)
{
    pe_yield_look(n);
    for (size_t i = 0; i < n; i++) {
        const double product = a.hi * x[i];
        const pe_pair next = pe_pair_sum(sum[i].hi, product);
        sum[i] =
            (pe_pair){next.hi, sum[i].lo + (next.lo + fma(a.hi, x[i], -product) + a.lo * x[i])};
    }
}

pe_pair pe_pair_dot(const double *x, const double *y, size_t n)
{
    double sum = 0, rest = 0;
    pe_yield_look(n);
    for (size_t j = 0; j < n; j++) {
        const pe_pair product = pe_pair_product(x[j], y[j]);
        const pe_pair next = pe_pair_sum(sum, product.hi);
        sum = next.hi;
        rest += product.lo + next.lo;
    }
    return pe_pair_sum(sum, rest);
}
