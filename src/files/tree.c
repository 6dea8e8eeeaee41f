/* SPDX-License-Identifier: MIT */
/* tree.c - small JSON texts as jansson's trees. */
#include "files/tree.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/*
 * jansson 2.14 does not survive each allocation that fails: it frees what it never had, or takes a
 * string that lacks memory for broken JSON. So it never sees one fail. While a text is loaded its
 * blocks are in a list; where one is not to be had, the load is left at once and all are freed.
 * jansson holds nothing but memory then.
 */
typedef struct block {
    alignas(max_align_t) struct block *next;
    struct block **link; /* that points here */
} block;

/* The load of this thread that is under way, or NULL. */
typedef struct load {
    block *blocks;
    jmp_buf leave;
} load;

static _Thread_local load *current;

static void *allocate(size_t bytes)
{
    block *made = bytes > SIZE_MAX - sizeof *made ? NULL : malloc(sizeof *made + bytes);
    if (made != NULL && current != NULL) {
        *made = (block){current->blocks, &current->blocks};
        if (made->next != NULL)
            made->next->link = &made->next;
        current->blocks = made;
    } else if (current != NULL) {
        longjmp(current->leave, 1);
    }
    return made != NULL ? made + 1 : NULL;
}

static void release(void *at)
{
    block *made = at == NULL ? NULL : (block *)at - 1;
    if (made != NULL && current != NULL) {
        *made->link = made->next;
        if (made->next != NULL)
            made->next->link = made->link;
    }
    free(made);
}

static void use_blocks(void)
{
    json_object_seed(0); /* not while a text is loaded: others wait for it */
    json_set_alloc_funcs(allocate, release);
}

static void free_blocks(load *left)
{
    for (block *made = left->blocks, *next; made != NULL; made = next) {
        next = made->next;
        free(made);
    }
}

pe_status pe_tree_load(pe_slice json, size_t flags, const char *where, json_t **out,
                       pe_problem *why)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    json_error_t error;
    load loading = {0};
    pthread_once(&once, use_blocks);
    current = &loading;
    if (setjmp(loading.leave) != 0) {
        current = NULL;
        free_blocks(&loading);
        return pe_fail_memory(why);
    }
    json_t *tree = json_loadb(json.text, json.bytes, flags | JSON_DECODE_ANY, &error);
    current = NULL;
    if (tree == NULL)
        return pe_fail(why, PE_MALFORMED_REQUEST, where, "this is not valid JSON: %s", error.text);
    *out = tree;
    return PE_OK;
}
