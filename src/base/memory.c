/* SPDX-License-Identifier: MIT */
/* memory.c - what large allocations ask of the system. */
#include "base/memory.h"

#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* So many bytes may lie idle, since giving them back stops all allocations for milliseconds. */
#define IDLE_BYTES ((size_t)32 << 20)

void pe_memory_prepare(void)
{
    mallopt(M_MMAP_THRESHOLD, (int)PE_MEMORY_LARGE);
}

/* The advice is for the whole mapping, the allocator's first bytes included: a mapping in two parts
 * cannot be moved, and would be copied to grow. */
void pe_memory_use_huge_pages(void *data, size_t bytes)
{
    if (bytes < PE_MEMORY_LARGE)
        return;
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), into = (uintptr_t)data % page;
    (void)madvise((char *)data - into, bytes + into, MADV_HUGEPAGE);
}

/* Bytes of this process that are in memory; 0 when the system does not tell. */
static size_t resident(void)
{
    char line[128]; /* pages in all, pages in memory, ... */
    unsigned long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL)
        return 0;
    const char *second = fgets(line, sizeof line, file) != NULL ? strchr(line, ' ') : NULL;
    if (second != NULL)
        pages = strtoull(second, NULL, 10);
    fclose(file);
    return (size_t)pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* Bytes in memory that no allocation needs: free ones, and the program itself. */
static size_t idle(void)
{
    const struct mallinfo2 info = mallinfo2();
    const size_t in_memory = resident(), used = info.uordblks + info.hblkhd;
    return in_memory > used ? in_memory - used : 0;
}

void pe_memory_give_back(size_t *left)
{
    const size_t now = idle();
    if (now < *left)
        *left = now;
    if (now - *left < IDLE_BYTES)
        return;
    malloc_trim(0);
    *left = idle();
}
