/* SPDX-License-Identifier: MIT */
/* query_output.c - format, tensor, figures: the parameters of every resource, and the query string
 * that all equal requests share. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/query.h"
#include "api/value_reading.h"
#include "formats/negotiate.h"
#include "plan/resource.h"

static const char *const encodings[] = {"float", "base64", NULL};
static const char *const csv_headers[] = {"indices", "names", "none", NULL}; /* pe_csv_header */
static const char *const views[] = {"auto", "heatmap", "curves", "own_scales", NULL};
static const char *const themes[] = {"light", "dark", NULL};

/* Texts have bounds of their own. */
#define TEXT_MAX 1e9

/* The longest side of the picture of an error. */
#define PE_FIGURE_PEEKED_MAX ((size_t)2048)

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

/* The name that it has for a resource: "figure_width" where "width" is the resource's own. */
static const char *name_for(const pe_resource *resource, size_t which)
{
    static const char *const sized[] = {"figure_width", "figure_height"};
    const char *name = pe_query_output_rows[which].name;
    return which < PE_OUTPUT_WIDTH || pe_params_find(resource->param_sets, name) == NULL
               ? name
               : sized[which - PE_OUTPUT_WIDTH];
}

pe_status pe_query_output_set(pe_query *query, size_t which, pe_slice text, bool json,
                              pe_problem *why)
{
    pe_figure_options *figure = &query->figure;
    const char *name = name_for(query->resource, which);
    pe_param row = pe_query_output_rows[which];
    pe_value value = {.param = &row};
    const pe_value_reading to = {.param = &row, .value = &value, .place = name};
    pe_status status = PE_OK;
    row.name = name;
    if (which >= PE_OUTPUT_WIDTH &&
        pe_params_find(query->resource->param_sets, "target_grid") != NULL)
        row.hint = "target_grid=HEIGHT,WIDTH is the size of the wanted grid";
    PE_TRY(json ? pe_value_json_parse(&to, text, why) : pe_value_text_parse(&to, text, why));
    switch (which) {
    case PE_OUTPUT_FORMAT:
        status = pe_format_parse(value.text, &query->format, why);
        break;
    case PE_OUTPUT_ENCODING:
        query->base64 = value.choice == 1;
        break;
    case PE_OUTPUT_TENSOR:
        if (strlen(value.text) < sizeof query->tensor)
            memcpy(query->tensor, value.text, strlen(value.text) + 1);
        else
            status = pe_fail(why, PE_INVALID_PARAMETER, name, "no tensor is named \"%.40s\"",
                             value.text);
        break;
    case PE_OUTPUT_CSV_HEADER:
        query->csv_header = (pe_csv_header)value.choice;
        query->csv_asked = true;
        break;
    case PE_OUTPUT_VIEW:
        figure->view = (pe_figure_view)value.choice;
        break;
    case PE_OUTPUT_THEME:
        figure->dark = value.choice == 1;
        break;
    default:
        *(which == PE_OUTPUT_WIDTH ? &figure->width : &figure->height) = (size_t)value.integer;
    }
    if (which >= PE_OUTPUT_VIEW)
        query->figure_asked = name;
    pe_value_clear(&value);
    return status;
}

pe_rendering pe_query_rendering(const pe_query *query)
{
    return (pe_rendering){
        .format = query->format,
        .base64 = query->base64,
        .tensor = query->tensor[0] != '\0' ? query->tensor : NULL,
        .csv_header = query->csv_header,
        .encoding = query->resource->encoding,
        .resource = query->resource,
        .values = &query->values,
        .figure = query->figure,
    };
}

pe_status pe_query_figure_check(const pe_query *query, const pe_format *format, size_t max_pixels,
                                pe_problem *why)
{
    const pe_figure_options *figure = &query->figure;
    if (!format->is_figure && query->figure_asked != NULL)
        return pe_fail(why, PE_INVALID_PARAMETER, query->figure_asked,
                       "%s is for figures, format=svg or format=png; the answer would be %s",
                       query->figure_asked, format->name);
    if (query->csv_asked && strcmp(format->name, "csv") != 0)
        return pe_fail(why, PE_INVALID_PARAMETER, "csv_header",
                       "csv_header is for format=csv; the answer would be %s", format->name);
    if (format->is_figure && figure->width * figure->height > max_pixels)
        return pe_fail(why, PE_INVALID_PARAMETER, name_for(query->resource, PE_OUTPUT_WIDTH),
                       "a figure must have at most figure_max_pixels, %zu, got %zu x %zu",
                       max_pixels, figure->width, figure->height);
    return PE_OK;
}

