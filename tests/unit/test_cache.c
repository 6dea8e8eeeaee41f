/* SPDX-License-Identifier: MIT */
/* test_cache.c - sharing, SIEVE and the budget of the cache, and its hash. */
#include "support/check.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cache/hash.h"
#include "support/counted.h"
#include "support/random.h"

/* ---- one thread ---- */

static void a_hit_returns_the_pointer_of_the_miss(void **state)
{
    pe_cache *cache = counted_cache_make((size_t)1 << 20);
    counted_wish wish = {"rows", 100};
    const pe_cache_request request = {"key", 3, counted_fill, &wish, 0};
    pe_cache_entry *first = NULL, *second = NULL;
    pe_problem why = {0};
    int hit = -1;
    assert_null(pe_cache_peek(cache, "key", 3));
    assert_int_equal(pe_cache_get(cache, &request, &first, &hit, &why), PE_OK);
    assert_int_equal(hit, 0);
    assert_int_equal(pe_cache_get(cache, &request, &second, &hit, &why), PE_OK);
    assert_int_equal(hit, 1);
    pe_cache_entry *third = pe_cache_peek(cache, "key", 3);
    assert_ptr_equal(pe_cache_entry_value(first), pe_cache_entry_value(second));
    assert_ptr_equal(pe_cache_entry_value(first), pe_cache_entry_value(third));
    assert_int_equal(atomic_load(&counted_fills), 1);

    const pe_cache_stats stats = counted_stats(cache);
    assert_int_equal(stats.hits, 2);
    assert_int_equal(stats.misses, 1);
    assert_int_equal(stats.entries, 1);
    pe_cache_entry_unref(first);
    pe_cache_entry_unref(second);
    pe_cache_entry_unref(third);
    counted_cache_free(cache);
}

static void keys_are_compared_whole(void **state)
{
    static const struct {
        const char *bytes;
        size_t n;
    } keys[] = {{"", 0},      {"\0", 1},       {"\0\0", 2},       {"a", 1},
                {"a\0", 2},   {"abcdefgh", 8}, {"abcdefgh\0", 9}, {"abcdefgi", 8},
                {"ab\0c", 4}, {"abcdefghi", 9}};
    pe_cache *cache = counted_cache_make((size_t)1 << 20);
    for (size_t pass = 0; pass < 2; pass++) {
        for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
            char name[8];
            snprintf(name, sizeof name, "k%zu", k);
            counted_wish wish = {name, 1};
            const pe_cache_request request = {keys[k].bytes, keys[k].n, counted_fill, &wish, 0};
            pe_cache_entry *entry = NULL;
            pe_problem why = {0};
            int hit = -1;
            assert_int_equal(pe_cache_get(cache, &request, &entry, &hit, &why), PE_OK);
            assert_int_equal(hit, (int)pass);
            assert_string_equal(((const counted_value *)pe_cache_entry_value(entry))->name, name);
            pe_cache_entry_unref(entry);
        }
    }
    counted_cache_free(cache);
}

static void sieve_evicts_in_the_order_of_a_worked_example(void **state)
{
    const size_t weight = 1000;
    const size_t value_bytes = weight - counted_overhead();
    pe_cache *cache =
        counted_cache_make(7 * weight + weight / 2); /* room for seven, and for the map */

    for (const char *c = "ABCDEFG"; *c != '\0'; c++)
        assert_int_equal(counted_touch(cache, (char[]){*c, '\0'}, value_bytes), 0);
    assert_string_equal(counted_freed, "");

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
            assert_int_equal(counted_touch(cache, (char[]){*c, '\0'}, value_bytes), 1);
        assert_int_equal(counted_touch(cache, steps[s].add, value_bytes), 0);
        assert_string_equal(counted_freed, steps[s].evicted);
        assert_int_equal(counted_stats(cache).entries, 7);
    }
    assert_int_equal(counted_stats(cache).evictions, 8);
    counted_cache_free(cache);
}

static void a_value_over_a_quarter_of_the_budget_is_handed_out_but_not_kept(void **state)
{
    const size_t overhead = counted_overhead();
    pe_cache *cache = counted_cache_make(40000);
    assert_int_equal(counted_touch(cache, "a", 10000 - overhead), 0);
    assert_int_equal(counted_touch(cache, "a", 10000 - overhead), 1);
    assert_int_equal(counted_touch(cache, "b", 10000 - overhead + 1), 0);
    assert_int_equal(counted_touch(cache, "b", 10000 - overhead + 1), 0);
    assert_int_equal(counted_touch(cache, "c", SIZE_MAX), 0);
    assert_string_equal(counted_freed, "bbc");
    const pe_cache_stats stats = counted_stats(cache);
    assert_int_equal(stats.rejected, 3);
    assert_int_equal(stats.evictions, 0);
    assert_int_equal(stats.entries, 1);
    assert_int_equal(counted_touch(cache, "a", 0), 1);
    counted_cache_free(cache);
}

