/* SPDX-License-Identifier: MIT */
/* query.h - what a request asks for, read from its query string or its body. */
#ifndef PE_API_QUERY_H
#define PE_API_QUERY_H

#include <stdbool.h>
#include <stddef.h>

#include "api/binary_body.h"
#include "api/suggestion.h"
#include "base/buffer.h"
#include "base/slice.h"
#include "formats/format.h"
#include "plan/price.h"

/** Bytes of a value in JSON beyond which it is read last, and only where nothing was refused. */
#define PE_READ_LARGE 65536

/** What reading is bounded by. */
typedef struct pe_read_limits {
    size_t max_elements;  /* of any input or output tensor */
    size_t max_positions; /* entries of positions */
    size_t max_depth;     /* nesting of JSON bodies */
    /* A query that could be planned but for its mistakes is read: pe_query_plan tells them, and
     * those of the plan. */
    bool keep_mistakes;
    /* A claim whose reading fails is planned under these for its other mistakes; NULL: it is not. */
    struct pe_tables *tables;
    const pe_limits *plan;
} pe_read_limits;

/** The representation parameters, which every resource takes beside its rows. */
enum {
    PE_OUTPUT_FORMAT,
    PE_OUTPUT_ENCODING,
    PE_OUTPUT_TENSOR,
    PE_OUTPUT_CSV_HEADER,
    PE_OUTPUT_VIEW, /* from here on, of figures */
    PE_OUTPUT_THEME,
    PE_OUTPUT_WIDTH,
    PE_OUTPUT_HEIGHT,
    PE_OUTPUT_N
};
/**
 * A request apart from HTTP: the resource's values, and the representation wanted as far as
 * parameters say. The representation parameters (format, encoding_format, tensor) are read here for
 * every resource; they are no part of values. A resource's own parameter goes before one of these
 * with its name.
 */
typedef struct pe_query pe_query;

/** Whether a member is read with others (*theirs): it is passed over. inside: the nested object. */
typedef pe_status pe_query_other(void *state, const char *name, pe_slice text, bool inside,
                                 bool *theirs, pe_problem *why);

struct pe_query {
    const pe_resource *resource;
    pe_values values;
    const pe_format *format; /* of format=, or NULL: Accept decides */
    bool names_json; /* the canonical query says format=json, since Accept asks for another */
    pe_value output[PE_OUTPUT_N]; /* defaults where they were not given */
    pe_problem *mistakes;         /* those that were kept, or NULL */
    pe_buffer synonyms; /* once planned: the warning of names that were taken for others */
    bool from_json;     /* problems point into the body: errors[].pointer instead of parameter */
    pe_query_other
        *other; /* of a part of a request; its nested object may hold texts, too; or NULL */
    void *other_state;
};

/**
 * From a raw (still percent-encoded) query string, without '?', or a JSON object with the same names
 * as members. A string is decoded strictly: a broken %, %00 or invalid UTF-8 is MALFORMED_REQUEST;
 * '+' is a plus sign. Numeric arrays of JSON go through text/number.h, the rest through jansson.
 * Errors  UNKNOWN_PARAMETER (nearest known name), MALFORMED_REQUEST (repeated; does not parse),
 *         MISSING_PARAMETER, INVALID_PARAMETER, TOO_MANY_ELEMENTS.
 */
pe_status pe_query_parse(const pe_resource *resource, pe_slice text, bool json,
                         const pe_read_limits *limits, pe_query *out,
                         pe_problem *why) PE_MUST_CHECK;

/**
 * From tensors in a binary body and parameters in the query string (transforms). The tensor becomes
 * the resource's first TENSOR row; those of safetensors go to the rows of their names ("data": the
 * first). dtype defaults to the body's. Numbers that need no conversion are borrowed from the body,
 * which must outlive the query and its plan.
 * Errors  those of pe_binary_body_read and pe_query_parse; INVALID_PARAMETER (a number that
 *         is not finite or overflows dtype).
 */
pe_status pe_query_binary_parse(const pe_resource *resource, const pe_binary_body *body,
                                const pe_read_limits *limits, pe_query *out,
                                pe_problem *why) PE_MUST_CHECK;

/**
 * Set the NAME row of a query that has been read, from the path.
 * Errors  MALFORMED_REQUEST: the client gave it as a parameter, too; OVERLOADED (memory).
 */
pe_status pe_query_set_name(pe_query *query, pe_slice name, pe_problem *why) PE_MUST_CHECK;

void pe_query_free(pe_query *query);

