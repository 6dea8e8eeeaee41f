/* SPDX-License-Identifier: MIT */
/* query.h - what a request asks for, read from a query or a body. */
#ifndef PE_API_QUERY_H
#define PE_API_QUERY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "base/nearest.h" /* pe_nearest_name */
#include "formats/format.h"
#include "plan/plan.h"

/** What reading is bounded by. */
typedef struct pe_read_limits {
    size_t max_elements;  /* of any input or output tensor */
    size_t max_positions; /* entries of positions */
    size_t max_depth;     /* nesting of JSON bodies */
} pe_read_limits;

/**
 * A request apart from HTTP: the resource's values, and the representation wanted as far as
 * parameters say. The representation parameters (format, encoding_format, tensor) are read here for
 * every resource; they are no part of values.
 */
typedef struct pe_query {
    const pe_resource *resource;
    pe_values values;
    const pe_format *format; /* of format=, or NULL: Accept decides */
    bool base64;
    char tensor[32]; /* "" when absent */
    bool from_json;  /* problems point into the body: errors[].pointer instead of parameter */
} pe_query;

/**
 * From a raw (still percent-encoded) query string, without '?'. Decodes strictly: a broken %, %00
 * or invalid UTF-8 is MALFORMED_REQUEST; '+' is a plus sign. Errors  UNKNOWN_PARAMETER (nearest
 * known name), MALFORMED_REQUEST (repeated; does not parse), MISSING_PARAMETER, INVALID_PARAMETER,
 * TOO_MANY_ELEMENTS.
 */
pe_status pe_query_string_parse(const pe_resource *resource, const char *string, size_t bytes,
                                const pe_read_limits *limits, pe_query *out,
                                pe_problem *why) PE_MUST_CHECK;

/** From a JSON object with the same names as members. Numeric arrays go through text/number.h, the
 * rest through jansson. */
pe_status pe_query_json_parse(const pe_resource *resource, const char *body, size_t bytes,
                              const pe_read_limits *limits, pe_query *out,
                              pe_problem *why) PE_MUST_CHECK;

/** Tensors in a binary body, parameters in the query (transforms). */
typedef struct pe_binary_body {
    const char *media_type;    /* application/x-npy, application/octet-stream or
                                  application/vnd.safetensors, without parameters */
    const char *shape, *dtype; /* X-Tensor-Shape, X-Tensor-Dtype; NULL when absent */
    void *data;                /* the answer may be made in its place */
    size_t bytes;
} pe_binary_body;

/**
 * The tensor becomes the resource's first TENSOR row; those of safetensors go to the rows of their
 * names ("data": the first). dtype defaults to the body's. Numbers that need no conversion are
 * borrowed from the body, which must outlive the ask and its plan.
 * Errors  MALFORMED_REQUEST (truncated, trailing bytes, sizes that disagree, X-Tensor-* missing or
 *         unreadable), INVALID_PARAMETER (an element type that is not read, a number that is not
 *         finite or overflows dtype), UNSUPPORTED_MEDIA_TYPE, and those of a query.
 */
pe_status pe_query_binary_parse(const pe_resource *resource, const char *string,
                                size_t string_bytes, const pe_binary_body *body,
                                const pe_read_limits *limits, pe_query *out,
                                pe_problem *why) PE_MUST_CHECK;

/**
 * Set the NAME row of an ask that has been read, from the path.
 * Errors  MALFORMED_REQUEST: the client gave it as a parameter, too; INTERNAL (memory).
 */
pe_status pe_query_set_name(pe_query *query, const char *name, size_t bytes,
                            pe_problem *why) PE_MUST_CHECK;

void pe_query_free(pe_query *query);

/**
 * A plan's problem names a parameter; put the object before it that the client gave it in
 * ("factor" becomes "rope_parameters/factor").
 */
void pe_query_locate(const pe_query *query, pe_problem *why);

/** The resource's path, with the name that stands in it. */
void pe_query_canonical_path(const pe_query *query, pe_buffer *out);

/**
 * Canonical query of the representation too: the values' canonical query, then encoding_format
 * (when it is base64), format (when it is not json) and tensor as far as they matter for `format`,
 * all sorted in one list. What Content-Location says.
 */
void pe_query_canonical_string(const pe_query *query, const pe_format *format, pe_buffer *out);

#endif
