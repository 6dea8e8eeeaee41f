/* SPDX-License-Identifier: MIT */
/* stored_response.c - a rendered representation with its response. */
#include "http/reply/stored_response.h"

#include <stdlib.h>
#include <string.h>

#include "cache/cache.h"
#include "http/reply/etag.h"

/* What the library's response and its dozen header fields weigh beside our own. */
#define RESPONSE_BYTES 3072

/* From this size on malloc may take whole pages from the system. */
#define MAPPED_BYTES 131072
#define PAGE_BYTES   4096

pe_status pe_stored_response_make(const pe_service *service, pe_buffer *data, pe_metadata *metadata,
                                  pe_stored_response **out, pe_problem *why)
{
    const pe_buffer content = *data;
    *data = (pe_buffer){0};
    pe_stored_response *stored = calloc(1, sizeof *stored);
    struct MHD_Response *shared = stored == NULL
                                      ? NULL
                                      : MHD_create_response_from_buffer_with_free_callback_cls(
                                            content.bytes, content.data, free, content.data);
    if (shared == NULL) {
        free(content.data);
        free(stored);
        return pe_fail_memory(why);
    }
    pe_header_fields_add_public(service, shared);
    pe_header_fields_add_metadata(shared, PE_METHOD_GET, metadata);
    pe_header_fields_add(shared, "Server-Timing", "cache;desc=hit");
    stored->data = content.data;
    stored->bytes = content.bytes;
    stored->metadata = *metadata;
    stored->shared = shared;
    metadata->location = NULL;
    *out = stored;
    return PE_OK;
}

size_t pe_stored_response_weight(size_t bytes, const pe_metadata *metadata)
{
    const size_t rounding = bytes >= MAPPED_BYTES ? PAGE_BYTES : PE_CACHE_BLOCK_BYTES;
    const size_t location = metadata->location != NULL ? strlen(metadata->location) : 0;
    const size_t digest = PE_DIGEST_BYTES + PE_CACHE_BLOCK_BYTES;
    return sizeof(pe_stored_response) + bytes + rounding + 2 * location + digest + RESPONSE_BYTES;
}

void pe_stored_response_free(void *value)
{
    pe_stored_response *stored = value;
    MHD_destroy_response(stored->shared); /* frees data when the last connection has sent it */
    free(stored->metadata.location);
    free(atomic_load(&stored->digest));
    free(stored);
}

const char *pe_stored_response_digest(pe_service *service, pe_stored_response *stored)
{
    char *published = atomic_load_explicit(&stored->digest, memory_order_acquire);
    if (published != NULL)
        return published;
    char *made = malloc(PE_DIGEST_BYTES);
    if (made == NULL)
        return NULL;
    pe_digest_make(stored->data, stored->bytes, made);
    pe_service_count(&service->counters.digests);
    if (atomic_compare_exchange_strong(&stored->digest, &published, made))
        return made;
    free(made);
    return published;
}
