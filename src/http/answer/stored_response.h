/* SPDX-License-Identifier: MIT */
/* stored_response.h - decided answers through the cache, plain and coded. */
#ifndef PE_HTTP_ANSWER_STORED_RESPONSE_H
#define PE_HTTP_ANSWER_STORED_RESPONSE_H

#include "http/reply/coding.h"
#include "http/answer/representation.h"

/** Worth keeping: a table whose answer is surely no larger than the settings allow. Measured. */
bool pe_stored_response_fits(const pe_representation *representation);

/** The answer that is kept in this coding, or the plain one where *coding was not worth it and
 * becomes IDENTITY; with a reference. NULL when there is none. */
pe_cache_entry *pe_stored_response_find(const pe_representation *representation, pe_coding *coding);

/** The same through the cache: rendered and coded by one thread when absent. *out is NULL when the
 * cache has no room for it, since it is small or since readers hold what is in it. */
pe_status pe_stored_response_get(pe_representation *representation, pe_coding *coding,
                                 pe_cache_entry **out, int *hit, pe_problem *why) PE_MUST_CHECK;

/** Remember that a raw request means this canonical one, in this coding. */
void pe_stored_response_remember(const pe_representation *representation,
                                 const pe_request_key *front, pe_coding coding);

/** Could a target of the settings' warm list be computed? */
pe_status pe_stored_response_check_target(pe_service *service, const char *target,
                                          pe_problem *why) PE_MUST_CHECK;

/** Compute a target of the settings' warm list into the cache. */
pe_status pe_stored_response_precompute(pe_service *service, const char *target,
                                        pe_problem *why) PE_MUST_CHECK;

#endif
