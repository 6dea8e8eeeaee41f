/* SPDX-License-Identifier: MIT */
/* value_reading.h - the parts of reading a request that queries, JSON and binary bodies share. */
#ifndef PE_API_VALUE_READING_H
#define PE_API_VALUE_READING_H

#include <stdbool.h>
#include <stddef.h>

#include "api/query.h"
#include "base/slice.h"
#include "files/stored.h"

/* ---- one value
 * (value_text.c, value_json.c) ---------------------------------------------------- */

/** Where a value belongs. */
typedef struct pe_value_reading {
    const pe_param *param;
    pe_value *value;
    const char *place; /* for problems: "base", "rope_parameters/factor" */
    const pe_read_limits *limits;
    pe_dtype dtype; /* of tensors */
} pe_value_reading;

/** How much of a client's text a problem repeats. */
#define PE_SLICE_SHOWN_MAX 40
#define PE_SLICE_SHOWN(slice)                                                                      \
    (int)((slice).bytes < PE_SLICE_SHOWN_MAX ? (slice).bytes : PE_SLICE_SHOWN_MAX), (slice).text

/** Sets the value from query text and marks it given. Errors as pe_query_string_parse. */
pe_status pe_value_text_parse(const pe_value_reading *to, pe_slice text,
                              pe_problem *why) PE_MUST_CHECK;
/** The same from the JSON text of one value. */
pe_status pe_value_json_parse(const pe_value_reading *to, pe_slice json,
                              pe_problem *why) PE_MUST_CHECK;
/** Spans from a JSON array (value_spans.c). */
pe_status pe_value_token_runs_json_parse(const pe_value_reading *to, pe_slice json,
                                         pe_problem *why) PE_MUST_CHECK;
/** An INT or REAL from the text of one number. */
pe_status pe_value_text_number(const pe_value_reading *to, pe_slice text,
                               pe_problem *why) PE_MUST_CHECK;
/** One name, or several, of those that the row offers (value_choices.c). */
pe_status pe_value_choice_text_parse(const pe_value_reading *to, pe_slice text,
                                     pe_problem *why) PE_MUST_CHECK;
pe_status pe_value_choices_text_parse(const pe_value_reading *to, pe_slice text,
                                      pe_problem *why) PE_MUST_CHECK;
pe_status pe_value_choices_json_parse(const pe_value_reading *to, pe_slice json,
                                      pe_problem *why) PE_MUST_CHECK;
/** The value's list or positions, just read, against their row. */
pe_status pe_value_check_list(const pe_value_reading *to, pe_problem *why) PE_MUST_CHECK;
pe_status pe_value_check_positions(const pe_value_reading *to, pe_problem *why) PE_MUST_CHECK;
/** The value's tensor, just read, against its row. */
pe_status pe_value_check_tensor(const pe_value_reading *to, pe_problem *why) PE_MUST_CHECK;

/** The text of a JSON string with its quotes, decoded. *out is malloc'ed. jansson would do, but
 * drops characters when memory runs out. */
pe_status pe_json_string_decode(pe_slice json, const char *place, char **out,
                                pe_problem *why) PE_MUST_CHECK;

/* ---- a whole request
 * (ask.c, ask_query.c) ------------------------------------------------------ */

/** The parameters of every resource that are no rows of it. */
enum { PE_OUTPUT_FORMAT, PE_OUTPUT_ENCODING, PE_OUTPUT_TENSOR };
#define PE_OUTPUT_N 3
extern const char *const pe_query_output_names[PE_OUTPUT_N];
extern const char *const pe_query_output_encodings[]; /* float base64 */

/** The index of a representation parameter, PE_OUTPUT_N when the name is none. */
size_t pe_query_output_find(const char *name);
pe_status pe_query_output_set(pe_query *query, size_t which, const char *text,
                              pe_problem *why) PE_MUST_CHECK;

/** Errors that name a parameter. `where` is its place. A model where none says anything is
 * INVALID_PARAMETER, other names UNKNOWN_PARAMETER. */
pe_status pe_query_fail_unknown(const pe_resource *resource, bool in_body, const char *where,
                                const char *name, pe_problem *why);
pe_status pe_query_fail_repeated(const char *where, const char *name, pe_problem *why);

pe_status pe_query_begin(const pe_resource *resource, pe_query *out, pe_problem *why) PE_MUST_CHECK;
/** The element type that tensors are read as: dtype's, else its default; float64 without such a
 * row. */
pe_dtype pe_query_dtype(const pe_query *query);
/** What a model sets, then defaults, into an ask whose request has been read. Errors  as
 * pe_query_string_parse. */
pe_status pe_query_finish(pe_query *query, pe_problem *why) PE_MUST_CHECK;
/** Read a query into a begun ask; defaults are not yet filled in. */
pe_status pe_query_string_read(pe_query *query, const char *string, size_t bytes,
                               const pe_read_limits *limits, pe_problem *why) PE_MUST_CHECK;

#define PE_BINARY_BODY_TENSORS_MAX 16 /* more than any resource takes */

/** The tensors of a binary body into tensors[PE_BINARY_BODY_TENSORS_MAX]. Errors as
 * pe_query_binary_parse. */
pe_status pe_binary_body_read(const pe_binary_body *body, const pe_read_limits *limits,
                              pe_stored *tensors, size_t *n, pe_problem *why) PE_MUST_CHECK;

/** The tensor that a body of plain numbers is (body_raw.c). Errors as pe_query_binary_parse. */
pe_status pe_body_raw(const pe_binary_body *body, size_t max_elements, pe_stored *out,
                      pe_problem *why) PE_MUST_CHECK;

/* ---- JSON
 * objects (members.c) ------------------------------------------------------------------ */

/** Called for every member; key is decoded, value its JSON text without white space around. */
typedef pe_status (*pe_json_member)(void *state, const char *key, pe_slice value, pe_problem *why);

/**
 * Walk the members of a text that is one JSON object and nothing else. Values are delimited, not
 * checked: whoever takes one parses it. Depth counts the object itself.
 * Errors  MALFORMED_REQUEST; the member function's.
 */
pe_status pe_json_members_walk(pe_slice object, size_t max_depth, pe_json_member member,
                               void *state, pe_problem *why) PE_MUST_CHECK;

#endif
