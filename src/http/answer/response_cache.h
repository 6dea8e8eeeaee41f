/* SPDX-License-Identifier: MIT */
/* response_cache.h - stored responses, by what their bytes depend on, and by raw request. */
#ifndef PE_HTTP_ANSWER_RESPONSE_CACHE_H
#define PE_HTTP_ANSWER_RESPONSE_CACHE_H

#include <stddef.h>

#include "cache/cache.h"
#include "http/reply/coding.h"
#include "http/reply/reply.h"

typedef struct pe_representation pe_representation; /* http/answer/representation.h */

/** A rendered representation with its response, as the response cache has. Immutable, but for the
 * digest. */
typedef struct pe_stored_response {
    char *data; /* freed by `shared`, whose content it is */
    size_t bytes;
    pe_metadata metadata;
    struct MHD_Response *shared; /* says "hit" and carries nothing that differs by request */
    /** Repr-Digest; owned. Made when first wanted: NULL until then, published once. */
    _Atomic(char *) digest;
} pe_stored_response;

/** Of rendered bytes, which it takes.   Errors  OVERLOADED (memory). */
pe_status pe_stored_response_make(const pe_service *service, pe_buffer *data,
                                  const pe_metadata *metadata, pe_stored_response **out,
                                  pe_problem *why) PE_MUST_CHECK;

/** What a response of so many bytes holds, with the library's part and a digest: what a cache
 * reckons with. */
size_t pe_stored_response_weight(size_t bytes, const pe_metadata *metadata);

/**
 * Two caches. `responses` holds stored responses, by the key of their representation. `requests`
 * knows that key of a raw request (target, Accept, Accept-Encoding), so that a repetition is not
 * parsed; it holds keys, not responses, so that what is evicted is gone. Both together keep to the
 * configured bytes.
 *
 * Threads  any.
 */
typedef struct pe_response_cache {
    pe_cache *responses; /* key of a representation -> pe_stored_response */
    pe_cache *requests;  /* raw request -> that key */
} pe_response_cache;

/** bytes_max 0: nothing is stored. */
pe_status pe_response_cache_make(size_t bytes_max, pe_response_cache **out,
                                 pe_problem *why) PE_MUST_CHECK;
/** All entries have been released. Accepts NULL. */
void pe_response_cache_free(pe_response_cache *cache);

/** A raw request whose response depends on nothing else but the service's edition. There is room
 * for the longest target that is answered by default, and for header fields as clients send
 * them. */
typedef struct pe_request_key {
    char key[8192 + 1024];
    size_t bytes; /* 0: too long to be worth it */
} pe_request_key;

void pe_response_cache_key_make(uint64_t edition, const char *target, const char *accept,
                                const char *accept_encoding, pe_request_key *out);
/** The target with whatever fields: some response to it may be stored. */
void pe_response_cache_key_of_target(uint64_t edition, const char *target, pe_request_key *out);

/** The entry of the response to a raw request seen before, with a reference; NULL when there is
 * none. Its value is a pe_stored_response. */
pe_cache_entry *pe_response_cache_find(pe_response_cache *cache, const pe_request_key *raw);

/** Remember that the raw request means the response of this key. */
void pe_response_cache_remember(pe_response_cache *cache, const pe_request_key *raw, pe_slice key);

/** As pe_cache_evict. */
size_t pe_response_cache_evict(pe_response_cache *cache, size_t bytes);

/** Is it worth storing: a table whose bytes are surely no more than the settings allow? */
bool pe_cached_response_fits(const pe_representation *representation);

/** The entry of the response that is stored for this coding, with a reference; NULL when there is
 * none. Where the coding was not worth it, its bytes are plain. */
pe_cache_entry *pe_cached_response_find(const pe_representation *representation, pe_coding coding);

/** The same, rendered and coded by one thread when it is absent: then *hit is false. *out is NULL
 * where the cache has no room: it is small, or readers hold what is in it.
 * Errors  OVERLOADED (memory). */
pe_status pe_cached_response_get(pe_representation *representation, pe_coding coding,
                                 pe_cache_entry **out, int *hit, pe_problem *why) PE_MUST_CHECK;

/** Remember that a raw request means this representation, for this coding; and so does its target,
 * where the answer is much work. */
void pe_cached_response_remember(const pe_representation *representation, pe_coding coding,
                                 uint64_t edition, const char *target, const char *accept,
                                 const char *accept_encoding);

#endif
