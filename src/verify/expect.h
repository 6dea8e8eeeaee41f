/* SPDX-License-Identifier: MIT */
/* expect.h - the numbers that a guess stands for, laid out as the upload. */
#ifndef PE_VERIFY_EXPECT_H
#define PE_VERIFY_EXPECT_H

#include "verify/expect_state.h"

/**
 * Plan a guess with this arithmetic. Where out->fits is false there is nothing to free.
 * Errors  OVERLOADED (memory).
 */
pe_status pe_expect_make(const pe_comparison *of, size_t numerics, pe_expect *out,
                         pe_problem *why) PE_MUST_CHECK;
void pe_expect_free(pe_expect *expect);

/** Find frequencies and amplitude, which the float32 allowance needs: the resource is asked for an
 * angle so small that its tangent is the angle. */
pe_status pe_expect_probe(pe_expect *expect, pe_problem *why) PE_MUST_CHECK;

/** Row `row` of the upload, as doubles; valid until the next call. */
const double *pe_expect_got(pe_expect *expect, size_t row);

/** The row-th row; valid until the next call. Quick when tokens come in order. */
pe_status pe_expect_row(pe_expect *expect, size_t row, pe_expected_row *out,
                        pe_problem *why) PE_MUST_CHECK;

#endif
