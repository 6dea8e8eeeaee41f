/* SPDX-License-Identifier: MIT */
/* problem_json.h - the JSON documents that are no tables: problems, the listing at GET /v1. */
#ifndef PE_API_PROBLEM_JSON_H
#define PE_API_PROBLEM_JSON_H

#include <stdbool.h>

#include "base/buffer.h"
#include "base/status.h"
#include "plan/plan.h"

/**
 * application/problem+json (RFC 9457) of a problem: type, title, status, code, detail, instance,
 * request_id, then errors[] (parameter, or pointer as "#/a/b" when from_json), max_elements and
 * requested_elements where they belong.
 */
void pe_problem_json(const pe_problem *problem, const char *instance, const char *request_id,
                     bool from_json, pe_buffer *out);

/** The page of one problem code for /problems/{code}, as JSON: type, title, status, code,
 * explanation. */
void pe_problem_json_page(pe_status status, pe_buffer *out);

/** A named bound for the listing. */
typedef struct pe_listing_bound {
    const char *name;
    double value;
    const char *unit;
} pe_listing_bound;

/** GET /v1: every resource with its methods, parameters (type, bounds, default, unit, sentence),
 * formula, paper; formats; bounds. */
void pe_listing_json(const pe_listing_bound *bounds, size_t n_bounds, pe_buffer *out);

#endif
