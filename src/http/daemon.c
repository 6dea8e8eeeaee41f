/* SPDX-License-Identifier: MIT */
/* daemon.c - what libmicrohttpd calls: the life of connections, and of requests from their first
 * line to the end of their reply; its start. */
#include "http/daemon.h"

#include <fcntl.h>
#include <gnutls/abstract.h>
#include <microhttpd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "base/budget.h"
#include "base/clock.h"
#include "base/log.h"
#include "http/acceptor.h"
#include "http/access_log.h"
#include "http/answer/answer.h"
#include "http/answer/representation.h"
#include "http/clients/clients.h"
#include "http/connection/inlet.h"
#include "http/connection/drain.h"
#include "http/connection/tls.h"
#include "http/reply/reply.h"
#include "http/request/admission.h"
#include "http/request/body.h"
#include "http/request/tally.h"
#include "http/routes.h"

/* Targets up to this long keep their memory from one request to the next. */
#define TARGET_KEPT 1024

/* Answers from this length on may take a while to send. */
#define LABELLED_BYTES ((uint64_t)65536)

/* What the library keeps of a header field beside its text. */
#define FIELD_BYTES 64

/* The library allocates the memory of a connection up to this, and maps more (mempool.c). */
#define ALLOCATED_MAX 32768

/* A connection: its row in the watchdog's registry, where its bytes arrive, and the request that it
 * carries now. */
typedef struct connection {
    pe_service *service;
    struct MHD_Connection *library;
    pe_watch watch;
    pe_client *client; /* by address; NULL: each request may have another */
    pe_inlet inlet;
    pe_request request;
    bool refused; /* before all of a request had arrived */
} connection;

static connection *carrier_of(pe_request *request)
{
    return (connection *)(void *)((char *)request - offsetof(connection, request));
}

/* ---- a connection opens and closes ---- */

/* Release everything but the memory of a short target, and zero the rest. */
static void clear(pe_request *request)
{
    if (request->has_body)
        pe_body_release(request);
    if (request->guarded || request->client.held)
        pe_admission_end(request);
    for (size_t i = 0; i < PE_HEADERS; i++)
        free(request->joined[i]);
    pe_representation_free(request->representation);
    if (request->parts != NULL)
        request->parts_free(request->parts);
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

/* The next one on the connection. */
static pe_request *take_up(connection *carrier)
{
    pe_request *request = &carrier->request;
    clear(request);
    request->service = carrier->service;
    request->connection = carrier->library;
    request->watch = &carrier->watch;
    request->proxy = &carrier->inlet.proxy;
    request->started = pe_inlet_began(&carrier->inlet);
    return request;
}

static void refuse(void *context);
static void reply_late(void *context);

static int socket_of(struct MHD_Connection *mhd)
{
    return MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
}

/* What a connection takes of the budget beside what is allocated. */
static size_t mapped_bytes(const pe_service *service)
{
    const int64_t memory = service->settings->connection_memory_bytes;
    return memory > ALLOCATED_MAX ? (size_t)memory : 0;
}

/* NULL where there is no memory. Behind a proxy that is trusted stand others: it is no client, and
 * may have to say whose the connection is. One that is refused does not count for its address. */
static connection *open_connection(pe_service *service, struct MHD_Connection *mhd)
{
    const union MHD_ConnectionInfo *tls =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    /* Read at once: the next question may overwrite it. */
    gnutls_session_t session = tls != NULL ? tls->tls_session : NULL;
    const pe_client_address address = pe_client_address_of_peer(mhd);
    const pe_client_id id = pe_admission_id(service->settings, &address);
    const pe_place place = pe_acceptor_accepted(mhd)->place;
    const bool proxy = pe_client_address_is_trusted(service->settings, &address);
    const size_t memory = (size_t)service->settings->connection_memory_bytes;
    connection *opened = calloc(1, sizeof *opened);
    if (opened == NULL)
        return NULL;
    opened->service = service;
    opened->library = mhd;
    opened->watch.place = place;
    opened->inlet = (pe_inlet){.socket = socket_of(mhd),
                               .session = session,
                               .watchdog = service->watchdog,
                               .watch = &opened->watch,
                               .limits = {memory - PE_REPLY_HEADER_BYTES, FIELD_BYTES},
                               .held_max = memory,
                               .refused = refuse,
                               .late = reply_late,
                               .context = opened,
                               .proxied = proxy && service->settings->proxy_protocol &&
                                          place != PE_PLACE_OPERATOR};
    const bool taken = pe_budget_take(mapped_bytes(service));
    if (!taken || !pe_inlet_open(&opened->inlet)) {
        pe_budget_give(taken ? mapped_bytes(service) : 0);
        free(opened);
        return NULL;
    }
    if (!proxy && place != PE_PLACE_REFUSED)
        opened->client = pe_clients_hold(service->clients, &id, true);
    pe_watchdog_add(service->watchdog, &opened->watch, opened->inlet.socket);
    return opened;
}

static void close_connection(pe_service *service, connection *closed)
{
    pe_inlet_close(&closed->inlet);
    /* A client that is still sending must be able to read why it was refused. */
    const bool refused = closed->refused || pe_watchdog_is_leaving(&closed->watch);
    const int own = refused ? fcntl(closed->watch.socket, F_DUPFD_CLOEXEC, 0) : -1;
    if (own >= 0)
        pe_drain_take(service->drain, own);
    pe_watchdog_remove(service->watchdog, &closed->watch);
    pe_budget_give(mapped_bytes(service));
    if (closed->watch.unheard) { /* a request of which there is no more than a part of its header */
        pe_client_address client = pe_client_address_of_peer(closed->library);
        if (closed->inlet.proxy.known)
            client = closed->inlet.proxy.client;
        pe_access_log_unheard(service, &client, (unsigned)pe_status_http(PE_TIMEOUT));
    }
    pe_acceptor_wake(service->acceptor);
    clear(&closed->request);
    pe_clients_release(service->clients, closed->client, true);
    free(closed->request.target);
    free(closed);
}

/* A connection opens or closes. */
static void on_connection(void *context, struct MHD_Connection *mhd, void **socket_context,
                          enum MHD_ConnectionNotificationCode code)
{
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        pe_service *service = context;
        pe_thread_computes();
        *socket_context = open_connection(service, mhd);
        if (*socket_context == NULL)
            pe_inlet_shut(socket_of(mhd));
        pe_service_count(&service->counters.connections);
        pe_acceptor_wake(service->acceptor);
        return;
    }
    if (*socket_context != NULL)
        close_connection(context, *socket_context);
    else
        pe_inlet_forget(socket_of(mhd));
    *socket_context = NULL;
}

