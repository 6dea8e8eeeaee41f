/* SPDX-License-Identifier: MIT */
/* problem.h - what every refusal has in common. */
#ifndef PE_TESTS_SUPPORT_PROBLEM_H
#define PE_TESTS_SUPPORT_PROBLEM_H

#include "support/client.h"

/**
 * The answer is a whole problem document of this status and code: its members, media type,
 * X-Request-Id, CORS, and no claim to be stored. `name` tells the case when it is not.
 */
void assert_problem(const char *name, const reply *answer, long status, const char *code);

/** The answer has this status. */
void assert_status(const char *name, const reply *answer, long status);

/** The header has exactly this value; NULL: it is absent. */
void assert_header(const char *name, const reply *answer, const char *header, const char *value);

#endif
