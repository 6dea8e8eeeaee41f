/* SPDX-License-Identifier: MIT */
/* gguf_file.h - the metadata at the head of a GGUF file. */
#ifndef PE_FILES_GGUF_FILE_H
#define PE_FILES_GGUF_FILE_H

#include <jansson.h>
#include <stdbool.h>

#include "base/slice.h"
#include "base/status.h"
#include "files/stored.h"

/** Does the file begin as one of GGUF does? */
bool pe_gguf_file_is(pe_slice file);

/**
 * The metadata of a file, or of its first bytes, as an object: numbers, truths, short texts, and
 * short arrays of numbers and truths. Others (a vocabulary) are left out. Where the bytes end
 * before the metadata, the member "" is the key that they end in, or the last one.
 *
 * Source  ggml-org/ggml: docs/gguf.md, versions 2 and 3, little-endian.
 * Errors  MALFORMED_REQUEST: another version or type, a key twice, text that is no UTF-8; no
 *         general.architecture before the end. OVERLOADED (memory).   Threads  any.
 */
pe_status pe_gguf_file_read(pe_slice file, json_t **out, pe_problem *why) PE_MUST_CHECK;

/**
 * How many bytes the metadata of a whole file take, and its tensors of float32 whose names begin with
 * `prefix`, up to out->room; they borrow from it. Nothing else behind the list of tensors is looked
 * at.
 * Errors  as above; MALFORMED_REQUEST: the file ends within its head, or before a tensor.
 */
pe_status pe_gguf_file_tensors(pe_slice file, const char *prefix, size_t *metadata_bytes,
                               pe_stored_list *out, pe_problem *why) PE_MUST_CHECK;

#endif
