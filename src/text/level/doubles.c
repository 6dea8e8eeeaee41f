/* SPDX-License-Identifier: MIT */
/* doubles.c - blocks of float64 to text. */
#include <string.h>

#include "text/blocks.h"
#include "text/level/text_level.h"
#include "text/number.h"
#include "text/powers.h"

/* Digits are seventeen, and seven zeros. */
#define SLOT 24

typedef struct block {
    _Alignas(64) uint64_t bits[PE_BLOCK];
    uint32_t negative[PE_BLOCK];
    int32_t k[PE_BLOCK], shift[PE_BLOCK];
    int32_t power[PE_BLOCK], open[PE_BLOCK]; /* all ones: a power of two; open */
    uint64_t tens[PE_BLOCK]; /* X before its point, and after it, in units of 1 / PE_ONE */
    int32_t rest[PE_BLOCK];
    int32_t width[PE_BLOCK]; /* H, in the same units */
    int32_t carry[PE_BLOCK];
    uint32_t high[PE_BLOCK], low[PE_BLOCK]; /* sixteen digits, and the last */
    uint32_t last[PE_BLOCK];
    uint32_t place[PE_BLOCK]; /* index of pe_layout_places, or PE_GENERAL */
    union {                   /* sixteen digits, four by four, and one by one */
        uint32_t pair[2 * PE_BLOCK];
        uint16_t one[4 * PE_BLOCK];
    } by_four;
    union {
        uint16_t two[8 * PE_BLOCK];
        uint64_t eight[2 * PE_BLOCK];
    } by_digit;
    _Alignas(64) uint64_t digits[SLOT / 8 * (PE_BLOCK + 1)];
} block;

static void load(const char *in, size_t n, block *b)
{
    memcpy(b->bits, in, 8 * n);
    for (size_t i = n; i < PE_BLOCK; i++)
        b->bits[i] = 0x3ff3333333333333; /* some easy number */
}

/* Zeros, subnormals, infinities and NaN are open; the passes see some other number instead. */
PE_PASS void take_apart(block *b)
{
    for (size_t i = 0; i < PE_BLOCK; i++) {
        const uint32_t high = (uint32_t)(b->bits[i] >> 32), low = (uint32_t)b->bits[i];
        int32_t exponent = (int32_t)(high >> 20 & 2047);
        const int32_t other = pe_text_mask(exponent == 0) | pe_text_mask(exponent == 2047);
        exponent = (exponent & ~other) | (1023 & other);
        const int32_t k = pe_log10_pow2(exponent - 1075);
        b->negative[i] = high >> 31;
        b->k[i] = k;
        b->shift[i] = exponent - 1075 + pe_log2_pow10(-k - 1) + 5; /* 1 to 4 */
        b->open[i] = other;
        b->power[i] = pe_text_mask(((high & 0xfffff) | low) == 0);
    }
}

/* X and H of c * 2^q, by the 128 bits of 10^-(k+1). */
PE_PASS void scale_all(block *b)
{
    for (size_t i = 0; i < PE_BLOCK; i++) {
        const pe_power power = pe_powers[-b->k[i] - 1 - PE_POWER_MIN];
        const uint64_t c = (b->bits[i] & ((1ULL << 52) - 1)) | 1ULL << 52;
        const uint64_t shifted = c << b->shift[i];
        const pe_uint128 low = (pe_uint128)power.lo * shifted;
        const pe_uint128 x = (pe_uint128)power.hi * shifted + (uint64_t)(low >> 64); /* 16 X */
        b->tens[i] = (uint64_t)(x >> 68);
        b->rest[i] = (int32_t)(uint32_t)((uint64_t)(x >> 40) & (PE_ONE - 1));
        b->width[i] = (int32_t)(power.hi >> 36 >> (5 - b->shift[i]));
    }
}

PE_PASS void find_tenths(block *b)
{
    for (size_t i = 0; i < PE_BLOCK; i++) {
        const int32_t rest = b->rest[i], width = b->width[i];
        const pe_tenth tenth = pe_text_find_tenth(rest, width);
        b->last[i] = (uint32_t)tenth.digit;
        b->carry[i] = tenth.carry;
        b->open[i] |= pe_text_is_open(rest, width);
        /* The interval below a power of two is narrower; a whole number is surely within it. */
        b->open[i] |= b->power[i] & pe_text_mask(rest != 0);
    }
}

