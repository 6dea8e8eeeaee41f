/* SPDX-License-Identifier: MIT */
/* callbacks.c - what libmicrohttpd calls: a connection opens, a request arrives and ends. */
#include "http/callbacks.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "http/acceptor.h"
#include "http/access_log.h"
#include "http/answer/representation.h"
#include "http/clients/clients.h"
#include "http/connection/tls.h"
#include "http/flow.h"
#include "http/reply/digest.h"
#include "http/reply/raw_reply.h"
#include "http/reply/reply.h"
#include "http/request/admission.h"
#include "http/request/body.h"
#include "http/request/framing.h"
#include "http/request/target.h"
#include "http/routes.h"

/* Targets up to this long keep their memory from one request to the next. */
#define TARGET_KEPT 1024

/* Answers from this length on may take a while to send. */
#define LABELLED_BYTES ((uint64_t)65536)

/* A connection: its row in the watchdog's registry, and the request that it carries now. */
typedef struct connection {
    pe_watch watch;
    pe_client *client; /* by address; NULL: each request may have another */
    pe_request request;
} connection;

static void enter(pe_request *request, pe_phase phase)
{
    pe_watchdog_enter(request->service->watchdog, request->watch, phase, pe_clock());
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

/* Behind a proxy that is trusted stand others. */
static pe_client *client_of(pe_service *service, struct MHD_Connection *mhd)
{
    const pe_client_address address = pe_client_address_of_peer(mhd);
    const pe_client_id id = pe_admission_id(service->settings, &address);
    return pe_client_address_is_trusted(service->settings, &address)
               ? NULL
               : pe_clients_open(service->clients, &id);
}

/* Without memory *out is NULL, and pe_callbacks_target ends the connection. */
static void open_connection(pe_service *service, struct MHD_Connection *mhd, void **out)
{
    connection *opened = calloc(1, sizeof *opened);
    *out = opened;
    if (opened == NULL)
        return;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD);
    const union MHD_ConnectionInfo *served =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_DAEMON);
    opened->watch.tls = service->tls;
    opened->watch.admin = service->admin != NULL && served->daemon == service->admin;
    opened->client = client_of(service, mhd);
    if (opened->watch.admin)
        opened->watch.tls = NULL;
    pe_watchdog_add(service->watchdog, &opened->watch, info->connect_fd);
    pe_service_count(&service->counters.connections);
    pe_acceptor_wake(service->acceptor);
}

static void close_connection(pe_service *service, connection *closed)
{
    if (closed == NULL)
        return;
    pe_watchdog_remove(service->watchdog, &closed->watch);
    pe_acceptor_wake(service->acceptor);
    clear(&closed->request);
    pe_clients_close(service->clients, closed->client);
    free(closed->request.target);
    free(closed);
}

void pe_callbacks_connection(void *context, struct MHD_Connection *mhd, void **socket_context,
                             enum MHD_ConnectionNotificationCode code)
{
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        open_connection(context, mhd, socket_context);
        return;
    }
    close_connection(context, *socket_context);
    *socket_context = NULL;
}

/* ---- the first line ---- */

static connection *connection_of(struct MHD_Connection *mhd)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info != NULL ? info->socket_context : NULL;
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

int pe_callbacks_certificate(gnutls_session_t session, const gnutls_datum_t *authorities,
                             int n_authorities, const gnutls_pk_algorithm_t *algorithms,
                             int n_algorithms, gnutls_pcert_st **chain, unsigned *n,
                             gnutls_privkey_t *key)
{
    (void)authorities;
    (void)n_authorities;
    (void)algorithms;
    (void)n_algorithms;
    const connection *carrier = connection_of(gnutls_session_get_ptr(session));
    return carrier != NULL ? pe_tls_show(carrier->watch.tls, chain, n, key) : -1;
}

void *pe_callbacks_target(void *context, const char *target, struct MHD_Connection *mhd)
{
    connection *carrier = connection_of(mhd);
    if (carrier == NULL)
        return NULL;
    pe_request *request = &carrier->request;
    clear(request);
    request->service = context;
    request->connection = mhd;
    request->watch = &carrier->watch;
    request->client.address = carrier->client;
    request->guarded = !carrier->watch.admin &&
                       atomic_load_explicit(&request->service->guarded, memory_order_relaxed);
    request->edition = atomic_load_explicit(&request->service->edition, memory_order_acquire);
    request->started = pe_clock();
    pe_request_label_clear(&carrier->watch.label);
    pe_service_count(&request->service->counters.requests);
    pe_watchdog_enter(request->service->watchdog, &carrier->watch, PE_PHASE_RECEIVING,
                      request->started);
    if (!pe_target_keep(request, target))
        return NULL;
    hide_query(target);
    return request;
}

/* ---- the header ---- */

