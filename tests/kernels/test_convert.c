/* SPDX-License-Identifier: MIT */
/* test_convert.c - elements to doubles and back, each variant against MPFR and base/array.c. */
#include "support/check.h"

#include <math.h>
#include <mpfr.h>
#include <string.h>

#include "kernels/kernels.h"
#include "support/bits.h"
#include "support/guard.h"
#include "support/random.h"
#include "support/slow.h"

/* Doubles around everything that a conversion to dtype decides. */
#define CORNERS_MAX 4096

static const pe_dtype floats[] = {PE_FLOAT32, PE_FLOAT64, PE_FLOAT16, PE_BFLOAT16};

static size_t add_around(double value, double *out, size_t n)
{
    const double near[] = {value, nextafter(value, HUGE_VAL), nextafter(value, -HUGE_VAL)};
    for (size_t i = 0; i < PE_LEN(near); i++) {
        out[n++] = near[i];
        out[n++] = -near[i];
    }
    return n;
}

/* Elements, midpoints between neighbours and their surroundings at every exponent of dtype. */
static size_t corners(pe_dtype dtype, double *out)
{
    static const struct {
        int smallest, largest, fraction;
    } ranges[PE_DTYPES] = {[PE_FLOAT32] = {-150, 128, 23},
                           [PE_FLOAT64] = {-1074, 1023, 52},
                           [PE_FLOAT16] = {-25, 16, 10},
                           [PE_BFLOAT16] = {-134, 128, 7}};
    const int step = dtype == PE_FLOAT64 ? 16 : dtype == PE_FLOAT16 ? 1 : 3;
    size_t n = 0;
    for (int e = ranges[dtype].smallest; e <= ranges[dtype].largest; e += step) {
        const double ulp = ldexp(1, e - ranges[dtype].fraction);
        n = add_around(ldexp(1, e), out, n);
        n = add_around(ldexp(1, e) + ulp / 2, out, n);
        n = add_around(ldexp(1, e) + 1.5 * ulp, out, n);
        n = add_around(ldexp(1, e) - ulp / 4, out, n);
    }
    const double max = pe_dtype_max(dtype);
    const double beyond = max + ldexp(1, ranges[dtype].largest - ranges[dtype].fraction - 2);
    const double special[] = {
        0, HUGE_VAL, max, beyond, 0x1p-1074, 0x1.fffffffffffffp-1023, 0x1.fffffffffffffp1023};
    for (size_t i = 0; i < PE_LEN(special); i++)
        n = add_around(special[i], out, n);
    out[n++] = nan("");
    out[n++] = -nan("");
    assert_true(n <= CORNERS_MAX);
    return n;
}

/* What MPFR says, with the signs that it has no say in. */
static double rounded(pe_dtype dtype, double value)
{
    if (!isfinite(value) || dtype == PE_FLOAT64)
        return value;
    mpfr_t x;
    mpfr_init2(x, 53);
    mpfr_set_d(x, value, MPFR_RNDN);
    const double result = slow_round(dtype, x);
    mpfr_clear(x);
    return result == 0 ? copysign(0, value) : result;
}

static void check_narrow(const pe_kernels *kernels, pe_dtype dtype, const double *in, size_t n)
{
    const size_t bytes = pe_dtype_bytes(dtype);
    unsigned char out[CORNERS_MAX * 8], stored[8];
    kernels->narrow(dtype, in, n, out);
    for (size_t j = 0; j < n; j++) {
        const double got = pe_dtype_load(dtype, out + j * bytes);
        const double want = rounded(dtype, in[j]);
        if (isnan(want) ? !isnan(got) : bits_of(got) != bits_of(want))
            fail_msg("%s narrow to %s of %a: got %a, wanted %a", kernels->name,
                     pe_dtype_name(dtype), in[j], got, want);
        pe_dtype_store(dtype, in[j], stored);
        if (memcmp(stored, out + j * bytes, bytes) != 0)
            fail_msg("%s narrow to %s of %a differs from pe_dtype_store", kernels->name,
                     pe_dtype_name(dtype), in[j]);
    }
}

