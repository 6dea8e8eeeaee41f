/* SPDX-License-Identifier: MIT */
/* test_rotate.c - the rotation kernel: its promised accuracy, its pairings, its edges. */
#include "support/check.h"

#include <math.h>
#include <mpfr.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/kernels.h"
#include "support/guard.h"
#include "support/random.h"
#include "support/variant_cases.h"

#define PAIRS_MAX 300

static const pe_dtype floats[] = {PE_FLOAT32, PE_FLOAT64, PE_FLOAT16, PE_BFLOAT16};
static const pe_pairing pairings[] = {PE_PAIRING_INTERLEAVED, PE_PAIRING_HALF};

static size_t channel(pe_pairing pairing, size_t pairs, size_t i, bool second)
{
    return pairing == PE_PAIRING_INTERLEAVED ? 2 * i + second : i + second * pairs;
}

/* The kernel's definition, one channel at a time. */
static void rotate_plainly(pe_dtype dtype, pe_pairing pairing, size_t pairs, const double *cos,
                           const double *sin, const unsigned char *x, unsigned char *out)
{
    const size_t bytes = pe_dtype_bytes(dtype);
    for (size_t i = 0; i < pairs; i++) {
        const size_t first = channel(pairing, pairs, i, false) * bytes;
        const size_t second = channel(pairing, pairs, i, true) * bytes;
        const double a = pe_dtype_load(dtype, x + first), b = pe_dtype_load(dtype, x + second);
        pe_dtype_store(dtype, a * cos[i] - b * sin[i], out + first);
        pe_dtype_store(dtype, b * cos[i] + a * sin[i], out + second);
    }
}

static void random_angles(random_source *random, size_t pairs, double *cosine, double *sine)
{
    for (size_t i = 0; i < pairs; i++) {
        const double angle = i ? random_real(random, -3.2, 3.2) : 0;
        cosine[i] = cos(angle);
        sine[i] = sin(angle);
    }
}

static void fill_random(random_source *random, unsigned char *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        data[i] = (unsigned char)random_bits(random);
}

/* One shape, out of place and in place; infinities, NaN and subnormals are among random bits. */
static void check_shape(const pe_kernels *kernels, random_source *random, pe_dtype dtype,
                        pe_pairing pairing, size_t pairs, size_t gap)
{
    const size_t bytes = 2 * pairs * pe_dtype_bytes(dtype);
    double cosine[PAIRS_MAX], sine[PAIRS_MAX];
    unsigned char want[PAIRS_MAX * 16];
    guarded x = guard_make(bytes, gap), out = guard_make(bytes, gap);
    random_angles(random, pairs, cosine, sine);
    fill_random(random, x.data, bytes);
    rotate_plainly(dtype, pairing, pairs, cosine, sine, x.data, want);
    kernels->rotate(dtype, pairing, pairs, cosine, sine, 1, 2 * pairs, x.data, out.data);
    kernels->rotate(dtype, pairing, pairs, cosine, sine, 1, 2 * pairs, x.data, x.data);
    guard_check(&x, kernels->name);
    guard_check(&out, kernels->name);
    if (memcmp(out.data, want, bytes) != 0 || memcmp(x.data, want, bytes) != 0)
        fail_msg("%s %s pairing %d, %zu pairs, seed %llu: not what the definition gives",
                 kernels->name, pe_dtype_name(dtype), pairing, pairs,
                 (unsigned long long)random->seed);
    guard_free(&x);
    guard_free(&out);
}

static void every_shape_follows_the_definition(void **state)
{
    random_source random = random_make("rotate");
    for (const pe_kernels *const *k = pe_kernels_all(); *k; k++)
        for (size_t d = 0; d < PE_LEN(floats); d++)
            for (size_t p = 0; p < PE_LEN(pairings); p++) {
                for (size_t pairs = 0; pairs <= 131; pairs++)
                    check_shape(*k, &random, floats[d], pairings[p], pairs, pairs % 16);
                check_shape(*k, &random, floats[d], pairings[p], PAIRS_MAX, 1);
            }
}

