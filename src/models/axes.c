/* SPDX-License-Identifier: MIT */
/* axes.c - rotations by several axes, each with frequencies of its own. */
#include "models/axes.h"

#include <math.h>
#include <string.h>

#define AXES_MAX 4

/**
 * How classes divide d channels of a head among axes: those of the first are what the others leave,
 * or none are left over.
 *
 * Source  thirds: huggingface/transformers 5.23.0, MiniMaxM3VLVisionRotaryEmbedding. The others:
 *         huggingface/diffusers 0.36, src/diffusers/models: wan: WanRotaryPosEmbed
 *         (transformers/transformer_wan.py); cosmos: CosmosRotaryPosEmbed (transformer_cosmos.py);
 *         eighths: get_3d_rotary_pos_embed (embeddings.py), of CogVideoX; halves:
 *         CogView4RotaryPosEmbed (transformer_cogview4.py).
 */
static const struct {
    const char *name;
    size_t n;
    double divisor, part; /* axes behind the first: part * floor(d / divisor) channels */
    bool even;            /* the first has as many as the others */
} rules[] = {
    {"thirds", 3, 6, 2, true},   {"wan", 3, 6, 2, false},   {"cosmos", 3, 6, 2, false},
    {"eighths", 3, 8, 3, false}, {"halves", 2, 2, 1, true},
};

static size_t divide(const char *rule, double dim, double out[AXES_MAX])
{
    for (size_t i = 0; i < PE_LEN(rules); i++) {
        if (strcmp(rules[i].name, rule) != 0)
            continue;
        const double others = rules[i].part * floor(dim / rules[i].divisor);
        for (size_t a = 1; a < rules[i].n; a++)
            out[a] = others;
        out[0] = rules[i].even ? others : dim - others * (double)(rules[i].n - 1);
        return rules[i].n;
    }
    return 0;
}

static void set_rule(pe_rope_reading *r, const char *rule)
{
    double dims[AXES_MAX], sum = 0;
    json_t *list = json_array();
    pe_values *values = &r->kind->values;
    const size_t n = divide(rule, (double)pe_values_int(values, "head_dim"), dims);
    int failed = list == NULL;
    for (size_t a = 0; a < n; a++) {
        failed |= json_array_append_new(list, json_real(dims[a]));
        sum += dims[a];
    }
    if (failed != 0)
        pe_reader_fail_memory(r->reader);
    if (r->reader->status == PE_OK)
        (void)pe_reader_set(r->reader, values, "axes_dims", "head_dim", list);
    pe_dictionary_set_number(r, "rotary_dim", "head_dim", sum);
    json_decref(list);
}

/* A list of the configuration, or of its class. */
static void set_list(pe_rope_reading *r, const char *parameter, const char *key, const json_t *own)
{
    const json_t *given = key != NULL ? pe_reader_member(r->reader, key) : NULL;
    const json_t *list = given != NULL ? given : own;
    const char *where = key != NULL ? key : parameter;
    if (list == NULL || r->reader->status != PE_OK)
        return;
    (void)pe_reader_set(r->reader, &r->kind->values, parameter, where, list);
    pe_reader_report(r->reader, where, list,
                     (pe_key_report){given != NULL ? PE_MODEL_KEY_USED : PE_MODEL_KEY_DEFAULTED,
                                     parameter, NULL});
}

void pe_axes_read(pe_rope_reading *r)
{
    const pe_model_type *type = r->reader->type;
    if (type->axes == NULL)
        return;
    if (json_is_string(type->axes))
        set_rule(r, json_string_value(type->axes));
    else
        set_list(r, "axes_dims", type->axes_key, type->axes);
    set_list(r, "axis_order", NULL, type->axis_order);
    set_list(r, "axes_theta", NULL, type->axes_theta);
    set_list(r, "axes_scale", type->axes_scale_key, type->axes_scale);
}
