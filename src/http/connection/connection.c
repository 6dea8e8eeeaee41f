/* SPDX-License-Identifier: MIT */
/* connection.c - one request while it arrives, is worked on and answered. */
#include "http/request/request.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/log.h"
#include "base/memory.h"
#include "http/answer/answer.h"
#include "http/request/framing.h"
#include "http/answer/representation.h"
#include "http/connection/client_alive.h"
#include "http/reply/reply.h"
#include "http/routes.h"
#include "http/request/target.h"

/* Targets up to this long keep their memory from one request to the next. */
#define TARGET_KEPT 1024

/* What has waited longer for a worker is refused: its client has given up, or soon will. */
#define WAIT_MAX (10 * (int64_t)1000000000)

static pe_connection *connection_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info != NULL ? info->socket_context : NULL;
}

static void enter(pe_request *request, pe_phase phase)
{
    pe_watchdog_enter(request->service->watchdog, request->watch, phase, pe_clock());
}

/* ---- beginning and end ---- */

static void release_body(pe_request *request)
{
    pe_buffer_free(&request->body);
    if (request->body_reserved > 0)
        atomic_fetch_sub(&request->service->body_bytes, request->body_reserved);
    request->body_reserved = 0;
}

/* Release everything but the memory of a short target, and zero the rest. */
static void clear(pe_request *request)
{
    release_body(request);
    for (size_t i = 0; i < PE_HEADERS; i++)
        free(request->joined[i]);
    pe_representation_free(request->representation);
    pe_reply_drop(request);
    char *target = request->target;
    size_t capacity = request->target_capacity;
    if (capacity > TARGET_KEPT) {
        free(target);
        target = NULL;
        capacity = 0;
    }
    *request = (pe_request){.target = target, .target_capacity = capacity};
}

void pe_request_on_connection(void *context, struct MHD_Connection *mhd, void **socket_context,
                              enum MHD_ConnectionNotificationCode code)
{
    pe_service *service = context;
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        pe_connection *connection = *socket_context;
        if (connection == NULL)
            return;
        pe_watchdog_remove(service->watchdog, &connection->watch);
        clear(&connection->request);
        free(connection->request.target);
        free(connection);
        *socket_context = NULL;
        return;
    }
    pe_connection *connection = calloc(1, sizeof *connection);
    *socket_context = connection;
    if (connection == NULL)
        return; /* pe_request_on_target closes it */
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD);
    pe_watchdog_add(service->watchdog, &connection->watch, info->connect_fd);
    atomic_fetch_add_explicit(&service->counters.connections, 1, memory_order_relaxed);
}

/*
 * The query is ours to read: the library would keep each of its arguments in the connection's
 * memory, and a request of some hundreds of them (two kilobytes) exhausts it and is never answered.
 * It shows us its own writable buffer before it splits what follows the '?' (0.9.75: connection.c,
 * parse_initial_message_line), so an end right there leaves nothing to split.
 */
static void hide_query(const char *target)
{
    char *mark = strchr((char *)(uintptr_t)target, '?');
    if (mark != NULL)
        mark[1] = '\0';
}

void *pe_request_on_target(void *context, const char *target, struct MHD_Connection *mhd)
{
    pe_connection *connection = connection_of(mhd);
    if (connection == NULL)
        return NULL;
    pe_request *request = &connection->request;
    clear(request);
    request->service = context;
    request->connection = mhd;
    request->watch = &connection->watch;
    request->started = pe_clock();
    atomic_fetch_add_explicit(&request->service->counters.requests, 1, memory_order_relaxed);
    pe_watchdog_enter(request->service->watchdog, &connection->watch, PE_PHASE_RECEIVING,
                      request->started);
    if (!pe_target_keep(request, target))
        return NULL;
    hide_query(target);
    return request;
}

static void log_access(const pe_request *request, unsigned status)
{
    double ms = (double)(pe_clock() - request->started) / 1e6;
    const bool known = request->answer_bytes != UINT64_MAX;
    pe_log(PE_LOG_INFO, "access",
           (pe_log_member[]){{PE_LOG_TEXT, "method", .text = request->method_text},
                             {PE_LOG_TEXT, "target", .text = request->target},
                             {PE_LOG_NUMBER, "status", .number = status},
                             {PE_LOG_REAL, "ms", .real = ms},
                             {PE_LOG_TEXT, "request_id", .text = request->id},
                             {known ? PE_LOG_NUMBER : PE_LOG_END, "bytes",
                              .number = (int64_t)request->answer_bytes},
                             {0}});
}

void pe_request_on_completed(void *service, struct MHD_Connection *connection, void **context,
                             enum MHD_RequestTerminationCode code)
{
    (void)service;
    (void)connection;
    (void)code;
    pe_request *request = *context;
    if (request == NULL)
        return;
    if (request->service->settings->access_log)
        log_access(request, request->reply.http_status);
    enter(request, PE_PHASE_IDLE);
    clear(request);
    *context = NULL;
}

