/* SPDX-License-Identifier: MIT */
/* path_suggestion.h - which path was meant by one where nothing lives. */
#ifndef PE_HTTP_PATH_SUGGESTION_H
#define PE_HTTP_PATH_SUGGESTION_H

#include <stddef.h>

#include "base/buffer.h"

/**
 * Adds "did you mean /v1/rope/table?" or "below it are /v1/t5/buckets, /v1/t5/bias"; nothing where
 * no path is like it. `known`: the n paths that are served, templates with {name} among them.
 */
void pe_path_suggestion_add(const char *path, const char *const *known, size_t n, pe_buffer *out);

#endif
