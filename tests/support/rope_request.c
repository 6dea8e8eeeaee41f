/* SPDX-License-Identifier: MIT */
/* rope_request.c - requests to rope resources from the parameters of golden files. */
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buffer.h"
#include "support/rope_request.h"

const char *const rope_request_files[ROPE_REQUEST_FILES] = {
    "rope_default_half",
    "rope_default_theta1e6_large_positions",
    "rope_complex_interleaved",
    "rope_interleaved_cohere",
    "rope_interleaved_partial_gptj",
    "rope_partial_half_interleaved_glm",
    "rope_partial_quarter_neox",
    "rope_bfloat16",
    "rope_linear",
    "rope_dynamic_ntk_long",
    "rope_dynamic_ntk_short",
    "rope_ntk_alpha",
    "rope_ntk_fixed",
    "rope_ntk_mixed",
    "rope_yarn",
    "rope_yarn_explicit_attention_factor",
    "rope_yarn_mscale_deepseek",
    "rope_yarn_no_truncate",
    "rope_yarn_original_repo",
    "rope_longrope_long",
    "rope_longrope_short",
    "rope_llama3",
    "rope_proportional",
    "rope_freq_factors_interleaved",
};

const json_t *rope_request_param(const json_t *golden, const char *name)
{
    const json_t *params = json_object_get(golden, "params");
    const json_t *config = json_object_get(params, "config");
    const json_t *places[] = {params, config, json_object_get(config, "rope_scaling")};
    const json_t *value = NULL;
    for (size_t i = 0; i < PE_LEN(places) && value == NULL; i++)
        value = json_object_get(places[i], name);
    return value;
}

json_t *rope_request_of(const json_t *golden)
{
    static const char *const names[][2] = {
        {"rotary_dim", "head_dim"}, /* where the head rotates whole */
        {"dim", "head_dim"},
        {"head_dim", "head_dim"},
        {"rotary_dim", "rotary_dim"},
        {"theta", "rope_theta"},
        {"base", "rope_theta"},
        {"rope_theta", "rope_theta"},
        {"layout", "pairing"},
        {"rope_type", "rope_type"},
        {"scale", "factor"},
        {"factor", "factor"},
        {"alpha", "alpha"},
        {"mixed_b", "mixed_b"},
        {"partial_rotary_factor", "partial_rotary_factor"},
        {"max_position_embeddings", "max_position_embeddings"},
        {"original_max_position_embeddings", "original_max_position_embeddings"},
        {"seq_len", "seq_len"},
        {"attention_factor", "attention_factor"},
        {"attn_factor", "attn_factor"},
        {"extrapolation_factor", "extrapolation_factor"},
        {"beta_fast", "beta_fast"},
        {"beta_slow", "beta_slow"},
        {"mscale", "mscale"},
        {"mscale_all_dim", "mscale_all_dim"},
        {"truncate", "truncate"},
        {"low_freq_factor", "low_freq_factor"},
        {"high_freq_factor", "high_freq_factor"},
        {"short_factor", "short_factor"},
        {"long_factor", "long_factor"},
        {"freq_factors", "freq_factors"},
    };
    json_t *request = json_object();
    for (size_t i = 0; i < PE_LEN(names); i++) {
        const json_t *value = rope_request_param(golden, names[i][0]);
        if (value != NULL)
            json_object_set_new(request, names[i][1], json_deep_copy(value));
    }
    return request;
}

reply rope_request_post(const test_server *server, const char *resource, const json_t *request,
                        const char *more)
{
    char target[64];
    char *text = json_dumps(request, 0);
    pe_buffer body = {0};
    snprintf(target, sizeof target, "/v1/rope/%s", resource);
    text[strlen(text) - 1] = '\0';
    pe_buffer_format(&body, "%s,%s}", text, more);
    reply answer = post_json(server, target, pe_buffer_text(&body));
    pe_buffer_free(&body);
    free(text);
    return answer;
}
