/* SPDX-License-Identifier: MIT */
/* query.c - the beginning and end of reading a request, what a model sets, and problems that name a
 * parameter. */
#include "api/query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "encodings/registry.h"
#include "models/catalogue/catalogue.h"

/* ---- parameters that come from a model of the catalogue ---- */

/* Do positions have rows and columns? */
static bool are_of_patches(const pe_values *values)
{
    return pe_values_find(values, "convention") != NULL || pe_values_find(values, "height") != NULL;
}

/* What is asked apart from layers is a part. */
static pe_status fill(pe_query *query, const char *name, const char *layer_type,
                      const pe_model *model, const pe_model_layers **chosen, pe_problem *why)
{
    const pe_model_layers *layers;
    const char *lack = pe_model_part_lack(query->resource);
    const pe_values *part = pe_model_part_find(model, query->resource);
    const bool of_layers = strcmp(model->encoding, query->resource->encoding) == 0;
    if (part != NULL && (lack != NULL || !of_layers))
        return pe_model_fill(part, &query->values, why);
    if (lack != NULL)
        return pe_fail(why, PE_INVALID_PARAMETER, "model", "%s %s: there is nothing for it to set",
                       name, lack);
    if (!of_layers) {
        /* Another encoding's model: say where it belongs. */
        const pe_resource *instead = model->kinds[0].resource;
        return pe_fail(why, PE_INVALID_PARAMETER, "model",
                       "%s encodes positions with %s, not %s%s%s", name, model->encoding,
                       query->resource->encoding, instead != NULL ? ": see " : "",
                       instead != NULL ? instead->path : "");
    }
    PE_TRY(pe_model_choose(model, layer_type, &layers, why));
    if (layers->resource == NULL)
        return pe_fail(why, PE_INVALID_PARAMETER, "layer_type",
                       "layers of type %s of %s do not rotate", layers->layer_type, name);
    if (are_of_patches(&layers->values) && !are_of_patches(&query->values))
        return pe_fail(why, PE_INVALID_PARAMETER, "model",
                       "%s encodes patches of images by row and column: see %s", name,
                       layers->resource->path);
    *chosen = layers;
    return pe_model_fill(&layers->values, &query->values, why);
}

/* What was said is in the values now, unless the row keeps it: then under the name that it has. */
static pe_status settle(pe_value *named, const char *name, pe_problem *why)
{
    const bool kept = named->param->canonical && name != NULL;
    free(named->text);
    named->text = kept ? strdup(name) : NULL;
    named->present = named->text != NULL;
    named->given &= named->present;
    return kept && !named->present ? pe_fail_memory(why) : PE_OK;
}

/* Replace model and layer_type by what they set. */
static pe_status fill_from_model(pe_query *query, pe_problem *why)
{
    pe_value *named[] = {pe_values_find(&query->values, "model"),
                         pe_values_find(&query->values, "layer_type")};
    const char *text[PE_LEN(named)] = {NULL};
    const pe_catalogue_file *file;
    const pe_model_layers *layers = NULL;
    pe_model *model = NULL;
    for (size_t i = 0; i < PE_LEN(named); i++)
        if (named[i] != NULL && named[i]->present)
            text[i] = named[i]->text;
    if (text[0] == NULL && text[1] == NULL)
        return PE_OK;
    if (text[0] == NULL)
        return pe_fail(why, PE_INVALID_PARAMETER, "layer_type",
                       "layer_type needs model: it chooses among the layers of a model");
    PE_TRY(pe_catalogue_find(text[0], &file, why));
    PE_TRY(pe_catalogue_read(file, NULL, &model, why));
    pe_status status = fill(query, file->name, text[1], model, &layers, why);
    const bool read = status == PE_OK && layers != NULL;
    const char *names[] = {read ? file->name : NULL, read ? layers->layer_type : NULL};
    for (size_t i = 0; i < PE_LEN(named); i++)
        if (text[i] != NULL && !pe_status_is_ours(status) &&
            settle(named[i], names[i], why) != PE_OK)
            status = why->status;
    pe_model_free(model);
    return status;
}

/* ---- life ---- */

pe_status pe_query_begin(const pe_resource *resource, pe_query *out, pe_problem *why)
{
    *out = (pe_query){.resource = resource};
    pe_query_output_begin(out);
    return pe_values_make(resource->param_sets, &out->values, why);
}

