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

/* What a fill makes: rendered bytes or, of those that are stored already, coded ones. */
typedef struct filling {
    pe_representation *representation;
    const pe_stored_response *plain; /* NULL: rendered */
    pe_coding coding;
} filling;

static pe_status fill(void *context, void **value, size_t *bytes, pe_problem *why)
{
    const filling *f = context;
    pe_representation *representation = f->representation;
    const pe_service *service = representation->service;
    pe_buffer data = {0};
    pe_stored_response *stored;
    pe_status status =
        f->plain == NULL ? pe_representation_render(representation, NULL, &data, why)
                         : pe_coding_apply(f->coding, f->plain->data, f->plain->bytes, &data, why);
    if (status != PE_OK)
        return status;
    pe_metadata own = f->plain == NULL ? representation->metadata : f->plain->metadata;
    const bool tagged =
        f->plain == NULL || pe_representation_coded_tag(representation, f->coding, false, own.etag);
    if (f->plain != NULL) {
        own.coding = pe_coding_name(f->coding);
        own.ranges = false;
    }
    if (!tagged || (own.location != NULL && (own.location = strdup(own.location)) == NULL)) {
        pe_buffer_free(&data);
        return pe_fail_memory(why);
    }
    status = pe_stored_response_make(service, &data, &own, &stored, why);
    free(own.location); /* NULL once it is the response's */
    if (status != PE_OK)
        return status;
    *value = stored;
    *bytes = pe_stored_response_weight(stored->bytes, &stored->metadata);
    return PE_OK;
}

/* The entry in out->coding; plain NULL: the representation's own bytes. */
static pe_status get(pe_representation *representation, const pe_stored_response *plain,
                     pe_cached_response *out, pe_problem *why)
{
    pe_buffer key = {0};
    filling context = {representation, plain, out->coding};
    pe_representation_key(representation, out->coding, false, &key);
    const size_t most =
        plain == NULL ? (size_t)representation->length_max + 1 : pe_coding_room(plain->bytes);
    const pe_cache_request request = {
        .key = key.data,
        .key_bytes = key.bytes,
        .most = pe_stored_response_weight(most, plain == NULL ? &representation->metadata
                                                              : &plain->metadata),
        .fill = fill,
        .context = &context,
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
    pe_status status = get(representation, NULL, &plain, why);
    if (status != PE_OK)
        return status;
    if (plain.entry == NULL || out->coding == PE_CODING_IDENTITY) {
        *out = plain;
        return PE_OK;
    }
    pe_cached_response coded = {.coding = out->coding};
    status = get(representation, response_of(plain.entry), &coded, why);
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
