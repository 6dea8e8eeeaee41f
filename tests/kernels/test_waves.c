/* SPDX-License-Identifier: MIT */
/* test_waves.c - sines and cosines of every variant, against 128-bit arithmetic and MPFR. */
#include "support/check.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exact/wave_set.h"
#include "kernels/level/anchors.h"
#include "support/random.h"
#include "support/variant_cases.h"

static random_source source;

static int seed(void **unused)
{
    source = random_make("waves");
    return 0;
}

static uint64_t bits(void)
{
    return random_bits(&source);
}

static size_t below(size_t n)
{
    return (size_t)(bits() % n);
}

static double unit(void)
{
    return random_real(&source, 0, 1);
}

static const pe_dtype dtypes[] = {PE_FLOAT32, PE_FLOAT64, PE_FLOAT16, PE_BFLOAT16};

/* ---- a run and its truth -------------------------------------------------------------------- */

#define N_MAX    600
#define ROWS_MAX 150

typedef struct trial {
    uint64_t planes[4][N_MAX + PE_PAD];
    double amplitude_hi, amplitude_lo;
    pe_fixed128 amplitude;
    size_t n, rows, offset_rows;
    uint64_t first, row_steps;
    bool counted; /* start is first * step, left to the kernel */
    bool listed;
    double list[ROWS_MAX];
} trial;

/* Any phase; now and then one close to a quarter turn, or a small step as of a low frequency. */
static uint64_t random_high(void)
{
    return bits() % 4 ? bits() : (uint64_t)below(4) << 62 | bits() >> (2 + below(40));
}

/* 1, or hi + lo of any size near it. */
static void random_amplitude(trial *t)
{
    const bool one = bits() % 2;
    t->amplitude_hi = one ? 1 : ldexp(1 + unit(), (int)below(8) - 4) * (bits() % 2 ? 1 : -1);
    t->amplitude_lo = one || bits() % 2 ? 0 : t->amplitude_hi * 0x1p-53 * (unit() - 0.5);
    mpfr_t sum;
    mpfr_init2(sum, 200);
    mpfr_set_d(sum, t->amplitude_hi, MPFR_RNDN);
    mpfr_add_d(sum, sum, t->amplitude_lo, MPFR_RNDN);
    t->amplitude = pe_fixed128_from_mpfr(sum);
    mpfr_clear(sum);
}

/* Whole and within reach of digits or not, or a fraction of either sign; not zero. */
static double random_place(size_t offset_rows)
{
    const size_t digit = 2 * offset_rows + 2;
    const int exponent = (int)below(37) - 11;
    switch (below(3)) {
    case 0:
        return (double)(1 + below(digit * digit * digit));
    case 1:
        return (double)(1 + below((1 << 26) - 1));
    default:
        return ldexp(1 + unit(), exponent < 25 ? exponent : 25) * (bits() % 2 ? 1 : -1);
    }
}

static void random_trial(trial *t)
{
    t->n = bits() % 3 ? 1 + below(40) : 1 + below(N_MAX);
    t->rows = bits() % 3 ? 1 + below(20) : 1 + below(ROWS_MAX);
    t->offset_rows = bits() % 4 ? 1 + below(20) : 0;
    for (size_t i = 0; i < t->n + PE_PAD; i++) {
        t->planes[0][i] = random_high();
        t->planes[1][i] = bits();
        t->planes[2][i] = bits() % 2 ? bits() : bits() >> below(40);
        t->planes[3][i] = bits();
    }
    t->counted = bits() % 2;
    t->first = t->counted ? 1 + (bits() >> (38 + below(26))) : 0;
    for (size_t i = 0; t->counted && i < t->n; i++) {
        const pe_u128 start = ((pe_u128)t->planes[2][i] << 64 | t->planes[3][i]) * t->first;
        t->planes[0][i] = (uint64_t)(start >> 64);
        t->planes[1][i] = (uint64_t)start;
    }
    t->listed = bits() % 2;
    t->row_steps = !t->listed ? 1 + (bits() >> (46 + below(18))) : 1;
    for (size_t r = 0; r < t->rows; r++)
        t->list[r] = random_place(t->offset_rows);
    random_amplitude(t);
}

