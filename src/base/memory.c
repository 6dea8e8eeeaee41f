/* SPDX-License-Identifier: MIT */
/* memory.c - what large allocations ask of the system. */
#include "base/memory.h"

#include <malloc.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

void pe_memory_prepare(void)
{
    mallopt(M_MMAP_THRESHOLD, (int)PE_MEMORY_LARGE);
}

/* The whole mapping is asked about, with the allocator's first bytes: in two parts it could not be
 * moved any more, and growing would copy. */
void pe_memory_use_huge_pages(void *data, size_t bytes)
{
    if (bytes < PE_MEMORY_LARGE)
        return;
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), into = (uintptr_t)data % page;
    (void)madvise((char *)data - into, bytes + into, MADV_HUGEPAGE);
}
