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

/* What a member may have meant is looked up for the first of them. */
static void few_members_of_a_claim_are_looked_up(void **state)
{
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
        cmocka_unit_test(few_members_of_a_claim_are_looked_up),
    };
    return server_run_tests(tests, PE_LEN(tests), &server, NULL);
}
