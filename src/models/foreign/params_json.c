/* SPDX-License-Identifier: MIT */
/* params_json.c - the params.json of Meta's and of Mistral's own code, and OpenAI's of GPT-OSS. */
#include "models/input.h"

/**
 * Llama 3.1 and later: its code knows 8192 and 1 alone, and until Llama 4 also 8 and 4.
 *
 * Source  meta-llama/llama-models at 408c577168a187941f9359c916004fa3b21fbc3b,
 *         models/llama4/model.py (apply_scaling, apply_rotary_emb); vllm-project/vllm at
 *         01da88c5bef903224038ae4e57d653964740dc04, vllm/transformers_utils/configs/mistral.py;
 *         deepseek-ai/DeepSeek-V3, inference/model.py (ModelArgs, precompute_freqs_cis);
 *         openai/gpt-oss at 0568dfc94f09469e2968c2b90e50561d1b3fc424, gpt_oss/torch/model.py.
 */
bool pe_input_params(pe_input *out)
{
    static const char *const numbers[] = {"dim", "n_layers", "n_heads"},
                             *const read[] = {"rope_scaling_factor", "rope_high_freq_factor",
                                              "use_scaled_rope",     "yarn",
                                              "rope_ntk_alpha",      "rope_ntk_beta",
                                              "nope_layer_interval"};
    const json_t *whole = out->whole;
    const bool gpt_oss = json_is_number(json_object_get(whole, "rope_ntk_alpha"));
    /* Has the object the arguments of Meta's code, which Mistral's has too? */
    bool params = json_object_get(whole, "hidden_size") == NULL;
    for (size_t n = 0; n < PE_LEN(numbers); n++)
        params &= json_is_number(json_object_get(whole, numbers[n]));
    if (json_object_get(whole, "model_type") != NULL || (!gpt_oss && !params))
        return false;
    out->failed |= json_object_update(out->config, (json_t *)(uintptr_t)whole) != 0;
    for (size_t r = 0; r < PE_LEN(read); r++)
        (void)json_object_del(out->config, read[r]);
    if (gpt_oss) {
        pe_input_rename(out, "params gpt_oss");
        return true;
    }
    pe_input_put(out, "model_type", "dim", json_string("params"));
    pe_input_take(out, "nope_layer_interval", "no_rope_layer_interval");
    if (json_is_true(json_object_get(whole, "use_scaled_rope"))) {
        pe_input_rename(out, "params llama3");
        if (json_object_get(whole, "rope_scaling_factor") == NULL)
            pe_input_warn(out, "use_scaled_rope without rope_scaling_factor: 8, as in Llama 3.1; "
                               "models of Llama 3.2 with 1B and 3B have 32");
    } else if (json_is_object(json_object_get(whole, "yarn"))) {
        pe_input_rename(out, "params yarn");
        if (json_is_false(pe_input_member(out, "yarn/apply_scale")))
            pe_input_put(out, "rope_scaling/attention_factor", "yarn/apply_scale", json_real(1));
    } else if (json_is_number(json_object_get(whole, "qk_rope_head_dim"))) {
        pe_input_warn(out, "DeepSeek's own code scales frequencies beyond 4096 tokens (YaRN, "
                           "rope_factor 40), though no key says so: that is not told here");
    }
    return true;
}
