/* SPDX-License-Identifier: MIT */
/* precompute.h - the targets that the settings name are answered from the cache from the start. */
#ifndef PE_HTTP_ANSWER_PRECOMPUTE_H
#define PE_HTTP_ANSWER_PRECOMPUTE_H

#include "http/request/service.h"

/** Could the target be computed?   Errors  NOT_FOUND: no table; those of a request for it. */
pe_status pe_precompute_check(pe_service *service, const char *target,
                              pe_problem *why) PE_MUST_CHECK;

/** Compute the target into the response cache.
 * Errors  those of pe_precompute_check; TOO_MANY_ELEMENTS: it is too large for the cache. */
pe_status pe_precompute(pe_service *service, const char *target, pe_problem *why) PE_MUST_CHECK;

#endif
