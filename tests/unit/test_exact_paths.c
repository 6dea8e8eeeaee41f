/* SPDX-License-Identifier: MIT */
/* test_exact_paths.c - values near midpoints, and which arithmetic decided them: by every variant,
 * in every kind of row, in whole vectors and in what is left of one. */
#include "support/check.h"

#include <math.h>
#include <stdlib.h>

#include "exact/wave_set.h"
#include "support/halfway.h"
#include "support/truth.h"
#include "support/variant_cases.h"

/* More than the lanes of any level. All frequencies are the same, so that all are near. */
#define N      11
#define ROWS   40 /* of a run, which one anchor serves */
#define BEFORE 13 /* of those, above the row that is compared */

static const pe_dtype dtypes[] = {PE_FLOAT32, PE_FLOAT64, PE_FLOAT16, PE_BFLOAT16};

static const pe_wave_layout layouts[] = {
    {2, 0, 1, 2 * N}, {2, 1, 0, 2 * N}, {1, 0, N, 2 * N}, {1, N, 0, 2 * N}, {1, -1, 0, N},
};
#define COSINES_ALONE 4

/* One row of a table, and the paths that the whole of it took. */
typedef struct taken {
    double value[2][N]; /* sines, cosines */
    pe_wave_paths paths;
} taken;

static pe_wave_paths difference(pe_wave_paths a, pe_wave_paths b)
{
    return (pe_wave_paths){.kernel = a.kernel - b.kernel,
                           .direct = a.direct - b.direct,
                           .fixed128 = a.fixed128 - b.fixed128,
                           .mpfr = a.mpfr - b.mpfr,
                           .exact = a.exact - b.exact};
}

/* `rows` rows, `before` of them before the position. */
static taken take(const pe_wave *wave, double position, size_t before, size_t rows,
                  const pe_wave_layout *layout, pe_dtype dtype)
{
    static unsigned char table[ROWS * 2 * N * sizeof(double)];
    const pe_positions positions = pe_positions_range((int64_t)position - (int64_t)before, 1, rows);
    const ptrdiff_t at[] = {layout->sin_at, layout->cos_at};
    const pe_wave_paths until = pe_wave_paths_read(wave);
    pe_problem why;
    taken t;
    assert_true(rows <= ROWS && (size_t)position > before);
    const pe_wave_table whole = {wave, &positions, layout, dtype};
    assert_int_equal(pe_wave_table_rows(&whole, 0, rows, table, &why), PE_OK);
    t.paths = difference(pe_wave_paths_read(wave), until);
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; at[k] >= 0 && i < N; i++) {
            const size_t j = before * layout->row + i * (size_t)layout->stride + (size_t)at[k];
            t.value[k][i] = pe_dtype_load(dtype, table + j * pe_dtype_bytes(dtype));
        }
    return t;
}

static taken take_alone(const pe_wave *wave, double position, const pe_wave_layout *layout,
                        pe_dtype dtype)
{
    const taken t = take(wave, position, 0, 1, layout, dtype);
    assert_int_equal(t.paths.direct, N); /* nothing to rotate by */
    return t;
}

static taken take_in_run(const pe_wave *wave, double position, const pe_wave_layout *layout,
                         pe_dtype dtype)
{
    const taken t = take(wave, position, BEFORE, ROWS, layout, dtype);
    assert_int_equal(t.paths.kernel + t.paths.fixed128 + t.paths.mpfr, ROWS * N);
    if (dtype == PE_FLOAT64)
        assert_int_equal(t.paths.direct, 0); /* has no second look */
    return t;
}

typedef void visit(const pe_wave *wave, const void *context, pe_dtype dtype,
                   const pe_wave_layout *layout);

/* A set of its own for each variant, by which its offsets are made, too. */
static void by_every_variant(const pe_wave_spec *spec, pe_dtype dtype, const void *context,
                             size_t n_layouts, visit *each)
{
    pe_problem why;
    for (const pe_kernels *const *v = pe_kernels_all(); *v != NULL; v++) {
        pe_wave *wave = NULL;
        assert_int_equal(pe_kernels_select((*v)->name, &why), PE_OK);
        assert_int_equal(pe_wave_make(spec, &wave, &why), PE_OK);
        for (size_t l = 0; l < n_layouts; l++)
            each(wave, context, dtype, &layouts[l]);
        pe_wave_free(wave);
    }
    assert_int_equal(pe_kernels_select("auto", &why), PE_OK);
}

/* ---- values made to be near ----------------------------------------------------------------- */

