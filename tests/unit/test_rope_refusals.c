/* SPDX-License-Identifier: MIT */
/* test_rope_refusals.c - what rope resources refuse, and the parameter they name. */
#include "support/check.h"

#include <stdlib.h>
#include <string.h>

#include "encodings/registry.h"
#include "support/encode.h"

static const struct {
    const pe_resource *resource;
    const char *query;
    pe_status status;
    const char *where;
} refused[] = {
    {&pe_rope_frequencies, "", PE_MISSING_PARAMETER, "head_dim"},
    {&pe_rope_frequencies, "head_dim=7", PE_INVALID_PARAMETER, "head_dim"},
    {&pe_rope_frequencies, "head_dim=8&rotary_dim=7", PE_INVALID_PARAMETER, "rotary_dim"},
    {&pe_rope_frequencies, "head_dim=8&rotary_dim=10", PE_INVALID_PARAMETER, "rotary_dim"},
    {&pe_rope_frequencies, "head_dim=10&partial_rotary_factor=0.7", PE_INVALID_PARAMETER,
     "partial_rotary_factor"},
    {&pe_rope_frequencies, "head_dim=10&partial_rotary_factor=0.1", PE_INVALID_PARAMETER,
     "partial_rotary_factor"},
    {&pe_rope_frequencies, "head_dim=64&rotary_dim=32&partial_rotary_factor=0.25",
     PE_INVALID_PARAMETER, "rotary_dim"},
    {&pe_rope_frequencies, "head_dim=8&factor=2", PE_INVALID_PARAMETER, "factor"},
    {&pe_rope_frequencies, "head_dim=8&rope_type=linear&factor=2&seq_len=9", PE_INVALID_PARAMETER,
     "seq_len"},
    {&pe_rope_frequencies, "head_dim=8&rope_type=linear", PE_MISSING_PARAMETER, "factor"},
    {&pe_rope_frequencies, "head_dim=8&rope_type=linear&factor=0.5", PE_INVALID_PARAMETER,
     "factor"},
    {&pe_rope_frequencies, "head_dim=8&rope_type=dynamic&factor=2", PE_MISSING_PARAMETER,
     "max_position_embeddings"},
    {&pe_rope_frequencies, "head_dim=2&rope_type=ntk&factor=2", PE_INVALID_PARAMETER, "rope_type"},
    {&pe_rope_frequencies, "head_dim=128&dtype=float16&rope_theta=500000", PE_INVALID_PARAMETER,
     "dtype"},
    {&pe_rope_frequencies,
     "head_dim=4&rope_type=dynamic&factor=1000000&max_position_embeddings=1&"
     "seq_len=1000000000000&rope_theta=1000000000000&numerics=float32",
     PE_INVALID_PARAMETER, "numerics"},
    {&pe_rope_frequencies, "head_dim=8&rope_type=linear&factor=2&beta_fast=32",
     PE_INVALID_PARAMETER, "beta_fast"},
    {&pe_rope_frequencies, "head_dim=8&rope_type=yarn&factor=2", PE_MISSING_PARAMETER,
     "original_max_position_embeddings"},
    {&pe_rope_frequencies,
     "head_dim=8&rope_type=yarn&factor=2&original_max_position_embeddings=64&beta_slow=33",
     PE_INVALID_PARAMETER, "beta_fast"},
    {&pe_rope_frequencies,
     "head_dim=8&rope_type=yarn&factor=2&original_max_position_embeddings=64&rope_theta=1",
     PE_INVALID_PARAMETER, "rope_theta"},
    {&pe_rope_frequencies, "head_dim=8&rope_type=llama3&factor=2&max_position_embeddings=64",
     PE_MISSING_PARAMETER, "original_max_position_embeddings"},
    {&pe_rope_frequencies,
     "head_dim=8&rope_type=llama3&factor=2&original_max_position_embeddings=64&"
     "low_freq_factor=4&high_freq_factor=1",
     PE_INVALID_PARAMETER, "high_freq_factor"},
    {&pe_rope_frequencies,
     "head_dim=8&rope_type=longrope&short_factor=1,2&long_factor=1,2,3,4&"
     "max_position_embeddings=64",
     PE_INVALID_PARAMETER, "short_factor"},
    {&pe_rope_frequencies,
     "head_dim=4&rope_type=longrope&short_factor=1,2&long_factor=1,2&seq_len=5&"
     "original_max_position_embeddings=64",
     PE_MISSING_PARAMETER, "max_position_embeddings"},
    {&pe_rope_frequencies,
     "head_dim=4&rope_type=longrope&short_factor=1,2&long_factor=1,2&"
     "original_max_position_embeddings=1&max_position_embeddings=64",
     PE_INVALID_PARAMETER, "original_max_position_embeddings"},
    {&pe_rope_frequencies, "head_dim=8&freq_factors=1,2,3", PE_INVALID_PARAMETER, "freq_factors"},
    {&pe_rope_frequencies,
     "head_dim=8&rope_type=longrope&short_factor=1,2,3,4&long_factor=1,2,3&"
     "max_position_embeddings=64",
     PE_INVALID_PARAMETER, "long_factor"},
    {&pe_rope_frequencies, "head_dim=4&rope_type=longrope&short_factor=1,0&long_factor=1,2",
     PE_INVALID_PARAMETER, "short_factor"},
    {&pe_rope_frequencies,
     "head_dim=4&rope_type=longrope&short_factor=1,2&long_factor=1,2&attention_factor=1&"
     "original_max_position_embeddings=64",
     PE_MISSING_PARAMETER, "seq_len"},
    {&pe_rope_frequencies, "head_dim=8&rope_type=yarn&factor=0.9&max_position_embeddings=64",
     PE_INVALID_PARAMETER, "factor"},
    {&pe_rope_frequencies,
     "head_dim=8&rope_type=yarn&factor=2&max_position_embeddings=64&attention_factor=1&"
     "attn_factor=2",
     PE_INVALID_PARAMETER, "attn_factor"},
    {&pe_rope_frequencies,
     "head_dim=8&rope_type=yarn&factor=2&max_position_embeddings=64&extrapolation_factor=-1",
     PE_INVALID_PARAMETER, "extrapolation_factor"},
    {&pe_rope_frequencies, "head_dim=8&rope_type=ntk_alpha", PE_MISSING_PARAMETER, "alpha"},
    {&pe_rope_frequencies, "head_dim=8&rope_type=ntk_alpha&alpha=0.5", PE_INVALID_PARAMETER,
     "alpha"},
    {&pe_rope_frequencies, "head_dim=8&rope_type=ntk_alpha&factor=2&alpha=2", PE_INVALID_PARAMETER,
     "factor"},
    {&pe_rope_frequencies, "head_dim=2&rope_type=ntk_alpha&alpha=2", PE_INVALID_PARAMETER,
     "rope_type"},
    {&pe_rope_frequencies, "head_dim=8&rope_type=ntk_fixed", PE_MISSING_PARAMETER, "factor"},
    {&pe_rope_frequencies, "head_dim=8&rope_type=ntk_mixed&factor=2", PE_MISSING_PARAMETER,
     "mixed_b"},
    {&pe_rope_frequencies, "head_dim=8&rope_type=ntk_fixed&factor=2&mixed_b=1",
     PE_INVALID_PARAMETER, "mixed_b"},
    {&pe_rope_frequencies, "head_dim=2048&rope_type=ntk_mixed&factor=2&mixed_b=20&numerics=float32",
     PE_INVALID_PARAMETER, "mixed_b"},
    {&pe_rope_frequencies, "head_dim=8&rope_type=ntk_by_parts&factor=2", PE_MISSING_PARAMETER,
     "original_max_position_embeddings"},
    {&pe_rope_frequencies,
     "head_dim=8&rope_type=ntk_by_parts&factor=2&max_position_embeddings=64&beta_fast=0.5",
     PE_INVALID_PARAMETER, "beta_fast"},
    {&pe_rope_frequencies,
     "head_dim=8&rope_type=ntk_by_parts&factor=2&max_position_embeddings=64&numerics=float32",
     PE_INVALID_PARAMETER, "numerics"},
    {&pe_rope_frequencies,
     "head_dim=8&rope_type=part_ntk&factor=2&max_position_embeddings=64&ntk_factor=1.5",
     PE_INVALID_PARAMETER, "ntk_factor"},
    {&pe_rope_frequencies,
     "head_dim=8&rope_type=part_ntk&factor=2&max_position_embeddings=64&rope_theta=1",
     PE_INVALID_PARAMETER, "rope_theta"},
    {&pe_rope_frequencies, "head_dim=8&rope_type=proportional&rotary_dim=4", PE_INVALID_PARAMETER,
     "rotary_dim"},
    {&pe_rope_frequencies, "head_dim=9&rope_type=proportional", PE_INVALID_PARAMETER, "head_dim"},
    {&pe_rope_decay, "head_dim=8&numerics=float32", PE_INVALID_PARAMETER, "numerics"},
    {&pe_rope_scaled_base, "head_dim=8", PE_MISSING_PARAMETER, "factor"},
    {&pe_rope_scaled_base, "head_dim=9&factor=2", PE_INVALID_PARAMETER, "head_dim"},
    {&pe_rope_scaled_base, "head_dim=2&factor=2", PE_INVALID_PARAMETER, "method"},
    {&pe_rope_scaled_base, "head_dim=8&factor=2&seq_len=5", PE_INVALID_PARAMETER, "seq_len"},
    {&pe_rope_scaled_base, "head_dim=8&factor=2&method=dynamic&max_position_embeddings=5",
     PE_MISSING_PARAMETER, "seq_len"},
    {&pe_rope_scaled_base, "head_dim=8&factor=2&method=dynamic&seq_len=5", PE_MISSING_PARAMETER,
     "max_position_embeddings"},
    {&pe_rope_attention_scale, "positions=5:-2:-1", PE_INVALID_PARAMETER, "positions"},
    {&pe_rope_attention_scale, "positions=1,2,-3,4.5", PE_INVALID_PARAMETER, "positions"},
    {&pe_rope_attention_scale, "beta=-0.1", PE_INVALID_PARAMETER, "beta"},
    {&pe_rope_attention_scale, "original_max_position_embeddings=0", PE_INVALID_PARAMETER,
     "original_max_position_embeddings"},
    {&pe_rope_attention_scale, "numerics=float32", PE_INVALID_PARAMETER, "numerics"},
    {&pe_rope_table, "head_dim=65536&positions=0:1000", PE_TOO_MANY_ELEMENTS, ""},
};

