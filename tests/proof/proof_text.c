/* SPDX-License-Identifier: MIT */
/* proof_text.c - every float32 printed and read back: the fewest digits, and of those the nearest.
 *
 * All 2^31 magnitudes go through pe_blocks_print, by every variant, with either sign, and through
 * pe_scan_numbers. Each text is then judged by other means:
 *
 *     it reads back         strtof gives the same bits
 *     no digit too many     the two decimals beside it with one digit fewer are outside of the
 *                           interval that rounds to the value
 *     the nearest           the decimals one up and one down in the last digit are not nearer, or
 *                           do not read back
 *     its notation          ECMAScript's: exponents from 1e21 up and below 1e-6
 *
 * Distances are compared in long double, and in MPFR where that cannot tell. SHARD=i/n
 * takes a part of the magnitudes, SECONDS=n stops early. Exit status 1 when any text is wrong.
 */
#include "support/check.h"

#include <math.h>
#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proof/proof.h"
#include "text/blocks.h"
#include "text/number.h"
#include "text/scan.h"

#define BLOCK    4096
#define INFINITE 0x7f800000U /* bits of infinity: magnitudes end before */

typedef struct decimal {
    uint64_t digits; /* does not end in zero */
    int count, exponent;
} decimal;

static uint64_t checked, wrong, by_mpfr;
static bool quiet;
static long double powers[120]; /* 10^(k - 60), correctly rounded */

static float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static void complain(uint32_t bits, const char *text, size_t length, const char *what)
{
    if (wrong++ < 20 && !quiet)
        printf("WRONG %08x = %.9g as \"%.*s\": %s\n", bits, (double)float_of(bits), (int)length,
               text, what);
}

/* ---- distances ------------------------------------------------------------------------------ */

/* The sign of digits * 10^exponent - c * 2^q, exactly. */
static int compare_exactly(uint64_t digits, int exponent, uint64_t c, int q)
{
    mpfr_t x, y;
    mpfr_inits2(600, x, y, (mpfr_ptr)NULL);
    mpfr_set_ui(x, 5, MPFR_RNDN);
    mpfr_pow_ui(x, x, (unsigned long)abs(exponent), MPFR_RNDN);
    mpfr_set_ui(y, (unsigned long)c, MPFR_RNDN);
    if (exponent >= 0)
        mpfr_mul_ui(x, x, (unsigned long)digits, MPFR_RNDN);
    else
        mpfr_mul(y, y, x, MPFR_RNDN), mpfr_set_ui(x, (unsigned long)digits, MPFR_RNDN);
    mpfr_mul_2si(x, x, exponent, MPFR_RNDN);
    mpfr_mul_2si(y, y, q, MPFR_RNDN);
    const int sign = mpfr_cmp(x, y);
    mpfr_clears(x, y, (mpfr_ptr)NULL);
    by_mpfr++;
    return sign;
}

/* The same; both sides are right to 2^-62, so that what is farther apart is sure. */
static int compare(uint64_t digits, int exponent, uint64_t c, int q, long double scaled)
{
    const long double x = (long double)digits * powers[exponent + 60], off = x - scaled;
    if (fabsl(off) > scaled * 0x1p-60L)
        return off > 0 ? 1 : -1;
    return compare_exactly(digits, exponent, c, q);
}

/* A float's significand and the ends of what rounds to it, in quarters of its last place. */
typedef struct interval {
    uint64_t value, low, high;
    int q; /* of a quarter */
    bool closed;
    long double unit; /* 2^q */
} interval;

static interval interval_of(uint32_t bits)
{
    const uint32_t biased = bits >> 23, fraction = bits & 0x7fffff;
    const uint64_t c = biased == 0 ? fraction : fraction | 1U << 23;
    interval v = {.value = 4 * c, .low = 4 * c - 2, .high = 4 * c + 2};
    v.q = (biased == 0 ? 1 : (int)biased) - 150 - 2;
    v.closed = c % 2 == 0;
    if (fraction == 0 && biased > 1) /* the spacing halves below a power of two */
        v.low = 4 * c - 1;
    v.unit = ldexpl(1, v.q);
    return v;
}

static bool is_inside(const interval *v, uint64_t digits, int exponent)
{
    const int low = compare(digits, exponent, v->low, v->q, (long double)v->low * v->unit);
    if (low < 0 || (low == 0 && !v->closed))
        return false;
    const int high = compare(digits, exponent, v->high, v->q, (long double)v->high * v->unit);
    return high < 0 || (high == 0 && v->closed);
}

/* Whether digits + step, halved, is not between the value and digits: then digits is as near. */
static bool is_nearer(const interval *v, const decimal *d, int step)
{
    const uint64_t middle = 2 * d->digits + (uint64_t)(int64_t)step; /* of the two, doubled */
    const int sign =
        compare(middle, d->exponent, 2 * v->value, v->q, 2 * (long double)v->value * v->unit);
    return step > 0 ? sign < 0 : sign > 0; /* the value is beyond the middle */
}

