/* SPDX-License-Identifier: MIT */
/* test_cache.c - sharing, single flight, SIEVE and the budget of the cache. */
#include "support/check.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache/cache.h"
#include "cache/hash.h"

#define THREADS 8

/* ---- values that know who they are, and count what is alive ---- */

struct value {
    size_t bytes;
    char name[32];
};

static atomic_size_t alive_values, alive_bytes, fills;
static char freed_names[256]; /* one letter each, in order, where a test has one thread */

static void free_value(void *data)
{
    struct value *value = data;
    atomic_fetch_sub(&alive_values, 1);
    atomic_fetch_sub(&alive_bytes, value->bytes);
    const size_t freed = strlen(freed_names);
    if (strlen(value->name) == 1 && freed + 1 < sizeof freed_names)
        memcpy(freed_names + freed, value->name, 2);
    free(value);
}

/* What a fill is told: how heavy its value claims to be. */
struct wish {
    const char *name;
    size_t bytes;
};

static pe_status fill_wish(void *context, void **out, size_t *bytes, pe_problem *why)
{
    const struct wish *wish = context;
    struct value *value = calloc(1, sizeof *value);
    if (value == NULL)
        return pe_fail_memory(why);
    value->bytes = wish->bytes;
    snprintf(value->name, sizeof value->name, "%s", wish->name);
    atomic_fetch_add(&fills, 1);
    atomic_fetch_add(&alive_values, 1);
    atomic_fetch_add(&alive_bytes, wish->bytes);
    *out = value;
    *bytes = wish->bytes;
    return PE_OK;
}

static pe_cache *make_cache(size_t bytes_max)
{
    pe_cache *cache = NULL;
    pe_problem why = {0};
    freed_names[0] = '\0';
    atomic_store(&fills, 0);
    assert_int_equal(pe_cache_make(bytes_max, free_value, &cache, &why), PE_OK);
    return cache;
}

static void free_cache(pe_cache *cache)
{
    pe_cache_free(cache);
    assert_int_equal(atomic_load(&alive_values), 0);
    assert_int_equal(atomic_load(&alive_bytes), 0);
}

static pe_cache_stats stats_of(pe_cache *cache)
{
    pe_cache_stats stats;
    pe_cache_stats_get(cache, &stats);
    return stats;
}

/* The entry of `name`, filled with a value of `bytes` when absent. Returns whether it was there. */
static int touch(pe_cache *cache, const char *name, size_t bytes)
{
    struct wish wish = {name, bytes};
    pe_entry *entry = NULL;
    pe_problem why = {0};
    int hit = -1;
    assert_int_equal(pe_cache_get(cache, name, strlen(name), fill_wish, &wish, &entry, &hit, &why),
                     PE_OK);
    const struct value *value = pe_entry_value(entry);
    assert_string_equal(value->name, name);
    pe_entry_unref(entry);
    return hit;
}

/* What an entry with a key of one byte weighs besides its value. */
static size_t entry_overhead(void)
{
    pe_cache *cache = make_cache((size_t)1 << 20);
    const size_t before = stats_of(cache).bytes;
    touch(cache, "a", 0);
    const size_t after = stats_of(cache).bytes;
    free_cache(cache);
    return after - before;
}

/* ---- one thread ---- */

static void a_hit_returns_the_pointer_of_the_miss(void **state)
{
    (void)state;
    pe_cache *cache = make_cache((size_t)1 << 20);
    struct wish wish = {"rows", 100};
    pe_entry *first = NULL, *second = NULL;
    pe_problem why = {0};
    int hit = -1;
    assert_null(pe_cache_peek(cache, "key", 3));
    assert_int_equal(pe_cache_get(cache, "key", 3, fill_wish, &wish, &first, &hit, &why), PE_OK);
    assert_int_equal(hit, 0);
    assert_int_equal(pe_cache_get(cache, "key", 3, fill_wish, &wish, &second, &hit, &why), PE_OK);
    assert_int_equal(hit, 1);
    pe_entry *third = pe_cache_peek(cache, "key", 3);
    assert_ptr_equal(pe_entry_value(first), pe_entry_value(second));
    assert_ptr_equal(pe_entry_value(first), pe_entry_value(third));
    assert_int_equal(atomic_load(&fills), 1);

    const pe_cache_stats stats = stats_of(cache);
    assert_int_equal(stats.hits, 2);
    assert_int_equal(stats.misses, 1);
    assert_int_equal(stats.entries, 1);
    pe_entry_unref(first);
    pe_entry_unref(second);
    pe_entry_unref(third);
    free_cache(cache);
}