/* ---- the first line ---- */

static connection *connection_of(struct MHD_Connection *mhd)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info != NULL ? info->socket_context : NULL;
}

/* A client of TLS wants to see the certificate. */
static int on_certificate(gnutls_session_t session, const gnutls_datum_t *authorities PE_UNUSED,
                          int n_authorities PE_UNUSED,
                          const gnutls_pk_algorithm_t *algorithms PE_UNUSED,
                          int n_algorithms PE_UNUSED, gnutls_pcert_st **chain, unsigned *n,
                          gnutls_privkey_t *key)
{
    const connection *carrier = connection_of(gnutls_session_get_ptr(session));
    return carrier != NULL ? pe_tls_show(atomic_load(&carrier->service->identity), chain, n, key)
                           : -1;
}

/*
 * The query is ours to read: the library would keep each of its arguments in the connection's
 * memory, and a request of some hundreds of them (two kilobytes) exhausts it and is never answered.
 * It shows us its own writable buffer before it splits what follows the '?' (0.9.75: connection.c,
 * parse_initial_message_line), so an end right there leaves nothing to split.
 */
static void *on_target(void *context PE_UNUSED, const char *target, struct MHD_Connection *mhd)
{
    connection *carrier = connection_of(mhd);
    if (carrier == NULL)
        return NULL;
    pe_request *request = take_up(carrier);
    request->client.address = carrier->client;
    request->guarded = carrier->watch.place != PE_PLACE_OPERATOR &&
                       atomic_load_explicit(&request->service->guarded, memory_order_relaxed);
    request->edition = atomic_load_explicit(&request->service->edition, memory_order_acquire);
    atomic_store_explicit(&carrier->watch.started, 0, memory_order_relaxed);
    if (!pe_inlet_enter(&carrier->inlet, PE_PHASE_RECEIVING, request->started) ||
        !pe_target_keep(request, target))
        return NULL;
    char *query = strchr((char *)(uintptr_t)target, '?');
    if (query != NULL)
        query[1] = '\0';
    return request;
}

/* Have operators see the request among those under way. */
static void set_label(pe_request *request)
{
    pe_watchdog_label(request->service->watchdog, request->watch, request->method_text,
                      request->target, request->started);
}

