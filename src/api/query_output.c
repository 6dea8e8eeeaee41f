/* SPDX-License-Identifier: MIT */
/* query_output.c - format, tensor, figures: the parameters of every resource, and the query string
 * that all equal requests share. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/query.h"
#include "api/value_reading.h"
#include "formats/format.h"
#include "plan/resource.h"

static const char *const encodings[] = {"float", "base64", NULL};
static const char *const csv_headers[] = {"indices", "names", "none", NULL}; /* pe_csv_header */
static const char *const views[] = {"auto", "heatmap", "curves", "own_scales", NULL};
static const char *const themes[] = {"light", "dark", NULL};

/* Texts have bounds of their own. */
#define TEXT_MAX        1e9
#define TENSOR_NAME_MAX 31

#define SIDE(NAME, NOUN, LEAST, USUAL)                                                             \
    PE_PARAM(                                                                                      \
        NAME, INT, .min = LEAST, .max = PE_FIGURE_SIDE_MAX, .fallback = USUAL, .unit = "pixels",   \
        .help = NOUN " of a figure. figure_width and figure_height mean the same everywhere, "     \
                     "and alone where a resource has a width and a height of its own.",            \
        .example = "640")

const pe_param pe_query_output_rows[PE_OUTPUT_N] = {
    [PE_OUTPUT_FORMAT] =
        PE_PARAM("format", TEXT, .canonical = true, .optional = true, .max = TEXT_MAX,
                 .fallback_text = "by Accept",
                 .help = "Representation of the answer; overrides Accept.", .example = "json"),
    [PE_OUTPUT_ENCODING] =
        PE_PARAM("encoding_format", CHOICE, .choices = encodings,
                 .help = "How JSON carries the numbers: as nested arrays (float), or as "
                         "little-endian bytes in base64.",
                 .example = "base64"),
    [PE_OUTPUT_TENSOR] = PE_PARAM("tensor", TEXT, .canonical = true, .max = TEXT_MAX),
    [PE_OUTPUT_CSV_HEADER] =
        PE_PARAM("csv_header", CHOICE, .choices = csv_headers,
                 .help = "The header row of CSV: indices of columns; names, with a column of "
                         "positions before the numbers; or none.",
                 .example = "names"),
    [PE_OUTPUT_VIEW] =
        PE_PARAM("view", CHOICE, .choices = views,
                 .help = "How a figure shows the numbers. auto: one axis as a curve, two as a "
                         "heatmap, more as several heatmaps, all on one scale. own_scales: the "
                         "same, each heatmap on a scale of its own.",
                 .example = "heatmap"),
    [PE_OUTPUT_THEME] = PE_PARAM("theme", CHOICE, .choices = themes,
                                 .help = "The paper of a figure.", .example = "dark"),
    [PE_OUTPUT_WIDTH] = SIDE("width", "Width", PE_FIGURE_WIDTH_MIN, PE_FIGURE_WIDTH),
    [PE_OUTPUT_HEIGHT] = SIDE("height", "Height", PE_FIGURE_HEIGHT_MIN, PE_FIGURE_HEIGHT),
};

size_t pe_query_output_find(const pe_resource *resource, const char *name)
{
    static const char prefix[] = "figure_";
    const bool sized = strncmp(name, prefix, sizeof prefix - 1) == 0;
    const char *plain = sized ? name + sizeof prefix - 1 : name;
    for (size_t i = sized ? PE_OUTPUT_WIDTH : 0; i < PE_OUTPUT_N; i++)
        if (strcmp(pe_query_output_rows[i].name, plain) == 0)
            return pe_params_find(resource->param_sets, name) == NULL ? i : PE_OUTPUT_N;
    return PE_OUTPUT_N;
}

/* The row that it has for a resource: "figure_width" where "width" is the resource's own. */
static const pe_param *row_for(const pe_resource *resource, size_t which)
{
    static const pe_param sized[] = {
        SIDE("figure_width", "Width", PE_FIGURE_WIDTH_MIN, PE_FIGURE_WIDTH),
        SIDE("figure_height", "Height", PE_FIGURE_HEIGHT_MIN, PE_FIGURE_HEIGHT),
    };
    const pe_param *row = &pe_query_output_rows[which];
    return which < PE_OUTPUT_WIDTH || pe_params_find(resource->param_sets, row->name) == NULL
               ? row
               : &sized[which - PE_OUTPUT_WIDTH];
}

void pe_query_output_begin(pe_query *query)
{
    for (size_t i = 0; i < PE_OUTPUT_N; i++) {
        query->output[i].param = row_for(query->resource, i);
        query->output[i].integer = (int64_t)query->output[i].param->fallback;
    }
}

