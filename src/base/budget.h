/* SPDX-License-Identifier: MIT */
/* budget.h - the one budget for all memory of the program. */
#ifndef PE_BASE_BUDGET_H
#define PE_BASE_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * Every allocation of the program, by our code or by a library, takes its bytes from here before
 * the system is asked, and gives them back when it is freed (src/allocator.c). What does not fit is
 * made to fit: the caches evict what nobody holds. When that is not enough, the allocation fails,
 * and the request with it, by 503.
 *
 * Small allocations may go PE_BUDGET_SPARE beyond the budget: so what is under way ends well, and a
 * refusal can be told. The blocks of an answer whose first byte was sent have PE_BUDGET_SPARE_BEGUN
 * beyond that, of any size: an answer is refused before it is begun, or comes to its end.
 *
 * Threads  any, without a lock.
 */

/** An allocation below this is small. A connection of the library, or a block of a stream, is. */
#define PE_BUDGET_SMALL ((size_t)65536)
#define PE_BUDGET_SPARE ((size_t)16 << 20)

/** As many blocks are made at once as there are threads; most take less than a megabyte. */
#define PE_BUDGET_SPARE_BEGUN ((size_t)16 << 20)

/** So much may be resident beyond the budget: what is spare, what was freed and is still mapped,
 * the program itself and its stacks. */
#define PE_BUDGET_SLACK ((size_t)64 << 20)

/** The least budget that a server works with. */
#define PE_BUDGET_LEAST ((size_t)32 << 20)

/** Free about so many bytes of what nobody uses; returns how many. Allocates nothing. */
typedef size_t (*pe_budget_evict)(void *context, size_t bytes);

/** SIZE_MAX: no bound, as at first. evict may be NULL.   Threads  before there are others, or
 * after. */
void pe_budget_set(size_t bytes_max, pe_budget_evict evict, void *context);

/** Take bytes, or false. */
bool pe_budget_take(size_t bytes);
/** Give bytes back. */
void pe_budget_give(size_t bytes);
/** An allocation that was taken turned out to be larger or smaller. */
void pe_budget_correct(size_t from, size_t to);

/** This thread goes on with an answer that was begun, or ends doing so. */
void pe_budget_go_on(bool with_what_was_begun);

/** The system refuses memory that the budget has: evict so much. False when nothing was freed. */
bool pe_budget_make_room(size_t bytes);
/** The system refused for good. */
void pe_budget_failed(void);

/** Allocations of this thread that failed so far. A job that weighs what it has against what it
 * might have, such as a search, is wrong without a word if one of them failed meanwhile. */
uint64_t pe_budget_failures(void);

/** Is more taken than the budget, although the caches have evicted what they can? Then nothing new
 * should be begun. */
bool pe_budget_exceeded(void);

typedef struct pe_budget_stats {
    size_t bytes, bytes_max;  /* taken now; SIZE_MAX: no bound */
    uint64_t refused, failed; /* allocations: by the budget, by the system */
    uint64_t evicted;         /* bytes, to make room for others */
} pe_budget_stats;

void pe_budget_stats_get(pe_budget_stats *out);

#endif
