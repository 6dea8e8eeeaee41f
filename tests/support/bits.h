/* SPDX-License-Identifier: MIT */
/* bits.h - the bits of a double, and back. */
#ifndef PE_TESTS_SUPPORT_BITS_H
#define PE_TESTS_SUPPORT_BITS_H

#include <stdint.h>
#include <string.h>

static inline uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline double double_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

#endif
