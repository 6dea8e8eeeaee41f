/* SPDX-License-Identifier: MIT */
/* tensors_file.h - a safetensors file of a few tensors. */
#ifndef PE_TESTS_SUPPORT_TENSORS_FILE_H
#define PE_TESTS_SUPPORT_TENSORS_FILE_H

#include <stddef.h>

#include "base/buffer.h"
#include "support/client.h"

typedef struct part {
    const char *name, *dtype, *shape; /* "cos", "F32", "[2,2]" */
    const void *data;
    size_t bytes;
} part;

void parts_safetensors(const part *parts, size_t n, pe_buffer *out);

/** A zip file of files of NumPy, as numpy.savez writes it; dtype and shape are not used. */
void parts_npz(const part *parts, size_t n, pe_buffer *out);

/** POST /v1/verify with a binary body of that media type. */
reply parts_verify(const test_server *server, const char *query, const char *type,
                   const pe_buffer *body);

#endif
