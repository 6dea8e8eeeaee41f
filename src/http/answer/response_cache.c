/* SPDX-License-Identifier: MIT */
/* response_cache.c - rendered answers by canonical request, and by the raw request that was seen
 * before. */
#include "http/answer/response_cache.h"

#include <stdlib.h>
#include <string.h>

#include "http/reply/reply.h"

/* The share of the bytes that the raw requests get. */
#define FRONT_SHARE 16

struct pe_response_cache {
    pe_cache *answers; /* canonical request -> pe_stored_response */
    pe_cache *fronts;  /* raw request -> canonical */
};

/* A canonical request: the value of a front entry. */
typedef struct canonical {
    size_t bytes;
    char key[];
} canonical;

pe_status pe_response_cache_make(size_t bytes_max, pe_response_cache **out, pe_problem *why)
{
    pe_response_cache *warm = calloc(1, sizeof *warm);
    if (warm == NULL)
        return pe_fail_memory(why);
    size_t fronts = bytes_max / FRONT_SHARE;
    if (pe_cache_make(bytes_max - fronts, pe_stored_response_free, &warm->answers, why) != PE_OK ||
        pe_cache_make(fronts, free, &warm->fronts, why) != PE_OK) {
        pe_response_cache_free(warm);
        return why->status;
    }
    *out = warm;
    return PE_OK;
}

void pe_response_cache_free(pe_response_cache *warm)
{
    if (warm == NULL)
        return;
    pe_cache_free(warm->fronts);
    pe_cache_free(warm->answers);
    free(warm);
}

/* Append a part and the NUL that ends it; false when it does not fit. */
static bool append(pe_request_key *front, const char *part)
{
    size_t bytes = part != NULL ? strlen(part) : 0;
    if (bytes >= sizeof front->key - front->bytes)
        return false;
    if (bytes > 0)
        memcpy(front->key + front->bytes, part, bytes);
    front->key[front->bytes + bytes] = '\0';
    front->bytes += bytes + 1;
    return true;
}

void pe_request_key_make(const char *target, const char *accept, const char *accept_encoding,
                         pe_request_key *out)
{
    out->bytes = 0;
    if (!append(out, target) || !append(out, accept) || !append(out, accept_encoding))
        out->bytes = 0;
}

pe_cache_entry *pe_response_cache_find(pe_response_cache *warm, const pe_request_key *front)
{
    if (front->bytes == 0)
        return NULL;
    pe_cache_entry *raw = pe_cache_peek(warm->fronts, front->key, front->bytes);
    if (raw == NULL)
        return NULL;
    const canonical *meant = pe_cache_entry_value(raw);
    pe_cache_entry *answer = pe_cache_peek(warm->answers, meant->key, meant->bytes);
    pe_cache_entry_unref(raw);
    if (answer == NULL || ((const pe_stored_response *)pe_cache_entry_value(answer))->data != NULL)
        return answer;
    pe_cache_entry_unref(answer); /* coded once, but not when it was to be coded again */
    return NULL;
}

pe_cache_entry *pe_response_cache_peek(pe_response_cache *warm, const void *key, size_t key_bytes)
{
    return pe_cache_peek(warm->answers, key, key_bytes);
}

pe_status pe_response_cache_get(pe_response_cache *warm, const void *key, size_t key_bytes,
                                size_t most, pe_cache_fill fill, void *context,
                                pe_cache_entry **out, int *hit, pe_problem *why)
{
    const pe_cache_request request = {key, key_bytes, fill, context, most};
    return pe_cache_get_bounded(warm->answers, &request, out, hit, why);
}

typedef struct canonical_text {
    const void *key;
    size_t bytes;
} canonical_text;

static size_t weight_of(const canonical_text *lesson)
{
    return sizeof(canonical) + lesson->bytes + PE_CACHE_BLOCK_BYTES;
}

static pe_status fill_front(void *context, void **value, size_t *bytes, pe_problem *why)
{
    const canonical_text *lesson = context;
    canonical *copy = malloc(sizeof *copy + lesson->bytes);
    if (copy == NULL)
        return pe_fail_memory(why);
    copy->bytes = lesson->bytes;
    memcpy(copy->key, lesson->key, lesson->bytes);
    *value = copy;
    *bytes = weight_of(lesson);
    return PE_OK;
}

void pe_response_cache_remember(pe_response_cache *warm, const pe_request_key *front,
                                const void *key, size_t key_bytes)
{
    pe_problem why;
    pe_cache_entry *entry = NULL;
    canonical_text lesson = {key, key_bytes};
    const pe_cache_request request = {front->key, front->bytes, fill_front, &lesson,
                                      weight_of(&lesson)};
    if (front->bytes > 0 &&
        pe_cache_get_bounded(warm->fronts, &request, &entry, NULL, &why) == PE_OK)
        pe_cache_entry_unref(entry);
}

void pe_response_cache_stats(pe_response_cache *warm, pe_cache_stats *answers,
                             pe_cache_stats *fronts)
{
    pe_cache_stats_get(warm->answers, answers);
    pe_cache_stats_get(warm->fronts, fronts);
}
