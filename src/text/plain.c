/* SPDX-License-Identifier: MIT */
/* plain.c - reading numbers of the usual form, without a loop over their digits. */
#include "text/plain.h"

#include <math.h>
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "text/decimal.h"
#include "text/digits.h"

/* So much text must follow: it is loaded in large pieces without a look at its end. */
#define PLAIN_BYTES 64

/* The first n of eight bytes as digits, after the number `before`. Shifts by halves: 64 is none. */
static inline uint64_t append(uint64_t before, uint64_t text, int n)
{
    static const uint64_t powers[] = {1,      10,      100,      1000,     10000,
                                      100000, 1000000, 10000000, 100000000};
    const int half = 32 - 4 * n;
    return before * powers[n] + pe_digits_join((text ^ PE_EIGHT_ZEROS) << half << half);
}

/*
 * How many of eight bytes are digits, up to the first that is not. There is no branch, since the
 * length of a number cannot be predicted.
 */
static inline int count_digits(uint64_t text)
{
    const uint64_t others = pe_digits_others(text), none = others == 0;
    return (__builtin_ctzll(others | none) >> 3) + (int)(none << 3);
}

/* Append the digits at p, of which 24 are looked at, to *sum; returns where they end. */
static inline const char *read_digits(const char *p, uint64_t *sum)
{
    uint64_t a, b, c;
    memcpy(&a, p, 8);
    memcpy(&b, p + 8, 8);
    const int from_a = count_digits(a);
    const int from_b = count_digits(b) & -(pe_digits_others(a) == 0);
    *sum = append(append(*sum, a, from_a), b, from_b);
    p += from_a + from_b;
    if (from_b == 8) {
        memcpy(&c, p, 8);
        const int from_c = count_digits(c);
        *sum = append(*sum, c, from_c);
        p += from_c;
    }
    return p;
}

/* The same from the second digit of a whole number on, which seldom has more than nine. */
static inline const char *read_whole(const char *p, uint64_t *sum)
{
    uint64_t a;
    memcpy(&a, p, 8);
    const int from_a = count_digits(a);
    *sum = append(*sum, a, from_a);
    return from_a == 8 ? read_digits(p + 8, sum) : p + from_a;
}

/* (-1)^negative * digits / 10^fraction. */
typedef struct plain_number {
    uint64_t digits;
    int fraction;
    bool negative;
} plain_number;

/*
 * Read a sign, up to 19 digits and perhaps a point among them. Returns where they end, NULL for
 * anything else (which pe_decimal_read tells apart). PLAIN_BYTES of text are readable.
 */
static inline const char *read_plain(const char *text, plain_number *out)
{
    const bool negative = *text == '-';
    const char *whole = text + negative, *p = whole + 1;
    uint64_t digits = (uint64_t)(unsigned char)whole[0] - '0';
    if (digits > 9)
        return NULL;
    out->fraction = 0;
    if (*p != '.' && digits != 0)
        p = read_whole(p, &digits);
    if (*p == '.') {
        const char *point = p + 1;
        p = read_digits(point, &digits);
        out->fraction = (int)(p - point);
        if (p == point)
            return NULL;
    }
    /* Neither a leading zero nor the point is a digit that counts. */
    if (p - whole - (whole[0] == '0') - (out->fraction > 0) > 19)
        return NULL;
    out->digits = digits;
    out->negative = negative;
    return p;
}

#if defined(__SSE2__)
/* Text in front of a number that is read by the sixteen characters that end it. */
#define PLAIN_BEFORE 17

/* Loaded at n: the last n bytes of sixteen. */
static const uint8_t last_bytes[32] = {[16] = 255, 255, 255, 255, 255, 255, 255, 255,
                                       255,        255, 255, 255, 255, 255, 255, 255};

static inline __m128i load_sixteen(const void *from)
{
    return _mm_loadu_si128(from);
}

/* The number that sixteen bytes 0 to 9 spell. */
static inline uint64_t join_sixteen(__m128i digits)
{
    const __m128i low = _mm_and_si128(digits, _mm_set1_epi16(255));
    __m128i n = _mm_mullo_epi16(low, _mm_set1_epi16(10));
    n = _mm_add_epi16(n, _mm_srli_epi16(digits, 8));
    n = _mm_madd_epi16(n, _mm_set1_epi32(1 << 16 | 100));
    n = _mm_packs_epi32(n, n);
    n = _mm_madd_epi16(n, _mm_set1_epi32(1 << 16 | 10000));
    const uint64_t eights = (uint64_t)_mm_cvtsi128_si64(n);
    return (eights & UINT32_MAX) * 100000000 + (eights >> 32);
}