const char *pe_request_id(pe_request *request)
{
    if (request->id == NULL) {
        pe_id_make(request->id_made);
        request->id = request->id_made;
    }
    return request->id;
}

/* ---- the library's handler ---- */

static enum MHD_Result send_reply(pe_request *request)
{
    request->stage = PE_STAGE_ANSWERED;
    enter(request, PE_PHASE_SENDING);
    return pe_reply_send(request);
}

static enum MHD_Result refuse(pe_request *request, const pe_problem *why)
{
    atomic_fetch_add_explicit(&request->service->counters.refused, 1, memory_order_relaxed);
    pe_reply_problem(request, why);
    return send_reply(request);
}

/* The largest body that the route takes. */
static uint64_t body_max(const pe_request *request)
{
    const pe_settings *settings = request->service->settings;
    const bool configures = request->route != NULL && request->route->configures;
    const int64_t most = settings->max_body_bytes, config = settings->config_bytes_max;
    return (uint64_t)(configures && config < most ? config : most);
}

static pe_status too_large(const pe_request *request, pe_problem *why)
{
    return pe_fail(why, PE_BODY_TOO_LARGE, "", "the body must be at most %llu bytes long",
                   (unsigned long long)body_max(request));
}

/* More than any route takes: not even worth draining. */
static bool declares_too_much(const pe_request *request)
{
    const char *length = request->header[PE_HEADER_CONTENT_LENGTH];
    return length != NULL && strtoull(length, NULL, 10) > /* saturates */
                                 (unsigned long long)request->service->settings->max_body_bytes;
}

/* What the library keeps of a header field beside its text. */
#define FIELD_BYTES 64

/* Does the connection's memory hold the header of an answer beside that of the request? */
static bool has_room(pe_request *request)
{
    const union MHD_ConnectionInfo *header =
        MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    const int fields = MHD_get_connection_values(request->connection, MHD_HEADER_KIND, NULL, NULL);
    const size_t memory = (size_t)request->service->settings->connection_memory_bytes;
    const size_t taken = (header != NULL ? header->header_size : 0) + (size_t)fields * FIELD_BYTES +
                         PE_REPLY_HEADER_BYTES;
    request->header_room = taken < memory ? memory - taken : 0;
    return taken <= memory;
}

/* Without that room the library would end the connection unanswered. */
static enum MHD_Result refuse_header(pe_request *request)
{
    pe_problem why;
    atomic_fetch_add_explicit(&request->service->counters.refused, 1, memory_order_relaxed);
    pe_fail(&why, PE_MALFORMED_REQUEST, "",
            "the request's header leaves no room for that of an answer; both together have "
            "connection_memory_bytes, which is %lld",
            (long long)request->service->settings->connection_memory_bytes);
    pe_raw_reply(request->service, request->watch->socket, &why, request->path,
                 pe_request_id(request));
    return MHD_NO;
}

/* The header has arrived. Answering now would end the connection, so only refusals do. */
static enum MHD_Result begin(pe_request *request, const char *url, const char *method,
                             const char *version)
{
    pe_problem why;
    request->stage = PE_STAGE_BODY;
    request->takes_interim = strcasecmp(version, "HTTP/1.1") == 0;
    pe_target_read_method(request, method);
    pe_target_split(request);
    pe_status status = pe_framing_read(request, url, method, version, &why);
    const char *id = request->header[PE_HEADER_X_REQUEST_ID];
    if (id != NULL && pe_id_valid(id)) {
        request->id = id;
        request->id_sent = true;
    }
    if (!has_room(request))
        return refuse_header(request);
    request->has_body = request->header[PE_HEADER_CONTENT_LENGTH] != NULL ||
                        request->header[PE_HEADER_TRANSFER_ENCODING] != NULL;
    if (status == PE_OK && request->has_body)
        request->keeps_body = pe_route_find(request);
    if (status == PE_OK && declares_too_much(request))
        status = too_large(request, &why);
    return status == PE_OK ? MHD_YES : refuse(request, &why);
}

/* Count bytes among those that all requests hold; false when there would be too many. */
static bool reserve(pe_request *request, size_t bytes)
{
    pe_service *service = request->service;
    request->body_reserved += bytes;
    return atomic_fetch_add(&service->body_bytes, bytes) + bytes <= service->body_bytes_max;
}

/* Stop keeping the body; what still comes is drained. */
static void drop_body(pe_request *request, pe_status reason)
{
    request->keeps_body = false;
    request->body_refused = reason;
    release_body(request);
}

/*
 * Keep a part of the body. Once a large one is under way, there is room for all that was declared:
 * nothing is copied again, and whoever declares much and sends little holds little.
 */
