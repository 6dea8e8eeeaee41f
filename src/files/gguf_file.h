/* SPDX-License-Identifier: MIT */
/* gguf_file.h - the metadata at the head of a GGUF file. */
#ifndef PE_FILES_GGUF_FILE_H
#define PE_FILES_GGUF_FILE_H

#include <jansson.h>
#include <stdbool.h>

#include "base/buffer.h"
#include "base/slice.h"
#include "base/status.h"

/** Does the file begin as one of GGUF does? */
bool pe_gguf_file_is(pe_slice file);

/**
 * The metadata of a file, or of its first bytes, as an object: numbers, truths, short texts, and
 * short arrays of numbers and truths. Others (a vocabulary) are left out. Where the bytes end
 * before the metadata, the member "" is the key that they end in, or the last one. Tensors of
 * float32 whose names begin with rope_ (divisors of frequencies) are members, too, where the bytes
 * hold them.
 *
 * Source  ggml-org/ggml: docs/gguf.md, versions 2 and 3, little-endian.
 * Errors  MALFORMED_REQUEST: another version or type, a key twice, text that is no UTF-8; no
 *         general.architecture before the end. OVERLOADED (memory).   Threads  any.
 */
pe_status pe_gguf_file_read(pe_slice file, json_t **out, pe_problem *why) PE_MUST_CHECK;

/**
 * A file of the same metadata and of those tensors alone that are members above.
 * Errors  as above; MALFORMED_REQUEST: the file ends before its last tensor begins.
 */
pe_status pe_gguf_file_excerpt(pe_slice file, pe_buffer *out, pe_problem *why) PE_MUST_CHECK;

#endif
