/* SPDX-License-Identifier: MIT */
/*
 * preload.c - a library that lets allocations of the server fail, one by one (LD_PRELOAD).
 *
 * The program's allocator (src/allocator.c) asks the C library by these names. So what fails here
 * is what the system would refuse, for our code and all libraries alike.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/fault_plan.h"

/* NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): glibc's own names */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *at, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void *at);
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */

static fault_plan *plan;

/* The C library's own. Looking a name up may allocate. */
static struct {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void *(*memalign)(size_t, size_t);
    void (*free)(void *);
} own;

/* Memory for what is allocated until they are found; never freed. */
static _Alignas(max_align_t) char early[65536];
static size_t early_used;

static void *take_early(size_t bytes)
{
    char *at = early + early_used;
    early_used += (bytes + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
    if (early_used > sizeof early)
        abort();
    return at;
}

static int is_early(const void *at)
{
    return (const char *)at >= early && (const char *)at < early + sizeof early;
}

static void find(const char *name, void *out)
{
    *(void **)out = dlsym(RTLD_NEXT, name);
    if (*(void **)out == NULL)
        abort();
}

/* On the first allocation, which libraries make before there are threads. */
static void begin(void)
{
    const char *path = getenv(FAULT_PLAN);
    const int file = path != NULL ? open(path, O_RDWR | O_CLOEXEC) : -1;
    void *map = file < 0 ? MAP_FAILED
                         : mmap(NULL, sizeof *plan, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (map == MAP_FAILED)
        abort();
    close(file);
    find("__libc_calloc", &own.calloc);
    find("__libc_realloc", &own.realloc);
    find("__libc_memalign", &own.memalign);
    find("__libc_free", &own.free);
    find("__libc_malloc", &own.malloc);
    plan = map;
}

/* Are the C library's own known? Not while they are looked for. */
static int ready(void)
{
    static int begun;
    if (!begun) {
        begun = 1;
        begin();
    }
    return plan != NULL;
}

/* An allocation that is tried again, since caches were evicted, is the same and fails again. */
static _Thread_local size_t failing;
static _Thread_local long failing_step;

static int fails(size_t bytes)
{
    if (!atomic_load(&plan->on))
        return 0;
    const long step = atomic_load(&plan->step);
    int failed = failing == bytes + 1 && failing_step == step;
    if (!failed) {
        const long call = atomic_fetch_add(&plan->calls, 1) + 1, first = atomic_load(&plan->first);
        failed = call == first || (call > first && atomic_load(&plan->for_good));
    }
    failing = failed ? bytes + 1 : 0;
    failing_step = step;
    if (!failed)
        return 0;
    atomic_fetch_add(&plan->failed, 1);
    atomic_store(&plan->last_size, (long)bytes);
    errno = ENOMEM;
    return 1;
}

static void *count(void *at)
{
    if (at != NULL)
        atomic_fetch_add(&plan->blocks, 1);
    return at;
}

void *__libc_malloc(size_t bytes)
{
    if (!ready())
        return take_early(bytes);
    return fails(bytes) ? NULL : count(own.malloc(bytes));
}

void *__libc_calloc(size_t n, size_t bytes)
{
    if (!ready())
        return take_early(n * bytes);
    return fails(n * bytes) ? NULL : count(own.calloc(n, bytes));
}

void *__libc_realloc(void *at, size_t bytes)
{
    if (at == NULL)
        return __libc_malloc(bytes);
    if (is_early(at))
        abort();
    return fails(bytes) ? NULL : own.realloc(at, bytes);
}

void *__libc_memalign(size_t alignment, size_t bytes)
{
    if (!ready())
        abort();
    return fails(bytes) ? NULL : count(own.memalign(alignment, bytes));
}

void __libc_free(void *at)
{
    if (at == NULL || is_early(at))
        return;
    atomic_fetch_sub(&plan->blocks, 1);
    own.free(at);
}
