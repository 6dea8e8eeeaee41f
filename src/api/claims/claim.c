/* SPDX-License-Identifier: MIT */
/* claim.c - what the readers of claims share. */
#include "api/claims/claim.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/nearest.h"
#include "encodings/registry.h"
#include "files/tree.h"
#include "models/catalogue/catalogue.h"

/* What people call a table, and what they call slopes. */
static const struct {
    const char *name, *table, *slopes;
} encodings[] = {
    {"rope", "rope/table", NULL},
    {"sinusoidal", "sinusoidal", NULL},
    {"alibi", "alibi/bias", "alibi/slopes"},
};

static pe_status fail_encoding(const char *encoding, pe_problem *why)
{
    const char *names[PE_LEN(encodings) + 128];
    size_t n = 0;
    for (size_t e = 0; e < PE_LEN(encodings); e++)
        names[n++] = encodings[e].name;
    for (size_t r = 0; pe_registry[r] != NULL && n < PE_LEN(names); r++)
        if (pe_resource_is_claimable(pe_registry[r]))
            names[n++] = pe_registry[r]->name;
    if (strncmp(encoding, "learned/", 8) == 0)
        return pe_fail(why, PE_INVALID_PARAMETER, "encoding",
                       "encoding must be learned, with the name of a table of this server, or "
                       "learned/interpolate, with a table of yours among its parameters; got "
                       "\"%.40s\"",
                       encoding);
    if (pe_registry_find(encoding) != NULL && encoding[0] != '/')
        return pe_fail(why, PE_INVALID_PARAMETER, "encoding",
                       "encoding must be what GET /v1 lists as claimable: %.40s is computed from "
                       "other tensors than its parameters; claim the table that it uses",
                       encoding);
    const char *near = strcasecmp(encoding, "rotary") == 0 ? encodings[0].name
                                                           : pe_nearest_name(encoding, names, n);
    return pe_fail(why, PE_INVALID_PARAMETER, "encoding",
                   "encoding must be rope, sinusoidal, alibi, or one that GET /v1 lists as "
                   "claimable (rope/table); got \"%.40s\"%s%s%s",
                   encoding, near != NULL ? ", did you mean " : "", near != NULL ? near : "",
                   near != NULL ? "?" : "");
}

static pe_status choose(const pe_model *model, const char *layer_type,
                        const pe_model_layers **layers, pe_problem *why)
{
    const pe_status status =
        pe_model_choose(model, layer_type[0] != '\0' ? layer_type : NULL, layers, why);
    if (status == PE_OK && (*layers)->resource == NULL)
        return pe_fail(why, PE_INVALID_PARAMETER, "config",
                       "config must describe layers that encode positions by a formula, got %s",
                       model->encoding);
    return status;
}

pe_status pe_claim_read_config(pe_slice json, const char *layer_type, pe_model **model,
                               const pe_model_layers **layers, pe_problem *why)
{
    json_t *config = NULL;
    *model = NULL;
    while (json.bytes > 0 && memchr(" \t\r\n", json.text[0], 4) != NULL)
        json = (pe_slice){json.text + 1, json.bytes - 1};
    if (json.bytes == 0 || json.text[0] != '{')
        return pe_fail(why, PE_INVALID_PARAMETER, "config", "config must be an object");
    pe_status status = pe_tree_load(json, JSON_REJECT_DUPLICATES, "config", &config, why);
    if (status != PE_OK)
        return status;
    status = pe_model_resolve(config, model, why);
    if (status == PE_OK)
        status = choose(*model, layer_type, layers, why);
    json_decref(config);
    return status;
}

pe_status pe_claim_encoding_of_model(const char *name, char *out, size_t room, pe_problem *why)
{
    const pe_catalogue_file *file;
    pe_model *model = NULL;
    pe_status status = pe_catalogue_find(name, &file, why);
    if (status == PE_OK)
        status = pe_catalogue_read(file, NULL, &model, why);
    if (status == PE_OK)
        snprintf(out, room, "%s", model->encoding);
    pe_model_free(model);
    return status;
}

pe_status pe_claim_set_resource(pe_claim *claim, const char *encoding, bool slopes, pe_problem *why)
{
    const char *name = encoding;
    if (encoding[0] == '\0')
        return pe_fail(why, PE_MISSING_PARAMETER, "encoding",
                       "encoding is required: rope, sinusoidal, alibi, or one that GET /v1 lists "
                       "as claimable");
    for (size_t e = 0; e < PE_LEN(encodings); e++)
        if (strcmp(encodings[e].name, encoding) == 0)
            name = slopes && encodings[e].slopes != NULL ? encodings[e].slopes : encodings[e].table;
    const pe_resource *resource = pe_registry_find(name);
    if (resource == NULL || !pe_resource_is_claimable(resource) || encoding[0] == '/')
        return fail_encoding(encoding, why);
    claim->resource = resource;
    return PE_OK;
}

pe_status pe_claim_set_axis(pe_claim *claim, double axis, pe_problem *why)
{
    if (axis != floor(axis) || axis < -PE_MAX_DIMS || axis >= PE_MAX_DIMS)
        return pe_fail(why, PE_INVALID_PARAMETER, "seq_axis",
                       "seq_axis must be an integer from -8 to 7, got %.17g", axis);
    claim->seq_axis = (int64_t)axis;
    return PE_OK;
}

int64_t pe_claim_axis(const pe_claim *claim, const pe_shape *shape)
{
    return claim->seq_axis < 0 ? claim->seq_axis + (int64_t)shape->ndim : claim->seq_axis;
}

/* The answer is a report, whatever a table's may be. */
static pe_status check_report(const pe_query *query, pe_problem *why)
{
    if (query->format != NULL && strcmp(query->format->name, "json") != 0)
        return pe_fail(why, PE_INVALID_PARAMETER, "format",
                       "format must be json: the answer is a report; got \"%s\"",
                       query->format->name);
    if (query->base64)
        return pe_fail(why, PE_INVALID_PARAMETER, "encoding_format",
                       "encoding_format must be float: the answer is a report; got \"base64\"");
    if (query->tensor[0] != '\0')
        return pe_fail(why, PE_INVALID_PARAMETER, "tensor",
                       "tensor must be left out: the answer is a report");
    return PE_OK;
}

/* Values are planned many times: the claim itself has their tensors. */
static void keep_tensors(pe_claim *claim)
{
    size_t n = 0;
    for (size_t i = 0; i < claim->values.n; i++) {
        pe_array *tensor = &claim->values.value[i].tensor;
        if (tensor->data == NULL || tensor->borrowed)
            continue;
        assert(n < PE_LEN(claim->tensors));
        claim->tensors[n++] = *tensor;
        tensor->borrowed = true;
    }
}

pe_status pe_claim_take_query(pe_claim *claim, pe_query *query, pe_problem *why)
{
    const pe_status status = check_report(query, why);
    const pe_value *numerics = pe_values_find(&query->values, "numerics");
    claim->any_numerics = numerics == NULL || !numerics->given;
    claim->values = query->values;
    query->values = (pe_values){0};
    keep_tensors(claim);
    pe_query_free(query);
    return status;
}
