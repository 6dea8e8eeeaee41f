/* SPDX-License-Identifier: MIT */
/* axes.c - rotations by several axes, each with frequencies of its own. */
#include <math.h>
#include <string.h>

#include "models/layers.h"

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

static double sum_of(const json_t *list)
{
    double sum = 0;
    for (size_t a = 0; a < json_array_size(list); a++)
        sum += json_number_value(json_array_get(list, a));
    return sum;
}

/* What classes of several axes call the channels of each. */
static const char *const axes_keys[] = {"axes_dims",     "axes_dims_rope", "axes_dim",
                                        "axes_dim_rope", "rope_axes_dim",  "rope_axes_dims",
                                        "rope_dim_list", "rope_dim"};

/* CogView4 has the sides of a grid there: channels of several axes fit into a head. */
const char *pe_axes_key(const pe_reader *reader)
{
    static const char *const names[] = {"attention_head_dim", "head_dim"};
    if (reader->type != NULL)
        return pe_type_text(reader->type, "axes_key");
    for (size_t k = 0; k < PE_LEN(axes_keys); k++) {
        const json_t *list = pe_reader_member(reader, axes_keys[k]);
        bool fits = json_array_size(list) > 1;
        for (size_t n = 0; n < PE_LEN(names); n++) {
            const json_t *head_dim = pe_reader_member(reader, names[n]);
            fits &= !json_is_number(head_dim) || sum_of(list) <= json_number_value(head_dim);
        }
        if (fits)
            return axes_keys[k];
    }
    return NULL;
}

bool pe_axes_are(const pe_reader *reader)
{
    return json_object_get(reader->type, "axes") != NULL ||
           (reader->type == NULL && pe_axes_key(reader) != NULL);
}

double pe_axes_sum(const pe_reader *reader)
{
    const char *key = pe_axes_are(reader) ? pe_axes_key(reader) : NULL;
    const json_t *given = key != NULL ? pe_reader_member(reader, key) : NULL;
    return sum_of(json_is_array(given) ? given : json_object_get(reader->type, "axes"));
}

/* A list of the configuration, or of its class. MiniMax-H3 has a number: so many pairs for each axis
 * of its class. */
static void set_list(pe_rope_reading *r, const char *parameter, const char *key, const json_t *own)
{
    const json_t *given = key != NULL ? pe_reader_member(r->reader, key) : NULL;
    const json_t *list = given != NULL ? given : own;
    const char *where = key != NULL ? key : parameter;
    if (list == NULL || r->reader->status != PE_OK)
        return;
    double wide[AXES_MAX];
    for (size_t a = 0; a < AXES_MAX; a++)
        wide[a] = 2 * json_number_value(list);
    json_t *all = json_is_number(list) ? pe_reader_reals(r->reader, wide, json_array_size(own))
                                       : json_incref((json_t *)(uintptr_t)list);
    (void)pe_reader_set(r->reader, &r->kind->values, parameter, where, all);
    pe_reader_report(r->reader, where, list,
                     given != NULL ? PE_MODEL_KEY_USED : PE_MODEL_KEY_DEFAULTED, parameter, NULL);
    json_decref(all);
}

void pe_axes_read(pe_rope_reading *r)
{
    pe_reader *reader = r->reader;
    const json_t *type = reader->type, *own = json_object_get(type, "axes");
    pe_values *values = &r->kind->values;
    if (!pe_axes_are(reader))
        return;
    const double head_dim = (double)pe_values_int(values, "head_dim");
    if (json_is_string(own)) {
        double dims[AXES_MAX];
        const size_t n = divide(json_string_value(own), head_dim, dims);
        json_t *list = pe_reader_reals(reader, dims, n);
        if (reader->status == PE_OK)
            (void)pe_reader_set(reader, values, "axes_dims", "head_dim", list);
        pe_dictionary_set_number(r, "rotary_dim", "head_dim", sum_of(list));
        json_decref(list);
    } else {
        set_list(r, "axes_dims", pe_axes_key(reader), own);
    }
    if (reader->status == PE_OK && !pe_values_present(values, "rotary_dim")) {
        const pe_value *dims = pe_values_find(values, "axes_dims");
        double sum = 0;
        for (size_t a = 0; a < dims->list_length; a++)
            sum += dims->list[a];
        if (sum < head_dim) {
            pe_dictionary_set_number(r, "rotary_dim", "axes_dims", sum);
            pe_reader_warn(reader, "axes take %.0f of %.0f channels: the others do not turn", sum,
                           head_dim);
        }
    }
    set_list(r, "axes_scale", pe_type_text(type, "axes_scale_key"),
             json_object_get(type, "axes_scale"));
}
