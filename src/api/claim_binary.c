/* SPDX-License-Identifier: MIT */
/* claim_binary.c - a claim from a binary body and a query. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/claim.h"
#include "api/value_reading.h"
#include "text/scan.h"

/* Parameters that are not the resource's. */
enum { ENCODING, TOLERANCE, SEQ_AXIS, OWN };
static const char *const own_names[OWN] = {
    [ENCODING] = "encoding", [TOLERANCE] = "tolerance", [SEQ_AXIS] = "seq_axis"};

typedef struct claim_string {
    char own[OWN][64];
    bool seen[OWN];
    bool has_positions, has_head_dim, has_dtype;
    pe_buffer rest; /* of the resource, '&' after each */
} claim_string;

static bool is(const char *text, size_t bytes, const char *name)
{
    return strlen(name) == bytes && memcmp(text, name, bytes) == 0;
}

/* Names of encodings have nothing that needs it but the slash. False: there is no room. */
static bool copy_value(const char *text, size_t bytes, char *out, size_t room)
{
    size_t n = 0;
    for (size_t i = 0; i < bytes; i++) {
        if (n + 1 == room)
            return false;
        const bool slash =
            bytes - i >= 3 && (memcmp(text + i, "%2F", 3) == 0 || memcmp(text + i, "%2f", 3) == 0);
        out[n++] = slash ? '/' : text[i];
        i += slash ? 2 : 0;
    }
    out[n] = '\0';
    return true;
}

static pe_status take_pair(claim_string *q, const char *text, size_t bytes, pe_problem *why)
{
    const char *equals = memchr(text, '=', bytes);
    const size_t name = equals != NULL ? (size_t)(equals - text) : bytes;
    for (size_t o = 0; o < OWN; o++) {
        if (!is(text, name, own_names[o]))
            continue;
        if (q->seen[o])
            return pe_query_fail_repeated(own_names[o], own_names[o], why);
        q->seen[o] = true;
        if (equals != NULL &&
            !copy_value(equals + 1, bytes - name - 1, q->own[o], sizeof q->own[o]))
            return pe_fail(why, PE_MALFORMED_REQUEST, own_names[o],
                           "%s must have at most %zu characters", own_names[o],
                           sizeof q->own[o] - 1);
        return PE_OK;
    }
    q->has_positions |= is(text, name, "positions");
    q->has_head_dim |= is(text, name, "head_dim") || is(text, name, "model");
    q->has_dtype |= is(text, name, "dtype");
    pe_buffer_add(&q->rest, text, bytes);
    pe_buffer_str(&q->rest, "&");
    return PE_OK;
}

static pe_status split(claim_string *q, const char *text, size_t bytes, pe_problem *why)
{
    pe_status status = PE_OK;
    for (size_t at = 0; at < bytes && status == PE_OK;) {
        const char *end = memchr(text + at, '&', bytes - at);
        const size_t n = end != NULL ? (size_t)(end - text) - at : bytes - at;
        status = take_pair(q, text + at, n, why);
        at += n + 1;
    }
    return status;
}

static pe_status own_number(const claim_string *q, size_t which, double low, double *out,
                            pe_problem *why)
{
    size_t used = 0;
    const char *text = q->own[which], *name = own_names[which];
    if (!q->seen[which])
        return PE_OK;
    if (pe_scan_number(text, strlen(text), out, &used) != PE_SCAN_OK || used != strlen(text))
        return pe_fail(why, PE_MALFORMED_REQUEST, name, "%s must be a number, got \"%.40s\"", name,
                       text);
    if (*out < low)
        return pe_fail(why, PE_INVALID_PARAMETER, name, "%s must be at least %g, got %.17g", name,
                       low, *out);
    return PE_OK;
}

/* ---- tensors ---- */

static const pe_stored *find(const pe_stored *tensors, size_t n, const char *name)
{
    for (size_t t = 0; t < n; t++)
        if (strcmp(tensors[t].name, name) == 0)
            return &tensors[t];
    return NULL;
}

/* That of the numbers: indices beside them are integers whatever the others are. */
static pe_dtype dtype_of(const pe_stored *tensors, size_t n)
{
    for (size_t t = 0; t < n; t++)
        if (tensors[t].dtype != PE_INT32)
            return tensors[t].dtype;
    return PE_INT32;
}

static pe_status take_tensor(pe_claim *claim, const pe_stored *from, bool alone, pe_dtype dtype,
                             pe_problem *why)
{
    const bool inputs = strcmp(from->name, "inputs") == 0;
    if (!inputs && claim->n_uploads == PE_UPLOADS_MAX)
        return pe_fail(why, PE_INVALID_PARAMETER, "table", "the body has more than %d tensors",
                       PE_UPLOADS_MAX);
    if (dtype == PE_INT32 && from->dtype != PE_INT32)
        return pe_fail(why, PE_INVALID_PARAMETER, "dtype",
                       "dtype is int32, so the body's numbers must be, too, got %s",
                       pe_dtype_name(from->dtype));
    pe_upload *upload = &claim->uploads[claim->n_uploads];
    pe_array *array = inputs ? &claim->inputs : &upload->array;
    const pe_status status = pe_stored_array(from, dtype, array, why);
    if (status != PE_OK || inputs)
        return status;
    /* the lone tensor of a table goes by these, too */
    const bool nameless =
        alone && (strcmp(from->name, "data") == 0 || strcmp(from->name, "table") == 0 ||
                  strcmp(from->name, "bias") == 0 || strcmp(from->name, "slopes") == 0);
    snprintf(upload->name, sizeof upload->name, "%.63s", nameless ? "" : from->name);
    claim->n_uploads++;
    return PE_OK;
}