static pe_run run_of(const trial *t, const double *offsets, const double *digits)
{
    return (pe_run){
        .n = t->n,
        .rows = t->rows,
        .first = t->first,
        .row_steps = t->row_steps,
        .start_hi = t->counted ? NULL : t->planes[0],
        .start_lo = t->counted ? NULL : t->planes[1],
        .step_hi = t->planes[2],
        .step_lo = t->planes[3],
        .amplitude_hi = t->amplitude_hi,
        .amplitude_lo = t->amplitude_lo,
        .offsets = offsets,
        .offset_rows = t->offset_rows,
        .list = t->listed ? t->list : NULL,
        .digits = t->listed && t->offset_rows != 0 ? digits : NULL,
    };
}

/* Sine and cosine of row r, frequency i, rounded to dtype. */
static void truth(const trial *t, pe_dtype dtype, size_t r, size_t i, double value[2])
{
    const pe_u128 start = (pe_u128)t->planes[0][i] << 64 | t->planes[1][i];
    const pe_u128 step = (pe_u128)t->planes[2][i] << 64 | t->planes[3][i];
    const pe_u128 at = start + step * t->row_steps * r;
    uint64_t phase[PE_PHASE_WORDS] = {0, (uint64_t)at, (uint64_t)(at >> 64)};
    const pe_turns turns = {{0, t->planes[3][i], t->planes[2][i], 0}};
    const int err = t->listed ? pe_phase_at(&turns, t->list[r], phase) : 0;
    pe_fixed128 wide[2];
    pe_fixed128_sincos(phase, err, &wide[0], &wide[1]);
    for (int k = 0; k < 2; k++) {
        wide[k] = pe_fixed128_mul(&wide[k], &t->amplitude);
        assert_true(pe_fixed128_round(&wide[k], dtype, &value[k]));
    }
}

/* ---- a layout, with guards around and between ----------------------------------------------- */

#define GUARD 0xa5

typedef struct target {
    pe_wave_layout layout;
    pe_dtype dtype;
    unsigned char *memory, *out;
    size_t bytes;
} target;

/* The kinds of row there are, some with a gap after the row, at any byte. */
static target make_target(const trial *t, pe_dtype dtype)
{
    const size_t n = t->n, gap = below(3), item = pe_dtype_bytes(dtype);
    const pe_wave_layout layouts[] = {
        {2, 0, 1, 2 * n + gap},
        {2, 1, 0, 2 * n + gap},
        {1, 0, (ptrdiff_t)n, 2 * n + gap},
        {1, (ptrdiff_t)n, 0, 2 * n + gap},
        {1, 0, -1, n + gap},
        {1, -1, 0, n + gap},
        {1, -1, 3, n + 3 + gap},
    };
    target to = {layouts[below(PE_LEN(layouts))], dtype, NULL, NULL, 0};
    to.bytes = t->rows * to.layout.row * item + 128;
    to.memory = malloc(to.bytes);
    assert_non_null(to.memory);
    memset(to.memory, GUARD, to.bytes);
    to.out = to.memory + 32 + below(32);
    return to;
}

static double take(const target *to, size_t r, size_t i, ptrdiff_t at)
{
    const size_t item = pe_dtype_bytes(to->dtype);
    const size_t k = r * to->layout.row + i * (size_t)to->layout.stride + (size_t)at;
    const double value = pe_dtype_load(to->dtype, to->out + k * item);
    memset(to->out + k * item, GUARD, item); /* what is left at the end must all be guard */
    return value;
}

static void check_guards(const target *to)
{
    for (size_t k = 0; k < to->bytes; k++)
        if (to->memory[k] != GUARD)
            fail_msg("byte %zu of %zu was written", k, to->bytes);
}

static bool is_marked(const uint64_t *doubtful, size_t k)
{
    return doubtful[k / 64] >> (k % 64) & 1;
}

