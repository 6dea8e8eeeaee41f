/* SPDX-License-Identifier: MIT */
/* negotiate.h - which format a request gets: format=, else Accept. */
#ifndef PE_FORMATS_NEGOTIATE_H
#define PE_FORMATS_NEGOTIATE_H

#include <stdbool.h>

#include "formats/format.h"

/**
 * The format of format=NAME.
 * Errors  INVALID_PARAMETER: there is none of that name; lists what there is.
 */
pe_status pe_format_parse(const char *name, const pe_format **out, pe_problem *why) PE_MUST_CHECK;

/**
 * The best format for an Accept header (NULL, empty or all malformed: json). Each format takes the
 * weight of the most specific range that matches it; of equal weights, the more specific match,
 * then the one named earlier, then the registry's order wins. Media type parameters are ignored.
 *
 * With a plan, formats that cannot hold it are passed over (several tensors and none chosen, a
 * bfloat16 as npy), so that a client that accepts more gets the next best.
 *
 * Source  RFC 9110 sections 12.4.2, 12.5.1.
 * Errors  NOT_ACCEPTABLE: lists what is; or the reason why the one that was asked for cannot be.
 */
pe_status pe_format_negotiate(const char *accept, const pe_plan *plan, const char *tensor,
                              const pe_format **out, pe_problem *why) PE_MUST_CHECK;

/** Does Accept (may be NULL) name the media type itself, and like it no less than the other? */
bool pe_format_prefers(const char *accept, const char *media_type, const char *other);

#endif
