/* SPDX-License-Identifier: MIT */
/* test_exact.c - frequency sets and correct rounding, against MPFR (support/truth.h). */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exact/wave_set.h"
#include "support/bits.h"
#include "support/random.h"
#include "support/slow.h"
#include "support/truth.h"

#define BITS 600

/* ---- random parameters ---------------------------------------------------------------------- */

static random_source source;

static uint64_t next(void)
{
    return random_bits(&source);
}

static uint64_t below(uint64_t n)
{
    return random_below(&source, n);
}

static double unit(void)
{
    return random_real(&source, 0, 1);
}

static int seed(void **unused)
{
    source = random_make("all cases");
    return 0;
}

/* ---- a set to try, and its truth ------------------------------------------------------------ */

typedef enum amplitude_kind { ONE, DYADIC, ROOT, LOG } amplitude_kind;

typedef struct formula {
    double base, factor; /* theta is divided by factor ... */
    size_t zero_from;    /* ... and zero from this frequency on */
    amplitude_kind kind;
    double amplitude;
} formula;

static void base_of(const void *data, mpfr_ptr out)
{
    mpfr_set_d(out, ((const formula *)data)->base, MPFR_RNDN);
}

static void scale_of(const void *data, size_t i, mpfr_ptr theta)
{
    const formula *f = data;
    if (i >= f->zero_from)
        mpfr_set_ui(theta, 0, MPFR_RNDN);
    mpfr_div_d(theta, theta, f->factor, MPFR_RNDN);
}

/* amplitude, its root, or 1 + log(amplitude)/10 */
static void amplitude_of(const void *data, mpfr_ptr out)
{
    const formula *f = data;
    mpfr_set_d(out, f->amplitude, MPFR_RNDN);
    if (f->kind == ROOT)
        mpfr_sqrt(out, out, MPFR_RNDN);
    if (f->kind == LOG) {
        mpfr_log(out, out, MPFR_RNDN);
        mpfr_div_ui(out, out, 10, MPFR_RNDN);
        mpfr_add_ui(out, out, 1, MPFR_RNDN);
    }
}

static pe_wave_spec spec_of(const formula *f, size_t n, double den, double position_scale)
{
    return (pe_wave_spec){
        .n = n,
        .num = 2,
        .den = den,
        .position_scale = position_scale,
        .base = base_of,
        .scale = f->factor != 1 || f->zero_from < n ? scale_of : NULL,
        .amplitude = f->kind == ONE ? NULL : amplitude_of,
        .formula = f,
        .formula_bytes = sizeof *f,
    };
}

static pe_wave *make(const pe_wave_spec *spec)
{
    pe_wave *wave = NULL;
    pe_problem why;
    assert_int_equal(pe_wave_make(spec, &wave, &why), PE_OK);
    return wave;
}

/* theta_i from the formula; context is the spec. */
static void truth_theta(const void *context, size_t i, mpfr_ptr out)
{
    const pe_wave_spec *spec = context;
    const formula *f = spec->formula;
    mpfr_t exponent;
    mpfr_init2(exponent, mpfr_get_prec(out) + 64);
    mpfr_set_d(exponent, spec->num, MPFR_RNDN);
    mpfr_mul_si(exponent, exponent, -(long)i, MPFR_RNDN);
    mpfr_div_d(exponent, exponent, spec->den, MPFR_RNDN);
    mpfr_set_d(out, f->base, MPFR_RNDN);
    mpfr_pow(out, out, exponent, MPFR_RNDN);
    if (i >= f->zero_from)
        mpfr_set_ui(out, 0, MPFR_RNDN);
    mpfr_div_d(out, out, f->factor, MPFR_RNDN);
    mpfr_clear(exponent);
}

static truth_formula truth_of(const pe_wave_spec *spec)
{
    return (truth_formula){.theta = truth_theta,
                           .amplitude = spec->amplitude,
                           .frequencies = spec,
                           .amplitudes = spec->formula,
                           .scale = spec->position_scale};
}

/* ---- comparing ------------------------------------------------------------------------------ */

static size_t compared[PE_DTYPES], misrounded;

