/* SPDX-License-Identifier: MIT */
/* narrow.c - blocks of narrow floats to text, in loops that compilers turn into vectors. */
#include "text/blocks.h"

#include <stdbool.h>
#include <string.h>

#include "text/level/text_level.h"
#include "text/number.h"
#include "text/powers.h"

/* text_level.h has the method. For q from this to -1 both X and H are exact. */
#define PE_EXACT_MIN (-38)

/* Digits are nine, and seven zeros. */
#define SLOT 16

typedef struct block {
    _Alignas(64) char padded[4 * PE_BLOCK]; /* the elements, where there are fewer than a block's */
    uint32_t bits[PE_BLOCK];                /* the element's, without its sign */
    uint32_t negative[PE_BLOCK];
    uint32_t c[PE_BLOCK];
    int32_t q[PE_BLOCK];
    int32_t tens[PE_BLOCK]; /* X before its point, and after it, in units of 1 / PE_ONE */
    int32_t rest[PE_BLOCK];
    int32_t width[PE_BLOCK]; /* H, in the same units */
    int32_t eight[PE_BLOCK]; /* a number of eight digits, and the ninth */
    int32_t last[PE_BLOCK];
    uint32_t place[PE_BLOCK]; /* index of pe_layout_places, or PE_GENERAL */
    union {                   /* eight digits, four by four, and one by one */
        uint32_t pair[PE_BLOCK];
        uint16_t one[2 * PE_BLOCK];
    } by_four;
    union {
        uint16_t two[4 * PE_BLOCK];
        uint64_t eight[PE_BLOCK];
    } by_digit;
    _Alignas(64) uint64_t digits[SLOT / 8 * (PE_BLOCK + 1)];
} block;

/* The form of a type. */
typedef struct shape {
    uint32_t fraction_bits, bits; /* all but the sign, that is */
    int32_t lowest;               /* q of subnormals */
    int32_t plain;                /* the least q of plain numbers, see take_apart */
    int32_t whole;                /* the largest q of whole numbers below 2^53 */
    int32_t lift, lifted; /* a power of ten, and its exponent: normal numbers of a 16-bit type have
                             three to five digits, which this makes seven or eight */
} shape;

static inline shape shape_of(pe_dtype dtype)
{
    return dtype == PE_FLOAT32   ? (shape){23, 31, -149, PE_EXACT_MIN, 29, 1, 0}
           : dtype == PE_FLOAT16 ? (shape){10, 15, -24, -24, 5, 1000, 3}
                                 : (shape){7, 15, -133, -26, 45, 10000, 4};
}

/*
 * Returns whether all are plain: find_digits is enough for them, powers of two apart, and they have
 * no exponents, being 2^-19 or more.
 */
static inline bool take_apart(shape type, const char *in, block *b)
{
    const uint32_t hidden = 1U << type.fraction_bits;
    int32_t others = 0;
    for (size_t i = 0; i < PE_BLOCK; i++) {
        uint32_t element;
        uint16_t half;
        if (type.bits == 31)
            memcpy(&element, in + 4 * i, 4);
        else
            memcpy(&half, in + 2 * i, 2), element = half;
        const uint32_t bits = element & ((1U << type.bits) - 1), fraction = bits & (hidden - 1);
        const int32_t exponent = (int32_t)(bits >> type.fraction_bits);
        const int32_t subnormal = pe_text_mask(exponent == 0);
        const int32_t q = exponent - 1 - subnormal + type.lowest;
        others |= pe_text_mask(q < type.plain) | pe_text_mask(q > -1) | subnormal;
        b->negative[i] = element >> type.bits;
        b->bits[i] = bits;
        b->c[i] = fraction | (hidden & (uint32_t)~subnormal);
        b->q[i] = q;
    }
    return others == 0;
}

PE_PASS void scale_all(block *b)
{
    for (size_t i = 0; i < PE_BLOCK; i++) {
        const uint64_t scale = pe_powers_scales[b->q[i] - PE_SCALE_MIN];
        const pe_uint128 x = (pe_uint128)b->c[i] * scale;
        b->tens[i] = (int32_t)(x >> 64);
        b->rest[i] = (int32_t)((uint64_t)x >> 36);
        b->width[i] = (int32_t)(scale >> 37);
    }
}

