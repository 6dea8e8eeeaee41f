/* SPDX-License-Identifier: MIT */
/* test_price.c - few bytes that ask for much work: refused by their price, or made cheap. What is
 * counted is work, never time, but where the stop itself is asked for. */
#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buffer.h"
#include "support/problem.h"
#include "support/random.h"
#include "support/wire.h"

#define WORK     "posenc_work_units_total"
#define MAX_WORK 536870912 /* the default */

#define ATTACK                                                                                     \
    "/v1/rope/decay?head_dim=65536&offsets=0:9007199254740000:33554432&rope_theta=3001&"           \
    "format=raw&dtype=float16"
#define DECAYS "/v1/rope/decay?head_dim=65536&offsets=0:33554432000:33554432&format=raw"
/* For each of head_dim. */
#define PLANNING (65536L * 16)

static test_server server;

static long work_of(const test_server *of)
{
    reply metrics = get(of, "/metrics");
    return (long)reply_metric(&metrics, WORK);
}

static reply ask(const test_server *of, const char *method, const char *target, const char *codings)
{
    const char *const headers[] = {codings, NULL};
    return fetch(of, method, target, headers, NULL, 0);
}

static void what_is_too_dear_is_refused_before_any_work(void **state)
{
    static const struct {
        const char *method, *target, *codings;
    } asked[] = {
        {"HEAD", ATTACK, "Accept-Encoding: zstd, gzip"},
        {"GET", ATTACK, "Accept-Encoding: zstd, gzip"},
        {"GET", "/v1/rope/decay?head_dim=128&offsets=0:134217728&format=raw",
         "Accept-Encoding: gzip"},
        {"GET", "/v1/rope/xpos/table?head_dim=65536&positions=0:2730", NULL},
    };
    for (size_t i = 0; i < PE_LEN(asked); i++) {
        const long before = work_of(&server);
        reply answer = ask(&server, asked[i].method, asked[i].target, asked[i].codings);
        assert_status(asked[i].target, &answer, 422);
        assert_int_equal(work_of(&server), before);
        if (strcmp(asked[i].method, "GET") == 0) {
            json_t *problem = reply_json(&answer);
            assert_string_equal(json_string_value(json_object_get(problem, "code")),
                                "too-much-work");
            assert_int_equal(json_integer_value(json_object_get(problem, "max_work")), MAX_WORK);
            assert_true(json_integer_value(json_object_get(problem, "requested_work")) > MAX_WORK);
            json_decref(problem);
        }
        reply_free(&answer);
    }
}

/* Elements are cheap, and coding half a gibibyte is not: the bytes go out as they are. */
static void a_coding_that_is_too_dear_is_left_out(void **state)
{
    static const char target[] = "/v1/rope/decay?head_dim=2&offsets=0:134217728&format=raw";
    reply head = ask(&server, "HEAD", target, "Accept-Encoding: gzip");
    assert_status(target, &head, 200);
    assert_header(target, &head, "Content-Encoding", NULL);
    assert_header(target, &head, "Content-Length", "536870912");
    reply_free(&head);
    reply only = ask(&server, "HEAD", target, "Accept-Encoding: gzip, identity;q=0");
    assert_status("nothing but gzip", &only, 422);
    reply_free(&only);
}

/* The price of a coding is reckoned before any text is made. It is that of the bytes which the
 * coder then takes, within a half: eighths of a unit for a byte, as they were measured. */
static void a_coding_costs_what_its_bytes_do(void **state)
{
    static const struct {
        const char *target;
        long eighths[2]; /* of gzip, zstd */
    } asked[] = {
        {"/v1/sinusoidal?d_model=512&positions=0:4096&format=json", {9, 7}},
        {"/v1/sinusoidal?d_model=512&positions=0:4096&format=csv", {9, 7}},
        {"/v1/sinusoidal?d_model=512&positions=0:2048&dtype=float64&format=json", {9, 7}},
        {"/v1/sinusoidal?d_model=512&positions=0:4096&dtype=float16&format=csv", {9, 7}},
        {"/v1/sinusoidal?d_model=512&positions=0:4096&dtype=bfloat16&format=json", {9, 7}},
        {"/v1/rope/table?head_dim=128&positions=0:16384&format=json", {9, 7}},
        {"/v1/sinusoidal?d_model=512&positions=0:4096&encoding_format=base64", {20, 4}},
        {"/v1/sinusoidal?d_model=64&positions=0:512&format=json", {18, 8}},
    };
    static const char *const codings[] = {"Accept-Encoding: gzip", "Accept-Encoding: zstd"};
    test_server none;
    server_start(&none, (const char *const[]){"--response-cache-entry-bytes", "0", NULL});
    for (size_t i = 0; i < PE_LEN(asked); i++) {
        long before = work_of(&none);
        reply plain = get(&none, asked[i].target);
        const long computing = work_of(&none) - before;
        for (size_t c = 0; c < PE_LEN(codings); c++) {
            before = work_of(&none);
            reply coded = ask(&none, "GET", asked[i].target, codings[c]);
            const long price = work_of(&none) - before - computing;
            const long spent = (long)plain.bytes * asked[i].eighths[c] / 8;
            print_message("%ld of %ld units: %s, %s\n", price, spent, asked[i].target, codings[c]);
            assert_in_range(price, spent * 2 / 3, spent * 3 / 2);
            reply_free(&coded);
        }
        reply_free(&plain);
    }
    server_end(&none);
}

