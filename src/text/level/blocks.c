/* SPDX-License-Identifier: MIT */
/* blocks.c - blocks of narrow floats to text, in loops that compilers turn into vectors. */
#include "text/blocks.h"

#include <math.h>
#include <string.h>

#include "text/digits.h"
#include "text/grid.h"
#include "text/level/level.h"
#include "text/number.h"

typedef struct block {
    float value[PE_BLOCK];
    uint32_t number[PE_BLOCK]; /* nine digits */
    uint32_t kind[PE_BLOCK];
    uint32_t first[PE_BLOCK];     /* the first digit */
    uint32_t fours[2 * PE_BLOCK]; /* the other eight, four by four */
} block;

/* Nearest integer, ties to even, for |x| < 2^51. */
static inline double nearest(double x)
{
    return x + 0x1.8p52 - 0x1.8p52;
}

static void widen_bfloat16(const char *in, size_t n, float *out)
{
    for (size_t i = 0; i < n; i++) {
        uint16_t half;
        memcpy(&half, in + 2 * i, 2);
        uint32_t bits = (uint32_t)half << 16;
        memcpy(out + i, &bits, 4);
    }
}

/*
 * The fraction and exponent fields moved to their places in a float are the value times 2^-112;
 * infinities and NaNs become numbers above 2^15, which are for the general path all the same.
 */
static void widen_float16(const char *in, size_t n, float *out)
{
    for (size_t i = 0; i < n; i++) {
        uint16_t half;
        memcpy(&half, in + 2 * i, 2);
        uint32_t bits = (half & 0x7fffU) << 13, sign = (half & 0x8000U) << 16, wide;
        float magnitude;
        memcpy(&magnitude, &bits, 4);
        magnitude *= 0x1p112F;
        memcpy(&wide, &magnitude, 4);
        wide |= sign;
        memcpy(out + i, &wide, 4);
    }
}

static void widen(pe_dtype dtype, const char *in, size_t n, float *out)
{
    if (dtype == PE_FLOAT32)
        memcpy(out, in, 4 * n);
    else if (dtype == PE_FLOAT16)
        widen_float16(in, n, out);
    else
        widen_bfloat16(in, n, out);
    memset(out + n, 0, (PE_BLOCK - n) * sizeof *out);
}

/* Pass 1: the digits as one number. grid.h tells the method. */
static void find_digits(const pe_grid *grid, block *b)
{
    const double s0 = grid->scale[0], s1 = grid->scale[1], s2 = grid->scale[2], s3 = grid->scale[3],
                 s4 = grid->scale[4], s5 = grid->scale[5];
    const float b0 = grid->bound[0], b1 = grid->bound[1], b2 = grid->bound[2], b3 = grid->bound[3],
                b4 = grid->bound[4];
    const double half = grid->half, lift0 = grid->first_lift, lift = grid->lift;
    for (size_t i = 0; i < PE_BLOCK; i++) {
        uint32_t bits, power_bits;
        float power;
        memcpy(&bits, &b->value[i], 4);
        power_bits = bits & 0x7f800000;
        memcpy(&power, &power_bits, 4);
        float m = fabsf(b->value[i]);
        double scale = m < b0 ? s1 : s0;
        scale = m < b1 ? s2 : scale;
        scale = m < b2 ? s3 : scale;
        scale = m < b3 ? s4 : scale;
        scale = m < b4 ? s5 : scale;
        double y = (double)m * scale, h = (double)power * half * scale;
        double n = nearest(y), tens = nearest(y * 0.1) * 10;
        n = fabs(tens - y) < h ? tens : n;
        n *= m < b0 ? lift : lift0;
        b->number[i] = (uint32_t)(int32_t)(n < 1e9 ? n : 0);
    }
}

/* Returns whether there are any from 10 up. */
static bool find_kinds(const pe_grid *grid, block *b)
{
    uint32_t large = 0;
    const float b1 = grid->bound[1], b2 = grid->bound[2], b3 = grid->bound[3], b4 = grid->bound[4];
    for (size_t i = 0; i < PE_BLOCK; i++) {
        uint32_t bits;
        memcpy(&bits, &b->value[i], 4);
        float m = fabsf(b->value[i]);
        uint32_t zeros =
            (uint32_t)(m < b1) + (uint32_t)(m < b2) + (uint32_t)(m < b3) + (uint32_t)(m < b4);
        zeros = m < PE_FLOAT_1E_4 || bits << 9 == 0 ? PE_GENERAL / 2 : zeros;
        zeros = m >= 1 || m == 0 ? 0 : zeros;
        zeros = m < 10 ? zeros : PE_GENERAL / 2;
        large |= m >= 10;
        b->kind[i] = 2 * zeros + (bits >> 31);
    }
    return large != 0;
}