static void start_over(void)
{
    memset(compared, 0, sizeof compared);
    misrounded = 0;
}

static void compare(const pe_wave_spec *spec, pe_dtype dtype, double position, size_t i,
                    const char *what, double got, double want)
{
    compared[dtype]++;
    if (bits_of(got) == bits_of(want))
        return;
    misrounded++;
    const formula *f = spec->formula;
    if (misrounded <= 10)
        printf("%s %s base %.17g den %.17g scale %.17g factor %.17g amplitude kind %d of %.17g: "
               "position %.17g, i %zu: got %a, wanted %a\n",
               pe_dtype_name(dtype), what, f->base, spec->den, spec->position_scale, f->factor,
               (int)f->kind, f->amplitude, position, i, got, want);
}

typedef struct table {
    pe_dtype dtype;
    pe_wave_layout layout;
    char *data;
} table;

static double at(const table *t, size_t r, size_t i, ptrdiff_t which)
{
    const size_t k = r * t->layout.row + i * (size_t)t->layout.stride + (size_t)which;
    return pe_dtype_load(t->dtype, t->data + k * pe_dtype_bytes(t->dtype));
}

static table fill(const pe_wave *wave, const pe_positions *positions, size_t first, size_t rows,
                  pe_wave_layout layout, pe_dtype dtype)
{
    table t = {dtype, layout, malloc(rows * layout.row * pe_dtype_bytes(dtype))};
    pe_problem why;
    assert_non_null(t.data);
    const pe_wave_table whole = {wave, positions, &layout, dtype};
    assert_int_equal(pe_wave_table_rows(&whole, first, rows, t.data, &why), PE_OK);
    return t;
}

static const pe_dtype dtypes[] = {PE_FLOAT32, PE_FLOAT64, PE_FLOAT16, PE_BFLOAT16};

/* Element (position r, frequency i) of a table of each dtype against the truth. */
static void check_element(const pe_wave_spec *spec, const table *tables, double position, size_t r,
                          const truth_pair *pair)
{
    double want[2][PE_DTYPES];
    truth_at(pair, position, want);
    for (size_t k = 0; k < PE_LEN(dtypes); k++) {
        const table *t = &tables[k];
        compare(spec, dtypes[k], position, pair->i, "sin", at(t, r, pair->i, t->layout.sin_at),
                want[0][dtypes[k]]);
        compare(spec, dtypes[k], position, pair->i, "cos", at(t, r, pair->i, t->layout.cos_at),
                want[1][dtypes[k]]);
    }
}

/* Rows of all dtypes in a layout by turns; `samples` frequencies of each row are checked. */
static void check_rows(const pe_wave_spec *spec, const pe_wave *wave, const pe_positions *positions,
                       size_t samples)
{
    const size_t n = spec->n;
    const pe_wave_layout layouts[] = {
        {2, 0, 1, 2 * n}, {1, 0, (ptrdiff_t)n, 2 * n}, {2, 1, 0, 2 * n + 3}, {3, 2, 0, 3 * n}};
    table tables[PE_LEN(dtypes)];
    for (size_t k = 0; k < PE_LEN(dtypes); k++)
        tables[k] =
            fill(wave, positions, 0, positions->count, layouts[below(PE_LEN(layouts))], dtypes[k]);
    const truth_formula truth = truth_of(spec);
    for (size_t s = 0; s < samples; s++) {
        truth_pair pair;
        truth_pair_init(&pair, &truth, s == 0 ? 0 : s == 1 ? n - 1 : below(n));
        for (size_t r = 0; r < positions->count; r++)
            check_element(spec, tables, pe_positions_at(positions, r), r, &pair);
        truth_pair_clear(&pair);
    }
    for (size_t k = 0; k < PE_LEN(dtypes); k++)
        free(tables[k].data);
}

/* ---- the sweep ------------------------------------------------------------------------------ */

static pe_positions random_range(size_t count)
{
    const int64_t first =
        (int64_t)(below(4) == 0 ? unit() * 0x1p52 : random_magnitude(&source, 0x1p52));
    const int64_t steps[] = {1, 1, -1, 7, -1000, (int64_t)below(1U << 30) + 1};
    return pe_positions_range(next() & 1 ? -first : first, steps[below(PE_LEN(steps))], count);
}