static enum MHD_Result send_reply(pe_request *request)
{
    request->stage = PE_STAGE_ANSWERED;
    if (request->reply_bytes >= LABELLED_BYTES)
        pe_request_set_label(request);
    pe_access_log_begin(request);
    enter(request, PE_PHASE_SENDING);
    return pe_reply_send(request);
}

/* Reply past the library, and end the connection. */
static enum MHD_Result cut(pe_request *request, const pe_problem *why)
{
    request->reply.http_status = (unsigned)pe_status_http(why->status);
    if (request->watch->tls != NULL)
        return MHD_NO;
    pe_raw_reply(request->service, request->watch->socket, why, request->path,
                 pe_request_id(request));
    return MHD_NO;
}

/* What the library keeps of a header field beside its text. */
#define FIELD_BYTES 64

/* The library ends the connection without a reply when the connection's memory does not hold the
 * header of a reply beside that of the request. */
static pe_status check_room(pe_request *request, pe_problem *why)
{
    const union MHD_ConnectionInfo *header =
        MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    const int fields = MHD_get_connection_values(request->connection, MHD_HEADER_KIND, NULL, NULL);
    const size_t memory = (size_t)request->service->settings->connection_memory_bytes;
    const size_t taken = (header != NULL ? header->header_size : 0) + (size_t)fields * FIELD_BYTES +
                         PE_REPLY_HEADER_BYTES;
    request->location_room = taken < memory ? memory - taken : 0;
    if (taken <= memory)
        return PE_OK;
    return pe_fail(why, PE_MALFORMED_REQUEST, "",
                   "the request's header leaves no room for that of an answer; both together have "
                   "connection_memory_bytes, which is %zu",
                   memory);
}

/* What the header says of the whole request. */
static void read_fields(pe_request *request)
{
    const char *id = request->header[PE_HEADER_X_REQUEST_ID];
    if (id != NULL && pe_request_id_valid(id)) {
        request->id = id;
        request->id_sent = true;
    }
    request->wants_digest = pe_digest_wanted(request->header[PE_HEADER_WANT_REPR_DIGEST]);
    request->has_body = request->header[PE_HEADER_CONTENT_LENGTH] != NULL ||
                        request->header[PE_HEADER_TRANSFER_ENCODING] != NULL;
    request->body_max = (uint64_t)request->service->settings->max_body_bytes;
}

static pe_status check_length(pe_request *request, pe_problem *why)
{
    if (!request->has_body)
        return PE_OK;
    request->keeps_body = pe_route_find(request);
    const pe_status status = pe_flow_admit(request, why);
    return status == PE_OK ? pe_body_check_declared(request, why) : status;
}

/* The header has arrived. A reply that is queued now ends the connection, so only refusals are. */
static enum MHD_Result begin(pe_request *request, const char *method, const char *version)
{
    pe_problem why, no_room;
    request->stage = PE_STAGE_BODY;
    request->takes_interim = strcasecmp(version, "HTTP/1.1") == 0;
    pe_target_read_method(request, method);
    pe_target_split(request);
    pe_status status = pe_framing_read(request, method, version, &why);
    read_fields(request);
    if (check_room(request, &no_room) != PE_OK) {
        pe_service_count(&request->service->counters.refused);
        return cut(request, &no_room);
    }
    if (status == PE_OK)
        status = check_length(request, &why);
    if (status == PE_OK)
        return MHD_YES;
    pe_service_count(&request->service->counters.refused);
    pe_flow_fail(request, &why);
    return send_reply(request);
}

/* ---- the body, and the end ---- */

static enum MHD_Result receive(pe_request *request, const char *upload, size_t *upload_bytes)
{
    pe_problem why;
    const size_t bytes = *upload_bytes;
    *upload_bytes = 0;
    if (pe_body_receive(request, upload, bytes, &why) != PE_OK)
        return cut(request, &why);
    return MHD_YES;
}

static enum MHD_Result finish(pe_request *request)
{
    return pe_flow_process(request) == PE_DEFERRED ? MHD_YES : send_reply(request);
}

enum MHD_Result pe_callbacks_access(void *context, struct MHD_Connection *mhd, const char *url,
                                    const char *method, const char *version, const char *upload,
                                    size_t *upload_bytes, void **arriving)
{
    (void)context;
    (void)mhd;
    (void)url;
    pe_request *request = *arriving;
    if (request == NULL)
        return MHD_NO;
    switch (request->stage) {
    case PE_STAGE_NEW:
        return begin(request, method, version);
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

/* ---- after the response ---- */

void pe_callbacks_completed(void *context, struct MHD_Connection *mhd, void **completed,
                            enum MHD_RequestTerminationCode code)
{
    (void)context;
    (void)mhd;
    pe_request *request = *completed;
    if (request == NULL)
        return;
    pe_access_log_end(request, code);
    enter(request, PE_PHASE_IDLE);
    clear(request);
    *completed = NULL;
}