pe_status pe_query_output_set(pe_query *query, size_t which, pe_slice text, bool json,
                              pe_problem *why)
{
    pe_value *value = &query->output[which];
    pe_param row = *value->param;
    const pe_value_reading to = {.param = &row, .value = value, .place = row.name};
    if (which >= PE_OUTPUT_WIDTH &&
        pe_params_find(query->resource->param_sets, "target_grid") != NULL)
        row.hint = "target_grid=HEIGHT,WIDTH is the size of the wanted grid";
    PE_TRY(pe_value_parse(&to, text, json, why));
    if (which == PE_OUTPUT_TENSOR && strlen(value->text) > TENSOR_NAME_MAX)
        return pe_fail(why, PE_INVALID_PARAMETER, row.name, "no tensor is named \"%.40s\"",
                       value->text);
    return which == PE_OUTPUT_FORMAT ? pe_format_parse(value->text, &query->format, why) : PE_OK;
}

pe_rendering pe_query_rendering(const pe_query *query)
{
    const pe_value *output = query->output;
    return (pe_rendering){
        .format = query->format,
        .base64 = output[PE_OUTPUT_ENCODING].choice != 0,
        .tensor = output[PE_OUTPUT_TENSOR].text,
        .csv_header = (pe_csv_header)output[PE_OUTPUT_CSV_HEADER].choice,
        .encoding = query->resource->encoding,
        .resource = query->resource,
        .values = &query->values,
        .figure = {.view = (pe_figure_view)output[PE_OUTPUT_VIEW].choice,
                   .dark = output[PE_OUTPUT_THEME].choice != 0,
                   .width = (size_t)output[PE_OUTPUT_WIDTH].integer,
                   .height = (size_t)output[PE_OUTPUT_HEIGHT].integer},
    };
}

pe_status pe_query_figure_check(const pe_query *query, const pe_format *format, size_t max_pixels,
                                pe_problem *why)
{
    const pe_value *output = query->output;
    const size_t width = (size_t)output[PE_OUTPUT_WIDTH].integer;
    const size_t height = (size_t)output[PE_OUTPUT_HEIGHT].integer;
    for (size_t i = PE_OUTPUT_CSV_HEADER; i < PE_OUTPUT_N; i++) {
        const bool of_figures = i >= PE_OUTPUT_VIEW;
        const char *name = output[i].param->name;
        if (output[i].given && !(of_figures ? format->is_figure : strcmp(format->name, "csv") == 0))
            return pe_fail(why, PE_INVALID_PARAMETER, name, "%s is for %s; the answer would be %s",
                           name, of_figures ? "figures, format=svg or format=png" : "format=csv",
                           format->name);
    }
    if (format->is_figure && width * height > max_pixels)
        return pe_fail(why, PE_INVALID_PARAMETER, output[PE_OUTPUT_WIDTH].param->name,
                       "a figure must have at most figure_max_pixels, %zu, got %zu x %zu",
                       max_pixels, width, height);
    return PE_OK;
}

void pe_query_canonical_string(const pe_query *query, const pe_format *format, pe_buffer *out)
{
    const bool json = format == pe_formats[0], csv = strcmp(format->name, "csv") == 0;
    const bool matters[PE_OUTPUT_VIEW] = {
        [PE_OUTPUT_ENCODING] = json,
        [PE_OUTPUT_TENSOR] = !format->holds_many,
        [PE_OUTPUT_CSV_HEADER] = csv,
    };
    const size_t n = query->values.n;
    const pe_values all = {n + PE_OUTPUT_N, malloc((n + PE_OUTPUT_N) * sizeof *all.value)};
    if (all.value == NULL) {
        out->failed = true;
        return;
    }
    /* Nothing of it is owned. */
    memcpy(all.value, query->values.value, n * sizeof *all.value);
    memcpy(all.value + n, query->output, sizeof query->output);
    for (size_t i = 0; i < PE_OUTPUT_N; i++) {
        pe_value *value = &all.value[n + i];
        const size_t usual = (size_t)value->param->fallback;
        value->present &= i < PE_OUTPUT_VIEW ? matters[i] : format->is_figure;
        value->present &= value->param->kind == PE_KIND_CHOICE ? value->choice != usual
                          : value->param->kind == PE_KIND_INT  ? (size_t)value->integer != usual
                                                               : true;
    }
    all.value[n + PE_OUTPUT_FORMAT].text = (char *)(uintptr_t)format->name;
    all.value[n + PE_OUTPUT_FORMAT].present = !json || query->names_json;
    pe_values_query(&all, out);
    free(all.value);
}
