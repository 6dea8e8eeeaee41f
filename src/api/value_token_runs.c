/* SPDX-License-Identifier: MIT */
/* value_token_runs.c - token runs from a JSON array: [["text", 4], "image", ["text", 2]]. */
#include <jansson.h>
#include <string.h>

#include "api/value_reading.h"
#include "files/tree.h"

static pe_status fail_item(const pe_value_reading *to, size_t i, pe_problem *why)
{
    return pe_fail(why, PE_INVALID_PARAMETER, to->place,
                   "item %zu of %s must be a kind of token, or [kind, length]", i, to->param->name);
}

/* One item as query text; the kind must be a word, so that it means there what it means here. */
static pe_status add_item(const pe_value_reading *to, const json_t *item, size_t i, pe_buffer *text,
                          pe_problem *why)
{
    const bool pair = json_is_array(item);
    const json_t *kind = pair ? json_array_get(item, 0) : item;
    if ((pair && json_array_size(item) != 2) || !json_is_string(kind) ||
        strpbrk(json_string_value(kind), ":,") != NULL)
        return fail_item(to, i, why);
    pe_buffer_format(text, i == 0 ? "%s" : ",%s", json_string_value(kind));
    if (!pair)
        return PE_OK;
    const json_t *length = json_array_get(item, 1);
    if (!json_is_number(length))
        return fail_item(to, i, why);
    pe_buffer_format(text, ":%.17g", json_number_value(length));
    return PE_OK;
}

/* The array as query text. */
static pe_status print_items(const pe_value_reading *to, const json_t *list, pe_buffer *text,
                             pe_problem *why)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const pe_status status = add_item(to, json_array_get(list, i), i, text, why);
        if (status != PE_OK)
            return status;
    }
    if (text->failed)
        return pe_fail_memory(why);
    if (text->bytes == 0)
        return pe_fail(why, PE_INVALID_PARAMETER, to->place, "%s must not be empty",
                       to->param->name);
    return PE_OK;
}

pe_status pe_value_token_runs_json_parse(const pe_value_reading *to, pe_slice json, pe_problem *why)
{
    json_t *list = NULL;
    pe_buffer text = {0};
    pe_status status = pe_tree_load(json, JSON_DECODE_INT_AS_REAL, to->place, &list, why);
    if (status != PE_OK)
        return status;
    status = print_items(to, list, &text, why);
    if (status == PE_OK)
        status = pe_value_text_parse(to, pe_buffer_slice(&text), why);
    pe_buffer_free(&text);
    json_decref(list);
    return status;
}
