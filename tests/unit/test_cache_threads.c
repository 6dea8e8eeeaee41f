/* SPDX-License-Identifier: MIT */
/* test_cache_threads.c - single flight and the budget of a cache that many threads use. */
#include "support/check.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "support/counted.h"
#include "support/random.h"

#define THREADS 8

/* ---- single flight ---- */

struct flight {
    pe_cache *cache;
    pe_status outcome;
    atomic_bool failed;
    pthread_barrier_t start;
};

/* Returns only when every other thread waits, so that all of them meet the same fill. */
static pe_status fill_awaited(void *context, void **out, size_t *bytes, pe_problem *why)
{
    struct flight *flight = context;
    while (counted_stats(flight->cache).waits < THREADS - 1)
        sched_yield();
    const bool again = atomic_exchange(&flight->failed, true) && flight->outcome == PE_OVERLOADED;
    if (flight->outcome != PE_OK && !again) {
        atomic_fetch_add(&counted_fills, 1);
        return pe_fail(why, flight->outcome, "head_dim", "no luck at attempt %d", 1);
    }
    return counted_fill(&(counted_wish){"shared", 64}, out, bytes, why);
}

struct caller {
    pthread_t thread;
    struct flight *flight;
    pe_status status;
    pe_problem why;
    pe_cache_entry *entry;
    int hit;
};

static void *call(void *argument)
{
    struct caller *caller = argument;
    pthread_barrier_wait(&caller->flight->start);
    const pe_cache_request request = {"same", 4, fill_awaited, caller->flight, 0};
    caller->status =
        pe_cache_get(caller->flight->cache, &request, &caller->entry, &caller->hit, &caller->why);
    return NULL;
}

/* Let THREADS threads ask for one key at once. */
static void fly(struct flight *flight, struct caller *callers)
{
    pthread_barrier_init(&flight->start, NULL, THREADS);
    for (size_t t = 0; t < THREADS; t++) {
        callers[t] = (struct caller){.flight = flight, .hit = -1};
        assert_int_equal(pthread_create(&callers[t].thread, NULL, call, &callers[t]), 0);
    }
    for (size_t t = 0; t < THREADS; t++)
        pthread_join(callers[t].thread, NULL);
    pthread_barrier_destroy(&flight->start);
}

static void check_shared_flight(size_t bytes_max, size_t kept)
{
    struct flight flight = {.cache = counted_cache_make(bytes_max), .outcome = PE_OK};
    struct caller callers[THREADS];
    fly(&flight, callers);
    int hits = 0;
    for (size_t t = 0; t < THREADS; t++) {
        assert_int_equal(callers[t].status, PE_OK);
        assert_ptr_equal(pe_cache_entry_value(callers[t].entry),
                         pe_cache_entry_value(callers[0].entry));
        hits += callers[t].hit;
    }
    assert_int_equal(hits, THREADS - 1);
    assert_int_equal(atomic_load(&counted_fills), 1);
    const pe_cache_stats stats = counted_stats(flight.cache);
    assert_int_equal(stats.misses, 1);
    assert_int_equal(stats.waits, THREADS - 1);
    assert_int_equal(stats.entries, kept);
    for (size_t t = 0; t < THREADS; t++)
        pe_cache_entry_unref(callers[t].entry);
    counted_cache_free(flight.cache);
}

static void many_threads_that_want_one_key_fill_it_once(void **state)
{
    for (int round = 0; round < 20; round++)
        check_shared_flight((size_t)1 << 20, 1);
}

static void a_cache_without_budget_still_fills_once_for_all_who_wait(void **state)
{
    for (int round = 0; round < 20; round++)
        check_shared_flight(0, 0);
}

static void a_fill_that_fails_tells_every_waiter_and_leaves_nothing(void **state)
{
    struct flight flight = {.cache = counted_cache_make((size_t)1 << 20),
                            .outcome = PE_INVALID_PARAMETER};
    struct caller callers[THREADS];
    const size_t empty = counted_stats(flight.cache).bytes;
    fly(&flight, callers);
    for (size_t t = 0; t < THREADS; t++) {
        assert_int_equal(callers[t].status, PE_INVALID_PARAMETER);
        assert_int_equal(callers[t].why.status, PE_INVALID_PARAMETER);
        assert_string_equal(callers[t].why.where, "head_dim");
        assert_string_equal(callers[t].why.detail, "no luck at attempt 1");
        assert_null(callers[t].entry);
    }
    assert_int_equal(atomic_load(&counted_fills), 1);
    assert_null(pe_cache_peek(flight.cache, "same", 4));
    assert_int_equal(counted_stats(flight.cache).entries, 0);
    assert_int_equal(counted_stats(flight.cache).bytes, empty);

    assert_int_equal(counted_touch(flight.cache, "same", 10), 0); /* the next caller tries again */
    assert_int_equal(counted_touch(flight.cache, "same", 10), 1);
    counted_cache_free(flight.cache);
}

