/* SPDX-License-Identifier: MIT */
/*
 * test_query_memory.c - every allocation of reading a request and writing an answer may fail; and
 * what reading a large body takes.
 */
#include "support/check.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/documents.h"
#include "encodings/registry.h"
#include "exact/reserve.h"
#include "support/fake.h"
#include "support/render.h"

/* The listing shows these instead of the program's resources. */
const pe_resource *const pe_registry[] = {&fake_table, &fake_transform, NULL};

/* Allocation that fails; the sanitizers and other C libraries have allocators of their own. */
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CAN_FAIL 1
#else
#define CAN_FAIL 0
#endif
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#undef CAN_FAIL
#define CAN_FAIL 0
#endif
#endif

/* Allocations until one fails; negative: none does. */
static long countdown = -1;

/* Bytes allocated now, and the most that there were. */
static long held, most_held;

#if CAN_FAIL
/* NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): glibc's own names */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *at, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void *at);
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */

static bool fails_now(void)
{
    if (countdown < 0 || countdown-- > 0)
        return false;
    errno = ENOMEM;
    return true;
}

/* Enter a block that took the place of `before` bytes. */
static void *counted(void *at, size_t before)
{
    if (at != NULL)
        held += (long)malloc_usable_size(at) - (long)before;
    most_held = held > most_held ? held : most_held;
    return at;
}

void *malloc(size_t bytes)
{
    return fails_now() ? NULL : counted(__libc_malloc(bytes), 0);
}

void *calloc(size_t n, size_t bytes)
{
    return fails_now() ? NULL : counted(__libc_calloc(n, bytes), 0);
}

void *realloc(void *at, size_t bytes)
{
    const size_t before = at != NULL ? malloc_usable_size(at) : 0;
    return fails_now() ? NULL : counted(__libc_realloc(at, bytes), before);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    return fails_now() ? NULL : counted(__libc_memalign(alignment, bytes), 0);
}

void free(void *at)
{
    held -= at != NULL ? (long)malloc_usable_size(at) : 0;
    __libc_free(at);
}
#endif

typedef pe_status (*action)(pe_problem *why);

/* Fail the first allocation, then the second, ... until the action gets by without. Each time it
 * must say so, or do without; leaks are for the sanitizers of whole runs to find. */
static void survive(const char *name, action act)
{
    long failures = 0;
    if (!CAN_FAIL)
        skip();
    for (long n = 0;; n++) {
        pe_problem why = {0};
        countdown = n;
        pe_status status = act(&why);
        const bool spent = countdown < 0;
        countdown = -1;
        if (!spent) {
            assert_int_equal(status, PE_OK);
            break;
        }
        failures += status != PE_OK;
        /* jansson 2.14 takes an allocation that fails inside a string for a syntax error. */
        if (status == PE_MALFORMED_REQUEST && strstr(why.detail, "not valid JSON") != NULL)
            continue;
        if (status != PE_OK && (status != PE_OVERLOADED || why.status != PE_OVERLOADED))
            fail_msg("%s, allocation %ld: got %s: %s", name, n, pe_status_code_text(status),
                     why.detail);
    }
    assert_true(failures > 0);
}

static pe_status act_query(pe_problem *why)
{
    static const char query[] =
        "d_model=4&positions=1,5,7&short_factor=1,2&layout=sin_cos&tensor=a";
    pe_query ask = {0};
    pe_status status = pe_query_parse(&fake_table, (pe_slice){query, sizeof query - 1}, false,
                                      &fake_limits, &ask, why);
    pe_query_free(&ask);
    return status;
}

static pe_status act_json(pe_problem *why)
{
    static const char body[] =
        "{\"vectors\":[[1,2],[3,4]],\"delta\":5,\"positions\":[[1],[2]],\"weights\":[1],"
        "\"dtype\":\"float16\",\"format\":\"npy\",\"rope_parameters\":{\"factor\":2}}";
    pe_query ask = {0};
    pe_status status = pe_query_parse(&fake_transform, (pe_slice){body, sizeof body - 1}, true,
                                      &fake_limits, &ask, why);
    pe_query_free(&ask);
    return status;
}

static pe_status act_safetensors(pe_problem *why)
{
    static char body[] = "\x3e\0\0\0\0\0\0\0"
                         "{\"data\":{\"dtype\":\"F32\",\"shape\":[1,1],"
                         "\"data_offsets\":[0,4]}}     \0\0\0\0";
    const pe_binary_body binary = {.string = pe_slice_of("dtype=float64"),
                                   .media_type = "application/vnd.safetensors",
                                   .data = body,
                                   .bytes = 8 + 62 + 4};
    pe_query ask = {0};
    pe_status status = pe_query_binary_parse(&fake_transform, &binary, &fake_limits, &ask, why);
    pe_query_free(&ask);
    return status;
}

static pe_status stream_all(const char *format, pe_problem *why)
{
    static const pe_limits limits = {.max_elements = 1000};
    const pe_rendering rendering = render_as(format, false, "cos");
    pe_stream *stream = NULL;
    pe_plan plan = {0};
    pe_status status = PE_OK;
    fake_plan(&plan, 0, PE_FLOAT32, &(pe_shape){1, {4}}, 1);
    plan.limits = &limits;
    status = pe_plan_add_tensor(&plan, "cos", PE_FLOAT32, &(pe_shape){2, {4, 4}}, 4, why);
    if (status == PE_OK)
        status = pe_stream_make(&plan, &rendering, &stream, why);
    if (status == PE_OK) {
        char out[4096];
        size_t got = 0;
        status = pe_stream_read(stream, out, sizeof out, &got, why);
    }
    pe_stream_free(stream);
    pe_plan_free(&plan);
    return status;
}

