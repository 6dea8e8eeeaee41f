/* SPDX-License-Identifier: MIT */
/* reply.h - builds and queues every answer, with the header fields that all have in common. */
#ifndef PE_HTTP_REPLY_REPLY_H
#define PE_HTTP_REPLY_REPLY_H

#include "cache/cache.h"
#include "http/request/request.h"

/** A header field. Lists of them end with {0}; fields whose value is NULL are left out. */
typedef struct pe_field {
    const char *name, *value;
} pe_field;

/** What the header of an answer takes at most, but for Content-Location. */
#define PE_REPLY_HEADER_BYTES 1536

/** "512,512": eight dimensions of twenty digits, seven commas, NUL. */
#define PE_SHAPE_TEXT_BYTES 168

/** What the header tells of a representation representation. */
typedef struct pe_metadata {
    const char *media_type;          /* constant */
    char etag[PE_ETAG_BYTES];        /* "" for transforms: no tag, not to be stored */
    char *location;                  /* canonical URL; owned; NULL when there is none or too long */
    char shape[PE_SHAPE_TEXT_BYTES]; /* X-Tensor-Shape, "" except for raw */
    const char *dtype;               /* X-Tensor-Dtype */
    const char *coding;              /* Content-Encoding; constant, NULL for none */
    bool ranges;                     /* parts of it may be asked for */
    bool lasts;                      /* the same for ever; else it may change with a restart */
} pe_metadata;

/** A rendered representation: the value of a cache entry. Immutable, but for the digest. */
typedef struct pe_stored_response {
    char *data; /* freed by `shared`, whose content it is; NULL: coding it was not worth it */
    size_t bytes;
    pe_metadata metadata;
    struct MHD_Response *shared; /* says "hit" and carries nothing that differs by request */
    /** Repr-Digest; owned. Made when first wanted: NULL until then, published once. */
    _Atomic(char *) digest;
} pe_stored_response;

/**
 * Make the answer of rendered bytes. Takes data and, on success, the location of *metadata (set to
 * NULL there).
 */
pe_status pe_stored_response_make(pe_service *service, char *data, size_t bytes,
                                  pe_metadata *metadata, pe_stored_response **out,
                                  pe_problem *why) PE_MUST_CHECK;
void pe_stored_response_free(void *answer);

/** What an answer of so many bytes holds, the library's part and a digest with it: what a cache
 * reckons with. */
size_t pe_stored_response_weight(size_t bytes, const pe_metadata *metadata);

/* ---- each of these decides request->reply; when memory runs out there is none and
 *      pe_reply_send closes the connection ---- */

/** The problem as application/problem+json. */
void pe_reply_problem(pe_request *request, const pe_problem *problem);

/** A document; takes content's bytes. A failed buffer becomes a problem. */
void pe_reply_content(pe_request *request, unsigned http_status, pe_buffer *content,
                      const pe_field *fields);
/** A document that outlives the server's connections. */
void pe_reply_constant(pe_request *request, const void *data, size_t bytes, const pe_field *fields);
/** No content: 204, 304. */
void pe_reply_empty(pe_request *request, unsigned http_status, const pe_field *fields);

/** Where a stream comes from. HEAD does not read. */
typedef struct pe_body_source {
    uint64_t bytes; /* of the part that is sent; UINT64_MAX: not known */
    size_t block;   /* most that is read at once; what a read leaves of it takes no memory */
    MHD_ContentReaderCallback read;
    void (*free)(void *context); /* called in the end, or when there is no reply */
    void *context;
} pe_body_source;

/* Of the next three, request->range decides what is sent. */

/** A cached answer. Takes the reference. timing: Server-Timing of a miss, or NULL for a hit. */
void pe_reply_entry(pe_request *request, pe_cache_entry *entry, const char *timing);
/** A rendered answer (or the part of it) that is not kept; takes data. */
void pe_reply_rendered(pe_request *request, char *data, size_t bytes, const pe_metadata *metadata,
                       const char *timing);
/** An answer that is pulled as the client takes it. */
void pe_reply_stream(pe_request *request, const pe_body_source *pull, const pe_metadata *metadata,
                     const char *timing);
/** 304 for a representation. */
void pe_reply_not_modified(pe_request *request, const pe_metadata *metadata);

/** Queue the reply. The only caller of MHD_queue_response. */
enum MHD_Result pe_reply_send(pe_request *request);

/** Let go of the reply: it has been sent, or never will be. */
void pe_reply_drop(pe_request *request);

/**
 * Write a problem to the socket past the library, where it cannot answer any more: in the middle
 * of a body, or of a header. id: the request's, or NULL where that is not known. The connection is
 * to be closed.   Threads  any; does not wait.
 */
void pe_raw_reply(pe_service *service, int socket, const pe_problem *problem, const char *instance,
                  const char *id);

#endif
