/* SPDX-License-Identifier: MIT */
/* cached_response.h - the stored response of a representation: found in the cache, or made. */
#ifndef PE_HTTP_ANSWER_CACHED_RESPONSE_H
#define PE_HTTP_ANSWER_CACHED_RESPONSE_H

#include "http/answer/representation.h"
#include "http/answer/response_cache.h"
#include "http/reply/coding.h"

/** Is it worth storing: a table whose bytes are surely no more than the settings allow? */
bool pe_cached_response_fits(const pe_representation *representation);

/** The entry of the response that is stored in this coding, or of the plain one where *coding was
 * not worth it and becomes IDENTITY; with a reference. NULL when there is none. */
pe_cache_entry *pe_cached_response_find(const pe_representation *representation, pe_coding *coding);

/** A stored response as the cache gave it. */
typedef struct pe_cached_response {
    pe_cache_entry *entry; /* with a reference; NULL: the cache has no room for it */
    pe_coding coding;      /* that it has */
    int hit;               /* it was there, or another thread made it */
} pe_cached_response;

/** The response in out->coding, or the plain one where that is not worth it. One thread renders and
 * codes it when it is absent. The cache has no room for it when it is small, or when readers hold
 * what is in it.   Errors  OVERLOADED (memory). */
pe_status pe_cached_response_get(pe_representation *representation, pe_cached_response *out,
                                 pe_problem *why) PE_MUST_CHECK;

/** Remember that a raw request means this canonical one, in this coding. */
void pe_cached_response_remember(const pe_representation *representation, const pe_request_key *raw,
                                 pe_coding coding);

#endif