/* A side within its bounds; else the usual one. */
static size_t read_side(pe_slice text, size_t least, size_t usual)
{
    size_t side = 0;
    for (size_t i = 0; i < text.bytes && i < 5; i++) {
        if (text.text[i] < '0' || text.text[i] > '9')
            return usual;
        side = side * 10 + (size_t)(text.text[i] - '0');
    }
    return side >= least && side <= PE_FIGURE_PEEKED_MAX ? side : usual;
}

bool pe_query_figure_peek(pe_slice string, const pe_format **format, pe_figure_options *out)
{
    *format = NULL;
    *out = (pe_figure_options){.width = PE_FIGURE_WIDTH, .height = PE_FIGURE_HEIGHT};
    while (string.bytes > 0) {
        pe_slice value = pe_slice_next(&string, '&');
        const pe_slice name = pe_slice_next(&value, '=');
        if (pe_slice_is(name, "format")) {
            *format = pe_slice_is(value, "svg")   ? pe_format_by_name("svg")
                      : pe_slice_is(value, "png") ? pe_format_by_name("png")
                                                  : NULL;
            if (*format == NULL)
                return false;
        }
        if (pe_slice_is(name, "theme"))
            out->dark = pe_slice_is(value, "dark");
        if (pe_slice_is(name, "width") || pe_slice_is(name, "figure_width"))
            out->width = read_side(value, PE_FIGURE_WIDTH_MIN, PE_FIGURE_WIDTH);
        if (pe_slice_is(name, "height") || pe_slice_is(name, "figure_height"))
            out->height = read_side(value, PE_FIGURE_HEIGHT_MIN, PE_FIGURE_HEIGHT);
    }
    if (out->width * out->height > (size_t)PE_FIGURE_WIDTH * PE_FIGURE_HEIGHT) {
        out->width = PE_FIGURE_WIDTH; /* more would take long */
        out->height = PE_FIGURE_HEIGHT;
    }
    return true;
}

void pe_query_canonical_string(const pe_query *query, const pe_format *format, pe_buffer *out)
{
    const pe_figure_options *figure = &query->figure;
    const bool json = format == pe_formats[0], csv = strcmp(format->name, "csv") == 0;
    const char *name = json && !query->names_json ? "" : format->name;
    const char *tensor = format->holds_many ? "" : query->tensor;
    const size_t n = query->values.n, outputs = format->is_figure ? PE_OUTPUT_N : PE_OUTPUT_VIEW;
    const pe_value of_format[PE_OUTPUT_N] = {
        [PE_OUTPUT_FORMAT] = {.text = (char *)(uintptr_t)name, .present = name[0] != '\0'},
        [PE_OUTPUT_ENCODING] = {.choice = 1, .present = json && query->base64},
        [PE_OUTPUT_TENSOR] = {.text = (char *)(uintptr_t)tensor, .present = tensor[0] != '\0'},
        [PE_OUTPUT_CSV_HEADER] = {.choice = query->csv_header,
                                  .present = csv && query->csv_header != PE_CSV_INDICES},
        [PE_OUTPUT_VIEW] = {.choice = figure->view, .present = figure->view != PE_VIEW_ANY},
        [PE_OUTPUT_THEME] = {.choice = 1, .present = figure->dark},
        [PE_OUTPUT_WIDTH] = {.integer = (int64_t)figure->width,
                             .present = figure->width != PE_FIGURE_WIDTH},
        [PE_OUTPUT_HEIGHT] = {.integer = (int64_t)figure->height,
                              .present = figure->height != PE_FIGURE_HEIGHT},
    };
    pe_param rows[PE_OUTPUT_N];
    const pe_values all = {n + outputs, malloc((n + outputs) * sizeof *all.value)};
    if (all.value == NULL) {
        out->failed = true;
        return;
    }
    memcpy(all.value, query->values.value, n * sizeof *all.value); /* nothing of it is owned */
    memcpy(all.value + n, of_format, outputs * sizeof *all.value);
    for (size_t i = 0; i < outputs; i++) {
        rows[i] = pe_query_output_rows[i];
        rows[i].name = name_for(query->resource, i);
        all.value[n + i].param = &rows[i];
    }
    pe_values_query(&all, out);
    free(all.value);
}