static void what_cannot_be_is_refused_by_name(void **state)
{
    (void)state;
    for (size_t c = 0; c < PE_LEN(refused); c++)
        assert_refused(refused[c].resource, refused[c].query, refused[c].status, refused[c].where);
}

static void equal_ends_of_a_blend_are_legal(void **state)
{
    static const char *const queries[] = {
        "head_dim=8&rope_type=yarn&factor=2&max_position_embeddings=64&beta_fast=1&beta_slow=1",
        "head_dim=8&rope_type=yarn&factor=2&max_position_embeddings=64&beta_fast=1&beta_slow=1&"
        "truncate=false",
        "head_dim=8&rope_type=llama3&factor=2&original_max_position_embeddings=64&"
        "low_freq_factor=4&high_freq_factor=4",
        "head_dim=8&rope_type=ntk_by_parts&factor=2&max_position_embeddings=64&beta_fast=1",
    };
    (void)state;
    for (size_t q = 0; q < PE_LEN(queries); q++) {
        encoded e = encode(&pe_rope_frequencies, "%s", queries[q]);
        double *inv = encoded_all(&e, 0), *stretch = encoded_all(&e, 2);
        for (size_t i = 0; i < 4; i++)
            if (!(inv[i] > 0) || (stretch[i] != 1 && stretch[i] != 2))
                fail_msg("%s: pair %zu has %.9g, stretched by %.9g: neither kept nor halved",
                         queries[q], i, inv[i], stretch[i]);
        free(inv);
        free(stretch);
        encoded_free(&e);
    }
}