static void expect_cosines(const halfway *h, pe_dtype dtype, const taken *t, const char *where)
{
    for (size_t i = 0; i < N; i++)
        if (t->value[1][i] != halfway_wanted(h))
            fail_msg("%s %s, %d * 2^-%d off the midpoint above %llu, position %.0f * %.17g, cosine "
                     "%zu, %s: got %a, wanted %a",
                     pe_kernels_get()->name, pe_dtype_name(dtype), h->sign, h->far,
                     (unsigned long long)h->k, h->position, h->scale, i, where, t->value[1][i],
                     halfway_wanted(h));
}

/* Sets of that dtype, `far` off midpoints, in all layouts. */
static void some_halfway(random_source *random, pe_dtype dtype, int far, int sets, visit *each)
{
    for (int k = 0; k < sets; k++) {
        halfway h;
        do
            h = halfway_random(random, dtype, far);
        while (h.position <= BEFORE);
        const pe_wave_spec spec = halfway_spec(&h, N);
        by_every_variant(&spec, dtype, &h, PE_LEN(layouts), each);
    }
}

static void near_midpoints(const char *name, const int *far, size_t n, visit *each)
{
    random_source random = random_make(name);
    for (size_t d = 0; d < PE_LEN(dtypes); d++)
        for (size_t k = 0; k < n; k++)
            some_halfway(&random, dtypes[d], far[k], 5, each);
}

static void by_128_bits(const pe_wave *wave, const void *context, pe_dtype dtype,
                        const pe_wave_layout *layout)
{
    const halfway *h = context;
    const taken alone = take_alone(wave, h->position, layout, dtype);
    expect_cosines(h, dtype, &alone, "in a row alone");
    assert_int_equal(alone.paths.fixed128, N);
    const taken run = take_in_run(wave, h->position, layout, dtype);
    expect_cosines(h, dtype, &run, "in a run");
    assert_true(run.paths.fixed128 >= N && run.paths.mpfr == 0);
    assert_true(dtype == PE_FLOAT64 || run.paths.direct >= N);
}

static void what_128_bits_can_tell_is_told_by_them(void **state)
{
    static const int far[] = {85, 95, 105};
    near_midpoints("128 bits", far, PE_LEN(far), by_128_bits);
}

static void by_mpfr(const pe_wave *wave, const void *context, pe_dtype dtype,
                    const pe_wave_layout *layout)
{
    const halfway *h = context;
    const taken alone = take_alone(wave, h->position, layout, dtype);
    expect_cosines(h, dtype, &alone, "in a row alone");
    assert_int_equal(alone.paths.mpfr, N);
    const taken run = take_in_run(wave, h->position, layout, dtype);
    expect_cosines(h, dtype, &run, "in a run");
    assert_int_equal(run.paths.mpfr, N);
    assert_true(dtype == PE_FLOAT64 || run.paths.direct >= N);
}

static void what_they_cannot_tell_is_left_to_mpfr_and_ties_go_to_even(void **state)
{
    static const int far[] = {140, 600, 1500, 0};
    near_midpoints("MPFR", far, PE_LEN(far), by_mpfr);
}

/* ---- what kernels tell by themselves -------------------------------------------------------- */

/* 2^-42 of the value, some 2^10 places of a double, is more than direct evaluation errs by, and
 * less than a rotation may. */
#define SECOND_LOOK 42

static pe_wave_paths sum;

static void by_kernels(const pe_wave *wave, const void *context, pe_dtype dtype,
                       const pe_wave_layout *layout)
{
    const halfway *h = context;
    const taken alone = take_alone(wave, h->position, layout, dtype);
    expect_cosines(h, dtype, &alone, "in a row alone");
    assert_int_equal(alone.paths.mpfr, 0);
    assert_true(alone.paths.kernel == N || layout->sin_at >= 0); /* sines may be near ones */
    const taken run = take_in_run(wave, h->position, layout, dtype);
    expect_cosines(h, dtype, &run, "in a run");
    assert_true(run.paths.direct >= N || h->far != SECOND_LOOK);
    sum.kernel += run.paths.kernel;
    sum.direct += run.paths.direct;
    sum.fixed128 += alone.paths.fixed128 + run.paths.fixed128;
}

static void what_a_rotation_leaves_open_is_told_by_a_second_look(void **state)
{
    random_source random = random_make("second look");
    sum = (pe_wave_paths){0};
    for (size_t d = 0; d < PE_LEN(dtypes); d++)
        if (dtypes[d] != PE_FLOAT64)
            some_halfway(&random, dtypes[d], SECOND_LOOK, 20, by_kernels);
    assert_true(sum.fixed128 < sum.direct / 10);
}

