/* SPDX-License-Identifier: MIT */
/* test_verify_refusals.c - what is wrong with a claim that POST /v1/verify is given. */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "support/tensors_file.h"
#include "support/problem.h"

static test_server server;

/* ---- binary bodies --------------------------------------------------------------------------- */

#define SAFETENSORS "application/vnd.safetensors"

static const float good_cos[] = {1, 1, 0.5403023F, 0.99995F},
                   good_sin[] = {0, 0, 0.84147096F, 0.009999833F},
                   bad_cos[] = {1, 1, NAN, 0.99995F}, far_cos[] = {1, 1, INFINITY, 0.99995F};

#define F32(label, numbers)                                                                        \
    {                                                                                              \
        (label), "F32", "[2,2]", (numbers), sizeof(numbers)                                        \
    }

static void what_is_not_finite_is_a_finding(void **state)
{
    const part nan_parts[] = {F32("cos", bad_cos), F32("sin", good_sin)};
    const part inf_parts[] = {F32("cos", far_cos), F32("sin", good_sin)};
    (void)state;
    for (size_t c = 0; c < 2; c++) {
        pe_buffer body = {0};
        parts_safetensors(c == 0 ? nan_parts : inf_parts, 2, &body);
        reply answer =
            parts_verify(&server, "encoding=rope&head_dim=4&positions=0:2", SAFETENSORS, &body);
        assert_status("not finite", &answer, 200);
        assert_non_null(strstr(answer.body, "\"matches\":false"));
        assert_non_null(strstr(answer.body, "\"faults\":[\"not_finite\"]"));
        assert_non_null(strstr(answer.body, "\"not_finite\":1"));
        reply_free(&answer);
        pe_buffer_free(&body);
    }
}

static void broken_binary_bodies_are_refused(void **state)
{
    static const int64_t whole[200000]; /* more than a test's server may keep */
    const part both[] = {{"k", "I64", "[50000,4]", whole, sizeof whole},
                         {"q", "I64", "[50000,4]", whole, sizeof whole}};
    const part turned[] = {{"k_embed", "I64", "[50000,4]", whole, sizeof whole},
                           {"q_embed", "I64", "[50000,4]", whole, sizeof whole}};
    const part two[] = {F32("cos", good_cos), F32("sin", good_sin)};
    const part lone[] = {F32("cos", good_cos)};
    const part wide[] = {{"cos", "F32", "[1,4]", good_cos, sizeof good_cos}, F32("sin", good_sin)};
    static const char query[] = "encoding=rope&head_dim=4&positions=0:2";
    const struct {
        const char *name;
        const part *parts;
        size_t n, cut; /* bytes less */
        const char *query;
        long status;
        const char *code;
    } cases[] = {
        {"another shape", wide, 2, 0, query, 422, "invalid-parameter"},
        {"truncated", lone, 1, 3, query, 400, "malformed-request"},
        {"cut in its header", lone, 1, 60, query, 400, "malformed-request"},
        {"no encoding", wide, 2, 0, "head_dim=4", 400, "missing-parameter"},
        {"unknown parameter", lone, 1, 0, "encoding=rope&head_dmi=4", 400, "unknown-parameter"},
        {"encoding twice", lone, 1, 0, "encoding=rope&encoding=rope", 400, "malformed-request"},
        {"the token axis of a table", two, 2, 0,
         "encoding=rope&head_dim=4&positions=0:2&seq_axis=0", 422, "invalid-parameter"},
        {"a report as csv", two, 2, 0, "encoding=rope&head_dim=4&positions=0:2&format=csv", 422,
         "invalid-parameter"},
        {"one tensor of a report", two, 2, 0, "encoding=rope&head_dim=4&positions=0:2&tensor=cos",
         422, "invalid-parameter"},
        {"a number of 70 digits", two, 2, 0,
         "encoding=rope&head_dim=4&positions=0:2&tolerance="
         "1000000000000000000000000000000000000000000000000000000000000000000000",
         400, "malformed-request"},
        {"half of the vectors", (const part[]){F32("inputs", good_cos)}, 1, 0, query, 400,
         "missing-parameter"},
        {"indices with fractions", (const part[]){F32("buckets", good_sin)}, 1, 0,
         "encoding=t5/buckets&query_length=2&dtype=int32", 422, "invalid-parameter"},
        {"two tensors that are inputs", both, 2, 0, "encoding=rope/grid&head_dim=4", 422,
         "invalid-parameter"},
        {"two tensors that are rotated", turned, 2, 0, "encoding=rope/grid&head_dim=4", 422,
         "invalid-parameter"},
    };
    (void)state;
    for (size_t c = 0; c < PE_LEN(cases); c++) {
        pe_buffer body = {0};
        parts_safetensors(cases[c].parts, cases[c].n, &body);
        body.bytes -= cases[c].cut;
        reply answer = parts_verify(&server, cases[c].query, SAFETENSORS, &body);
        assert_problem(cases[c].name, &answer, cases[c].status, cases[c].code);
        reply_free(&answer);
        pe_buffer_free(&body);
    }
    pe_buffer lie = {0};
    pe_buffer_str(&lie, "\xff\xff\xff\xff\xff\xff\xff\x7f{}");
    reply answer = parts_verify(&server, query, SAFETENSORS, &lie);
    assert_problem("a header of exabytes", &answer, 400, "malformed-request");
    reply_free(&answer);
    pe_buffer_free(&lie);
}