/* A model that was refused may have set what is not given. */
static void leave_open(pe_values *values)
{
    for (size_t i = 0; i < values->n; i++) {
        const pe_param *param = values->value[i].param;
        const bool by_model = strcmp(param->name, "dtype") != 0 &&
                              (!param->required || param->by_model) &&
                              (param->kind <= PE_KIND_CHOICE || param->kind == PE_KIND_REAL_LIST);
        values->value[i].refused |= !values->value[i].given && by_model;
    }
}

pe_status pe_query_finish(pe_query *query, pe_status status, const pe_read_limits *limits,
                          pe_query *out, pe_problem *why)
{
    pe_problem mistake;
    for (size_t i = 0; i < query->values.n; i++)
        query->values.value[i].refused &= !query->values.value[i].given;
    const bool whole = status == PE_OK || pe_values_set_placeholders(&query->values, 0);
    const bool read = status == PE_OK || (why->where[0] != '\0' && !pe_status_is_ours(status));
    const pe_value *model = pe_values_find(&query->values, "model");
    const bool named = model != NULL && (model->given || model->refused);
    const bool known = named && model->present;
    if (read) { /* what is not given is the model's, or the default */
        const pe_status filled = fill_from_model(query, &mistake);
        status = PE_ALSO(status, filled);
        if (named && (!known || filled != PE_OK))
            leave_open(&query->values);
        if (!pe_status_is_ours(status))
            status = PE_ALSO(status, pe_values_defaults(&query->values, &mistake));
    }
    if (status != PE_OK && !pe_status_is_ours(status) && whole && read && limits->keep_mistakes)
        query->mistakes = malloc(sizeof *query->mistakes);
    if (query->mistakes != NULL) { /* those with places: it is planned for its other ones */
        *query->mistakes = *why;
        status = PE_OK;
    }
    if (status == PE_OK)
        *out = *query;
    else
        pe_query_free(query);
    return status;
}

void pe_query_free(pe_query *query)
{
    if (query == NULL)
        return;
    pe_values_free(&query->values);
    for (size_t i = 0; i < PE_OUTPUT_N; i++)
        pe_value_clear(&query->output[i]);
    pe_buffer_free(&query->synonyms);
    free(query->mistakes);
    *query = (pe_query){0};
}

/* ---- single values ---- */

/* Resources whose path has a name have a row for it. */
static pe_value *name_value(const pe_query *query)
{
    size_t i = 0;
    while (query->values.value[i].param->kind != PE_KIND_NAME)
        i++;
    return &query->values.value[i];
}

pe_status pe_query_set_name(pe_query *query, pe_slice name, pe_problem *why)
{
    pe_value *value = name_value(query);
    if (value->given)
        return pe_fail(why, PE_MALFORMED_REQUEST, "name",
                       "name is part of the path and must not be a parameter, too");
    value->text = strndup(name.text, name.bytes);
    if (value->text == NULL)
        return pe_fail_memory(why);
    value->present = value->given = true;
    return PE_OK;
}

void pe_query_canonical_path(const pe_query *query, pe_buffer *out)
{
    const char *path = query->resource->path;
    const size_t before = strcspn(path, "{");
    pe_buffer_add(out, path, before);
    if (path[before] == '\0')
        return;
    pe_buffer_str(out, name_value(query)->text);
    pe_buffer_str(out, strchr(path, '}') + 1);
}

static void locate(const pe_query *query, char *where, size_t room)
{
    char name[128], place[128];
    const size_t length = strcspn(where, "/"), rest = strlen(where) - length;
    snprintf(name, sizeof name, "%.*s", (int)length, where);
    pe_values_place(&query->values, name, place, sizeof place);
    const size_t used = strlen(place);
    if (used + rest >= room)
        return;
    memmove(where + used, where + length, rest + 1);
    memcpy(where, place, used);
}

void pe_query_locate(const pe_query *query, pe_problem *why)
{
    locate(query, why->where, sizeof why->where);
    for (unsigned i = 0; i < why->n_others; i++)
        locate(query, why->others[i].where, sizeof why->others[i].where);
}

/* ---- problems ---- */

/* More than a resource has, with aliases. */
#define NAMES_MAX 256

/* Every name that may be meant: rows (those of tensors only in a body), the nested object, the
 * representation's, aliases. *own: how many are no figure's and no alias. */
