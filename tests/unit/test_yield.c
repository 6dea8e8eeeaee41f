/* SPDX-License-Identifier: MIT */
/* test_yield.c - long jobs come round: others run before they end, whoever waits for whom. */
#include "support/check.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "base/array.h"
#include "base/yield.h"
#include "cache/cache.h"
#include "formats/figure/pixels.h"
#include "http/reply/coding.h"
#include "http/workers/pool.h"

/* More than there are threads. */
#define MANY 64

static pe_pool *pool;
static pe_client_queues mine, yours;

static void open_pool(size_t threads)
{
    pe_problem why;
    const pe_pool_limits limits = {threads, 1000, 1000};
    mine = yours = (pe_client_queues){0};
    assert_int_equal(pe_pool_make(&limits, &pool, &why), PE_OK);
}

static void submit(pe_client_queues *client, pe_job *job)
{
    assert_true(pe_pool_submit(pool, client, job, PE_JOB_HEAVY));
}

/* ---- others run meanwhile ---- */

static void set(void *context)
{
    atomic_store((atomic_bool *)context, true);
}

/* Ends only if the other one's job runs before. */
static void work_until_set(void *context)
{
    while (!atomic_load((atomic_bool *)context))
        pe_yield_spend(PE_YIELD_WORK / 3);
}

static void another_client_runs_before_a_long_job_ends(void **state)
{
    atomic_bool ran = false;
    open_pool(1);
    pe_job first = {.run = work_until_set, .context = &ran};
    pe_job second = {.run = set, .context = &ran};
    submit(&mine, &first);
    submit(&yours, &second);
    pe_pool_free(pool);
    assert_true(ran);
}

typedef struct step {
    atomic_size_t *clock;
    size_t ended;
} step;

static void work_long(void *context)
{
    step *s = context;
    for (int i = 0; i < 50; i++)
        pe_yield_spend(PE_YIELD_WORK);
    s->ended = atomic_fetch_add(s->clock, 1);
}

/* What has been begun goes on before the next of its own client. */
static void the_jobs_of_one_client_end_in_their_order(void **state)
{
    atomic_size_t clock = 0;
    step steps[10];
    pe_job jobs[10];
    open_pool(1);
    for (size_t i = 0; i < PE_LEN(jobs); i++) {
        steps[i] = (step){.clock = &clock};
        jobs[i] = (pe_job){.run = work_long, .context = &steps[i]};
        submit(&mine, &jobs[i]);
    }
    pe_pool_free(pool);
    for (size_t i = 0; i < PE_LEN(jobs); i++)
        assert_int_equal(steps[i].ended, i);
}

/* ---- those who wait for another ---- */

typedef struct scene {
    pe_cache *cache;
    uint64_t waits; /* how many are to wait before the value is there */
    atomic_size_t got;
} scene;

static uint64_t waiting(const scene *s)
{
    pe_cache_stats stats;
    pe_cache_stats_get(s->cache, &stats);
    return stats.waits;
}

/* Others have the turn, and come to want the same. */
static pe_status fill(void *context, void **value, size_t *bytes, pe_problem *why)
{
    scene *s = context;
    while (waiting(s) < s->waits) {
        pe_yield_spend(PE_YIELD_WORK);
        sched_yield();
    }
    pe_yield_spend(PE_YIELD_WORK);
    *value = s;
    *bytes = sizeof *s;
    return PE_OK;
}

static void want(void *context)
{
    scene *s = context;
    pe_problem why;
    pe_cache_entry *entry;
    const pe_cache_request request = {.key = "a", .key_bytes = 1, .fill = fill, .context = s};
    if (pe_cache_get(s->cache, &request, &entry, NULL, &why) != PE_OK)
        return;
    atomic_fetch_add(&s->got, pe_cache_entry_value(entry) == s);
    pe_cache_entry_unref(entry);
}

static void release(void *value)
{
}

static void have_many_want(size_t threads, uint64_t waits)
{
    pe_problem why;
    scene s = {.waits = waits};
    pe_job jobs[MANY];
    assert_int_equal(pe_cache_make(1 << 20, release, &s.cache, &why), PE_OK);
    open_pool(threads);
    for (size_t i = 0; i < MANY; i++) {
        jobs[i] = (pe_job){.run = want, .context = &s};
        submit(i % 2 == 0 ? &mine : &yours, &jobs[i]);
    }
    pe_pool_free(pool);
    pe_cache_free(s.cache);
    assert_int_equal(s.got, MANY);
}

static void whoever_waits_gives_its_place_to_the_one_that_fills(void **state)
{
    have_many_want(1, 1);
    have_many_want(2, 3);
}

/* But for the one that fills, and the one for light jobs. */
static void no_thread_is_left_and_the_one_that_fills_goes_on(void **state)
{
    assert_true(pe_pool_threads(2) < MANY);
    have_many_want(1, pe_pool_threads(1) - 2);
    have_many_want(2, pe_pool_threads(2) - 2);
}

/* ---- one long job ---- */

static void count_turn(void *context)
{
    ++*(size_t *)context;
}

/* What is coded or drawn is no matter of a library that is called once. */
static void coding_and_drawing_come_round(void **state)
{
    enum { SIDE = 1024, BYTES = SIDE * SIDE, PIECE = 65536 }; /* a turn may begin a piece later */
    static const size_t size[2] = {SIDE, SIDE};
    static unsigned char data[4 * BYTES];
    size_t waits = 0;
    const pe_yield_ways ways = {.wait = count_turn, .context = &waits};
    pe_problem why;
    pe_yield_set(&ways);
    for (int coding = PE_CODING_GZIP; coding < PE_CODINGS; coding++) {
        pe_buffer coded = {0};
        waits = 0;
        assert_int_equal(
            pe_coding_apply((pe_coding)coding, (const char *)data, sizeof data, &coded, &why),
            PE_OK);
        assert_true(coded.bytes > 0);
        pe_buffer_free(&coded);
        const pe_coding_way way = PE_CODING_WHOLE;
        const uint64_t piece = pe_coding_work((pe_coding)coding, way, PIECE);
        assert_true(waits >=
                    pe_coding_work((pe_coding)coding, way, sizeof data) / (PE_YIELD_WORK + piece) -
                        1);
    }
    pe_palette palette;
    pe_buffer png = {0};
    pe_palette_make(false, &palette);
    waits = 0;
    pe_pixels_png(data, size, &palette, &png);
    assert_false(png.failed);
    pe_buffer_free(&png);
    assert_true(waits >= BYTES * PE_PIXEL_WORK / PE_YIELD_WORK - 1);
    pe_yield_set(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coding_and_drawing_come_round),
        cmocka_unit_test(another_client_runs_before_a_long_job_ends),
        cmocka_unit_test(the_jobs_of_one_client_end_in_their_order),
        cmocka_unit_test(whoever_waits_gives_its_place_to_the_one_that_fills),
        cmocka_unit_test(no_thread_is_left_and_the_one_that_fills_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
