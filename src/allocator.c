/* SPDX-License-Identifier: MIT */
/*
 * allocator.c - the C library's allocator, with each allocation counted in the budget.
 *
 * The program's own malloc stands before the C library's, for our code and for all libraries
 * (glibc's manual, "Replacing malloc"). So no memory escapes the budget: neither connections of
 * libmicrohttpd nor the states of coders. Sanitizers have allocators of their own; a program with
 * one has no bound.
 */
#include "base/budget.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define PE_OWN_ALLOCATOR 1
#endif
#endif

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) &&       \
    !defined(PE_OWN_ALLOCATOR)

/* NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): glibc's own names */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *at, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void *at);
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */

/* What an allocation weighs, with the allocator's word before it. */
static size_t weight(void *at)
{
    return at == NULL ? 0 : malloc_usable_size(at) + sizeof(size_t);
}

/* The allocation in the place of `taken` bytes and of `old` ones, or NULL. */
static void *keep(void *at, size_t taken, size_t old)
{
    if (at != NULL) {
        pe_budget_correct(taken + old, weight(at));
        return at;
    }
    pe_budget_give(taken);
    pe_budget_failed();
    return NULL;
}

static void *refuse(void)
{
    errno = ENOMEM;
    return NULL;
}

void *malloc(size_t bytes)
{
    void *at;
    if (!pe_budget_take(bytes))
        return refuse();
    do
        at = __libc_malloc(bytes);
    while (at == NULL && pe_budget_make_room(bytes));
    return keep(at, bytes, 0);
}

void *calloc(size_t n, size_t bytes)
{
    void *at;
    size_t all;
    if (__builtin_mul_overflow(n, bytes, &all) || !pe_budget_take(all))
        return refuse();
    do
        at = __libc_calloc(1, all);
    while (at == NULL && pe_budget_make_room(all));
    return keep(at, all, 0);
}

/* A large allocation is moved, not copied, so only what it grows by is taken. */
void *realloc(void *old, size_t bytes)
{
    void *at;
    const size_t before = weight(old), more = bytes > before ? bytes - before : 0;
    if (old != NULL && bytes == 0) {
        free(old);
        return NULL;
    }
    if (!pe_budget_take(more))
        return refuse();
    do
        at = __libc_realloc(old, bytes);
    while (at == NULL && pe_budget_make_room(bytes));
    return keep(at, more, before);
}

void *memalign(size_t alignment, size_t bytes)
{
    void *at;
    if (!pe_budget_take(bytes))
        return refuse();
    do
        at = __libc_memalign(alignment, bytes);
    while (at == NULL && pe_budget_make_room(bytes));
    return keep(at, bytes, 0);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    return memalign(alignment, bytes);
}

int posix_memalign(void **out, size_t alignment, size_t bytes)
{
    void *at = memalign(alignment, bytes);
    if (at == NULL)
        return ENOMEM;
    *out = at;
    return 0;
}

void free(void *at)
{
    pe_budget_give(weight(at));
    __libc_free(at);
}

#endif
