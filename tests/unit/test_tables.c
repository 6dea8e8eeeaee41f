/* SPDX-License-Identifier: MIT */
/* test_tables.c - shared frequency sets, row blocks and numbers of formulas. */
#include "support/check.h"

#include <malloc.h>
#include <pthread.h>
#include <string.h>

#include "support/slow.h"
#include "tables/tables.h"

#ifdef __SANITIZE_ADDRESS__
size_t __sanitizer_get_current_allocated_bytes(void);
#endif

typedef struct formula {
    double base, amplitude;
} formula;

static void base(const void *of, mpfr_ptr out)
{
    const formula *f = of;
    mpfr_set_d(out, f->base, MPFR_RNDN);
}

static void amplitude(const void *of, mpfr_ptr out)
{
    const formula *f = of;
    mpfr_set_d(out, f->amplitude, MPFR_RNDN);
}

static void halve(const void *of, size_t i, mpfr_ptr theta)
{
    mpfr_div_2ui(theta, theta, 1, MPFR_RNDN);
}

static pe_wave_spec spec_of(const formula *f)
{
    return (pe_wave_spec){.n = 8,
                          .num = 2,
                          .den = 16,
                          .position_scale = 1,
                          .base = base,
                          .formula = f,
                          .formula_bytes = sizeof *f};
}

static pe_tables *make(size_t bytes)
{
    pe_problem why;
    pe_tables *tables;
    assert_int_equal(pe_tables_make(bytes, &tables, &why), PE_OK);
    return tables;
}

static pe_shared_wave wave_of(pe_tables *tables, const pe_wave_spec *spec)
{
    pe_problem why;
    pe_shared_wave shared;
    assert_int_equal(pe_tables_wave(tables, spec, &shared, &why), PE_OK);
    return shared;
}

static pe_block block_of(pe_tables *tables, const pe_shared_wave *wave, int64_t at)
{
    pe_problem why;
    pe_block block;
    assert_int_equal(pe_tables_block(tables, wave, at, &block, &why), PE_OK);
    return block;
}

static const formula ten_thousand = {10000, 1};

static void equal_formulas_share_one_set(void **state)
{
    pe_tables *tables = make(1 << 20);
    const formula copy = ten_thousand;
    const pe_wave_spec one = spec_of(&ten_thousand), two = spec_of(&copy);
    pe_shared_wave a = wave_of(tables, &one), b = wave_of(tables, &two);
    assert_ptr_equal(a.wave, b.wave);
    assert_int_equal(a.id, b.id);
    assert_int_not_equal(a.id, 0);
    pe_cache_stats stats;
    pe_tables_stats(tables, &stats);
    assert_int_equal(stats.misses, 1);
    assert_int_equal(stats.hits, 1);
    pe_tables_unref(&a);
    pe_tables_unref(&b);
    assert_null(a.entry);
    pe_tables_free(tables);
}

/* One change to the spec each. */
static void other_value(pe_wave_spec *spec)
{
    static const formula other = {500000, 1};
    spec->formula = &other;
}
static void other_count(pe_wave_spec *spec)
{
    spec->n = 7;
}
static void other_num(pe_wave_spec *spec)
{
    spec->num = 1;
}
static void other_den(pe_wave_spec *spec)
{
    spec->den = 15;
}
static void other_position_scale(pe_wave_spec *spec)
{
    spec->position_scale = 1000;
}
static void other_scale(pe_wave_spec *spec)
{
    spec->scale = halve;
}
static void other_amplitude(pe_wave_spec *spec)
{
    spec->amplitude = amplitude;
}
static void other_arithmetic(pe_wave_spec *spec)
{
    spec->float32 = true;
}
static void shorter_formula(pe_wave_spec *spec)
{
    spec->formula_bytes = sizeof(double);
}

