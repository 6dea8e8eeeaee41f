/* SPDX-License-Identifier: MIT */
/* coding.h - content codings: which one a client gets, and the coded bytes. */
#ifndef PE_HTTP_REPLY_CODING_H
#define PE_HTTP_REPLY_CODING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

typedef enum pe_coding { PE_CODING_IDENTITY, PE_CODING_GZIP, PE_CODING_ZSTD, PE_CODINGS } pe_coding;

/** "gzip"; NULL for identity. */
const char *pe_coding_name(pe_coding coding);

/** What the coded bytes depend on beside the content: the library and its version. Part of tags. */
const char *pe_coding_maker(pe_coding coding);

/**
 * The coding for an Accept-Encoding header (NULL: identity): the greatest weight wins; of equal
 * ones zstd, then gzip, then identity. `*` stands for gzip and identity.
 * Source  RFC 9110, 12.5.3.
 */
pe_coding pe_coding_choose(const char *accept_encoding);

/** The most that so many bytes are coded to; what needs more is not worth it. */
size_t pe_coding_room(size_t bytes);

/** Would an Accept-Encoding header welcome `other` as much as `coding`, which it does? */
bool pe_coding_as_welcome(const char *accept_encoding, pe_coding coding, pe_coding other);

/**
 * Code the bytes, when that saves a fifth of them at least; else *out is NULL. *out is the
 * caller's, to free.   Errors  INTERNAL (memory).
 */
pe_status pe_coding_apply(pe_coding coding, const char *data, size_t bytes, char **out,
                          size_t *out_bytes, pe_problem *why) PE_MUST_CHECK;

#endif
