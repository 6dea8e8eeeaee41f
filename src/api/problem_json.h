/* SPDX-License-Identifier: MIT */
/* problem_json.h - application/problem+json, and the page that explains a code. */
#ifndef PE_API_PROBLEM_JSON_H
#define PE_API_PROBLEM_JSON_H

#include <stdbool.h>

#include "base/buffer.h"
#include "base/status.h"

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
