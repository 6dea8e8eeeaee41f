/* SPDX-License-Identifier: MIT */
/* nearest.h - which known name a mistyped one was meant to be. */
#ifndef PE_BASE_NEAREST_H
#define PE_BASE_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

/**
 * The nearest of the names to `name`, NULL when none is near: at most 3 edits away, and at most
 * half its own length. The first of several equally near ones.
 */
const char *pe_nearest_name(const char *name, const char *const *names, size_t n);

/** Is it one of the names? */
bool pe_nearest_is_name(const char *name, const char *const *names, size_t n);

#endif