/* Entries of every size from 2^-30 on, half of them whole. */
static pe_positions random_list(size_t count, double *entries)
{
    for (size_t r = 0; r < count; r++) {
        const double x = random_magnitude(&source, 0x1p52) * (below(4) == 0 ? 0x1p-30 : 1);
        entries[r] = (next() & 1 ? trunc(x) : x) * (next() & 1 ? -1 : 1);
    }
    return (pe_positions){
        .count = count, .list = entries, .fractional = true, .shape = {1, {count}}};
}

static formula random_formula(size_t n)
{
    static const double bases[] = {1, 2, 100, 10000, 500000, 1e6, 1e12};
    static const double dyadic[] = {0.875, 1.5, 0.5, 1.25, 3, 1 + 0x1p-11, 1 - 0x1p-9};
    formula f = {.base = next() & 1 ? bases[below(PE_LEN(bases))] : random_magnitude(&source, 1e12),
                 .factor = below(3) ? 1 : random_magnitude(&source, 64),
                 .zero_from = below(3) ? n : below(n + 1),
                 .kind = (amplitude_kind)below(4)};
    f.amplitude = f.kind == DYADIC ? dyadic[below(PE_LEN(dyadic))] : random_magnitude(&source, 40);
    return f;
}

static void try_random_set(void)
{
    const size_t d = below(3) ? 2 + below(300) : 2 + below(4095);
    const size_t n = (d + 1) / 2;
    const formula f = random_formula(n);
    const double position_scale =
        below(3) ? 1 : random_magnitude(&source, 1e9) * (next() & 1 ? 1 : 1e-9);
    const pe_wave_spec spec = spec_of(&f, n, (double)d, position_scale);
    pe_wave *wave = make(&spec);
    double entries[8];
    const pe_positions range = random_range(below(40) + 1), list = random_list(8, entries);
    check_rows(&spec, wave, &range, 6);
    check_rows(&spec, wave, &list, 6);
    pe_wave_free(wave);
}

static void test_sweep(void **unused)
{
    start_over();
    while (compared[PE_FLOAT32] < 120000) /* every dtype as often */
        try_random_set();
    for (size_t k = 0; k < PE_LEN(dtypes); k++) {
        printf("%zu values of %s compared\n", compared[dtypes[k]], pe_dtype_name(dtypes[k]));
        assert_true(compared[dtypes[k]] >= 100000);
    }
    assert_int_equal(misrounded, 0);
}

static void test_largest_positions(void **unused)
{
    start_over();
    const formula f = {.base = 10000, .factor = 1, .zero_from = 64, .kind = ONE};
    const pe_wave_spec spec = spec_of(&f, 64, 128, 1);
    pe_wave *wave = make(&spec);
    const int64_t limit = (int64_t)PE_POSITION_LIMIT;
    const pe_positions up = pe_positions_range(limit - 40, 1, 40),
                       down = pe_positions_range(-limit + 1, 1, 40),
                       across = pe_positions_range(-limit + 1, 2 * limit - 2, 2),
                       middle = pe_positions_range((1LL << 32) - 20, 1, 40);
    check_rows(&spec, wave, &up, 10);
    check_rows(&spec, wave, &down, 10);
    check_rows(&spec, wave, &across, 10);
    check_rows(&spec, wave, &middle, 10);
    pe_wave_free(wave);
    assert_int_equal(misrounded, 0);
}

static void test_small_positions(void **unused)
{
    start_over();
    const formula f = {.base = 1e12, .factor = 1, .zero_from = 32, .kind = LOG, .amplitude = 4};
    const pe_wave_spec spec = spec_of(&f, 32, 64, 1);
    pe_wave *wave = make(&spec);
    const pe_positions around = pe_positions_range(-20, 1, 41);
    double tiny[] = {0x1p-60, -0x1p-100, 0x1.8p-200, 1e-300, 0.1, -0.0};
    const pe_positions list = {.count = PE_LEN(tiny), .list = tiny, .fractional = true};
    check_rows(&spec, wave, &around, 12);
    check_rows(&spec, wave, &list, 12);
    pe_wave_free(wave);
    assert_int_equal(misrounded, 0);
}