/* Digits and kinds of those from 10 up; as find_digits, but power and places are looked up. */
static void find_large(pe_dtype dtype, block *b)
{
    static const double powers[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8};
    const double half = pe_grids[dtype].half;
    const float below = dtype == PE_FLOAT16 ? 0x1p16F : PE_LARGE_BELOW; /* widen_float16 */
    for (size_t i = 0; i < PE_BLOCK; i++) {
        uint32_t bits, power_bits;
        float power;
        const float m = fabsf(b->value[i]);
        if (!(m >= 10 && m < below))
            continue;
        memcpy(&bits, &m, 4);
        power_bits = bits & 0x7f800000;
        memcpy(&power, &power_bits, 4);
        const pe_large_grid *grid = &pe_large_grids[(bits >> 23) - 127 - PE_LARGE_FIRST];
        const uint32_t shift = grid->power[dtype],
                       places = grid->places + (uint32_t)(m >= grid->bound);
        const double scale = powers[shift], y = (double)m * scale;
        const double h = shift == 0 ? 0 : (double)power * half * scale;
        const double n = nearest(y), tens = nearest(y * 0.1) * 10;
        const double digits = fabs(tens - y) < h ? tens : n;
        b->number[i] = (uint32_t)(digits * powers[9 - places - shift]);
        b->kind[i] = PE_LARGE + 2 * places + (signbit(b->value[i]) != 0);
    }
}

static inline size_t zeros_at_end(uint64_t digits)
{
    return digits == 0 ? 8 : (size_t)__builtin_clzll(digits) / 8;
}

static inline size_t write_large(const block *b, size_t i, char *out)
{
    uint64_t digits;
    memcpy(&digits, b->fours + 2 * i, 8);
    return pe_write_nine(b->kind[i], b->first[i], digits, 9 - zeros_at_end(digits), out);
}

/* Pass 3: the text, by stores of fixed size. */
static char *write_block(pe_dtype dtype, const char *in, const block *b, size_t n, char separator,
                         char *out)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t kind = b->kind[i];
        if (__builtin_expect(kind >= PE_KINDS, 0)) {
            out += kind < PE_GENERAL
                       ? write_large(b, i, out)
                       : pe_number_print(dtype,
                                         pe_dtype_load(dtype, in + i * pe_dtype_bytes(dtype)), out);
            *out++ = separator;
            continue;
        }
        pe_prefix start = pe_prefixes[kind];
        uint64_t head, digits;
        memcpy(&head, start.text, 8);
        memcpy(&digits, b->fours + 2 * i, 8);
        head += (uint64_t)b->first[i] << start.shift;
        size_t zeros = zeros_at_end(digits);
        /* A whole number keeps no point. */
        size_t bytes = start.bytes + 8U - zeros - (kind < 2 && digits == 0);
        digits |= PE_EIGHT_ZEROS;
        memcpy(out, &head, 8);
        memcpy(out + start.bytes, &digits, 8);
        out += bytes;
        *out++ = separator;
    }
    return out;
}

static char *print(pe_dtype dtype, const void *data, size_t n, char separator, char *out)
{
    const char *in = data;
    const size_t element_bytes = pe_dtype_bytes(dtype);
    block b;
    while (n > 0) {
        size_t some = n < PE_BLOCK ? n : PE_BLOCK;
        widen(dtype, in, some, b.value);
        find_digits(&pe_grids[dtype], &b);
        if (__builtin_expect(find_kinds(&pe_grids[dtype], &b), 0))
            find_large(dtype, &b);
        pe_split_first(b.number, b.first, b.fours);
        pe_split_fours(b.fours);
        out = write_block(dtype, in, &b, some, separator, out);
        in += some * element_bytes;
        n -= some;
    }
    return out;
}

extern const pe_number_blocks PE_TEXT_NAME(pe_number_blocks);
const pe_number_blocks PE_TEXT_NAME(pe_number_blocks) = {
    .name = PE_TEXT_QUOTE(PE_LEVEL),
    .print = print,
    .print_doubles = PE_TEXT_NAME(pe_doubles_print),
};
