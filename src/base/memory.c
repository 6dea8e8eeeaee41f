/* SPDX-License-Identifier: MIT */
/* memory.c - what allocations ask of the system, and how much it lets this process have. */
#include "base/memory.h"

#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/size.h"

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

/* The beginning of a file as text; "" where it cannot be read. */
static const char *read_text(const char *path, char *out, size_t room)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t bytes = file >= 0 ? read(file, out, room - 1) : 0;
    if (file >= 0)
        close(file);
    out[bytes > 0 ? bytes : 0] = '\0';
    return out;
}

size_t pe_memory_resident(void)
{
    char line[128]; /* pages in all, pages in memory, ... */
    const char *second = strchr(read_text("/proc/self/statm", line, sizeof line), ' ');
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

/* ---- how much there is ---- */

/* "max", and what no machine has, is no limit. */
static size_t read_limit(const char *path)
{
    char text[64];
    const char first = *read_text(path, text, sizeof text);
    const unsigned long long limit = first >= '0' && first <= '9' ? strtoull(text, NULL, 10) : 0;
    return limit == 0 || limit > (unsigned long long)PTRDIFF_MAX / 2 ? SIZE_MAX : (size_t)limit;
}

/* The limits of a group and of all above it. Inside a container the path may be that of outside:
 * then only the groups above it are found, of which the container's own is the root. */
static size_t limit_of_group(const char *folder, const char *controller, char *group,
                             const char *name)
{
    char path[PATH_MAX];
    size_t limit = SIZE_MAX;
    for (char *end = group + strlen(group); end != NULL; end = strrchr(group, '/')) {
        *end = '\0';
        const int bytes = snprintf(path, sizeof path, "%s%s%s/%s", folder, controller, group, name);
        if (bytes > 0 && (size_t)bytes < sizeof path)
            limit = pe_size_min(limit, read_limit(path));
    }
    return limit;
}

/* A line is "0::/group", or of version 1 "number:controller,controller:/group". */
static size_t memory_of_groups(const char *groups, const char *folder)
{
    char text[8192], *rest;
    size_t limit = SIZE_MAX;
    snprintf(text, sizeof text, "%s", groups);
    for (char *line = strtok_r(text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        const char *controllers = strchr(line, ':');
        char *group = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
        if (group == NULL)
            continue;
        *group++ = '\0';
        if (strcmp(controllers, ":") == 0)
            limit = pe_size_min(limit, limit_of_group(folder, "", group, "memory.max"));
        else if (strstr(controllers, "memory") != NULL)
            limit = pe_size_min(limit,
                                limit_of_group(folder, "/memory", group, "memory.limit_in_bytes"));
    }
    return limit;
}

size_t pe_system_memory(const char **from)
{
    char text[8192];
    struct rlimit space;
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    const bool bound = getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY;
    const struct {
        const char *name;
        size_t limit;
    } sources[] = {
        {"machine", pages > 0 && page > 0 ? (size_t)pages * (size_t)page : SIZE_MAX},
        {"control group",
         memory_of_groups(read_text("/proc/self/cgroup", text, sizeof text), "/sys/fs/cgroup")},
        {"address space", bound ? (size_t)space.rlim_cur : SIZE_MAX},
    };
    size_t memory = SIZE_MAX;
    for (size_t i = 0; i < PE_LEN(sources); i++) {
        if (sources[i].limit < memory && from != NULL)
            *from = sources[i].name;
        memory = pe_size_min(memory, sources[i].limit);
    }
    return memory;
}