static void sets_that_differ_in_anything_are_apart(void **state)
{
    static const struct {
        const char *name;
        void (*change)(pe_wave_spec *spec);
    } cases[] = {{"formula", other_value},
                 {"n", other_count},
                 {"num", other_num},
                 {"den", other_den},
                 {"position_scale", other_position_scale},
                 {"scale", other_scale},
                 {"amplitude", other_amplitude},
                 {"float32", other_arithmetic},
                 {"formula_bytes", shorter_formula}};
    pe_tables *tables = make(1 << 20);
    pe_wave_spec spec = spec_of(&ten_thousand);
    pe_shared_wave plain = wave_of(tables, &spec);
    for (size_t i = 0; i < PE_LEN(cases); i++) {
        pe_wave_spec changed = spec;
        cases[i].change(&changed);
        pe_shared_wave other = wave_of(tables, &changed);
        if (other.wave == plain.wave || other.id == plain.id)
            fail_msg("a set with another %s was taken for the same", cases[i].name);
        pe_tables_unref(&other);
    }
    pe_tables_unref(&plain);
    pe_tables_free(tables);
}

/* Row by row against MPFR. */
static void check_block(pe_tables *tables, const pe_shared_wave *wave, double amp, int64_t at)
{
    mpfr_t theta, angle;
    mpfr_inits2(SLOW_BITS, theta, angle, (mpfr_ptr)NULL);
    pe_block block = block_of(tables, wave, at);
    for (size_t r = 0; r < PE_BLOCK_ROWS; r++)
        for (size_t i = 0; i < 8; i++) {
            const double pos = (double)(at * PE_BLOCK_ROWS + (int64_t)r);
            double want[2];
            slow_frequency(10000, i, 8, theta);
            for (int cosine = 0; cosine < 2; cosine++) {
                mpfr_mul_d(angle, theta, pos, MPFR_RNDN);
                (cosine ? mpfr_cos : mpfr_sin)(angle, angle, MPFR_RNDN);
                mpfr_mul_d(angle, angle, amp, MPFR_RNDN);
                want[cosine] = slow_round(PE_FLOAT64, angle);
            }
            const double got[2] = {block.sin[r * 8 + i], block.cos[r * 8 + i]};
            if (memcmp(got, want, sizeof got) != 0)
                fail_msg("position %.17g, frequency %zu: got %a %a, wanted %a %a", pos, i, got[0],
                         got[1], want[0], want[1]);
        }
    pe_tables_unref(&block);
    mpfr_clears(theta, angle, (mpfr_ptr)NULL);
}

static void blocks_hold_the_rows_of_their_positions_amplitude_included(void **state)
{
    static const int64_t blocks[] = {0, 1, -1, -3, 67108864, -67108865, (INT64_C(1) << 47) - 1};
    static const formula louder = {10000, 1.25};
    pe_tables *tables = make(1 << 20);
    pe_wave_spec spec = spec_of(&ten_thousand), loud = spec_of(&louder);
    loud.amplitude = amplitude;
    pe_shared_wave wave = wave_of(tables, &spec), loud_wave = wave_of(tables, &loud);
    for (size_t b = 0; b < PE_LEN(blocks); b++) {
        check_block(tables, &wave, 1, blocks[b]);
        check_block(tables, &loud_wave, 1.25, blocks[b]);
    }
    pe_tables_unref(&wave);
    pe_tables_unref(&loud_wave);
    pe_tables_free(tables);
}

static void a_block_is_computed_once_while_it_is_kept(void **state)
{
    pe_tables *tables = make(1 << 20);
    const pe_wave_spec spec = spec_of(&ten_thousand);
    pe_shared_wave wave = wave_of(tables, &spec);
    pe_block a = block_of(tables, &wave, 5), b = block_of(tables, &wave, 5);
    pe_block other = block_of(tables, &wave, 6);
    assert_ptr_equal(a.cos, b.cos);
    assert_ptr_equal(a.sin, b.sin);
    assert_ptr_not_equal(a.cos, other.cos);
    pe_tables_unref(&a);
    pe_tables_unref(&b);
    pe_tables_unref(&other);
    pe_tables_unref(&wave);
    pe_tables_free(tables);
}

