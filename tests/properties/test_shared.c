/* SPDX-License-Identifier: MIT */
/* test_shared.c - what requests share: an answer is the same whatever was asked before. */
#include "support/check.h"

#include <stdlib.h>
#include <string.h>

#include "encodings/registry.h"
#include "support/encode.h"

enum { QUERIES_MAX = 8 };

/* Requests that share tables, and differ in what these depend on: all but the first in one
 * parameter. Of ALiBi's heads, a request makes those that it wants. */
static const struct {
    const pe_resource *resource;
    const char *queries[QUERIES_MAX];
} groups[] = {
    {&pe_sinusoidal,
     {"d_model=16&positions=0:4", "d_model=18&positions=0:4", "d_model=16&positions=64:68",
      "d_model=16&positions=0:4&base=500", "d_model=16&positions=0:4&scale=1000",
      "d_model=16&positions=0:4&freq_shift=1", "d_model=16&positions=0:4&layout=sin_cos",
      "d_model=16&positions=0:4&numerics=float32"}},
    {&pe_rope_table,
     {"head_dim=16&positions=0:9", "head_dim=12&positions=0:9",
      "head_dim=16&positions=0:9&rotary_dim=8", "head_dim=16&positions=0:9&rope_theta=500",
      "head_dim=16&positions=0:9&rope_type=linear&factor=2",
      "head_dim=16&positions=0:9&rope_type=linear&factor=4",
      "head_dim=16&positions=0:9&rope_type=ntk_fixed&factor=4",
      "head_dim=16&positions=0:9&numerics=float32"}},
    {&pe_rope_xpos_table,
     {"head_dim=16&positions=0:9", "head_dim=14&positions=0:9", "head_dim=16&positions=0:90",
      "head_dim=16&positions=0:9&scale_base=100", "head_dim=16&positions=0:9&scale_base=100.5",
      "head_dim=16&positions=0:9&rope_theta=500", "head_dim=16&positions=0:9&center=9"}},
    {&pe_alibi_bias,
     {"num_heads=12&query_length=5", "num_heads=11&query_length=5",
      "num_heads=12&query_length=5&heads=0:6", "num_heads=12&query_length=5&heads=6:12",
      "num_heads=12&query_length=5&heads=11", "num_heads=12&query_length=5&alibi_bias_max=16",
      "num_heads=12&query_length=5&variant=formula", "num_heads=12&query_length=6"}},
};

/* All tensors as float64, one after the other; *n: of numbers. The caller frees. */
static double *numbers_of(const pe_resource *resource, const char *query, size_t *n)
{
    encoded e = encode(resource, "%s&dtype=float64", query);
    size_t done = 0;
    *n = 0;
    if (e.status != PE_OK)
        fail_msg("%s: %s", query, e.why.detail);
    for (size_t t = 0; t < e.plan.n_tensors; t++)
        *n += e.plan.tensors[t].elements;
    double *all = malloc((*n + 1) * sizeof *all);
    assert_non_null(all);
    for (size_t t = 0; t < e.plan.n_tensors; t++) {
        double *tensor = encoded_all(&e, t);
        memcpy(all + done, tensor, e.plan.tensors[t].elements * sizeof *all);
        done += e.plan.tensors[t].elements;
        free(tensor);
    }
    encoded_free(&e);
    return all;
}

/* `query` after `before`, and alone. */
static void check_after(const pe_resource *resource, const char *before, const char *query)
{
    pe_problem why;
    size_t n_before, n, n_alone;
    assert_int_equal(pe_tables_make(1 << 24, &encode_tables, &why), PE_OK);
    free(numbers_of(resource, before, &n_before));
    double *numbers = numbers_of(resource, query, &n);
    pe_tables_free(encode_tables);
    encode_tables = NULL;
    double *alone = numbers_of(resource, query, &n_alone);
    assert_int_equal(n, n_alone);
    if (memcmp(numbers, alone, n * sizeof *alone) != 0)
        fail_msg("%s?%s is another after %s", resource->path, query, before);
    free(numbers);
    free(alone);
}

static void what_was_asked_before_changes_no_answer(void **state)
{
    for (size_t g = 0; g < PE_LEN(groups); g++) {
        const char *const *queries = groups[g].queries;
        for (size_t i = 0; i < QUERIES_MAX && queries[i] != NULL; i++)
            for (size_t k = 0; k < QUERIES_MAX && queries[k] != NULL; k++)
                check_after(groups[g].resource, queries[i], queries[k]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_asked_before_changes_no_answer),
    };
    return cmocka_run_group_tests_name("what is shared", tests, NULL, NULL);
}
