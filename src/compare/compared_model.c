/* SPDX-License-Identifier: MIT */
/* compared_model.c - the model that a comparison is about, and what its publisher says. */
#include <stdlib.h>
#include <string.h>

#include "compare/rope_candidate.h"
#include "models/catalogue/catalogue.h"
#include "plan/plan.h"

static double number_or(const pe_values *values, const char *name, double otherwise)
{
    const pe_value *value = pe_values_find(values, name);
    if (value == NULL || !value->present)
        return otherwise;
    return value->param->kind == PE_KIND_INT ? (double)value->integer : value->real;
}

static double member(const json_t *object, const char *name)
{
    return json_number_value(json_object_get(object, name));
}

static pe_status read(const pe_values *values, const char *name, pe_compared_model *out,
                      pe_problem *why)
{
    const pe_value *layer_type = pe_values_find(values, "layer_type");
    const pe_catalogue_file *file;
    PE_TRY(pe_catalogue_find(name, &file, why));
    PE_TRY(pe_catalogue_read(file, &out->tree, &out->model, why));
    PE_TRY(pe_model_choose(out->model, layer_type->present ? layer_type->text : NULL, &out->layers,
                           why));
    const pe_value *type = pe_values_find(&out->layers->values, "rope_type");
    if (type == NULL)
        return pe_fail(why, PE_INVALID_PARAMETER, "model", "%s does not rotate", name);
    out->type = pe_rope_types[type->choice];
    if (out->type->whole_head)
        return pe_fail(why, PE_INVALID_PARAMETER, "model",
                       "layers of %s of %s have rope_type %s, whose pairs are not those of other "
                       "types: it is not compared",
                       out->layers->layer_type, name, out->type->name);
    for (size_t k = 0; k < out->model->n_keys; k++)
        out->latent |= strstr(out->model->keys[k].pointer, "qk_rope_head_dim") != NULL;
    /* A model that is scaled says a length with its scaling, and mostly the one without. */
    const pe_values *its = &out->layers->values;
    const double factor = number_or(its, "factor", 1);
    out->reach = out->trained = number_or(its, "max_position_embeddings", 0);
    if (out->type == &pe_rope_dynamic)
        out->reach *= factor;
    else if (out->type != &pe_rope_default)
        out->trained = number_or(its, "original_max_position_embeddings", out->trained / factor);
    /* What its publisher advises. */
    const json_t *advice = json_object_get(out->tree, "long_context");
    const json_t *scaling = json_object_get(advice, "rope_scaling");
    const char *scaled_by = json_string_value(json_object_get(scaling, "rope_type"));
    for (size_t t = 0; pe_rope_types[t] != NULL && scaled_by != NULL; t++)
        if (strcmp(pe_rope_types[t]->name, scaled_by) == 0)
            out->advised = pe_rope_types[t];
    if (advice != NULL) {
        out->advised_factor = member(scaling, "factor");
        out->advised_length = member(advice, "max_position_embeddings");
        out->trained = member(scaling, "original_max_position_embeddings");
    }
    return PE_OK;
}

pe_status pe_compared_model_read(const pe_values *values, pe_compared_model *out, pe_problem *why)
{
    const pe_value *name = pe_values_find(values, "model");
    if (!name->present || name->text == NULL)
        return PE_OK;
    const pe_status status = read(values, name->text, out, why);
    if (status != PE_OK)
        pe_compared_model_free(out);
    return status;
}

void pe_compared_model_free(pe_compared_model *own)
{
    json_decref(own->tree);
    pe_model_free(own->model);
    *own = (pe_compared_model){0};
}

/* ---- warnings ---- */

/* Do layers of this type see no further than a window? */
static bool is_windowed(const char *layer_type)
{
    return strncmp(layer_type, "sliding", strlen("sliding")) == 0 ||
           strncmp(layer_type, "chunked", strlen("chunked")) == 0;
}

/* A longer context needs layers that see it and are scaled. */
static void warn_of_windows(const pe_compared_model *own, pe_plan *plan)
{
    const char *standing = NULL, *reached = NULL;
    for (size_t k = 0; k < own->model->n_kinds; k++) {
        const pe_model_layers *kind = &own->model->kinds[k];
        const bool scaled = kind->scaling != NULL && own->layers->scaling != NULL &&
                            strcmp(kind->scaling, own->layers->scaling) == 0;
        if (scaled && !is_windowed(kind->layer_type))
            return;
        if (scaled)
            reached = kind->layer_type;
        else if (kind->resource == NULL && !is_windowed(kind->layer_type))
            standing = kind->layer_type;
    }
    if (reached == NULL)
        pe_plan_warn(plan,
                     "no setting reaches layers of %s: the class of this model reads no "
                     "scaling of theirs",
                     own->layers->layer_type);
    else if (standing != NULL)
        pe_plan_warn(plan,
                     "settings reach layers of %s alone, which see no further than their window: "
                     "those of %s do not rotate, and need no setting for a longer context",
                     reached, standing);
    else
        pe_plan_warn(plan,
                     "settings reach layers of %s alone, which see no further than their window",
                     reached);
}

void pe_compared_model_warn(const pe_compared_model *own, const pe_rope_lengths *lengths,
                            pe_plan *plan)
{
    if (own->model == NULL)
        return;
    warn_of_windows(own, plan);
    if (own->advised != NULL) {
        if (lengths->trained != own->trained)
            pe_plan_warn(plan,
                         "the publisher's own setting is %s with factor %.17g of %.0f tokens for "
                         "%.0f: max_position_embeddings %.0f gives other frequencies",
                         own->advised->name, own->advised_factor, own->trained, own->advised_length,
                         lengths->trained);
        else if (own->trained != own->reach)
            pe_plan_warn(plan,
                         "the publisher's own setting is %s with factor %.17g of %.0f tokens for "
                         "%.0f: that length counts here, not max_position_embeddings of the "
                         "configuration, %.0f",
                         own->advised->name, own->advised_factor, own->trained, own->advised_length,
                         own->reach);
    }
    if (own->reach >= lengths->target && own->type != &pe_rope_default)
        pe_plan_warn(plan,
                     "the published configuration reaches %.0f tokens as it is: other scalings "
                     "than %s are not those that the model was trained with",
                     own->reach, own->type->name);
}
