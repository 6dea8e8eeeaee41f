/* SPDX-License-Identifier: MIT */
/* response_cache.c - stored responses, by what their bytes depend on, and by raw request. */
#include "http/answer/response_cache.h"

#include <stdlib.h>
#include <string.h>

#include "http/answer/representation.h"
#include "http/reply/reply.h"
#include "plan/resource.h"

/* The share of the bytes that the raw requests get. */
#define REQUESTS_SHARE 16

/* The key of a response: the value of an entry of requests. */
typedef struct response_key {
    size_t bytes;
    char key[];
} response_key;

/* ---- stored responses ---- */

/* What the library's response and its dozen header fields weigh beside our own. */
#define RESPONSE_BYTES 3072

/* From this size on malloc may take whole pages from the system. */
#define MAPPED_BYTES 131072
#define PAGE_BYTES   4096

pe_status pe_stored_response_make(const pe_service *service, pe_buffer *data,
                                  const pe_metadata *metadata, pe_stored_response **out,
                                  pe_problem *why)
{
    const pe_buffer content = *data;
    const bool has_location = metadata->location != NULL;
    char *location = has_location ? strdup(metadata->location) : NULL;
    pe_stored_response *stored = calloc(1, sizeof *stored);
    struct MHD_Response *shared = pe_response_of(data);
    if (stored == NULL || shared == NULL || (has_location && location == NULL)) {
        if (shared != NULL)
            MHD_destroy_response(shared);
        free(location);
        free(stored);
        return pe_fail_memory(why);
    }
    pe_header_fields_add_public(service, shared);
    pe_header_fields_add_metadata(shared, PE_METHOD_GET, metadata);
    pe_header_fields_add(shared, "Server-Timing", "cache;desc=hit");
    stored->data = content.data;
    stored->bytes = content.bytes;
    stored->metadata = *metadata;
    stored->metadata.location = location;
    stored->shared = shared;
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

static void free_response(void *value)
{
    pe_stored_response *stored = value;
    MHD_destroy_response(stored->shared); /* frees data when the last connection has sent it */
    free(stored->metadata.location);
    free(atomic_load(&stored->digest));
    free(stored);
}

/* ---- the caches ---- */

pe_status pe_response_cache_make(size_t bytes_max, pe_response_cache **out, pe_problem *why)
{
    pe_response_cache *cache = calloc(1, sizeof *cache);
    if (cache == NULL)
        return pe_fail_memory(why);
    const size_t requests = bytes_max / REQUESTS_SHARE;
    if (pe_cache_make(bytes_max - requests, free_response, &cache->responses, why) != PE_OK ||
        pe_cache_make(requests, free, &cache->requests, why) != PE_OK) {
        pe_response_cache_free(cache);
        return why->status;
    }
    *out = cache;
    return PE_OK;
}

void pe_response_cache_free(pe_response_cache *cache)
{
    if (cache == NULL)
        return;
    pe_cache_free(cache->requests);
    pe_cache_free(cache->responses);
    free(cache);
}

/* Append a part and the NUL that ends it; false when it does not fit. */
static bool append(pe_request_key *raw, const char *part)
{
    size_t bytes = part != NULL ? strlen(part) : 0;
    if (bytes >= sizeof raw->key - raw->bytes)
        return false;
    if (bytes > 0)
        memcpy(raw->key + raw->bytes, part, bytes);
    raw->key[raw->bytes + bytes] = '\0';
    raw->bytes += bytes + 1;
    return true;
}

void pe_response_cache_key_make(uint64_t edition, const char *target, const char *accept,
                                const char *accept_encoding, pe_request_key *out)
{
    memcpy(out->key, &edition, sizeof edition);
    out->bytes = sizeof edition;
    if (!append(out, target) || !append(out, accept) || !append(out, accept_encoding))
        out->bytes = 0;
}

void pe_response_cache_key_of_target(uint64_t edition, const char *target, pe_request_key *out)
{
    pe_response_cache_key_make(edition, target, NULL, "\n", out); /* no request has such a field */
}

pe_cache_entry *pe_response_cache_find(pe_response_cache *cache, const pe_request_key *raw)
{
    if (raw->bytes == 0)
        return NULL;
    pe_cache_entry *known = pe_cache_peek(cache->requests, raw->key, raw->bytes);
    if (known == NULL)
        return NULL;
    const response_key *meant = pe_cache_entry_value(known);
    pe_cache_entry *response = pe_cache_peek(cache->responses, meant->key, meant->bytes);
    pe_cache_entry_unref(known);
    return response;
}

static size_t weight_of(const pe_slice *meant)
{
    return sizeof(response_key) + meant->bytes + PE_CACHE_BLOCK_BYTES;
}

static pe_status copy_key(void *context, void **value, size_t *bytes, pe_problem *why)
{
    const pe_slice *meant = context;
    response_key *copy = malloc(sizeof *copy + meant->bytes);
    if (copy == NULL)
        return pe_fail_memory(why);
    copy->bytes = meant->bytes;
    memcpy(copy->key, meant->text, meant->bytes);
    *value = copy;
    *bytes = weight_of(meant);
    return PE_OK;
}

void pe_response_cache_remember(pe_response_cache *cache, const pe_request_key *raw, pe_slice key)
{
    pe_problem why;
    pe_cache_entry *entry = NULL;
    const pe_cache_request request = {raw->key, raw->bytes, copy_key, &key, weight_of(&key)};
    if (raw->bytes > 0 && pe_cache_get(cache->requests, &request, &entry, NULL, &why) == PE_OK)
        pe_cache_entry_unref(entry);
}

size_t pe_response_cache_evict(pe_response_cache *cache, size_t bytes)
{
    const size_t evicted = pe_cache_evict(cache->responses, bytes);
    return evicted < bytes ? evicted + pe_cache_evict(cache->requests, bytes - evicted) : evicted;
}

/* ---- the stored response of a representation ---- */

bool pe_cached_response_fits(const pe_representation *representation)
{
    const pe_settings *settings = representation->service->settings;
    return representation->resource->kind == PE_TABLE && representation->work <= PE_WHOLE_WORK &&
           representation->length_max <= (uint64_t)settings->response_cache_entry_bytes;
}

pe_cache_entry *pe_cached_response_find(const pe_representation *representation, pe_coding coding)
{
    char key[PE_REPRESENTATION_KEY_BYTES];
    const size_t bytes = pe_representation_key(representation, coding, key);
    pe_cache *responses = representation->service->responses->responses;
    return bytes > 0 ? pe_cache_peek(responses, key, bytes) : NULL;
}

typedef struct filling {
    pe_representation *representation;
    pe_coding coding;
} filling;

static pe_status fill(void *context, void **value, size_t *bytes, pe_problem *why)
{
    const filling *f = context;
    pe_buffer data;
    pe_stored_response *stored;
    pe_metadata own = f->representation->metadata;
    PE_TRY(pe_representation_render(f->representation, NULL, f->coding, &data, &own, why));
    PE_TRY(pe_stored_response_make(f->representation->service, &data, &own, &stored, why));
    *value = stored;
    *bytes = pe_stored_response_weight(stored->bytes, &stored->metadata);
    return PE_OK;
}

pe_status pe_cached_response_get(pe_representation *representation, pe_coding coding,
                                 pe_cache_entry **out, int *hit, pe_problem *why)
{
    filling context = {representation, coding};
    char key[PE_REPRESENTATION_KEY_BYTES];
    const pe_cache_request request = {
        .key = key,
        .key_bytes = pe_representation_key(representation, coding, key),
        .most = pe_stored_response_weight((size_t)representation->length_max + 1,
                                          &representation->metadata),
        .fill = fill,
        .context = &context,
    };
    return pe_cache_get(representation->service->responses->responses, &request, out, hit, why);
}

void pe_cached_response_remember(const pe_representation *representation, pe_coding coding,
                                 uint64_t edition, const char *target, const char *accept,
                                 const char *accept_encoding)
{
    pe_request_key asked;
    char text[PE_REPRESENTATION_KEY_BYTES];
    const pe_slice key = {text, pe_representation_key(representation, coding, text)};
    pe_response_cache_key_make(edition, target, accept, accept_encoding, &asked);
    pe_response_cache_remember(representation->service->responses, &asked, key);
    if (representation->work <= PE_HEAVY_WORK)
        return;
    pe_response_cache_key_of_target(edition, target, &asked);
    pe_response_cache_remember(representation->service->responses, &asked, key);
}
