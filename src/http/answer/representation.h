/* SPDX-License-Identifier: MIT */
/* representation.h - a resource as one request wants it: parameters read, planned, identified. */
#ifndef PE_HTTP_ANSWER_REPRESENTATION_H
#define PE_HTTP_ANSWER_REPRESENTATION_H

#include "formats/format.h"
#include "formats/stream.h"
#include "http/reply/coding.h"
#include "http/reply/header_fields.h"
#include "http/request/parameters.h"
#include "plan/plan.h"

/**
 * What a request for numbers is answered with. MADE: the parameters are read. PLANNED: shape,
 * format, tag and length are known, and nothing can fail any more but memory; from then on
 * immutable, except for the stream and the times.
 */
typedef struct pe_representation {
    pe_service *service;
    const pe_resource *resource;
    pe_query query;
    pe_plan plan;
    pe_rendering rendering;
    pe_stream *stream;     /* of the bytes, from the first on; NULL: used, made again when needed */
    bool planned;          /* the plan was made, whatever is refused then */
    uint64_t work;         /* what they cost, in units (plan/price.h) */
    bool in_pieces;        /* coded as a stream of pieces (reply/coding.h), not as a whole */
    uint64_t length_max;   /* of the bytes */
    uint64_t length_usual; /* about as many as there will be */
    uint64_t length;       /* UINT64_MAX when it is not known beforehand */
    pe_buffer body;        /* binary bodies: tensors may borrow from it */
    pe_buffer parameters;  /* canonical, as JSON; the rendering borrows it */
    pe_metadata metadata;  /* its tag is a hash of all that the bytes depend on */
    double compute, encode; /* seconds, once rendered */
} pe_representation;

/** Read the parameters: little work when the body is small. *out is the caller's to free, also
 * where they cannot be read.   Errors  as pe_query_*_parse. */
pe_status pe_representation_make(pe_service *service, const pe_request_parameters *parameters,
                                 pe_representation **out, pe_problem *why) PE_MUST_CHECK;

/**
 * Plan it, and choose the format; may take long. accept: NULL when absent. A representation that
 * fails here is only to be freed.
 * Errors  of the resource's plan; NOT_ACCEPTABLE.
 */
pe_status pe_representation_plan(pe_representation *representation, const char *accept,
                                 pe_problem *why) PE_MUST_CHECK;

/** Accepts NULL. */
void pe_representation_free(pe_representation *representation);

/** Where much work begins, about a millisecond. */
#define PE_HEAVY_WORK ((uint64_t)65536)

/** Work that may be done in one go, in elements of a plain table: some tenths of a second. What
 * costs more is made in blocks while it is sent, so that it ends when its reader leaves or the
 * server stops. */
#define PE_WHOLE_WORK ((uint64_t)1 << 24)

/** What is not stored is rendered whole up to this size, so that its length is known. Coded bytes
 * are those of the whole up to this size, and of a stream beyond it, stored or not: two servers
 * give the same, whatever their settings and whatever memory they have left. */
#define PE_WHOLE_BYTES 1048576

/** The tag, the coding, its library and version, NUL. */
#define PE_REPRESENTATION_KEY_BYTES 96

/** What the bytes in this coding depend on, and their location. Returns its length; 0 for transforms,
 * which have none. */
size_t pe_representation_key(const pe_representation *representation, pe_coding coding,
                             char out[PE_REPRESENTATION_KEY_BYTES]);

/** *metadata, of the representation or a copy, is from now on that of the coded one. */
void pe_representation_set_coding(const pe_representation *representation, pe_coding coding,
                                  pe_metadata *metadata);

/** Render it, or the part that the range says (NULL: the whole), into memory, in that coding where
 * it is worth it: then *metadata, which the caller has filled, is that of the coded one. Uses its
 * stream. *out is the caller's to free. */
pe_status pe_representation_render(pe_representation *representation, const pe_range *range,
                                   pe_coding coding, pe_buffer *out, pe_metadata *metadata,
                                   pe_problem *why) PE_MUST_CHECK;

/** Place its stream, made again if it was used, at the first byte that the range asks for, to end
 * after the last. */
pe_status pe_representation_seek(pe_representation *representation, const pe_range *range,
                                 pe_problem *why) PE_MUST_CHECK;

#endif
