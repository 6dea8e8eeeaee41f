/* SPDX-License-Identifier: MIT */
/* response_cache.c - stored responses, by canonical request and by raw request. */
#include "http/answer/response_cache.h"

#include <stdlib.h>
#include <string.h>

/* The share of the bytes that the raw requests get. */
#define REQUESTS_SHARE 16

struct pe_response_cache {
    pe_cache *responses; /* canonical request -> pe_stored_response */
    pe_cache *requests;  /* raw request -> canonical */
};

/* A canonical request: the value of an entry of requests. */
typedef struct canonical {
    size_t bytes;
    char key[];
} canonical;

pe_status pe_response_cache_make(size_t bytes_max, pe_response_cache **out, pe_problem *why)
{
    pe_response_cache *cache = calloc(1, sizeof *cache);
    if (cache == NULL)
        return pe_fail_memory(why);
    const size_t requests = bytes_max / REQUESTS_SHARE;
    if (pe_cache_make(bytes_max - requests, pe_stored_response_free, &cache->responses, why) !=
            PE_OK ||
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
    const canonical *meant = pe_cache_entry_value(known);
    pe_cache_entry *response = pe_cache_peek(cache->responses, meant->key, meant->bytes);
    pe_cache_entry_unref(known);
    if (response == NULL ||
        ((const pe_stored_response *)pe_cache_entry_value(response))->data != NULL)
        return response;
    pe_cache_entry_unref(response); /* coded once, but not when it was to be coded again */
    return NULL;
}

pe_cache_entry *pe_response_cache_peek(pe_response_cache *cache, const void *key, size_t key_bytes)
{
    return pe_cache_peek(cache->responses, key, key_bytes);
}

pe_status pe_response_cache_get(pe_response_cache *cache, const pe_cache_request *request,
                                pe_cache_entry **out, int *hit, pe_problem *why)
{
    return pe_cache_get_bounded(cache->responses, request, out, hit, why);
}

/* The key of a canonical request, to be copied. */
typedef struct canonical_key {
    const void *key;
    size_t bytes;
} canonical_key;

static size_t weight_of(const canonical_key *meant)
{
    return sizeof(canonical) + meant->bytes + PE_CACHE_BLOCK_BYTES;
}

static pe_status fill_request(void *context, void **value, size_t *bytes, pe_problem *why)
{
    const canonical_key *meant = context;
    canonical *copy = malloc(sizeof *copy + meant->bytes);
    if (copy == NULL)
        return pe_fail_memory(why);
    copy->bytes = meant->bytes;
    memcpy(copy->key, meant->key, meant->bytes);
    *value = copy;
    *bytes = weight_of(meant);
    return PE_OK;
}

void pe_response_cache_remember(pe_response_cache *cache, const pe_request_key *raw,
                                const void *key, size_t key_bytes)
{
    pe_problem why;
    pe_cache_entry *entry = NULL;
    canonical_key meant = {key, key_bytes};
    const pe_cache_request request = {raw->key, raw->bytes, fill_request, &meant,
                                      weight_of(&meant)};
    if (raw->bytes > 0 &&
        pe_cache_get_bounded(cache->requests, &request, &entry, NULL, &why) == PE_OK)
        pe_cache_entry_unref(entry);
}

size_t pe_response_cache_evict(pe_response_cache *cache, size_t bytes)
{
    const size_t evicted = pe_cache_evict(cache->responses, bytes);
    return evicted < bytes ? evicted + pe_cache_evict(cache->requests, bytes - evicted) : evicted;
}

void pe_response_cache_stats(pe_response_cache *cache, pe_cache_stats *responses,
                             pe_cache_stats *requests)
{
    pe_cache_stats_get(cache->responses, responses);
    pe_cache_stats_get(cache->requests, requests);
}