/* ---- one text ------------------------------------------------------------------------------- */

/* Its digits and exponent, with nothing of the code under test. */
static bool parse(const char *text, size_t length, decimal *out)
{
    size_t k = 0;
    int zeros = 0; /* that another digit has not followed yet */
    bool point = false;
    *out = (decimal){0, 0, 0};
    for (; k < length && text[k] != 'e'; k++) {
        if (text[k] == '.') {
            point = true;
            continue;
        }
        if (text[k] < '0' || text[k] > '9')
            return false;
        out->exponent -= point;
        zeros++;
        for (; text[k] != '0' && zeros > 0; zeros--)
            out->digits *= 10;
        out->digits += (uint64_t)(text[k] - '0');
    }
    out->exponent += zeros;
    if (k < length)
        out->exponent += (int)strtol(text + k + 1, NULL, 10);
    for (uint64_t rest = out->digits; rest != 0; rest /= 10)
        out->count++;
    return out->digits != 0;
}

/* Number::toString's choice of notation. */
static bool is_right_notation(const char *text, size_t length, const decimal *d)
{
    const int point = d->count + d->exponent; /* places before the point */
    const bool scientific = point > 21 || point <= -6;
    const char *dot = memchr(text, '.', length), *e = memchr(text, 'e', length);
    size_t want = (size_t)d->count;
    if ((e != NULL) != scientific)
        return false;
    if (scientific) {
        const int power = abs(point - 1);
        want += (d->count > 1 ? 3U : 2U) + (power >= 100 ? 3U : power >= 10 ? 2U : 1U);
        return length == want && (e[1] == '-') == (point < 1) && (d->count == 1 || dot == text + 1);
    }
    if (point <= 0)
        return length == want + 2 + (size_t)-point && dot == text + 1 && text[0] == '0';
    if (point >= d->count)
        return length == (size_t)point && dot == NULL;
    return length == want + 1 && dot == text + point;
}

static void judge(uint32_t bits, const char *text, size_t length)
{
    decimal d;
    checked++;
    if (bits == 0) {
        if (length != 1 || text[0] != '0')
            complain(bits, text, length, "zero is 0");
        return;
    }
    if (!parse(text, length, &d)) {
        complain(bits, text, length, "no number");
        return;
    }
    if (bits_of(strtof(text, NULL)) != bits)
        complain(bits, text, length, "reads back as another");
    const interval v = interval_of(bits);
    const float whole = float_of(bits);
    if (!is_right_notation(text, length, &d))
        complain(bits, text, length, "in another notation");
    if (whole < 0x1p53F && whole == floorf(whole)) { /* whole numbers have all of their digits */
        if ((long double)d.digits * powers[d.exponent + 60] != (long double)whole)
            complain(bits, text, length, "not the whole number");
        return;
    }
    const uint64_t tens = d.digits / 10;
    if (d.count > 1 && ((tens > 0 && is_inside(&v, tens, d.exponent + 1)) ||
                        is_inside(&v, tens + 1, d.exponent + 1)))
        complain(bits, text, length, "one digit fewer would do");
    if ((is_nearer(&v, &d, 1) && is_inside(&v, d.digits + 1, d.exponent)) ||
        (is_nearer(&v, &d, -1) && is_inside(&v, d.digits - 1, d.exponent)))
        complain(bits, text, length, "another is nearer");
}

/* The judge finds what is wrong with these, and nothing with the first of each. */
static bool judge_is_fit(void)
{
    static const struct {
        uint32_t bits;
        const char *texts[5];
    } cases[] = {
        {0x3e99999a, {"0.3", "0.30000001", "0.31", "3e-1", "0.30"}},
        {0x00800000, {"1.1754944e-38", "1.1754943e-38", "1.17549435e-38", "1.175494e-38"}},
        {0x4b800000, {"16777216", "16777220", "16777216.0", "1.6777216e+7", "1677721"}},
        {0x60ad78ec, {"100000000000000000000", "1e+20", "1e20"}},
        {0x358637bd, {"0.000001", "1e-6", "0.0000010", "1.0e-6"}},
        {0x00000001, {"1e-45", "1.4e-45", "2e-45", "0"}},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++)
        for (size_t i = 0; i < 5 && cases[k].texts[i] != NULL; i++) {
            const char *it = cases[k].texts[i];
            const uint64_t before = wrong;
            quiet = true;
            judge(cases[k].bits, it, strlen(it));
            quiet = false;
            if ((wrong > before) != (i > 0)) {
                printf("the judge errs about \"%s\" for %08x\n", it, cases[k].bits);
                return false;
            }
            wrong = before;
        }
    checked = by_mpfr = 0;
    return true;
}

