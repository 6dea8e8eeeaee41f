/* SPDX-License-Identifier: MIT */
/* plain.c - reading the numbers that most numbers look like, without loops. */
#include "text/plain.h"

#include <math.h>
#include <string.h>

#include "text/decimal.h"
#include "text/digits.h"

/* Text that must be at hand: it is loaded in large pieces without asking where it ends. */
#define PLAIN_BYTES 64

/* The first n of eight bytes as digits, after the number `before`. Shifts by halves: 64 is none.
 */
static inline uint64_t append(uint64_t before, uint64_t text, int n)
{
    static const uint64_t powers[] = {1,      10,      100,      1000,     10000,
                                      100000, 1000000, 10000000, 100000000};
    const int half = 32 - 4 * n;
    return before * powers[n] + pe_digits_join((text ^ PE_EIGHT_ZEROS) << half << half);
}

/*
 * How many of eight bytes are digits, up to the first that is not. No branch: numbers end where
 * nothing foretells it.
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

/* The same for the second digit on of a whole number, which seldom has more than nine. */
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
 * Read a sign, up to 19 digits and perhaps a point among them: a comma must follow. Returns where
 * the comma is, NULL for anything else (which pe_decimal_read tells apart). PLAIN_BYTES of text
 * are readable.
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
    if (*p != ',' || p - whole - (whole[0] == '0') - (out->fraction > 0) > 19)
        return NULL;
    out->digits = digits;
    out->negative = negative;
    return p;
}

/* Store a value of dtype, or one that is within its range and no midpoint of it. */
static inline void store(pe_dtype dtype, double value, char *at)
{
    float single = (float)value;
    if (dtype == PE_FLOAT64)
        memcpy(at, &value, sizeof value);
    else if (dtype == PE_FLOAT32)
        memcpy(at, &single, sizeof single);
    else
        pe_dtype_store(dtype, value, at);
}

/* Magnitude, rounded to dtype, by the long way. */
static double round_slowly(const plain_number *plain, const char *text, const char *end,
                           pe_dtype dtype)
{
    pe_decimal decimal = {plain->digits, -plain->fraction,    false, false,
                          text,          (size_t)(end - text)};
    return pe_decimal_round(&decimal, dtype);
}

/* Whether a double is no float32's midpoint for sure: it is a normal one, and these bits differ. */
static inline bool rounds_to_float(double magnitude)
{
    uint64_t bits;
    memcpy(&bits, &magnitude, sizeof bits);
    return (bits & 0x1fffffff) != 0x10000000 && magnitude >= 0x1p-126;
}

/*
 * Magnitude as store wants it. A quotient of exact doubles is rounded once, so there are digits
 * for which one division is enough; many digits are for the product, decided by a bound that texts
 * of one kind keep to one side of.
 */
static inline double round_plain(const plain_number *plain, const char *text, const char *end,
                                 pe_dtype dtype)
{
    double value;
    if (dtype == PE_FLOAT64 && plain->digits > UINT32_MAX) {
        if (pe_decimal_product(plain->digits, -plain->fraction, &value))
            return value;
    } else if (plain->digits <= 1ULL << 53) {
        value = (double)(int64_t)plain->digits / pe_exact_powers[plain->fraction];
        if (dtype == PE_FLOAT64 || (dtype == PE_FLOAT32 && rounds_to_float(value)) ||
            !pe_is_midpoint(value, dtype))
            return value;
    }
    return round_slowly(plain, text, end, dtype);
}

static inline size_t read_run(const char **text, const char *end, pe_dtype dtype,
                              size_t element_bytes, char *out, size_t room)
{
    const double most = pe_dtype_max(dtype);
    const char *at = *text;
    size_t n = 0;
    for (; n < room && end - at >= PLAIN_BYTES; n++) {
        plain_number plain;
        const char *comma = read_plain(at, &plain);
        if (comma == NULL)
            break;
        double value = round_plain(&plain, at, comma, dtype);
        if (value > most)
            break;
        store(dtype, copysign(value, plain.negative ? -1 : 1), out + n * element_bytes);
        at = comma + 1;
        if (__builtin_expect(*at == ' ', 0)) /* a jump is foretold, a sum would be waited for */
            at++;
    }
    *text = at;
    return n;
}

size_t pe_plain_run(const char **text, const char *end, pe_dtype dtype, void *out, size_t room)
{
    /* One copy for each of the types that bodies usually ask for. */
    if (dtype == PE_FLOAT32)
        return read_run(text, end, PE_FLOAT32, 4, out, room);
    if (dtype == PE_FLOAT64)
        return read_run(text, end, PE_FLOAT64, 8, out, room);
    return dtype == PE_INT32 ? 0 : read_run(text, end, dtype, 2, out, room);
}
