/* SPDX-License-Identifier: MIT */
/* test_add.c - doubles added to elements, rounded once. */
#include "support/check.h"

#include <math.h>
#include <string.h>

#include "kernels/kernels.h"
#include "support/guard.h"
#include "support/random.h"

#define N_MAX 600

static const pe_dtype floats[] = {PE_FLOAT32, PE_FLOAT64, PE_FLOAT16, PE_BFLOAT16};

/* One length, out of place and in place, from random bits: NaN and infinities among them. */
static void check_length(const pe_kernels *kernels, random_source *random, pe_dtype dtype, size_t n,
                         size_t gap)
{
    const size_t bytes = pe_dtype_bytes(dtype);
    double y[N_MAX];
    unsigned char want[N_MAX * 8] = {0};
    guarded x = guard_make(n * bytes, gap), out = guard_make(n * bytes, gap);
    for (size_t i = 0; i < n * bytes; i++)
        x.data[i] = (unsigned char)random_bits(random);
    for (size_t j = 0; j < n; j++) {
        const double a = pe_dtype_load(dtype, x.data + j * bytes);
        /* Of the element's size, or its negative, or anything. */
        y[j] = j % 3 == 0   ? a * random_real(random, -2, 2)
               : j % 3 == 1 ? -a
                            : random_real(random, -1, 1);
        pe_dtype_store(dtype, a + y[j], want + j * bytes);
    }
    kernels->add(dtype, x.data, y, n, out.data);
    kernels->add(dtype, x.data, y, n, x.data);
    guard_check(&x, kernels->name);
    guard_check(&out, kernels->name);
    if (memcmp(out.data, want, n * bytes) != 0 || memcmp(x.data, want, n * bytes) != 0)
        fail_msg("%s %s, %zu elements, seed %llu: not the sums rounded once", kernels->name,
                 pe_dtype_name(dtype), n, (unsigned long long)random->seed);
    guard_free(&x);
    guard_free(&out);
}

static void every_length_is_the_sum_rounded_once(void **state)
{
    random_source random = random_make("add");
    for (const pe_kernels *const *k = pe_kernels_all(); *k; k++)
        for (size_t d = 0; d < PE_LEN(floats); d++) {
            for (size_t n = 0; n <= 130; n++)
                check_length(*k, &random, floats[d], n, n % 16);
            check_length(*k, &random, floats[d], N_MAX, 3);
        }
}

static void sums_that_cancel_and_overflow_are_as_in_real_arithmetic(void **state)
{
    static const struct {
        pe_dtype dtype;
        double x, y, want;
    } cases[] = {
        {PE_FLOAT16, 65504, 15.9, 65504},   {PE_FLOAT16, 65504, 16, HUGE_VAL},
        {PE_FLOAT16, 2048, 1, 2048},        {PE_FLOAT16, 2048, 1.0000000001, 2050},
        {PE_FLOAT16, 0x1p-24, -0x1p-24, 0}, {PE_BFLOAT16, 256, 1, 256},
        {PE_BFLOAT16, 258, 1, 260},         {PE_BFLOAT16, 256, 1.0000000001, 258},
        {PE_FLOAT32, 0x1p24, 1, 0x1p24},    {PE_FLOAT32, 0x1p24, 1.0000001, 0x1.000002p24},
        {PE_FLOAT64, 0x1p53, 1, 0x1p53},    {PE_FLOAT32, 0x1p-149, 0x1p-150, 0x1p-148},
    };
    for (const pe_kernels *const *k = pe_kernels_all(); *k; k++)
        for (size_t i = 0; i < PE_LEN(cases); i++) {
            unsigned char x[8], out[8];
            pe_dtype_store(cases[i].dtype, cases[i].x, x);
            (*k)->add(cases[i].dtype, x, &cases[i].y, 1, out);
            const double got = pe_dtype_load(cases[i].dtype, out);
            if (got != cases[i].want)
                fail_msg("%s %s: %.17g + %.17g gave %.17g, wanted %.17g", (*k)->name,
                         pe_dtype_name(cases[i].dtype), cases[i].x, cases[i].y, got, cases[i].want);
        }
}

/* Zeros of both signs, the smallest and the largest, infinities, NaN of either sign: each with
 * each, at every place of a vector. */
static void special_elements_add_as_the_standard_says(void **state)
{
    for (size_t d = 0; d < PE_LEN(floats); d++) {
        const size_t bytes = pe_dtype_bytes(floats[d]);
        const double least = floats[d] == PE_FLOAT64   ? 0x1p-1074
                             : floats[d] == PE_FLOAT32 ? 0x1p-149
                             : floats[d] == PE_FLOAT16 ? 0x1p-24
                                                       : 0x1p-133;
        const double most = pe_dtype_max(floats[d]), infinity = (double)INFINITY;
        const double values[] = {0.0,         -0.0,         least, -least,   3 * least,
                                 0x1p-1074,   most,         -most, infinity, -infinity,
                                 (double)NAN, -(double)NAN, -1.0,  1.0};
        enum { N = PE_LEN(values) };
        unsigned char x[N * N * 8], want[N * N * 8], out[N * N * 8];
        double y[N * N];
        for (size_t j = 0; j < N * N; j++) {
            pe_dtype_store(floats[d], values[j % N], x + j * bytes);
            y[j] = values[j / N];
            pe_dtype_store(floats[d], pe_dtype_load(floats[d], x + j * bytes) + y[j],
                           want + j * bytes);
        }
        for (const pe_kernels *const *k = pe_kernels_all(); *k; k++)
            for (size_t from = 0; from < 20; from++) {
                (*k)->add(floats[d], x + from * bytes, y + from, N * N - from, out + from * bytes);
                if (memcmp(out + from * bytes, want + from * bytes, (N * N - from) * bytes) != 0)
                    fail_msg("%s %s from element %zu on", (*k)->name, pe_dtype_name(floats[d]),
                             from);
            }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_length_is_the_sum_rounded_once),
        cmocka_unit_test(special_elements_add_as_the_standard_says),
        cmocka_unit_test(sums_that_cancel_and_overflow_are_as_in_real_arithmetic),
    };
    return cmocka_run_group_tests_name("kernels: add", tests, NULL, NULL);
}
