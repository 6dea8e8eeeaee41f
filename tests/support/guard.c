/* SPDX-License-Identifier: MIT */
/* guard.c - memory that notices what touches its surroundings. */
#include "support/check.h"
#include "support/guard.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define KNOWN_BYTE 0xa5

guarded guard_make(size_t bytes, size_t gap)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t usable = (bytes + gap + page) / page * page + page;
    unsigned char *pages =
        mmap(NULL, usable + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED || mprotect(pages + usable, page, PROT_NONE) != 0)
        fail_msg("no memory of %zu bytes", usable);
    memset(pages, KNOWN_BYTE, usable);
    return (guarded){.data = pages + usable - gap - bytes,
                     .bytes = bytes,
                     .pages = pages,
                     .pages_bytes = usable + page,
                     .gap = gap};
}

void guard_check(const guarded *memory, const char *what)
{
    const unsigned char *after = memory->data + memory->bytes;
    for (const unsigned char *at = memory->pages; at < memory->data; at++)
        if (*at != KNOWN_BYTE)
            fail_msg("%s: wrote %td bytes before its array", what, memory->data - at);
    for (size_t i = 0; i < memory->gap; i++)
        if (after[i] != KNOWN_BYTE)
            fail_msg("%s: wrote %zu bytes after the end of its array", what, i);
}

void guard_free(guarded *memory)
{
    munmap(memory->pages, memory->pages_bytes);
    *memory = (guarded){0};
}
