/* SPDX-License-Identifier: MIT */
/* case_text.h - the bytes that a case of http/cases/ describes. */
#ifndef PE_TESTS_SUPPORT_CASE_TEXT_H
#define PE_TESTS_SUPPORT_CASE_TEXT_H

#include <jansson.h>

#include "base/buffer.h"
#include "support/live_server.h"

/**
 * Append a text. It is a string, a list of texts (all of them), or an object:
 *
 *     {"hex": "00ff"}                           bytes
 *     {"times": 9, "of": text}                  so often, with the number of each for #
 *     {"get": target}                           what is answered
 *     {"post": target, "json": any, "member": name}    of that a member alone, as JSON
 *     {"source": name}                          that of `sources`
 *     {"of": text, "at": 5, "put": text}        with other bytes from there on; -5: from the end
 *     {"npy": header, "of": text}               a file of NumPy; the header has less than 256 bytes
 *     {"npz": {name: text}}                     several of them
 *     {"tensors": {name: [dtype, shape, text]}} safetensors; of a name alone those of `sources`
 */
void case_text_add(const test_server *server, const json_t *sources, const json_t *text,
                   pe_buffer *out);

/** A copy of `its` in which $1 to $4 are `row`, a string or several, and $5 to $9 `outer`. */
json_t *case_filled(json_t *its, json_t *outer, json_t *row);

/** A number, or a word of a row that is one. */
long case_number(const json_t *its);

#endif
