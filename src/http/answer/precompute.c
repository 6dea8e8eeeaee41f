/* SPDX-License-Identifier: MIT */
/* precompute.c - the targets that the settings name are answered from the cache from the start. */
#include <stdlib.h>
#include <string.h>

#include "encodings/registry.h"
#include "http/answer/answer.h"
#include "http/answer/representation.h"
#include "http/answer/response_cache.h"

/* The one limit that keeps an answer out, and its setting. */
static pe_status fail_unkept(const pe_representation *representation, pe_problem *why)
{
    const int64_t most = representation->service->settings->response_cache_entry_bytes;
    if (representation->length_max > (uint64_t)most)
        return pe_fail(why, PE_TOO_MANY_ELEMENTS, "",
                       "the answer, of up to %llu bytes, is too large to be kept: "
                       "response_cache_entry_bytes is %lld",
                       (unsigned long long)representation->length_max, (long long)most);
    if (representation->work > PE_WHOLE_WORK)
        return pe_fail(why, PE_TOO_MUCH_WORK, "",
                       "the answer takes too much work to be kept: %llu units, and at most %llu "
                       "are spent on one",
                       (unsigned long long)representation->work, (unsigned long long)PE_WHOLE_WORK);
    /* A cache takes entries of up to a quarter of what nobody holds, with what they weigh beside
     * the bytes that are sent. */
    const pe_service *service = representation->service;
    pe_cache_stats responses;
    pe_cache_stats_get(service->responses->responses, &responses);
    const size_t weight = pe_stored_response_weight((size_t)representation->length_max + 1,
                                                    &representation->metadata);
    return pe_fail(
        why, PE_TOO_MANY_ELEMENTS, "",
        "the answer, which weighs up to %zu bytes, is too large to be kept: with "
        "response_cache_bytes %lld one may weigh %zu, a quarter of what is free for answers",
        weight, (long long)service->settings->response_cache_bytes,
        responses.held < responses.bytes_max ? (responses.bytes_max - responses.held) / 4 : 0);
}

pe_status pe_precompute(pe_service *service, const char *target, bool to_store, pe_problem *why)
{
    const uint64_t edition = atomic_load(&service->edition);
    const size_t bytes = strcspn(target, "?");
    const char *query = target[bytes] == '?' ? target + bytes + 1 : "";
    pe_request_parameters parameters = {.binary.string = pe_slice_of(query)};
    pe_representation *representation = NULL;
    pe_cache_entry *entry = NULL;
    char *path = strndup(target, bytes);
    if (path == NULL)
        return pe_fail_memory(why);
    parameters.resource = pe_registry_route(path, &parameters.name);
    const bool table = parameters.resource != NULL && parameters.resource->kind == PE_TABLE;
    pe_status status = table ? pe_representation_make(service, &parameters, &representation, why)
                             : pe_fail(why, PE_NOT_FOUND, "", "no table lives at %s", path);
    if (status == PE_OK)
        status = pe_representation_plan(representation, NULL, why);
    if (status == PE_OK && to_store && pe_cached_response_fits(representation))
        status = pe_cached_response_get(representation, PE_CODING_IDENTITY, &entry, NULL, why);
    if (status == PE_OK && to_store && entry == NULL)
        status = fail_unkept(representation, why);
    if (entry != NULL)
        pe_cached_response_remember(representation, PE_CODING_IDENTITY, edition, target, NULL,
                                    NULL);
    pe_cache_entry_unref(entry);
    pe_representation_free(representation);
    free(path);
    return status;
}
