/* SPDX-License-Identifier: MIT */
/* binary_body.h - tensors in a body: NumPy's format, safetensors, CSV, plain numbers, forms. */
#ifndef PE_API_BINARY_BODY_H
#define PE_API_BINARY_BODY_H

#include "base/buffer.h"
#include "files/stored.h"

/** More than any resource takes. */
#define PE_BINARY_BODY_TENSORS_MAX 16

/** A file of tensors in a form. */
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
    bool csv_bare;             /* CSV has no header, though its first line counts columns */
    bool takes_complex;        /* their parts are along a last axis of 2 */
    const char *shape, *dtype; /* X-Tensor-Shape, X-Tensor-Dtype; NULL when absent */
    pe_slice config;           /* a model's configuration, as JSON; text NULL: none */
    void *data;                /* the answer may be made in its place */
    size_t bytes;
    size_t awaited; /* bytes that are still to come */
    size_t *needed; /* if some are: of how many rows can be read; unchanged: of these, or of all */
    const pe_binary_part *part; /* of a form with several files, data being the first */
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

/** The media type of a body or file as it begins, of those that are read: application/octet-stream is
 * a GGUF file. NULL: none. */
const char *pe_binary_body_type(pe_slice body);

/** Is it a pickle of Python, as torch.save writes it, in a zip file or alone? And how to convert one. */
bool pe_pickle_is(pe_slice body);
pe_status pe_pickle_fail(pe_problem *why);

/** May the text be CSV? It begins with a line of fields. */
bool pe_csv_body_is(pe_slice text);

/**
 * The tensors of CSV as format=csv writes it: a header of names and of columns, counted from 0, or
 * none; lines that begin with a tensor's name where there are several, and with the indices of
 * leading axes. So tables of numpy.savetxt and pandas are read, too. Numbers go to `numbers`, which
 * the tensors borrow from: as int32 where all are, else as float64.
 *
 * Source  RFC 4180; fields may also be parted by blanks, tabs or semicolons.
 * Errors  MALFORMED_REQUEST (a field that is no number, lines of several lengths),
 *         TOO_MANY_ELEMENTS, OVERLOADED (memory).
 */
pe_status pe_csv_body_read(pe_slice text, bool bare, size_t max_elements, pe_buffer *numbers,
                           pe_stored_list *out, pe_problem *why) PE_MUST_CHECK;

/** Is the first line "0" or "0,1", which counts columns, or is of numbers (bare)? */
bool pe_csv_body_is_doubtful(const pe_binary_body *body);

/** What the parts of a body are; all borrow from it but the query. */
typedef struct pe_multipart {
    pe_binary_body tensors; /* string: none; with `part`, so it is not to be moved */
    pe_binary_part part[PE_BINARY_BODY_TENSORS_MAX];
    pe_slice config; /* JSON, or GGUF where there is no other; text NULL: none */
    pe_slice gguf;   /* beside a configuration; text NULL: none */
    pe_buffer query; /* owned: name=value& of each part that is a parameter */
} pe_multipart;

/** Is it the media type of a form? */
bool pe_multipart_is(const char *content_type);

/**
 * Sort the parts of a form: "config", or a file *.json, is a configuration; files *.npy, which
 * go by the names of their parts where there are several, or *.safetensors, or one *.csv, or those of
 * their media types, hold the tensors; other files are what they begin as; a part without a file name
 * is a parameter.
 *
 * Source  RFC 7578, RFC 2046 section 5.1.1.
 * Errors  MALFORMED_REQUEST: no boundary, no end, a part that is none of these or comes twice;
 *         UNSUPPORTED_MEDIA_TYPE: a pickle.
 */
pe_status pe_multipart_read(const char *content_type, pe_slice body, pe_multipart *out,
                            pe_problem *why) PE_MUST_CHECK;

#endif