/* Three bits beyond the midpoint are plain to see: nearly nothing needs a second look. */
static void what_is_far_from_a_midpoint_is_told_by_rotation(void **state)
{
    static const int significant[] = {
        [PE_FLOAT32] = 24, [PE_FLOAT64] = 53, [PE_FLOAT16] = 11, [PE_BFLOAT16] = 8};
    random_source random = random_make("kernels");
    sum = (pe_wave_paths){0};
    for (size_t d = 0; d < PE_LEN(dtypes); d++)
        some_halfway(&random, dtypes[d], significant[dtypes[d]] + 3, 40, by_kernels);
    assert_true(sum.direct < sum.kernel / 20 && sum.fixed128 < sum.kernel / 1000);
}

/* ---- values that are near by nature --------------------------------------------------------- */

static void theta_is_one(const void *unused, size_t i, mpfr_ptr out)
{
    mpfr_set_ui(out, 1, MPFR_RNDN);
}

static void base_is_one(const void *unused, mpfr_ptr out)
{
    theta_is_one(unused, 0, out);
}

static void expect_both(double position, pe_dtype dtype, const taken *t)
{
    const truth_formula formula = {.theta = theta_is_one, .scale = 1};
    double want[2][PE_DTYPES];
    truth_pair pair;
    truth_pair_init(&pair, &formula, 0);
    truth_at(&pair, position, want);
    truth_pair_clear(&pair);
    for (size_t i = 0; i < 2 * N; i++)
        if (t->value[i / N][i % N] != want[i / N][dtype])
            fail_msg("%s %s of %.0f: got %a, wanted %a", pe_dtype_name(dtype),
                     i < N ? "sin" : "cos", position, t->value[i / N][i % N], want[i / N][dtype]);
}

static void by_nature(const pe_wave *wave, const void *context, pe_dtype dtype,
                      const pe_wave_layout *layout)
{
    const double position = *(const double *)context;
    const taken alone = take_alone(wave, position, layout, dtype);
    const taken run = take_in_run(wave, position, layout, dtype);
    expect_both(position, dtype, &alone);
    expect_both(position, dtype, &run);
    if (alone.paths.fixed128 != N || run.paths.fixed128 < N)
        fail_msg("%s %s of %.0f: %llu and %llu elements by 128 bits, wanted %d at least",
                 pe_kernels_get()->name, pe_dtype_name(dtype), position,
                 (unsigned long long)alone.paths.fixed128, (unsigned long long)run.paths.fixed128,
                 N);
    assert_true(dtype == PE_FLOAT64 || run.paths.direct >= N);
}

/* The first positions whose sine or cosine is within 2^-26 (float32), 2^-21 (float64) of the
 * spacing of a midpoint, and the nearest of the first 1.5 * 10^8. */
static void integers_whose_sine_is_nearly_halfway_go_to_128_bits(void **state)
{
    static const struct {
        pe_dtype dtype;
        double position;
    } cases[] = {
        {PE_FLOAT32, 2127657},  {PE_FLOAT32, 5428171},  {PE_FLOAT32, 34357995},
        {PE_FLOAT32, 46204913}, {PE_FLOAT32, 46590787}, {PE_FLOAT32, 59297659},
        {PE_FLOAT32, 61553337}, {PE_FLOAT32, 76292798}, {PE_FLOAT32, 128848729},
        {PE_FLOAT64, 1260974},  {PE_FLOAT64, 1728071},  {PE_FLOAT64, 2215131},
        {PE_FLOAT64, 2378514},  {PE_FLOAT64, 3319635},
    };
    const pe_wave_spec spec = {
        .n = N, .num = 2, .den = 2, .position_scale = 1, .base = base_is_one};
    for (size_t k = 0; k < PE_LEN(cases); k++)
        by_every_variant(&spec, cases[k].dtype, &cases[k].position, COSINES_ALONE, by_nature);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_128_bits_can_tell_is_told_by_them),
        cmocka_unit_test(what_they_cannot_tell_is_left_to_mpfr_and_ties_go_to_even),
        cmocka_unit_test(what_a_rotation_leaves_open_is_told_by_a_second_look),
        cmocka_unit_test(what_is_far_from_a_midpoint_is_told_by_rotation),
        cmocka_unit_test(integers_whose_sine_is_nearly_halfway_go_to_128_bits),
        cmocka_unit_test(every_variant_of_kernels_ran),
    };
    return cmocka_run_group_tests_name("exact: paths", tests, NULL, NULL);
}
