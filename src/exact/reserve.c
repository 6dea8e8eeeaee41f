/* SPDX-License-Identifier: MIT */
/* reserve.c - memory that MPFR computes with when there is no other. */
#include "exact/reserve.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <gmp.h>

#define CELL_BYTES   256
#define THREAD_CELLS 256

/* Runs of cells, first fit. The lock guards `used`; it is a leaf. */
static struct {
    pthread_mutex_t lock;
    size_t cells;
    char *data;
    bool *used; /* [cells] */
} reserve = {.lock = PTHREAD_MUTEX_INITIALIZER};

static size_t cells_of(size_t bytes)
{
    return bytes == 0 ? 1 : (bytes + CELL_BYTES - 1) / CELL_BYTES;
}

static bool is_reserved(const void *at)
{
    const char *byte = at;
    return reserve.data != NULL && byte >= reserve.data &&
           byte < reserve.data + reserve.cells * CELL_BYTES;
}

/* The first of n free cells in a row; `cells` where there are none. With the lock held. */
static size_t find(size_t n)
{
    size_t run = 0;
    for (size_t i = 0; i < reserve.cells; i++) {
        run = reserve.used[i] ? 0 : run + 1;
        if (run == n)
            return i + 1 - n;
    }
    return reserve.cells;
}

static void *take(size_t bytes)
{
    const size_t n = cells_of(bytes);
    pthread_mutex_lock(&reserve.lock);
    const size_t first = find(n);
    const bool found = first < reserve.cells;
    if (found)
        memset(reserve.used + first, true, n);
    pthread_mutex_unlock(&reserve.lock);
    return found ? reserve.data + first * CELL_BYTES : NULL;
}

static void give_back(const void *at, size_t bytes)
{
    const size_t first = (size_t)((const char *)at - reserve.data) / CELL_BYTES;
    pthread_mutex_lock(&reserve.lock);
    memset(reserve.used + first, false, cells_of(bytes));
    pthread_mutex_unlock(&reserve.lock);
}

/* ---- what GMP calls; it ends the program where NULL is returned ---- */

static void *allocate(size_t bytes)
{
    void *at = malloc(bytes);
    return at != NULL ? at : take(bytes);
}

static void release(void *at, size_t bytes)
{
    if (is_reserved(at))
        give_back(at, bytes);
    else
        free(at);
}

static void *resize(void *old, size_t before, size_t bytes)
{
    void *at = is_reserved(old) ? NULL : realloc(old, bytes);
    if (at != NULL)
        return at;
    at = allocate(bytes);
    if (at == NULL)
        return NULL;
    memcpy(at, old, before < bytes ? before : bytes);
    release(old, before);
    return at;
}

/* ---- the interface ---- */

pe_status pe_reserve_make(size_t threads, pe_problem *why)
{
    const size_t cells = threads * THREAD_CELLS;
    if (reserve.data != NULL)
        return PE_OK;
    char *data = malloc(cells * CELL_BYTES);
    bool *used = calloc(cells, sizeof *used);
    if (data == NULL || used == NULL) {
        free(data);
        free(used);
        return pe_fail_memory(why);
    }
    reserve.cells = cells;
    reserve.data = data;
    reserve.used = used;
    mp_set_memory_functions(allocate, resize, release);
    return PE_OK;
}