static void expect(const char *variant, const target *to, const trial *t, size_t r, size_t i,
                   const char *what, double got, double want)
{
    if (memcmp(&got, &want, sizeof got) == 0)
        return;
    fail_msg("%s %s %s of row %zu, frequency %zu (of %zu, %zu, %zu offsets; phase %016" PRIx64
             "%016" PRIx64 " + r * %016" PRIx64 "%016" PRIx64 "; amplitude %a): got %a, wanted %a",
             variant, pe_dtype_name(to->dtype), what, r, i, t->rows, t->n, t->offset_rows,
             t->planes[0][i], t->planes[1][i], t->planes[2][i], t->planes[3][i], t->amplitude_hi,
             got, want);
}

/* ---- tests ---------------------------------------------------------------------------------- */

static size_t elements, marked;

static void try_variant(const pe_kernels *kernels, const trial *t, pe_dtype dtype)
{
    static uint64_t doubtful[N_MAX * ROWS_MAX / 64 + 1];
    const bool split = dtype == PE_FLOAT64;
    const size_t table = t->offset_rows * 4 * pe_kernels_padded(t->n);
    double *offsets = malloc(4 * table * sizeof *offsets + 1), *digits = offsets + table;
    assert_non_null(offsets);
    const pe_offsets near = {t->n,         t->offset_rows, t->row_steps, 2 * t->row_steps,
                             t->planes[2], t->planes[3],   split};
    kernels->wave_offsets(&near, offsets);
    pe_wave_digits(&near, digits);
    const pe_run run = run_of(t, offsets, digits);
    const target to = make_target(t, dtype);
    memset(doubtful, 0, sizeof doubtful);
    const bool any = kernels->waves(&run, &to.layout, dtype, to.out, doubtful);
    bool found = false;
    for (size_t k = 0; k < t->rows * t->n; k++) {
        const size_t r = k / t->n, i = k % t->n;
        double value[2];
        found |= is_marked(doubtful, k);
        truth(t, dtype, r, i, value);
        for (int cosine = 0; cosine < 2; cosine++) {
            const ptrdiff_t at = cosine ? to.layout.cos_at : to.layout.sin_at;
            const double got = at >= 0 ? take(&to, r, i, at) : 0;
            if (at >= 0 && !is_marked(doubtful, k))
                expect(kernels->name, &to, t, r, i, cosine ? "cos" : "sin", got, value[cosine]);
        }
        elements++;
        marked += is_marked(doubtful, k);
    }
    assert_int_equal(any, found);
    check_guards(&to);
    free(to.memory);
    free(offsets);
}

static void test_unmarked_elements_are_right(void **unused)
{
    for (const pe_kernels *const *k = pe_kernels_all(); *k != NULL; k++) {
        elements = marked = 0;
        while (elements < 300000) {
            trial t;
            random_trial(&t);
            for (size_t d = 0; d < PE_LEN(dtypes); d++)
                try_variant(*k, &t, dtypes[d]);
        }
        printf("%s: %zu elements, %zu marked\n", (*k)->name, elements, marked);
    }
}

/* Phases that lie anywhere: a sine lies in the windows of narrow types once in 2^23, and a double
 * too near to a midpoint once in 2^15. */
static void test_few_ordinary_elements_are_marked(void **unused)
{
    for (const pe_kernels *const *k = pe_kernels_all(); *k != NULL; k++)
        for (size_t d = 0; d < PE_LEN(dtypes); d++) {
            trial t = {.n = 100, .rows = 100, .offset_rows = 8, .row_steps = 1};
            for (size_t i = 0; i < t.n; i++)
                for (size_t p = 0; p < PE_LEN(t.planes); p++)
                    t.planes[p][i] = bits();
            random_amplitude(&t);
            elements = marked = 0;
            try_variant(*k, &t, dtypes[d]);
            assert_true(marked < elements / 100);
        }
}