/*
 * read_plain for up to sixteen characters and the sign, in a third of the instructions. All
 * characters before the comma are digits except the point; the digits before the point are loaded
 * again, moved by one. NULL for anything else, which read_plain reads.
 */
static inline const char *read_short(const char *text, plain_number *out)
{
    const bool negative = *text == '-';
    const char *whole = text + negative;
    const __m128i start = load_sixteen(whole);
    const int commas = _mm_movemask_epi8(_mm_cmpeq_epi8(start, _mm_set1_epi8(',')));
    if (commas == 0)
        return NULL;
    const int length = __builtin_ctz((unsigned)commas);
    const int points =
        _mm_movemask_epi8(_mm_cmpeq_epi8(start, _mm_set1_epi8('.'))) & (commas - 1) & ~commas;
    const int places = points != 0 ? __builtin_ctz((unsigned)points) : length;
    const int fraction = points != 0 ? length - 1 - places : 0;
    const char *comma = whole + length;

    const __m128i own = load_sixteen(last_bytes + (points != 0 ? fraction : 16));
    const __m128i kept = load_sixteen(last_bytes + places + fraction);
    const __m128i end = load_sixteen(comma - 16), moved = load_sixteen(comma - 17);
    __m128i digits = _mm_or_si128(_mm_and_si128(own, end), _mm_andnot_si128(own, moved));
    digits = _mm_and_si128(_mm_sub_epi8(digits, _mm_set1_epi8('0')), kept);
    const __m128i others = _mm_subs_epu8(digits, _mm_set1_epi8(9));
    /* One jump for all conditions, since none of them can be predicted. */
    const bool bad = (_mm_movemask_epi8(_mm_cmpeq_epi8(others, _mm_setzero_si128())) != 0xffff) |
                     (places == 0) | ((*whole == '0') & (places > 1)) |
                     ((points != 0) & (fraction == 0));
    if (bad)
        return NULL;
    *out = (plain_number){join_sixteen(digits), fraction, negative};
    return comma;
}
#else
#define PLAIN_BEFORE 0
static inline const char *read_short(const char *text, plain_number *out)
{
    (void)text, (void)out;
    return NULL;
}
#endif

/* A 16-bit type: how many bits of a double's fraction it lacks, and by how much less its exponents
 * are biased. */
typedef struct narrow {
    unsigned dropped;
    uint64_t rebias;
    double least; /* normal number */
} narrow;

static inline narrow narrow_of(pe_dtype dtype)
{
    return dtype == PE_FLOAT16 ? (narrow){42, (1023 - 15) << 10, 0x1p-14}
                               : (narrow){45, (1023 - 127) << 7, 0x1p-126};
}

/*
 * Store a magnitude, with a sign, that is no midpoint of dtype and within its range. Without
 * midpoints, rounding is adding a half and cutting bits off.
 */
static inline void store(pe_dtype dtype, double magnitude, bool negative, char *at)
{
    const double value = copysign(magnitude, negative ? -1 : 1);
    const float single = (float)value;
    if (dtype == PE_FLOAT64) {
        memcpy(at, &value, sizeof value);
    } else if (dtype == PE_FLOAT32) {
        memcpy(at, &single, sizeof single);
    } else if (magnitude < narrow_of(dtype).least) {
        pe_dtype_store(dtype, value, at);
    } else {
        const narrow type = narrow_of(dtype);
        uint64_t bits;
        memcpy(&bits, &magnitude, sizeof bits);
        bits += 1ULL << (type.dropped - 1);
        const uint16_t half =
            (uint16_t)((bits >> type.dropped) - type.rebias + ((uint64_t)negative << 15));
        memcpy(at, &half, sizeof half);
    }
}

/* The magnitude rounded to dtype, for all digits. */
static double round_slowly(const plain_number *plain, const char *text, const char *end,
                           pe_dtype dtype)
{
    pe_decimal decimal = {plain->digits, -plain->fraction,    false, false,
                          text,          (size_t)(end - text)};
    return pe_decimal_round(&decimal, dtype);
}

/* Whether a double is surely no midpoint of a narrower type: 0, or a normal number of that type
 * whose last bits are not those of a midpoint. */