/* ---- each path ------------------------------------------------------------------------------ */

static void test_zero_is_exact(void **unused)
{
    start_over();
    /* 1 + 2^-11 and 1 + 2^-8 are ties of float16 and bfloat16, 1 + 3 * 2^-24 of float32. */
    static const double amplitudes[] = {0.875,      1 + 0x1p-11,  1 + 0x1.8p-10,
                                        1 + 0x1p-8, 1 + 0x1.8p-7, 1 + 0x1.8p-23};
    for (size_t k = 0; k < PE_LEN(amplitudes); k++) {
        const formula f = {10000, 1, 4, DYADIC, amplitudes[k]};
        const pe_wave_spec spec = spec_of(&f, 8, 16, 1);
        pe_wave *wave = make(&spec);
        const pe_positions positions = pe_positions_range(-2, 1, 5);
        check_rows(&spec, wave, &positions, 16);
        assert_true(pe_wave_paths_read(wave).exact > 0);
        pe_wave_free(wave);
    }
    assert_int_equal(misrounded, 0);
}

static void test_unfit_sets_go_through_mpfr(void **unused)
{
    start_over();
    static const double factors[] = {1e-30, 1e60, 1e80};
    for (size_t k = 0; k < PE_LEN(factors); k++) {
        const formula f = {10000, factors[k], 3, ROOT, 2};
        const pe_wave_spec spec = spec_of(&f, 4, 8, 1);
        pe_wave *wave = make(&spec);
        const pe_positions positions = pe_positions_range(-1, 1000000007, 4);
        check_rows(&spec, wave, &positions, 8);
        const pe_wave_paths paths = pe_wave_paths_read(wave);
        assert_true(paths.mpfr > 0 && paths.fixed128 == 0);
        pe_wave_free(wave);
    }
    assert_int_equal(misrounded, 0);
}

/* ---- laws ----------------------------------------------------------------------------------- */

static void test_windows(void **unused)
{
    const formula f = {.base = 10000, .factor = 1, .zero_from = 40, .kind = LOG, .amplitude = 8};
    const pe_wave_spec spec = spec_of(&f, 40, 80, 1);
    pe_wave *wave = make(&spec);
    const pe_wave_layout layout = {2, 0, 1, 80};
    for (size_t k = 0; k < PE_LEN(dtypes); k++) {
        const pe_positions positions = random_range(3000);
        table whole = fill(wave, &positions, 0, 3000, layout, dtypes[k]);
        for (int trial = 0; trial < 20; trial++) {
            const size_t first = below(3000), rows = 1 + below(3000 - first);
            table part = fill(wave, &positions, first, rows, layout, dtypes[k]);
            const size_t bytes = layout.row * pe_dtype_bytes(dtypes[k]);
            assert_memory_equal(part.data, whole.data + first * bytes, rows * bytes);
            free(part.data);
        }
        free(whole.data);
    }
    pe_wave_free(wave);
}

/* Rows together are what each is alone. */
static void rows_are_as_alone(pe_wave *wave, const pe_positions *positions)
{
    const pe_wave_layout layout = {1, -1, 0, 40};
    table whole = fill(wave, positions, 0, 99, layout, PE_FLOAT32);
    for (size_t r = 0; r < 99; r++) {
        table row = fill(wave, positions, r, 1, layout, PE_FLOAT32);
        assert_memory_equal(row.data, whole.data + r * 40 * sizeof(float), 40 * sizeof(float));
        free(row.data);
    }
    free(whole.data);
}

/* Those of the first step that is asked for, once. */
static void test_a_set_keeps_the_offsets_of_one_step(void **unused)
{
    static const int64_t steps[] = {7, 9, -7, 7};
    const formula f = {.base = 10000, .factor = 1, .zero_from = 40, .kind = ONE};
    const pe_wave_spec spec = spec_of(&f, 40, 80, 1);
    pe_wave *wave = make(&spec);
    size_t unmade = pe_wave_unmade_bytes();
    for (size_t k = 0; k < PE_LEN(steps); k++) {
        const pe_positions positions = pe_positions_range(1000, steps[k], 99);
        rows_are_as_alone(wave, &positions);
        assert_int_equal(pe_wave_unmade_bytes() < unmade, k == 0);
        unmade = pe_wave_unmade_bytes();
    }
    pe_wave_free(wave);
}

