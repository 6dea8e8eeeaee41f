/* SPDX-License-Identifier: MIT */
/* doubles.c - blocks of float64 to text. */
#include <string.h>

#include "text/blocks.h"
#include "text/digits.h"
#include "text/level/level.h"
#include "text/number.h"
#include "text/shortest.h"

typedef struct block {
    uint32_t high[PE_BLOCK]; /* the first nine of seventeen digits */
    uint32_t low[PE_BLOCK];  /* the other eight */
    uint32_t kind[PE_BLOCK];
    uint32_t first[PE_BLOCK];
    uint32_t eight[2 * PE_BLOCK], more[2 * PE_BLOCK];
} block;

/*
 * Exponents of two from 2^-17 to 2^3; of these, magnitudes below 10, and zero, are done here. The
 * decimal comes in units of 10^k with k = -15 for exponent 3, -16 down to -1, and further down -21.
 * Seventeen digits of class -k - 16 hold it, those of exponent 3 with a zero added; the first may
 * be a zero. Powers of two have no more digits than that, so their lopsided interval does not
 * matter.
 */
#define LOWEST  (1023 - 17)
#define HIGHEST (1023 + 3)
/* Beyond, up to where doubles are whole, digits are counted to know how many of them are. */
#define LARGEST (1023 + 51)

static inline void set_number(uint64_t n, size_t i, block *b)
{
    const uint64_t high = n / 100000000;
    b->high[i] = (uint32_t)high;
    b->low[i] = (uint32_t)(n - high * 100000000);
}

/* From 10 up. The number of digits is how many it has before the point, and -exponent. */
static inline void find_large(uint64_t magnitude, uint32_t sign, size_t i, block *b)
{
    static const uint64_t powers[] = {1,
                                      10,
                                      100,
                                      1000,
                                      10000,
                                      100000,
                                      1000000,
                                      10000000,
                                      100000000,
                                      1000000000,
                                      10000000000,
                                      100000000000,
                                      1000000000000,
                                      10000000000000,
                                      100000000000000,
                                      1000000000000000,
                                      10000000000000000,
                                      100000000000000000};
    const int exponent = (int)(magnitude >> 52) - 1075;
    const pe_shortest shortest =
        pe_shortest_exact((magnitude & ((1ULL << 52) - 1)) | 1ULL << 52, exponent);
    const int about = (64 - __builtin_clzll(shortest.digits)) * 1233 >> 12;
    const int length = about + (shortest.digits >= powers[about]);
    set_number(shortest.digits * powers[17 - length], i, b);
    b->kind[i] = PE_LARGE + 2 * (uint32_t)(length + shortest.exponent) + sign;
}

/* Pass 1: digits as two numbers, and the kind. */
static inline void find_digits(uint64_t bits, size_t i, block *b)
{
    const uint64_t magnitude = bits & INT64_MAX, ten = 0x4024000000000000;
    const int exponent = (int)(magnitude >> 52);
    const uint32_t sign = (uint32_t)(bits >> 63);
    pe_shortest shortest = {0, -16};
    b->kind[i] = PE_GENERAL;
    b->high[i] = b->low[i] = 0;
    if (exponent >= HIGHEST && exponent <= LARGEST && magnitude >= ten) {
        find_large(magnitude, sign, i, b);
        return;
    }
    if (exponent >= LOWEST && magnitude < ten)
        shortest =
            pe_shortest_exact((magnitude & ((1ULL << 52) - 1)) | 1ULL << 52, exponent - 1075);
    else if (magnitude != 0)
        return;
    const bool coarse = shortest.exponent == -15;
    set_number(coarse ? 10 * shortest.digits : shortest.digits, i, b);
    b->kind[i] = 2 * (uint32_t)(coarse ? 0 : -16 - shortest.exponent) + sign;
}

static void find_all(const char *in, size_t n, block *b)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, in + 8 * i, 8);
        find_digits(bits, i, b);
    }
    memset(b->high + n, 0, (PE_BLOCK - n) * sizeof b->high[0]);
    memset(b->low + n, 0, (PE_BLOCK - n) * sizeof b->low[0]);
}

static size_t zeros_at_end(uint64_t digits)
{
    return digits == 0 ? 8 : (size_t)__builtin_clzll(digits) / 8;
}

static inline size_t write_large(const block *b, size_t i, char *out)
{
    uint64_t eight, more;
    memcpy(&eight, b->eight + 2 * i, 8);
    memcpy(&more, b->more + 2 * i, 8);
    const size_t zeros = zeros_at_end(more) + (more == 0 ? zeros_at_end(eight) : 0);
    return pe_write_seventeen(b->kind[i], b->first[i], eight, more, 17 - zeros, out);
}

/* Pass 3: the text, by stores of fixed size. */
static char *write_block(const char *in, const block *b, size_t n, char separator, char *out)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t kind = b->kind[i];
        if (__builtin_expect(kind >= PE_KINDS, 0)) {
            out += kind < PE_GENERAL
                       ? write_large(b, i, out)
                       : pe_number_print(PE_FLOAT64, pe_dtype_load(PE_FLOAT64, in + 8 * i), out);
            *out++ = separator;
            continue;
        }
        pe_prefix start = pe_prefixes[kind];
        uint64_t head, eight, more;
        memcpy(&head, start.text, 8);
        memcpy(&eight, b->eight + 2 * i, 8);
        memcpy(&more, b->more + 2 * i, 8);
        head += (uint64_t)b->first[i] << start.shift;
        size_t bytes = start.bytes + 16U - zeros_at_end(more);
        if (__builtin_expect(more == 0, 0)) /* a whole number keeps no point */
            bytes -= zeros_at_end(eight) + (kind < 2 && eight == 0);
        eight |= PE_EIGHT_ZEROS;
        more |= PE_EIGHT_ZEROS;
        memcpy(out, &head, 8);
        memcpy(out + start.bytes, &eight, 8);
        memcpy(out + start.bytes + 8, &more, 8);
        out += bytes;
        *out++ = separator;
    }
    return out;
}

char *PE_TEXT_NAME(pe_doubles_print)(const void *data, size_t n, char separator, char *out)
{
    const char *in = data;
    block b;
    while (n > 0) {
        size_t some = n < PE_BLOCK ? n : PE_BLOCK;
        find_all(in, some, &b);
        pe_split_first(b.high, b.first, b.eight);
        pe_split_first(b.low, b.high, b.more); /* eight digits: their first of nine is 0 */
        pe_split_fours(b.eight);
        pe_split_fours(b.more);
        out = write_block(in, &b, some, separator, out);
        in += 8 * some;
        n -= some;
    }
    return out;
}
