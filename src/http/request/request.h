/* SPDX-License-Identifier: MIT */
/* request.h - one request while it arrives, is worked on and answered. */
#ifndef PE_HTTP_REQUEST_REQUEST_H
#define PE_HTTP_REQUEST_REQUEST_H

#include <microhttpd.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/status.h"
#include "cache/cache.h"
#include "http/reply/ids.h"
#include "http/work/pool.h"
#include "http/request/range.h"
#include "http/request/service.h"

/** Methods as bits, so that a route lists those it answers. PE_METHOD_OTHER is on no list. */
typedef enum pe_method {
    PE_METHOD_OTHER = 0,
    PE_METHOD_GET = 1,
    PE_METHOD_HEAD = 2,
    PE_METHOD_POST = 4,
    PE_METHOD_OPTIONS = 8
} pe_method;

/* X(enumerator, field name). Fields that are lists may repeat and are joined by commas; of the
 * others the first counts. */
#define PE_HEADER_MAP(X)                                                                           \
    X(HOST, "Host")                                                                                \
    X(CONTENT_LENGTH, "Content-Length")                                                            \
    X(TRANSFER_ENCODING, "Transfer-Encoding")                                                      \
    X(CONTENT_TYPE, "Content-Type")                                                                \
    X(CONTENT_ENCODING, "Content-Encoding")                                                        \
    X(ACCEPT, "Accept")                                                                            \
    X(ACCEPT_ENCODING, "Accept-Encoding")                                                          \
    X(IF_NONE_MATCH, "If-None-Match")                                                              \
    X(IF_RANGE, "If-Range")                                                                        \
    X(RANGE, "Range")                                                                              \
    X(WANT_REPR_DIGEST, "Want-Repr-Digest")                                                        \
    X(X_REQUEST_ID, "X-Request-Id")                                                                \
    X(X_TENSOR_SHAPE, "X-Tensor-Shape")                                                            \
    X(X_TENSOR_DTYPE, "X-Tensor-Dtype")

typedef enum pe_header {
#define PE_HEADER_ENUM(name, text) PE_HEADER_##name,
    PE_HEADER_MAP(PE_HEADER_ENUM)
#undef PE_HEADER_ENUM
        PE_HEADERS
} pe_header;

/** No path of ours is longer; what is longer is cut and found nowhere. */
#define PE_PATH_MAX 256

struct pe_route;
struct pe_representation;

/**
 * What the handlers decided: one response, queued by pe_reply_send. `shared` responses belong to
 * the cache entry, which the request holds until it has been sent, so that the cache knows.
 */
typedef struct pe_reply {
    unsigned http_status;
    struct MHD_Response *response; /* a reference of the request's, or the entry's */
    pe_cache_entry *entry;         /* of a shared response: a reference of the request's */
} pe_reply;

/**
 * NEW -> BODY -> [WORKING ->] ANSWERED. WORKING: the connection is suspended and a worker has the
 * request; it fills `reply` and resumes. Otherwise the connection's I/O thread has it.
 */
typedef enum pe_stage { PE_STAGE_NEW, PE_STAGE_BODY, PE_STAGE_WORKING, PE_STAGE_ANSWERED } pe_stage;

/** Lives inside its connection; zeroed between requests, except for what `target` has allocated. */
typedef struct pe_request {
    pe_service *service;
    struct MHD_Connection *connection;
    pe_watch *watch; /* of the connection */
    pe_stage stage;
    pe_method method;
    char method_text[16];

    char *target; /* as sent; owned, NUL-terminated */
    size_t target_bytes, target_capacity;
    const char *target_end; /* where the library's own copy ended, to detect hidden bytes */
    char path[PE_PATH_MAX]; /* unreserved characters decoded, without the query */
    const char *query;      /* in target; "" when there is none */
    size_t query_bytes;
    bool has_query;

    const char *header[PE_HEADERS]; /* NULL when absent */
    unsigned header_count[PE_HEADERS];
    char *joined[PE_HEADERS]; /* owned: fields that came several times */

    size_t header_room;        /* for Content-Location, in the connection's memory */
    bool takes_interim;        /* HTTP/1.1: an interim answer may come before the answer */
    bool has_body, keeps_body; /* keeps_body: the route reads it; else it is drained */
    uint64_t body_arrived;
    size_t body_reserved;   /* of service->body_bytes */
    pe_status body_refused; /* why it was dropped; PE_OK when it was not */
    pe_buffer body;

    bool json_body; /* parameters come from a JSON body: problems point into it */

    const char *id; /* X-Request-Id to answer with */
    bool id_sent;   /* the client sent it */
    char id_made[PE_ID_BYTES];

    const struct pe_route *route;
    const struct pe_resource *resource;
    const char *path_name; /* in path: what stands at {name} of the resource's */
    size_t path_name_bytes;
    struct pe_representation *representation;
    pe_job job;
    bool (*deferred)(struct pe_request *request); /* a pe_work */
    int64_t deferred_at;
    pe_reply reply;
    int64_t started;
    pe_range range;        /* what of the answer is sent; WHOLE unless its length is known */
    bool wants_digest;     /* Repr-Digest */
    uint64_t answer_bytes; /* for the access log; UINT64_MAX: not known when it began */
} pe_request;

/** A connection, as the watchdog knows it. */
typedef struct pe_connection {
    pe_service *service;
    pe_watch watch;
    pe_request request;
} pe_connection;

/* ---- the library's callbacks ---- */

void pe_request_on_connection(void *service, struct MHD_Connection *connection,
                              void **socket_context, enum MHD_ConnectionNotificationCode code);
void *pe_request_on_target(void *service, const char *target, struct MHD_Connection *connection);
enum MHD_Result pe_request_on_access(void *service, struct MHD_Connection *connection,
                                     const char *url, const char *method, const char *version,
                                     const char *upload, size_t *upload_bytes, void **context);
void pe_request_on_completed(void *service, struct MHD_Connection *connection, void **context,
                             enum MHD_RequestTerminationCode code);

/* ---- for handlers ---- */

/** The id to answer with; made when the client sent none. */
const char *pe_request_id(pe_request *request);

/** Work on a request: true when the reply has been decided, false when it has been handed on and
 * is no longer the caller's. */
typedef bool pe_work(pe_request *request);

/**
 * Go on in a worker thread: work(request) there, then the reply is sent. When the queue is full, or
 * the request has waited too long in it, the reply is 503; when the client has left meanwhile, the
 * work is not begun. The caller returns at once: an I/O thread to the library, a worker with
 * false.
 */
void pe_request_defer(pe_request *request, pe_job_kind kind, pe_work *work);

#endif
