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

const char *const pe_query_output_names[PE_OUTPUT_N] = {
    [PE_OUTPUT_FORMAT] = "format", [PE_OUTPUT_ENCODING] = "encoding_format",
    [PE_OUTPUT_TENSOR] = "tensor", [PE_OUTPUT_CSV_HEADER] = "csv_header",
    [PE_OUTPUT_VIEW] = "view",     [PE_OUTPUT_THEME] = "theme",
    [PE_OUTPUT_WIDTH] = "width",   [PE_OUTPUT_HEIGHT] = "height",
};
const char *const pe_query_output_encodings[] = {"float", "base64", NULL};
const char *const pe_query_csv_headers[] = {"indices", "names", "none", NULL};

size_t pe_query_output_find(const pe_resource *resource, const char *name)
{
    static const char prefix[] = "figure_";
    const bool sized = strncmp(name, prefix, sizeof prefix - 1) == 0;
    const char *plain = sized ? name + sizeof prefix - 1 : name;
    for (size_t i = sized ? PE_OUTPUT_WIDTH : 0; i < PE_OUTPUT_N; i++)
        if (strcmp(pe_query_output_names[i], plain) == 0)
            return pe_params_find(resource->param_sets, name) == NULL ? i : PE_OUTPUT_N;
    return PE_OUTPUT_N;
}

static pe_status find_choice(const char *name, const char *const *choices, const char *text,
                             size_t *out, pe_problem *why)
{
    pe_buffer list = {0};
    for (size_t i = 0; choices[i] != NULL; i++) {
        if (strcmp(choices[i], text) == 0) {
            *out = i;
            pe_buffer_free(&list);
            return PE_OK;
        }
        pe_buffer_format(&list, i == 0 ? "%s" : ", %s", choices[i]);
    }
    const pe_status status =
        pe_fail(why, PE_INVALID_PARAMETER, name, "%s must be one of %s; got \"%.40s\"", name,
                pe_buffer_text(&list), text);
    pe_buffer_free(&list);
    return status;
}

/* ---- view, theme, width and height: the parameters of figures ---- */

/* The index of a choice is that of pe_figure_view. */
static const char *const views[] = {"auto", "heatmap", "curves", "own_scales", NULL};
static const char *const themes[] = {"light", "dark", NULL};

/* Of a value of a figure in the canonical form. */
#define PE_FIGURE_TEXT_BYTES 24

/* The longest side of the picture of an error. */
#define PE_FIGURE_PEEKED_MAX ((size_t)2048)

#define VIEW                                                                                       \
    {                                                                                              \
        .name = "view", .kind = PE_KIND_CHOICE, .choices = views,                                  \
        .help = "How a figure shows the numbers. auto: one axis as a curve, two as a heatmap, "    \
                "more as several heatmaps, all on one scale. own_scales: the same, each heatmap "  \
                "on a scale of its own.",                                                          \
        .example = "heatmap"                                                                       \
    }
#define THEME                                                                                      \
    {                                                                                              \
        .name = "theme", .kind = PE_KIND_CHOICE, .choices = themes,                                \
        .help = "The paper of a figure.", .example = "dark"                                        \
    }
#define SIDE(NAME, NOUN, LEAST, USUAL)                                                             \
    {                                                                                              \
        .name = NAME, .kind = PE_KIND_INT, .min = LEAST, .max = PE_FIGURE_SIDE_MAX,                \
        .fallback = USUAL, .unit = "pixels",                                                       \
        .help = NOUN " of a figure. figure_width and figure_height mean the same everywhere, "     \
                     "and alone where a resource has a width and a height of its own.",            \
        .example = "640"                                                                           \
    }

static const pe_param rows[2][PE_OUTPUT_FIGURE_N] = {
    {VIEW, THEME, SIDE("width", "Width", PE_FIGURE_WIDTH_MIN, PE_FIGURE_WIDTH),
     SIDE("height", "Height", PE_FIGURE_HEIGHT_MIN, PE_FIGURE_HEIGHT)},
    {VIEW, THEME, SIDE("figure_width", "Width", PE_FIGURE_WIDTH_MIN, PE_FIGURE_WIDTH),
     SIDE("figure_height", "Height", PE_FIGURE_HEIGHT_MIN, PE_FIGURE_HEIGHT)},
};

const pe_param *pe_query_figure_row(const pe_resource *resource, size_t which)
{
    const size_t i = which - PE_OUTPUT_VIEW;
    const bool taken =
        resource != NULL && pe_params_find(resource->param_sets, rows[0][i].name) != NULL;
    return &rows[taken][i];
}

static pe_status set_figure(pe_query *query, size_t which, const char *text, pe_problem *why)
{
    const pe_param *row = pe_query_figure_row(query->resource, which);
    pe_param hinted = *row;
    pe_value value = {.param = row};
    const pe_value_reading to = {.param = &hinted, .value = &value, .place = row->name};
    pe_figure_options *figure = &query->figure;
    if (which >= PE_OUTPUT_WIDTH &&
        pe_params_find(query->resource->param_sets, "target_grid") != NULL)
        hinted.hint = "target_grid=HEIGHT,WIDTH is the size of the wanted grid";
    PE_TRY(pe_value_text_parse(&to, pe_slice_of(text), why));
    if (which == PE_OUTPUT_VIEW)
        figure->view = (pe_figure_view)value.choice;
    else if (which == PE_OUTPUT_THEME)
        figure->dark = value.choice == 1;
    else if (which == PE_OUTPUT_WIDTH)
        figure->width = (size_t)value.integer;
    else
        figure->height = (size_t)value.integer;
    query->figure_asked = row->name;
    return PE_OK;
}