/* Compare with the definition, for given channels and angles; both pairings get them as pairs. */
static void check_pairs(const pe_kernels *kernels, pe_dtype dtype, size_t pairs, const double *a,
                        const double *b, const double *cosine, const double *sine, const char *what)
{
    const size_t bytes = pe_dtype_bytes(dtype);
    unsigned char x[PAIRS_MAX * 16], out[PAIRS_MAX * 16], want[PAIRS_MAX * 16];
    for (size_t p = 0; p < PE_LEN(pairings); p++) {
        for (size_t i = 0; i < pairs; i++) {
            pe_dtype_store(dtype, a[i], x + channel(pairings[p], pairs, i, false) * bytes);
            pe_dtype_store(dtype, b[i], x + channel(pairings[p], pairs, i, true) * bytes);
        }
        rotate_plainly(dtype, pairings[p], pairs, cosine, sine, x, want);
        kernels->rotate(dtype, pairings[p], pairs, cosine, sine, 1, 2 * pairs, x, out);
        for (size_t k = 0; k < 2 * pairs; k++)
            if (memcmp(out + k * bytes, want + k * bytes, bytes) != 0)
                fail_msg("%s %s pairing %d, %s: channel %zu of %zu pairs: got %a, wanted %a",
                         kernels->name, pe_dtype_name(dtype), pairings[p], what, k, pairs,
                         pe_dtype_load(dtype, out + k * bytes),
                         pe_dtype_load(dtype, want + k * bytes));
    }
}

typedef void make_pair(random_source *random, pe_dtype dtype, double *a, double *b, double *c,
                       double *s);

/* Vectors as models have them. */
static void ordinary(random_source *random, pe_dtype dtype, double *a, double *b, double *c,
                     double *s)
{
    const double angle = random_real(random, -3.2, 3.2);
    *a = random_real(random, -2, 2);
    *b = random_real(random, -2, 2) * ldexp(1, -(int)random_int(random, 0, 12));
    *c = cos(angle);
    *s = sin(angle);
}

/* Any finite elements, with an amplitude from 2^-80 to 2^80. */
static void amplified(random_source *random, pe_dtype dtype, double *a, double *b, double *c,
                      double *s)
{
    const double angle = random_real(random, -3.2, 3.2);
    const double amplitude = ldexp(1, (int)random_int(random, -80, 80) / 8 * 8);
    *a = random_value(random, dtype);
    *b = random_value(random, dtype);
    *c = amplitude * cos(angle);
    *s = amplitude * sin(angle);
}

/* Nearly all of a' cancels. */
static void cancelling(random_source *random, pe_dtype dtype, double *a, double *b, double *c,
                       double *s)
{
    ordinary(random, dtype, a, b, c, s);
    *a = *b * *s / *c; /* rounded to dtype it leaves some */
}

/* a' within some bits of halfway between two elements, or on it. */
static void nearly_halfway(random_source *random, pe_dtype dtype, double *a, double *b, double *c,
                           double *s)
{
    const int bits = dtype == PE_BFLOAT16 ? 8 : dtype == PE_FLOAT16 ? 11 : 24;
    const double halfway = (double)(2 * random_int(random, 1 << (bits - 1), (1 << bits) - 1) + 1);
    const double off = ldexp(random_real(random, -1, 1), -(int)random_int(random, 1, 50));
    *a = random_int(random, 0, 1) ? 1 : -1;
    *b = random_int(random, 0, 3) ? 0 : ldexp(1, -(int)random_int(random, 0, 14));
    *c = ldexp(halfway + (random_int(random, 0, 3) ? off : 0), -bits - 1);
    *s = ldexp(random_real(random, -1, 1), -(int)random_int(random, 8, 40));
}

