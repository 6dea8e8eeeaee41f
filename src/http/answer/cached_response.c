/* SPDX-License-Identifier: MIT */
/* cached_response.c - the stored response of a representation: found in the cache, or made. */
#include "http/answer/cached_response.h"

#include <stdlib.h>
#include <string.h>

#include "http/answer/representation_render.h"
#include "http/reply/stored_response.h"

bool pe_cached_response_fits(const pe_representation *representation)
{
    const pe_settings *settings = representation->service->settings;
    return representation->resource->kind == PE_TABLE && !representation->key_is_hash &&
           representation->work <= PE_WHOLE_WORK &&
           representation->length_max <= (uint64_t)settings->response_cache_entry_bytes;
}

static const pe_stored_response *response_of(const pe_cache_entry *entry)
{
    return pe_cache_entry_value(entry);
}

/* What the cache stores: rendered bytes, which are taken, with a copy of the metadata. */
typedef struct content {
    const pe_service *service;
    pe_buffer data;
    const pe_metadata *metadata;
} content;

static pe_status store(content *from, void **value, size_t *bytes, pe_problem *why)
{
    pe_stored_response *stored;
    pe_metadata own = *from->metadata;
    if (own.location != NULL && (own.location = strdup(own.location)) == NULL) {
        pe_buffer_free(&from->data);
        return pe_fail_memory(why);
    }
    const pe_status status =
        pe_stored_response_make(from->service, &from->data, &own, &stored, why);
    free(own.location); /* NULL once it is the response's */
    if (status != PE_OK)
        return status;
    *value = stored;
    *bytes = pe_stored_response_weight(stored->bytes, &stored->metadata);
    return PE_OK;
}

/* ---- plain ---- */

static pe_status fill_plain(void *context, void **value, size_t *bytes, pe_problem *why)
{
    pe_representation *representation = context;
    content rendered = {representation->service, {0}, &representation->metadata};
    const pe_status status = pe_representation_render(representation, NULL, &rendered.data, why);
    return status == PE_OK ? store(&rendered, value, bytes, why) : status;
}

static pe_status get_plain(pe_representation *representation, pe_cached_response *out,
                           pe_problem *why)
{
    const pe_cache_request request = {
        .key = representation->key.data,
        .key_bytes = representation->key.bytes,
        .most = pe_stored_response_weight((size_t)representation->length_max + 1,
                                          &representation->metadata),
        .fill = fill_plain,
        .context = representation,
    };
    return pe_response_cache_get(representation->service->responses, &request, &out->entry,
                                 &out->hit, why);
}

/* ---- coded ---- */

typedef struct coded_fill {
    const pe_representation *representation;
    const pe_stored_response *plain;
    pe_coding coding;
} coded_fill;

static pe_status fill_coded(void *context, void **value, size_t *bytes, pe_problem *why)
{
    const coded_fill *fill = context;
    pe_metadata metadata = fill->plain->metadata;
    content coded = {fill->representation->service, {0}, &metadata};
    const pe_status status =
        pe_coding_apply(fill->coding, fill->plain->data, fill->plain->bytes, &coded.data, why);
    if (status != PE_OK)
        return status;
    metadata.coding = pe_coding_name(fill->coding);
    metadata.ranges = false;
    if (!pe_representation_coded_tag(fill->representation, fill->coding, false, metadata.etag)) {
        pe_buffer_free(&coded.data);
        return pe_fail_memory(why);
    }
    return store(&coded, value, bytes, why);
}

static pe_status get_coded(const pe_representation *representation, const pe_stored_response *plain,
                           pe_cached_response *out, pe_problem *why)
{
    pe_buffer key = {0};
    coded_fill fill = {representation, plain, out->coding};
    pe_representation_key(representation, out->coding, false, &key);
    const pe_cache_request request = {
        .key = key.data,
        .key_bytes = key.bytes,
        .most = pe_stored_response_weight(pe_coding_room(plain->bytes), &plain->metadata),
        .fill = fill_coded,
        .context = &fill,
    };
    const pe_status status = key.failed
                                 ? pe_fail_memory(why)
                                 : pe_response_cache_get(representation->service->responses,
                                                         &request, &out->entry, &out->hit, why);
    pe_buffer_free(&key);
    return status;
}

pe_status pe_cached_response_get(pe_representation *representation, pe_cached_response *out,
                                 pe_problem *why)
{
    pe_cached_response plain = {.coding = PE_CODING_IDENTITY};
    pe_status status = get_plain(representation, &plain, why);
    if (status != PE_OK)
        return status;
    if (plain.entry == NULL || out->coding == PE_CODING_IDENTITY) {
        *out = plain;
        return PE_OK;
    }
    pe_cached_response coded = {.coding = out->coding};
    status = get_coded(representation, response_of(plain.entry), &coded, why);
    const bool not_worth =
        status == PE_OK && coded.entry != NULL && response_of(coded.entry)->data == NULL;
    if (status == PE_OK)
        *out = not_worth ? plain : coded;
    out->hit = coded.hit;
    pe_cache_entry_unref(not_worth ? coded.entry : plain.entry);
    return status;
}

/* ---- what is there ---- */

static pe_cache_entry *peek(const pe_representation *representation, pe_coding coding)
{
    pe_buffer key = {0};
    pe_representation_key(representation, coding, false, &key);
    pe_cache_entry *entry = key.failed ? NULL
                                       : pe_response_cache_peek(representation->service->responses,
                                                                key.data, key.bytes);
    pe_buffer_free(&key);
    return entry;
}

pe_cache_entry *pe_cached_response_find(const pe_representation *representation, pe_coding *coding)
{
    if (representation->resource->kind != PE_TABLE)
        return NULL;
    pe_cache_entry *entry = peek(representation, *coding);
    if (entry == NULL || response_of(entry)->data != NULL)
        return entry;
    pe_cache_entry_unref(entry);
    *coding = PE_CODING_IDENTITY;
    return peek(representation, *coding);
}

void pe_cached_response_remember(const pe_representation *representation, const pe_request_key *raw,
                                 pe_coding coding)
{
    pe_buffer key = {0};
    pe_representation_key(representation, coding, false, &key);
    if (!key.failed)
        pe_response_cache_remember(representation->service->responses, raw, key.data, key.bytes);
    pe_buffer_free(&key);
}