static void keys_are_compared_whole(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
    } keys[] = {{"", 0},      {"\0", 1},       {"\0\0", 2},       {"a", 1},
                {"a\0", 2},   {"abcdefgh", 8}, {"abcdefgh\0", 9}, {"abcdefgi", 8},
                {"ab\0c", 4}, {"abcdefghi", 9}};
    pe_cache *cache = make_cache((size_t)1 << 20);
    for (size_t pass = 0; pass < 2; pass++) {
        for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
            char name[8];
            snprintf(name, sizeof name, "k%zu", k);
            struct wish wish = {name, 1};
            pe_entry *entry = NULL;
            pe_problem why = {0};
            int hit = -1;
            assert_int_equal(
                pe_cache_get(cache, keys[k].bytes, keys[k].n, fill_wish, &wish, &entry, &hit, &why),
                PE_OK);
            assert_int_equal(hit, (int)pass);
            assert_string_equal(((const struct value *)pe_entry_value(entry))->name, name);
            pe_entry_unref(entry);
        }
    }
    free_cache(cache);
}

static void sieve_evicts_in_the_order_of_a_worked_example(void **state)
{
    (void)state;
    const size_t weight = 1000;
    const size_t value_bytes = weight - entry_overhead();
    pe_cache *cache = make_cache(7 * weight + weight / 2); /* room for seven, and for the map */

    for (const char *c = "ABCDEFG"; *c != '\0'; c++)
        assert_int_equal(touch(cache, (char[]){*c, '\0'}, value_bytes), 0);
    assert_string_equal(freed_names, "");

    /* Each row: visits, then a new entry, then all that has been evicted so far. '*' is visited,
     * '>' is the hand; oldest first. */
    static const struct {
        const char *visit, *add, *evicted;
    } steps[] = {
        {"ABG", "H", "C"},       /* A* B* C D E F G*      ->  A B >D E F G* H     */
        {"AD", "I", "CE"},       /* A* B >D* E F G* H     ->  A* B D >F G* H I    */
        {"", "J", "CEF"},        /*                       ->  A* B D >G* H I J    */
        {"", "K", "CEFH"},       /*                       ->  A* B D G >I J K     */
        {"", "L", "CEFHI"},      /*                       ->  A* B D G >J K L     */
        {"", "M", "CEFHIJ"},     /*                       ->  A* B D G >K L M     */
        {"", "N", "CEFHIJK"},    /*                       ->  A* B D G >L M N     */
        {"LMN", "O", "CEFHIJKB"} /* A* B D G >L* M* N*    ->  A >D G L M N O: over the end */
    };
    for (size_t s = 0; s < sizeof steps / sizeof steps[0]; s++) {
        for (const char *c = steps[s].visit; *c != '\0'; c++)
            assert_int_equal(touch(cache, (char[]){*c, '\0'}, value_bytes), 1);
        assert_int_equal(touch(cache, steps[s].add, value_bytes), 0);
        assert_string_equal(freed_names, steps[s].evicted);
        assert_int_equal(stats_of(cache).entries, 7);
    }
    assert_int_equal(stats_of(cache).evictions, 8);
    free_cache(cache);
}

static void a_value_over_a_quarter_of_the_budget_is_handed_out_but_not_kept(void **state)
{
    (void)state;
    const size_t overhead = entry_overhead();
    pe_cache *cache = make_cache(40000);
    assert_int_equal(touch(cache, "a", 10000 - overhead), 0);
    assert_int_equal(touch(cache, "a", 10000 - overhead), 1);
    assert_int_equal(touch(cache, "b", 10000 - overhead + 1), 0);
    assert_int_equal(touch(cache, "b", 10000 - overhead + 1), 0);
    assert_int_equal(touch(cache, "c", SIZE_MAX), 0);
    assert_string_equal(freed_names, "bbc");
    const pe_cache_stats stats = stats_of(cache);
    assert_int_equal(stats.rejected, 3);
    assert_int_equal(stats.evictions, 0);
    assert_int_equal(stats.entries, 1);
    assert_int_equal(touch(cache, "a", 0), 1);
    free_cache(cache);
}

