/* SPDX-License-Identifier: MIT */
/* fill.c - what a model says, as values of a resource's rows. */
#include <string.h>

#include "encodings/rope/rope.h"
#include "models/model.h"

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
    if (from->param->kind == PE_KIND_REAL_LIST) {
        double *list = malloc(from->list_length * sizeof *list);
        if (list == NULL)
            return pe_fail_memory(why);
        memcpy(list, from->list, from->list_length * sizeof *list);
        to->list = list;
        to->list_length = from->list_length;
        to->present = true;
        return PE_OK;
    }
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
