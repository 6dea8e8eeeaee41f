/* SPDX-License-Identifier: MIT */
/* model_pages.c - the handlers of the catalogue and of configurations. */
#include "http/pages/model_pages.h"

#include <string.h>

#include "api/model_json.h"
#include "http/request/posted.h"
#include "http/reply/reply.h"
#include "http/routes.h"
#include "http/work/thread.h"

/* Where parsing takes long. */
#define HEAVY_BODY_BYTES 32768

void pe_model_page(pe_request *request)
{
    pe_problem why;
    pe_buffer content = {0};
    const pe_catalogue_file *file;
    const pe_field fields[] = {
        {"Content-Type", "application/json"}, {"Cache-Control", "no-cache"}, {0}};
    pe_thread_computes();
    pe_status status = pe_catalogue_find(request->path + strlen(request->route->path), &file, &why);
    if (status == PE_OK)
        status = pe_model_json_file(file, &content, &why);
    else if (status == PE_INVALID_PARAMETER) { /* a path names a resource, not a parameter */
        const pe_problem unknown = why;
        status = pe_fail(&why, PE_NOT_FOUND, "", "%s", unknown.detail);
    }
    if (status == PE_OK)
        pe_reply_content(request, MHD_HTTP_OK, &content, fields);
    else
        pe_reply_problem(request, &why);
    pe_buffer_free(&content);
}

static bool resolve(pe_request *request)
{
    pe_problem why;
    pe_buffer content = {0};
    pe_model *model = NULL;
    const pe_field fields[] = {
        {"Content-Type", "application/json"}, {"Cache-Control", "no-store"}, {0}};
    pe_thread_computes();
    if (pe_model_json_resolve(pe_buffer_slice(&request->body),
                              request->service->read_limits.max_depth, &model, &why) == PE_OK) {
        pe_model_json(model, &content);
        pe_reply_content(request, MHD_HTTP_OK, &content, fields);
    } else {
        pe_reply_problem(request, &why);
    }
    pe_model_free(model);
    pe_buffer_free(&content);
    return true;
}

void pe_model_page_resolve(pe_request *request)
{
    pe_problem why;
    pe_status status = pe_posted_json_only(request, &why);
    request->json_body = true;
    if (status == PE_OK && request->query_bytes > 0)
        status = pe_fail(&why, PE_MALFORMED_REQUEST, "", "a configuration takes no query");
    if (status != PE_OK)
        pe_reply_problem(request, &why);
    else
        pe_request_defer(
            request, request->body.bytes > HEAVY_BODY_BYTES ? PE_JOB_HEAVY : PE_JOB_LIGHT, resolve);
}