static void every_budget_is_kept_down_to_none(void **state)
{
    (void)state;
    for (size_t bytes_max = 0; bytes_max < 20000; bytes_max += 1 + bytes_max / 7) {
        pe_cache *cache = make_cache(bytes_max);
        for (int k = 0; k < 60; k++) {
            char name[16];
            snprintf(name, sizeof name, "key-%d", k);
            touch(cache, name, (size_t)k * 16);
            const pe_cache_stats stats = stats_of(cache);
            assert_true(stats.bytes <= bytes_max);
            assert_true(atomic_load(&alive_bytes) <= stats.bytes);
        }
        if (bytes_max == 0)
            assert_int_equal(stats_of(cache).rejected, 60);
        free_cache(cache);
    }
}

static void an_entry_that_somebody_holds_is_not_evicted(void **state)
{
    (void)state;
    pe_cache *cache = make_cache(8000);
    struct wish wish = {"A", 1000};
    pe_entry *held = NULL;
    pe_problem why = {0};
    assert_int_equal(pe_cache_get(cache, "A", 1, fill_wish, &wish, &held, NULL, &why), PE_OK);
    assert_true(stats_of(cache).held >= 1000);
    for (int k = 0; k < 100; k++) {
        char name[16];
        snprintf(name, sizeof name, "key-%d", k);
        touch(cache, name, 1000);
        assert_true(atomic_load(&alive_bytes) <= stats_of(cache).bytes);
    }
    assert_int_equal(touch(cache, "A", 1000), 1);
    pe_entry_unref(pe_entry_ref(held));
    assert_true(stats_of(cache).held >= 1000);
    pe_entry_unref(held);
    assert_int_equal(stats_of(cache).held, 0);
    for (int k = 0; k < 100; k++) {
        char name[32];
        snprintf(name, sizeof name, "other-%d", k);
        touch(cache, name, 1000);
        touch(cache, name, 1000); /* visited, so that the hand comes round */
    }
    assert_string_equal(freed_names, "A");
    free_cache(cache);
}

/* The more is held, the smaller are the entries that still get in; when all is held, none does. */
static void what_does_not_fit_beside_what_is_held_is_not_even_filled(void **state)
{
    (void)state;
    enum { N = 200 };
    pe_cache *cache = make_cache(40000);
    pe_entry *held[N];
    pe_problem why = {0};
    size_t kept = 0, refused = 0;
    for (int k = 0; k < N; k++) {
        char name[16];
        struct wish wish = {name, (size_t)(k % 5 == 0 ? 5000 : 300)};
        snprintf(name, sizeof name, "key-%d", k);
        assert_int_equal(pe_cache_get_bounded(cache, name, strlen(name), wish.bytes, fill_wish,
                                              &wish, &held[k], NULL, &why),
                         PE_OK);
        kept += held[k] != NULL;
        refused += held[k] == NULL;
        assert_int_equal(atomic_load(&fills), kept);
        const pe_cache_stats stats = stats_of(cache);
        assert_true(stats.bytes <= stats.bytes_max && stats.held <= stats.bytes);
        assert_true(atomic_load(&alive_bytes) <= stats.held);
        assert_int_equal(stats.rejected, refused);
        assert_int_equal(stats.loose, 0);
    }
    assert_true(kept > 30 && refused > 100);
    assert_true(stats_of(cache).held > 38000); /* nearly all */
    for (int k = 0; k < N; k++)
        pe_entry_unref(held[k]);
    assert_int_equal(stats_of(cache).held, 0);
    assert_int_equal(touch(cache, "large", 9000), 0); /* all is as it was */
    assert_int_equal(touch(cache, "large", 9000), 1);
    free_cache(cache);
}

static void what_is_handed_out_but_not_kept_is_counted(void **state)
{
    (void)state;
    pe_cache *cache = make_cache(40000);
    struct wish wish = {"large", 20000};
    pe_entry *held = NULL;
    pe_problem why = {0};
    assert_int_equal(pe_cache_get(cache, "large", 5, fill_wish, &wish, &held, NULL, &why), PE_OK);
    pe_cache_stats stats = stats_of(cache);
    assert_true(stats.loose >= 20000);
    assert_int_equal(stats.held, 0);
    assert_int_equal(stats.entries, 0);
    pe_entry_unref(held);
    assert_int_equal(stats_of(cache).loose, 0);
    free_cache(cache);
}

