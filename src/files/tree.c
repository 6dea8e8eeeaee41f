/* SPDX-License-Identifier: MIT */
/* tree.c - small JSON texts as jansson's trees. */
#include "files/tree.h"

pe_status pe_tree_load(pe_slice json, size_t flags, const char *where, json_t **out,
                       pe_problem *why)
{
    json_error_t error;
    json_t *tree = json_loadb(json.text, json.bytes, flags | JSON_DECODE_ANY, &error);
    if (tree == NULL) {
        /* jansson names few of the allocations that fail and says nothing of others; one inside a
         * string it reports as a syntax error, or not at all. */
        if (json_error_code(&error) == json_error_out_of_memory || error.text[0] == '\0')
            return pe_fail_memory(why);
        return pe_fail(why, PE_MALFORMED_REQUEST, where, "this is not valid JSON: %s", error.text);
    }
    *out = tree;
    return PE_OK;
}
