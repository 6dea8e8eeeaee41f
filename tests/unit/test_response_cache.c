/* SPDX-License-Identifier: MIT */
/*
 * test_response_cache.c - stored responses: all that is allocated for them, the library's part
 * included, stays within the budget, whoever holds them; scans of one-off requests leave the
 * others' hits alone.
 */
#include "support/check.h"

#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http/reply/reply.h"
#include "http/answer/response_cache.h"
#include "support/random.h"

#ifdef __SANITIZE_ADDRESS__
size_t __sanitizer_get_current_allocated_bytes(void);
#endif

enum { BUDGET = 4 * 1024 * 1024, ANSWERS = 6000 };

static pe_settings settings = {.cors_origin = "*"};

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

static char location[] = "/v1/sinusoidal?base=10000&d_model=512&dtype=float32&positions=0:512";

typedef struct wish {
    pe_service *service;
    size_t bytes;
} wish;

static pe_status fill(void *context, void **value, size_t *bytes, pe_problem *why)
{
    const wish *made = context;
    pe_buffer data = {.data = malloc(made->bytes), .bytes = made->bytes};
    if (data.data == NULL)
        return pe_fail_memory(why);
    memset(data.data, 1, made->bytes);
    pe_metadata metadata = {.media_type = "application/octet-stream",
                            .etag = "\"0123456789abcdef0123456789abcdef\"",
                            .location = location,
                            .shape = "512,512",
                            .dtype = "float32",
                            .ranges = true};
    pe_stored_response *stored;
    const pe_status status = pe_stored_response_make(made->service, &data, &metadata, &stored, why);
    assert_int_equal(status, PE_OK);
    assert_true(stored->data[0] == 1 && stored->data[made->bytes - 1] == 1);
    *value = stored;
    *bytes = pe_stored_response_weight(stored->bytes, &stored->metadata);
    return status;
}

static pe_status get(pe_response_cache *cache, const char *key, wish *made, pe_cache_entry **entry)
{
    pe_problem why;
    const pe_metadata metadata = {.location = location};
    const pe_cache_request wanted = {.key = key,
                                     .key_bytes = strlen(key),
                                     .most = pe_stored_response_weight(made->bytes, &metadata),
                                     .fill = fill,
                                     .context = made};
    return pe_cache_get(cache->responses, &wanted, entry, NULL, &why);
}

/* Fill a cache many times over with answers of up to `largest` bytes, looking after each. */
static void stay_within(size_t largest)
{
#ifdef __SANITIZE_THREAD__
    skip(); /* its allocator rounds to classes of its own */
#endif
    pe_service service = {.settings = &settings};
    pe_problem why;
    pe_response_cache *cache;
    random_source random = random_make("sizes");
    size_t most = 0;
    const size_t before = allocated();
    assert_int_equal(pe_response_cache_make(BUDGET, &cache, &why), PE_OK);
    for (int i = 0; i < ANSWERS; i++) {
        char key[64];
        pe_request_key raw;
        pe_cache_entry *entry;
        wish made = {.service = &service,
                     .bytes = (size_t)random_int(&random, 1, (int64_t)largest)};
        const int length = snprintf(key, sizeof key, "answer %d", i);
        assert_int_equal(get(cache, key, &made, &entry), PE_OK);
        pe_cache_entry_unref(entry);
        pe_response_cache_key_make(0, key, "*/*", "gzip", &raw);
        pe_response_cache_remember(cache, &raw, (pe_slice){key, (size_t)length});
        if (i % 16 != 0)
            continue;
        const size_t held = allocated() - before;
        most = held > most ? held : most;
        if (held > BUDGET)
            fail_msg("%zu bytes after %d answers of up to %zu: more than %d", held, i + 1, largest,
                     BUDGET);
    }
    assert_true(most > BUDGET / 2); /* it was full */
    pe_response_cache_free(cache);
}

static void small_answers_stay_within_the_budget(void **state)
{
    stay_within(500);
}

static void large_answers_stay_within_the_budget(void **state)
{
    stay_within(400000);
}

/* ---- threads that hold ---- */

enum { THREADS = 4, HOLDS = 6, TURNS = 1500 };

typedef struct reader {
    pthread_t thread;
    pe_response_cache *cache;
    pe_service *service;
    random_source random;
    size_t before, most;
    size_t kept, refused;
} reader;

/* Holds some answers, as connections do that send them. */
static void *read_answers(void *context)
{
    reader *self = context;
    pe_cache_entry *held[HOLDS] = {0};
    for (int i = 0; i < TURNS; i++) {
        char key[64];
        const int64_t which = random_int(&self->random, 0, 400);
        wish made = {.service = self->service, .bytes = (size_t)(1 + 4 * which * which)};
        snprintf(key, sizeof key, "answer %d", (int)which);
        pe_cache_entry **slot = &held[random_int(&self->random, 0, HOLDS - 1)];
        pe_cache_entry_unref(*slot);
        *slot = NULL;
        if (get(self->cache, key, &made, slot) != PE_OK)
            break;
        self->kept += *slot != NULL;
        self->refused += *slot == NULL;
        const size_t now = allocated() - self->before;
        self->most = now > self->most ? now : self->most;
    }
    for (int h = 0; h < HOLDS; h++)
        pe_cache_entry_unref(held[h]);
    return NULL;
}

