/* SPDX-License-Identifier: MIT */
/* flow.c - the story of a request, from its last byte to a decided reply. */
#include "http/flow.h"

#include "base/budget.h"
#include "base/clock.h"
#include "base/log.h"
#include "http/answer/answer.h"
#include "http/reply/reply.h"
#include "http/request/admission.h"
#include "http/request/body.h"
#include "http/routes.h"

/* ---- the story ---- */

pe_status pe_flow_admit(pe_request *request, pe_problem *why)
{
    const size_t most = (size_t)request->service->settings->max_url_bytes;
    const bool long_target = request->target_bytes > most;
    if (request->route == NULL && (request->guarded || long_target))
        (void)pe_route_find(request);
    if (request->guarded && !pe_route_is_open(request))
        PE_TRY(pe_admission_check(request, why));
    if (long_target)
        return pe_fail(why, PE_MALFORMED_REQUEST, "",
                       "the request target must be at most %zu bytes long, got %zu", most,
                       request->target_bytes);
    return PE_OK;
}

/* With the memory in use, nothing new is begun. What is in memory is sent all the same, and pages
 * are: they tell how the server does. */
static pe_outcome process(pe_request *request, pe_problem *why)
{
    /* With a body that was done when the header came. */
    if (!request->has_body)
        PE_TRY(pe_flow_admit(request, why));
    /* Asked before, to the letter. */
    const pe_outcome outcome =
        request->watch->place == PE_PLACE_OPERATOR ? PE_CONTINUE : pe_answer_from_cache(request);
    if (outcome != PE_CONTINUE)
        return outcome;
    if (!request->has_body) /* else its route was found with the header */
        (void)pe_route_find(request);
    PE_TRY(pe_body_check(request, why));
    if (request->resource != NULL && pe_budget_exceeded())
        return pe_fail_memory(why);
    return pe_route_handle(request, why); /* 404, 405, OPTIONS, or the handler of the path */
}

/* ---- workers ---- */

static pe_outcome run(pe_request *request, pe_step *step);

/* From now on the time of this thread is the request's, which ends where it takes too much. */
static void begin_metering(pe_request *request)
{
    request->meter.is_left = pe_request_is_left;
    request->meter.context = request;
    pe_admission_allow(request);
    pe_meter_begin(&request->meter);
}

static bool has_failed(pe_outcome outcome)
{
    return outcome > PE_OK && outcome < PE_REPLIED;
}

/* A worker's turn. */
static pe_outcome work_on(pe_request *request, pe_problem *why)
{
    const int64_t most = request->service->settings->queue_wait_ms * PE_NANOSECONDS_PER_MS;
    if (pe_request_is_left(request)) /* there will be no reply, and the connection ends */
        return PE_REPLIED;
    if (pe_clock() - request->next.since > most)
        return pe_fail(why, PE_OVERLOADED, "", "the request has waited too long for a worker");
    begin_metering(request);
    const pe_outcome outcome = request->next.step(request, why);
    pe_admission_pause(request);
    const bool left = request->meter.ended == PE_OVERLOADED && has_failed(outcome);
    return left ? PE_REPLIED : outcome; /* nobody waits for it */
}

/* A part of a body, whose time is not the client's; the connection then goes on to receive. */
static void go_on_receiving(pe_request *request)
{
    request->parts_took += pe_clock() - request->next.since;
    (void)pe_watchdog_enter(request->service->watchdog, request->watch, PE_PHASE_RECEIVING,
                            request->started + request->parts_took);
    MHD_resume_connection(request->connection);
}

static void run_job(void *context)
{
    pe_request *request = context;
    pe_counters *counters = &request->service->counters;
    const bool part = request->stage == PE_STAGE_BODY;
    const int64_t began = pe_clock();
    pe_outcome outcome = PE_CONTINUE;
    pe_histogram_add(&counters->waits, began - request->next.since);
    request->looked_at = 0;
    if (!part) {
        outcome = run(request, work_on); /* deferred: another worker may have it now */
    } else if (!pe_request_is_left(request)) {
        begin_metering(request);
        request->route->part(request);
        pe_admission_pause(request);
    }
    pe_histogram_add(&counters->work_on_requests, pe_clock() - began);
    if (part)
        go_on_receiving(request);
    else if (outcome != PE_DEFERRED)
        MHD_resume_connection(request->connection);
}

/* From now on the request is the worker's. False when none will take it. */
static bool hand_over(pe_request *request, pe_client_queues *queues, pe_job_kind kind,
                      uint64_t price)
{
    request->next.since = pe_clock();
    request->next.job = (pe_job){.run = run_job, .context = request, .price = price};
    return pe_pool_submit(request->service->pool, queues, &request->next.job, kind);
}

/* What is refused at once need not be suspended, which costs more than the refusal. */
static pe_outcome submit(pe_request *request, pe_problem *why)
{
    pe_client_queues *queues = pe_admission_queues(request);
    const pe_job_kind kind = request->next.kind;
    bool refused = pe_pool_refuses(request->service->pool, queues, kind);
    if (!refused && request->stage != PE_STAGE_WORKING) {
        if (!pe_watchdog_enter(request->service->watchdog, request->watch, PE_PHASE_WORKING, 0))
            return PE_REPLIED; /* by a 408 */
        request->stage = PE_STAGE_WORKING;
        pe_request_set_label(request);
        MHD_suspend_connection(request->connection);
    }
    refused = refused || !hand_over(request, queues, kind, pe_request_price(request));
    return !refused ? PE_DEFERRED
                    : pe_fail(why, PE_OVERLOADED, "", "all workers are busy and the queue is full");
}

/* Where no worker takes it, the part grows. */
void pe_flow_take_part(pe_request *request)
{
    pe_service *service = request->service;
    pe_client_queues *queues = pe_admission_queues(request);
    if (pe_pool_refuses(service->pool, queues, PE_JOB_HEAVY) ||
        !pe_watchdog_enter(service->watchdog, request->watch, PE_PHASE_WORKING, 0))
        return;
    MHD_suspend_connection(request->connection);
    if (!hand_over(request, queues, PE_JOB_HEAVY, request->body.bytes))
        go_on_receiving(request);
}

/* ---- one step, and what becomes of it ---- */

void pe_flow_fail(pe_request *request, const pe_problem *why)
{
    if (why->status == PE_INTERNAL)
        PE_LOG(PE_LOG_ERROR, "internal", PE_TEXT("target", request->target),
               PE_TEXT("request_id", pe_request_id(request)), PE_TEXT("detail", why->detail));
    pe_reply_problem(request, why);
}

/* Take the step. What it leaves to a worker is handed over, and its problem becomes the reply. */
static pe_outcome run(pe_request *request, pe_step *step)
{
    pe_problem why;
    why.status = PE_OK;
    pe_outcome outcome = step(request, &why);
    if (outcome == PE_DEFERRED)
        outcome = submit(request, &why);
    if (!has_failed(outcome))
        return outcome;
    pe_flow_fail(request, &why);
    return PE_REPLIED;
}

pe_outcome pe_flow_process(pe_request *request)
{
    const pe_outcome outcome = run(request, process);
    if (outcome == PE_DEFERRED || request->stage != PE_STAGE_WORKING)
        return outcome;
    MHD_resume_connection(request->connection); /* no worker takes it; the library calls again */
    return PE_DEFERRED;
}