/* Room that was made for more than has come is given back. */
static void room_is_as_large_as_the_value_once_that_is_known(void **state)
{
    (void)state;
    pe_cache *cache = make_cache(40000);
    pe_problem why = {0};
    const size_t overhead = entry_overhead(), empty = stats_of(cache).bytes;
    for (int k = 0; k < 8; k++) {
        char name[2] = {(char)('a' + k), '\0'};
        struct wish wish = {name, 100};
        pe_entry *entry = NULL;
        assert_int_equal(
            pe_cache_get_bounded(cache, name, 1, 9000, fill_wish, &wish, &entry, NULL, &why),
            PE_OK);
        pe_entry_unref(entry);
    }
    assert_int_equal(stats_of(cache).bytes, empty + 8 * (overhead + 100));
    assert_int_equal(stats_of(cache).evictions, 0);
    free_cache(cache);
}

/* ---- single flight ---- */

struct flight {
    pe_cache *cache;
    pe_status outcome;
    pthread_barrier_t start;
};

/* Returns only when every other thread waits, so that all of them meet the same fill. */
static pe_status fill_awaited(void *context, void **out, size_t *bytes, pe_problem *why)
{
    struct flight *flight = context;
    while (stats_of(flight->cache).waits < THREADS - 1)
        sched_yield();
    if (flight->outcome != PE_OK) {
        atomic_fetch_add(&fills, 1);
        return pe_fail(why, flight->outcome, "head_dim", "no luck at attempt %d", 1);
    }
    return fill_wish(&(struct wish){"shared", 64}, out, bytes, why);
}

struct caller {
    pthread_t thread;
    struct flight *flight;
    pe_status status;
    pe_problem why;
    pe_entry *entry;
    int hit;
};

static void *call(void *argument)
{
    struct caller *caller = argument;
    pthread_barrier_wait(&caller->flight->start);
    caller->status = pe_cache_get(caller->flight->cache, "same", 4, fill_awaited, caller->flight,
                                  &caller->entry, &caller->hit, &caller->why);
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
    struct flight flight = {.cache = make_cache(bytes_max), .outcome = PE_OK};
    struct caller callers[THREADS];
    fly(&flight, callers);
    int hits = 0;
    for (size_t t = 0; t < THREADS; t++) {
        assert_int_equal(callers[t].status, PE_OK);
        assert_ptr_equal(pe_entry_value(callers[t].entry), pe_entry_value(callers[0].entry));
        hits += callers[t].hit;
    }
    assert_int_equal(hits, THREADS - 1);
    assert_int_equal(atomic_load(&fills), 1);
    const pe_cache_stats stats = stats_of(flight.cache);
    assert_int_equal(stats.misses, 1);
    assert_int_equal(stats.waits, THREADS - 1);
    assert_int_equal(stats.entries, kept);
    for (size_t t = 0; t < THREADS; t++)
        pe_entry_unref(callers[t].entry);
    free_cache(flight.cache);
}

static void many_threads_that_want_one_key_fill_it_once(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++)
        check_shared_flight((size_t)1 << 20, 1);
}

static void a_cache_without_budget_still_fills_once_for_all_who_wait(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++)
        check_shared_flight(0, 0);
}

static void a_fill_that_fails_tells_every_waiter_and_leaves_nothing(void **state)
{
    (void)state;
    struct flight flight = {.cache = make_cache((size_t)1 << 20), .outcome = PE_INVALID_PARAMETER};
    struct caller callers[THREADS];
    const size_t empty = stats_of(flight.cache).bytes;
    fly(&flight, callers);
    for (size_t t = 0; t < THREADS; t++) {
        assert_int_equal(callers[t].status, PE_INVALID_PARAMETER);
        assert_int_equal(callers[t].why.status, PE_INVALID_PARAMETER);
        assert_string_equal(callers[t].why.where, "head_dim");
        assert_string_equal(callers[t].why.detail, "no luck at attempt 1");
        assert_null(callers[t].entry);
    }
    assert_int_equal(atomic_load(&fills), 1);
    assert_null(pe_cache_peek(flight.cache, "same", 4));
    assert_int_equal(stats_of(flight.cache).entries, 0);
    assert_int_equal(stats_of(flight.cache).bytes, empty);

    assert_int_equal(touch(flight.cache, "same", 10), 0); /* the next caller tries again */
    assert_int_equal(touch(flight.cache, "same", 10), 1);
    free_cache(flight.cache);
}

/* ---- many threads ---- */

static uint64_t next_random(uint64_t *state)
{
    /* xorshift64*: Marsaglia 2003, "Xorshift RNGs"; the multiplier is Vigna's (2016). */
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717);
}

struct load {
    pthread_t thread;
    pe_cache *cache;
    bool bounded; /* room is made before a value is */
    uint64_t random;
    const char *complaint;
};