/* Together they would hold more than the budget. */
static void threads_that_hold_answers_stay_within_the_budget(void **state)
{
#ifdef __SANITIZE_THREAD__
    skip();
#endif
    mallopt(M_ARENA_MAX, 1); /* others are not counted */
    pe_service service = {.settings = &settings};
    pe_problem why;
    pe_response_cache *cache;
    reader readers[THREADS];
    const size_t before = allocated();
    assert_int_equal(pe_response_cache_make(BUDGET, &cache, &why), PE_OK);
    for (int t = 0; t < THREADS; t++) {
        char name[16];
        snprintf(name, sizeof name, "thread %d", t);
        readers[t] = (reader){
            .cache = cache, .service = &service, .random = random_make(name), .before = before};
    }
    for (int t = 0; t < THREADS; t++)
        assert_int_equal(pthread_create(&readers[t].thread, NULL, read_answers, &readers[t]), 0);
    for (int t = 0; t < THREADS; t++)
        pthread_join(readers[t].thread, NULL);
    for (int t = 0; t < THREADS; t++) {
        print_message("%zu kept, %zu refused, %zu bytes at most\n", readers[t].kept,
                      readers[t].refused, readers[t].most);
        assert_int_equal(readers[t].kept + readers[t].refused, TURNS);
        assert_true(readers[t].refused > 0);
#ifndef __SANITIZE_ADDRESS__ /* it sums up threads one after the other, while they go on */
        assert_in_range(readers[t].most, BUDGET / 2, BUDGET);
#endif
    }
    pe_cache_stats answers, requests;
    pe_cache_stats_get(cache->responses, &answers);
    pe_cache_stats_get(cache->requests, &requests);
    assert_int_equal(answers.held, 0);
    assert_int_equal(answers.loose, 0);
    pe_response_cache_free(cache);
}

/* ---- scans ---- */

enum { OBJECTS = 2000, REPLAYED = 40000 };

/* Sizes of three orders of magnitude: most are small, and most bytes are in the large ones. */
static size_t size_of(size_t object)
{
    const unsigned mixed = (unsigned)object * 2654435761U >> 16;
    return mixed % 10 < 7 ? 200 + mixed % 1000 : mixed % 10 < 9 ? 4000 + mixed % 8000 : 65536;
}

static bool request(pe_response_cache *cache, pe_service *service, const char *name, size_t bytes)
{
    pe_request_key raw;
    pe_response_cache_key_make(0, name, "*/*", NULL, &raw);
    pe_cache_entry *entry = pe_response_cache_find(cache, &raw);
    const bool hit = entry != NULL;
    if (!hit) {
        wish made = {.service = service, .bytes = bytes};
        assert_int_equal(get(cache, name, &made, &entry), PE_OK);
        pe_response_cache_remember(cache, &raw, pe_slice_of(name));
    }
    pe_cache_entry_unref(entry);
    return hit;
}

/* Share of hits of the same Zipf requests (exponent 1), with a scan of `scan` one-off answers after
 * every `every`. */
static double replay(size_t every, size_t scan)
{
    static double cumulative[OBJECTS];
    double sum = 0;
    pe_service service = {.settings = &settings};
    pe_problem why;
    pe_response_cache *cache;
    random_source random = random_fixed(20261121);
    size_t hits = 0, once = 0;
    for (size_t k = 0; k < OBJECTS; k++)
        cumulative[k] = sum += 1.0 / (double)(k + 1);
    assert_int_equal(pe_response_cache_make(BUDGET, &cache, &why), PE_OK);
    for (size_t r = 1; r <= REPLAYED; r++) {
        char name[32];
        size_t object = 0;
        const double at = random_real(&random, 0, sum);
        for (size_t high = OBJECTS - 1; object < high;) {
            const size_t middle = (object + high) / 2;
            if (cumulative[middle] < at)
                object = middle + 1;
            else
                high = middle;
        }
        snprintf(name, sizeof name, "/object/%zu", object);
        hits += request(cache, &service, name, size_of(object));
        for (size_t s = 0; r % every == 0 && s < scan; s++, once++) {
            snprintf(name, sizeof name, "/once/%zu", once);
            request(cache, &service, name, size_of(once));
        }
    }
    pe_response_cache_free(cache);
    return (double)hits / REPLAYED;
}

static void scans_of_mixed_sizes_cost_at_most_five_points_of_hits(void **state)
{
    static const struct {
        const char *name;
        size_t every, scan;
    } cases[] = {
        {"200 one-off answers after every 500 requests", 500, 200},
        {"2000 one-off answers after every 3000 requests", 3000, 2000},
        {"one one-off answer after every other request", 2, 1},
    };
    const double alone = replay(REPLAYED, 0);
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        const double scanned = replay(cases[c].every, cases[c].scan);
        print_message("%s: hits %.4f, without scans %.4f\n", cases[c].name, scanned, alone);
        if (scanned < alone - 0.05)
            fail_msg("%s: hits %.4f, without scans %.4f, at most 0.05 less wanted", cases[c].name,
                     scanned, alone);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_answers_stay_within_the_budget),
        cmocka_unit_test(large_answers_stay_within_the_budget),
        cmocka_unit_test(threads_that_hold_answers_stay_within_the_budget),
        cmocka_unit_test(scans_of_mixed_sizes_cost_at_most_five_points_of_hits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
