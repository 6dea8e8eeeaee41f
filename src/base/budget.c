/* SPDX-License-Identifier: MIT */
/* budget.c - the one budget for all memory of the program. */
#include "base/budget.h"

#include <malloc.h>
#include <stdatomic.h>

#include "base/memory.h"

/* The first three never change while there are several threads. */
static struct {
    size_t bytes_max;
    pe_budget_evict evict;
    void *context;
    atomic_size_t bytes;
    atomic_uint_least64_t refused, failed, evicted;
} budget = {.bytes_max = SIZE_MAX};

static _Thread_local uint64_t failures; /* allocations of this thread */
static _Thread_local bool begun;        /* what this thread goes on with */

static void count(atomic_uint_least64_t *counter, size_t n)
{
    atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

static size_t taken(void)
{
    return atomic_load_explicit(&budget.bytes, memory_order_relaxed);
}

static size_t sum(size_t a, size_t b)
{
    return a > SIZE_MAX - b ? SIZE_MAX : a + b;
}

/* Take bytes where no more than `most` are taken then. */
static bool take(size_t bytes, size_t most)
{
    size_t now = taken();
    do
        if (now > most || bytes > most - now)
            return false;
    while (!atomic_compare_exchange_weak_explicit(&budget.bytes, &now, now + bytes,
                                                  memory_order_relaxed, memory_order_relaxed));
    return true;
}

bool pe_budget_make_room(size_t bytes)
{
    const size_t freed = budget.evict != NULL ? budget.evict(budget.context, bytes) : 0;
    count(&budget.evicted, freed);
    return freed > 0;
}

bool pe_budget_take(size_t bytes)
{
    bool room = true;
    while (room && !take(bytes, budget.bytes_max))
        room = bytes <= budget.bytes_max && pe_budget_make_room(bytes);
    /* How far beyond the budget the allocation may go. */
    const size_t spare = begun                     ? PE_BUDGET_SPARE + PE_BUDGET_SPARE_BEGUN
                         : bytes < PE_BUDGET_SMALL ? PE_BUDGET_SPARE
                                                   : 0;
    if (!room && !take(bytes, sum(budget.bytes_max, spare))) {
        count(&budget.refused, 1);
        failures++;
        return false;
    }
    /* What was freed may lie idle in the allocator's heaps, and a large allocation gets a mapping
     * of its own beside them: where both would be too much, the idle memory goes back to the
     * system. */
    if (bytes >= PE_MEMORY_LARGE && budget.bytes_max != SIZE_MAX &&
        sum(pe_memory_resident(), bytes) > sum(budget.bytes_max, PE_BUDGET_SPARE))
        malloc_trim(0);
    return true;
}

void pe_budget_give(size_t bytes)
{
    atomic_fetch_sub_explicit(&budget.bytes, bytes, memory_order_relaxed);
}

void pe_budget_correct(size_t from, size_t to)
{
    atomic_fetch_add_explicit(&budget.bytes, to - from, memory_order_relaxed); /* may wrap */
}

void pe_budget_go_on(bool with_what_was_begun)
{
    begun = with_what_was_begun;
}

void pe_budget_failed(void)
{
    count(&budget.failed, 1);
    failures++;
}

uint64_t pe_budget_failures(void)
{
    return failures;
}

bool pe_budget_exceeded(void)
{
    for (size_t now; (now = taken()) > budget.bytes_max;)
        if (!pe_budget_make_room(now - budget.bytes_max))
            return true;
    return false;
}

void pe_budget_set(size_t bytes_max, pe_budget_evict evict, void *context)
{
    budget.bytes_max = bytes_max;
    budget.evict = evict;
    budget.context = context;
}

void pe_budget_stats_get(pe_budget_stats *out)
{
    *out = (pe_budget_stats){
        .bytes = taken(),
        .bytes_max = budget.bytes_max,
        .refused = atomic_load_explicit(&budget.refused, memory_order_relaxed),
        .failed = atomic_load_explicit(&budget.failed, memory_order_relaxed),
        .evicted = atomic_load_explicit(&budget.evicted, memory_order_relaxed),
    };
}