/* ---- the story of a request, from its last byte to a decided reply ---- */

/* Whose request is it, and may it be served? Asked once its header is there; what has no body asks
 * when it is processed. */
static pe_status admit(pe_request *request, pe_problem *why)
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
        PE_TRY(admit(request, why));
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

/* A client that has ended its side is sent something each time. */
#define LOOK_EVERY (PE_NANOSECONDS_PER_SECOND / 4)

/* Has the client of a request that is worked on left? Looks now and then only: at once where
 * looked_at is 0. */
static bool is_left(void *context)
{
    pe_request *request = context;
    const int64_t now = pe_clock();
    if (now - request->looked_at < LOOK_EVERY)
        return false;
    request->looked_at = now;
    const bool interim = request->takes_interim && carrier_of(request)->inlet.session == NULL;
    if (pe_client_alive(request->watch->socket, interim))
        return false;
    pe_service_count(&request->service->counters.abandoned);
    return true;
}

/* From now on the time of this thread is the request's, which ends where it takes too much. */
static void begin_metering(pe_request *request)
{
    request->meter.is_left = is_left;
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
    if (is_left(request)) /* there will be no reply, and the connection ends */
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
    } else if (!is_left(request)) {
        begin_metering(request);
        request->route->part(request);
        pe_admission_pause(request);
    }
    pe_histogram_add(&counters->work_on_requests, pe_clock() - began);
    if (part) {
        go_on_receiving(request);
    } else if (outcome != PE_DEFERRED) {
        if (request->resource == NULL) /* no stream reads it; to free much takes long */
            pe_body_release(request);
        MHD_resume_connection(request->connection);
    }
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
        if (!pe_inlet_enter(&carrier_of(request)->inlet, PE_PHASE_WORKING, 0))
            return PE_REPLIED; /* by a 408 */
        request->stage = PE_STAGE_WORKING;
        set_label(request);
        MHD_suspend_connection(request->connection);
    }
    refused = refused || !hand_over(request, queues, kind, pe_request_price(request));
    return !refused ? PE_DEFERRED
                    : pe_fail(why, PE_OVERLOADED, "", "all workers are busy and the queue is full");
}

/* Of the body as much has arrived as the route takes at a time: a worker takes it, and the
 * connection waits meanwhile. Where none takes it, the part grows. */
static void take_part(pe_request *request)
{
    pe_service *service = request->service;
    pe_client_queues *queues = pe_admission_queues(request);
    if (pe_pool_refuses(service->pool, queues, PE_JOB_HEAVY) ||
        !pe_inlet_enter(&carrier_of(request)->inlet, PE_PHASE_WORKING, 0))
        return;
    MHD_suspend_connection(request->connection);
    if (!hand_over(request, queues, PE_JOB_HEAVY, request->body.bytes))
        go_on_receiving(request);
}

/* ---- one step, and what becomes of it ---- */

/* The reply of a problem, made here for all requests that have come whole; what is refused before
 * that gets pe_reply_raw. */
static void fail(pe_request *request, const pe_problem *why)
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
    fail(request, &why);
    return PE_REPLIED;
}

/* All of the request has arrived. DEFERRED: a worker has it, decides its reply and resumes the
 * connection. */
static pe_outcome process_whole(pe_request *request)
{
    const pe_outcome outcome = run(request, process);
    if (outcome == PE_DEFERRED || request->stage != PE_STAGE_WORKING)
        return outcome;
    MHD_resume_connection(request->connection); /* no worker takes it; the library calls again */
    return PE_DEFERRED;
}

/* ---- the header ---- */

static enum MHD_Result send_reply(pe_request *request)
{
    request->stage = PE_STAGE_ANSWERED;
    if (request->reply_bytes >= LABELLED_BYTES)
        set_label(request);
    pe_access_log_begin(request);
    /* False: the client has been answered past the library, and gets no more. */
    const bool sends = pe_inlet_enter(&carrier_of(request)->inlet, PE_PHASE_SENDING, pe_clock());
    return sends ? pe_reply_send(request) : MHD_NO;
}

static void reply_late(void *context)
{
    const connection *carrier = context;
    pe_problem why;
    const pe_settings *settings = carrier->service->settings;
    pe_service_count(&carrier->service->counters.timeouts);
    pe_fail(&why, PE_TIMEOUT, "",
            "the request did not arrive in time: header_deadline_ms is %lld, request_deadline_ms "
            "%lld, and min_rate_bytes %lld a second",
            (long long)settings->header_deadline_ms, (long long)settings->request_deadline_ms,
            (long long)settings->min_rate_bytes);
    pe_reply_raw(carrier->service, carrier->inlet.socket, carrier->inlet.session, &why, NULL,
                 false);
}

