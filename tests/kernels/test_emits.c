/* SPDX-License-Identifier: MIT */
/* test_emits.c - what the emits of each level call open, and what they store when nothing is. */
#include "support/check.h"

#include <math.h>

#include "kernels/kernels.h"
#include "kernels/level/emits.h"
#include "support/bits.h"
#include "support/random.h"
#include "support/variant_cases.h"

/* As tables have them: sines and cosines, the sizes of which rule out what is small. */
#define WINDOW (1U << 15)
#define SMALL  0x1p-10F

static const pe_dtype dtypes[] = {PE_FLOAT32, PE_FLOAT16, PE_BFLOAT16};

static double rounded(pe_dtype dtype, double value)
{
    unsigned char element[8];
    pe_dtype_store(dtype, value, element);
    return pe_dtype_load(dtype, element);
}

/* Halfway between two neighbours: then what lies as far on the other side is one, too. */
static bool is_midpoint(pe_dtype dtype, double value)
{
    const double near = rounded(dtype, value), other = 2 * value - near;
    return near != value && rounded(dtype, other) == other;
}

/* Last places of the double from the nearest midpoint of float32; negative: nearer to 0. */
static int64_t beyond_midpoint(double value)
{
    return (int64_t)(bits_of(value) & ((1U << 29) - 1)) - (1 << 28);
}

static bool is_open(pe_dtype dtype, double value)
{
    if (dtype != PE_FLOAT32)
        return is_midpoint(dtype, (double)(float)value);
    const int64_t beyond = beyond_midpoint(value);
    return beyond >= -(int64_t)WINDOW && beyond < (int64_t)WINDOW;
}

/* A number of random size and sign, at or near a midpoint of dtype or anywhere. */
static double some_value(random_source *random, pe_dtype dtype)
{
    static const int64_t near[] = {0,          1,          WINDOW - 1,       WINDOW,
                                   WINDOW + 1, 2 * WINDOW, (1 << 28) - 2048, 1 << 28,
                                   1 << 29}; /* a last place of a float */
    const double size = ldexp(random_real(random, 1, 2), (int)random_int(random, -9, 2));
    const double value = random_int(random, 0, 1) != 0 ? -size : size;
    if (random_int(random, 0, 3) == 0)
        return value;
    /* the bits that dtype drops become a midpoint's */
    const int dropped = dtype == PE_FLOAT32 ? 29 : dtype == PE_FLOAT16 ? 42 : 45;
    const uint64_t low = (UINT64_C(1) << dropped) - 1;
    const uint64_t middle = (bits_of(value) & ~low) | (low / 2 + 1);
    const uint64_t by = (uint64_t)near[random_int(random, 0, (int64_t)PE_LEN(near) - 1)];
    return double_of(random_int(random, 0, 1) != 0 ? middle + by : middle - by);
}

/* One value in each place by turns, among others that are proven: pi to their left and right. */
static void check_value(const char *level, emit_of *emit, pe_dtype dtype, double value, float small)
{
    const size_t bytes = pe_dtype_bytes(dtype);
    const bool is_small = fabs(value) < (double)small;
    const bool wanted = is_small || is_open(dtype, value);
    if (is_small && fabs(value) > (1 - 0x1p-8) * (double)small)
        return; /* bfloat16 may be rounded before its size is looked at */
    double values[EMIT_MAX], out[EMIT_MAX];
    size_t n = 1;
    for (size_t place = 0; place < n; place++) {
        for (size_t i = 0; i < EMIT_MAX; i++)
            values[i] = i == place ? value : 3.141592653589793;
        const bool open = emit(dtype, WINDOW, small, values, out, &n);
        if (open != wanted)
            fail_msg("%s, %s: %a in place %zu is %sopen", level, pe_dtype_name(dtype), value, place,
                     open ? "" : "not ");
        for (size_t i = 0; !open && i < n; i++)
            if (pe_dtype_load(dtype, (char *)out + i * bytes) != rounded(dtype, values[i]))
                fail_msg("%s, %s: %a in place %zu is stored wrong", level, pe_dtype_name(dtype),
                         values[i], i);
    }
}

/* Of several levels, those in the order of pe_kernels_all. */
static void what_lies_near_a_midpoint_or_is_small_is_open_and_nothing_else(void **state)
{
    static emit_of *const emits[] = {
        emit_baseline,
#if defined(__x86_64__)
        emit_v3,
        emit_v4,
#endif
    };
    for (size_t k = 0; k < PE_LEN(emits) && pe_kernels_all()[k] != NULL; k++) {
        const char *level = pe_kernels_all()[k]->name;
        random_source random = random_make(level);
        for (int round = 0; round < 20000; round++) {
            const pe_dtype dtype = dtypes[round % (int)PE_LEN(dtypes)];
            const double value = some_value(&random, dtype);
            check_value(level, emits[k], dtype, value, SMALL);
            check_value(level, emits[k], dtype, value * 0x1p-12, SMALL);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_lies_near_a_midpoint_or_is_small_is_open_and_nothing_else),
        cmocka_unit_test(every_variant_of_kernels_ran),
    };
    return cmocka_run_group_tests_name("emits", tests, NULL, NULL);
}