/* Vectors come as inputs and rotated, and tell what the query may leave out. */
static pe_status check_vectors(claim_string *q, const pe_claim *claim, const pe_stored *tensors,
                               size_t n, pe_problem *why)
{
    const pe_stored *inputs = find(tensors, n, "inputs"), *rotated = find(tensors, n, "rotated");
    if (inputs == NULL && rotated == NULL)
        return q->seen[SEQ_AXIS] ? pe_fail(why, PE_INVALID_PARAMETER, "seq_axis",
                                           "seq_axis is an axis of inputs, which are not given")
                                 : PE_OK;
    if (inputs == NULL || rotated == NULL || n != 2)
        return pe_fail(why, PE_MISSING_PARAMETER, inputs == NULL ? "inputs" : "rotated",
                       "rotated vectors come as two tensors, inputs and rotated");
    const pe_shape *shape = &inputs->shape;
    const int64_t axis =
        claim->seq_axis < 0 ? claim->seq_axis + (int64_t)shape->ndim : claim->seq_axis;
    if (inputs->elements == 0 || shape->ndim < 2 || axis < 0 || axis + 1 >= (int64_t)shape->ndim)
        return pe_fail(why, PE_INVALID_PARAMETER, "inputs",
                       "inputs must have channels along the last axis and tokens along another");
    if (!q->has_head_dim)
        pe_buffer_format(&q->rest, "head_dim=%zu&", shape->dim[shape->ndim - 1]);
    if (!q->has_positions)
        pe_buffer_format(&q->rest, "positions=0:%zu&", shape->dim[axis]);
    return PE_OK;
}

static pe_status read_values(claim_string *q, pe_claim *claim, pe_dtype *dtype, pe_problem *why,
                             const pe_read_limits *limits)
{
    pe_query query;
    if (!q->has_dtype && *dtype != PE_INT32)
        pe_buffer_format(&q->rest, "dtype=%s&", pe_dtype_name(*dtype));
    if (q->rest.failed)
        return pe_fail_memory(why);
    const size_t bytes = q->rest.bytes > 0 ? q->rest.bytes - 1 : 0; /* without the last '&' */
    const pe_status status = pe_query_string_parse(claim->resource, pe_buffer_text(&q->rest), bytes,
                                                   limits, &query, why);
    if (status != PE_OK)
        return status;
    *dtype = pe_query_dtype(&query);
    return pe_claim_take_query(claim, &query, why);
}

static pe_status read_all(claim_string *q, const pe_binary_body *body, const pe_read_limits *limits,
                          pe_claim *claim, pe_problem *why)
{
    pe_stored tensors[PE_BINARY_BODY_TENSORS_MAX];
    size_t n = 0;
    double axis = -2;
    pe_status status = own_number(q, TOLERANCE, 0, &claim->tolerance, why);
    if (status == PE_OK)
        status = own_number(q, SEQ_AXIS, -PE_MAX_DIMS, &axis, why);
    if (status == PE_OK && (axis != floor(axis) || axis >= PE_MAX_DIMS))
        status = pe_fail(why, PE_INVALID_PARAMETER, "seq_axis",
                         "seq_axis must be an integer from -8 to 7, got %.17g", axis);
    if (status == PE_OK)
        status = pe_binary_body_read(body, limits, tensors, &n, why);
    if (status != PE_OK)
        return status;
    claim->seq_axis = (int64_t)axis;
    pe_dtype dtype = dtype_of(tensors, n);
    status = pe_claim_resource(q->own[ENCODING], find(tensors, n, "slopes") != NULL,
                               &claim->resource, why);
    if (status == PE_OK)
        status = check_vectors(q, claim, tensors, n, why);
    if (status == PE_OK)
        status = read_values(q, claim, &dtype, why, limits);
    for (size_t t = 0; t < n && status == PE_OK; t++)
        status = take_tensor(claim, &tensors[t], n == 1, dtype, why);
    return status;
}

pe_status pe_claim_binary_parse(const char *text, size_t bytes, const pe_binary_body *body,
                                const pe_read_limits *limits, pe_claim *out, pe_problem *why)
{
    pe_claim claim = {.tolerance = -1, .seq_axis = -2};
    claim_string q = {0};
    pe_status status = split(&q, text, bytes, why);
    if (status == PE_OK)
        status = read_all(&q, body, limits, &claim, why);
    pe_buffer_free(&q.rest);
    if (status == PE_OK)
        *out = claim;
    else
        pe_verify_claim_free(&claim);
    return status;
}
