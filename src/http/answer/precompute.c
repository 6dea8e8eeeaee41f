/* SPDX-License-Identifier: MIT */
/* precompute.c - the targets that the settings name are answered from the cache from the start. */
#include "http/answer/precompute.h"

#include <stdlib.h>
#include <string.h>

#include "encodings/registry.h"
#include "http/answer/cached_response.h"

static pe_status store(pe_representation *representation, uint64_t edition, const char *target,
                       pe_problem *why)
{
    pe_cached_response cached = {.coding = PE_CODING_IDENTITY};
    pe_request_key raw;
    const pe_settings *settings = representation->service->settings;
    if (pe_cached_response_fits(representation)) {
        const pe_status status = pe_cached_response_get(representation, &cached, why);
        if (status != PE_OK)
            return status;
    }
    if (cached.entry == NULL)
        return pe_fail(why, PE_TOO_MANY_ELEMENTS, "",
                       "the answer, of up to %llu bytes, is too large to be kept: "
                       "response_cache_entry_bytes is %lld, response_cache_bytes %lld",
                       (unsigned long long)representation->length_max,
                       (long long)settings->response_cache_entry_bytes,
                       (long long)settings->response_cache_bytes);
    pe_response_cache_key_make(edition, target, NULL, NULL, &raw);
    pe_cached_response_remember(representation, &raw, cached.coding);
    pe_response_cache_key_of_target(edition, target, &raw);
    pe_cached_response_remember(representation, &raw, cached.coding);
    pe_cache_entry_unref(cached.entry);
    return PE_OK;
}

/* The parameters of a target, which a table answers. */
static pe_status make(pe_service *service, const char *target, pe_representation **out,
                      pe_problem *why)
{
    const size_t bytes = strcspn(target, "?");
    const char *query = target[bytes] == '?' ? target + bytes + 1 : "";
    pe_request_parameters parameters = {.query = query, .query_bytes = strlen(query)};
    char *path = strndup(target, bytes);
    if (path == NULL)
        return pe_fail_memory(why);
    parameters.resource = pe_registry_route(path, &parameters.name, &parameters.name_bytes);
    const bool table = parameters.resource != NULL && parameters.resource->kind == PE_TABLE;
    const pe_status status = table ? pe_representation_make(service, &parameters, out, why)
                                   : pe_fail(why, PE_NOT_FOUND, "", "no table lives at %s", path);
    free(path);
    return status;
}

/* Plan the target and, where it is to be stored, store it. */
static pe_status plan_and_store(pe_service *service, const char *target, bool to_store,
                                pe_problem *why)
{
    pe_representation *representation;
    const uint64_t edition = atomic_load(&service->edition);
    pe_status status = make(service, target, &representation, why);
    if (status != PE_OK)
        return status;
    status = pe_representation_plan(representation, NULL, why);
    if (status == PE_OK && to_store)
        status = store(representation, edition, target, why);
    pe_representation_free(representation);
    return status;
}

pe_status pe_precompute_check(pe_service *service, const char *target, pe_problem *why)
{
    return plan_and_store(service, target, false, why);
}

pe_status pe_precompute(pe_service *service, const char *target, pe_problem *why)
{
    return plan_and_store(service, target, true, why);
}
