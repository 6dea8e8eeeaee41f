/* SPDX-License-Identifier: MIT */
/* model_json.h - the JSON documents about models: one resolved, the catalogue, a file of it. */
#ifndef PE_API_MODEL_JSON_H
#define PE_API_MODEL_JSON_H

#include "base/buffer.h"
#include "base/slice.h"
#include "models/catalogue/catalogue.h"

/**
 * A model's configuration from its text, nested at most max_depth levels, or from the head of a GGUF
 * file.
 * Errors  MALFORMED_REQUEST: no JSON object, nested too deep, a key twice; what pe_gguf_file_read
 *         refuses. INTERNAL. Those of pe_model_resolve.
 */
pe_status pe_model_json_resolve(pe_slice json, size_t max_depth, pe_model **out,
                                pe_problem *why) PE_MUST_CHECK;

/** {"encoding", "parameters", "softmax_scale"?, "layers": [...], "resources": [...], "keys":
 * [...], "warnings": [...]} */
void pe_model_json(const pe_model *model, pe_buffer *out);

/** GET /v1/models: every file with name, title, organization, encoding and parameters. Where there
 * are words, with spaces between them, those files that have each of them in name, title or
 * organization: first those that begin with them, last those that have them within a word. */
pe_status pe_model_json_catalogue(pe_slice words, pe_buffer *out, pe_problem *why) PE_MUST_CHECK;

/** GET /v1/models/{name}: the file's members, and the model resolved. */
pe_status pe_model_json_file(const pe_catalogue_file *file, pe_buffer *out,
                             pe_problem *why) PE_MUST_CHECK;

#endif
