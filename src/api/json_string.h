/* SPDX-License-Identifier: MIT */
/* json_string.h - the text of one JSON string, decoded. */
#ifndef PE_API_JSON_STRING_H
#define PE_API_JSON_STRING_H

#include "base/slice.h"
#include "base/status.h"

/**
 * Decode a JSON string with its quotes. *out is malloc'ed. jansson is not used here: it drops
 * characters when memory runs out.
 * Source  RFC 8259 section 7.
 * Errors  MALFORMED_REQUEST at `place`: no JSON string in UTF-8, or one with a NUL; INTERNAL.
 */
pe_status pe_json_string_decode(pe_slice json, const char *place, char **out,
                                pe_problem *why) PE_MUST_CHECK;

#endif
