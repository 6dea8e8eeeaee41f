/* SPDX-License-Identifier: MIT */
/* size.h - sizes: sums and products that may overflow, and the length of a constant array. */
#ifndef PE_BASE_SIZE_H
#define PE_BASE_SIZE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

#define PE_LEN(a) (sizeof(a) / sizeof((a)[0]))

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