/* Not even samples: whether a coding is worth it stays open, and with it the tag. */
static void a_head_makes_nothing(void **state)
{
    const long before = work_of(&server);
    reply head = ask(&server, "HEAD", DECAYS, "Accept-Encoding: zstd, gzip");
    assert_status(DECAYS, &head, 200);
    assert_header(DECAYS, &head, "X-Tensor-Shape", "1000");
    assert_header(DECAYS, &head, "Content-Encoding", NULL);
    assert_header(DECAYS, &head, "Content-Length", NULL);
    assert_header(DECAYS, &head, "ETag", NULL);
    assert_int_equal(work_of(&server) - before, PLANNING);
    reply_free(&head);
    head = ask(&server, "HEAD", DECAYS, NULL);
    reply answer = get(&server, DECAYS);
    char tag[64];
    assert_header(DECAYS, &head, "Content-Length", "4000");
    assert_header(DECAYS, &head, "ETag", reply_header(&answer, "ETag", tag, sizeof tag));
    assert_int_equal(work_of(&server) - before, 3 * PLANNING + 1000 * (32768 / 4 + 2));
    reply_free(&head);
    reply_free(&answer);
}

/* Frequencies are products, and values products of these: a fifth of the limit for all channels. */
static void a_wide_scaled_base_is_cheap(void **state)
{
    static const char target[] =
        "/v1/rope/scaled-base?head_dim=65536&dtype=float64&factor=4&format=safetensors";
    const long before = work_of(&server);
    reply answer = get(&server, target);
    assert_status(target, &answer, 200);
    assert_int_equal(work_of(&server) - before, PLANNING + 5 * 32768L * 16);
    reply_free(&answer);
}

/* Planning alone is more than this server allows. */
static void planning_has_a_price(void **state)
{
    static const char *const flags[] = {"--max-work", "1000000", NULL};
    test_server small;
    server_start(&small, flags);
    reply answer = get(&small, "/v1/rope/table?head_dim=65536&positions=0");
    assert_status("wide", &answer, 422);
    assert_non_null(strstr(answer.body, "\"max_work\":1000000,\"requested_work\":1048576"));
    reply_free(&answer);
    answer = get(&small, "/v1/rope/table?head_dim=128&positions=0:1000");
    assert_status("narrow", &answer, 200);
    reply_free(&answer);
    server_end(&small);
}

/* Rows of work, as they were measured: figures by their pixels, frequencies by their type, listed
 * positions, what is planned and then refused. */
static void prices_follow_what_is_done(void **state)
{
    static const struct {
        const char *target;
        long status, work;
    } rows[] = {
        {"/v1/sinusoidal?d_model=8&positions=0:8&format=csv", 200, 8 * 16 + 9 * 64},
        {"/v1/sinusoidal?d_model=8&positions=0:8&format=svg", 200, 8 * 16 + 64 + 32768 + 6 * 64},
        {"/v1/sinusoidal?d_model=8&positions=0:8&format=png", 200, 8 * 16 + 64 + 6 * 800 * 500},
        {"/v1/sinusoidal?d_model=2&positions=5,700,80000", 200, 2 * 16 + 3 * 16 + 9 * 6},
        {"/v1/rope/frequencies?head_dim=128&format=csv&tensor=inv_freq", 200,
         128 * 16 + 64 * (16 + 1)},
        {"/v1/rope/"
         "frequencies?head_dim=128&format=csv&tensor=inv_freq&rope_type=llama3&factor=8&low_freq_"
         "factor=1&"
         "high_freq_factor=4&original_max_position_embeddings=8192",
         200, 128 * (16 + 512) + 64 * (16 + 1)},
        {"/v1/rope/xpos/table?head_dim=128&positions=0:1&format=raw", 406, 128 * (16 + 64)},
        {"/v1/models/llama-3.1-8b", 200, 20480},
        {"/v1/models", 200, 0},
    };
    for (size_t i = 0; i < PE_LEN(rows); i++) {
        const long before = work_of(&server);
        reply answer = get(&server, rows[i].target);
        assert_status(rows[i].target, &answer, rows[i].status);
        reply_free(&answer);
        const long work = work_of(&server) - before;
        if (work != rows[i].work)
            fail_msg("%s: work %ld, wanted %ld", rows[i].target, work, rows[i].work);
    }
}

