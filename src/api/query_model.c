/* SPDX-License-Identifier: MIT */
/* query_model.c - parameters that come from a model of the catalogue. */
#include <stdlib.h>
#include <string.h>

#include "api/query.h"
#include "models/catalogue.h"

static pe_value *text_of(const pe_query *query, const char *name)
{
    pe_value *value = pe_values_find(&query->values, name);
    return value != NULL && value->present ? value : NULL;
}

/* Another encoding's model: say where it belongs. */
static pe_status fail_encoding(const pe_query *query, const char *name, const pe_model *model,
                               pe_problem *why)
{
    const pe_resource *instead = model->kinds[0].resource;
    if (instead != NULL)
        return pe_fail(why, PE_INVALID_PARAMETER, "model",
                       "%s encodes positions with %s, not %s: see %s", name, model->encoding,
                       query->resource->encoding, instead->path);
    return pe_fail(why, PE_INVALID_PARAMETER, "model",
                   "%s encodes positions in another way (%s), not with %s", name, model->encoding,
                   query->resource->encoding);
}

/* What is asked apart from layers. */
static pe_status fill_part(pe_query *query, const char *name, const pe_model *model,
                           const char *lack, pe_problem *why)
{
    const pe_values *part = pe_model_part_find(model, query->resource);
    if (part == NULL)
        return pe_fail(why, PE_INVALID_PARAMETER, "model", "%s %s: there is nothing for it to set",
                       name, lack);
    return pe_model_fill(part, &query->values, why);
}

/* Do positions have rows and columns? */
static bool is_of_patches(const pe_values *values)
{
    return pe_values_find(values, "convention") != NULL || pe_values_find(values, "height") != NULL;
}

static pe_status fill(pe_query *query, const char *name, const char *layer_type,
                      const pe_model *model, pe_problem *why)
{
    const pe_model_layers *layers;
    const char *lack = pe_model_part_lack(query->resource);
    if (lack != NULL)
        return fill_part(query, name, model, lack, why);
    if (strcmp(model->encoding, query->resource->encoding) != 0)
        return fail_encoding(query, name, model, why);
    const pe_status status = pe_model_choose(model, layer_type, &layers, why);
    if (status != PE_OK)
        return status;
    if (layers->resource == NULL)
        return pe_fail(why, PE_INVALID_PARAMETER, "layer_type",
                       "layers of type %s of %s do not rotate", layers->layer_type, name);
    if (is_of_patches(&layers->values) && !is_of_patches(&query->values))
        return pe_fail(why, PE_INVALID_PARAMETER, "model",
                       "%s encodes patches of images by row and column: see %s", name,
                       layers->resource->path);
    return pe_model_fill(&layers->values, &query->values, why);
}

/* What they said is in the values now. */
static void forget(pe_value *value)
{
    if (value == NULL)
        return;
    free(value->text);
    value->text = NULL;
    value->present = value->given = false;
}

/* The model that is given; *model stays NULL without one. */
static pe_status read_model(const pe_value *name, const pe_value *layer_type,
                            const pe_catalogue_file **file, pe_model **model, pe_problem *why)
{
    if (name == NULL && layer_type == NULL)
        return PE_OK;
    if (name == NULL)
        return pe_fail(why, PE_INVALID_PARAMETER, "layer_type",
                       "layer_type needs model: it chooses among the layers of a model");
    const pe_status status = pe_catalogue_find(name->text, file, why);
    return status == PE_OK ? pe_catalogue_read(*file, NULL, model, why) : status;
}

pe_status pe_query_model_fill(pe_query *query, pe_problem *why)
{
    pe_value *name = text_of(query, "model"), *layer_type = text_of(query, "layer_type");
    const pe_catalogue_file *file;
    pe_model *model = NULL;
    pe_status status = read_model(name, layer_type, &file, &model, why);
    if (status != PE_OK || model == NULL)
        return status;
    status = fill(query, file->name, layer_type != NULL ? layer_type->text : NULL, model, why);
    pe_model_free(model);
    forget(name);
    forget(layer_type);
    return status;
}
