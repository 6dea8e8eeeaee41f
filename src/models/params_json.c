/* SPDX-License-Identifier: MIT */
/* params_json.c - the params.json of Meta's and of Mistral's own code, and OpenAI's of GPT-OSS. */
#include "models/input.h"

#include <string.h>

/* An argument, and the key of a rotary dictionary that it is; `otherwise` where it is absent. */
typedef struct argument {
    const char *place, *key;
    double otherwise; /* 0: none */
} argument;

/* Arguments that stand in `object`, or (NULL) beside it. */
static void put_all(pe_input *out, const json_t *object, const argument *arguments, size_t n)
{
    for (size_t a = 0; a < n; a++) {
        const json_t *value = json_object_get(object, strrchr(arguments[a].place, '/') != NULL
                                                          ? strrchr(arguments[a].place, '/') + 1
                                                          : arguments[a].place);
        if (json_is_number(value))
            pe_input_put(out, arguments[a].key, arguments[a].place,
                         json_incref((json_t *)(uintptr_t)value));
        else if (arguments[a].otherwise != 0)
            pe_input_put(out, arguments[a].key, arguments[a].place,
                         json_real(arguments[a].otherwise));
    }
}

/* Llama 3.1 and later. Its code knows 8192 and 1 alone, and until Llama 4 also 8 and 4. */
static void put_llama(const json_t *whole, pe_input *out)
{
    static const argument arguments[] = {
        {"rope_scaling_factor", "rope_scaling/factor", 8},
        {"rope_high_freq_factor", "rope_scaling/high_freq_factor", 4},
        {"use_scaled_rope", "rope_scaling/low_freq_factor", 1},
        {"use_scaled_rope", "rope_scaling/original_max_position_embeddings", 8192},
    };
    pe_input_put(out, "rope_scaling/rope_type", "use_scaled_rope", json_string("llama3"));
    put_all(out, whole, arguments, PE_LEN(arguments));
    if (json_object_get(whole, "rope_scaling_factor") == NULL)
        pe_input_warn(out,
                      "use_scaled_rope without rope_scaling_factor: 8, as in Llama 3.1; models "
                      "of Llama 3.2 with 1B and 3B have 32");
}

static void put_mistral(const json_t *yarn, pe_input *out)
{
    static const argument arguments[] = {
        {"yarn/factor", "rope_scaling/factor", 0},
        {"yarn/original_max_position_embeddings", "rope_scaling/original_max_position_embeddings",
         0},
        {"yarn/beta", "rope_scaling/beta_fast", 0},
        {"yarn/alpha", "rope_scaling/beta_slow", 0},
    };
    pe_input_put(out, "rope_scaling/rope_type", "yarn", json_string("yarn"));
    put_all(out, yarn, arguments, PE_LEN(arguments));
    if (json_is_false(json_object_get(yarn, "apply_scale")))
        pe_input_put(out, "rope_scaling/attention_factor", "yarn/apply_scale", json_real(1));
}

static void put_gpt_oss(const json_t *whole, pe_input *out)
{
    static const argument arguments[] = {
        {"rope_scaling_factor", "rope_scaling/factor", 32},
        {"initial_context_length", "rope_scaling/original_max_position_embeddings", 4096},
        {"rope_ntk_beta", "rope_scaling/beta_fast", 32},
        {"rope_ntk_alpha", "rope_scaling/beta_slow", 1},
    };
    pe_input_put(out, "model_type", "rope_ntk_alpha", json_string("gpt_oss"));
    pe_input_put(out, "rope_scaling/rope_type", "rope_ntk_alpha", json_string("yarn"));
    pe_input_put(out, "rope_scaling/truncate", "rope_ntk_alpha", json_false());
    put_all(out, whole, arguments, PE_LEN(arguments));
}

/* Has the object the arguments of Meta's code, which Mistral's has too? */
static bool is_params(const json_t *whole)
{
    static const char *const names[] = {"dim", "n_layers", "n_heads"};
    bool all = json_object_get(whole, "hidden_size") == NULL;
    for (size_t n = 0; n < PE_LEN(names); n++)
        all &= json_is_number(json_object_get(whole, names[n]));
    return all;
}

/**
 * Source  meta-llama/llama-models at 408c577168a187941f9359c916004fa3b21fbc3b,
 *         models/llama4/model.py (apply_scaling, apply_rotary_emb); vllm-project/vllm at
 *         01da88c5bef903224038ae4e57d653964740dc04, vllm/transformers_utils/configs/mistral.py;
 *         deepseek-ai/DeepSeek-V3, inference/model.py (ModelArgs, precompute_freqs_cis);
 *         openai/gpt-oss at 0568dfc94f09469e2968c2b90e50561d1b3fc424, gpt_oss/torch/model.py.
 */
bool pe_input_params(const json_t *whole, pe_input *out)
{
    static const char *const read[] = {
        "rope_scaling_factor", "rope_high_freq_factor", "use_scaled_rope",    "yarn",
        "rope_ntk_alpha",      "rope_ntk_beta",         "nope_layer_interval"};
    const json_t *yarn = json_object_get(whole, "yarn");
    const bool gpt_oss = json_is_number(json_object_get(whole, "rope_ntk_alpha"));
    if (json_object_get(whole, "model_type") != NULL || (!gpt_oss && !is_params(whole)))
        return false;
    out->failed |= json_object_update(out->config, (json_t *)(uintptr_t)whole) != 0;
    for (size_t r = 0; r < PE_LEN(read); r++)
        (void)json_object_del(out->config, read[r]);
    if (gpt_oss) {
        put_gpt_oss(whole, out);
        return true;
    }
    pe_input_put(out, "model_type", "dim", json_string("params"));
    pe_input_take(out, whole, "nope_layer_interval", "no_rope_layer_interval");
    if (json_is_true(json_object_get(whole, "use_scaled_rope")))
        put_llama(whole, out);
    else if (json_is_object(yarn))
        put_mistral(yarn, out);
    else if (json_is_number(json_object_get(whole, "qk_rope_head_dim")))
        pe_input_warn(out, "DeepSeek's own code scales frequencies beyond 4096 tokens (YaRN, "
                           "rope_factor 40), though no key says so: that is not told here");
    return true;
}