/* ---- bad JSON -------------------------------------------------------------------------------- */

#define TABLE                                                                                      \
    "\"table\":{\"cos\":[[1,1],[0.5403023,0.99995]],\"sin\":[[0,0],[0.84147096,0.009999833]]}"
#define OK4     "\"parameters\":{\"head_dim\":4,\"positions\":\"0:2\"}"
#define ROPE    "{\"encoding\":\"rope\","
#define VECTORS "\"inputs\":[[1,2,3,4]]"

static const struct {
    const char *body;
    long status;
    const char *code, *says;
} bad[] = {
    {"", 400, "malformed-request", "empty"},
    {"[]", 400, "malformed-request", "object"},
    {"{}", 400, "missing-parameter", "#/encoding"},
    {ROPE OK4 "}", 400, "missing-parameter", "#/table"},
    {ROPE OK4 "," TABLE "," TABLE "}", 400, "malformed-request", "more than once"},
    {"{\"encoding\":\"rpoe\"," OK4 "," TABLE "}", 422, "invalid-parameter", "did you mean rope?"},
    {"{\"encoding\":7," OK4 "," TABLE "}", 422, "invalid-parameter", "#/encoding"},
    {"{\"encoding\":\"rope/rotate\"," OK4 "," TABLE "}", 422, "invalid-parameter",
     "claim the table that it uses"},
    {"{\"encoding\":\"learned/wpe\"," TABLE "}", 422, "invalid-parameter",
     "with the name of a table of this server"},
    {"{\"encoding\":\"rope/grid\",\"height\":1,\"convention\":\"pixel\"," VECTORS
     ",\"rotated\":[[1,2,3,4]]}",
     422, "invalid-parameter", "vectors rotated by this convention are not compared"},
    {ROPE OK4 ",\"tabel\":[1]}", 400, "unknown-parameter", "did you mean table?"},
    {ROPE "\"parameters\":{\"head_dim\":4,\"rope_thta\":1}," TABLE "}", 400, "unknown-parameter",
     "#/parameters/rope_thta"},
    {ROPE "\"parameters\":{\"head_dim\":5}," TABLE "}", 422, "invalid-parameter",
     "#/parameters/head_dim"},
    {ROPE "\"parameters\":[]," TABLE "}", 422, "invalid-parameter", "#/parameters"},
    {ROPE OK4 ",\"positions\":\"0:2\"," TABLE "}", 400, "malformed-request", "positions"},
    {ROPE OK4 ",\"dtype\":\"float8\"," TABLE "}", 422, "invalid-parameter", "#/dtype"},
    {ROPE OK4 ",\"tolerance\":-1," TABLE "}", 422, "invalid-parameter", "#/tolerance"},
    {ROPE OK4 ",\"table\":3}", 422, "invalid-parameter", "#/table"},
    {ROPE OK4 ",\"cos\":3}", 422, "invalid-parameter", "#/cos"},
    {ROPE OK4 ",\"cos\":[[1,1],[1,1]],\"table\":[[1,1]]}", 422, "invalid-parameter",
     "cos does not go with table"},
    {ROPE OK4 ",\"cos\":[[1,1],[1,1]],\"inv_freq\":[1,1]}", 422, "invalid-parameter",
     "inv_freq is no tensor of these"},
    {ROPE OK4 ",\"inv_freq\":[1,1],\"inputs\":[[1,1]]}", 422, "invalid-parameter",
     "inputs does not go with inv_freq"},
    {ROPE OK4 ",\"table\":[[1,1]]}", 422, "invalid-parameter", "[2, 2], got [1, 2]"},
    {ROPE OK4 ",\"table\":{\"sin\":[[0,0],[1,1]],\"tan\":[[1,1],[1,1]]}}", 422, "invalid-parameter",
     "tan is no tensor"},
    {ROPE OK4 ",\"table\":{\"cos\":[[1,1]],\"sin\":[[0,0]]}}", 422, "invalid-parameter",
     "[2, 2], got [1, 2]"},
    {ROPE OK4 ",\"table\":{\"cos\":[[1,1],[1]],\"sin\":[[0,0],[0,0]]}}", 422, "invalid-parameter",
     "#/table/cos"},
    {"{\"cos\":[[1,\"x\"],[2,3]]}", 422, "invalid-parameter", "#/cos/0/1"},
    {"{\"table\":[[1,2],[3]]}", 422, "invalid-parameter", "#/table/1"},
    {"{\"cos\":[[1,2],[3,4]],\"sin\":[[1,2,3]]}", 400, "missing-parameter", "usual table"},
    {"{\"encoding\":\"rope/grid\",\"parameters\":{\"head_dim\":4,\"height\":1,\"width\":2},"
     "\"table\":{\"cos\":[[1,1],[1,1],[1,1]],\"sin\":[[0,0],[0,0],[0,0]]}}",
     422, "invalid-parameter", "class and register tokens"},
    {ROPE OK4 ",\"table\":{\"cos\":[[1,1],[1,NaN]],\"sin\":[[0,0],[0,0]]}}", 400,
     "malformed-request", "#/table/cos/1/1"},
    {ROPE OK4 ",\"table\":{\"cos\":[[1,1],[1,null]],\"sin\":[[0,0],[0,0]]}}", 422,
     "invalid-parameter", "#/table/cos/1/1"},
    {ROPE OK4 ",\"table\":{\"cos\":[[1,1],[1,1e99]],\"sin\":[[0,0],[0,0]]}}", 422,
     "invalid-parameter", "overflows"},
    {ROPE OK4 ",\"slopes\":[1]," TABLE "}", 422, "invalid-parameter", "#/slopes"},
    {ROPE VECTORS "}", 400, "missing-parameter", "#/rotated"},
    {ROPE "\"rotated\":[[1,2,3,4]],\"parameters\":{\"head_dim\":4}}", 400, "missing-parameter",
     "#/inputs"},
    {ROPE VECTORS ",\"rotated\":[[1,2,3,4],[1,2,3,4]]}", 422, "invalid-parameter", "#/rotated"},
    {ROPE VECTORS ",\"rotated\":[[1,2,3,4]],\"seq_axis\":1}", 422, "invalid-parameter",
     "#/seq_axis"},
    {ROPE VECTORS ",\"rotated\":[[1,2,3,4]],\"positions\":\"0:2\"}", 422, "invalid-parameter",
     "#/positions"},
    {ROPE VECTORS ",\"rotated\":[[1,2,3,4]],\"parameters\":{\"head_dim\":8}}", 422,
     "invalid-parameter", "#/inputs"},
    {"{\"encoding\":\"sinusoidal\",\"parameters\":{\"d_model\":4}," VECTORS
     ",\"rotated\":[[1,2,3,4]]}",
     400, "unknown-parameter", "head_dim"},
    {ROPE "\"config\":{\"model_type\":\"llama\"}," OK4 "," TABLE "}", 422, "invalid-parameter",
     "#/config"},
    {ROPE OK4 ",\"seq_axis\":0," TABLE "}", 422, "invalid-parameter", "#/seq_axis"},
    {ROPE OK4 ",\"format\":\"npy\"," TABLE "}", 422, "invalid-parameter", "#/format"},
    {ROPE OK4 ",\"encoding_format\":\"base64\"," TABLE "}", 422, "invalid-parameter",
     "#/encoding_format"},
    {ROPE OK4 ",\"tensor\":\"cos\"," TABLE "}", 422, "invalid-parameter", "#/tensor"},
    {"{\"config\":3," TABLE "}", 422, "invalid-parameter", "#/config"},
};

