/* SPDX-License-Identifier: MIT */
/* binary_body.h - tensors in a binary body: NumPy's format, safetensors, or plain numbers. */
#ifndef PE_API_BINARY_BODY_H
#define PE_API_BINARY_BODY_H

#include "base/slice.h"
#include "files/stored.h"

/** A request with tensors in its body and parameters in its query string. */
typedef struct pe_binary_body {
    pe_slice string;           /* the query string */
    const char *media_type;    /* application/x-npy, application/octet-stream or
                                  application/vnd.safetensors, without parameters */
    const char *shape, *dtype; /* X-Tensor-Shape, X-Tensor-Dtype; NULL when absent */
    void *data;                /* the answer may be made in its place */
    size_t bytes;
} pe_binary_body;

/** More than any resource takes. */
#define PE_BINARY_BODY_TENSORS_MAX 16

typedef struct pe_binary_tensors {
    pe_stored tensor[PE_BINARY_BODY_TENSORS_MAX];
    size_t n;
} pe_binary_tensors;

/**
 * The tensors of a body, which they borrow from; at least one.
 * Errors  MALFORMED_REQUEST (truncated, trailing bytes, sizes that disagree, X-Tensor-* missing or
 *         unreadable), INVALID_PARAMETER (an element type that is not read),
 *         UNSUPPORTED_MEDIA_TYPE, TOO_MANY_ELEMENTS.
 */
pe_status pe_binary_body_read(const pe_binary_body *body, size_t max_elements,
                              pe_binary_tensors *out, pe_problem *why) PE_MUST_CHECK;

#endif
