/* SPDX-License-Identifier: MIT */
/* documents.h - the JSON documents: the listing, models, problems. */
#ifndef PE_API_DOCUMENTS_H
#define PE_API_DOCUMENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "base/slice.h"
#include "base/status.h"
#include "models/catalogue/catalogue.h"

/** A named bound of the server. */
typedef struct pe_listing_bound {
    const char *name;
    double value;
    const char *unit;
} pe_listing_bound;

/** Every resource with its methods, parameters (type, bounds, default, unit, sentence), formula and
 * paper; the formats; the bounds. */
void pe_listing_json(const pe_listing_bound *bounds, size_t n_bounds, pe_buffer *out);

/** The resources whose paths are below this one: {"resources": [{"path", "methods", "summary"}]}. */
void pe_listing_family(const char *path, pe_buffer *out);

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

/**
 * A problem as RFC 9457 has it: type, title, status, code, detail, instance, request_id, then
 * errors[] (parameter, or pointer as "#/a/b" when from_json), max_elements and requested_elements,
 * or max_work and requested_work, where they belong.
 */
void pe_problem_json(const pe_problem *problem, const char *instance, const char *request_id,
                     bool from_json, pe_buffer *out);

/** The page /problems/{code} of one problem code: type, title, status, code, explanation. */
void pe_problem_json_page(pe_status status, pe_buffer *out);

#endif