/* Reply past the library, unless it has been done. */
static void reply_raw(pe_request *request, const pe_problem *why, bool head)
{
    connection *carrier = carrier_of(request);
    if (!pe_inlet_leave(&carrier->inlet))
        return;
    request->reply.http_status = (unsigned)pe_status_http(why->status);
    pe_reply_raw(request->service, carrier->inlet.socket, carrier->inlet.session, why, request,
                 head);
}

/* The header has arrived. A reply that is queued now ends the connection, so only refusals are. */
static enum MHD_Result begin(connection *carrier, const char *method, const char *version)
{
    pe_request *request = &carrier->request;
    pe_problem why;
    request->stage = PE_STAGE_BODY;
    request->takes_interim = strcasecmp(version, "HTTP/1.1") == 0;
    pe_target_read_method(request, method);
    pe_target_split(request);
    pe_status status = pe_fields_read(request, &why);
    /* What the header says of the whole request. The library ends the connection without a reply
     * when the connection's memory does not hold the header of a reply beside that of the request:
     * so much is left for Content-Location. */
    const pe_settings *settings = request->service->settings;
    const union MHD_ConnectionInfo *header =
        MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    const int fields = MHD_get_connection_values(request->connection, MHD_HEADER_KIND, NULL, NULL);
    const size_t memory = (size_t)settings->connection_memory_bytes;
    const size_t taken = (header != NULL ? header->header_size : 0) + (size_t)fields * FIELD_BYTES +
                         PE_REPLY_HEADER_BYTES;
    const char *id = request->header[PE_HEADER_X_REQUEST_ID];
    if (id != NULL && pe_request_id_valid(id))
        request->id = id;
    request->location_room = taken < memory ? memory - taken : 0;
    request->wants_digest = pe_digest_wanted(request->header[PE_HEADER_WANT_REPR_DIGEST]);
    request->has_body = request->header[PE_HEADER_CONTENT_LENGTH] != NULL ||
                        request->header[PE_HEADER_TRANSFER_ENCODING] != NULL;
    request->body_max = (uint64_t)settings->max_body_bytes; /* until its route is found */
    if (pe_inlet_is_refused(&carrier->inlet)) {
        refuse(carrier);
        return MHD_NO;
    }
    if (status == PE_OK && carrier->watch.place == PE_PLACE_REFUSED)
        status = pe_acceptor_fail(request->service->settings,
                                  pe_acceptor_accepted(carrier->library), &why);
    if (status == PE_OK && request->has_body) {
        request->keeps_body = pe_route_find(request);
        status = admit(request, &why);
        if (status == PE_OK)
            status = pe_body_check_declared(request, &why);
    }
    if (status == PE_OK) {
        if (request->has_body)
            set_label(request); /* it may take long to arrive */
        return MHD_YES;
    }
    pe_service_count(&request->service->counters.refused);
    carrier->refused = true;
    fail(request, &why);
    return send_reply(request);
}

/* ---- its parts, as they arrive ---- */

static enum MHD_Result on_access(void *context PE_UNUSED, struct MHD_Connection *mhd PE_UNUSED,
                                 const char *url PE_UNUSED, const char *method, const char *version,
                                 const char *upload, size_t *upload_bytes, void **arriving)
{
    pe_request *request = *arriving;
    const size_t bytes = *upload_bytes;
    pe_problem why;
    if (request == NULL)
        return MHD_NO;
    switch (request->stage) {
    case PE_STAGE_NEW:
        return begin(carrier_of(request), method, version);
    case PE_STAGE_BODY:
        if (bytes == 0)
            return process_whole(request) == PE_DEFERRED ? MHD_YES : send_reply(request);
        *upload_bytes = 0;
        if (pe_body_receive(request, upload, bytes, &why) != PE_OK) {
            reply_raw(request, &why, false);
            return MHD_NO;
        }
        if (request->part_at > 0 && request->body.bytes >= request->part_at)
            take_part(request);
        return MHD_YES;
    case PE_STAGE_WORKING:
        return send_reply(request);
    case PE_STAGE_ANSWERED:
        *upload_bytes = 0;
        return MHD_YES;
    }
    return MHD_NO;
}

/* ---- after the response ---- */