/**
 * The parameters of figures against the format that was chosen, and against what is allowed.
 * Errors  INVALID_PARAMETER: the format is none of a figure; too many pixels.
 */
pe_status pe_query_figure_check(const pe_query *query, const pe_format *format, size_t max_pixels,
                                pe_problem *why) PE_MUST_CHECK;

/**
 * A plan's problem names a parameter; put the object before it that the client gave it in
 * ("factor" becomes "rope_parameters/factor").
 */
void pe_query_locate(const pe_query *query, pe_problem *why);

/**
 * Plan a query. One that has mistakes is refused with all that are found: those it was read with,
 * and those of its plan that do not depend on the values of the others.
 * Errors  those of reading and of the resource's plan.
 */
pe_status pe_query_plan(pe_query *query, struct pe_tables *tables, const pe_limits *limits,
                        pe_plan *out, pe_problem *why) PE_MUST_CHECK;

/** How the query wants its plan rendered, as far as parameters say; it borrows from the query. The
 * format is NULL where none is named, and the text of the parameters is missing. */
pe_rendering pe_query_rendering(const pe_query *query);

/** The resource's path, with the name that stands in it. */
void pe_query_canonical_path(const pe_query *query, pe_buffer *out);

/**
 * Canonical query string of the representation too: the values' canonical query, then
 * encoding_format (when it is base64), format (when it is not json, or names_json), tensor and what
 * figures take as far as they matter for `format` and are not the default, all sorted in one list.
 * What Content-Location says.
 */
void pe_query_canonical_string(const pe_query *query, const pe_format *format, pe_buffer *out);

/* ---- for the readers of queries and claims ---- */

/** An empty query for the resource. */
pe_status pe_query_begin(const pe_resource *resource, pe_query *out, pe_problem *why) PE_MUST_CHECK;
/** The end of reading, which `status` is of: what a model sets, then defaults. The query goes to
 * *out, or is freed on failure.   Errors  as pe_query_parse. */
pe_status pe_query_finish(pe_query *query, pe_status status, const pe_read_limits *limits,
                          pe_query *out, pe_problem *why) PE_MUST_CHECK;
/** Read a query string, or a JSON object, into a query that was begun. */
pe_status pe_query_read(pe_query *query, pe_slice text, bool json, const pe_read_limits *limits,
                        pe_problem *why) PE_MUST_CHECK;
/** The text of model or layer_type in a query string whose other parameters may be any, by whichever
 * of its names it is given; "": none. What is wrong with it is told by who reads all of the string.
 * Errors  OVERLOADED (memory). */
pe_status pe_query_string_text(pe_slice string, const char *name, char *out, size_t room,
                               pe_problem *why) PE_MUST_CHECK;

/** The row of a representation parameter; a format is a text here. */
extern const pe_param pe_query_output_rows[PE_OUTPUT_N];

/** The index of a representation parameter, PE_OUTPUT_N when the name is none, or one of the
 * resource's own. */
size_t pe_query_output_find(const pe_resource *resource, const char *name);
/** All of them as they are where none is given. */
void pe_query_output_begin(pe_query *query);
/** Read one, as text of a query or as JSON. Errors  as of any parameter. */
pe_status pe_query_output_set(pe_query *query, size_t which, pe_slice text, bool json,
                              pe_problem *why) PE_MUST_CHECK;

/** The figure that a query string asks for, as far as it can be read. False: it names another format;
 * *format is NULL where it names none. */
bool pe_query_figure_peek(pe_slice string, const pe_format **format, pe_figure_options *out);

/** Errors that name a parameter; `where` is its place, `text` what it was given as. A model, where
 * the catalogue sets nothing of the resource, is INVALID_PARAMETER; other names are
 * UNKNOWN_PARAMETER. A parameter that was meant has no default then, whose mistakes would be told.
 */
pe_status pe_query_fail_unknown(pe_query *query, bool in_body, const char *where, const char *name,
                                pe_slice text, pe_problem *why);
pe_status pe_query_fail_repeated(const char *where, const char *name, pe_problem *why);
/** The same of a value that may have been given by another of its names. */
pe_status pe_query_fail_given(const pe_value *value, const char *where, const char *name,
                              pe_problem *why);
/** Keep the text of a parameter until it is read. Errors  MALFORMED_REQUEST: *kept is set. */
pe_status pe_query_keep(pe_slice *kept, const char *name, pe_slice text,
                        pe_problem *why) PE_MUST_CHECK;

#endif