/* ---- blocks --------------------------------------------------------------------------------- */

static char text[PE_NUMBER_TEXT_MAX * BLOCK + 8], other[PE_NUMBER_TEXT_MAX * BLOCK + 8];

static void require(bool condition, const char *what, uint32_t first)
{
    if (condition)
        return;
    wrong++;
    printf("WRONG %s, among the %d floats from %08x\n", what, BLOCK, first);
}

/* Negative numbers are the same with a sign, by the variant in use. */
static bool negatives_are_alike(const uint32_t *bits, size_t n, size_t length)
{
    static uint32_t negative[BLOCK];
    for (size_t i = 0; i < n; i++)
        negative[i] = bits[i] | 1U << 31;
    if (pe_blocks_print(PE_FLOAT32, negative, n, ',', other) != length + n)
        return false;
    const char *a = text, *b = other;
    for (size_t i = 0; i < n; i++) {
        const size_t bytes = strcspn(a, ",");
        if (b[0] != '-' || memcmp(a, b + 1, bytes) != 0 || (b[bytes + 1] != ',' && i < n - 1))
            return false;
        a += bytes + 1;
        b += bytes + 2;
    }
    return true;
}

/* All variants print alike. */
static void check_alike(uint32_t first, const uint32_t *bits, size_t n, size_t length)
{
    for (const pe_blocks *const *v = pe_blocks_all(); *v != NULL; v++) {
        (void)pe_blocks_select((*v)->name);
        require(pe_blocks_print(PE_FLOAT32, bits, n, ',', other) == length &&
                    memcmp(text, other, length) == 0,
                (*v)->name, first);
        require(negatives_are_alike(bits, n, length), "negative numbers", first);
    }
}

static void check_read(uint32_t first, const uint32_t *bits, size_t n, size_t length)
{
    pe_array array = {0};
    pe_problem why;
    size_t used;
    other[0] = '[';
    memcpy(other + 1, text, length);
    other[length + 1] = ']';
    const pe_slice text_of_array = {other, length + 2};
    const pe_scan_wanted wanted = {"x", PE_FLOAT32, n, false};
    const bool read = pe_scan_numbers(text_of_array, &wanted, &array, &used, &why) == PE_OK &&
                      memcmp(array.data, bits, n * sizeof *bits) == 0;
    require(read, "read back by pe_scan_numbers", first);
    pe_array_free(&array);
}

static void check_block(uint32_t first, size_t n)
{
    static uint32_t bits[BLOCK];
    for (size_t i = 0; i < n; i++)
        bits[i] = first + (uint32_t)i;
    const size_t length = pe_blocks_print(PE_FLOAT32, bits, n, ',', text);
    text[length] = ',';
    text[length + 1] = '\0';
    check_alike(first, bits, n, length);
    check_read(first, bits, n, length);
    const char *at = text;
    for (size_t i = 0; i < n; i++) {
        const char *comma = strchr(at, ',');
        judge(bits[i], at, (size_t)(comma - at));
        at = comma + 1;
    }
}

static void make_powers(void)
{
    mpfr_t power;
    mpfr_init2(power, 400);
    for (int k = -60; k < 60; k++) {
        mpfr_set_ui(power, 10, MPFR_RNDN);
        mpfr_pow_si(power, power, k, MPFR_RNDN);
        powers[k + 60] = mpfr_get_ld(power, MPFR_RNDN);
    }
    mpfr_clear(power);
}

int main(void)
{
    uint64_t shard, shards;
    proof_shard(&shard, &shards);
    const double limit = proof_number("SECONDS", 1e9);
    const uint64_t blocks = INFINITE / BLOCK;
    const uint64_t begin = blocks * shard / shards, end = blocks * (shard + 1) / shards;
    uint64_t at = begin;
    (void)proof_seconds();
    make_powers();
    if (!judge_is_fit())
        return 1;
    for (; at < end && proof_seconds() < limit; at++) {
        check_block((uint32_t)(at * BLOCK), BLOCK);
        if (proof_tick()) {
            printf("%5.1f %%  at %08x, %.0f a second, %llu wrong\n",
                   100 * (double)(at - begin) / (double)(end - begin), (uint32_t)(at * BLOCK),
                   (double)checked / proof_seconds(), (unsigned long long)wrong);
            fflush(stdout);
        }
    }
    printf("%llu magnitudes from %08x to %08x checked (%llu numbers with their negatives), %llu "
           "wrong\n%llu comparisons took MPFR; %.0f s\n",
           (unsigned long long)checked, (uint32_t)(begin * BLOCK), (uint32_t)(at * BLOCK - 1),
           (unsigned long long)(2 * checked), (unsigned long long)wrong,
           (unsigned long long)by_mpfr, proof_seconds());
    return wrong == 0 ? 0 : 1;
}
