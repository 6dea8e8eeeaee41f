/* SPDX-License-Identifier: MIT */
/* rendered.c - decided answers as bytes in memory, kept and coded. */
#include "http/rendered.h"

#include <stdlib.h>
#include <string.h>

#include "encodings/registry.h"

/* Longer keys (long lists of positions) are not worth a place in the cache. */
#define KEY_MAX 16384

pe_status pe_numeric_measure(pe_numeric *numeric, pe_problem *why)
{
    pe_stream *stream;
    pe_status status = pe_stream_make(&numeric->plan, &numeric->rendering, &stream, why);
    if (status != PE_OK)
        return status;
    numeric->length_max = pe_stream_length_max(stream);
    if (!pe_stream_length(stream, &numeric->length))
        numeric->length = UINT64_MAX;
    else
        numeric->facts.ranges = numeric->resource->kind == PE_TABLE;
    pe_stream_free(stream);
    return PE_OK;
}

/* Read a stream to its end into memory that grows as it must. expected: the bytes there will be, or
 * UINT64_MAX when nobody knows. */
static pe_status read_all(pe_stream *stream, uint64_t expected, pe_buffer *out, pe_problem *why)
{
    size_t step = expected != UINT64_MAX ? (size_t)expected + 1 : 65536;
    for (size_t got = 1; got > 0;) {
        size_t room = out->capacity - out->bytes;
        char *at = pe_buffer_reserve(out, room > 0 ? room : step);
        if (at == NULL)
            return pe_fail_memory(why);
        pe_status status = pe_stream_read(stream, at, out->capacity - out->bytes, &got, why);
        if (status != PE_OK)
            return status;
        out->bytes += got;
    }
    return PE_OK;
}

pe_status pe_numeric_render(pe_numeric *numeric, const pe_range *range, char **data, size_t *bytes,
                            pe_problem *why)
{
    pe_stream *stream;
    pe_buffer out = {0};
    bool part = range != NULL && range->kind == PE_RANGE_PART;
    pe_status status = pe_stream_make(&numeric->plan, &numeric->rendering, &stream, why);
    if (status != PE_OK)
        return status;
    if (part) {
        status = pe_stream_seek(stream, range->first, why);
        pe_stream_limit(stream, range->first + range->bytes);
    }
    if (status == PE_OK)
        status = read_all(stream, part ? range->bytes : numeric->length, &out, why);
    pe_stream_times(stream, &numeric->compute, &numeric->encode);
    pe_stream_free(stream);
    if (status != PE_OK) {
        pe_buffer_free(&out);
        return status;
    }
    /* Give back what growing took too much; where that fails, the larger block will do. */
    char *fitting = realloc(out.data, out.bytes > 0 ? out.bytes : 1);
    *data = fitting != NULL ? fitting : out.data;
    *bytes = out.bytes;
    return PE_OK;
}

/* ---- kept ---- */

bool pe_numeric_cacheable(const pe_numeric *numeric)
{
    const pe_service *service = numeric->service;
    return numeric->resource->kind == PE_TABLE && numeric->key.bytes <= KEY_MAX &&
           numeric->work <= PE_WHOLE_WORK &&
           numeric->length_max <= (uint64_t)service->settings->response_cache_entry_bytes &&
           pe_warm_admits(service->warm, numeric->key.bytes,
                          pe_answer_weight((size_t)numeric->length_max, &numeric->facts));
}

static pe_status fill_entry(void *context, void **value, size_t *bytes, pe_problem *why)
{
    pe_numeric *numeric = context;
    pe_answer *answer;
    char *data;
    size_t length;
    pe_status status = pe_numeric_render(numeric, NULL, &data, &length, why);
    if (status == PE_OK)
        status = pe_answer_make(numeric->service, data, length, &numeric->facts, &answer, why);
    if (status == PE_OK) {
        *value = answer;
        *bytes = pe_answer_weight(answer->bytes, &answer->facts);
    }
    return status;
}

pe_status pe_numeric_entry(pe_numeric *numeric, pe_entry **out, int *hit, pe_problem *why)
{
    return pe_warm_get(numeric->service->warm, numeric->key.data, numeric->key.bytes, fill_entry,
                       numeric, out, hit, why);
}

/* ---- coded ---- */

/* The canonical request in this coding. The library's version belongs to it, and how it is used:
 * another may code the same content otherwise, and a strong tag is of bytes. */
static void add_coded_key(const pe_numeric *numeric, pe_coding coding, bool in_blocks,
                          pe_buffer *key)
{
    pe_buffer_add(key, numeric->key.data, numeric->key.bytes);
    if (coding == PE_CODING_IDENTITY)
        return;
    pe_buffer_str(key, pe_coding_name(coding));
    pe_buffer_str(key, " ");
    pe_buffer_str(key, pe_coding_maker(coding));
    pe_buffer_str(key, in_blocks ? " in blocks\n" : "\n");
}

bool pe_numeric_coded_tag(const pe_numeric *numeric, pe_coding coding, bool in_blocks,
                          char out[PE_ETAG_BYTES])
{
    pe_buffer key = {0};
    add_coded_key(numeric, coding, in_blocks, &key);
    bool made = !key.failed && numeric->resource->kind == PE_TABLE;
    if (made)
        pe_etag_make(key.data, key.bytes, out);
    pe_buffer_free(&key);
    return made;
}

static pe_entry *peek(const pe_numeric *numeric, pe_coding coding)
{
    pe_buffer key = {0};
    add_coded_key(numeric, coding, false, &key);
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
    pe_numeric *numeric;
    pe_coding coding;
} coded_fill;

