/* SPDX-License-Identifier: MIT */
/* safetensors.h - what stands before the numbers of a safetensors file. */
#ifndef PE_FORMATS_SAFETENSORS_H
#define PE_FORMATS_SAFETENSORS_H

#include "base/array.h"
#include "base/buffer.h"

/** Add the member of a tensor, whose numbers begin so many bytes behind the head, to its JSON. */
void pe_safetensors_head_row(pe_buffer *rows, const char *name, pe_dtype dtype,
                             const pe_shape *shape, size_t begin, size_t bytes);

/**
 * Eight bytes that tell the length of the JSON, and that, padded with spaces to eight bytes.
 *
 * Source  huggingface/safetensors: README.md ("Format").
 */
void pe_safetensors_head_put(pe_slice json, pe_buffer *out);

#endif
