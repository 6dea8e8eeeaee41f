/* SPDX-License-Identifier: MIT */
/* response_cache.h - rendered answers by canonical request, and by the raw request that was seen
 * before. */
#ifndef PE_HTTP_ANSWER_RESPONSE_CACHE_H
#define PE_HTTP_ANSWER_RESPONSE_CACHE_H

#include <stddef.h>

#include "cache/cache.h"

/**
 * Two caches. `answers` holds the bytes, by canonical request. `fronts` knows the canonical request
 * of a raw one (target, Accept, Accept-Encoding), so that a repetition needs no parsing; it holds
 * keys, not answers, so that what is evicted is gone. Both together keep to the configured bytes.
 *
 * Threads  any.
 */
typedef struct pe_response_cache pe_response_cache;

/** bytes_max 0: nothing is kept. */
pe_status pe_response_cache_make(size_t bytes_max, pe_response_cache **out,
                                 pe_problem *why) PE_MUST_CHECK;
/** All entries have been released. Accepts NULL. */
void pe_response_cache_free(pe_response_cache *warm);

/** A raw request whose answer depends on nothing else. There is room for the longest target that is
 * answered by default, and for header fields as clients send them. */
typedef struct pe_request_key {
    char key[8192 + 1024];
    size_t bytes; /* 0: too long to be worth it */
} pe_request_key;

void pe_request_key_make(const char *target, const char *accept, const char *accept_encoding,
                         pe_request_key *out);

/** The answer of a raw request seen before, with a reference; NULL when there is none. */
pe_cache_entry *pe_response_cache_find(pe_response_cache *warm, const pe_request_key *front);

/** The answer of a canonical request when it is there, with a reference; else NULL. */
pe_cache_entry *pe_response_cache_peek(pe_response_cache *warm, const void *key, size_t key_bytes);

/** The answer of a canonical request, which weighs at most `most`; as pe_cache_get_bounded. */
pe_status pe_response_cache_get(pe_response_cache *warm, const void *key, size_t key_bytes,
                                size_t most, pe_cache_fill fill, void *context,
                                pe_cache_entry **out, int *hit, pe_problem *why) PE_MUST_CHECK;

/** Remember that the raw request means this canonical one. */
void pe_response_cache_remember(pe_response_cache *warm, const pe_request_key *front,
                                const void *key, size_t key_bytes);

void pe_response_cache_stats(pe_response_cache *warm, pe_cache_stats *answers,
                             pe_cache_stats *fronts);

#endif