/* No rows, or no frequencies: nothing is read, marked or written. */
static void test_empty_runs(void **unused)
{
    const uint64_t plane[8 + PE_PAD] = {1, 2, 3, 4, 5, 6, 7, 8};
    const pe_wave_layout layout = {2, 0, 1, 16};
    for (const pe_kernels *const *k = pe_kernels_all(); *k != NULL; k++)
        for (size_t d = 0; d < PE_LEN(dtypes); d++)
            for (size_t n = 0; n <= 8; n += 8) {
                unsigned char out[16] = {GUARD, GUARD}, same[16] = {GUARD, GUARD};
                uint64_t doubtful[1] = {0};
                const pe_run run = {.n = n,
                                    .rows = n == 0 ? 5 : 0,
                                    .start_hi = plane,
                                    .start_lo = plane,
                                    .step_hi = plane,
                                    .step_lo = plane,
                                    .amplitude_hi = 1};
                assert_false((*k)->waves(&run, &layout, dtypes[d], out, doubtful));
                assert_int_equal(doubtful[0], 0);
                assert_memory_equal(out, same, sizeof out);
            }
}

/* Ends of the range of amplitudes, where float16 overflows and runs out of bits. */
static void test_large_and_small_amplitudes(void **unused)
{
    static const double amplitudes[] = {0x1p-60, 0x1p-30,  0x1.8p-20, 0x1.fp-13,
                                        0x1.9p9, 0x1.3p17, 0x1p39,    0x1p100};
    for (const pe_kernels *const *k = pe_kernels_all(); *k != NULL; k++) {
        for (size_t a = 0; a < PE_LEN(amplitudes); a++) {
            trial t;
            random_trial(&t);
            t.amplitude_hi = amplitudes[a];
            t.amplitude_lo = 0;
            mpfr_t x;
            mpfr_init2(x, 200);
            mpfr_set_d(x, amplitudes[a], MPFR_RNDN);
            t.amplitude = pe_fixed128_from_mpfr(x);
            mpfr_clear(x);
            for (size_t d = 0; d < PE_LEN(dtypes); d++)
                try_variant(*k, &t, dtypes[d]);
        }
    }
}

/* One frequency leaves all other lanes of a vector to padding. Here its sine is a number of
 * float16, and the padding's, less than 0.7 times the amplitude, would be lost in zero. */
static void test_padding_is_not_marked(void **unused)
{
    const uint64_t quarter_hi[1 + PE_PAD] = {1ULL << 62}, zero[1 + PE_PAD] = {0};
    const pe_wave_layout layout = {1, 0, -1, 1};
    for (const pe_kernels *const *k = pe_kernels_all(); *k != NULL; k++) {
        unsigned char out[2];
        uint64_t doubtful[1] = {0};
        const pe_run run = {.n = 1,
                            .rows = 1,
                            .start_hi = quarter_hi,
                            .start_lo = zero,
                            .step_hi = zero,
                            .step_lo = zero,
                            .amplitude_hi = 0x1.333p-25};
        assert_false((*k)->waves(&run, &layout, PE_FLOAT16, out, doubtful));
        assert_int_equal(doubtful[0], 0);
        assert_true(pe_dtype_load(PE_FLOAT16, out) == 0x1p-24);
    }
}

/* 2 pi (2k + 1) phase / 2 in MPFR. */
static void offset_angle(const trial *t, size_t i, size_t k, mpfr_ptr out)
{
    mpfr_t pi;
    mpfr_init2(pi, 300);
    mpfr_const_pi(pi, MPFR_RNDN);
    mpfr_set_ui(out, (unsigned long)t->planes[2][i], MPFR_RNDN);
    mpfr_mul_2ui(out, out, 64, MPFR_RNDN);
    mpfr_add_ui(out, out, (unsigned long)t->planes[3][i], MPFR_RNDN);
    mpfr_mul_ui(out, out, 2 * k + 1, MPFR_RNDN);
    mpfr_mul_2si(out, out, -128, MPFR_RNDN);
    mpfr_mul(out, out, pi, MPFR_RNDN);
    mpfr_clear(pi);
}

/* |heads + tails - want| as a double. */
static double off(double head, double tail, mpfr_srcptr want)
{
    mpfr_t x;
    mpfr_init2(x, 300);
    mpfr_set_d(x, head, MPFR_RNDN);
    mpfr_add_d(x, x, tail, MPFR_RNDN);
    mpfr_sub(x, x, want, MPFR_RNDN);
    const double result = fabs(mpfr_get_d(x, MPFR_RNDN));
    mpfr_clear(x);
    return result;
}