/* Wherever the rows are that made them, and those that use them. */
static void test_kept_offsets_serve_near_and_far(void **unused)
{
    static const int64_t steps[] = {2, 7, 1000, 16383, 16384, 65537, -7, 1LL << 40};
    static const int64_t firsts[] = {1000, 1LL << 51, (1LL << 26) - 100, -(1LL << 51), 1};
    const formula f = {.base = 10000, .factor = 1, .zero_from = 40, .kind = ONE};
    const pe_wave_spec spec = spec_of(&f, 40, 80, 1);
    for (size_t k = 0; k < PE_LEN(steps); k++)
        for (size_t from = 0; from < PE_LEN(firsts); from++) {
            pe_wave *wave = make(&spec);
            for (size_t i = 0; i < PE_LEN(firsts); i++) {
                const int64_t first = firsts[(from + i) % PE_LEN(firsts)];
                const pe_positions positions = pe_positions_range(first, steps[k], 99);
                rows_are_as_alone(wave, &positions);
            }
            pe_wave_free(wave);
        }
}

static void test_layout_leaves_the_rest_alone(void **unused)
{
    const formula f = {.base = 10000, .factor = 1, .zero_from = 5, .kind = ONE};
    const pe_wave_spec spec = spec_of(&f, 5, 10, 1);
    pe_wave *wave = make(&spec);
    const pe_positions positions = pe_positions_range(3, 1, 7);
    const pe_wave_layout layouts[] = {{1, -1, 0, 9}, {1, 0, -1, 9}, {1, 4, -1, 9}, {1, -1, 4, 9}};
    for (size_t k = 0; k < PE_LEN(layouts); k++) {
        const pe_wave_layout *at_ = &layouts[k];
        float out[7 * 9];
        for (size_t j = 0; j < PE_LEN(out); j++)
            out[j] = 7;
        pe_problem why;
        const pe_wave_table whole = {wave, &positions, at_, PE_FLOAT32};
        assert_int_equal(pe_wave_table_rows(&whole, 0, 7, out, &why), PE_OK);
        const size_t start = (size_t)(at_->sin_at >= 0 ? at_->sin_at : at_->cos_at);
        for (size_t j = 0; j < PE_LEN(out); j++) {
            const bool named = j % 9 >= start && j % 9 < start + 5;
            assert_int_equal(out[j] == 7.0F, !named);
        }
    }
    pe_wave_free(wave);
}

static void test_theta(void **unused)
{
    const formula f = {.base = 500000, .factor = 3, .zero_from = 50, .kind = ONE};
    const pe_wave_spec spec = spec_of(&f, 64, 128, 1);
    pe_wave *wave = make(&spec);
    mpfr_t got, want;
    mpfr_inits2(BITS, got, want, (mpfr_ptr)NULL);
    for (size_t i = 0; i < 64; i++) {
        mpfr_set_prec(got, 300);
        pe_wave_theta(wave, i, got);
        truth_theta(&spec, i, want);
        mpfr_reldiff(want, want, got, MPFR_RNDN);
        if (i < 50)
            assert_true(mpfr_zero_p(want) || mpfr_get_exp(want) < -291);
        else
            assert_true(mpfr_zero_p(got));
    }
    mpfr_clears(got, want, (mpfr_ptr)NULL);
    assert_int_equal(pe_wave_count(wave), 64);
    assert_true(pe_wave_bytes(wave) > 64 * 32);
    pe_wave_free(wave);
    pe_wave_free(NULL);
}

/* ---- several sequences ---- */

#define EACH 16 /* numbers of a sequence */