static void configurations_and_searches_have_a_price(void **state)
{
    static const char config[] =
        "{\"model_type\":\"llama\",\"hidden_size\":64,\"num_attention_heads\":2,"
        "\"num_hidden_layers\":1}";
    static const char *const flags[] = {"--address-work-rate", "1000", NULL};
    test_server few;
    server_start(&few, flags);
    long before = work_of(&few);
    reply answer = post_json(&few, "/v1/models/resolve", config);
    assert_status("resolve", &answer, 200);
    reply_free(&answer);
    assert_int_equal(work_of(&few) - before, 12288 + (long)strlen(config) * 4);
    before = work_of(&few);
    answer = get(&few, "/v1/models?q=llama");
    assert_problem("a search", &answer, 429, "rate-limited");
    reply_free(&answer);
    assert_int_equal(work_of(&few), before);
    server_end(&few);
}

/* A search for faults is settled by what it took. */
static void a_search_for_faults_is_settled(void **state)
{
    static const char right[] =
        "{\"encoding\":\"sinusoidal\",\"parameters\":{\"d_model\":4,\"positions\":\"0:1\"},"
        "\"table\":[[0,1,0,1]]}";
    static const char wrong[] =
        "{\"encoding\":\"sinusoidal\",\"parameters\":{\"d_model\":4,\"positions\":\"0:1\"},"
        "\"table\":[[0,1,0.5,7]]}";
    long before = work_of(&server);
    reply answer = post_json(&server, "/v1/verify", right);
    assert_status("right", &answer, 200);
    reply_free(&answer);
    assert_int_equal(work_of(&server) - before, 4 * 16 + 4 + 4 * 4 + 8192);
    before = work_of(&server);
    answer = post_json(&server, "/v1/verify", wrong);
    assert_status("wrong", &answer, 200);
    reply_free(&answer);
    assert_true(work_of(&server) - before > 4 * 16 + 4 + 4 * 4 + 8192);
}

/* What is verified is priced like what is asked for. */
static void a_claim_has_a_price(void **state)
{
    static const char *const flags[] = {"--max-work", "1000000", NULL};
    static const char costly[] = "{\"encoding\":\"rope\",\"parameters\":{\"head_dim\":65536,"
                                 "\"positions\":\"0:1\"},\"table\":{\"cos\":[[1]],\"sin\":[[0]]}}";
    static const char cheap[] = "{\"encoding\":\"rope\",\"parameters\":{\"head_dim\":2,"
                                "\"positions\":\"0:1\"},\"table\":{\"cos\":[[1]],\"sin\":[[0]]}}";
    test_server few;
    server_start(&few, flags);
    const long before = work_of(&few);
    reply answer = post_json(&few, "/v1/verify", costly);
    assert_problem("a wide claim", &answer, 422, "too-much-work");
    reply_free(&answer);
    assert_int_equal(work_of(&few), before);
    answer = post_json(&few, "/v1/verify", cheap);
    assert_status("a small claim", &answer, 200);
    reply_free(&answer);
    assert_true(work_of(&few) > before);
    server_end(&few);
}

/* A unit may take a nanosecond here, and takes more on any machine. What has sent nothing is refused,
 * and a stream is cut. Each is counted, and the log tells of the cut. */
static void what_takes_more_than_its_price_is_ended(void **state)
{
    static const char *const flags[] = {"--unit-ns-max", "1", "--response-cache-entry-bytes", "0",
                                        NULL};
    static const char *const refused[] = {
        "/v1/swin/index?window_height=198&window_width=40&format=png",
        "/v1/rope/attention-scale?positions=0:300000&variant=inkling&format=svg",
    };
    static const char stream[] = "GET /v1/sinusoidal?d_model=512&positions=0:40000&format=json "
                                 "HTTP/1.1\r\nHost: a\r\n\r\n";
    static const char violations[] = "posenc_invariant_violations_total{rule=\"work\"}";
    test_server own;
    server_start(&own, flags);
    for (size_t i = 0; i < PE_LEN(refused); i++) {
        reply answer = ask(&own, "GET", refused[i], "Accept: application/problem+json");
        assert_problem(refused[i], &answer, 422, "too-much-work");
        assert_non_null(strstr(answer.body, "this was ended after "));
        reply_free(&answer);
    }
    test_wire wire = wire_open(&own);
    assert_true(wire_send_text(&wire, stream));
    assert_true(wire_drain(&wire) > 0); /* and no more comes */
    wire_close(&wire);
    reply metrics = get(&own, "/metrics");
    assert_int_equal(reply_metric(&metrics, violations), 3);
    server_stop(&own);
    assert_non_null(strstr(own.log, "\"event\":\"stream\",\"detail\":\"this was ended after "));
    server_free(&own);
}

