/* SPDX-License-Identifier: MIT */
/* reply.h - decides the reply to a request, and queues it. */
#ifndef PE_HTTP_REPLY_REPLY_H
#define PE_HTTP_REPLY_REPLY_H

#include "http/reply/header_fields.h"

struct pe_cache_entry;

/*
 * Each function of this header decides request->reply. Where memory
 * runs out the reply is empty, and pe_reply_send closes the connection.
 */

/** The problem as application/problem+json. http/flow.c alone calls it: whoever has a problem
 * returns PE_FAILED with it. */
void pe_reply_problem(pe_request *request, const pe_problem *problem);

/** 200 with a document; takes content's bytes. status: whether it could be written; *why holds its
 * problem.   Errors  that; OVERLOADED: the buffer has failed. */
pe_outcome pe_reply_content(pe_request *request, pe_status status, pe_buffer *content,
                            const pe_field *fields, pe_problem *why);

/** application/json with this Cache-Control; else as pe_reply_content. */
pe_outcome pe_reply_json(pe_request *request, pe_status status, pe_buffer *content,
                         const char *cache_control, pe_problem *why);

/** A response of bytes that an entry of a cache holds, whose reference is taken (NULL: they are
 * constant); and the reply with it. */
struct MHD_Response *pe_response_held(const void *data, size_t bytes, struct pe_cache_entry *entry);
pe_outcome pe_reply_held(pe_request *request, const void *data, size_t bytes,
                         struct pe_cache_entry *entry, const pe_field *fields);

/** No content: 204, 304. */
pe_outcome pe_reply_empty(pe_request *request, unsigned http_status, const pe_field *fields);

/** The last step of every reply with a response of its own: fields that all replies have.
 * response: taken; NULL: no memory. */
pe_outcome pe_reply_decide(pe_request *request, unsigned http_status,
                           struct MHD_Response *response);

/** Queue the reply. The only caller of MHD_queue_response. */
enum MHD_Result pe_reply_send(pe_request *request);

/** Let go of the reply: it has been sent, or never will be. */
void pe_reply_drop(pe_request *request);

/** A rendered representation with its response, as the response cache has. Immutable, but for the
 * digest. */
typedef struct pe_stored_response {
    char *data; /* freed by `shared`, whose content it is; NULL: coding it was not worth it */
    size_t bytes;
    pe_metadata metadata;
    struct MHD_Response *shared; /* says "hit" and carries nothing that differs by request */
    /** Repr-Digest; owned. Made when first wanted: NULL until then, published once. */
    _Atomic(char *) digest;
} pe_stored_response;

/**
 * Of rendered bytes. Takes data and, on success, the location of *metadata (set to NULL there).
 * Errors  OVERLOADED (memory).
 */
pe_status pe_stored_response_make(const pe_service *service, pe_buffer *data, pe_metadata *metadata,
                                  pe_stored_response **out, pe_problem *why) PE_MUST_CHECK;
void pe_stored_response_free(void *stored);

/** What a response of so many bytes holds, with the library's part and a digest: what a cache
 * reckons with. */
size_t pe_stored_response_weight(size_t bytes, const pe_metadata *metadata);

/** Where the content of a stream comes from. HEAD does not read. */
typedef struct pe_body_source {
    uint64_t bytes; /* of the part that is sent; UINT64_MAX: not known */
    size_t block;   /* most that is read at once; what a read leaves of it takes no memory */
    MHD_ContentReaderCallback read;
    void (*free)(void *context); /* called in the end, or when there is no reply */
    void *context;
} pe_body_source;

/* Of the next three, request->range decides what is sent. */

/** 200 or 206 with a stored response. Takes the reference of the entry, whose value is a
 * pe_stored_response. timing: Server-Timing of a miss, or NULL for a hit. */
pe_outcome pe_reply_stored(pe_request *request, struct pe_cache_entry *entry, const char *timing);

/** 200 or 206 with rendered bytes (or the part of them) that are not stored; takes data. */
pe_outcome pe_reply_rendered(pe_request *request, pe_buffer *data, const pe_metadata *metadata,
                             const char *timing);

/** 200 or 206 with content that is made while the client takes it.   Errors  OVERLOADED
 * (memory). */
pe_outcome pe_reply_stream(pe_request *request, const pe_body_source *source,
                           const pe_metadata *metadata, pe_problem *why);

/** 304 for a representation. */
pe_outcome pe_reply_not_modified(pe_request *request, const pe_metadata *metadata);

#endif
