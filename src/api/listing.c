/* SPDX-License-Identifier: MIT */
/* listing.c - GET /v1: the resources, their parameters, pages, formats and bounds. */
#include <math.h>
#include <string.h>

#include "api/documents.h"
#include "api/query.h"
#include "api/suggestion.h"
#include "encodings/registry.h"
#include "formats/json_write.h"

static const char *const types[] = {
    [PE_KIND_INT] = "integer",       [PE_KIND_REAL] = "number",
    [PE_KIND_BOOL] = "boolean",      [PE_KIND_CHOICE] = "string",
    [PE_KIND_REAL_LIST] = "numbers", [PE_KIND_POSITIONS] = "positions",
    [PE_KIND_TENSOR] = "tensor",     [PE_KIND_TOKEN_RUNS] = "spans",
    [PE_KIND_TEXT] = "text",         [PE_KIND_CHOICES] = "choices",
    [PE_KIND_NAME] = "name",
};

/* A number, a truth, or the text that stands for a default that others decide. */
static void put_default(const pe_param *param, pe_buffer *out)
{
    if (param->required)
        return;
    if (param->fallback_text != NULL) {
        pe_json_write_text(out, "default", param->fallback_text);
        return;
    }
    if (param->optional && param->kind != PE_KIND_BOOL)
        return;
    if (param->kind == PE_KIND_INT || param->kind == PE_KIND_REAL) {
        pe_json_write_number(out, "default", param->fallback);
    } else if (param->kind == PE_KIND_BOOL) {
        pe_json_write_truth(out, "default", param->fallback != 0);
    } else if (param->kind == PE_KIND_CHOICE) {
        pe_json_write_text(out, "default", param->choices[(size_t)param->fallback]);
    }
}

static void put_param(const pe_param *param, const pe_resource *resource, pe_buffer *out)
{
    pe_json_write_open(out, NULL, "{");
    pe_json_write_text(out, "name", param->name);
    /* What else the resource takes it by, where that is no parameter of its own. */
    enum { MOST = 40 };
    const char *names[MOST];
    size_t n = 0;
    for (size_t i = 0; param->aliases != NULL && param->aliases[i] != NULL; i++)
        if (resource == NULL || pe_params_find(resource->param_sets, param->aliases[i]) == NULL)
            names[n++] = param->aliases[i];
    if (resource != NULL)
        n += pe_suggestion_aliases(resource->param_sets, param, names + n, MOST - n);
    if (n > 0)
        pe_json_write_texts(out, "aliases", names, n);
    pe_json_write_text(out, "type", types[param->kind]);
    pe_json_write_truth(out, "required", param->required && !param->by_model);
    if (param->required && param->by_model)
        pe_json_write_text(out, "required_unless", "model");
    put_default(param, out);
    /* Rows that leave both bounds at 0 have none. */
    const bool bounded = (param->kind == PE_KIND_INT || param->kind == PE_KIND_REAL ||
                          param->kind == PE_KIND_REAL_LIST) &&
                         (param->min != 0 || param->max != 0);
    if (bounded && isfinite(param->min))
        pe_json_write_number(out, param->above_min ? "exclusive_minimum" : "minimum", param->min);
    if (bounded && isfinite(param->max))
        pe_json_write_number(out, "maximum", param->max);
    if (param->list_max != 0)
        pe_json_write_number(out, "max_items", (double)param->list_max);
    if (param->kind == PE_KIND_REAL_LIST && param->integers_only)
        pe_json_write_truth(out, "integers", true);
    if (param->list_row != 0)
        pe_json_write_number(out, "row_items", (double)param->list_row);
    if (param->kind == PE_KIND_POSITIONS && (param->two_axes || param->three_axes))
        pe_json_write_number(out, "max_axes", param->three_axes ? 3 : 2);
    if (param->kind == PE_KIND_TEXT)
        pe_json_write_number(out, "max_length", param->max);
    if (param->kind == PE_KIND_CHOICE || param->kind == PE_KIND_TOKEN_RUNS ||
        param->kind == PE_KIND_CHOICES)
        pe_json_write_texts(out, "choices", param->choices, SIZE_MAX);
    pe_json_write_text(out, "unit", param->unit);
    pe_json_write_text(out, "description", param->help);
    pe_json_write_text(out, "example", param->example);
    pe_buffer_str(out, "}");
}

static void put_path(const pe_resource *resource, pe_buffer *out)
{
    static const char *const table[] = {"GET", "HEAD", "POST", "OPTIONS", NULL};
    static const char *const transform[] = {"POST", "OPTIONS", NULL};
    pe_json_write_text(out, "path", resource->path);
    pe_json_write_texts(out, "methods", resource->kind == PE_TABLE ? table : transform, SIZE_MAX);
}

void pe_listing_family(const char *path, pe_buffer *out)
{
    const size_t bytes = strlen(path);
    pe_buffer_str(out, "{");
    pe_json_write_open(out, "resources", "[");
    for (size_t i = 0; pe_registry[i] != NULL; i++) {
        const pe_resource *resource = pe_registry[i];
        if (strncmp(resource->path, path, bytes) != 0 || resource->path[bytes] != '/')
            continue;
        pe_json_write_open(out, NULL, "{");
        put_path(resource, out);
        pe_json_write_text(out, "summary", resource->summary);
        pe_buffer_str(out, "}");
    }
    pe_buffer_str(out, "]}");
}