/*
 * Nine digits, the first of which is not zero, and the place. Returns whether no number is open as
 * a power of two: the interval below it is narrower, but a whole number is surely within it.
 */
PE_PASS bool find_digits(shape type, block *b)
{
    const uint32_t fraction = (1U << type.fraction_bits) - 1;
    int32_t powers = 0;
    for (size_t i = 0; i < PE_BLOCK; i++) {
        const pe_tenth tenth = pe_text_find_tenth(b->rest[i], b->width[i]);
        const int32_t tens = b->tens[i] + tenth.carry, last = tenth.digit;

        /* The first eight are `tens`, but where it has fewer, the last is one of them. */
        const int32_t few = pe_text_mask(tens < (type.lift > 1 ? PE_ONE : 10000000));
        int32_t eight = ((10 * tens + last) * type.lift & few) | (tens & ~few);
        const int32_t seven = pe_text_mask(eight < 10000000);
        eight += 9 * eight & seven;
        const int32_t k = b->q[i] * 1233 >> 12; /* 1233 / 2^12 is log10(2) */
        const int32_t point = k + 9 - type.lifted + few + seven;
        b->last[i] = last & ~few;
        b->eight[i] = eight;
        b->place[i] = (uint32_t)(point - PE_POINT_MIN);
        powers |= pe_text_mask((b->bits[i] & fraction) == 0) & pe_text_mask(b->rest[i] != 0);
    }
    return powers == 0;
}

/* What find_digits leaves open: zeros get their digits here, other numbers are PE_GENERAL. */
PE_PASS void find_open(shape type, block *b)
{
    const uint32_t hidden = 1U << type.fraction_bits, infinity = (1U << type.bits) - hidden;
    const int32_t least = 100000 / type.lift; /* else there are fewer than seven digits */
    for (size_t i = 0; i < PE_BLOCK; i++) {
        const uint32_t bits = b->bits[i], zero = (uint32_t)pe_text_mask(bits == 0);
        const int32_t q = b->q[i];
        int32_t open = pe_text_is_open(b->rest[i], b->width[i]);
        open &= pe_text_mask(q < PE_EXACT_MIN) | pe_text_mask(q >= 0);
        open |= pe_text_mask((bits & (hidden - 1)) == 0) & pe_text_mask(b->rest[i] != 0);
        open |= pe_text_mask(b->tens[i] < least) | pe_text_mask(bits >= infinity);
        open |= pe_text_mask(q > 0) & pe_text_mask(q <= type.whole);
        b->eight[i] &= (int32_t)~zero;
        b->place[i] = ((b->place[i] | (uint32_t)open) & ~zero) | ((1 - PE_POINT_MIN) & zero);
    }
}

/* Whole numbers of 16-bit types below 10^8, which have all of their digits. (A float holds each, and
 * its exponent takes a sum where a shift by q would go number by number.) */
PE_PASS void find_whole(shape type, block *b)
{
    const int32_t most = type.whole < 18 ? type.whole : 18;
    for (size_t i = 0; i < PE_BLOCK; i++) {
        const int32_t whole = pe_text_mask(b->q[i] > 0) & pe_text_mask(b->q[i] <= most);
        const int32_t bits = (127 + (b->q[i] & whole)) << 23;
        float power;
        memcpy(&power, &bits, sizeof power);
        int32_t eight = (int32_t)((float)(int32_t)b->c[i] * power), point = 8 - PE_POINT_MIN;
        const int32_t four = pe_text_mask(eight < 10000);
        eight += 9999 * (eight & four);
        const int32_t two = pe_text_mask(eight < 1000000);
        eight += 99 * (eight & two);
        const int32_t one = pe_text_mask(eight < 10000000);
        eight += 9 * (eight & one);
        point += 4 * four + 2 * two + one;
        b->eight[i] = (eight & whole) | (b->eight[i] & ~whole);
        b->last[i] &= ~whole;
        b->place[i] = (uint32_t)((point & whole) | ((int32_t)b->place[i] & ~whole));
    }
}

PE_PASS void split(block *b)
{
    for (size_t i = 0; i < PE_BLOCK; i++) {
        const uint32_t eight = (uint32_t)b->eight[i], high = eight / 10000;
        b->by_four.pair[i] = high | (eight - high * 10000) << 16;
    }
    pe_text_split_fours(b->by_four.one, 2 * PE_BLOCK, b->by_digit.two);
    for (size_t i = 0; i < PE_BLOCK; i++) {
        b->digits[2 * i] = b->by_digit.eight[i];
        b->digits[2 * i + 1] = (uint32_t)b->last[i];
    }
}