/* Seventeen digits, the first of which is not zero. */
PE_PASS void join(block *b)
{
    for (size_t i = 0; i < PE_BLOCK; i++) {
        /* The first sixteen are `tens`, but where it has fewer, the last is one of them. */
        const uint64_t tens = b->tens[i] + (uint64_t)b->carry[i];
        const uint64_t few = 0 - (uint64_t)(tens < 1000000000000000);
        const uint64_t sixteen = tens + ((9 * tens + b->last[i]) & few);
        const uint64_t high = sixteen / 100000000;
        b->high[i] = (uint32_t)high;
        b->low[i] = (uint32_t)(sixteen - high * 100000000);
        b->last[i] &= (uint32_t)~few;
        b->k[i] += (int32_t)few;
    }
}

PE_PASS void split(block *b)
{
    for (size_t i = 0; i < PE_BLOCK; i++) {
        const uint32_t high = b->high[i] / 10000, low = b->low[i] / 10000;
        b->by_four.pair[2 * i] = high | (b->high[i] - high * 10000) << 16;
        b->by_four.pair[2 * i + 1] = low | (b->low[i] - low * 10000) << 16;
    }
    pe_text_split_fours(b->by_four.one, 4 * PE_BLOCK, b->by_digit.two);
    for (size_t i = 0; i < PE_BLOCK; i++) {
        b->digits[3 * i] = b->by_digit.eight[2 * i];
        b->digits[3 * i + 1] = b->by_digit.eight[2 * i + 1];
        b->digits[3 * i + 2] = b->last[i];
    }
}

/* Returns whether all are plain: not open, and without exponents. */
PE_PASS bool find_places(block *b)
{
    int32_t others = 0;
    for (size_t i = 0; i < PE_BLOCK; i++) {
        const int32_t point = b->k[i] + 17;
        b->place[i] = (uint32_t)(point - PE_POINT_MIN) | (uint32_t)b->open[i];
        others |= b->open[i] | pe_text_mask(point < -5) | pe_text_mask(point > 21);
    }
    return others == 0;
}

static inline char *write_block(const char *in, const block *b, size_t n, bool plain,
                                char separator, char *out)
{
    const uint64_t next = (uint64_t)(unsigned char)separator | '-' << 8;
    *out = '-';
    for (size_t i = 0; i < n; i++) {
        const uint32_t at = b->place[i];
        if (!plain && __builtin_expect(at == PE_GENERAL, 0)) {
            out += pe_number_print(PE_FLOAT64, pe_dtype_load(PE_FLOAT64, in + 8 * i), out);
            memcpy(out++, &next, 2);
            continue;
        }
        const pe_layout *layout = &pe_layouts[pe_layout_places[at].layout];
        const uint8_t *digits = (const uint8_t *)b->digits + SLOT * i;
        const pe_sixteen head = pe_text_lay_out(layout, digits, 0),
                         tail = pe_text_lay_out(layout, digits, 16);
        const size_t bytes = layout->bytes[1 + pe_text_count_digits(digits + 1)];
        out += b->negative[i];
        memcpy(out, &head, 16);
        memcpy(out + 16, &tail, 8);
        out += bytes;
        if (plain) {
            memcpy(out, &next, 2);
        } else {
            uint64_t end;
            memcpy(&end, &pe_layout_places[at], 8); /* the last byte is no text */
            end = (end & ~(255ULL << 56)) | next << layout->exponent_bits;
            memcpy(out, &end, 8);
            out += layout->exponent_bits / 8;
        }
        out++;
    }
    return out;
}

char *PE_TEXT_NAME(pe_doubles_print)(const void *data, size_t n, char separator, char *out)
{
    const char *in = data;
    block b;
    while (n > 0) {
        const size_t some = n < PE_BLOCK ? n : PE_BLOCK;
        load(in, some, &b);
        take_apart(&b);
        scale_all(&b);
        find_tenths(&b);
        join(&b);
        split(&b);
        out = find_places(&b) ? write_block(in, &b, some, true, separator, out)
                              : write_block(in, &b, some, false, separator, out);
        in += 8 * some;
        n -= some;
    }
    return out;
}
