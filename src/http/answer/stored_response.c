/* SPDX-License-Identifier: MIT */
/* stored_response.c - decided answers through the cache, plain and coded. */
#include "http/answer/stored_response.h"

#include <stdlib.h>
#include <string.h>

#include "encodings/registry.h"
#include "http/answer/rendered.h"

/* Longer keys (long lists of positions) are not worth a place in the cache. */
#define KEY_MAX 16384

/* ---- plain ---- */

bool pe_stored_response_fits(const pe_representation *representation)
{
    return representation->resource->kind == PE_TABLE && representation->key.bytes <= KEY_MAX &&
           representation->work <= PE_WHOLE_WORK &&
           representation->length_max <=
               (uint64_t)representation->service->settings->response_cache_entry_bytes;
}

/* Make the value of an entry of bytes; takes them, and the location of *metadata. */
static pe_status make_value(const pe_representation *representation, char *data, size_t length,
                            pe_metadata *metadata, void **value, size_t *bytes, pe_problem *why)
{
    pe_stored_response *answer;
    const pe_status status =
        pe_stored_response_make(representation->service, data, length, metadata, &answer, why);
    if (status == PE_OK) {
        *value = answer;
        *bytes = pe_stored_response_weight(answer->bytes, &answer->metadata);
    }
    return status;
}

/* A copy for an answer, to which the location goes. */
static pe_status copy_facts(const pe_metadata *metadata, pe_metadata *out, pe_problem *why)
{
    *out = *metadata;
    if (metadata->location == NULL)
        return PE_OK;
    out->location = strdup(metadata->location);
    return out->location != NULL ? PE_OK : pe_fail_memory(why);
}

static pe_status fill_plain(void *context, void **value, size_t *bytes, pe_problem *why)
{
    pe_representation *representation = context;
    pe_metadata metadata;
    char *data;
    size_t length;
    pe_status status = copy_facts(&representation->metadata, &metadata, why);
    if (status != PE_OK)
        return status;
    status = pe_representation_render(representation, NULL, &data, &length, why);
    if (status == PE_OK)
        status = make_value(representation, data, length, &metadata, value, bytes, why);
    free(metadata.location);
    return status;
}

static pe_status get_plain(pe_representation *representation, pe_cache_entry **out, int *hit,
                           pe_problem *why)
{
    return pe_response_cache_get(representation->service->warm, representation->key.data,
                                 representation->key.bytes,
                                 pe_stored_response_weight((size_t)representation->length_max + 1,
                                                           &representation->metadata),
                                 fill_plain, representation, out, hit, why);
}

/* ---- coded ---- */

static pe_cache_entry *peek(const pe_representation *representation, pe_coding coding)
{
    pe_buffer key = {0};
    pe_representation_key(representation, coding, false, &key);
    pe_cache_entry *entry =
        key.failed ? NULL
                   : pe_response_cache_peek(representation->service->warm, key.data, key.bytes);
    pe_buffer_free(&key);
    return entry;
}

pe_cache_entry *pe_stored_response_find(const pe_representation *representation, pe_coding *coding)
{
    if (representation->resource->kind != PE_TABLE)
        return NULL;
    pe_cache_entry *entry = peek(representation, *coding);
    if (entry == NULL || ((const pe_stored_response *)pe_cache_entry_value(entry))->data != NULL)
        return entry;
    pe_cache_entry_unref(entry);
    *coding = PE_CODING_IDENTITY;
    return peek(representation, *coding);
}

typedef struct coded_fill {
    const pe_representation *representation;
    const pe_stored_response *plain;
    pe_coding coding;
} coded_fill;

static pe_status coded_facts(const coded_fill *fill, pe_metadata *out, pe_problem *why)
{
    const pe_status status = copy_facts(&fill->plain->metadata, out, why);
    if (status != PE_OK)
        return status;
    out->coding = pe_coding_name(fill->coding);
    out->ranges = false;
    if (pe_representation_coded_tag(fill->representation, fill->coding, false, out->etag))
        return PE_OK;
    free(out->location);
    return pe_fail_memory(why);
}

static pe_status fill_coded(void *context, void **value, size_t *bytes, pe_problem *why)
{
    const coded_fill *fill = context;
    pe_metadata metadata;
    char *data;
    size_t length;
    pe_status status =
        pe_coding_apply(fill->coding, fill->plain->data, fill->plain->bytes, &data, &length, why);
    if (status != PE_OK)
        return status;
    status = coded_facts(fill, &metadata, why);
    if (status != PE_OK) {
        free(data);
        return status;
    }
    status = make_value(fill->representation, data, length, &metadata, value, bytes, why);
    free(metadata.location);
    return status;
}

