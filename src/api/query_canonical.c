/* SPDX-License-Identifier: MIT */
/* query_canonical.c - the query string that all equal requests share. */
#include <stdlib.h>
#include <string.h>

#include "api/query.h"

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

static void put_representation(pe_buffer *out, size_t start, const char *name, const char *value)
{
    put(out, start, name, strlen(name));
    pe_buffer_str(out, "=");
    pe_buffer_str(out, value);
}

/* A parameter of the representation that differs from its default. */
typedef struct output {
    const char *name, *value; /* NULL: it is `text` */
    char text[PE_FIGURE_TEXT_BYTES];
} output;

/* What figures take, behind the others in `out`; returns how many there are now. */
static size_t figure_outputs(const pe_query *query, output out[PE_OUTPUT_N], size_t n)
{
    for (size_t which = PE_OUTPUT_VIEW; which < PE_OUTPUT_N; which++) {
        pe_query_figure_print(query, which, out[n].text);
        out[n].name = pe_query_figure_row(query->resource, which)->name;
        n += out[n].text[0] != '\0';
    }
    return n;
}

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
    if (format->is_figure)
        n = figure_outputs(query, out, n);
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
        put_representation(out, start, of_format[i].name,
                           of_format[i].value != NULL ? of_format[i].value : of_format[i].text);
    }
    if (at < end)
        put(out, start, at, (size_t)(end - at));
    out->failed |= of_values.failed;
    pe_buffer_free(&of_values);
}