/* The bounds that turn.h derives, and waves_narrow.c and waves_double.c build on. */
static void test_offsets(void **unused)
{
    mpfr_t sine, cosine;
    mpfr_inits2(300, sine, cosine, (mpfr_ptr)NULL);
    for (const pe_kernels *const *v = pe_kernels_all(); *v != NULL; v++) {
        static double split[8 * 4 * N_MAX], plain[8 * 2 * N_MAX];
        double worst_split = 0, worst_plain = 0;
        for (int round = 0; round < 10; round++) {
            trial t;
            random_trial(&t);
            t.n = N_MAX - 1 - below(8);
            for (size_t i = 0; i < t.n; i++)
                t.planes[2][i] = random_high();
            const size_t padded = pe_kernels_padded(t.n);
            pe_offsets wanted = {t.n, 3, 1, 2, t.planes[2], t.planes[3], true};
            (*v)->wave_offsets(&wanted, split);
            wanted.split = false;
            (*v)->wave_offsets(&wanted, plain);
            for (size_t j = 0; j < 3 * t.n; j++) {
                const size_t k = j / t.n, i = j % t.n;
                const double *s = split + 4 * k * padded + i, *p = plain + 2 * k * padded + i;
                offset_angle(&t, i, k, sine);
                mpfr_sin_cos(sine, cosine, sine, MPFR_RNDN);
                worst_split = fmax(worst_split, off(s[0], s[padded], cosine));
                worst_split = fmax(worst_split, off(s[2 * padded], s[3 * padded], sine));
                worst_plain = fmax(worst_plain, off(p[0], 0, cosine));
                worst_plain = fmax(worst_plain, off(p[padded], 0, sine));
                /* heads are multiples of 2^-26 */
                assert_true(s[0] * 0x1p26 == rint(s[0] * 0x1p26));
                assert_true(s[2 * padded] * 0x1p26 == rint(s[2 * padded] * 0x1p26));
            }
        }
        printf("%s: offsets off by 2^%.2f split, 2^%.3f plain\n", (*v)->name, log2(worst_split),
               log2(worst_plain));
        assert_true(worst_split < 24.1 * 0x1p-80 &&
                    worst_plain < (*v == pe_kernels_all()[0] ? 0x1.01p-54 : 1.4 * 0x1p-53));
    }
    mpfr_clears(sine, cosine, (mpfr_ptr)NULL);
}

/* 2 pi phase in MPFR. */
static void phase_angle(uint64_t hi, uint64_t lo, mpfr_ptr out)
{
    mpfr_t pi;
    mpfr_init2(pi, 300);
    mpfr_const_pi(pi, MPFR_RNDN);
    mpfr_set_ui(out, (unsigned long)hi, MPFR_RNDN);
    mpfr_mul_2ui(out, out, 64, MPFR_RNDN);
    mpfr_add_ui(out, out, (unsigned long)lo, MPFR_RNDN);
    mpfr_mul_2si(out, out, -127, MPFR_RNDN);
    mpfr_mul(out, out, pi, MPFR_RNDN);
    mpfr_clear(pi);
}

/* What turn.h derives of anchors in double: their absolute error as a distance, and the relative
 * one down to 2^-40, in units of 2^-53. */
typedef struct anchor_bounds {
    anchor_of *anchor;
    double distance, relative;
} anchor_bounds;

static void check_anchors(const char *level, const anchor_bounds *bounds)
{
    double worst = 0, worst_relative = 0;
    mpfr_t sine, cosine;
    mpfr_inits2(300, sine, cosine, (mpfr_ptr)NULL);
    for (int k = 0; k < 100000; k++) {
        const uint64_t hi = random_high(), lo = bits();
        double s, c;
        bounds->anchor(hi, lo, &s, &c);
        phase_angle(hi, lo, sine);
        mpfr_sin_cos(sine, cosine, sine, MPFR_RNDN);
        const double off_s = off(s, 0, sine), off_c = off(c, 0, cosine);
        worst = fmax(worst, sqrt(off_s * off_s + off_c * off_c));
        if (fabs(s) >= 0x1p-40)
            worst_relative = fmax(worst_relative, off_s / fabs(s));
        if (fabs(c) >= 0x1p-40)
            worst_relative = fmax(worst_relative, off_c / fabs(c));
    }
    mpfr_clears(sine, cosine, (mpfr_ptr)NULL);
    printf("%s: anchors off by %.2f * 2^-53, relative %.2f * 2^-53\n", level, worst * 0x1p53,
           worst_relative * 0x1p53);
    assert_true(worst * 0x1p53 < bounds->distance && worst_relative * 0x1p53 < bounds->relative);
}

