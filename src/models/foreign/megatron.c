/* SPDX-License-Identifier: MIT */
/* megatron.c - arguments of Megatron-LM, or a configuration of NeMo, whose model it trains. */
#include "models/input.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void put_latent(pe_input *m)
{
    const char *type = json_string_value(pe_input_member(m, "rope_type"));
    pe_input_rename(m, "megatron latent");
    if ((type != NULL && strcmp(type, "yarn") != 0) ||
        pe_input_number(m, "rotary_scaling_factor", 1) <= 1)
        return;
    pe_input_rename(m, "megatron yarn");
    /* Cosines grow by m(mscale) / m(mscale_all_dim), m(x) = 1 + x ln(factor) / 10, where neither is
     * read as absent. */
    const double mscale = pe_input_number(m, "mscale", 1),
                 all = pe_input_number(m, "mscale_all_dim", 0);
    const double grown = log(pe_input_number(m, "rotary_scaling_factor", 1)) / 10;
    if (mscale != 0 && all != 0) {
        pe_input_take(m, "mscale", "rope_scaling/mscale");
        pe_input_take(m, "mscale_all_dim", "rope_scaling/mscale_all_dim");
    } else if (grown > 0) {
        pe_input_put(m, "rope_scaling/attention_factor", "mscale",
                     json_real((1 + mscale * grown) / (1 + all * grown)));
    }
}

/* Any of some keys, where there is no model_type, is one of Megatron's. */
static bool is_megatron(pe_input *input)
{
    const json_t *telling = pe_input_table("megatron alone");
    bool given = false;
    for (size_t t = 0; t < json_array_size(telling); t++)
        given |= pe_input_member(input, json_string_value(json_array_get(telling, t))) != NULL;
    return given && pe_input_member(input, "model_type") == NULL;
}

/**
 * Source  NVIDIA/Megatron-LM at 00caa53af30912914981c86f39db123961678bbd, megatron/core/models/
 *         common/embeddings/rotary_pos_embedding.py; rope_utils.py beside it (pairs of latent attention);
 *         megatron/training/arguments.py (names, no_rope_freq).
 */
bool pe_input_megatron(pe_input *m)
{
    bool found = is_megatron(m);
    snprintf(m->prefix, sizeof m->prefix, "%s", found ? "" : "model/");
    if (!found && !(found = is_megatron(m)))
        m->prefix[0] = '\0';
    if (!found)
        return false;
    pe_input_rename(m, "megatron");
    if (json_is_true(pe_input_member(m, "use_rotary_position_embeddings")))
        pe_input_put(m, "position_embedding_type", "use_rotary_position_embeddings",
                     json_string("rope"));
    pe_input_put(m, "model_type", "position_embedding_type", json_string("megatron"));
    const char *divisor = pe_input_member(m, "rotary_seq_len_interpolation_factor") != NULL
                              ? "rotary_seq_len_interpolation_factor"
                              : "seq_len_interpolation_factor";
    const bool divided = pe_input_member(m, divisor) != NULL;
    const bool latent = json_is_true(pe_input_member(m, "multi_latent_attention"));
    if (latent) {
        put_latent(m);
    } else if (json_is_true(pe_input_member(m, "use_rope_scaling"))) { /* as Llama 3.1 */
        pe_input_rename(m, "megatron llama3");
        if (divided)
            pe_input_warn(m, "%s is not told: it divides positions beside use_rope_scaling",
                          divisor);
    } else if (divided) {
        pe_input_put(m, "rope_scaling/rope_type", divisor, json_string("linear"));
        pe_input_take(m, divisor, "rope_scaling/factor");
    }
    if (!latent)
        pe_input_rename(m, "megatron sections");
    /* 1 is for a layer that does not rotate; a number n for every n-th. */
    const json_t *skipped = pe_input_member(m, "no_rope_freq");
    json_t *list = json_is_array(skipped) ? json_array() : NULL;
    for (size_t i = 0; i < json_array_size(skipped); i++)
        m->failed |= json_array_append_new(
                         list, json_real(1 - json_number_value(json_array_get(skipped, i)))) != 0;
    if (list != NULL)
        pe_input_put(m, "no_rope_layers", "no_rope_freq", list);
    else if (skipped != NULL)
        pe_input_take(m, "no_rope_freq", "no_rope_layer_interval");
    return true;
}
