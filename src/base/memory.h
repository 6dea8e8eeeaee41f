/* SPDX-License-Identifier: MIT */
/* memory.h - what large allocations ask of the system. */
#ifndef PE_BASE_MEMORY_H
#define PE_BASE_MEMORY_H

#include <stddef.h>

/** From this many bytes on an allocation is large. */
#define PE_MEMORY_LARGE ((size_t)1 << 20)

/**
 * Give each large allocation a mapping of its own, for good: it grows without being copied, takes
 * pages as they are touched, and goes back to the system when freed. (By default the allocator
 * takes large blocks from its heap once some were freed; growing and trimming that holds a thread
 * for milliseconds.)   Threads  before there are others.
 */
void pe_memory_prepare(void);

/**
 * Ask for huge pages behind a large allocation; nothing for others. Touching and freeing 10 MiB
 * takes 0.7 ms instead of 7 where the system has them. No failure: small pages do, too.
 */
void pe_memory_use_huge_pages(void *data, size_t bytes);

/**
 * Give the system what has been freed, if that is much; to be called every few seconds. (By itself
 * the allocator gives back the ends of its heaps only: what a burst of bodies took would stay in
 * memory as long as anything lives behind it.)
 *
 * *left: what could not be given back lately, 0 at first.   Threads  any, each with its own.
 */
void pe_memory_give_back(size_t *left);

#endif
