/* SPDX-License-Identifier: MIT */
/* json_read.h - a JSON text read without building a tree: the members of an object, a string. */
#ifndef PE_API_JSON_READ_H
#define PE_API_JSON_READ_H

#include "base/slice.h"
#include "base/status.h"

/** Called for every member; key is decoded, value its JSON text without white space around. */
typedef pe_status (*pe_json_member)(void *state, const char *key, pe_slice value, pe_problem *why);

/**
 * Walk the members of a text that is one JSON object and nothing else. Values are delimited, not
 * checked: the member function parses those it needs; NULL: none is needed. Depth counts the object
 * itself.
 * Errors  MALFORMED_REQUEST; the member function's.
 */
pe_status pe_json_members_walk(pe_slice object, size_t max_depth, pe_json_member member,
                               void *state, pe_problem *why) PE_MUST_CHECK;

/**
 * Decode a JSON string with its quotes. *out is malloc'ed.
 * Source  RFC 8259 section 7.
 * Errors  MALFORMED_REQUEST at `place`: no JSON string in UTF-8, or one with a NUL; INTERNAL.
 */
pe_status pe_json_string_decode(pe_slice json, const char *place, char **out,
                                pe_problem *why) PE_MUST_CHECK;

#endif