static void put_resource(const pe_resource *resource, pe_buffer *out)
{
    const pe_param *param;
    pe_json_write_open(out, NULL, "{");
    put_path(resource, out);
    pe_json_write_text(out, "encoding", resource->encoding);
    if (pe_resource_is_claimable(resource))
        pe_json_write_text(out, "claimable", resource->name);
    pe_json_write_text(out, "summary", resource->summary);
    pe_json_write_text(out, "formula", resource->formula);
    pe_json_write_text(out, "source", resource->source);
    pe_json_write_text(out, "nested", resource->nested);
    pe_json_write_open(out, "parameters", "[");
    for (size_t i = 0; (param = pe_params_at(resource->param_sets, i)) != NULL; i++)
        put_param(param, resource, out);
    pe_buffer_str(out, "]}");
}

/* What answers besides the resources of numbers. */
static const struct {
    const char *path, *method, *summary;
} pages[] = {
    {"/", "GET", "Links to what there is, or the explorer for browsers."},
    {"/assets/{path}", "GET", "The files of the explorer."},
    {"/docs", "GET", "The reference as a page, with a form for each operation."},
    {"/favicon.ico", "GET", "The icon of the pages."},
    {"/v1", "GET", "This listing, or the reference for browsers."},
    {"/v1/verify", "POST", "Compares a table with what its claim says, and names faults."},
    {"/v1/models", "GET", "The catalogue of models; q searches it."},
    {"/v1/models/{name}", "GET", "A model, its sources, and the parameters that it sets."},
    {"/v1/models/resolve", "POST", "What each key of a model's configuration means."},
    {"/v1/packs", "GET", "The golden packs: numbers for tests, with their digests."},
    {"/v1/packs/{name}", "GET", "A golden pack; name@sha256-... is one of that digest."},
    {"/v1/learned", "GET", "The learned tables of this server."},
    {"/v1/alibi", "GET", "The resources of ALiBi."},
    {"/v1/rope", "GET", "The resources of RoPE."},
    {"/v1/shaw", "GET", "The resources of relative embeddings (Shaw)."},
    {"/v1/swin", "GET", "The resources of Swin."},
    {"/v1/t5", "GET", "The resources of T5 and DeBERTa."},
    {"/problems/{code}", "GET", "What a problem code means."},
    {"/openapi.yaml", "GET", "The description of all operations."},
    {"/openapi.json", "GET", "The same as JSON."},
    {"/livez", "GET", "Whether the process runs."},
    {"/readyz", "GET", "Whether the server takes requests."},
    {"/healthz", "GET", "The state of the server and its caches."},
    {"/version", "GET", "The version of the program."},
    {"/metrics", "GET", "Counters for Prometheus, where no admin listener has them."},
};

/* The parameters that every resource takes besides its own. */
static void put_representation(pe_buffer *out)
{
    const char *formats[16] = {0};
    for (size_t i = 0; i + 1 < PE_LEN(formats) && pe_formats[i] != NULL; i++)
        formats[i] = pe_formats[i]->name;
    pe_param format = pe_query_output_rows[PE_OUTPUT_FORMAT];
    format.kind = PE_KIND_CHOICE;
    format.choices = formats;
    pe_json_write_open(out, "representation", "[");
    put_param(&format, NULL, out);
    for (size_t which = PE_OUTPUT_ENCODING; which < PE_OUTPUT_N; which++)
        if (which != PE_OUTPUT_TENSOR)
            put_param(&pe_query_output_rows[which], NULL, out);
        else
            pe_buffer_str(out,
                          ",{\"name\":\"tensor\",\"type\":\"string\",\"required\":false,"
                          "\"description\":\"The tensor that the answer holds. It chooses one of "
                          "several where the format holds one.\",\"example\":\"cos\"}");
    pe_buffer_str(out, "]");
}

void pe_listing_json(const pe_listing_bound *bounds, size_t n_bounds, pe_buffer *out)
{
    pe_buffer_str(out, "{");
    pe_json_write_open(out, "encodings", "[");
    for (size_t i = 0; pe_registry[i] != NULL; i++)
        put_resource(pe_registry[i], out);
    pe_buffer_str(out, "]");
    pe_json_write_open(out, "pages", "[");
    for (size_t i = 0; i < PE_LEN(pages); i++) {
        pe_json_write_open(out, NULL, "{");
        pe_json_write_text(out, "path", pages[i].path);
        pe_json_write_text(out, "method", pages[i].method);
        pe_json_write_text(out, "summary", pages[i].summary);
        pe_buffer_str(out, "}");
    }
    pe_buffer_str(out, "]");
    put_representation(out);
    pe_json_write_open(out, "formats", "[");
    for (size_t i = 0; pe_formats[i] != NULL; i++) {
        pe_json_write_open(out, NULL, "{");
        pe_json_write_text(out, "name", pe_formats[i]->name);
        pe_json_write_text(out, "media_type", pe_formats[i]->media_type);
        pe_json_write_text(out, "extension", pe_formats[i]->extension);
        pe_json_write_text(out, "tensors",
                           pe_formats[i]->holds_many || pe_formats[i]->holds_any ? "all" : "one");
        pe_json_write_truth(out, "ranges", pe_formats[i]->known_length);
        pe_json_write_text(out, "description", pe_formats[i]->help);
        pe_buffer_str(out, "}");
    }
    pe_buffer_str(out, "]");
    pe_json_write_open(out, "bounds", "{");
    for (size_t i = 0; i < n_bounds; i++) {
        pe_json_write_open(out, bounds[i].name, "{");
        pe_json_write_number(out, "value", bounds[i].value);
        pe_json_write_text(out, "unit", bounds[i].unit);
        pe_buffer_str(out, "}");
    }
    pe_buffer_str(out, "}");
    pe_buffer_str(out, "}\n");
}