static pe_status act_stream_json(pe_problem *why)
{
    return stream_all("json", why);
}

static pe_status act_stream_npy(pe_problem *why)
{
    return stream_all("npy", why);
}

static pe_status act_stream_csv(pe_problem *why)
{
    return stream_all("csv", why);
}

static pe_status act_stream_safetensors(pe_problem *why)
{
    return stream_all("safetensors", why);
}

/* Documents report through their buffer. */
static pe_status act_documents(pe_problem *why)
{
    pe_problem problem;
    pe_buffer out = {0};
    (void)pe_fail(&problem, PE_INVALID_PARAMETER, "a/b", "a/b is wrong");
    pe_listing_json(NULL, 0, &out);
    pe_problem_json(&problem, "/x", "r", true, &out);
    pe_status status = out.failed ? pe_fail_memory(why) : PE_OK;
    pe_buffer_free(&out);
    return status;
}

/* No type that needs MPFR to be checked: it ends the program where there is no memory. */
static pe_status act_configuration(pe_problem *why)
{
    static const char body[] =
        "{\"model_type\":\"gemma3\",\"text_config\":{\"model_type\":\"gemma3_text\",\"head_dim\":8,"
        "\"num_hidden_layers\":7,\"rope_tetha\":1,\"rope_scaling\":{\"rope_type\":\"linear\","
        "\"factor\":8,\"facter\":[1,2],\"mrope_section\":[1,2,2],\"beta_fast\":2,"
        "\"llama_4_scaling_beta\":1,\"original_max_position_embeddings\":8}},"
        "\"vision_config\":{\"spatial_merge_size\":2}}";
    pe_model *model = NULL;
    pe_buffer out = {0};
    pe_status status = pe_model_json_resolve((pe_slice){body, sizeof body - 1},
                                             fake_limits.max_depth, &model, why);
    if (status == PE_OK) {
        pe_model_json(model, &out);
        status = out.failed ? pe_fail_memory(why) : PE_OK;
    }
    pe_buffer_free(&out);
    pe_model_free(model);
    return status;
}

static void resolving_a_configuration_survives(void **state)
{
    survive("configuration", act_configuration);
}

static void reading_a_query_survives(void **state)
{
    survive("query", act_query);
}

static void reading_a_body_survives(void **state)
{
    survive("json", act_json);
}

static void reading_safetensors_survives(void **state)
{
    survive("safetensors", act_safetensors);
}

static void streaming_survives(void **state)
{
    survive("json", act_stream_json);
    survive("npy", act_stream_npy);
    survive("csv", act_stream_csv);
    survive("safetensors", act_stream_safetensors);
}

static void writing_documents_survives(void **state)
{
    survive("documents", act_documents);
}

/* ---- large bodies ---- */

/* {"vectors":[[...],...]}: rows of 64 numbers with so many digits after the point; after the first
 * tenth with `later` ones. *numbers: how many there are. */
static char *large_body(int digits, int later, size_t bytes, size_t *used, size_t *numbers)
{
    static const char head[] = "{\"dtype\":\"float32\",\"vectors\":";
    char *out = malloc(bytes + 4096);
    assert_non_null(out);
    memcpy(out, head, sizeof head - 1);
    *used = sizeof head - 1;
    *numbers = 0;
    for (char open = '['; *used < bytes; open = ',') {
        out[(*used)++] = open;
        out[(*used)++] = '[';
        for (int i = 0; i < 64; i++, ++*numbers) {
            const double number = (double)(*numbers * 7919 % 9973) / 997;
            *used += (size_t)snprintf(out + *used, 32, "%.*f", *used < bytes / 10 ? digits : later,
                                      number);
            out[(*used)++] = i < 63 ? ',' : ']';
        }
    }
    memcpy(out + *used, "]}", 2);
    *used += 2;
    return out;
}

static void reading_a_large_body_takes_little_beside_the_result(void **state)
{
    static const struct {
        int digits, later;
    } cases[] = {{8, 8}, {1, 1}, {0, 0}, {0, 9}, {9, 0}};
    const pe_read_limits limits = {
        .max_elements = (size_t)1 << 28, .max_positions = 1000, .max_depth = 16};
    if (!CAN_FAIL)
        skip();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t bytes, numbers;
        char *body = large_body(cases[i].digits, cases[i].later, 12500000, &bytes, &numbers);
        pe_query ask = {0};
        pe_problem why;
        const long before = most_held = held;
        assert_int_equal(
            pe_query_parse(&fake_transform, (pe_slice){body, bytes}, true, &limits, &ask, &why),
            PE_OK);
        const long beside = most_held - before - (long)(numbers * sizeof(float));
        print_message("%zu bytes, %zu numbers: %ld beside the result\n", bytes, numbers, beside);
        assert_in_range(beside, 0, bytes / 2);
        pe_query_free(&ask);
        free(body);
    }
}

/* MPFR computes on when memory fails, as in the server. */
static int start(void **state)
{
    pe_problem why;
    return pe_reserve_make(1, &why) == PE_OK ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resolving_a_configuration_survives),
        cmocka_unit_test(reading_a_query_survives),
        cmocka_unit_test(reading_a_body_survives),
        cmocka_unit_test(reading_safetensors_survives),
        cmocka_unit_test(streaming_survives),
        cmocka_unit_test(writing_documents_survives),
        cmocka_unit_test(reading_a_large_body_takes_little_beside_the_result),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
