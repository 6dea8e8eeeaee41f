/* SPDX-License-Identifier: MIT */
/* memory.c - what large allocations ask of the system. */
#include "base/memory.h"

#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* So many bytes may lie idle, since giving them back stops all allocations for milliseconds. */
#define IDLE_BYTES ((size_t)32 << 20)

/* Of a thread, where address space is scarce. */
#define STACK_BYTES ((size_t)2 << 20)

void pe_memory_prepare(void)
{
    mallopt(M_MMAP_THRESHOLD, (int)PE_MEMORY_LARGE);
    /* Most of the address space that heaps of threads and stacks reserve is never used; where it is
     * bounded, there is one heap, and stacks are small. */
    struct rlimit limit;
    pthread_attr_t attributes;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return;
    mallopt(M_ARENA_MAX, 1);
    if (pthread_attr_init(&attributes) != 0)
        return;
    if (pthread_attr_setstacksize(&attributes, STACK_BYTES) == 0)
        (void)pthread_setattr_default_np(&attributes);
    pthread_attr_destroy(&attributes);
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

size_t pe_memory_resident(void)
{
    char line[128]; /* pages in all, pages in memory, ... */
    const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return 0;
    const ssize_t bytes = read(file, line, sizeof line - 1);
    close(file);
    line[bytes > 0 ? bytes : 0] = '\0';
    const char *second = strchr(line, ' ');
    const size_t pages = second != NULL ? (size_t)strtoull(second, NULL, 10) : 0;
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* Bytes in memory that no allocation needs: free ones, and the program itself. */
static size_t idle(void)
{
    const struct mallinfo2 info = mallinfo2();
    const size_t in_memory = pe_memory_resident(), used = info.uordblks + info.hblkhd;
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
