/* SPDX-License-Identifier: MIT */
/* body.h - the tensors in a binary body. */
#ifndef PE_API_BODY_H
#define PE_API_BODY_H

#include "api/ask.h"

/** A tensor as the body holds it. Checked: bytes are all there, elements fit the limit. */
typedef struct pe_body_tensor {
    char name[64]; /* "" where the format names none */
    pe_dtype dtype;
    pe_shape shape;
    size_t elements;
    const unsigned char *data; /* in the body, any alignment */
    bool fortran;              /* the first axis is the one that runs fastest */
} pe_body_tensor;

#define PE_BODY_TENSORS_MAX 16

/**
 * Read the headers of the body into tensors[PE_BODY_TENSORS_MAX].
 *
 * Errors  MALFORMED_REQUEST, INVALID_PARAMETER, TOO_MANY_ELEMENTS.   Threads  any.
 */
pe_status pe_body_npy(const pe_binary_body *body, size_t max_elements, pe_body_tensor *tensors,
                      size_t *n, pe_problem *why) PE_MUST_CHECK;
pe_status pe_body_raw(const pe_binary_body *body, size_t max_elements, pe_body_tensor *tensors,
                      size_t *n, pe_problem *why) PE_MUST_CHECK;
pe_status pe_body_safetensors(const pe_binary_body *body, size_t max_elements,
                              pe_body_tensor *tensors, size_t *n, pe_problem *why) PE_MUST_CHECK;

/** Set tensor->elements from its shape and hold them against the bytes there are. `what` names the
 * place that told the shape. */
pe_status pe_body_check_size(pe_body_tensor *tensor, const char *what, size_t bytes,
                             size_t max_elements, pe_problem *why) PE_MUST_CHECK;

#endif