/* Sequence k: powers of base^(-1 / (3 + k)), from EACH k on. */
static size_t sequence_of(const void *context, size_t i, mpfr_ptr ratio)
{
    const formula *f = context;
    if (ratio == NULL)
        return i / EACH * EACH;
    mpfr_t exponent;
    mpfr_init2(exponent, mpfr_get_prec(ratio) + 16);
    mpfr_set_si(exponent, -1, MPFR_RNDN);
    mpfr_div_ui(exponent, exponent, 3 + i / EACH, MPFR_RNDN);
    mpfr_set_d(ratio, f->base, MPFR_RNDN);
    mpfr_pow(ratio, ratio, exponent, MPFR_RNDN);
    mpfr_clear(exponent);
    return i / EACH * EACH;
}

/* base^(-(i - first) / (3 + k)), directly. */
static void truth_of_sequences(const formula *f, size_t i, mpfr_ptr out)
{
    mpfr_t exponent;
    mpfr_init2(exponent, mpfr_get_prec(out) + 64);
    mpfr_set_si(exponent, -(long)(i % EACH), MPFR_RNDN);
    mpfr_div_ui(exponent, exponent, 3 + i / EACH, MPFR_RNDN);
    mpfr_set_d(out, f->base, MPFR_RNDN);
    mpfr_pow(out, out, exponent, MPFR_RNDN);
    mpfr_clear(exponent);
}

/* At 100 bits by the fixed point of the set, at 300 by a power. */
static void test_sequences(void **unused)
{
    static const mpfr_prec_t precisions[] = {100, 300};
    const formula f = {.base = 10, .factor = 1, .zero_from = 3 * EACH, .kind = ONE};
    pe_wave_spec spec = spec_of(&f, 3 * EACH, 128, 1);
    spec.sequence = sequence_of;
    pe_wave *wave = make(&spec);
    mpfr_t got, want;
    for (size_t k = 0; k < PE_LEN(precisions); k++) {
        mpfr_init2(got, precisions[k]);
        mpfr_init2(want, precisions[k] + 64);
        for (size_t i = 0; i < 3 * EACH; i++) {
            pe_wave_theta(wave, i, got);
            truth_of_sequences(&f, i, want);
            mpfr_reldiff(want, want, got, MPFR_RNDN);
            assert_true(mpfr_zero_p(want) || mpfr_get_exp(want) < 9 - precisions[k]);
        }
        mpfr_clears(got, want, (mpfr_ptr)NULL);
    }
    pe_wave_free(wave);
}

/* x lies within its error of what it is of, at 192 bits or more. */
static void assert_holds(const pe_fixed128 *x, mpfr_srcptr want)
{
    mpfr_t m, off;
    mpfr_inits2(512, m, off, (mpfr_ptr)NULL);
    mpfr_set_ui(m, (uint64_t)(x->m >> 64), MPFR_RNDN);
    mpfr_mul_2ui(m, m, 64, MPFR_RNDN);
    mpfr_add_ui(m, m, (uint64_t)x->m, MPFR_RNDN);
    mpfr_mul_2si(off, want, 128 - x->exponent, MPFR_RNDN);
    mpfr_sub(off, off, m, MPFR_RNDN);
    mpfr_abs(off, off, MPFR_RNDN);
    assert_true((uint64_t)(x->m >> 127) == 1);
    assert_true(mpfr_cmp_ui_2exp(off, 1, x->err) <= 0);
    mpfr_clears(m, off, (mpfr_ptr)NULL);
}

static void check_fixed(const pe_wave_spec *spec)
{
    pe_wave *wave = make(spec);
    mpfr_t theta, first;
    mpfr_inits2(512, theta, first, (mpfr_ptr)NULL);
    pe_wave_theta(wave, 0, first);
    const pe_fixed128 one = pe_wave_theta_fixed(wave, 0);
    for (size_t i = 0; i < spec->n; i++) {
        const pe_fixed128 x = pe_wave_theta_fixed(wave, i);
        pe_wave_theta(wave, i, theta);
        if (x.m == 0) {
            assert_true(mpfr_zero_p(theta) || mpfr_cmp_d(theta, 0x1p-120) < 0 || wave->unfit ||
                        spec->position_scale != 1);
            continue;
        }
        assert_holds(&x, theta);
        const pe_fixed128 quotient = pe_fixed128_div(&one, &x), product = pe_fixed128_mul(&one, &x);
        mpfr_mul(theta, first, theta, MPFR_RNDN);
        assert_holds(&product, theta);
        pe_wave_theta(wave, i, theta);
        mpfr_div(theta, first, theta, MPFR_RNDN);
        assert_holds(&quotient, theta);
    }
    mpfr_clears(theta, first, (mpfr_ptr)NULL);
    pe_wave_free(wave);
}

