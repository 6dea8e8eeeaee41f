/* SPDX-License-Identifier: MIT */
/* stored_response.h - a rendered representation with its response, as the response cache has. */
#ifndef PE_HTTP_REPLY_STORED_RESPONSE_H
#define PE_HTTP_REPLY_STORED_RESPONSE_H

#include "http/reply/header_fields.h"

/** Immutable, but for the digest. */
typedef struct pe_stored_response {
    char *data; /* freed by `shared`, whose content it is; NULL: coding it was not worth it */
    size_t bytes;
    pe_metadata metadata;
    struct MHD_Response *shared; /* says "hit" and carries nothing that differs by request */
    /** Repr-Digest; owned. Made when first wanted: NULL until then, published once. */
    _Atomic(char *) digest;
} pe_stored_response;

/**
 * Of rendered bytes. Takes data and, on success, the location of *metadata (set to NULL there).
 * Errors  OVERLOADED (memory).
 */
pe_status pe_stored_response_make(const pe_service *service, pe_buffer *data, pe_metadata *metadata,
                                  pe_stored_response **out, pe_problem *why) PE_MUST_CHECK;
void pe_stored_response_free(void *stored);

/** What a response of so many bytes holds, with the library's part and a digest: what a cache
 * reckons with. */
size_t pe_stored_response_weight(size_t bytes, const pe_metadata *metadata);

/** Its Repr-Digest. Several threads may make it at once; one of them publishes it. NULL: memory is
 * short. */
const char *pe_stored_response_digest(pe_service *service, pe_stored_response *stored);

#endif