/* A number that is PE_GENERAL. */
static inline size_t write_singly(pe_dtype dtype, const char *in, const block *b, size_t i,
                                  char *out)
{
    if (b->q[i] > 0 && b->q[i] <= shape_of(dtype).whole) /* these have all of their digits */
        return b->negative[i] + pe_digits_write((uint64_t)b->c[i] << b->q[i], out + b->negative[i]);
    return pe_number_print(dtype, pe_dtype_load(dtype, in + i * pe_dtype_bytes(dtype)), out);
}

/*
 * Stores have fixed sizes: 24 bytes from behind the sign on, and 8 from the end on. A minus sign is
 * written where every number begins, and a number without one overwrites it.
 */
static inline char *write_block(pe_dtype dtype, const char *in, const block *b, size_t n,
                                bool plain, char separator, char *out)
{
    const uint64_t zeros = PE_EIGHT_ZEROS, next = (uint64_t)(unsigned char)separator | '-' << 8;
    *out = '-';
    for (size_t i = 0; i < n; i++) {
        const uint32_t at = b->place[i];
        if (!plain && __builtin_expect(at == PE_GENERAL, 0)) {
            out += write_singly(dtype, in, b, i, out);
            memcpy(out++, &next, 2);
            continue;
        }
        const pe_layout *layout = &pe_layouts[pe_layout_places[at].layout];
        const uint8_t *digits = (const uint8_t *)b->digits + SLOT * i;
        const pe_sixteen text = pe_text_lay_out(layout, digits, 0);
        const size_t bytes = layout->bytes[pe_text_count_digits(digits)];
        out += b->negative[i];
        memcpy(out, &text, 16);
        if (plain) {
            out += bytes;
            memcpy(out, &next, 2);
        } else {
            uint64_t end;
            memcpy(&end, &pe_layout_places[at], 8); /* the last byte is no text */
            end = (end & ~(255ULL << 56)) | next << layout->exponent_bits;
            memcpy(out + 16, &zeros, 8);
            out += bytes;
            memcpy(out, &end, 8);
            out += layout->exponent_bits / 8;
        }
        out++;
    }
    return out;
}

/* As many elements as a block takes. */
static inline const char *fill_up(const char *in, size_t n, size_t element_bytes, block *b)
{
    if (n == PE_BLOCK)
        return in;
    memset(b->padded, 0x3e, sizeof b->padded); /* some easy numbers */
    memcpy(b->padded, in, n * element_bytes);
    return b->padded;
}

static inline char *print_type(pe_dtype dtype, const char *in, size_t n, char separator, char *out)
{
    const size_t element_bytes = dtype == PE_FLOAT32 ? 4 : 2;
    const shape type = shape_of(dtype);
    block b;
    while (n > 0) {
        const size_t some = n < PE_BLOCK ? n : PE_BLOCK;
        bool plain = take_apart(type, fill_up(in, some, element_bytes, &b), &b);
        scale_all(&b);
        plain &= find_digits(type, &b);
        if (!plain)
            find_open(type, &b);
        if (!plain && type.lift > 1)
            find_whole(type, &b);
        split(&b);
        out = plain ? write_block(dtype, in, &b, some, true, separator, out)
                    : write_block(dtype, in, &b, some, false, separator, out);
        in += some * element_bytes;
        n -= some;
    }
    return out;
}

static char *print(pe_dtype dtype, const void *data, size_t n, char separator, char *out)
{
    if (dtype == PE_FLOAT32)
        return print_type(PE_FLOAT32, data, n, separator, out);
    if (dtype == PE_FLOAT16)
        return print_type(PE_FLOAT16, data, n, separator, out);
    return print_type(PE_BFLOAT16, data, n, separator, out);
}

extern const pe_blocks PE_TEXT_NAME(pe_blocks);
const pe_blocks PE_TEXT_NAME(pe_blocks) = {
    .name = PE_TEXT_QUOTE(PE_LEVEL),
    .print = print,
    .print_doubles = PE_TEXT_NAME(pe_doubles_print),
};