static pe_status get_coded(const pe_representation *representation, const pe_stored_response *plain,
                           pe_coding coding, pe_cache_entry **out, int *hit, pe_problem *why)
{
    pe_buffer key = {0};
    coded_fill fill = {representation, plain, coding};
    pe_representation_key(representation, coding, false, &key);
    const size_t most = pe_stored_response_weight(pe_coding_room(plain->bytes), &plain->metadata);
    pe_status status =
        key.failed ? pe_fail_memory(why)
                   : pe_response_cache_get(representation->service->warm, key.data, key.bytes, most,
                                           fill_coded, &fill, out, hit, why);
    pe_buffer_free(&key);
    return status;
}

pe_status pe_stored_response_get(pe_representation *representation, pe_coding *coding,
                                 pe_cache_entry **out, int *hit, pe_problem *why)
{
    pe_cache_entry *plain, *coded;
    pe_status status = get_plain(representation, &plain, hit, why);
    if (status != PE_OK || plain == NULL || *coding == PE_CODING_IDENTITY) {
        if (status == PE_OK)
            *out = plain;
        return status;
    }
    status = get_coded(representation, pe_cache_entry_value(plain), *coding, &coded, hit, why);
    if (status == PE_OK && coded != NULL &&
        ((const pe_stored_response *)pe_cache_entry_value(coded))->data == NULL) {
        *coding = PE_CODING_IDENTITY;
        *out = plain;
        plain = coded;
    } else if (status == PE_OK) {
        *out = coded;
    }
    pe_cache_entry_unref(plain);
    return status;
}

void pe_stored_response_remember(const pe_representation *representation,
                                 const pe_request_key *front, pe_coding coding)
{
    pe_buffer key = {0};
    pe_representation_key(representation, coding, false, &key);
    if (!key.failed)
        pe_response_cache_remember(representation->service->warm, front, key.data, key.bytes);
    pe_buffer_free(&key);
}

/* ---- warm-up ---- */

static pe_status keep(pe_representation *representation, const char *target, pe_problem *why)
{
    pe_cache_entry *entry = NULL;
    pe_request_key front;
    pe_coding plain = PE_CODING_IDENTITY;
    pe_status status = pe_representation_measure(representation, why);
    if (status != PE_OK)
        return status;
    if (pe_stored_response_fits(representation))
        status = pe_stored_response_get(representation, &plain, &entry, NULL, why);
    if (status != PE_OK)
        return status;
    if (entry == NULL)
        return pe_fail(why, PE_TOO_MANY_ELEMENTS, "", "the answer is too large to be kept");
    pe_request_key_make(target, NULL, NULL, &front);
    pe_stored_response_remember(representation, &front, plain);
    pe_cache_entry_unref(entry);
    return PE_OK;
}

/* The plan of a target, which a table answers. *out is the caller's, to free. */
static pe_status plan_target(pe_service *service, const char *target, pe_representation **out,
                             pe_problem *why)
{
    const size_t bytes = strcspn(target, "?");
    const char *query = target[bytes] == '?' ? target + bytes + 1 : "";
    pe_request_parameters wanted = {.query = query, .query_bytes = strlen(query)};
    pe_representation *representation;
    char *path = strndup(target, bytes);
    if (path == NULL)
        return pe_fail_memory(why);
    wanted.resource = pe_registry_route(path, &wanted.name, &wanted.name_bytes);
    pe_status status = wanted.resource == NULL || wanted.resource->kind != PE_TABLE
                           ? pe_fail(why, PE_NOT_FOUND, "", "no table lives at %s", path)
                           : pe_representation_make(service, &wanted, &representation, why);
    free(path);
    if (status != PE_OK)
        return status;
    status = pe_representation_plan(representation, NULL, why);
    if (status == PE_OK)
        *out = representation;
    else
        pe_representation_free(representation);
    return status;
}

pe_status pe_stored_response_check_target(pe_service *service, const char *target, pe_problem *why)
{
    pe_representation *representation;
    const pe_status status = plan_target(service, target, &representation, why);
    if (status == PE_OK)
        pe_representation_free(representation);
    return status;
}

pe_status pe_stored_response_precompute(pe_service *service, const char *target, pe_problem *why)
{
    pe_representation *representation;
    pe_status status = plan_target(service, target, &representation, why);
    if (status != PE_OK)
        return status;
    status = keep(representation, target, why);
    pe_representation_free(representation);
    return status;
}
