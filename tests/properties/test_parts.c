/* SPDX-License-Identifier: MIT */
/* test_parts.c - parts of wide rows are what the rows have there, bit for bit. */
#include "support/check.h"

#include <stdlib.h>
#include <string.h>

#include "encodings/registry.h"
#include "support/encode.h"
#include "support/random.h"

static const char *const dtypes[] = {"float32", "float64", "float16", "bfloat16"};

/* What makes parts, at widths that end anywhere: one query in each of its forms. */
static const struct {
    const pe_resource *resource;
    const char *query;
} cases[] = {
    {&pe_sinusoidal, "d_model=700&positions=0:9:3"},
    {&pe_sinusoidal, "d_model=701&positions=5,0,2.5,1e9"},
    {&pe_sinusoidal, "d_model=701&freq_shift=1&positions=3:6&padding_idx=4"},
    {&pe_sinusoidal, "d_model=702&layout=sin_cos&positions=1048576:1048580"},
    {&pe_sinusoidal, "d_model=703&layout=cos_sin&positions=-2:2"},
    {&pe_sinusoidal, "d_model=704&numerics=float32&positions=100000:100004"},
    {&pe_sinusoidal, "d_model=705&numerics=float32&layout=sin_cos&positions=0:4"},
    {&pe_sinusoidal, "d_model=700&base=1e12&scale=1e-9&positions=0:4"},
    {&pe_sinusoidal_timing, "d_model=645&length=4"},
    {&pe_sinusoidal_relative, "d_model=646&query_length=3&key_length=4&clamp_len=2"},
    {&pe_sinusoidal_relative, "d_model=646&query_length=3&variant=conformer"},
    {&pe_sinusoidal_grid, "d_model=1160&height=2&width=3&extra_tokens=1"},
    {&pe_sinusoidal_offset, "d_model=330&offset=7&form=matrix"},
    {&pe_rope_table, "head_dim=1300&positions=0:4"},
    {&pe_rope_table, "head_dim=1302&positions=7:1:-2&cache_layout=hf"},
    {&pe_rope_table, "head_dim=1302&positions=0:4&cache_layout=hf&pairing=interleaved"},
    {&pe_rope_table, "head_dim=1300&positions=0:4&cache_layout=vllm"},
    {&pe_rope_table, "head_dim=1300&positions=0:4&cache_layout=onnx&numerics=float32"},
    {&pe_rope_table, "head_dim=1300&positions=0:4&cache_layout=meta"},
    {&pe_rope_table, "head_dim=1300&positions=0:4&cache_layout=trtllm"},
    {&pe_rope_table, "head_dim=1300&positions=0:4&rope_type=proportional&"
                     "partial_rotary_factor=0.25&cache_layout=meta"},
    {&pe_rope_xpos_table, "head_dim=1300&positions=0:4"},
};

/* Parts of the unit at random places, held against the unit. */
static void check_unit(const pe_plan *plan, size_t t, size_t unit, const char *query,
                       random_source *random)
{
    const pe_tensor *tensor = &plan->tensors[t];
    const size_t size = pe_dtype_bytes(tensor->dtype);
    unsigned char *whole = malloc(tensor->unit * size), *part = malloc(tensor->unit * size);
    pe_problem why;
    pe_region region = pe_plan_units(plan, t, unit, 1);
    assert_int_equal(plan->fill(plan, &region, whole, &why), PE_OK);
    for (int round = 0; round < 6; round++) {
        const size_t from =
            (size_t)random_int(random, 0, (int64_t)(tensor->unit - 1) / PE_PART_ELEMENTS) *
            PE_PART_ELEMENTS;
        const size_t n =
            (size_t)random_int(random, 1, 1 + (int64_t)(tensor->unit / PE_PART_ELEMENTS)) *
            PE_PART_ELEMENTS;
        const size_t left = tensor->unit - from, some = n < left ? n : left;
        memset(part, 0xa5, tensor->unit * size);
        region.column = from;
        region.columns = some;
        assert_int_equal(plan->fill(plan, &region, part, &why), PE_OK);
        if (memcmp(part, whole + from * size, some * size) != 0)
            fail_msg("seed %llu: %s, tensor %zu, unit %zu: %zu elements from %zu on differ",
                     (unsigned long long)random->seed, query, t, unit, some, from);
        for (size_t b = some * size; b < tensor->unit * size; b++)
            assert_int_equal(part[b], 0xa5);
    }
    free(whole);
    free(part);
}

static void a_part_is_what_the_row_has_there(void **state)
{
    random_source random = random_make("parts");
    for (size_t i = 0; i < PE_LEN(cases); i++) {
        for (size_t d = 0; d < PE_LEN(dtypes); d++) {
            if (strstr(cases[i].query, "float32") != NULL && d > 0)
                continue;
            encoded e = encode(cases[i].resource, "%s&dtype=%s", cases[i].query, dtypes[d]);
            if (e.status != PE_OK)
                fail_msg("%s: %s", cases[i].query, e.why.detail);
            assert_true(e.plan.makes_parts);
            for (size_t t = 0; t < e.plan.n_tensors; t++)
                for (size_t u = 0; u < e.plan.tensors[t].units && u < 8; u++)
                    if (e.plan.tensors[t].unit > PE_PART_ELEMENTS)
                        check_unit(&e.plan, t, u, cases[i].query, &random);
            encoded_free(&e);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_is_what_the_row_has_there),
    };
    return cmocka_run_group_tests_name("parts of rows", tests, NULL, NULL);
}
