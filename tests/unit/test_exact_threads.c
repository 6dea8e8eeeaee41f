/* SPDX-License-Identifier: MIT */
/* test_exact_threads.c - one frequency set used by several threads at once. */
#include "support/check.h"

#include <pthread.h>
#include <stdlib.h>

#include "exact/wave.h"

#define N       40
#define ROWS    200
#define THREADS 4

static void base_of(const void *formula, mpfr_ptr out)
{
    mpfr_set_ui(out, 10000, MPFR_RNDN);
}

typedef struct reader {
    const pe_wave *wave;
    pe_status status;
    double rows[ROWS * 2 * N];
    float narrow[ROWS * 2 * N];
} reader;

/* Both kinds of table, so that all of the set's offsets are first wanted here. */
static void *read_tables(void *argument)
{
    reader *self = argument;
    const pe_positions positions = pe_positions_range(7, 1, ROWS);
    const pe_wave_layout layout = {2, 0, 1, 2 * N};
    pe_problem why;
    const pe_wave_table doubles = {self->wave, &positions, &layout, PE_FLOAT64};
    const pe_wave_table floats = {self->wave, &positions, &layout, PE_FLOAT32};
    self->status = pe_wave_table_rows(&doubles, 0, ROWS, self->rows, &why);
    if (self->status == PE_OK)
        self->status = pe_wave_table_rows(&floats, 0, ROWS, self->narrow, &why);
    return NULL;
}

static void test_threads_share_a_set(void **unused)
{
    const pe_wave_spec spec = {.n = N, .num = 1, .den = N, .position_scale = 1, .base = base_of};
    for (int round = 0; round < 20; round++) {
        pe_wave *wave = NULL;
        pe_problem why;
        pthread_t threads[THREADS];
        reader *readers = calloc(THREADS, sizeof *readers);
        assert_non_null(readers);
        assert_int_equal(pe_wave_make(&spec, &wave, &why), PE_OK);
        for (int k = 0; k < THREADS; k++) {
            readers[k].wave = wave;
            assert_int_equal(pthread_create(&threads[k], NULL, read_tables, &readers[k]), 0);
        }
        for (int k = 0; k < THREADS; k++) {
            assert_int_equal(pthread_join(threads[k], NULL), 0);
            assert_int_equal(readers[k].status, PE_OK);
            assert_memory_equal(readers[k].rows, readers[0].rows, sizeof readers[0].rows);
            assert_memory_equal(readers[k].narrow, readers[0].narrow, sizeof readers[0].narrow);
        }
        pe_wave_free(wave);
        free(readers);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_threads_share_a_set)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