static size_t list_names(const pe_resource *resource, bool in_body, const char *names[NAMES_MAX],
                         size_t *own)
{
    const pe_param *param;
    size_t n = 0;
    for (size_t i = 0; (param = pe_params_at(resource->param_sets, i)) != NULL; i++)
        if (in_body || param->kind != PE_KIND_TENSOR)
            names[n++] = param->name;
    if (in_body && resource->nested != NULL)
        names[n++] = resource->nested;
    *own = n + PE_OUTPUT_CSV_HEADER;
    for (size_t i = 0; i < PE_OUTPUT_N; i++)
        names[n++] = pe_query_output_rows[i].name;
    for (size_t i = 0; (param = pe_params_at(resource->param_sets, i)) != NULL; i++)
        for (const char *const *alias = param->aliases; alias != NULL && *alias != NULL; alias++)
            if (n < NAMES_MAX && (in_body || param->kind != PE_KIND_TENSOR))
                names[n++] = *alias;
    return n;
}

/* Parameters that clients know of other resources; their absence means something. */
static const struct {
    const char *name, *before, *after; /* the path */
} elsewhere[] = {
    {"model", "no model of the catalogue sets parameters of", "; give them one by one"},
    {"layer_type", "layer_type changes no parameter of", ""},
};

static bool has_word(const char *text, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = strstr(text, word); at != NULL; at = strstr(at + 1, word))
        if ((at == text || at[-1] == ' ') && strchr(" ,=", at[length]) != NULL)
            return true;
    return false;
}

pe_status pe_query_fail_unknown(pe_query *query, bool in_body, const char *where, const char *name,
                                pe_slice text, pe_problem *why)
{
    const pe_resource *resource = query->resource;
    for (size_t i = 0; i < PE_LEN(elsewhere); i++)
        if (strcmp(elsewhere[i].name, name) == 0)
            return pe_fail(why, PE_INVALID_PARAMETER, where, "%s %s%s", elsewhere[i].before,
                           resource->path, elsewhere[i].after);
    size_t own;
    const char *names[NAMES_MAX];
    char meant[PE_SUGGESTION_BYTES];
    const size_t n = list_names(resource, in_body, names, &own);
    if (pe_suggestion_find(name, text, names, own, n, meant)) {
        /* What was meant may be given: no default of it counts. One that is required is missing
         * still. */
        if (resource->nested != NULL && strcmp(meant, resource->nested) == 0)
            leave_open(&query->values);
        for (size_t i = 0; i < query->values.n; i++) {
            const pe_param *param = query->values.value[i].param;
            query->values.value[i].refused |= !param->required && has_word(meant, param->name);
        }
        return pe_fail(why, PE_UNKNOWN_PARAMETER, where,
                       "unknown parameter %.64s, did you mean %s?", name, meant);
    }
    const char *advice = strncmp(name, "amp;", 4) == 0 ? "& is written &amp; in HTML alone"
                                                       : pe_suggestion_advice(name);
    if (advice != NULL)
        return pe_fail(why, PE_UNKNOWN_PARAMETER, where, "unknown parameter %.64s; %s", name,
                       advice);
    for (size_t r = 0; pe_registry[r] != NULL; r++) /* a sibling may have it */
        if (strcmp(pe_registry[r]->encoding, resource->encoding) == 0 &&
            pe_params_find(pe_registry[r]->param_sets, name) != NULL)
            return pe_fail(why, PE_UNKNOWN_PARAMETER, where,
                           "unknown parameter %.64s; %s has it, not %s", name, pe_registry[r]->path,
                           resource->path);
    return pe_fail(why, PE_UNKNOWN_PARAMETER, where,
                   "unknown parameter %.64s; GET /v1 lists those of %s", name, resource->path);
}

pe_status pe_query_fail_given(const pe_value *value, const char *where, const char *name,
                              pe_problem *why)
{
    const char *before = value->alias != NULL ? value->alias : value->param->name;
    if (strcmp(before, name) == 0)
        return pe_query_fail_repeated(where, name, why);
    return pe_fail(why, PE_MALFORMED_REQUEST, where, "%.64s is another name of %s: give one", name,
                   before);
}

pe_status pe_query_fail_repeated(const char *where, const char *name, pe_problem *why)
{
    return pe_fail(why, PE_MALFORMED_REQUEST, where, "%.64s is given more than once", name);
}

pe_status pe_query_keep(pe_slice *kept, const char *name, pe_slice text, pe_problem *why)
{
    if (kept->text != NULL)
        return pe_query_fail_repeated(name, name, why);
    *kept = text;
    return PE_OK;
}