static void on_completed(void *context PE_UNUSED, struct MHD_Connection *mhd PE_UNUSED,
                         void **completed, enum MHD_RequestTerminationCode code)
{
    pe_request *request = *completed;
    if (request == NULL)
        return;
    const int64_t now = pe_clock();
    pe_access_log_end(request, code);
    pe_tally_request(request->service->tally, request, pe_access_log_status(request), now);
    (void)pe_watchdog_enter(request->service->watchdog, request->watch, PE_PHASE_IDLE, now);
    clear(request);
    *completed = NULL;
    if (code == MHD_REQUEST_TERMINATED_COMPLETED_OK)
        pe_inlet_answered(&carrier_of(request)->inlet);
}

/* ---- a request that the library never sees ---- */

/* The library has this request's header and waits for its body, or it has none of it. Of a header
 * that is refused little is known. */
static void refuse(void *context)
{
    connection *carrier = context;
    pe_inlet *inlet = &carrier->inlet;
    pe_request *request = &carrier->request;
    const bool known = inlet->framing.part != PE_FRAMING_HEADER;
    pe_problem why;
    pe_fail(&why, inlet->status, "", "%s", inlet->framing.complaint);
    if (!known) {
        (void)take_up(carrier);
        const char *id = pe_inlet_text(inlet, inlet->framing.header.id);
        if (pe_request_id_valid(id))
            request->id = id;
        if (pe_target_keep(request, pe_inlet_text(inlet, inlet->framing.header.target)))
            pe_target_split(request);
    }
    pe_service_count(&carrier->service->counters.refused);
    reply_raw(request, &why, inlet->framing.header.head);
    if (known)
        return;
    pe_access_log_end(request, MHD_REQUEST_TERMINATED_COMPLETED_OK);
    pe_tally_request(carrier->service->tally, request, pe_access_log_status(request), pe_clock());
    clear(request);
}

/* ---- the daemons ---- */

/* What the library has to say is about single clients' mistakes. */
__attribute__((format(printf, 2, 0))) static void log_library(void *context PE_UNUSED,
                                                              const char *format, va_list arguments)
{
    char text[256];
    vsnprintf(text, sizeof text, format, arguments);
    text[strcspn(text, "\n")] = '\0';
    PE_LOG(PE_LOG_DEBUG, "library", PE_TEXT("detail", text));
}

/* The raw target is read by us; the library's own decoding would cut it at %00. */
static size_t leave_escaped(void *context PE_UNUSED, struct MHD_Connection *mhd PE_UNUSED,
                            char *text)
{
    return strlen(text);
}

/* The acceptor keeps connections_max. The library divides its own limit among its threads, so that
 * one is far above. One thread is not a pool of one. */
struct MHD_Daemon *pe_daemon_start(pe_service *service, size_t threads, bool tls)
{
    const pe_settings *settings = service->settings;
    const unsigned pool = threads > 1 ? (unsigned)threads : 0;
    const unsigned connections =
        ((unsigned)settings->connections_max + SOMAXCONN) * (unsigned)threads;
    struct MHD_OptionItem secure[] = {
        {MHD_OPTION_HTTPS_PRIORITIES, 0,
         (char *)(uintptr_t)pe_tls_priorities(settings->tls_minimum)},
        {MHD_OPTION_HTTPS_CERT_CALLBACK, 0, (void *)(uintptr_t)on_certificate},
        {MHD_OPTION_END, 0, NULL}};
    struct MHD_OptionItem plain[] = {{MHD_OPTION_END, 0, NULL}};
    return MHD_start_daemon(
        (tls ? MHD_USE_TLS : 0U) | MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_TURBO |
            MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG | MHD_USE_NO_LISTEN_SOCKET,
        0, NULL, NULL, on_access, service,                                             /* */
        MHD_OPTION_EXTERNAL_LOGGER, log_library, NULL,                                 /* first */
        MHD_OPTION_THREAD_POOL_SIZE, pool,                                             /* */
        MHD_OPTION_CONNECTION_LIMIT, connections,                                      /* */
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)settings->connection_memory_bytes, /* */
        MHD_OPTION_URI_LOG_CALLBACK, on_target, service,                               /* */
        MHD_OPTION_UNESCAPE_CALLBACK, leave_escaped, NULL,                             /* */
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, service,                          /* */
        MHD_OPTION_NOTIFY_COMPLETED, on_completed, service,                            /* */
        MHD_OPTION_ARRAY, tls ? secure : plain,                                        /* */
        MHD_OPTION_END);
}