static void keep(pe_request *request, const char *upload, size_t bytes)
{
    pe_buffer *body = &request->body;
    const char *length = request->header[PE_HEADER_CONTENT_LENGTH];
    const bool full = body->capacity - body->bytes < bytes;
    if (full && length != NULL && body->bytes >= PE_MEMORY_LARGE)
        (void)pe_buffer_reserve(body, strtoull(length, NULL, 10) - body->bytes);
    pe_buffer_add(body, upload, bytes);
}

/*
 * A part of the body. One that grows too large is drained, so that it can be answered; one that
 * does not end even then is cut off.
 */
static enum MHD_Result receive(pe_request *request, const char *upload, size_t *upload_bytes)
{
    const uint64_t most = body_max(request);
    const uint64_t drained = 2 * (uint64_t)request->service->settings->max_body_bytes;
    size_t bytes = *upload_bytes;
    *upload_bytes = 0;
    request->body_arrived += bytes;
    if (request->body_arrived > drained) {
        pe_problem why;
        too_large(request, &why);
        pe_raw_reply(request->service, request->watch->socket, &why, request->path,
                     pe_request_id(request));
        return MHD_NO;
    }
    if (!request->keeps_body)
        return MHD_YES;
    if (request->body_arrived > most)
        drop_body(request, PE_BODY_TOO_LARGE);
    else if (!reserve(request, bytes))
        drop_body(request, PE_OVERLOADED);
    else
        keep(request, upload, bytes);
    return MHD_YES;
}

/* Why what has arrived cannot be used. */
static pe_status check_size(const pe_request *request, pe_problem *why)
{
    long long target_max = (long long)request->service->settings->max_url_bytes;
    if (request->target_bytes > (size_t)target_max)
        return pe_fail(why, PE_MALFORMED_REQUEST, "",
                       "the request target must be at most %lld bytes long, got %zu", target_max,
                       request->target_bytes);
    if (request->body_refused == PE_BODY_TOO_LARGE)
        return too_large(request, why);
    if (request->body_refused == PE_OVERLOADED)
        return pe_fail(why, PE_OVERLOADED, "", "too many bodies are arriving at once");
    return request->body.failed ? pe_fail_memory(why) : PE_OK;
}

/* All has arrived. */
static enum MHD_Result finish(pe_request *request)
{
    pe_problem why;
    if (request->header[PE_HEADER_TRANSFER_ENCODING] == NULL && pe_answer_from_cache(request))
        return send_reply(request);
    if (!request->has_body)
        (void)pe_route_find(request);
    if (check_size(request, &why) != PE_OK)
        pe_reply_problem(request, &why);
    else
        pe_route_answer(request);
    if (request->stage == PE_STAGE_WORKING)
        return MHD_YES;
    return send_reply(request);
}

enum MHD_Result pe_request_on_access(void *service, struct MHD_Connection *connection,
                                     const char *url, const char *method, const char *version,
                                     const char *upload, size_t *upload_bytes, void **context)
{
    (void)service;
    (void)connection;
    pe_request *request = *context;
    if (request == NULL)
        return MHD_NO;
    switch (request->stage) {
    case PE_STAGE_NEW:
        return begin(request, url, method, version);
    case PE_STAGE_BODY:
        return *upload_bytes > 0 ? receive(request, upload, upload_bytes) : finish(request);
    case PE_STAGE_WORKING:
        return send_reply(request);
    case PE_STAGE_ANSWERED:
        *upload_bytes = 0;
        return MHD_YES;
    }
    return MHD_NO;
}

/* ---- workers ---- */

static void overloaded(pe_request *request, const char *detail)
{
    pe_problem why;
    pe_fail(&why, PE_OVERLOADED, "", "%s", detail);
    pe_reply_problem(request, &why);
}

/* Nobody waits for the answer: there will be none, and the connection ends. */
static bool is_abandoned(pe_request *request)
{
    if (pe_client_alive(request->watch->socket, request->takes_interim))
        return false;
    atomic_fetch_add_explicit(&request->service->counters.abandoned, 1, memory_order_relaxed);
    return true;
}

static bool work_on(pe_request *request)
{
    if (is_abandoned(request))
        return true;
    if (pe_clock() - request->deferred_at <= WAIT_MAX)
        return request->deferred(request);
    overloaded(request, "the request has waited too long for a worker");
    return true;
}

static void run_job(void *context)
{
    pe_request *request = context;
    if (work_on(request))
        MHD_resume_connection(request->connection);
}

void pe_request_defer(pe_request *request, pe_job_kind kind, pe_work *work)
{
    if (request->stage != PE_STAGE_WORKING) {
        request->stage = PE_STAGE_WORKING;
        enter(request, PE_PHASE_WORKING);
        MHD_suspend_connection(request->connection);
    }
    request->deferred = work;
    request->deferred_at = pe_clock();
    request->job = (pe_job){.run = run_job, .context = request};
    if (pe_pool_submit(request->service->pool, &request->job, kind))
        return;
    overloaded(request, "all workers are busy and the queue is full");
    MHD_resume_connection(request->connection);
}
