/* SPDX-License-Identifier: MIT */
/* verify_page.c - the handler of POST /v1/verify. */
#include "http/pages/verify_page.h"

#include "api/claim.h"
#include "api/report_json.h"
#include "http/request/posted.h"
#include "http/connection/client_alive.h"
#include "http/reply/reply.h"
#include "http/work/thread.h"

static pe_status read_claim(pe_request *request, pe_claim *out, pe_problem *why)
{
    pe_request_parameters wanted = {.query = request->query, .query_bytes = request->query_bytes};
    pe_status status = pe_posted_read(request, true, &wanted, why);
    if (status != PE_OK)
        return status;
    const pe_read_limits *limits = &request->service->read_limits;
    if (request->json_body)
        return pe_claim_json_parse(pe_buffer_slice(&request->body), limits, out, why);
    const pe_binary_body body = {.string = {request->query, request->query_bytes},
                                 .media_type = wanted.media_type,
                                 .shape = wanted.shape,
                                 .dtype = wanted.dtype,
                                 .data = request->body.data,
                                 .bytes = request->body.bytes};
    return pe_claim_binary_parse(&body, limits, out, why);
}

/* Whether there is a client is asked now and then only: guesses take microseconds, and who has
 * ended its side is sent something each time. */
#define LOOK_EVERY 500000000 /* ns */

typedef struct audience {
    const pe_request *request;
    int64_t looked_at;
    bool left;
} audience;

/* Nobody waits for the report: the client has gone, or the end of the drain has shut it off. */
static bool has_left(void *context)
{
    audience *at = context;
    const int64_t now = pe_clock();
    if (!at->left && now - at->looked_at > LOOK_EVERY) {
        at->looked_at = now;
        at->left = !pe_client_alive(at->request->watch->socket, at->request->takes_interim);
    }
    return at->left;
}

static bool verify(pe_request *request)
{
    pe_problem why;
    pe_claim claim;
    pe_report report;
    const pe_service *service = request->service;
    audience waiting = {.request = request, .looked_at = pe_clock()};
    const pe_verify_limits bounds = {.max_elements = (size_t)service->settings->verify_max_elements,
                                     .max_work = (size_t)service->settings->verify_max_work,
                                     .given_up = has_left,
                                     .context = &waiting};
    pe_thread_computes();
    if (read_claim(request, &claim, &why) != PE_OK) {
        pe_reply_problem(request, &why);
        return true;
    }
    if (pe_verify(&claim, service->tables, &service->limits, &bounds, &report, &why) == PE_OK) {
        pe_buffer content = {0};
        const pe_field fields[] = {
            {"Content-Type", "application/json"}, {"Cache-Control", "no-store"}, {0}};
        pe_report_json(&claim, &report, &content);
        pe_reply_content(request, MHD_HTTP_OK, &content, fields);
        pe_verify_report_free(&report);
    } else {
        pe_reply_problem(request, &why);
    }
    pe_verify_claim_free(&claim);
    return true;
}

/* Hundreds of tables may have to be computed: always a worker's. */
void pe_verify_page(pe_request *request)
{
    pe_request_defer(request, PE_JOB_HEAVY, verify);
}
