/* SPDX-License-Identifier: MIT */
/* model.c - which layers of a model are meant, what they say as values of a resource, and its end. */
#include "models/model.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "encodings/rope/rope.h"

pe_status pe_model_choose(const pe_model *model, const char *layer_type,
                          const pe_model_layers **out, pe_problem *why)
{
    const pe_model_layers *found = NULL;
    if (layer_type == NULL) {
        *out = &model->kinds[0];
        return PE_OK;
    }
    char *end;
    const unsigned long long layer = strtoull(layer_type, &end, 10);
    const bool counted = isdigit((unsigned char)layer_type[0]) && *end == '\0';
    for (size_t k = 0; k < model->n_kinds && found == NULL; k++)
        if (strcmp(model->kinds[k].layer_type, layer_type) == 0)
            found = &model->kinds[k];
    for (size_t k = 0; k < model->n_kinds && counted; k++)
        for (size_t i = 0; i < model->kinds[k].n && found == NULL; i++)
            if (model->kinds[k].index[i] == layer)
                found = &model->kinds[k];
    if (found == NULL) {
        pe_buffer known = {0};
        for (size_t k = 0; k < model->n_kinds; k++)
            pe_buffer_format(&known, k == 0 ? "%s" : ", %s", model->kinds[k].layer_type);
        if (model->n_layers != 0)
            pe_buffer_format(&known, ", or a layer from 0 to %zu", model->n_layers - 1);
        const pe_status status =
            pe_fail(why, PE_INVALID_PARAMETER, "layer_type",
                    "layer_type must be one of %s; got %.40s", pe_buffer_text(&known), layer_type);
        pe_buffer_free(&known);
        return status;
    }
    *out = found;
    return PE_OK;
}

/* Did the client ask for another type of scaling? A resource with methods of its own has none. */
static bool asks_other_type(const pe_values *from, const pe_values *to)
{
    const pe_value *asked = pe_values_find(to, "rope_type"),
                   *own = pe_values_find(from, "rope_type");
    if (own == NULL)
        return false;
    if (asked == NULL)
        return pe_values_find(to, "method") != NULL || pe_values_find(to, "rope_types") != NULL;
    return asked->given &&
           strcmp(asked->param->choices[asked->choice], own->param->choices[own->choice]) != 0;
}

/* Would the model's value contradict what the client gave? Then it is not filled in. */
static bool is_left_out(const pe_values *to, const char *name, bool another_type)
{
    const pe_rope_key key = pe_rope_key_find(name);
    if (another_type && key != PE_ROPE_KEYS && key != PE_ROPE_MAX_POSITIONS)
        return true;
    if (strncmp(name, "mrope_", strlen("mrope_")) == 0)
        return pe_values_given(to, "axes_dims");
    if (strcmp(name, "rotary_dim") == 0)
        return pe_values_given(to, "head_dim") || pe_values_given(to, "partial_rotary_factor");
    if (strcmp(name, "partial_rotary_factor") == 0)
        return pe_values_given(to, "rotary_dim");
    return false;
}

static pe_status copy(const pe_value *from, pe_value *to, pe_problem *why)
{
    if (from->param->kind == PE_KIND_CHOICE) {
        const char *wanted = from->param->choices[from->choice];
        for (size_t c = 0; to->param->choices[c] != NULL; c++)
            if (strcmp(to->param->choices[c], wanted) == 0) {
                to->choice = c;
                to->present = true;
                return PE_OK;
            }
        return pe_fail(why, PE_INVALID_PARAMETER, "model",
                       "the model has %s %s, which is not offered here", from->param->name, wanted);
    }
    if (from->param->kind == PE_KIND_REAL_LIST)
        return pe_value_set_list(to, from->list, from->list_length, why);
    to->integer = from->integer;
    to->real = from->real;
    to->truth = from->truth;
    to->present = true;
    return PE_OK;
}

pe_status pe_model_fill(const pe_values *from, pe_values *values, pe_problem *why)
{
    const bool another_type = asks_other_type(from, values);
    /* A resource with one dimension takes the model's rotary_dim for it. */
    const bool one_dim =
        pe_values_find(values, "rotary_dim") == NULL && pe_values_find(from, "rotary_dim") != NULL;
    for (size_t i = 0; i < from->n; i++) {
        const pe_param *row = from->value[i].param;
        const char *name = !one_dim                               ? row->name
                           : strcmp(row->name, "rotary_dim") == 0 ? "head_dim"
                           : strcmp(row->name, "head_dim") == 0   ? "rotary_dim"
                                                                  : row->name;
        pe_value *to = pe_values_find(values, name);
        if (!from->value[i].present || to == NULL || to->given ||
            is_left_out(values, row->name, another_type))
            continue;
        PE_TRY(copy(&from->value[i], to, why));
    }
    return PE_OK;
}

void pe_model_free(pe_model *model)
{
    if (model == NULL)
        return;
    for (size_t k = 0; k < model->n_kinds; k++) {
        free(model->kinds[k].layer_type);
        free(model->kinds[k].index);
        free(model->kinds[k].scaling);
        pe_values_free(&model->kinds[k].values);
    }
    for (size_t p = 0; p < model->n_parts; p++)
        pe_values_free(&model->parts[p].values);
    for (size_t k = 0; k < model->n_keys; k++) {
        free(model->keys[k].pointer);
        free(model->keys[k].value);
        free(model->keys[k].note);
    }
    for (size_t w = 0; w < model->n_warnings; w++)
        free(model->warnings[w]);
    for (size_t t = 0; t < model->n_towers; t++) {
        free(model->towers[t].pointer);
        pe_model_free(model->towers[t].model);
    }
    free(model->kinds);
    free(model->keys);
    free(model->warnings);
    free(model);
}
