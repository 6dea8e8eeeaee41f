/* SPDX-License-Identifier: MIT */
/* test_terms.c - attention as a whole, terms of scores, given distances, sums and amplitudes. */
#include "support/check.h"

#include <string.h>

#include "base/array.h"
#include "support/problem.h"

static test_server server;

/* Expected numbers are worked out by hand: 1 / (1 + exp(1 / sqrt(2))) is 0.33023845. */
static const struct {
    const char *target, *body; /* body NULL: GET */
    long status;
    const char *says[2];
} cases[] = {
    {"/v1/attention",
     "{\"q\":[[1,0],[0,1]],\"k\":[[1,0],[0,1]],\"v\":[[1,2],[3,4]],\"causal\":true}",
     200,
     {"\"shape\":[2,2],\"data\":[[1,0],[0.33023846,0.66976154]]",
      "\"shape\":[2,2],\"data\":[[1,2],[2.339523,3.339523]]"}},
    {"/v1/attention",
     "{\"q\":[[1,0]],\"k\":[[1,0]],\"scheme\":\"x\"}",
     422,
     {"one of none, sinusoidal, rope, alibi, t5; got", "#/scheme"}},
    {"/v1/rope/scores",
     "{\"q\":[[1,0,0,1]],\"k\":[[1,0,0,1]],\"per_pair\":true}",
     200,
     {"\"shape\":[1,1,2],\"data\":[[[1,1]]]", "\"per_pair\":true"}},
    {"/v1/t5/buckets?distances=-3:4",
     NULL,
     200,
     {"\"shape\":[7],\"data\":[3,2,1,0,17,18,19]", "\"distances\":\"-3:4\""}},
    {"/v1/sinusoidal?d_model=2&positions=0&amplitude=2",
     NULL,
     200,
     {"\"data\":[[0,2]]", "\"amplitude\":2"}},
    {"/v1/sinusoidal/add",
     "{\"embeddings\":[[1,1]],\"combine\":\"concat\"}",
     200,
     {"\"shape\":[1,4],\"data\":[[1,1,0,1]]", "\"combine\":\"concat\""}},
};

static void each_answer_says_what_was_worked_out(void **state)
{
    (void)state;
    for (size_t c = 0; c < PE_LEN(cases); c++) {
        reply answer = cases[c].body != NULL ? post_json(&server, cases[c].target, cases[c].body)
                                             : get(&server, cases[c].target);
        assert_status(cases[c].target, &answer, cases[c].status);
        for (size_t s = 0; s < PE_LEN(cases[c].says); s++)
            if (strstr(answer.body, cases[c].says[s]) == NULL)
                fail_msg("%s does not say %s: %s", cases[c].target, cases[c].says[s], answer.body);
        reply_free(&answer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_answer_says_what_was_worked_out),
    };
    return server_run_tests(tests, PE_LEN(tests), &server, NULL);
}
