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

/** A request and what its refusal must say. */
typedef struct refusal {
    const char *target, *body; /* body NULL: a GET */
    long status;
    const char *code, *says; /* a part of the problem document */
} refusal;

void assert_refusals(const test_server *server, const refusal *refusals, size_t n);

#endif