static void test_theta_in_128_bits(void **unused)
{
    const formula ordinary = {.base = 500000, .factor = 3, .zero_from = 50, .kind = ONE},
                  falling = {.base = 1e300, .factor = 1, .zero_from = 64, .kind = ONE};
    pe_wave_spec spec = spec_of(&ordinary, 64, 128, 1);
    check_fixed(&spec);
    spec.float32 = true;
    check_fixed(&spec);
    spec = spec_of(&ordinary, 64, 128, 1000);
    check_fixed(&spec);
    spec = spec_of(&falling, 64, 128, 1);
    check_fixed(&spec);
}

/* The mean of cosines each rounded to double differs from the true mean by less than 2^-53. */
static void test_mean_cos(void **unused)
{
    const formula f = {.base = 10000, .factor = 1, .zero_from = 60, .kind = DYADIC, .amplitude = 2};
    const pe_wave_spec spec = spec_of(&f, 64, 128, 1);
    pe_wave *wave = make(&spec);
    const pe_positions positions = pe_positions_range(-3, 17, 40);
    double wide[40];
    uint16_t half[40];
    pe_problem why;
    const pe_wave_table doubles = {wave, &positions, NULL, PE_FLOAT64};
    const pe_wave_table halves = {wave, &positions, NULL, PE_FLOAT16};
    assert_int_equal(pe_wave_mean_cos(&doubles, 0, 40, wide, &why), PE_OK);
    assert_int_equal(pe_wave_mean_cos(&halves, 0, 40, half, &why), PE_OK);
    mpfr_t sum, theta, angle;
    mpfr_inits2(BITS, sum, theta, angle, (mpfr_ptr)NULL);
    for (size_t r = 0; r < 40; r++) {
        mpfr_set_ui(sum, 0, MPFR_RNDN);
        for (size_t i = 0; i < 64; i++) {
            truth_theta(&spec, i, theta);
            mpfr_mul_d(angle, theta, pe_positions_at(&positions, r), MPFR_RNDN);
            mpfr_cos(angle, angle, MPFR_RNDN);
            mpfr_add(sum, sum, angle, MPFR_RNDN);
        }
        mpfr_div_ui(sum, sum, 64, MPFR_RNDN);
        assert_true(fabs(wide[r] - mpfr_get_d(sum, MPFR_RNDN)) <= 0x1p-53);
        assert_true(bits_of(pe_dtype_load(PE_FLOAT16, &half[r])) ==
                    bits_of(slow_round(PE_FLOAT16, sum)));
    }
    double window[5];
    assert_int_equal(pe_wave_mean_cos(&doubles, 11, 5, window, &why), PE_OK);
    assert_memory_equal(window, wide + 11, sizeof window);
    mpfr_clears(sum, theta, angle, (mpfr_ptr)NULL);
    pe_wave_free(wave);
}

/* ---- numerics=float32 ----------------------------------------------------------------------- */

static float halved(const void *data, size_t i, float inv)
{
    return i % 2 ? inv * 0.5F : inv;
}

/* Each step in MPFR at 24 bits, which rounds to float32 (no subnormals occur). */
static float truth_inverse(const pe_wave_spec *spec, size_t i)
{
    const formula *f = spec->formula;
    mpfr_t e, p;
    mpfr_inits2(24, e, p, (mpfr_ptr)NULL);
    mpfr_set_ui(e, (unsigned long)(i * 2), MPFR_RNDN);
    mpfr_div_d(e, e, spec->den, MPFR_RNDN);
    mpfr_set_d(p, f->base, MPFR_RNDN);
    mpfr_pow(p, p, e, MPFR_RNDN);
    mpfr_ui_div(p, 1, p, MPFR_RNDN);
    const float inv = mpfr_get_flt(p, MPFR_RNDN);
    mpfr_clears(e, p, (mpfr_ptr)NULL);
    return spec->scale32 ? spec->scale32(f, i, inv) : inv;
}