#define VECTORS 16384 /* elements */

static reply post_floats(const test_server *to, const char *target, const char *shape,
                         const float *data)
{
    const char *const headers[] = {"Content-Type: application/octet-stream",
                                   "X-Tensor-Dtype: float32", shape, NULL};
    return fetch(to, "POST", target, headers, data, VECTORS * sizeof *data);
}

/* What was read is paid, and what was looked at: a unit for four bytes, and one for an element. */
static void a_refused_body_has_a_price(void **state)
{
    const struct {
        float number;
        long price;
    } rows[] = {{NAN, VECTORS}, {3e38f, 2L * VECTORS}};
    float *data = calloc(VECTORS, sizeof *data);
    assert_non_null(data);
    for (size_t i = 0; i < PE_LEN(rows); i++) {
        const long before = work_of(&server);
        data[0] = data[1] = rows[i].number;
        reply answer = post_floats(&server, "/v1/rope/rotate?positions=1:8193",
                                   "X-Tensor-Shape: 8192,2", data);
        assert_problem("it overflows", &answer, 422, "invalid-parameter");
        reply_free(&answer);
        assert_int_equal(work_of(&server) - before, rows[i].price);
    }
    free(data);
}

/* Hundreds of thousands of members would each be looked up. */
static void a_body_of_mistakes_is_read_no_further(void **state)
{
    pe_buffer body = {0};
    for (size_t i = 0; i < 40000; i++)
        pe_buffer_format(&body, "%c\"a%zu\":1", i == 0 ? '{' : ',', i);
    pe_buffer_str(&body, " and no JSON");
    reply answer = post_json(&server, "/v1/sinusoidal", pe_buffer_text(&body));
    assert_problem("members", &answer, 400, "unknown-parameter");
    assert_non_null(
        strstr(answer.body, "; errors holds 8 mistakes, and there are at least 93 more"));
    reply_free(&answer);
    pe_buffer_free(&body);
}

/* Seventeen tables are compared, and of five faults are looked for: within one bound. */
static void an_upload_that_nobody_claims_has_one_bound(void **state)
{
    static const char *const flags[] = {"--verify-max-work", "1000", NULL};
    random_source random = random_make("unclaimed");
    test_server few;
    float *data = calloc(VECTORS, sizeof *data);
    assert_non_null(data);
    for (size_t i = 0; i < VECTORS; i++)
        data[i] = (float)random_real(&random, 0, 1);
    server_start(&few, flags);
    const long before = work_of(&few), bound = 17 * 4L * VECTORS + 5 * 1000L;
    reply answer = post_floats(&few, "/v1/verify", "X-Tensor-Shape: 4,64,64", data);
    assert_status("random numbers", &answer, 200);
    assert_non_null(strstr(answer.body, "the search was cut short"));
    assert_in_range(work_of(&few) - before, 4L * VECTORS, 2 * bound);
    reply_free(&answer);
    server_end(&few);
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_too_dear_is_refused_before_any_work),
        cmocka_unit_test(a_coding_that_is_too_dear_is_left_out),
        cmocka_unit_test(a_coding_costs_what_its_bytes_do),
        cmocka_unit_test(a_head_makes_nothing),
        cmocka_unit_test(a_wide_scaled_base_is_cheap),
        cmocka_unit_test(planning_has_a_price),
        cmocka_unit_test(prices_follow_what_is_done),
        cmocka_unit_test(configurations_and_searches_have_a_price),
        cmocka_unit_test(a_search_for_faults_is_settled),
        cmocka_unit_test(a_claim_has_a_price),
        cmocka_unit_test(a_refused_body_has_a_price),
        cmocka_unit_test(a_body_of_mistakes_is_read_no_further),
        cmocka_unit_test(an_upload_that_nobody_claims_has_one_bound),
        cmocka_unit_test(what_takes_more_than_its_price_is_ended),
    };
    return server_run_tests(tests, PE_LEN(tests), &server,
                            (const char *const[]){"--code-binary", NULL});
}
