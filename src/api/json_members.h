/* SPDX-License-Identifier: MIT */
/* json_members.h - walking the members of a JSON object without building a tree. */
#ifndef PE_API_JSON_MEMBERS_H
#define PE_API_JSON_MEMBERS_H

#include "base/slice.h"
#include "base/status.h"

/** Called for every member; key is decoded, value its JSON text without white space around. */
typedef pe_status (*pe_json_member)(void *state, const char *key, pe_slice value, pe_problem *why);

/**
 * Walk the members of a text that is one JSON object and nothing else. Values are delimited, not
 * checked: the member function parses those it needs. Depth counts the object itself.
 * Errors  MALFORMED_REQUEST; the member function's.
 */
pe_status pe_json_members_walk(pe_slice object, size_t max_depth, pe_json_member member,
                               void *state, pe_problem *why) PE_MUST_CHECK;

#endif