static float truth_wave32(const pe_wave_spec *spec, size_t i, double position, bool cosine)
{
    const float unscaled = (float)position * truth_inverse(spec, i);
    const float angle = (float)spec->position_scale * unscaled;
    mpfr_t x;
    mpfr_init2(x, 24);
    mpfr_set_flt(x, angle, MPFR_RNDN);
    if (cosine)
        mpfr_cos(x, x, MPFR_RNDN);
    else
        mpfr_sin(x, x, MPFR_RNDN);
    float value = mpfr_get_flt(x, MPFR_RNDN);
    if (spec->amplitude != NULL) {
        mpfr_t amplitude;
        mpfr_init2(amplitude, 200);
        amplitude_of(spec->formula, amplitude);
        value *= (float)slow_round(PE_FLOAT32, amplitude);
        mpfr_clear(amplitude);
    }
    mpfr_clear(x);
    return value + 0.0F;
}

static void check_wave32(const pe_wave_spec *spec, const pe_positions *positions)
{
    pe_wave *wave = make(spec);
    const pe_wave_layout layout = {2, 0, 1, 2 * spec->n};
    for (size_t k = 0; k < PE_LEN(dtypes); k++) {
        table t = fill(wave, positions, 0, positions->count, layout, dtypes[k]);
        for (size_t j = 0; j < positions->count * spec->n; j++) {
            const size_t r = j / spec->n, i = j % spec->n;
            const double position = pe_positions_at(positions, r);
            for (int cosine = 0; cosine < 2; cosine++) {
                char want[8];
                const float value = truth_wave32(spec, i, position, cosine);
                pe_dtype_store(dtypes[k], (double)value, want);
                compare(spec, dtypes[k], position, i, cosine ? "cos32" : "sin32",
                        at(&t, r, i, cosine), pe_dtype_load(dtypes[k], want) + 0.0);
            }
        }
        free(t.data);
    }
    pe_wave_free(wave);
}

static void test_float32_steps(void **unused)
{
    start_over();
    static const double bases[] = {10000, 500000, 1e6, 12345.678, 1};
    double entries[6];
    for (size_t k = 0; k < PE_LEN(bases); k++) {
        const formula f = {bases[k], 1, 64, k % 2 ? LOG : ONE, 4};
        pe_wave_spec spec = spec_of(&f, 64, 128, k == 3 ? 1000 : 1);
        spec.float32 = true;
        spec.scale32 = k == 2 ? halved : NULL;
        const pe_positions start = pe_positions_range(-2, 1, 8), range = random_range(6),
                           list = random_list(6, entries),
                           largest = pe_positions_range((1LL << 53) - 7, 1, 6);
        check_wave32(&spec, &largest);
        check_wave32(&spec, &start);
        check_wave32(&spec, &range);
        check_wave32(&spec, &list);
    }
    printf("%zu values of each dtype compared\n", compared[PE_FLOAT32]);
    assert_int_equal(misrounded, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sweep),
        cmocka_unit_test(test_largest_positions),
        cmocka_unit_test(test_small_positions),
        cmocka_unit_test(test_zero_is_exact),
        cmocka_unit_test(test_unfit_sets_go_through_mpfr),
        cmocka_unit_test(test_windows),
        cmocka_unit_test(test_a_set_keeps_the_offsets_of_one_step),
        cmocka_unit_test(test_kept_offsets_serve_near_and_far),
        cmocka_unit_test(test_layout_leaves_the_rest_alone),
        cmocka_unit_test(test_theta),
        cmocka_unit_test(test_sequences),
        cmocka_unit_test(test_theta_in_128_bits),
        cmocka_unit_test(test_mean_cos),
        cmocka_unit_test(test_float32_steps),
    };
    return cmocka_run_group_tests(tests, seed, NULL);
}
