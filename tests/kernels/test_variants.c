/* SPDX-License-Identifier: MIT */
/* test_variants.c - all variants give the same bits, and one is chosen by name. */
#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/kernels.h"
#include "support/random.h"
#include "support/variant_cases.h"

#define N 513

static const pe_dtype floats[] = {PE_FLOAT32, PE_FLOAT64, PE_FLOAT16, PE_BFLOAT16};

/* What the kernels are fed: random bits as elements and doubles, and a run of phases. */
typedef struct input {
    unsigned char x[8 * N];
    double y[N], cos[N / 2], sin[N / 2];
    uint64_t phase[4][N];
    double slope, slope_rest;
    int64_t first, step;
    pe_dtype dtype;
} input;

static void make_input(random_source *random, pe_dtype dtype, input *in)
{
    uint64_t *words[] = {in->phase[0], in->phase[1], in->phase[2], in->phase[3]};
    for (size_t p = 0; p < PE_LEN(words); p++)
        for (size_t j = 0; j < N; j++)
            words[p][j] = random_bits(random);
    for (size_t i = 0; i < sizeof in->x; i++)
        in->x[i] = (unsigned char)random_bits(random);
    for (size_t j = 0; j < N; j++)
        in->y[j] = random_value(random, j % 2 ? dtype : PE_FLOAT64);
    for (size_t i = 0; i < N / 2; i++) {
        in->cos[i] = random_real(random, -1, 1);
        in->sin[i] = random_real(random, -1, 1);
    }
    in->slope = random_real(random, -1, 1);
    in->slope_rest = in->slope * random_real(random, -0x1p-54, 0x1p-54);
    in->first = random_int(random, -1000000, 1000000);
    in->step = random_int(random, -100, 100);
    in->dtype = dtype;
}

typedef size_t (*operation)(const pe_kernels *kernels, const input *in, void *out, uint32_t *list);

static size_t run_widen(const pe_kernels *kernels, const input *in, void *out, uint32_t *list)
{
    kernels->widen(in->dtype, in->x, N, out);
    return 0;
}

static size_t run_narrow(const pe_kernels *kernels, const input *in, void *out, uint32_t *list)
{
    kernels->narrow(in->dtype, in->y, N, out);
    return 0;
}

static size_t run_rotate(const pe_kernels *kernels, const input *in, void *out, uint32_t *list)
{
    kernels->rotate(in->dtype, PE_PAIRING_INTERLEAVED, N / 2, in->cos, in->sin, 1, N, in->x, out);
    kernels->rotate(in->dtype, PE_PAIRING_HALF, N / 8, in->cos, in->sin, 3, N / 4, out, out);
    return 0;
}

static size_t run_add(const pe_kernels *kernels, const input *in, void *out, uint32_t *list)
{
    kernels->add(in->dtype, in->x, in->y, N, out);
    return 0;
}

static size_t run_ramp(const pe_kernels *kernels, const input *in, void *out, uint32_t *list)
{
    const size_t bytes = pe_dtype_bytes(in->dtype);
    kernels->ramp(in->dtype, in->slope, 0, in->first, in->step, N / 2, out, list);
    return kernels->ramp(in->dtype, in->slope, in->slope_rest, in->first, in->step, N / 2,
                         (char *)out + N / 2 * bytes, list);
}

static size_t run_waves(const pe_kernels *kernels, const input *in, void *out, uint32_t *list)
{
    enum { WAVES = 37, ROWS = 6 };
    const pe_run run = {.n = WAVES,
                        .rows = ROWS,
                        .row_steps = 1,
                        .start_hi = in->phase[0],
                        .start_lo = in->phase[1],
                        .step_hi = in->phase[2],
                        .step_lo = in->phase[3],
                        .amplitude_hi = 1};
    const pe_wave_layout layout = {.stride = 2, .sin_at = 0, .cos_at = 1, .row = 2 * WAVES};
    uint64_t doubtful[(WAVES * ROWS + 63) / 64] = {0};
    kernels->waves(&run, &layout, in->dtype, out, doubtful);
    /* What is marked is the caller's to fill. */
    const size_t bytes = pe_dtype_bytes(in->dtype);
    for (size_t i = 0; i < WAVES * ROWS; i++)
        if (doubtful[i / 64] >> (i % 64) & 1)
            memset((char *)out + 2 * i * bytes, 0, 2 * bytes);
    memcpy(list, doubtful, sizeof doubtful);
    return 2 * PE_LEN(doubtful);
}

static void same_bits(operation run, const char *name, const input *in, uint64_t seed)
{
    static unsigned char want[8 * N], got[8 * N];
    static uint32_t list[N], other[N];
    const pe_kernels *const *all = pe_kernels_all();
    memset(want, 0, sizeof want);
    const size_t listed = run(all[0], in, want, list);
    for (size_t k = 1; all[k]; k++) {
        memset(got, 0, sizeof got);
        const size_t now = run(all[k], in, got, other);
        if (now != listed || memcmp(list, other, listed * sizeof *list) != 0 ||
            memcmp(want, got, sizeof want) != 0)
            fail_msg("%s of %s: %s differs from %s, seed %llu", name, pe_dtype_name(in->dtype),
                     all[k]->name, all[0]->name, (unsigned long long)seed);
    }
}

static void all_variants_give_the_same_bits(void **state)
{
    static const struct {
        const char *name;
        operation run;
    } operations[] = {
        {"widen", run_widen}, {"narrow", run_narrow}, {"rotate", run_rotate},
        {"add", run_add},     {"ramp", run_ramp},     {"waves", run_waves},
    };
    static input in;
    random_source random = random_make("variants");
    for (size_t d = 0; d < PE_LEN(floats); d++)
        for (int round = 0; round < 40; round++) {
            make_input(&random, floats[d], &in);
            for (size_t o = 0; o < PE_LEN(operations); o++)
                same_bits(operations[o].run, operations[o].name, &in, random.seed);
        }
}

static void every_runnable_variant_can_be_chosen_by_name(void **state)
{
    pe_problem why = {0};
    for (const pe_kernels *const *k = pe_kernels_all(); *k; k++) {
        assert_int_equal(pe_kernels_select((*k)->name, &why), PE_OK);
        assert_ptr_equal(pe_kernels_get(), *k);
    }
    assert_int_equal(pe_kernels_select("auto", &why), PE_OK);
    const pe_kernels *const *last = pe_kernels_all();
    while (last[1])
        last++;
    assert_ptr_equal(pe_kernels_get(), *last);
}

static void an_unknown_name_is_refused_and_the_known_are_told(void **state)
{
    pe_problem why = {0};
    const pe_kernels *before = pe_kernels_get();
    assert_int_equal(pe_kernels_select("avx9", &why), PE_INVALID_PARAMETER);
    assert_string_equal(why.where, "kernels");
    assert_non_null(strstr(why.detail, "auto, baseline"));
    assert_non_null(strstr(why.detail, "avx9"));
    assert_ptr_equal(pe_kernels_get(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_variants_give_the_same_bits),
        cmocka_unit_test(every_runnable_variant_can_be_chosen_by_name),
        cmocka_unit_test(an_unknown_name_is_refused_and_the_known_are_told),
        cmocka_unit_test(every_variant_of_kernels_ran),
    };
    return cmocka_run_group_tests_name("kernels: variants", tests, NULL, NULL);
}
