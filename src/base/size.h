/* SPDX-License-Identifier: MIT */
/* size.h - sizes: the smaller one, sums and products that may overflow, the length of a constant
 * array. */
#ifndef PE_BASE_SIZE_H
#define PE_BASE_SIZE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

#define PE_LEN(a) (sizeof(a) / sizeof((a)[0]))

static inline size_t pe_size_min(size_t a, size_t b)
{
    return a < b ? a : b;
}

/** a*b into *out, or false on overflow; *out is untouched then. */
PE_MUST_CHECK static inline bool pe_size_mul(size_t a, size_t b, size_t *out)
{
    size_t product;
    if (__builtin_mul_overflow(a, b, &product))
        return false;
    *out = product;
    return true;
}

/** a+b into *out, or false on overflow; *out is untouched then. */
PE_MUST_CHECK static inline bool pe_size_add(size_t a, size_t b, size_t *out)
{
    size_t sum;
    if (__builtin_add_overflow(a, b, &sum))
        return false;
    *out = sum;
    return true;
}

#endif
