/* SPDX-License-Identifier: MIT */
/* stored_response.h - decided answers through the cache, plain and coded. */
#ifndef PE_HTTP_ANSWER_STORED_RESPONSE_H
#define PE_HTTP_ANSWER_STORED_RESPONSE_H

#include "http/reply/coding.h"
#include "http/answer/representation.h"

/** Worth keeping: a table whose answer is surely no larger than the settings allow. Measured. */
bool pe_numeric_cacheable(const pe_numeric *numeric);

/** The answer that is kept in this coding, or the plain one where *coding was not worth it and
 * becomes IDENTITY; with a reference. NULL when there is none. */
pe_entry *pe_numeric_kept(const pe_numeric *numeric, pe_coding *coding);

/** The same through the cache: rendered and coded by one thread when absent. *out is NULL when the
 * cache has no room for it, since it is small or since readers hold what is in it. */
pe_status pe_numeric_entry(pe_numeric *numeric, pe_coding *coding, pe_entry **out, int *hit,
                           pe_problem *why) PE_MUST_CHECK;

/** Remember that a raw request means this canonical one, in this coding. */
void pe_numeric_learn(const pe_numeric *numeric, const pe_front *front, pe_coding coding);

/** Could a target of the settings' warm list be computed? */
pe_status pe_numeric_warm_check(pe_service *service, const char *target,
                                pe_problem *why) PE_MUST_CHECK;

/** Compute a target of the settings' warm list into the cache. */
pe_status pe_numeric_warm(pe_service *service, const char *target, pe_problem *why) PE_MUST_CHECK;

#endif
