/* SPDX-License-Identifier: MIT */
/* rope_candidate.c - the model that a comparison is about, what its publisher says, and one of several
 * rope types, read as rope/frequencies would read it. */
#include "compare/compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "encodings/registry.h"
#include "encodings/rope/rope.h"
#include "models/catalogue/catalogue.h"

/* ---- the model ---- */

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

static pe_status read_model(const pe_values *values, const char *name, pe_compared_model *out,
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
    const pe_status status = read_model(values, name->text, out, why);
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

/* ---- a rope type ---- */

static pe_status copy_value(const pe_value *from, pe_value *to, pe_problem *why)
{
    const pe_param *row = to->param;
    *to = *from;
    to->param = row;
    to->list = NULL;
    return from->list != NULL ? pe_value_set_list(to, from->list, from->list_length, why) : PE_OK;
}

/* Not dtype and numerics: they are those of the comparison, and change no frequency. */
static bool is_wanted(const pe_param *param, const pe_rope_type *type)
{
    const pe_rope_key key = pe_rope_key_find(param->name);
    if (key == PE_ROPE_KEYS)
        return param->kind == PE_KIND_INT || param->kind == PE_KIND_REAL ||
               strcmp(param->name, "pairing") == 0;
    return (type->reads & PE_ROPE_BIT(key)) != 0;
}

/* The factor of the model's own type, and that of its publisher's setting, hold as far as they
 * reach; others are of the lengths, or the client's. */
static double own_factor(const pe_compared_model *own, const pe_rope_type *type,
                         const pe_rope_lengths *lengths)
{
    const bool derived =
        lengths->factor == lengths->target / lengths->trained && lengths->trained == own->trained;
    if (derived && type == own->advised && lengths->target == own->advised_length)
        return own->advised_factor;
    const pe_value *factor = pe_values_find(&own->layers->values, "factor");
    if (!derived || type != own->type || !factor->present)
        return lengths->factor;
    return lengths->target <= own->reach ? factor->real
                                         : factor->real * (lengths->target / own->reach);
}

static pe_status read_type(const pe_values *values, const pe_rope_lengths *lengths,
                           const pe_compared_model *own, pe_rope_candidate *out, pe_problem *why)
{
    for (size_t i = 0; i < values->n; i++) {
        pe_value *value = pe_values_find(&out->values, values->value[i].param->name);
        if (value == NULL || !values->value[i].present ||
            !is_wanted(values->value[i].param, out->type))
            continue;
        const pe_value *given = pe_values_find(values, values->value[i].param->name);
        PE_TRY(copy_value(given, value, why));
    }
    if (own->model != NULL) {
        /* What the request does not say of the model's own type is as the model has it. */
        const pe_rope_type *type = out->type;
        const pe_values *from = &own->layers->values;
        for (pe_rope_key k = 0; k < PE_ROPE_KEYS && type == own->type; k++) {
            const pe_value *value = pe_values_find(from, pe_rope_key_name(k));
            pe_value *mine = pe_values_find(&out->values, pe_rope_key_name(k));
            if ((type->reads & PE_ROPE_BIT(k)) != 0 && value->present && !mine->present)
                PE_TRY(copy_value(value, mine, why));
        }
        if ((type->reads & PE_ROPE_BIT(PE_ROPE_FACTOR)) != 0)
            pe_values_set_real(&out->values, "factor", own_factor(own, type, lengths));
    }
    const pe_rope_type *type = out->type;
    pe_value *choice = pe_values_find(&out->values, "rope_type");
    while (pe_rope_types[choice->choice] != type)
        choice->choice++;
    choice->present = true;
    if ((type->reads & PE_ROPE_BIT(PE_ROPE_ORIGINAL)) != 0)
        pe_values_set_int(&out->values, "original_max_position_embeddings",
                          (int64_t)lengths->trained);
    return PE_OK;
}

static pe_status read(const pe_values *values, const pe_rope_lengths *lengths,
                      const pe_compared_model *own, pe_tables *tables, pe_rope_candidate *out,
                      pe_problem *why)
{
    PE_TRY(pe_values_make(pe_rope_frequencies.param_sets, &out->values, why));
    if (out->type != NULL) {
        PE_TRY(read_type(values, lengths, own, out, why));
    } else if (own->model == NULL) {
        return pe_fail(why, PE_INVALID_PARAMETER, "rope_types",
                       "published is the configuration of a model: it needs model");
    } else {
        out->type = own->type;
        PE_TRY(pe_model_fill(&own->layers->values, &out->values, why));
    }
    if ((out->type->reads & PE_ROPE_BIT(PE_ROPE_SEQ_LEN)) != 0)
        pe_values_set_int(&out->values, "seq_len", (int64_t)lengths->target);
    PE_TRY(pe_values_defaults(&out->values, why));
    PE_TRY(pe_rope_read(&out->values, tables, &out->rope, why));
    out->base = pe_rope_wave_base(&out->rope);
    out->attention_factor = pe_rope_wave_attention_factor(&out->rope);
    return pe_rope_wave(&out->rope, PE_ROPE_PLAIN, &out->wave, why);
}

pe_status pe_rope_candidate_read(const pe_values *values, const pe_rope_lengths *lengths,
                                 const pe_compared_model *own, pe_tables *tables,
                                 pe_rope_candidate *candidate, pe_problem *why)
{
    const pe_status status = read(values, lengths, own, tables, candidate, why);
    if (status == PE_OK)
        return PE_OK;
    if (strcmp(why->where, "rope_type") == 0)
        snprintf(why->where, sizeof why->where, "rope_types");
    pe_rope_candidate_free(candidate);
    return status;
}

void pe_rope_candidate_free(pe_rope_candidate *candidate)
{
    pe_tables_unref(&candidate->wave);
    pe_rope_free(&candidate->rope);
    pe_values_free(&candidate->values);
    *candidate = (pe_rope_candidate){0};
}
