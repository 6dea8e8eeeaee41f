/* SPDX-License-Identifier: MIT */
/* model_types.c - the rows of config/model_types.json. */
#include "models/reader.h"

#include <string.h>

#include "base/array.h"
#include "files/tree.h"

/* The file's text, from catalogue_data.S: one row a line, which begins with its name. They are sorted. */
extern const char pe_model_types_text[];

bool pe_type_is(const json_t *row, const char *member)
{
    return json_is_true(json_object_get(row, member));
}

double pe_type_number(const json_t *row, const char *member)
{
    return json_number_value(json_object_get(row, member));
}

const char *pe_type_text(const json_t *row, const char *member)
{
    return json_string_value(json_object_get(row, member));
}

bool pe_type_lists(const json_t *list, const char *text)
{
    bool found = false;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *item = json_string_value(json_array_get(list, i));
        found |= item != NULL && strcmp(item, text) == 0;
    }
    return found;
}

/* The row of a name, which the lines are sorted by; empty: there is none. */
static pe_slice find_row(const char *name)
{
    static const char before[] = "{\n";
    const size_t bytes = strlen(name);
    const char *low = pe_model_types_text + strlen(before), *high = low + strlen(low);
    if (strpbrk(name, "\"\\\n") != NULL)
        return (pe_slice){0};
    while (low < high) {
        const char *line = low + (high - low) / 2;
        while (line > low && line[-1] != '\n')
            line--;
        const char *its = line + strlen("  \""), *next = line + strcspn(line, "\n");
        const int order = *line != ' ' ? -1 : strncmp(name, its, bytes);
        if (order == 0 && its[bytes] == '"') {
            its += bytes + strlen("\": ");
            return (pe_slice){its, (size_t)(next - its) - (next[-1] == ',')};
        }
        if (order > 0)
            low = next + 1;
        else
            high = line;
    }
    return (pe_slice){0};
}

pe_status pe_model_type_find(const char *name, json_t **row, pe_problem *why)
{
    const pe_slice line = find_row(name);
    *row = NULL;
    if (line.bytes == 0)
        return PE_OK;
    if (pe_tree_load(line, JSON_DECODE_INT_AS_REAL, "", row, why) != PE_OK)
        return pe_fail_memory(why); /* it is valid */
    return PE_OK;
}

pe_scheme pe_model_type_scheme_named(const char *encoding)
{
    static const char *const names[] = {
        [PE_SCHEME_ROPE] = "rope",
        [PE_SCHEME_ALIBI] = "alibi",
        [PE_SCHEME_T5] = "t5",
        [PE_SCHEME_DEBERTA] = "deberta",
        [PE_SCHEME_SINUSOIDAL] = "sinusoidal",
        [PE_SCHEME_SINCOS_GRID] = "sincos_grid",
        [PE_SCHEME_LEARNED] = "learned",
        [PE_SCHEME_GRID] = "grid",
        [PE_SCHEME_NONE] = "none",
        [PE_SCHEME_UNKNOWN] = "unknown",
    };
    for (size_t s = 0; s < PE_LEN(names); s++)
        if (names[s] != NULL && strcmp(names[s], encoding) == 0)
            return (pe_scheme)s;
    return PE_SCHEME_RESOURCE;
}

pe_scheme pe_model_type_scheme(const json_t *row)
{
    const char *encoding = pe_type_text(row, "encoding");
    return row == NULL        ? PE_SCHEME_UNKNOWN
           : encoding == NULL ? PE_SCHEME_ROPE
                              : pe_model_type_scheme_named(encoding);
}
