/* SPDX-License-Identifier: MIT */
/* binary_body.h - tensors in a binary body: NumPy's format, safetensors, or plain numbers. */
#ifndef PE_API_BINARY_BODY_H
#define PE_API_BINARY_BODY_H

#include "base/buffer.h"
#include "files/stored.h"

/** More than any resource takes. */
#define PE_BINARY_BODY_TENSORS_MAX 16

/** A file of NumPy in a form. */
typedef struct pe_binary_part {
    char name[64]; /* of the part */
    pe_slice data;
} pe_binary_part;

/** A request with tensors in its body and parameters in its query string. */
typedef struct pe_binary_body {
    pe_slice string;           /* the query string */
    const char *media_type;    /* application/x-npy, application/octet-stream,
                                  application/vnd.safetensors or text/csv, without parameters */
    pe_buffer *unpacked;       /* what CSV and compressed files become; NULL: they are not read */
    bool takes_complex;        /* their parts are along a last axis of 2 */
    const char *shape, *dtype; /* X-Tensor-Shape, X-Tensor-Dtype; NULL when absent */
    pe_slice config;           /* a model's configuration, as JSON; text NULL: none */
    void *data;                /* the answer may be made in its place */
    size_t bytes;
    size_t awaited; /* bytes that are still to come */
    size_t *needed; /* if some are: of how many rows can be read; unchanged: of these, or of all */
    const pe_binary_part *part; /* of a form with several files of NumPy, data being the first */
    size_t n_parts;
} pe_binary_body;

/**
 * The tensors of a body, which they borrow from; at least one. Those of a type that is not read
 * (PE_DTYPES) are in the list where takes_complex is set, as a file of many may hold some.
 * Of a body that is still arriving the first tensor says how much of it is there.
 * Errors  MALFORMED_REQUEST (truncated, trailing bytes, sizes that disagree, X-Tensor-* missing or
 *         unreadable), INVALID_PARAMETER (an element type that is not read),
 *         UNSUPPORTED_MEDIA_TYPE, TOO_MANY_ELEMENTS.
 */
pe_status pe_binary_body_read(const pe_binary_body *body, size_t max_elements, pe_stored_list *out,
                              pe_problem *why) PE_MUST_CHECK;

/** Is it a pickle of Python, as torch.save writes it, in a zip file or alone? And how to convert one. */
bool pe_pickle_is(pe_slice body);
pe_status pe_pickle_fail(pe_problem *why);

#endif