static pe_status fill_or_fail(void *context, void **out, size_t *bytes, pe_problem *why)
{
    const struct wish *wish = context;
    if (wish->bytes % 31 == 0)
        return pe_fail(why, PE_INVALID_PARAMETER, "", "%s", wish->name);
    return fill_wish(context, out, bytes, why);
}

static void *load_cache(void *argument)
{
    struct load *load = argument;
    pe_entry *held[16] = {0};
    for (int i = 0; i < 4000 && load->complaint == NULL; i++) {
        const uint64_t random = next_random(&load->random);
        char name[16];
        snprintf(name, sizeof name, "key-%u", (unsigned)(random % 500));
        struct wish wish = {name, (size_t)(random >> 40) % 9000};
        pe_entry **slot = &held[random >> 60];
        pe_problem why = {0};
        pe_entry_unref(*slot);
        *slot = NULL;
        const pe_status status =
            load->bounded ? pe_cache_get_bounded(load->cache, name, strlen(name), wish.bytes,
                                                 fill_or_fail, &wish, slot, NULL, &why)
                          : pe_cache_get(load->cache, name, strlen(name), fill_or_fail, &wish, slot,
                                         NULL, &why);
        if (status == PE_OK && *slot != NULL &&
            strcmp(((const struct value *)pe_entry_value(*slot))->name, name) != 0)
            load->complaint = "a key gave another key's value";
        if (status != PE_OK && strcmp(why.detail, name) != 0)
            load->complaint = "a problem came from another key";
        const pe_cache_stats stats = stats_of(load->cache);
        if (stats.bytes > stats.bytes_max)
            load->complaint = "the budget was exceeded";
        if (load->bounded && atomic_load(&alive_bytes) > stats.bytes_max)
            load->complaint = "there is more than the budget";
    }
    for (size_t h = 0; h < 16; h++)
        pe_entry_unref(held[h]);
    return NULL;
}

/* Each thread holds sixteen entries, most of the budget if it were alone. */
static void load_with_many_threads(bool bounded)
{
    pe_cache *cache = make_cache(100000);
    struct load loads[THREADS];
    for (size_t t = 0; t < THREADS; t++) {
        loads[t] =
            (struct load){.cache = cache, .bounded = bounded, .random = 88172645463325252U + t};
        assert_int_equal(pthread_create(&loads[t].thread, NULL, load_cache, &loads[t]), 0);
    }
    for (size_t t = 0; t < THREADS; t++)
        pthread_join(loads[t].thread, NULL);
    for (size_t t = 0; t < THREADS; t++)
        if (loads[t].complaint != NULL)
            fail_msg("thread %zu: %s", t, loads[t].complaint);

    const pe_cache_stats stats = stats_of(cache);
    assert_true(atomic_load(&alive_bytes) < stats.bytes); /* what lives is what is counted */
    assert_int_equal(atomic_load(&alive_values), stats.entries);
    assert_int_equal(stats.hits + stats.misses + stats.waits + (bounded ? stats.rejected : 0),
                     THREADS * 4000);
    assert_true(stats.evictions > 0 && stats.hits > 0 && stats.rejected > 0);
    assert_int_equal(stats.held, 0);
    assert_int_equal(stats.loose, 0);
    free_cache(cache);
}

static void the_budget_holds_under_random_load_of_many_threads(void **state)
{
    (void)state;
    load_with_many_threads(false);
}

static void no_more_than_the_budget_is_allocated_where_values_are_bounded(void **state)
{
    (void)state;
    load_with_many_threads(true);
}

/* ---- scans ---- */

enum { OBJECTS = 10000, REQUESTS = 200000, HELD = 1000 };