pe_status pe_query_output_set(pe_query *query, size_t which, const char *text, pe_problem *why)
{
    const char *name = pe_query_output_names[which];
    size_t choice = 0;
    pe_status status = PE_OK;
    if (text[0] == '\0')
        return pe_fail(why, PE_MALFORMED_REQUEST, name, "%s must not be empty", name);
    switch (which) {
    case PE_OUTPUT_FORMAT:
        return pe_format_parse(text, &query->format, why);
    case PE_OUTPUT_ENCODING:
        status = find_choice(name, pe_query_output_encodings, text, &choice, why);
        query->base64 = choice == 1;
        return status;
    case PE_OUTPUT_CSV_HEADER:
        status = find_choice(name, pe_query_csv_headers, text, &choice, why);
        query->csv_header = (pe_csv_header)choice;
        query->csv_asked = true;
        return status;
    case PE_OUTPUT_TENSOR:
        if (strlen(text) >= sizeof query->tensor)
            return pe_fail(why, PE_INVALID_PARAMETER, name, "no tensor is named \"%.40s\"", text);
        memcpy(query->tensor, text, strlen(text) + 1);
        return PE_OK;
    default:
        return set_figure(query, which, text, why);
    }
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
        return pe_fail(why, PE_INVALID_PARAMETER,
                       pe_query_figure_row(query->resource, PE_OUTPUT_WIDTH)->name,
                       "a figure must have at most figure_max_pixels, %zu, got %zu x %zu",
                       max_pixels, figure->width, figure->height);
    return PE_OK;
}

/* Its value in the canonical form, "" for the default. */
static void print_figure(const pe_query *query, size_t which, char out[PE_FIGURE_TEXT_BYTES])
{
    const pe_figure_options *figure = &query->figure;
    out[0] = '\0';
    if (which == PE_OUTPUT_VIEW && figure->view != PE_VIEW_ANY)
        snprintf(out, PE_FIGURE_TEXT_BYTES, "%s", views[figure->view]);
    if (which == PE_OUTPUT_THEME && figure->dark)
        snprintf(out, PE_FIGURE_TEXT_BYTES, "dark");
    if (which == PE_OUTPUT_WIDTH && figure->width != PE_FIGURE_WIDTH)
        snprintf(out, PE_FIGURE_TEXT_BYTES, "%zu", figure->width);
    if (which == PE_OUTPUT_HEIGHT && figure->height != PE_FIGURE_HEIGHT)
        snprintf(out, PE_FIGURE_TEXT_BYTES, "%zu", figure->height);
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

/* ---- the query string that all equal requests share ---- */

/* Names are compared up to their '='. */
static bool name_before(const char *a, size_t a_bytes, const char *b)
{
    size_t name = (size_t)((const char *)memchr(a, '=', a_bytes) - a);
    int order = strncmp(a, b, name);
    return order != 0 ? order < 0 : strlen(b) > name;
}

static void put(pe_buffer *out, size_t start, const char *text, size_t bytes)
{
    if (out->bytes > start)
        pe_buffer_str(out, "&");
    pe_buffer_add(out, text, bytes);
}

/* A parameter of the representation that differs from its default. */
typedef struct output {
    const char *name, *value; /* NULL: it is `text` */
    char text[PE_FIGURE_TEXT_BYTES];
} output;

static int by_name(const void *a, const void *b)
{
    const output *x = a, *y = b;
    return strcmp(x->name, y->name);
}

/* Sorted by name. */
static size_t outputs(const pe_query *query, const pe_format *format, output out[PE_OUTPUT_N])
{
    const bool json = format == pe_formats[0];
    size_t n = 0;
    if (json && query->base64)
        out[n++] = (output){.name = "encoding_format", .value = "base64"};
    if (!json || query->names_json)
        out[n++] = (output){.name = "format", .value = format->name};
    if (strcmp(format->name, "csv") == 0 && query->csv_header != PE_CSV_INDICES)
        out[n++] = (output){.name = "csv_header", .value = pe_query_csv_headers[query->csv_header]};
    if (!format->holds_many && query->tensor[0] != '\0')
        out[n++] = (output){.name = "tensor", .value = query->tensor};
    for (size_t which = PE_OUTPUT_VIEW; format->is_figure && which < PE_OUTPUT_N; which++) {
        print_figure(query, which, out[n].text);
        out[n].name = pe_query_figure_row(query->resource, which)->name;
        n += out[n].text[0] != '\0';
    }
    qsort(out, n, sizeof *out, by_name);
    return n;
}

void pe_query_canonical_string(const pe_query *query, const pe_format *format, pe_buffer *out)
{
    const size_t start = out->bytes;
    output of_format[PE_OUTPUT_N] = {0};
    pe_buffer of_values = {0};
    const size_t n = outputs(query, format, of_format);
    pe_values_query(&query->values, &of_values);

    const char *at = pe_buffer_text(&of_values),
               *end = at + (of_values.failed ? 0 : of_values.bytes);
    for (size_t i = 0; i < n; i++) {
        while (at < end && name_before(at, (size_t)(end - at), of_format[i].name)) {
            size_t bytes = strcspn(at, "&");
            put(out, start, at, bytes);
            at += at + bytes < end ? bytes + 1 : bytes;
        }
        put(out, start, of_format[i].name, strlen(of_format[i].name));
        pe_buffer_str(out, "=");
        pe_buffer_str(out, of_format[i].value != NULL ? of_format[i].value : of_format[i].text);
    }
    if (at < end)
        put(out, start, at, (size_t)(end - at));
    out->failed |= of_values.failed;
    pe_buffer_free(&of_values);
}
