/* SPDX-License-Identifier: MIT */
/* model.c - which layers of a model are meant, and its end. */
#include "models/model.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

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
