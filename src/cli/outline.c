/* SPDX-License-Identifier: MIT */
/* outline.c - JSON for people. */
#include "cli/outline.h"

#include <stdint.h>
#include <string.h>

#define INDENT    2
#define ITEMS_MAX 8 /* of a list of numbers or words */
#define NEST_MAX  16

static void put_scalar(const json_t *value, pe_buffer *out)
{
    if (json_is_string(value))
        pe_buffer_str(out, json_string_value(value));
    else if (json_is_number(value))
        pe_buffer_format(out, "%.10g", json_number_value(value));
    else
        pe_buffer_str(out, json_is_true(value) ? "true" : json_is_false(value) ? "false" : "-");
}

static void put(const char *name, const json_t *value, int depth, pe_buffer *out);

static void put_members(const json_t *value, int depth, pe_buffer *out)
{
    size_t i;
    const char *name;
    json_t *member;
    json_object_foreach((json_t *)(uintptr_t)value, name, member)
    {
        put(name, member, depth, out);
    }
    json_array_foreach(value, i, member)
    {
        put("-", member, depth, out);
    }
}

static void put(const char *name, const json_t *value, int depth, pe_buffer *out)
{
    pe_buffer_format(out, "%*s%s%s", INDENT * depth, "", name, strcmp(name, "-") != 0 ? ":" : "");
    const json_t *first = json_array_get(value, 0);
    if ((json_is_object(value) || json_is_object(first) || json_is_array(first)) &&
        depth < NEST_MAX) {
        pe_buffer_str(out, "\n");
        put_members(value, depth + 1, out);
        return;
    }
    pe_buffer_str(out, " ");
    const size_t n = json_array_size(value);
    for (size_t i = 0; i < n && i < ITEMS_MAX; i++) {
        pe_buffer_str(out, i > 0 ? ", " : "");
        put_scalar(json_array_get(value, i), out);
    }
    if (n > ITEMS_MAX)
        pe_buffer_format(out, ", ... (%zu)", n);
    if (!json_is_array(value))
        put_scalar(value, out);
    pe_buffer_str(out, "\n");
}

void pe_outline(const json_t *value, pe_buffer *out)
{
    put_members(value, 0, out);
}

static size_t width_of(const json_t *list, const char *member)
{
    size_t i, width = 0;
    json_t *row;
    json_array_foreach(list, i, row)
    {
        const size_t bytes = json_string_length(json_object_get(row, member));
        width = bytes > width ? bytes : width;
    }
    return width;
}

void pe_outline_table(const json_t *list, const char *const *members, size_t n, pe_buffer *out)
{
    size_t i;
    json_t *row;
    json_array_foreach(list, i, row)
    {
        for (size_t m = 0; m < n; m++) {
            const char *text = json_string_value(json_object_get(row, members[m]));
            const bool last = m + 1 == n;
            pe_buffer_format(out, "%-*s%s", last ? 0 : (int)width_of(list, members[m]),
                             text != NULL ? text : "-", last ? "\n" : "  ");
        }
    }
}
