/* SPDX-License-Identifier: MIT */
/* token_runs.h - a sequence as runs of tokens of one kind: "text:4,image,text:2". */
#ifndef PE_PLAN_TOKEN_RUNS_H
#define PE_PLAN_TOKEN_RUNS_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/slice.h"
#include "base/status.h"
#include "plan/params.h"

/** Tokens of one kind, one after the other. */
typedef struct pe_token_run {
    size_t choice;  /* an index into the kinds there are */
    int64_t length; /* 0: not told */
} pe_token_run;

/** Runs of a request; the list is owned (free). */
typedef struct pe_token_runs {
    pe_token_run *list;
    size_t n;
} pe_token_runs;

/** Longest run. */
#define PE_TOKEN_RUN_MAX 2147483647

/**
 * Parse "KIND:LENGTH,KIND,...": at most param->list_max runs of the kinds of param->choices.
 * `name` is what problems call the parameter.
 * Errors  MALFORMED_REQUEST (does not parse), INVALID_PARAMETER (no such kind; a length that is no
 *         integer from 1 to PE_TOKEN_RUN_MAX; too many runs).
 */
pe_status pe_token_runs_parse(pe_slice text, const pe_param *param, const char *name,
                              pe_token_runs *out, pe_problem *why) PE_MUST_CHECK;

/** Canonical text: what pe_token_runs_parse reads. */
void pe_token_runs_print(const pe_token_runs *runs, const char *const *kinds, pe_buffer *out);

#endif