/* Facts of the coded answer; location is a copy. */
static pe_status coded_facts(const coded_fill *fill, const pe_facts *plain, pe_facts *out,
                             pe_problem *why)
{
    *out = *plain;
    out->coding = pe_coding_name(fill->coding);
    out->ranges = false;
    out->location = plain->location != NULL ? strdup(plain->location) : NULL;
    if ((plain->location != NULL && out->location == NULL) ||
        !pe_numeric_coded_tag(fill->numeric, fill->coding, false, out->etag)) {
        free(out->location);
        return pe_fail_memory(why);
    }
    return PE_OK;
}

static pe_status fill_coded(void *context, void **value, size_t *bytes, pe_problem *why)
{
    const coded_fill *fill = context;
    pe_entry *entry;
    pe_status status = pe_numeric_entry(fill->numeric, &entry, NULL, why);
    if (status != PE_OK)
        return status;
    const pe_answer *plain = pe_entry_value(entry);
    pe_answer *answer;
    pe_facts facts;
    char *data;
    size_t length;
    status = pe_coding_apply(fill->coding, plain->data, plain->bytes, &data, &length, why);
    if (status == PE_OK) {
        status = coded_facts(fill, &plain->facts, &facts, why);
        if (status != PE_OK)
            free(data);
    }
    if (status == PE_OK) {
        status = pe_answer_make(fill->numeric->service, data, length, &facts, &answer, why);
        free(facts.location);
    }
    if (status == PE_OK) {
        *value = answer;
        *bytes = pe_answer_weight(answer->bytes, &answer->facts);
    }
    pe_entry_unref(entry);
    return status;
}

pe_status pe_numeric_coded_entry(pe_numeric *numeric, pe_coding coding, pe_entry **out, int *hit,
                                 pe_problem *why)
{
    pe_buffer key = {0};
    coded_fill fill = {numeric, coding};
    add_coded_key(numeric, coding, false, &key);
    pe_status status = key.failed ? pe_fail_memory(why)
                                  : pe_warm_get(numeric->service->warm, key.data, key.bytes,
                                                fill_coded, &fill, out, hit, why);
    pe_buffer_free(&key);
    return status;
}

void pe_numeric_learn(const pe_numeric *numeric, const pe_front *front, pe_coding coding)
{
    pe_buffer key = {0};
    add_coded_key(numeric, coding, false, &key);
    if (!key.failed)
        pe_warm_learn(numeric->service->warm, front, key.data, key.bytes);
    pe_buffer_free(&key);
}

pe_status pe_numeric_set_coding(pe_numeric *numeric, pe_coding coding, bool in_blocks,
                                pe_problem *why)
{
    numeric->facts.coding = pe_coding_name(coding);
    numeric->facts.ranges = false;
    if (*numeric->facts.etag != '\0' &&
        !pe_numeric_coded_tag(numeric, coding, in_blocks, numeric->facts.etag))
        return pe_fail_memory(why);
    return PE_OK;
}

#define SAMPLES      3
#define SAMPLE_BYTES 32768

/* Bytes of the stream from where it stands; fewer at its end. */
static pe_status read_sample(pe_stream *stream, pe_buffer *out, pe_problem *why)
{
    pe_status status = PE_OK;
    char *at = pe_buffer_reserve(out, SAMPLE_BYTES);
    if (at == NULL)
        return pe_fail_memory(why);
    size_t got = 1;
    for (size_t have = 0; have < SAMPLE_BYTES && got > 0 && status == PE_OK; have += got) {
        status = pe_stream_read(stream, at + have, SAMPLE_BYTES - have, &got, why);
        out->bytes += got;
    }
    return status;
}

static pe_status read_samples(const pe_numeric *numeric, pe_buffer *out, pe_problem *why)
{
    pe_stream *stream;
    const bool parts = numeric->length != UINT64_MAX && numeric->length > SAMPLES * SAMPLE_BYTES;
    pe_status status = pe_stream_make(&numeric->plan, &numeric->rendering, &stream, why);
    if (status != PE_OK)
        return status;
    for (uint64_t s = 0; s < SAMPLES && status == PE_OK; s++) {
        if (parts)
            status =
                pe_stream_seek(stream, (numeric->length - SAMPLE_BYTES) / (SAMPLES - 1) * s, why);
        if (status == PE_OK)
            status = read_sample(stream, out, why);
    }
    pe_stream_free(stream);
    return status;
}

pe_status pe_numeric_try_coding(const pe_numeric *numeric, pe_coding coding, bool *saves,
                                pe_problem *why)
{
    pe_buffer sample = {0};
    char *coded = NULL;
    size_t bytes;
    *saves = false;
    if (coding == PE_CODING_IDENTITY)
        return PE_OK;
    pe_status status = read_samples(numeric, &sample, why);
    if (status == PE_OK)
        status = pe_coding_apply(coding, sample.data, sample.bytes, &coded, &bytes, why);
    *saves = status == PE_OK && coded != NULL;
    free(coded);
    pe_buffer_free(&sample);
    return status;
}

/* ---- warm-up ---- */

static pe_status keep(pe_numeric *numeric, const char *target, pe_problem *why)
{
    pe_entry *entry;
    pe_front front;
    pe_status status = pe_numeric_measure(numeric, why);
    if (status != PE_OK)
        return status;
    if (!pe_numeric_cacheable(numeric))
        return pe_fail(why, PE_TOO_MANY_ELEMENTS, "", "the answer is too large to be kept");
    status = pe_numeric_entry(numeric, &entry, NULL, why);
    if (status != PE_OK)
        return status;
    pe_front_make(target, NULL, NULL, &front);
    pe_numeric_learn(numeric, &front, PE_CODING_IDENTITY);
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