static void what_is_wrong_with_a_claim_is_said(void **state)
{
    (void)state;
    for (size_t c = 0; c < PE_LEN(bad); c++) {
        reply answer = post_json(&server, "/v1/verify", bad[c].body);
        assert_problem(bad[c].body, &answer, bad[c].status, bad[c].code);
        if (strstr(answer.body, bad[c].says) == NULL)
            fail_msg("%s: \"%s\" is not said: %s", bad[c].body, bad[c].says, answer.body);
        reply_free(&answer);
    }
    reply answer = get(&server, "/v1/verify");
    assert_problem("GET", &answer, 405, "method-not-allowed");
    reply_free(&answer);
}

/* What a member may have meant is looked up for the first of them. */
static void few_members_of_a_claim_are_looked_up(void **state)
{
    (void)state;
    for (size_t strangers = 100; strangers <= 200; strangers += 100) {
        pe_buffer body = {0};
        pe_buffer_str(&body, "{\"encoding\":\"rope\"");
        for (size_t i = 0; i < strangers; i++)
            pe_buffer_format(&body, ",\"stranger_%zu\":1", i);
        pe_buffer_str(&body, ",\"tabel\":[1]}");
        reply answer = post_json(&server, "/v1/verify", pe_buffer_text(&body));
        assert_status("strangers", &answer, 400);
        assert_int_equal(strstr(answer.body, "did you mean table?") != NULL, strangers == 100);
        reply_free(&answer);
        pe_buffer_free(&body);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_finite_is_a_finding),
        cmocka_unit_test(broken_binary_bodies_are_refused),
        cmocka_unit_test(what_is_wrong_with_a_claim_is_said),
        cmocka_unit_test(few_members_of_a_claim_are_looked_up),
    };
    return server_run_tests(tests, PE_LEN(tests), &server, NULL);
}