static void bodies_that_cannot_be_turned_are_refused_by_name(void **state)
{
    static const struct {
        const pe_resource *resource;
        const char *body;
        pe_status status;
        const char *where;
    } cases[] = {
        {&pe_rope_rotate, "{}", PE_MISSING_PARAMETER, "vectors"},
        {&pe_rope_rotate, "{\"vectors\":[[1,2]],\"q\":[[1,2]]}", PE_INVALID_PARAMETER, "vectors"},
        {&pe_rope_rotate, "{\"vectors\":[[1,2]],\"head_dim\":4}", PE_INVALID_PARAMETER, "vectors"},
        {&pe_rope_rotate, "{\"vectors\":[[1],[2]]}", PE_INVALID_PARAMETER, "vectors"},
        {&pe_rope_rotate, "{\"vectors\":[[1,2,3]]}", PE_INVALID_PARAMETER, "head_dim"},
        {&pe_rope_rotate, "{\"q\":[[1,2]],\"k\":[[1,2],[3,4]]}", PE_INVALID_PARAMETER, "k"},
        {&pe_rope_rotate, "{\"q\":[[1,2]],\"k\":[[1,2,3,4]]}", PE_INVALID_PARAMETER, "k"},
        {&pe_rope_rotate, "{\"vectors\":[[1,2]],\"seq_axis\":-1}", PE_INVALID_PARAMETER,
         "seq_axis"},
        {&pe_rope_rotate, "{\"vectors\":[[1,2]],\"seq_axis\":1}", PE_INVALID_PARAMETER, "seq_axis"},
        {&pe_rope_rotate, "{\"vectors\":[[1,2]],\"seq_axis\":-3}", PE_INVALID_PARAMETER,
         "seq_axis"},
        {&pe_rope_rotate, "{\"vectors\":[[1,2],[3,4]],\"positions\":[1,2,3]}", PE_INVALID_PARAMETER,
         "positions"},
        {&pe_rope_rotate, "{\"vectors\":[[1,2],[3,4]],\"positions\":5}", PE_INVALID_PARAMETER,
         "positions"},
        {&pe_rope_rotate, "{\"vectors\":[[[1,2]],[[3,4]]],\"positions\":[[1],[2],[3]]}",
         PE_INVALID_PARAMETER, "positions"},
        {&pe_rope_rotate, "{\"vectors\":[[1,2],[3,4]],\"positions\":[[1,2],[3,4]]}",
         PE_INVALID_PARAMETER, "positions"},
        {&pe_rope_rotate, "{\"vectors\":[[65504,65504]],\"positions\":[1],\"dtype\":\"float16\"}",
         PE_INVALID_PARAMETER, "vectors"},
        {&pe_rope_rotate,
         "{\"vectors\":[[1,2]],\"rope_parameters\":{\"rope_type\":\"default\",\"factor\":2}}",
         PE_INVALID_PARAMETER, "rope_parameters/factor"},
        {&pe_rope_shift, "{\"keys\":[[1,2]]}", PE_MISSING_PARAMETER, "delta"},
        {&pe_rope_shift, "{\"delta\":3}", PE_MISSING_PARAMETER, "keys"},
        {&pe_rope_shift, "{\"keys\":[[1,2]],\"delta\":[0.5]}", PE_INVALID_PARAMETER, "delta"},
        {&pe_rope_shift, "{\"keys\":[[1,2],[3,4],[5,6]],\"delta\":[1,2]}", PE_INVALID_PARAMETER,
         "delta"},
        {&pe_rope_scores, "{\"q\":[[1,2]],\"k\":[[1,2,3,4]]}", PE_INVALID_PARAMETER, "k"},
        {&pe_rope_scores, "{\"q\":[[1,2]],\"k\":[[1,2]],\"key_positions\":[1,2]}",
         PE_INVALID_PARAMETER, "key_positions"},
        {&pe_rope_scores,
         "{\"q\":[[1,2]],\"k\":[[1,2]],\"query_positions\":[-9007199254740991],"
         "\"key_positions\":[9007199254740991]}",
         PE_INVALID_PARAMETER, "key_positions"},
        {&pe_rope_scores, "{\"q\":[[300,300]],\"k\":[[300,300]],\"dtype\":\"float16\"}",
         PE_INVALID_PARAMETER, "q"},
    };
    (void)state;
    for (size_t c = 0; c < PE_LEN(cases); c++) {
        encoded e = encode_json(cases[c].resource, "%s", cases[c].body);
        if (e.status != cases[c].status || strcmp(e.why.where, cases[c].where) != 0)
            fail_msg("%s %s: got status %d at \"%s\" (%s), wanted %d at \"%s\"",
                     cases[c].resource->name, cases[c].body, (int)e.status, e.why.where,
                     e.why.detail, (int)cases[c].status, cases[c].where);
        encoded_free(&e);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_cannot_be_is_refused_by_name),
        cmocka_unit_test(equal_ends_of_a_blend_are_legal),
        cmocka_unit_test(bodies_that_cannot_be_turned_are_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
