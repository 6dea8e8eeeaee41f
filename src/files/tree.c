/* SPDX-License-Identifier: MIT */
/* tree.c - small JSON texts as jansson's trees. */
#include "files/tree.h"

#include <pthread.h>
#include <stdlib.h>

/* jansson names few of the allocations that fail. It says nothing of others, and one inside a
 * string it reports as a syntax error. */
static _Thread_local bool is_short;

static void *allocate(size_t bytes)
{
    void *at = malloc(bytes);
    is_short |= at == NULL;
    return at;
}

static void watch_allocations(void)
{
    json_set_alloc_funcs(allocate, free);
}

pe_status pe_tree_load(pe_slice json, size_t flags, const char *where, json_t **out,
                       pe_problem *why)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    json_error_t error;
    pthread_once(&once, watch_allocations);
    is_short = false;
    json_t *tree = json_loadb(json.text, json.bytes, flags | JSON_DECODE_ANY, &error);
    if (is_short) {
        json_decref(tree);
        return pe_fail_memory(why);
    }
    if (tree == NULL)
        return pe_fail(why, PE_MALFORMED_REQUEST, where, "this is not valid JSON: %s", error.text);
    *out = tree;
    return PE_OK;
}