static void test_anchors(void **unused)
{
    /* In the order of pe_kernels_all. */
    static const anchor_bounds anchors[] = {
        {anchor_baseline, 2.4, 3.6},
#if defined(__x86_64__)
        {anchor_v3, 1.84, 2.5}, /* products are fused */
        {anchor_v4, 1.84, 2.5},
#endif
    };
    for (size_t k = 0; k < PE_LEN(anchors) && pe_kernels_all()[k] != NULL; k++)
        check_anchors(pe_kernels_all()[k]->name, &anchors[k]);
}

static void base_of(const void *formula, mpfr_ptr out)
{
    mpfr_set_d(out, *(const double *)formula, MPFR_RNDN);
}

static void amplitude_of(const void *formula, mpfr_ptr out)
{
    mpfr_sqrt_ui(out, 2, MPFR_RNDN);
}

/* Settled tables are the same bytes whichever variant began them. */
static void test_variants_agree(void **unused)
{
    const pe_kernels *const *all = pe_kernels_all();
    pe_problem why;
    for (int round = 0; round < 40; round++) {
        const double base = pow(10, 12 * unit());
        const size_t n = 1 + below(300), rows = 1 + below(200);
        const pe_wave_spec spec = {.n = n,
                                   .num = 1,
                                   .den = (double)n,
                                   .position_scale = 1,
                                   .base = base_of,
                                   .amplitude = round % 2 ? amplitude_of : NULL,
                                   .formula = &base,
                                   .formula_bytes = sizeof base};
        const pe_dtype dtype = dtypes[below(PE_LEN(dtypes))];
        const pe_wave_layout layout = {2, 0, 1, 2 * n};
        const size_t bytes = rows * 2 * n * pe_dtype_bytes(dtype);
        const int64_t first = (int64_t)(pow(2, 50 * unit()) * (unit() - 0.5));
        const pe_positions positions =
            pe_positions_range(first, round % 3 ? 1 : (int64_t)below(1000) - 500, rows);
        char *want = NULL;
        for (size_t k = 0; all[k] != NULL; k++) {
            pe_wave *wave = NULL;
            char *got = malloc(bytes);
            assert_non_null(got);
            assert_int_equal(pe_kernels_select(all[k]->name, &why), PE_OK);
            assert_int_equal(pe_wave_make(&spec, &wave, &why), PE_OK);
            const pe_wave_table table = {wave, &positions, &layout, dtype};
            assert_int_equal(pe_wave_table_rows(&table, 0, rows, got, &why), PE_OK);
            if (want != NULL && memcmp(got, want, bytes) != 0)
                fail_msg("%s differs from %s: %s, base %a, n %zu, first %" PRId64 ", rows %zu",
                         all[k]->name, all[0]->name, pe_dtype_name(dtype), base, n, first, rows);
            pe_wave_free(wave);
            if (want == NULL)
                want = got;
            else
                free(got);
        }
        free(want);
    }
    assert_int_equal(pe_kernels_select("auto", &why), PE_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unmarked_elements_are_right),
        cmocka_unit_test(test_few_ordinary_elements_are_marked),
        cmocka_unit_test(test_empty_runs),
        cmocka_unit_test(test_large_and_small_amplitudes),
        cmocka_unit_test(test_padding_is_not_marked),
        cmocka_unit_test(test_offsets),
        cmocka_unit_test(test_anchors),
        cmocka_unit_test(test_variants_agree),
        cmocka_unit_test(every_variant_of_kernels_ran),
    };
    return cmocka_run_group_tests(tests, seed, NULL);
}