static void zeros_of_both_signs(random_source *random, pe_dtype dtype, double *a, double *b,
                                double *c, double *s)
{
    ordinary(random, dtype, a, b, c, s);
    *a = random_int(random, 0, 1) ? 0.0 : -0.0;
    *b = random_int(random, 0, 1) ? 0.0 : -0.0;
}

static void infinite_or_no_numbers(random_source *random, pe_dtype dtype, double *a, double *b,
                                   double *c, double *s)
{
    static const double odd[] = {(double)INFINITY, -(double)INFINITY, (double)NAN, -(double)NAN, 0};
    ordinary(random, dtype, a, b, c, s);
    double *const any[] = {a, b, c, s};
    *any[random_int(random, 0, 3)] = odd[random_int(random, 0, PE_LEN(odd) - 1)];
}

/* Exact, or so close to it that no less than the double decides, or beyond any number. */
static void elements_of_every_kind_follow_the_definition(void **state)
{
    static const struct {
        const char *name;
        make_pair *make;
        int rounds;
    } kinds[] = {
        {"ordinary", ordinary, 300},        {"amplified", amplified, 100},
        {"cancelling", cancelling, 100},    {"nearly halfway", nearly_halfway, 300},
        {"zeros", zeros_of_both_signs, 20}, {"no numbers", infinite_or_no_numbers, 100},
    };
    random_source random = random_make("rotate kinds");
    double a[PAIRS_MAX], b[PAIRS_MAX], c[PAIRS_MAX], s[PAIRS_MAX];
    for (size_t kind = 0; kind < PE_LEN(kinds); kind++)
        for (size_t d = 0; d < PE_LEN(floats); d++)
            for (int round = 0; round < kinds[kind].rounds; round++) {
                const size_t pairs = (size_t)random_int(&random, 1, 140);
                for (size_t i = 0; i < pairs; i++)
                    kinds[kind].make(&random, floats[d], a + i, b + i, c + i, s + i);
                for (const pe_kernels *const *k = pe_kernels_all(); *k; k++)
                    check_pairs(*k, floats[d], pairs, a, b, c, s, kinds[kind].name);
            }
}

/* Vectors that are further apart than they are long: whole vectors of every level, and rests. */
static void check_strided(const pe_kernels *kernels, random_source *random, pe_dtype dtype,
                          pe_pairing pairing, size_t pairs)
{
    enum { PAIRS_MOST = 21, COUNT = 7, GAP = 3 };
    const size_t stride = 2 * pairs + GAP, row = stride * pe_dtype_bytes(dtype);
    double cosine[PAIRS_MOST], sine[PAIRS_MOST];
    unsigned char x[COUNT * (2 * PAIRS_MOST + GAP) * 8], out[sizeof x], want[sizeof x];
    random_angles(random, pairs, cosine, sine);
    fill_random(random, x, sizeof x);
    memset(out, 7, sizeof out);
    memset(want, 7, sizeof want);
    for (size_t r = 0; r < COUNT; r++)
        rotate_plainly(dtype, pairing, pairs, cosine, sine, x + r * row, want + r * row);
    kernels->rotate(dtype, pairing, pairs, cosine, sine, COUNT, stride, x, out);
    if (memcmp(out, want, sizeof out) != 0)
        fail_msg("%s %s pairing %d, %zu pairs %zu apart, seed %llu: not what the definition gives",
                 kernels->name, pe_dtype_name(dtype), pairing, pairs, stride,
                 (unsigned long long)random->seed);
}

static void strided_vectors_leave_the_rest_alone(void **state)
{
    static const size_t pairs[] = {1, 4, 5, 8, 16, 21};
    random_source random = random_make("rotate strided");
    for (const pe_kernels *const *k = pe_kernels_all(); *k; k++)
        for (size_t d = 0; d < PE_LEN(floats); d++)
            for (size_t p = 0; p < PE_LEN(pairings); p++)
                for (size_t n = 0; n < PE_LEN(pairs); n++)
                    check_strided(*k, &random, floats[d], pairings[p], pairs[n]);
}

