/* SPDX-License-Identifier: MIT */
/* multipart.h - the parts of a form: a file of tensors, a configuration, parameters. */
#ifndef PE_API_MULTIPART_H
#define PE_API_MULTIPART_H

#include "api/binary_body.h"
#include "base/buffer.h"

/** What the parts of a body are; all borrow from it but the query. */
typedef struct pe_multipart {
    pe_binary_body tensors; /* string: none; with `part`, so it is not to be moved */
    pe_binary_part part[PE_BINARY_BODY_TENSORS_MAX];
    pe_slice config; /* JSON; text NULL: none */
    pe_buffer query; /* owned: name=value& of each part that is a parameter */
} pe_multipart;

/** Is it the media type of a form? */
bool pe_multipart_is(const char *content_type);

/**
 * Sort the parts of a form: "config", or a file *.json, is a configuration; files *.npy, which
 * go by the names of their parts where there are several, or one *.safetensors or *.csv, or those of
 * their media types, hold the tensors; a part without a file name is a parameter.
 *
 * Source  RFC 7578, RFC 2046 section 5.1.1.
 * Errors  MALFORMED_REQUEST: no boundary, no end, a part that is none of these or comes twice;
 *         UNSUPPORTED_MEDIA_TYPE: a pickle.
 */
pe_status pe_multipart_read(const char *content_type, pe_slice body, pe_multipart *out,
                            pe_problem *why) PE_MUST_CHECK;

#endif
