/* SPDX-License-Identifier: MIT */
/* query_figure.c - view, theme, width and height: the parameters of figures. */
#include <stdio.h>
#include <string.h>

#include "api/query.h"
#include "api/value_reading.h"

/* The index of a choice is that of pe_figure_view. */
static const char *const views[] = {"auto", "heatmap", "curves", NULL};
static const char *const themes[] = {"light", "dark", NULL};

/* The longest side of the picture of an error. */
#define PE_FIGURE_PEEKED_MAX ((size_t)2048)

#define VIEW                                                                                       \
    {                                                                                              \
        .name = "view", .kind = PE_KIND_CHOICE, .choices = views,                                  \
        .help = "How a figure shows the numbers. auto: one axis as a curve, two as a heatmap, "    \
                "more as several heatmaps.",                                                       \
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

/* Then a side in patches may have been meant. */
static bool has_target_grid(const pe_resource *resource)
{
    return pe_params_find(resource->param_sets, "target_grid") != NULL;
}

pe_status pe_query_figure_set(pe_query *query, size_t which, const char *text, pe_problem *why)
{
    const pe_param *row = pe_query_figure_row(query->resource, which);
    pe_param hinted = *row;
    pe_value value = {.param = row};
    const pe_value_reading to = {.param = &hinted, .value = &value, .place = row->name};
    if (which >= PE_OUTPUT_WIDTH && has_target_grid(query->resource))
        hinted.hint = "target_grid=HEIGHT,WIDTH is the size of the wanted grid";
    const pe_status status = pe_value_text_parse(&to, pe_slice_of(text), why);
    if (status != PE_OK)
        return status;
    pe_figure_options *figure = &query->figure;
    switch (which) {
    case PE_OUTPUT_VIEW:
        figure->view = (pe_figure_view)value.choice;
        break;
    case PE_OUTPUT_THEME:
        figure->dark = value.choice == 1;
        break;
    case PE_OUTPUT_WIDTH:
        figure->width = (size_t)value.integer;
        break;
    default:
        figure->height = (size_t)value.integer;
    }
    query->figure_asked = row->name;
    return PE_OK;
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

void pe_query_figure_print(const pe_query *query, size_t which, char out[PE_FIGURE_TEXT_BYTES])
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
