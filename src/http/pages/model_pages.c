/* SPDX-License-Identifier: MIT */
/* model_pages.c - the handlers of the catalogue and of configurations. */
#include <string.h>

#include "api/model_json.h"
#include "http/pages/pages.h"
#include "http/reply/reply.h"
#include "http/request/parameters.h"
#include "http/workers/thread.h"

/* Where parsing takes long. */
#define HEAVY_BODY_BYTES 32768

static pe_status describe(const char *name, pe_buffer *content, pe_problem *why)
{
    const pe_catalogue_file *file;
    const pe_status status = pe_catalogue_find(name, &file, why);
    if (status == PE_OK)
        return pe_model_json_file(file, content, why);
    if (status != PE_INVALID_PARAMETER)
        return status;
    const pe_problem unknown = *why; /* a path names a resource, not a parameter */
    return pe_fail(why, PE_NOT_FOUND, "", "%s", unknown.detail);
}

pe_outcome pe_page_model(pe_request *request, pe_problem *why)
{
    pe_buffer content = {0};
    pe_thread_computes();
    if (describe(request->path + strlen("/v1/models/"), &content, why) == PE_OK)
        return pe_reply_json(request, &content, "no-cache", why);
    pe_buffer_free(&content);
    return PE_FAILED;
}

static pe_outcome resolve(pe_request *request, pe_problem *why)
{
    pe_buffer content = {0};
    pe_model *model;
    pe_thread_computes();
    if (pe_model_json_resolve(pe_buffer_slice(&request->body),
                              request->service->read_limits.max_depth, &model, why) != PE_OK)
        return PE_FAILED;
    pe_model_json(model, &content);
    pe_model_free(model);
    return pe_reply_json(request, &content, "no-store", why);
}

pe_outcome pe_page_resolve(pe_request *request, pe_problem *why)
{
    const bool large = request->body.bytes > HEAVY_BODY_BYTES;
    request->json_body = true;
    if (pe_parameters_json_only(request, why) != PE_OK)
        return PE_FAILED;
    if (request->query_bytes > 0) {
        pe_fail(why, PE_MALFORMED_REQUEST, "", "a configuration takes no query");
        return PE_FAILED;
    }
    return pe_request_defer(request, large ? PE_JOB_HEAVY : PE_JOB_LIGHT, resolve);
}
