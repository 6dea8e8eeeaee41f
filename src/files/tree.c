/* SPDX-License-Identifier: MIT */
/* tree.c - small JSON texts as jansson's trees. */
#include "files/tree.h"

#include <malloc.h>
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
    struct block *next;
    struct block **link; /* that points here */
    void *start;
} block;

/* The load of this thread that is under way, or NULL. */
typedef struct load {
    block *blocks;
    jmp_buf leave;
} load;

static _Thread_local load *current;

/* At the end of its block, so that free() frees what was allocated here. */
static block *block_of(void *at)
{
    return (block *)((uintptr_t)at +
                     ((malloc_usable_size(at) - sizeof(block)) & ~(alignof(block) - 1)));
}

static void *allocate(size_t bytes)
{
    const size_t room = sizeof(block) + alignof(block);
    void *at = bytes > SIZE_MAX - room ? NULL : malloc(bytes + room);
    if (current == NULL)
        return at;
    if (at == NULL)
        longjmp(current->leave, 1);
    block *made = block_of(at);
    *made = (block){current->blocks, &current->blocks, at};
    if (made->next != NULL)
        made->next->link = &made->next;
    current->blocks = made;
    return at;
}

static void release(void *at)
{
    if (at != NULL && current != NULL) {
        block *made = block_of(at);
        *made->link = made->next;
        if (made->next != NULL)
            made->next->link = made->link;
    }
    free(at);
}

/* Before main: no other thread loads a text yet. */
__attribute__((constructor)) static void use_blocks(void)
{
    json_object_seed(0); /* not while a text is loaded: others wait for it */
    json_set_alloc_funcs(allocate, release);
}

pe_status pe_tree_load(pe_slice json, size_t flags, const char *where, json_t **out,
                       pe_problem *why)
{
    json_error_t error;
    load loading = {0};
    current = &loading;
    if (setjmp(loading.leave) != 0) {
        current = NULL;
        for (block *made = loading.blocks, *next; made != NULL; made = next) {
            next = made->next;
            free(made->start);
        }
        return pe_fail_memory(why);
    }
    json_t *tree = json_loadb(json.text, json.bytes, flags | JSON_DECODE_ANY, &error);
    current = NULL;
    if (tree == NULL) {
        char *flag = strstr(error.text, " without JSON_ALLOW_NUL"); /* of the library's callers */
        if (flag != NULL)
            *flag = '\0';
        return pe_fail(why, PE_MALFORMED_REQUEST, where, "this is not valid JSON: %s", error.text);
    }
    *out = tree;
    return PE_OK;
}