/* Request k of a Zipf law of exponent 1 over OBJECTS, from its cumulative sums. */
static size_t draw(const double *cumulative, uint64_t *random)
{
    const double at = (double)(next_random(random) >> 11) * 0x1p-53 * cumulative[OBJECTS - 1];
    size_t low = 0, high = OBJECTS - 1;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (cumulative[middle] < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Share of hits of the same Zipf requests, with a scan of `scan` one-off keys after every `every`.
 */
static double replay(size_t every, size_t scan)
{
    static double cumulative[OBJECTS];
    double sum = 0;
    for (size_t k = 0; k < OBJECTS; k++)
        cumulative[k] = sum += 1.0 / (double)(k + 1);

    pe_cache *cache = make_cache((size_t)HELD * 1000);
    uint64_t random = 20261120;
    size_t hits = 0, once = 0;
    char name[32];
    for (size_t r = 1; r <= REQUESTS; r++) {
        snprintf(name, sizeof name, "object-%zu", draw(cumulative, &random));
        hits += touch(cache, name, 850) == 1;
        for (size_t s = 0; r % every == 0 && s < scan; s++) {
            snprintf(name, sizeof name, "once-%zu", once++);
            touch(cache, name, 850);
        }
    }
    free_cache(cache);
    return (double)hits / REQUESTS;
}

static void scans_of_one_off_keys_cost_at_most_five_points_of_hits(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t every, scan;
    } cases[] = {
        {"half a cacheful after every 5000 requests", 5000, HELD / 2},
        {"a cacheful after every 10000 requests", 10000, HELD},
        {"five cachefuls after every 50000 requests", 50000, 5 * HELD},
        {"one one-off key after every fifth request", 5, 1},
    };
    const double alone = replay(REQUESTS, 0);
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        const double scanned = replay(cases[c].every, cases[c].scan);
        print_message("%s: hits %.4f, without scans %.4f\n", cases[c].name, scanned, alone);
        if (scanned < alone - 0.05)
            fail_msg("%s: hits %.4f, without scans %.4f, at most 0.05 less wanted", cases[c].name,
                     scanned, alone);
    }
}

/* ---- the hash ---- */

static void the_hash_spreads_each_bit_of_a_key_over_all_bits(void **state)
{
    (void)state;
    const pe_hash_seed seed = {UINT64_C(0x243f6a8885a308d3), UINT64_C(0x13198a2e03707345)};
    unsigned char key[37];
    size_t flips[64] = {0}, keys = 0;
    uint64_t random = 7;
    for (int round = 0; round < 64; round++) {
        for (size_t b = 0; b < sizeof key; b++)
            key[b] = (unsigned char)(next_random(&random) >> 56);
        const uint64_t before = pe_hash(&seed, key, sizeof key);
        for (size_t bit = 0; bit < 8 * sizeof key; bit++, keys++) {
            key[bit / 8] ^= (unsigned char)(1U << bit % 8);
            const uint64_t change = before ^ pe_hash(&seed, key, sizeof key);
            key[bit / 8] ^= (unsigned char)(1U << bit % 8);
            for (size_t b = 0; b < 64; b++)
                flips[b] += change >> b & 1;
        }
    }
    /* Each bit flips for half of the keys, within 6 standard deviations of a fair coin. */
    const double half = (double)keys / 2, wide = 6 * sqrt((double)keys) / 2;
    for (size_t b = 0; b < 64; b++)
        if (fabs((double)flips[b] - half) > wide)
            fail_msg("bit %zu flips for %zu of %zu keys", b, flips[b], keys);
}

static void seeds_differ_from_map_to_map(void **state)
{
    (void)state;
    const pe_hash_seed a = pe_hash_seed_make(), b = pe_hash_seed_make();
    assert_true(pe_hash(&a, "key", 3) != pe_hash(&b, "key", 3));
    assert_true(pe_hash(&a, "key", 3) == pe_hash(&a, "key", 3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hit_returns_the_pointer_of_the_miss),
        cmocka_unit_test(keys_are_compared_whole),
        cmocka_unit_test(sieve_evicts_in_the_order_of_a_worked_example),
        cmocka_unit_test(a_value_over_a_quarter_of_the_budget_is_handed_out_but_not_kept),
        cmocka_unit_test(every_budget_is_kept_down_to_none),
        cmocka_unit_test(an_entry_that_somebody_holds_is_not_evicted),
        cmocka_unit_test(what_does_not_fit_beside_what_is_held_is_not_even_filled),
        cmocka_unit_test(what_is_handed_out_but_not_kept_is_counted),
        cmocka_unit_test(room_is_as_large_as_the_value_once_that_is_known),
        cmocka_unit_test(many_threads_that_want_one_key_fill_it_once),
        cmocka_unit_test(a_cache_without_budget_still_fills_once_for_all_who_wait),
        cmocka_unit_test(a_fill_that_fails_tells_every_waiter_and_leaves_nothing),
        cmocka_unit_test(the_budget_holds_under_random_load_of_many_threads),
        cmocka_unit_test(no_more_than_the_budget_is_allocated_where_values_are_bounded),
        cmocka_unit_test(scans_of_one_off_keys_cost_at_most_five_points_of_hits),
        cmocka_unit_test(the_hash_spreads_each_bit_of_a_key_over_all_bits),
        cmocka_unit_test(seeds_differ_from_map_to_map),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
