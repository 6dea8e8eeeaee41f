/* SPDX-License-Identifier: MIT */
/* parameters.h - where a request's parameters are: in its query, its body, or both. */
#ifndef PE_HTTP_REQUEST_PARAMETERS_H
#define PE_HTTP_REQUEST_PARAMETERS_H

#include "api/binary_body.h"
#include "http/request/request.h"

/** Where the parameters of a request for numbers are. */
typedef struct pe_request_parameters {
    const pe_resource *resource;
    pe_slice name;         /* of the path; no bytes where the resource has none */
    pe_buffer *body;       /* NULL: the query alone. Whoever reads it takes it. */
    bool json;             /* of the body */
    pe_binary_body binary; /* its string is the query; the rest is what the body is */
} pe_request_parameters;

/**
 * What a body may be. Where Content-Type is absent, text/plain, or that of a form, as curl sends it,
 * the content tells: JSON, .npy, .npz, safetensors, GGUF; fields of a form are read as a query where
 * a body is JSON alone.
 */
typedef enum pe_body_types {
    PE_BODY_JSON,
    PE_BODY_MODEL,   /* JSON, or a GGUF file */
    PE_BODY_TENSORS, /* JSON, or a tensor in one of the binary types */
    PE_BODY_UPLOAD,  /* the same, or CSV, or a form */
} pe_body_types;

/** The body becomes one JSON document or GGUF file: that of a form's only file.
 * Errors  UNSUPPORTED_MEDIA_TYPE; MALFORMED_REQUEST: a form without it. */
pe_status pe_parameters_configuration(pe_request *request, pe_problem *why) PE_MUST_CHECK;

/**
 * Those of a request, whose json_body is set. A form is none that is read here.
 * Errors  UNSUPPORTED_MEDIA_TYPE; MALFORMED_REQUEST: a JSON body and a query.
 */
pe_status pe_parameters_find(pe_request *request, pe_body_types types, pe_request_parameters *out,
                             pe_problem *why) PE_MUST_CHECK;

#endif
