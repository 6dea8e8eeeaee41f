/* SPDX-License-Identifier: MIT */
/* guard.h - memory that notices what touches its surroundings. */
#ifndef PE_TESTS_SUPPORT_GUARD_H
#define PE_TESTS_SUPPORT_GUARD_H

#include <stddef.h>

/**
 * `bytes` bytes at `data`, between known bytes; after `gap` of those comes a page that cannot be
 * read or written. With gap 0 reading one byte too many is a crash; odd gaps give odd addresses.
 */
typedef struct guarded {
    unsigned char *data;
    size_t bytes;
    void *pages;
    size_t pages_bytes;
    size_t gap;
} guarded;

guarded guard_make(size_t bytes, size_t gap);
/** Fails the test, naming `what`, when a byte around the data has changed. */
void guard_check(const guarded *memory, const char *what);
void guard_free(guarded *memory);

#endif
