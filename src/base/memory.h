/* SPDX-License-Identifier: MIT */
/* memory.h - what allocations ask of the system, and how much it lets this process have. */
#ifndef PE_BASE_MEMORY_H
#define PE_BASE_MEMORY_H

#include <stddef.h>

/** From this many bytes on an allocation is large. */
#define PE_MEMORY_LARGE ((size_t)1 << 20)

/**
 * From now on each large allocation has a mapping of its own: it grows without a copy, takes pages
 * as they are touched, and goes back to the system when freed. (By default the allocator takes
 * large blocks from its heap once some were freed. Growing and trimming the heap then stops a
 * thread for milliseconds.)   Threads  before there are others.
 */
void pe_memory_prepare(void);

/**
 * Ask for huge pages behind a large allocation; other allocations stay as they are. Where there are
 * huge pages, touching and freeing 10 MiB takes 0.7 ms instead of 7. Else small pages are used.
 */
void pe_memory_use_huge_pages(void *data, size_t bytes);

/** Bytes of this process that are in memory; 0 when the system does not tell. */
size_t pe_memory_resident(void);

/**
 * Give freed memory back to the system, if it is much; to be called every few seconds. (By itself
 * the allocator gives back only the ends of its heaps. Memory of a burst of bodies would be kept as
 * long as anything behind it is in use.)
 *
 * *left: what could not be given back last time, 0 at first.   Threads  any, each with its own.
 */
void pe_memory_give_back(size_t *left);

/**
 * The least of the memory of the machine, the limit of the address space (RLIMIT_AS) and those of
 * the control groups, of version 1 or 2. *from (may be NULL): which of them, for people.
 */
size_t pe_system_memory(const char **from);

#endif
