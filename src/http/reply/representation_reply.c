/* SPDX-License-Identifier: MIT */
/* representation_reply.c - replies whose content is numbers. */
#include <stdlib.h>
#include <string.h>

#include "cache/cache.h"
#include "http/reply/etag.h"
#include "http/reply/reply.h"

/* What a stream sends at once where there is no memory for more. */
#define SMALL_BLOCK ((size_t)32768)

static bool is_part(const pe_request *request)
{
    return request->range.kind == PE_RANGE_PART;
}

/* The library writes the reply's header beside the request's, and ends the connection without a
 * reply where it does not fit. So Content-Location is left out then. */
static bool fits_location(const pe_request *request, const pe_metadata *metadata)
{
    return metadata->location == NULL || strlen(metadata->location) <= request->location_room;
}

/* response NULL: no memory, and the metadata may be gone. What If-None-Match: * names is known here
 * only, since content decides the coding. */
static pe_outcome decide(pe_request *request, struct MHD_Response *response,
                         const pe_metadata *metadata, const char *timing)
{
    if (response == NULL)
        return PE_REPLIED;
    const char *tags = request->header[PE_HEADER_IF_NONE_MATCH];
    if (tags != NULL && request->method != PE_METHOD_POST &&
        pe_etag_matches(tags, metadata->etag)) {
        pe_reply_not_modified(request, metadata);
        MHD_destroy_response(response);
        return PE_REPLIED;
    }
    pe_metadata fitting = *metadata;
    if (!fits_location(request, metadata))
        fitting.location = NULL;
    pe_header_fields_add_metadata(response, request->method, &fitting);
    pe_header_fields_add(response, "Server-Timing", timing);
    pe_header_fields_add(response, "Content-Range", is_part(request) ? request->range.text : NULL);
    return pe_reply_decide(request, is_part(request) ? MHD_HTTP_PARTIAL_CONTENT : MHD_HTTP_OK,
                           response);
}

/* May one response, which all share, be the reply: is there nothing in it of this request alone? */
static bool may_share(const pe_request *request, const pe_stored_response *stored)
{
    return !request->id_sent && !request->guarded && request->method != PE_METHOD_POST &&
           !is_part(request) && !request->wants_digest &&
           request->header[PE_HEADER_IF_NONE_MATCH] == NULL &&
           !atomic_load(&request->service->draining) && fits_location(request, &stored->metadata);
}

/* Its Repr-Digest. Several threads may make it at once; one of them publishes it. NULL: memory is
 * short. */
static const char *digest_of(pe_service *service, pe_stored_response *stored)
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

pe_outcome pe_reply_stored(pe_request *request, pe_cache_entry *entry, const char *timing)
{
    pe_stored_response *stored = pe_cache_entry_value(entry);
    const size_t first = is_part(request) ? (size_t)request->range.first : 0;
    const size_t bytes = is_part(request) ? (size_t)request->range.bytes : stored->bytes;
    request->reply_bytes = bytes;
    request->cache_hit = timing == NULL;
    request->cache_missed = timing != NULL;
    if (timing == NULL && may_share(request, stored)) {
        pe_reply_drop(request);
        request->reply = (pe_reply){MHD_HTTP_OK, stored->shared, entry};
        return PE_REPLIED;
    }
    struct MHD_Response *response = pe_response_held(stored->data + first, bytes, entry);
    if (response == NULL)
        return PE_REPLIED;
    if (request->wants_digest)
        pe_header_fields_add(response, "Repr-Digest", digest_of(request->service, stored));
    return decide(request, response, &stored->metadata, timing != NULL ? timing : "cache;desc=hit");
}

pe_outcome pe_reply_rendered(pe_request *request, pe_buffer *data, const pe_metadata *metadata,
                             const char *timing)
{
    char digest[PE_DIGEST_BYTES];
    request->reply_bytes = data->bytes;
    request->cache_missed = true;
    struct MHD_Response *response = MHD_create_response_from_buffer_with_free_callback_cls(
        data->bytes, data->data, free, data->data);
    if (response == NULL) {
        free(data->data);
    } else if (request->wants_digest && !is_part(request)) { /* of the whole representation */
        pe_digest_make(data->data, data->bytes, digest);
        pe_service_count(&request->service->counters.digests);
        pe_header_fields_add(response, "Repr-Digest", digest);
    }
    *data = (pe_buffer){0};
    return decide(request, response, metadata, timing);
}

/*
 * HEAD of a length that is not known goes out without one, on a connection that ends: where it sends
 * chunks, the library would send the last one, which a HEAD response does not have.
 */
pe_outcome pe_reply_stream(pe_request *request, const pe_body_source *source,
                           const pe_metadata *metadata, pe_problem *why)
{
    const bool known = source->bytes != UINT64_MAX;
    /* Chunks are made in the connection's memory: the block would be held for nothing. */
    const size_t block = known || !request->takes_interim ? source->block : 1;
    const uint64_t bytes = known ? source->bytes : MHD_SIZE_UNKNOWN;
    struct MHD_Response *response = MHD_create_response_from_callback(
        bytes, block, source->read, source->context, source->free);
    if (response == NULL && block > SMALL_BLOCK)
        response = MHD_create_response_from_callback(bytes, SMALL_BLOCK, source->read,
                                                     source->context, source->free);
    if (response == NULL) {
        source->free(source->context);
        return pe_failed(pe_fail_memory(why));
    }
    request->reply_bytes = source->bytes;
    request->cache_missed = true;
    if (request->method == PE_METHOD_HEAD && !known)
        MHD_set_response_options(response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
    return decide(request, response, metadata, "cache;desc=miss");
}

pe_outcome pe_reply_not_modified(pe_request *request, const pe_metadata *metadata)
{
    const pe_field fields[] = {
        {"ETag", metadata->etag},
        {"Content-Location", fits_location(request, metadata) ? metadata->location : NULL},
        {"Vary", "Accept, Accept-Encoding"},
        {"Cache-Control", pe_header_fields_cache_control(request->method, metadata)},
        {0},
    };
    return pe_reply_empty(request, MHD_HTTP_NOT_MODIFIED, fields);
}

/* ---- stored responses ---- */

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