static void no_vectors_and_no_pairs_are_left_alone(void **state)
{
    const double one = 1;
    for (const pe_kernels *const *k = pe_kernels_all(); *k; k++)
        for (size_t d = 0; d < PE_LEN(floats); d++)
            for (size_t p = 0; p < PE_LEN(pairings); p++) {
                unsigned char x[16] = {1, 2, 3}, out[16] = {4, 5, 6}, same[16] = {4, 5, 6};
                (*k)->rotate(floats[d], pairings[p], 1, &one, &one, 0, 2, x, out);
                (*k)->rotate(floats[d], pairings[p], 0, &one, &one, 3, 1, x, out);
                assert_memory_equal(out, same, sizeof out);
            }
}

/* |got - (a*c - b*s)| <= 1/2 ulp + 2^-52 (|a| + |b|), for cosines and sines of exact angles. */
static void check_bound(pe_dtype dtype, double a, double b, double angle, double got)
{
    mpfr_t c, s, x;
    mpfr_inits2(300, c, s, x, (mpfr_ptr)NULL);
    mpfr_set_d(x, angle, MPFR_RNDN);
    mpfr_sin_cos(s, c, x, MPFR_RNDN);
    mpfr_mul_d(c, c, a, MPFR_RNDN);
    mpfr_mul_d(s, s, b, MPFR_RNDN);
    mpfr_sub(x, c, s, MPFR_RNDN);
    mpfr_sub_d(x, x, got, MPFR_RNDN);
    const double error = fabs(mpfr_get_d(x, MPFR_RNDN));
    unsigned char up[8];
    pe_dtype_store(dtype, got, up);
    up[0] ^= 1; /* a neighbour of the same exponent: one ulp away */
    const double ulp = fabs(pe_dtype_load(dtype, up) - got);
    mpfr_clears(c, s, x, (mpfr_ptr)NULL);
    if (error > ulp / 2 + 0x1p-52 * (fabs(a) + fabs(b)))
        fail_msg("%s a %a, b %a, angle %a: got %a, off by %a, ulp %a", pe_dtype_name(dtype), a, b,
                 angle, got, error, ulp);
}

static double cosine_of(double angle, bool sine)
{
    mpfr_t x;
    mpfr_init2(x, 53);
    mpfr_set_d(x, angle, MPFR_RNDN);
    sine ? mpfr_sin(x, x, MPFR_RNDN) : mpfr_cos(x, x, MPFR_RNDN);
    const double value = mpfr_get_d(x, MPFR_RNDN);
    mpfr_clear(x);
    return value;
}

static void error_stays_within_its_bound(void **state)
{
    random_source random = random_make("rotate bound");
    for (size_t d = 0; d < PE_LEN(floats); d++)
        for (int round = 0; round < 3000; round++) {
            const double angle = random_real(&random, -7, 7);
            const double c = cosine_of(angle, false), s = cosine_of(angle, true);
            unsigned char x[16], out[16];
            const size_t bytes = pe_dtype_bytes(floats[d]);
            pe_dtype_store(floats[d], random_real(&random, -2, 2), x);
            pe_dtype_store(floats[d], ldexp(random_real(&random, -2, 2), -round % 40), x + bytes);
            pe_kernels_get()->rotate(floats[d], PE_PAIRING_INTERLEAVED, 1, &c, &s, 1, 2, x, out);
            check_bound(floats[d], pe_dtype_load(floats[d], x), pe_dtype_load(floats[d], x + bytes),
                        angle, pe_dtype_load(floats[d], out));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shape_follows_the_definition),
        cmocka_unit_test(elements_of_every_kind_follow_the_definition),
        cmocka_unit_test(no_vectors_and_no_pairs_are_left_alone),
        cmocka_unit_test(strided_vectors_leave_the_rest_alone),
        cmocka_unit_test(error_stays_within_its_bound),
        cmocka_unit_test(every_variant_of_kernels_ran),
    };
    return cmocka_run_group_tests_name("kernels: rotate", tests, NULL, NULL);
}