static void every_budget_is_kept_down_to_none(void **state)
{
    for (size_t bytes_max = 0; bytes_max < 20000; bytes_max += 1 + bytes_max / 7) {
        pe_cache *cache = counted_cache_make(bytes_max);
        for (int k = 0; k < 60; k++) {
            char name[16];
            snprintf(name, sizeof name, "key-%d", k);
            counted_touch(cache, name, (size_t)k * 16);
            const pe_cache_stats stats = counted_stats(cache);
            assert_true(stats.bytes <= bytes_max);
            assert_true(atomic_load(&counted_bytes) <= stats.bytes);
        }
        if (bytes_max == 0)
            assert_int_equal(counted_stats(cache).rejected, 60);
        counted_cache_free(cache);
    }
}

static void an_entry_that_somebody_holds_is_not_evicted(void **state)
{
    pe_cache *cache = counted_cache_make(8000);
    counted_wish wish = {"A", 1000};
    const pe_cache_request request = {"A", 1, counted_fill, &wish, 0};
    pe_cache_entry *held = NULL;
    pe_problem why = {0};
    assert_int_equal(pe_cache_get(cache, &request, &held, NULL, &why), PE_OK);
    assert_true(counted_stats(cache).held >= 1000);
    for (int k = 0; k < 100; k++) {
        char name[16];
        snprintf(name, sizeof name, "key-%d", k);
        counted_touch(cache, name, 1000);
        assert_true(atomic_load(&counted_bytes) <= counted_stats(cache).bytes);
    }
    assert_int_equal(counted_touch(cache, "A", 1000), 1);
    pe_cache_entry_unref(pe_cache_entry_ref(held));
    assert_true(counted_stats(cache).held >= 1000);
    pe_cache_entry_unref(held);
    assert_int_equal(counted_stats(cache).held, 0);
    for (int k = 0; k < 100; k++) {
        char name[32];
        snprintf(name, sizeof name, "other-%d", k);
        counted_touch(cache, name, 1000);
        counted_touch(cache, name, 1000); /* visited, so that the hand comes round */
    }
    assert_string_equal(counted_freed, "A");
    counted_cache_free(cache);
}

/* The more is held, the smaller are the entries that still get in; when all is held, none does. */
static void what_does_not_fit_beside_what_is_held_is_not_even_filled(void **state)
{
    enum { N = 200 };
    pe_cache *cache = counted_cache_make(40000);
    pe_cache_entry *held[N];
    pe_problem why = {0};
    size_t kept = 0, refused = 0;
    for (int k = 0; k < N; k++) {
        char name[16];
        counted_wish wish = {name, (size_t)(k % 5 == 0 ? 5000 : 300)};
        snprintf(name, sizeof name, "key-%d", k);
        const pe_cache_request request = {name, strlen(name), counted_fill, &wish, wish.bytes};
        assert_int_equal(pe_cache_get(cache, &request, &held[k], NULL, &why), PE_OK);
        kept += held[k] != NULL;
        refused += held[k] == NULL;
        assert_int_equal(atomic_load(&counted_fills), kept);
        const pe_cache_stats stats = counted_stats(cache);
        assert_true(stats.bytes <= stats.bytes_max && stats.held <= stats.bytes);
        assert_true(atomic_load(&counted_bytes) <= stats.held);
        assert_int_equal(stats.rejected, refused);
        assert_int_equal(stats.loose, 0);
    }
    assert_true(kept > 30 && refused > 100);
    assert_true(counted_stats(cache).held > 38000); /* nearly all */
    for (int k = 0; k < N; k++)
        pe_cache_entry_unref(held[k]);
    assert_int_equal(counted_stats(cache).held, 0);
    assert_int_equal(counted_touch(cache, "large", 9000), 0); /* all is as it was */
    assert_int_equal(counted_touch(cache, "large", 9000), 1);
    counted_cache_free(cache);
}

static void what_is_handed_out_but_not_kept_is_counted(void **state)
{
    pe_cache *cache = counted_cache_make(40000);
    counted_wish wish = {"large", 20000};
    const pe_cache_request request = {"large", 5, counted_fill, &wish, 0};
    pe_cache_entry *held = NULL;
    pe_problem why = {0};
    assert_int_equal(pe_cache_get(cache, &request, &held, NULL, &why), PE_OK);
    pe_cache_stats stats = counted_stats(cache);
    assert_true(stats.loose >= 20000);
    assert_int_equal(stats.held, 0);
    assert_int_equal(stats.entries, 0);
    pe_cache_entry_unref(held);
    assert_int_equal(counted_stats(cache).loose, 0);
    counted_cache_free(cache);
}

/* Room that was made for more than has come is given back. */
static void room_is_as_large_as_the_value_once_that_is_known(void **state)
{
    pe_cache *cache = counted_cache_make(40000);
    pe_problem why = {0};
    const size_t overhead = counted_overhead(), empty = counted_stats(cache).bytes;
    for (int k = 0; k < 8; k++) {
        char name[2] = {(char)('a' + k), '\0'};
        counted_wish wish = {name, 100};
        const pe_cache_request request = {name, 1, counted_fill, &wish, 9000};
        pe_cache_entry *entry = NULL;
        assert_int_equal(pe_cache_get(cache, &request, &entry, NULL, &why), PE_OK);
        pe_cache_entry_unref(entry);
    }
    assert_int_equal(counted_stats(cache).bytes, empty + 8 * (overhead + 100));
    assert_int_equal(counted_stats(cache).evictions, 0);
    counted_cache_free(cache);
}