static inline bool rounds_once(double magnitude, pe_dtype dtype)
{
    const unsigned dropped = dtype == PE_FLOAT32 ? 29 : narrow_of(dtype).dropped;
    const double least = dtype == PE_FLOAT32 ? 0x1p-126 : narrow_of(dtype).least;
    uint64_t bits;
    memcpy(&bits, &magnitude, sizeof bits);
    return (bits & ((1ULL << dropped) - 1)) != 1ULL << (dropped - 1) &&
           (magnitude >= least || magnitude == 0);
}

/*
 * The magnitude as store takes it. A quotient of exact doubles is rounded once, so for up to 2^53 a
 * division is enough. Longer digits of float64 go to the product; the bound is such that all
 * numbers of one text usually take the same branch.
 */
static inline double round_plain(const plain_number *plain, const char *text, const char *end,
                                 pe_dtype dtype)
{
    double value;
    if (dtype == PE_FLOAT64 && plain->digits > UINT32_MAX) {
        if (pe_decimal_product(plain->digits, -plain->fraction, &value))
            return value;
    } else if (plain->digits <= 1ULL << 53) {
        value = (double)(int64_t)plain->digits / pe_decimal_powers[plain->fraction];
        if (dtype == PE_FLOAT64 || rounds_once(value, dtype) ||
            !pe_decimal_is_midpoint(value, dtype))
            return value;
    }
    return round_slowly(plain, text, end, dtype);
}

/* Store a number whose exponent begins at p. Returns where its comma is, NULL for anything else. */
static __attribute__((noinline)) const char *read_exponent(plain_number plain, const char *p,
                                                           pe_dtype dtype, void *out)
{
    const bool negative = p[1] == '-';
    const char *first = p + 1 + (negative || p[1] == '+'), *at = first;
    int exponent = 0; /* of one to three digits */
    for (; at < first + 3 && (unsigned char)(*at - '0') < 10; at++)
        exponent = 10 * exponent + (*at - '0');
    if ((*p != 'e' && *p != 'E') || at == first || *at != ',')
        return NULL;
    exponent = (negative ? -exponent : exponent) - plain.fraction;
    /* The product does without the jumps that choose a division or a multiplication. */
    double value = 0;
    const bool known = plain.digits == 0 || (exponent >= -342 && exponent <= 308 &&
                                             pe_decimal_product(plain.digits, exponent, &value));
    if (!known || value > pe_dtype_max(dtype) ||
        (dtype != PE_FLOAT64 && pe_decimal_is_midpoint(value, dtype)))
        return NULL;
    pe_dtype_store(dtype, plain.negative ? -value : value, out);
    return at;
}

static inline size_t read_run(pe_cursor *text, pe_dtype dtype, size_t element_bytes, char *out,
                              size_t room)
{
    const double most = pe_dtype_max(dtype);
    const char *at = text->at, *end = text->end;
    size_t n = 0;
    if (at - text->start < PLAIN_BEFORE)
        return 0;
    for (; n < room && end - at >= PLAIN_BYTES; n++) {
        plain_number plain;
        const char *comma = read_short(at, &plain);
        if (comma == NULL) {
            comma = read_plain(at, &plain);
            if (comma == NULL)
                break;
            if (*comma != ',') {
                comma = read_exponent(plain, comma, dtype, out + n * element_bytes);
                if (comma == NULL)
                    break;
                at = comma + 1 + (comma[1] == ' ');
                continue;
            }
        }
        double value = round_plain(&plain, at, comma, dtype);
        if (value > most)
            break;
        store(dtype, value, plain.negative, out + n * element_bytes);
        at = comma + 1;
        if (__builtin_expect(*at == ' ', 0)) /* a jump is predicted, a sum would be waited for */
            at++;
    }
    text->at = at;
    return n;
}

size_t pe_plain_run(pe_cursor *text, pe_dtype dtype, void *out, size_t room)
{
    /* One copy of the loop for each type. */
    if (dtype == PE_FLOAT32)
        return read_run(text, PE_FLOAT32, 4, out, room);
    if (dtype == PE_FLOAT64)
        return read_run(text, PE_FLOAT64, 8, out, room);
    if (dtype == PE_FLOAT16)
        return read_run(text, PE_FLOAT16, 2, out, room);
    return dtype == PE_INT32 ? 0 : read_run(text, PE_BFLOAT16, 2, out, room);
}
