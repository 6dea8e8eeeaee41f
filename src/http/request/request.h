/* SPDX-License-Identifier: MIT */
/* request.h - one request: what has arrived, how far it is, and the reply that was decided. */
#ifndef PE_HTTP_REQUEST_REQUEST_H
#define PE_HTTP_REQUEST_REQUEST_H

#include <microhttpd.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/slice.h"
#include "base/status.h"
#include "base/yield.h"
#include "http/connection/watchdog.h"
#include "http/request/service.h"
#include "http/request/wanted.h"
#include "http/workers/pool.h"
#include "plan/price.h"

/** 32 hexadecimal digits and a NUL. */
#define PE_REQUEST_ID_BYTES 33

/** Does the client's X-Request-Id match [A-Za-z0-9._-]{1,128}? */
bool pe_request_id_valid(const char *id);

/** A new id, unlike any other that this program makes on any node.   Threads  any. */
void pe_request_id_make(char out[PE_REQUEST_ID_BYTES]);

/** Methods as bits, so that a route lists those it answers. PE_METHOD_OTHER is on no list. */
typedef enum pe_method {
    PE_METHOD_OTHER = 0,
    PE_METHOD_GET = 1,
    PE_METHOD_HEAD = 2,
    PE_METHOD_POST = 4,
    PE_METHOD_OPTIONS = 8
} pe_method;

/** The known ones; name NULL past the last. */
extern const struct pe_method_name {
    pe_method method;
    const char *name;
} pe_method_names[];

/* X(enumerator, field name, at most once). Fields that are lists may repeat (RFC 9110, 5.3) and are
 * joined by commas. Of others two readers could take another, so that a second one is refused; a
 * second Range, If-Range or X-Request-Id makes the first one invalid, and those are ignored. */
#define PE_HEADER_MAP(X)                                                                           \
    X(AUTHORIZATION, "Authorization", true)                                                        \
    X(HOST, "Host", true)                                                                          \
    X(CONTENT_LENGTH, "Content-Length", true)                                                      \
    X(TRANSFER_ENCODING, "Transfer-Encoding", true)                                                \
    X(CONTENT_TYPE, "Content-Type", true)                                                          \
    X(CONTENT_ENCODING, "Content-Encoding", false)                                                 \
    X(ACCEPT, "Accept", false)                                                                     \
    X(ACCEPT_ENCODING, "Accept-Encoding", false)                                                   \
    X(IF_NONE_MATCH, "If-None-Match", false)                                                       \
    X(IF_RANGE, "If-Range", false)                                                                 \
    X(RANGE, "Range", false)                                                                       \
    X(WANT_REPR_DIGEST, "Want-Repr-Digest", false)                                                 \
    X(X_REQUEST_ID, "X-Request-Id", false)                                                         \
    X(X_TENSOR_SHAPE, "X-Tensor-Shape", true)                                                      \
    X(X_TENSOR_DTYPE, "X-Tensor-Dtype", true)                                                      \
    X(REQUESTED_HEADERS, "Access-Control-Request-Headers", false)

typedef enum pe_header {
#define PE_HEADER_ENUM(name, text, once) PE_HEADER_##name,
    PE_HEADER_MAP(PE_HEADER_ENUM)
#undef PE_HEADER_ENUM
        PE_HEADERS
} pe_header;

/** No path of ours is longer; what is longer is cut and found nowhere. */
#define PE_PATH_MAX 256

struct pe_cache_entry;
struct pe_route;
struct pe_representation;

/**
 * The reply that was decided; pe_reply_send queues it. The response of a stored representation
 * belongs to the entry, which the request holds until the response has been sent.
 */
typedef struct pe_reply {
    unsigned http_status;
    struct MHD_Response *response; /* a reference of the request's, or the entry's */
    struct pe_cache_entry *entry;  /* of a stored response: a reference of the request's */
} pe_reply;

/**
 * NEW -> BODY -> [WORKING ->] ANSWERED. WORKING: the connection is suspended and a worker has the
 * request; it decides the reply and resumes. Otherwise the connection's I/O thread has it.
 */
typedef enum pe_stage { PE_STAGE_NEW, PE_STAGE_BODY, PE_STAGE_WORKING, PE_STAGE_ANSWERED } pe_stage;

/** How far a step has brought a request: one of these, or the status of its problem, of which
 * http/daemon.c makes the reply. */
typedef pe_status pe_outcome;
#define PE_CONTINUE PE_OK                         /* the next step goes on */
#define PE_REPLIED  ((pe_outcome)PE_STATUSES)     /* the reply is decided */
#define PE_DEFERRED ((pe_outcome)PE_STATUSES + 1) /* a worker goes on with request->next */

struct pe_request;

/** A step of the work on a request. It fills *why where it fails, and only there. */
typedef pe_outcome pe_step(struct pe_request *request, pe_problem *why);

