/* SPDX-License-Identifier: MIT */
/*
 * test_warm.c - kept answers: all that is allocated for them, the library's part included, stays
 * within the budget.
 */
#include "support/check.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http/response.h"
#include "http/warm.h"
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
    char *data = malloc(made->bytes);
    char *url = strdup(location);
    assert_true(data != NULL && url != NULL);
    memset(data, 1, made->bytes);
    pe_facts facts = {.media_type = "application/octet-stream",
                      .etag = "\"0123456789abcdef0123456789abcdef\"",
                      .location = url,
                      .shape = "512,512",
                      .dtype = "float32",
                      .ranges = true};
    pe_answer *answer;
    pe_status status = pe_answer_make(made->service, data, made->bytes, &facts, &answer, why);
    assert_int_equal(status, PE_OK);
    assert_true(answer->data[0] == 1 && answer->data[made->bytes - 1] == 1);
    *value = answer;
    *bytes = pe_answer_weight(answer->bytes, &answer->facts);
    return status;
}

/* Fill a cache many times over with answers of up to `largest` bytes, looking after each. */
static void stay_within(size_t largest)
{
#ifdef __SANITIZE_THREAD__
    skip(); /* its allocator rounds to classes of its own */
#endif
    pe_service service = {.settings = &settings};
    pe_problem why;
    pe_warm *warm;
    random_source random = random_make("sizes");
    size_t most = 0;
    const size_t before = allocated();
    assert_int_equal(pe_warm_make(BUDGET, &warm, &why), PE_OK);
    for (int i = 0; i < ANSWERS; i++) {
        char key[64];
        pe_front front;
        pe_entry *entry;
        wish made = {.service = &service,
                     .bytes = (size_t)random_int(&random, 1, (int64_t)largest)};
        int length = snprintf(key, sizeof key, "answer %d", i);
        const pe_facts facts = {.location = location};
        const size_t weight = pe_answer_weight(made.bytes, &facts);
        assert_int_equal(
            pe_warm_get(warm, key, (size_t)length, weight, fill, &made, &entry, NULL, &why), PE_OK);
        pe_entry_unref(entry);
        pe_front_make(key, "*/*", "gzip", &front);
        pe_warm_learn(warm, &front, key, (size_t)length);
        if (i % 16 != 0)
            continue;
        const size_t held = allocated() - before;
        most = held > most ? held : most;
        if (held > BUDGET)
            fail_msg("%zu bytes after %d answers of up to %zu: more than %d", held, i + 1, largest,
                     BUDGET);
    }
    assert_true(most > BUDGET / 2); /* it was full */
    pe_warm_free(warm);
}

static void small_answers_stay_within_the_budget(void **state)
{
    (void)state;
    stay_within(500);
}

static void large_answers_stay_within_the_budget(void **state)
{
    (void)state;
    stay_within(400000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_answers_stay_within_the_budget),
        cmocka_unit_test(large_answers_stay_within_the_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