static void a_held_block_stays_while_others_are_evicted(void **state)
{
    /* a quarter has room for the set, of 60 KB; all of it for no more than 30 blocks of 8 KB */
    enum { BUDGET = 300000 };
    pe_tables *tables = make(BUDGET);
    const pe_wave_spec spec = spec_of(&ten_thousand);
    double kept[PE_BLOCK_ROWS * 8];
    pe_cache_stats stats;
    pe_shared_wave wave = wave_of(tables, &spec);
    pe_block held = block_of(tables, &wave, 0);
    memcpy(kept, held.cos, sizeof kept);
    for (int64_t at = 1; at < 40; at++) {
        pe_block passing = block_of(tables, &wave, at);
        pe_tables_stats(tables, &stats);
        assert_true(stats.bytes <= BUDGET && stats.loose == 0);
        pe_tables_unref(&passing);
    }
    assert_true(stats.evictions > 0);
    pe_block again = block_of(tables, &wave, 0);
    pe_tables_unref(&wave);
    assert_ptr_equal(again.cos, held.cos);
    assert_memory_equal(held.cos, kept, sizeof kept);
    pe_tables_unref(&again);
    pe_tables_unref(&held);
    pe_tables_stats(tables, &stats);
    assert_int_equal(stats.held, 0);
    pe_tables_free(tables);
}

/* What this process has allocated now, as the allocator sees it. */
static size_t allocated(void)
{
#ifdef __SANITIZE_ADDRESS__
    return __sanitizer_get_current_allocated_bytes();
#else
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
#endif
}

/* Sets of some and of thousands of frequencies, and blocks of each: all that is allocated for them
 * counts, and is within the budget after each. */
static void sets_and_blocks_stay_within_the_budget(void **state)
{
#ifdef __SANITIZE_THREAD__
    skip(); /* its allocator rounds to classes of its own */
#endif
    enum { BUDGET = 4 << 20, SETS = 600 };
    static const size_t sizes[] = {8, 1, 32, 7, 300, 64, 2048};
    const formula warm_up = {77, 1};
    const pe_wave_spec first = spec_of(&warm_up);
    pe_tables *tables = make(BUDGET); /* what MPFR keeps, is not ours */
    pe_shared_wave set = wave_of(tables, &first);
    pe_tables_unref(&set);
    pe_tables_free(tables);
    size_t most = 0;
    const size_t before = allocated();
    tables = make(BUDGET);
    for (int k = 0; k < SETS; k++) {
        const formula own = {10000 + k, 1};
        pe_wave_spec spec = spec_of(&own);
        spec.n = sizes[(size_t)k % PE_LEN(sizes)];
        spec.den = 2 * (double)spec.n;
        pe_shared_wave wave = wave_of(tables, &spec);
        for (int64_t at = 0; at < 3; at++) {
            pe_block block = block_of(tables, &wave, at);
            pe_tables_unref(&block);
        }
        pe_tables_unref(&wave);
        pe_cache_stats stats;
        pe_tables_stats(tables, &stats);
        const size_t now = allocated() - before;
        most = now > most ? now : most;
        if (now > BUDGET || now > stats.bytes + 4096)
            fail_msg("%zu bytes after %d sets, %zu counted", now, k + 1, stats.bytes);
    }
    print_message("%zu bytes at most\n", most);
    assert_true(most > BUDGET / 2); /* it was full */
    pe_tables_free(tables);
}

static void a_set_made_anew_has_a_new_identity(void **state)
{
    pe_tables *tables = make(64); /* keeps nothing */
    const pe_wave_spec spec = spec_of(&ten_thousand);
    pe_shared_wave first = wave_of(tables, &spec), second = wave_of(tables, &spec);
    assert_int_not_equal(first.id, second.id);
    pe_tables_unref(&first);
    pe_tables_unref(&second);
    pe_tables_free(tables);
}

/* ---- numbers of a formula -------------------------------------------------------------------- */

static int made; /* how often */

static void make_squares(const void *of, void *out)
{
    const double *first = of;
    double *square = out;
    made++;
    assert_true(square[3] == 0); /* zeroed */
    for (int i = 0; i < 3; i++)
        square[i] = (*first + i) * (*first + i);
}

static void make_cubes(const void *of, void *out)
{
    const double *first = of;
    made++;
    *(double *)out = *first * *first * *first;
}

static pe_shared_numbers numbers_of(pe_tables *tables, const pe_numbers_spec *spec)
{
    pe_problem why;
    pe_shared_numbers shared;
    assert_int_equal(pe_tables_numbers(tables, spec, &shared, &why), PE_OK);
    assert_int_equal((uintptr_t)shared.data % _Alignof(max_align_t), 0);
    return shared;
}

