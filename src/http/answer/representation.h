/* SPDX-License-Identifier: MIT */
/* representation.h - answers of the representation resources: ask, plan, format, then bytes. */
#ifndef PE_HTTP_ANSWER_REPRESENTATION_H
#define PE_HTTP_ANSWER_REPRESENTATION_H

#include "api/query.h"
#include "formats/format.h"
#include "http/reply/reply.h"

/** Where a representation request's parameters are. NULL header fields are absent. */
typedef struct pe_request_parameters {
    const pe_resource *resource;
    const char *name; /* of the path, name_bytes of it: 0 where the resource has none */
    size_t name_bytes;
    const char *query;
    size_t query_bytes;
    pe_buffer *body;        /* NULL: the query alone. Taken. */
    const char *media_type; /* of the body; NULL: JSON */
    const char *shape, *dtype;
} pe_request_parameters;

/**
 * A representation answer, decided: after this nothing can fail but memory. Immutable except for
 * the times.
 */
typedef struct pe_representation {
    pe_service *service;
    const pe_resource *resource;
    pe_query ask;
    pe_plan plan;
    pe_rendering rendering;
    size_t elements;      /* that will be rendered */
    uint64_t work;        /* what they cost, in elements of a plain table */
    uint64_t length_max;  /* of the answer; these two once measured */
    uint64_t length;      /* UINT64_MAX when it is not known beforehand */
    pe_buffer body;       /* binary bodies: tensors may borrow from it */
    pe_buffer parameters; /* canonical, as JSON; the rendering borrows it */
    pe_buffer key;        /* canonical request and media type: what the bytes depend on */
    pe_metadata metadata;
    double compute, encode; /* seconds, once rendered */
} pe_representation;

/** Read the parameters: little work when the body is small.   Errors  as pe_query_*_parse. */
pe_status pe_representation_make(pe_service *service, const pe_request_parameters *wanted,
                                 pe_representation **out, pe_problem *why) PE_MUST_CHECK;

/**
 * Plan what has been asked for, and choose the format; may take long. accept: NULL when absent. A
 * representation that fails here is only to be freed.
 * Errors  of the resource's plan; NOT_ACCEPTABLE.
 */
pe_status pe_representation_plan(pe_representation *representation, const char *accept,
                                 pe_problem *why) PE_MUST_CHECK;
/** Accepts NULL. */
void pe_representation_free(pe_representation *representation);

#endif
