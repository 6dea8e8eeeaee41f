/* SPDX-License-Identifier: MIT */
/* dtype.c - element types: their names and bounds, and their elements as doubles. */
#include "base/dtype.h"

#include <assert.h>
#include <float.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "bodies and tables are little-endian");

static const struct dtype_row {
    const char *name, *safetensors;
    size_t bytes;
    double max;
} dtypes[PE_DTYPES] = {
    [PE_FLOAT32] = {"float32", "F32", 4, (double)FLT_MAX},
    [PE_FLOAT64] = {"float64", "F64", 8, DBL_MAX},
    [PE_FLOAT16] = {"float16", "F16", 2, 65504},
    [PE_BFLOAT16] = {"bfloat16", "BF16", 2, 0x1.fep127},
    [PE_INT32] = {"int32", "I32", 4, 2147483647},
};

size_t pe_dtype_bytes(pe_dtype dtype)
{
    return dtypes[dtype].bytes;
}

const char *pe_dtype_name(pe_dtype dtype)
{
    return dtypes[dtype].name;
}

const char *pe_dtype_safetensors_name(pe_dtype dtype)
{
    return dtypes[dtype].safetensors;
}

bool pe_dtype_find(pe_slice name, pe_dtype *out)
{
    for (pe_dtype dtype = 0; dtype < PE_DTYPES; dtype++)
        if (pe_slice_is(name, dtypes[dtype].name)) {
            *out = dtype;
            return true;
        }
    return false;
}

double pe_dtype_max(pe_dtype dtype)
{
    return dtypes[dtype].max;
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* A float of 1 sign bit, `exponent_bits` and `fraction_bits`, as a double; always exact. */
static double widen(uint32_t bits, int exponent_bits, int fraction_bits)
{
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const uint32_t exponent = bits >> fraction_bits & ((1U << exponent_bits) - 1);
    const uint64_t fraction = bits & ((1U << fraction_bits) - 1);
    const uint64_t sign = (uint64_t)(bits >> (exponent_bits + fraction_bits) & 1) << 63;
    uint64_t wide;
    if (exponent == (1U << exponent_bits) - 1)
        wide = 0x7ffULL << 52 | fraction << (52 - fraction_bits) |
               (fraction ? 1ULL << 51 : 0); /* a NaN is quiet, as conversion instructions make it */
    else if (exponent != 0)
        wide = (uint64_t)((int)exponent - bias + 1023) << 52 | fraction << (52 - fraction_bits);
    else /* subnormal: fraction * 2^(1 - bias - fraction_bits), a product of exact doubles */
        wide = bits_of((double)fraction * (double)__builtin_ldexp(1, 1 - bias - fraction_bits));
    wide |= sign;
    double value;
    memcpy(&value, &wide, sizeof value);
    return value;
}

/* The inverse of widen: rounded once, ties to even; overflow gives an infinity, NaN the canonical
 * quiet NaN. */
static uint32_t narrow(double value, int exponent_bits, int fraction_bits)
{
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const uint32_t infinity = ((1U << exponent_bits) - 1) << fraction_bits;
    const uint64_t wide = bits_of(value);
    const uint32_t sign = (uint32_t)(wide >> 63) << (exponent_bits + fraction_bits);
    const int exponent = (int)(wide >> 52 & 0x7ff) - 1023;
    const uint64_t significand = (wide & ((1ULL << 52) - 1)) | 1ULL << 52;
    if (value != value)
        return infinity | 1U << (fraction_bits - 1);
    if (exponent > bias)
        return sign | infinity;
    /* Below the normal range the last place stays at 2^(1 - bias - fraction_bits). */
    const int below = exponent < 1 - bias ? 1 - bias - exponent : 0;
    const int shift = 52 - fraction_bits + below;
    if (shift > 54 || exponent == -1023)
        return sign;
    const uint64_t half = 1ULL << (shift - 1), odd = significand >> shift & 1; /* ties to even */
    const uint32_t rounded = (uint32_t)((significand + (half - 1) + odd) >> shift);
    /* A carry out of the fraction moves into the exponent, and out of the largest finite into
     * infinity. */
    const uint32_t field = below ? 0 : (uint32_t)(exponent + bias - 1) << fraction_bits;
    return sign | (field + rounded);
}

double pe_dtype_load(pe_dtype dtype, const void *at)
{
    double f64;
    float f32;
    uint16_t u16;
    int32_t i32;
    switch (dtype) {
    case PE_FLOAT64:
        memcpy(&f64, at, sizeof f64);
        return f64;
    case PE_FLOAT32:
        memcpy(&f32, at, sizeof f32);
        return (double)f32;
    case PE_INT32:
        memcpy(&i32, at, sizeof i32);
        return i32;
    case PE_FLOAT16:
        memcpy(&u16, at, sizeof u16);
        return widen(u16, 5, 10);
    case PE_BFLOAT16:
        memcpy(&u16, at, sizeof u16);
        return widen(u16, 8, 7);
    case PE_DTYPES:
        break;
    }
    assert(false);
    return 0;
}

static void store16(uint32_t bits, void *at)
{
    const uint16_t u16 = (uint16_t)bits;
    memcpy(at, &u16, sizeof u16);
}

void pe_dtype_store(pe_dtype dtype, double value, void *at)
{
    switch (dtype) {
    case PE_FLOAT64:
        if (value != value)
            value = __builtin_nan("");
        memcpy(at, &value, sizeof value);
        return;
    case PE_FLOAT32: {
        const float f32 = value != value ? __builtin_nanf("") : (float)value;
        memcpy(at, &f32, sizeof f32);
        return;
    }
    case PE_INT32: {
        assert(value >= INT32_MIN && value <= INT32_MAX);
        const int32_t i32 = (int32_t)value;
        memcpy(at, &i32, sizeof i32);
        return;
    }
    case PE_FLOAT16:
        store16(narrow(value, 5, 10), at);
        return;
    case PE_BFLOAT16:
        store16(narrow(value, 8, 7), at);
        return;
    case PE_DTYPES:
        break;
    }
    assert(false);
}