static void numbers_of_one_formula_are_made_once_and_of_others_apart(void **state)
{
    static const double five[] = {5, 9}, copy[] = {5}, six[] = {6};
    const pe_numbers_spec specs[] = {
        {32, make_squares, five, sizeof five[0]}, {32, make_squares, copy, sizeof copy[0]},
        {32, make_squares, six, sizeof six[0]},   {40, make_squares, five, sizeof five[0]},
        {32, make_cubes, five, sizeof five[0]},   {32, make_squares, five, sizeof five},
    };
    static const double want[PE_LEN(specs)] = {25, 25, 36, 25, 125, 25};
    pe_tables *tables = make(1 << 20);
    pe_shared_numbers got[PE_LEN(specs)];
    pe_cache_stats stats;
    made = 0;
    for (size_t i = 0; i < PE_LEN(specs); i++) {
        got[i] = numbers_of(tables, &specs[i]);
        assert_true(*(const double *)got[i].data == want[i]);
    }
    assert_int_equal(made, PE_LEN(specs) - 1);
    assert_ptr_equal(got[0].data, got[1].data);
    for (size_t i = 0; i < PE_LEN(specs); i++)
        pe_tables_unref(&got[i]);
    assert_null(got[0].entry);
    pe_tables_stats(tables, &stats);
    assert_int_equal(stats.held, 0);
    assert_int_equal(stats.entries, PE_LEN(specs) - 1);
    pe_tables_free(tables);
}

/* ---- threads --------------------------------------------------------------------------------- */

typedef struct together {
    pe_tables *tables;
    pthread_barrier_t *barrier;
    pe_status status;
    uint64_t id;
    double sum;
} together;

static void *take_blocks(void *of)
{
    together *t = of;
    pe_problem why;
    pe_shared_wave wave;
    const pe_wave_spec spec = spec_of(&ten_thousand);
    pthread_barrier_wait(t->barrier);
    t->status = pe_tables_wave(t->tables, &spec, &wave, &why);
    if (t->status == PE_OK) {
        t->id = wave.id;
        for (int64_t at = 0; at < 16 && t->status == PE_OK; at++) {
            pe_block block;
            t->status = pe_tables_block(t->tables, &wave, at, &block, &why);
            if (t->status != PE_OK)
                break;
            t->sum += block.cos[9] + block.sin[9];
            pe_tables_unref(&block);
        }
        pe_tables_unref(&wave);
    }
    mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE); /* the thread's constants */
    return NULL;
}

static void threads_that_want_the_same_get_one_set_and_the_same_blocks(void **state)
{
    enum { THREADS = 8 };
    pthread_t thread[THREADS];
    pthread_barrier_t barrier;
    together job[THREADS];
    pe_cache_stats stats;
    pe_tables *tables = make(1 << 20);
    assert_int_equal(pthread_barrier_init(&barrier, NULL, THREADS), 0);
    for (size_t i = 0; i < THREADS; i++) {
        job[i] = (together){.tables = tables, .barrier = &barrier};
        assert_int_equal(pthread_create(&thread[i], NULL, take_blocks, &job[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(thread[i], NULL), 0);
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(job[i].status, PE_OK);
        assert_int_equal(job[i].id, job[0].id);
        assert_memory_equal(&job[i].sum, &job[0].sum, sizeof job[i].sum);
    }
    pe_tables_stats(tables, &stats);
    assert_int_equal(stats.misses, 1 + 16); /* one set, sixteen blocks */
    pthread_barrier_destroy(&barrier);
    pe_tables_free(tables);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_formulas_share_one_set),
        cmocka_unit_test(sets_that_differ_in_anything_are_apart),
        cmocka_unit_test(blocks_hold_the_rows_of_their_positions_amplitude_included),
        cmocka_unit_test(a_block_is_computed_once_while_it_is_kept),
        cmocka_unit_test(a_held_block_stays_while_others_are_evicted),
        cmocka_unit_test(sets_and_blocks_stay_within_the_budget),
        cmocka_unit_test(a_set_made_anew_has_a_new_identity),
        cmocka_unit_test(numbers_of_one_formula_are_made_once_and_of_others_apart),
        cmocka_unit_test(threads_that_want_the_same_get_one_set_and_the_same_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
