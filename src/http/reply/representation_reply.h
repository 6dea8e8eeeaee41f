/* SPDX-License-Identifier: MIT */
/* representation_reply.h - replies whose content is numbers: stored, rendered, streamed, or 304. */
#ifndef PE_HTTP_REPLY_REPRESENTATION_REPLY_H
#define PE_HTTP_REPLY_REPRESENTATION_REPLY_H

#include "http/reply/header_fields.h"

struct pe_cache_entry;

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
