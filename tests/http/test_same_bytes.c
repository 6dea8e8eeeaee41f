/* SPDX-License-Identifier: MIT */
/* test_same_bytes.c - the same bytes and tag for everybody, on every CPU; and checks by hand. */
#include "support/check.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/kernels.h"
#include "support/problem.h"
#include "support/wire.h"

/* ---- many at once ---- */

enum { THREADS = 64 };

typedef struct same_task {
    const test_server *server;
    const char *target;
    reply answer;
} same_task;

static void *ask(void *context)
{
    same_task *task = context;
    task->answer = get(task->server, task->target);
    return NULL;
}

static void ask_at_once(const test_server *server, const char *target)
{
    static same_task tasks[THREADS];
    pthread_t threads[THREADS];
    char first[64], tag[64];
    for (int i = 0; i < THREADS; i++) {
        tasks[i] = (same_task){.server = server, .target = target};
        assert_int_equal(pthread_create(&threads[i], NULL, ask, &tasks[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_status(target, &tasks[i].answer, 200);
        assert_non_null(reply_header(&tasks[i].answer, "ETag", i == 0 ? first : tag, sizeof tag));
        if (i > 0 &&
            (strcmp(first, tag) != 0 || tasks[0].answer.bytes != tasks[i].answer.bytes ||
             memcmp(tasks[0].answer.body, tasks[i].answer.body, tasks[0].answer.bytes) != 0))
            fail_msg("%s: thread %d got %s and %zu bytes, thread 0 %s and %zu", target, i, tag,
                     tasks[i].answer.bytes, first, tasks[0].answer.bytes);
    }
    for (int i = 0; i < THREADS; i++)
        reply_free(&tasks[i].answer);
}

static void sixty_four_threads_get_the_same_bytes_and_tag(void **state)
{
    static const char *const targets[] = {
        "/v1/sinusoidal?d_model=512&positions=0:512",
        "/v1/sinusoidal?d_model=512&positions=0:512&format=raw&dtype=float16",
        "/v1/rope/table?head_dim=128&positions=0:300&format=safetensors",
        "/v1/alibi/slopes?num_heads=12",
        "/v1/models",
        "/openapi.json",
    };
    test_server server;
    server_start(&server, NULL);
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++)
        ask_at_once(&server, targets[i]);
    server_end(&server);
}

/* ---- every variant of the kernels ---- */

static const char *const portable[] = {
    "/v1/sinusoidal?d_model=100&positions=-37:411:7",
    "/v1/sinusoidal?d_model=64&positions=9007199254740000:9007199254740050&format=raw",
    "/v1/sinusoidal?d_model=64&positions=0:77&dtype=float64",
    "/v1/sinusoidal?d_model=64&positions=0:77&dtype=float16&format=raw",
    "/v1/sinusoidal?d_model=64&positions=0:77&dtype=bfloat16",
    "/v1/sinusoidal?d_model=64&positions=0.25,1.5,999.125&scale=1000",
    "/v1/sinusoidal?d_model=64&positions=0:77&numerics=float32",
    "/v1/rope/table?head_dim=96&positions=100000:100099",
    "/v1/rope/frequencies?head_dim=128&rope_type=ntk&factor=8",
    "/v1/alibi/bias?num_heads=12&query_length=17&dtype=float16&format=raw",
};
enum { PORTABLE = sizeof portable / sizeof portable[0] };

static void every_variant_gives_the_same_bytes_and_tag(void **state)
{
    reply wanted[PORTABLE];
    const pe_kernels *const *all = pe_kernels_all();
    for (size_t v = 0; all[v] != NULL; v++) {
        const char *const flags[] = {"--kernels", all[v]->name, NULL};
        test_server server;
        server_start(&server, flags);
        reply version = get(&server, "/version");
        char named[64];
        snprintf(named, sizeof named, "\"kernels\":\"%s\"", all[v]->name);
        assert_non_null(strstr(version.body, named));
        reply_free(&version);
        for (size_t i = 0; i < PORTABLE; i++) {
            reply answer = get(&server, portable[i]);
            char etag[64], first[64];
            assert_status(portable[i], &answer, 200);
            if (v == 0) {
                wanted[i] = answer;
                continue;
            }
            reply_header(&wanted[i], "ETag", first, sizeof first);
            assert_non_null(reply_header(&answer, "ETag", etag, sizeof etag));
            assert_string_equal(etag, first);
            if (answer.bytes != wanted[i].bytes ||
                memcmp(answer.body, wanted[i].body, answer.bytes) != 0)
                fail_msg("%s: %s and %s give other bytes", portable[i], all[v]->name, all[0]->name);
            reply_free(&answer);
        }
        server_end(&server);
    }
    for (size_t i = 0; i < PORTABLE; i++)
        reply_free(&wanted[i]);
}

/* ---- what anyone can check by hand ---- */

/* The element at the indices, which end with -1, below `data`. */
static double at(json_t *data, const int *index)
{
    for (; *index >= 0; index++)
        data = json_array_get(data, (size_t)*index);
    if (!json_is_number(data))
        fail_msg("no number where one is wanted");
    return json_number_value(data);
}

static json_t *tensor(json_t *answer, const char *name)
{
    json_t *holder = name != NULL ? json_object_get(answer, name) : answer;
    json_t *data = json_object_get(holder, "data");
    if (data == NULL)
        fail_msg("no tensor %s", name != NULL ? name : "data");
    return data;
}

static const struct {
    const char *target, *tensor;
    int index[4];
    double value, tolerance; /* the tolerance is that of the printed figure */
} by_hand[] = {
    {"/v1/sinusoidal?d_model=64&positions=5", NULL, {0, 10, -1}, 0.9268, 5e-5},
    {"/v1/sinusoidal?d_model=4&positions=0:3", NULL, {1, 0, -1}, 0.84147096, 0},
    {"/v1/sinusoidal?d_model=4&positions=0:3", NULL, {2, 1, -1}, -0.41614684, 0},
    {"/v1/rope/frequencies?head_dim=128", "wavelength", {63, -1}, 54410, 1},
    {"/v1/rope/scaled-base?rope_theta=10000&head_dim=128&factor=8&method=ntk",
     "stretch",
     {0, -1},
     1,
     0},
    {"/v1/rope/scaled-base?rope_theta=10000&head_dim=128&factor=8&method=ntk",
     "stretch",
     {63, -1},
     8,
     1e-6},
    {"/v1/alibi/slopes?num_heads=8", NULL, {0, -1}, 0.5, 0},
    {"/v1/alibi/slopes?num_heads=8", NULL, {7, -1}, 0.00390625, 0},
    {"/v1/alibi/slopes?num_heads=16", NULL, {0, -1}, 0.70710677, 0},
};

static void figures_that_anyone_can_check(void **state)
{
    test_server server;
    server_start(&server, NULL);
    for (size_t i = 0; i < sizeof by_hand / sizeof by_hand[0]; i++) {
        reply answer = get(&server, by_hand[i].target);
        assert_status(by_hand[i].target, &answer, 200);
        json_t *json = reply_json(&answer);
        double got = at(tensor(json, by_hand[i].tensor), by_hand[i].index);
        if (!(fabs(got - by_hand[i].value) <= by_hand[i].tolerance))
            fail_msg("%s: wanted %.17g, got %.17g", by_hand[i].target, by_hand[i].value, got);
        json_decref(json);
        reply_free(&answer);
    }
    reply scaled =
        get(&server, "/v1/rope/scaled-base?rope_theta=10000&head_dim=128&factor=8&method=ntk");
    json_t *json = reply_json(&scaled);
    assert_true(fabs(json_real_value(json_object_get(json, "scaled_base")) - 82684.62264056221) <
                1e-10);
    json_decref(json);
    reply_free(&scaled);
    server_end(&server);
}

static void the_offset_rotations_take_a_row_to_a_later_one(void **state)
{
    test_server server;
    server_start(&server, NULL);
    reply table = get(&server, "/v1/sinusoidal?d_model=4&positions=0:3&dtype=float64");
    reply offset = get(&server, "/v1/sinusoidal/offset?d_model=4&offset=2&dtype=float64");
    assert_status("offset", &offset, 200);
    json_t *rows = reply_json(&table), *rotations = reply_json(&offset);
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 2; k++) {
            double sum = 0;
            for (int j = 0; j < 2; j++)
                sum += at(tensor(rotations, NULL), (const int[]){i, k, j, -1}) *
                       at(tensor(rows, NULL), (const int[]){0, 2 * i + j, -1});
            double wanted = at(tensor(rows, NULL), (const int[]){2, 2 * i + k, -1});
            if (fabs(sum - wanted) > 1e-15)
                fail_msg("pair %d, element %d: wanted %.17g, got %.17g", i, k, wanted, sum);
        }
    }
    json_decref(rows);
    json_decref(rotations);
    reply_free(&table);
    reply_free(&offset);
    server_end(&server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sixty_four_threads_get_the_same_bytes_and_tag),
        cmocka_unit_test(every_variant_gives_the_same_bytes_and_tag),
        cmocka_unit_test(figures_that_anyone_can_check),
        cmocka_unit_test(the_offset_rotations_take_a_row_to_a_later_one),
    };
    return cmocka_run_group_tests_name("http same bytes", tests, NULL, NULL);
}
