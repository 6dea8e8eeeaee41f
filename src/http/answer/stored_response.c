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

bool pe_numeric_cacheable(const pe_numeric *numeric)
{
    return numeric->resource->kind == PE_TABLE && numeric->key.bytes <= KEY_MAX &&
           numeric->work <= PE_WHOLE_WORK &&
           numeric->length_max <= (uint64_t)numeric->service->settings->response_cache_entry_bytes;
}

/* Make the value of an entry of bytes; takes them, and the location of *facts. */
static pe_status make_value(const pe_numeric *numeric, char *data, size_t length, pe_facts *facts,
                            void **value, size_t *bytes, pe_problem *why)
{
    pe_answer *answer;
    const pe_status status = pe_answer_make(numeric->service, data, length, facts, &answer, why);
    if (status == PE_OK) {
        *value = answer;
        *bytes = pe_answer_weight(answer->bytes, &answer->facts);
    }
    return status;
}

/* A copy for an answer, to which the location goes. */
static pe_status copy_facts(const pe_facts *facts, pe_facts *out, pe_problem *why)
{
    *out = *facts;
    if (facts->location == NULL)
        return PE_OK;
    out->location = strdup(facts->location);
    return out->location != NULL ? PE_OK : pe_fail_memory(why);
}

static pe_status fill_plain(void *context, void **value, size_t *bytes, pe_problem *why)
{
    pe_numeric *numeric = context;
    pe_facts facts;
    char *data;
    size_t length;
    pe_status status = copy_facts(&numeric->facts, &facts, why);
    if (status != PE_OK)
        return status;
    status = pe_numeric_render(numeric, NULL, &data, &length, why);
    if (status == PE_OK)
        status = make_value(numeric, data, length, &facts, value, bytes, why);
    free(facts.location);
    return status;
}

static pe_status get_plain(pe_numeric *numeric, pe_entry **out, int *hit, pe_problem *why)
{
    return pe_warm_get(numeric->service->warm, numeric->key.data, numeric->key.bytes,
                       pe_answer_weight((size_t)numeric->length_max + 1, &numeric->facts),
                       fill_plain, numeric, out, hit, why);
}

/* ---- coded ---- */

static pe_entry *peek(const pe_numeric *numeric, pe_coding coding)
{
    pe_buffer key = {0};
    pe_numeric_key(numeric, coding, false, &key);
    pe_entry *entry = key.failed ? NULL : pe_warm_peek(numeric->service->warm, key.data, key.bytes);
    pe_buffer_free(&key);
    return entry;
}

pe_entry *pe_numeric_kept(const pe_numeric *numeric, pe_coding *coding)
{
    if (numeric->resource->kind != PE_TABLE)
        return NULL;
    pe_entry *entry = peek(numeric, *coding);
    if (entry == NULL || ((const pe_answer *)pe_entry_value(entry))->data != NULL)
        return entry;
    pe_entry_unref(entry);
    *coding = PE_CODING_IDENTITY;
    return peek(numeric, *coding);
}

typedef struct coded_fill {
    const pe_numeric *numeric;
    const pe_answer *plain;
    pe_coding coding;
} coded_fill;

static pe_status coded_facts(const coded_fill *fill, pe_facts *out, pe_problem *why)
{
    const pe_status status = copy_facts(&fill->plain->facts, out, why);
    if (status != PE_OK)
        return status;
    out->coding = pe_coding_name(fill->coding);
    out->ranges = false;
    if (pe_numeric_coded_tag(fill->numeric, fill->coding, false, out->etag))
        return PE_OK;
    free(out->location);
    return pe_fail_memory(why);
}

static pe_status fill_coded(void *context, void **value, size_t *bytes, pe_problem *why)
{
    const coded_fill *fill = context;
    pe_facts facts;
    char *data;
    size_t length;
    pe_status status =
        pe_coding_apply(fill->coding, fill->plain->data, fill->plain->bytes, &data, &length, why);
    if (status != PE_OK)
        return status;
    status = coded_facts(fill, &facts, why);
    if (status != PE_OK) {
        free(data);
        return status;
    }
    status = make_value(fill->numeric, data, length, &facts, value, bytes, why);
    free(facts.location);
    return status;
}