/* What one thread had no memory for, another may have. */
static void whoever_waited_for_memory_tries_again(void **state)
{
    struct flight flight = {.cache = counted_cache_make((size_t)1 << 20), .outcome = PE_OVERLOADED};
    struct caller callers[THREADS];
    size_t served = 0;
    fly(&flight, callers);
    for (size_t t = 0; t < THREADS; t++) {
        served += callers[t].status == PE_OK;
        pe_cache_entry_unref(callers[t].entry);
    }
    assert_int_equal(served, THREADS - 1);
    counted_cache_free(flight.cache);
}

/* ---- many threads ---- */

struct load {
    pthread_t thread;
    pe_cache *cache;
    bool bounded; /* room is made before a value is */
    random_source random;
    const char *complaint;
};

static pe_status fill_or_fail(void *context, void **out, size_t *bytes, pe_problem *why)
{
    const counted_wish *wish = context;
    if (wish->bytes % 31 == 0)
        return pe_fail(why, PE_INVALID_PARAMETER, "", "%s", wish->name);
    return counted_fill(context, out, bytes, why);
}

static void *load_cache(void *argument)
{
    struct load *load = argument;
    pe_cache_entry *held[16] = {0};
    for (int i = 0; i < 4000 && load->complaint == NULL; i++) {
        const uint64_t random = random_bits(&load->random);
        char name[16];
        snprintf(name, sizeof name, "key-%u", (unsigned)(random % 500));
        counted_wish wish = {name, (size_t)(random >> 40) % 9000};
        const pe_cache_request request = {name, strlen(name), fill_or_fail, &wish,
                                          load->bounded ? wish.bytes : 0};
        pe_cache_entry **slot = &held[random >> 60];
        pe_problem why = {0};
        pe_cache_entry_unref(*slot);
        *slot = NULL;
        const pe_status status = pe_cache_get(load->cache, &request, slot, NULL, &why);
        if (status == PE_OK && *slot != NULL &&
            strcmp(((const counted_value *)pe_cache_entry_value(*slot))->name, name) != 0)
            load->complaint = "a key gave another key's value";
        if (status != PE_OK && strcmp(why.detail, name) != 0)
            load->complaint = "a problem came from another key";
        const pe_cache_stats stats = counted_stats(load->cache);
        if (stats.bytes > stats.bytes_max)
            load->complaint = "the budget was exceeded";
        if (load->bounded && atomic_load(&counted_bytes) > stats.bytes_max)
            load->complaint = "there is more than the budget";
    }
    for (size_t h = 0; h < 16; h++)
        pe_cache_entry_unref(held[h]);
    return NULL;
}

/* Each thread holds sixteen entries, most of the budget if it were alone. */
static void load_with_many_threads(bool bounded)
{
    pe_cache *cache = counted_cache_make(100000);
    struct load loads[THREADS];
    for (size_t t = 0; t < THREADS; t++) {
        char name[16];
        snprintf(name, sizeof name, "thread %zu", t);
        loads[t] = (struct load){.cache = cache, .bounded = bounded, .random = random_make(name)};
        assert_int_equal(pthread_create(&loads[t].thread, NULL, load_cache, &loads[t]), 0);
    }
    for (size_t t = 0; t < THREADS; t++)
        pthread_join(loads[t].thread, NULL);
    for (size_t t = 0; t < THREADS; t++)
        if (loads[t].complaint != NULL)
            fail_msg("thread %zu: %s", t, loads[t].complaint);

    const pe_cache_stats stats = counted_stats(cache);
    assert_true(atomic_load(&counted_bytes) < stats.bytes); /* what lives is what is counted */
    assert_int_equal(atomic_load(&counted_values), stats.entries);
    assert_int_equal(stats.hits + stats.misses + stats.waits + (bounded ? stats.rejected : 0),
                     THREADS * 4000);
    assert_true(stats.evictions > 0 && stats.hits > 0 && stats.rejected > 0);
    assert_int_equal(stats.held, 0);
    assert_int_equal(stats.loose, 0);
    counted_cache_free(cache);
}

static void the_budget_holds_under_random_load_of_many_threads(void **state)
{
    load_with_many_threads(false);
}

static void no_more_than_the_budget_is_allocated_where_values_are_bounded(void **state)
{
    load_with_many_threads(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_threads_that_want_one_key_fill_it_once),
        cmocka_unit_test(a_cache_without_budget_still_fills_once_for_all_who_wait),
        cmocka_unit_test(a_fill_that_fails_tells_every_waiter_and_leaves_nothing),
        cmocka_unit_test(whoever_waited_for_memory_tries_again),
        cmocka_unit_test(the_budget_holds_under_random_load_of_many_threads),
        cmocka_unit_test(no_more_than_the_budget_is_allocated_where_values_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