/** Lives inside its connection; zeroed between requests, except for what `target` has allocated. */
typedef struct pe_request {
    pe_service *service;
    struct MHD_Connection *connection;
    pe_watch *watch;                     /* of the connection */
    const struct pe_proxy_header *proxy; /* what a proxy announced of it */
    pe_stage stage;
    pe_method method;
    char method_text[16];

    char *target; /* as sent; owned, NUL-terminated */
    size_t target_bytes, target_capacity;
    char path[PE_PATH_MAX]; /* unreserved characters decoded, without the query */
    pe_slice query;         /* in target, so NUL-terminated; "" when there is none */

    const char *header[PE_HEADERS]; /* NULL when absent */
    char *joined[PE_HEADERS];       /* owned: fields that came several times */

    size_t location_room;        /* for Content-Location, in the connection's memory */
    bool takes_interim;          /* HTTP/1.1: an interim response may come before the response */
    bool wants_digest;           /* Repr-Digest */
    pe_accepted_codings codings; /* by Accept-Encoding; once the resource's step has read them */
    pe_range range;              /* what is sent; WHOLE unless the length is known */

    bool has_body, keeps_body; /* keeps_body: the route reads it; else it is drained */
    uint64_t body_max;         /* the largest body that the route takes */
    uint64_t body_arrived;
    size_t body_reserved;   /* of service->body_bytes */
    pe_status body_refused; /* why it was dropped; PE_OK when it was not */
    pe_buffer body;
    size_t part_bytes; /* of a part of it; 0: it is held whole */
    size_t part_at;    /* bytes of it with which the next part is taken; 0: never */
    void *parts;       /* owned by the route: what it makes of them; or NULL */
    void (*parts_free)(void *parts);
    int64_t parts_took; /* nanoseconds */
    bool csv_doubtful,
        csv_bare;   /* of an upload: as pe_csv_body_is_doubtful; its first line is of numbers */
    bool json_body; /* parameters come from a JSON body: problems point into it */

    const char *id; /* X-Request-Id of the reply */
    char id_made[PE_REQUEST_ID_BYTES];

    const struct pe_route *route;
    unsigned route_number; /* 0: none; see pe_route_template */
    const struct pe_resource *resource;
    pe_slice path_name; /* in path: what stands at {name} of the resource's */
    size_t step;        /* of the resource's story, http/answer/answer.c */
    struct pe_representation *representation;
    /** Of what is asked for: estimated once the parameters have been read, `computing` and `coding`
     * set once it is planned. Zeros for what is stored or not computed. */
    pe_price price;
    pe_meter meter;    /* what workers have taken for it */
    int64_t looked_at; /* whether there is a client, when it was seen last */

    bool guarded; /* whose request it is must be found out before it is served */
    struct {
        struct pe_client *address; /* whose shares it uses; NULL: not known yet */
        bool held;                 /* it is the request's own, not the connection's */
        struct pe_client *keyed;   /* of the key; NULL: there is none */
        struct pe_keys *keys;      /* a reference; they hold the key */
        const struct pe_key *key;
        uint64_t charged, spent; /* units of work */
        uint64_t unspent;        /* of them, by a stream that has not been read to its end */
        bool limited;            /* held to the limits that there are: the answer tells of them */
    } client;

    uint64_t edition; /* of the service, when the request began */
    struct {
        pe_step *step; /* with which a worker goes on */
        pe_job_kind kind;
        int64_t since;
        pe_job job;
    } next;
    pe_reply reply;
    int64_t started;
    /* For the access log and the metrics. */
    uint64_t reply_bytes;         /* UINT64_MAX: not known when it began */
    uint64_t bytes_streamed;      /* handed to the library by a stream, where that is so */
    uint64_t sent_before;         /* on the connection, when the reply began */
    bool cache_hit, cache_missed; /* neither: the response cache was not asked */
} pe_request;

/** Copy the target as it came; the library's own is overwritten soon. False: no memory. */
bool pe_target_keep(pe_request *request, const char *target);

/**
 * Set path and query from the target. The path's unreserved characters are decoded (RFC 3986,
 * 6.2.2.2), others are left, so that %2F is not a slash and %00 is nothing; the query is left as it
 * is. An absolute target loses its scheme and authority (RFC 9112, 3.2.2).
 */
void pe_target_split(pe_request *request);

/** Set the method; those we do not know are PE_METHOD_OTHER. Methods are case-sensitive. */
void pe_target_read_method(pe_request *request, const char *method);

/** Fill request->header from the library's header, which connection/framing.h has found sound.
 *  Errors  MALFORMED_REQUEST: twice what may come once; INTERNAL: no memory. */
pe_status pe_fields_read(pe_request *request, pe_problem *why) PE_MUST_CHECK;

/** What it costs as far as is known: a large body is read before its price is. */
uint64_t pe_request_price(const pe_request *request);

/** The id to reply with; made when the client sent none. */
const char *pe_request_id(pe_request *request);

/**
 * Leave the request to a worker, which goes on with `step`. The caller returns the outcome at once.
 * http/daemon.c hands the request over.
 */
pe_outcome pe_request_defer(pe_request *request, pe_job_kind kind, pe_step *step);

/** Does a worker have the request, and is this its turn for such a job? A heavy turn is enough for
 * light work. */
bool pe_request_has_turn(const pe_request *request, pe_job_kind kind);

#endif