static pe_status get_coded(const pe_numeric *numeric, const pe_answer *plain, pe_coding coding,
                           pe_entry **out, int *hit, pe_problem *why)
{
    pe_buffer key = {0};
    coded_fill fill = {numeric, plain, coding};
    pe_numeric_key(numeric, coding, false, &key);
    const size_t most = pe_answer_weight(pe_coding_room(plain->bytes), &plain->facts);
    pe_status status = key.failed ? pe_fail_memory(why)
                                  : pe_warm_get(numeric->service->warm, key.data, key.bytes, most,
                                                fill_coded, &fill, out, hit, why);
    pe_buffer_free(&key);
    return status;
}

pe_status pe_numeric_entry(pe_numeric *numeric, pe_coding *coding, pe_entry **out, int *hit,
                           pe_problem *why)
{
    pe_entry *plain, *coded;
    pe_status status = get_plain(numeric, &plain, hit, why);
    if (status != PE_OK || plain == NULL || *coding == PE_CODING_IDENTITY) {
        if (status == PE_OK)
            *out = plain;
        return status;
    }
    status = get_coded(numeric, pe_entry_value(plain), *coding, &coded, hit, why);
    if (status == PE_OK && coded != NULL &&
        ((const pe_answer *)pe_entry_value(coded))->data == NULL) {
        *coding = PE_CODING_IDENTITY;
        *out = plain;
        plain = coded;
    } else if (status == PE_OK) {
        *out = coded;
    }
    pe_entry_unref(plain);
    return status;
}

void pe_numeric_learn(const pe_numeric *numeric, const pe_front *front, pe_coding coding)
{
    pe_buffer key = {0};
    pe_numeric_key(numeric, coding, false, &key);
    if (!key.failed)
        pe_warm_learn(numeric->service->warm, front, key.data, key.bytes);
    pe_buffer_free(&key);
}

/* ---- warm-up ---- */

static pe_status keep(pe_numeric *numeric, const char *target, pe_problem *why)
{
    pe_entry *entry = NULL;
    pe_front front;
    pe_coding plain = PE_CODING_IDENTITY;
    pe_status status = pe_numeric_measure(numeric, why);
    if (status != PE_OK)
        return status;
    if (pe_numeric_cacheable(numeric))
        status = pe_numeric_entry(numeric, &plain, &entry, NULL, why);
    if (status != PE_OK)
        return status;
    if (entry == NULL)
        return pe_fail(why, PE_TOO_MANY_ELEMENTS, "", "the answer is too large to be kept");
    pe_front_make(target, NULL, NULL, &front);
    pe_numeric_learn(numeric, &front, plain);
    pe_entry_unref(entry);
    return PE_OK;
}

/* The plan of a target, which a table answers. *out is the caller's, to free. */
static pe_status plan_target(pe_service *service, const char *target, pe_numeric **out,
                             pe_problem *why)
{
    const size_t bytes = strcspn(target, "?");
    const char *query = target[bytes] == '?' ? target + bytes + 1 : "";
    pe_wanted wanted = {.query = query, .query_bytes = strlen(query)};
    pe_numeric *numeric;
    char *path = strndup(target, bytes);
    if (path == NULL)
        return pe_fail_memory(why);
    wanted.resource = pe_resource_route(path, &wanted.name, &wanted.name_bytes);
    pe_status status = wanted.resource == NULL || wanted.resource->kind != PE_TABLE
                           ? pe_fail(why, PE_NOT_FOUND, "", "no table lives at %s", path)
                           : pe_numeric_ask(service, &wanted, &numeric, why);
    free(path);
    if (status != PE_OK)
        return status;
    status = pe_numeric_plan(numeric, NULL, why);
    if (status == PE_OK)
        *out = numeric;
    else
        pe_numeric_free(numeric);
    return status;
}

pe_status pe_numeric_warm_check(pe_service *service, const char *target, pe_problem *why)
{
    pe_numeric *numeric;
    const pe_status status = plan_target(service, target, &numeric, why);
    if (status == PE_OK)
        pe_numeric_free(numeric);
    return status;
}

pe_status pe_numeric_warm(pe_service *service, const char *target, pe_problem *why)
{
    pe_numeric *numeric;
    pe_status status = plan_target(service, target, &numeric, why);
    if (status != PE_OK)
        return status;
    status = keep(numeric, target, why);
    pe_numeric_free(numeric);
    return status;
}
