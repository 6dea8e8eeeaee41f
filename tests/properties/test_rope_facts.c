/* SPDX-License-Identifier: MIT */
/* test_rope_facts.c - what rotations tell beside their numbers: facts of types, and warnings. */
#include "support/check.h"

#include <stdlib.h>
#include <string.h>

#include "encodings/registry.h"
#include "support/encode.h"

static void longrope_shows_both_sets_and_which_holds(void **state)
{
    static const struct {
        int seq_len;
        const char *selected;
        double divisor[2];
    } cases[] = {{64, "short", {1, 1.5}}, {65, "long", {2, 8}}};
    (void)state;
    for (size_t c = 0; c < PE_LEN(cases); c++) {
        encoded e = encode(&pe_rope_frequencies,
                           "head_dim=4&rope_type=longrope&short_factor=1,1.5&long_factor=2,8&"
                           "original_max_position_embeddings=64&attention_factor=1&seq_len=%d&"
                           "rope_theta=16&dtype=float64",
                           cases[c].seq_len);
        const pe_plan *plan = &e.plan;
        assert_string_equal(plan->scalars[1].name, "selected");
        assert_string_equal(plan->scalars[1].text, cases[c].selected);
        assert_string_equal(plan->scalars[2].name, "original_max_position_embeddings");
        assert_true(plan->scalars[2].value == 64);
        assert_int_equal(plan->n_tensors, 5);
        assert_string_equal(plan->tensors[3].name, "inv_freq_short");
        assert_string_equal(plan->tensors[4].name, "inv_freq_long");
        double *inv = encoded_all(&e, 0), *brief = encoded_all(&e, 3), *far = encoded_all(&e, 4);
        for (size_t i = 0; i < 2; i++) { /* theta_i is 1 and 1/4 */
            const double theta = i == 0 ? 1 : 0.25;
            assert_true(inv[i] == theta / cases[c].divisor[i]);
            assert_true(brief[i] == theta / cases[0].divisor[i]);
            assert_true(far[i] == theta / cases[1].divisor[i]);
        }
        free(inv);
        free(brief);
        free(far);
        encoded_free(&e);
    }
}

static void warnings_come_where_they_apply(void **state)
{
    static const struct {
        const pe_resource *resource;
        const char *query, *warning; /* NULL: none */
    } cases[] = {
        {&pe_rope_frequencies, "rope_type=dynamic&factor=2&max_position_embeddings=16&seq_len=17",
         "longest sequence"},
        {&pe_rope_frequencies, "rope_type=dynamic&factor=2&max_position_embeddings=16&seq_len=16",
         NULL},
        {&pe_rope_frequencies,
         "rope_type=yarn&factor=2&original_max_position_embeddings=64&mscale=1",
         "mscale has no effect without mscale_all_dim"},
        {&pe_rope_frequencies,
         "rope_type=yarn&factor=2&original_max_position_embeddings=64&mscale_all_dim=1&mscale=0",
         "mscale_all_dim has no effect without mscale"},
        {&pe_rope_frequencies,
         "rope_type=yarn&factor=2&original_max_position_embeddings=64&mscale_all_dim=1&mscale=1",
         NULL},
        {&pe_rope_frequencies,
         "rope_type=yarn&factor=2&original_max_position_embeddings=64&attention_factor=1&mscale=1",
         NULL},
        {&pe_rope_table, "numerics=float32&positions=16777000:16777217", NULL},
        {&pe_rope_table, "numerics=float32&positions=16777000:16777218",
         "16777217 is turned as 16777216"},
        {&pe_rope_table, "numerics=float32&positions=16777220:16777216:-1", "16777219"},
        {&pe_rope_table, "numerics=float32&positions=-16777218:16777218:65538", NULL},
        {&pe_rope_table, "numerics=float32&positions=-16777217:0:16777217", "-16777217"},
        {&pe_rope_table, "numerics=float32&positions=1,16777218,5,16777217,3", "16777217"},
        {&pe_rope_table, "numerics=float32&positions=0.1,2.7", NULL},
        {&pe_rope_table, "positions=16777217:16777220", NULL},
    };
    (void)state;
    for (size_t c = 0; c < PE_LEN(cases); c++) {
        encoded e = encode(cases[c].resource, "head_dim=8&%s", cases[c].query);
        if (e.status != PE_OK)
            fail_msg("%s: %s", cases[c].query, e.why.detail);
        const char *got = e.plan.n_warnings > 0 ? e.plan.warnings[0] : NULL;
        const bool wanted = cases[c].warning != NULL;
        if ((got != NULL) != wanted || (wanted && strstr(got, cases[c].warning) == NULL))
            fail_msg("%s: got \"%s\", wanted \"%s\"", cases[c].query, got != NULL ? got : "",
                     wanted ? cases[c].warning : "");
        encoded_free(&e);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(longrope_shows_both_sets_and_which_holds),
        cmocka_unit_test(warnings_come_where_they_apply),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