static void narrow_rounds_once(void **state)
{
    random_source random = random_make("narrow");
    static double in[CORNERS_MAX];
    for (size_t d = 0; d < PE_LEN(floats); d++) {
        for (const pe_kernels *const *k = pe_kernels_all(); *k; k++) {
            check_narrow(*k, floats[d], in, corners(floats[d], in));
            for (size_t j = 0; j < CORNERS_MAX; j++)
                in[j] = random_value(&random, j % 2 ? PE_FLOAT64 : PE_FLOAT32);
            check_narrow(*k, floats[d], in, CORNERS_MAX);
            for (size_t j = 0; j < CORNERS_MAX; j++)
                in[j] = ldexp(random_real(&random, -2, 2), (int)random_int(&random, -30, 17));
            check_narrow(*k, floats[d], in, CORNERS_MAX);
        }
    }
}

/* One of all ones, which would carry into the sign if it were rounded up, among numbers whose
 * rounding is clear. */
static void a_nan_stays_one_in_every_place(void **state)
{
    double in[19];
    for (const pe_kernels *const *k = pe_kernels_all(); *k; k++)
        for (size_t d = 0; d < PE_LEN(floats); d++)
            for (size_t place = 0; place < PE_LEN(in); place++) {
                for (size_t j = 0; j < PE_LEN(in); j++)
                    in[j] = j == place ? nan("0x7ffffffffffff") : 1.5;
                check_narrow(*k, floats[d], in, PE_LEN(in));
            }
}

static void check_widen(const pe_kernels *kernels, pe_dtype dtype, const void *in, size_t n)
{
    const size_t bytes = pe_dtype_bytes(dtype);
    static double out[65536];
    kernels->widen(dtype, in, n, out);
    for (size_t j = 0; j < n; j++) {
        const double want = pe_dtype_load(dtype, (const char *)in + j * bytes);
        if (bits_of(out[j]) != bits_of(want))
            fail_msg("%s widen of %s element %zu: got %a (%016llx), wanted %a (%016llx)",
                     kernels->name, pe_dtype_name(dtype), j, out[j],
                     (unsigned long long)bits_of(out[j]), want, (unsigned long long)bits_of(want));
    }
}

static void widen_is_exact(void **state)
{
    random_source random = random_make("widen");
    static uint16_t every[65536];
    static uint64_t some[8192];
    for (size_t j = 0; j < PE_LEN(every); j++)
        every[j] = (uint16_t)j;
    for (const pe_kernels *const *k = pe_kernels_all(); *k; k++) {
        check_widen(*k, PE_FLOAT16, every, PE_LEN(every));
        check_widen(*k, PE_BFLOAT16, every, PE_LEN(every));
        for (size_t j = 0; j < PE_LEN(some); j++)
            some[j] = random_bits(&random);
        check_widen(*k, PE_FLOAT64, some, PE_LEN(some));
        check_widen(*k, PE_FLOAT32, some, 2 * PE_LEN(some));
        check_widen(*k, PE_INT32, some, 2 * PE_LEN(some));
    }
}

/* Lengths of every tail, at addresses of every alignment, and not a byte beside. */
static void every_length_stays_inside(void **state)
{
    static double in[130], back[130];
    for (size_t j = 0; j < PE_LEN(in); j++)
        in[j] = (double)j / 8 - 7;
    for (const pe_kernels *const *k = pe_kernels_all(); *k; k++)
        for (size_t d = 0; d < PE_LEN(floats); d++)
            for (size_t n = 0; n <= PE_LEN(in); n++) {
                const size_t gap = n % 8;
                guarded wide = guard_make(n * sizeof(double), 8 * gap);
                guarded narrow = guard_make(n * pe_dtype_bytes(floats[d]), gap);
                memcpy(wide.data, in, n * sizeof(double));
                (*k)->narrow(floats[d], (const double *)(void *)wide.data, n, narrow.data);
                memset(wide.data, 0, wide.bytes);
                (*k)->widen(floats[d], narrow.data, n, (double *)(void *)wide.data);
                guard_check(&narrow, (*k)->name);
                guard_check(&wide, (*k)->name);
                for (size_t j = 0; j < n; j++)
                    back[j] = rounded(floats[d], in[j]);
                assert_memory_equal(wide.data, back, n * sizeof(double));
                guard_free(&wide);
                guard_free(&narrow);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(narrow_rounds_once),
        cmocka_unit_test(a_nan_stays_one_in_every_place),
        cmocka_unit_test(widen_is_exact),
        cmocka_unit_test(every_length_stays_inside),
    };
    return cmocka_run_group_tests_name("kernels: convert", tests, NULL, NULL);
}