/* ---- scans ---- */

enum { OBJECTS = 10000, REQUESTS = 100000, HELD = 1000 };

/* Request k of a Zipf law of exponent 1 over OBJECTS, from its cumulative sums. */
static size_t draw(const double *cumulative, random_source *random)
{
    const double at = random_real(random, 0, cumulative[OBJECTS - 1]);
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

/* Which cache is asked: ours, or a model of one that forgets what was used longest ago. */
typedef struct oldest_first {
    size_t key[HELD], used[HELD]; /* where used is 0, there is nothing */
    size_t slot[OBJECTS], now;    /* of an object, if key[slot] is its key */
} oldest_first;

/* key: an object's number from 1 on; 0 is one that never comes again. */
static bool ask_oldest_first(oldest_first *model, size_t key)
{
    const size_t known = key != 0 ? model->slot[key - 1] : 0;
    const bool hit = key != 0 && model->key[known] == key;
    size_t at = known;
    for (size_t i = 0; !hit && i < HELD; i++)
        at = i == 0 || model->used[i] < model->used[at] ? i : at;
    model->key[at] = key;
    model->used[at] = ++model->now;
    if (key != 0)
        model->slot[key - 1] = at;
    return hit;
}

/* Shares of hits of the same Zipf requests, with `scan` one-off keys after every `every`. */
static double replay(size_t every, size_t scan, double *oldest_first_hits)
{
    static double cumulative[OBJECTS];
    static oldest_first model;
    double sum = 0;
    for (size_t k = 0; k < OBJECTS; k++)
        cumulative[k] = sum += 1.0 / (double)(k + 1);

    pe_cache *cache = counted_cache_make((size_t)HELD * 1000);
    random_source random = random_fixed(20261120);
    size_t hits = 0, model_hits = 0, once = 0;
    char name[32];
    memset(&model, 0, sizeof model);
    for (size_t r = 1; r <= REQUESTS; r++) {
        const size_t object = draw(cumulative, &random);
        snprintf(name, sizeof name, "object-%zu", object);
        hits += counted_touch(cache, name, 850) == 1;
        model_hits += ask_oldest_first(&model, object + 1);
        for (size_t s = 0; r % every == 0 && s < scan; s++) {
            snprintf(name, sizeof name, "once-%zu", once++);
            counted_touch(cache, name, 850);
            ask_oldest_first(&model, 0);
        }
    }
    counted_cache_free(cache);
    *oldest_first_hits = (double)model_hits / REQUESTS;
    return (double)hits / REQUESTS;
}

/* The scans are such that a cache which forgets what was used longest ago would lose more. */
static void scans_of_one_off_keys_cost_at_most_five_points_of_hits(void **state)
{
    static const struct {
        const char *name;
        size_t every, scan;
    } cases[] = {
        {"half a cacheful after every 2000 requests", 2000, HELD / 2},
        {"half a cacheful after every 1000 requests", 1000, HELD / 2},
        {"a cacheful after every 2000 requests", 2000, HELD},
        {"five cachefuls after every 3000 requests", 3000, 5 * HELD},
        {"one one-off key after every other request", 2, 1},
    };
    double oldest_alone, oldest;
    const double alone = replay(REQUESTS, 0, &oldest_alone);
    assert_true(alone > oldest_alone);
    for (size_t c = 0; c < PE_LEN(cases); c++) {
        const double scanned = replay(cases[c].every, cases[c].scan, &oldest);
        print_message("%s: hits %.4f, without scans %.4f; oldest first %.4f, %.4f\n", cases[c].name,
                      scanned, alone, oldest, oldest_alone);
        assert_true(oldest < oldest_alone - 0.05);
        if (scanned < alone - 0.05)
            fail_msg("%s: hits %.4f, without scans %.4f, at most 0.05 less wanted", cases[c].name,
                     scanned, alone);
    }
}

/* ---- the hash ---- */

static void the_hash_spreads_each_bit_of_a_key_over_all_bits(void **state)
{
    const pe_hash_seed seed = {UINT64_C(0x243f6a8885a308d3), UINT64_C(0x13198a2e03707345)};
    unsigned char key[37];
    size_t flips[64] = {0}, keys = 0;
    random_source random = random_fixed(7);
    for (int round = 0; round < 64; round++) {
        for (size_t b = 0; b < sizeof key; b++)
            key[b] = (unsigned char)(random_bits(&random) >> 56);
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
        cmocka_unit_test(scans_of_one_off_keys_cost_at_most_five_points_of_hits),
        cmocka_unit_test(the_hash_spreads_each_bit_of_a_key_over_all_bits),
        cmocka_unit_test(seeds_differ_from_map_to_map),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
