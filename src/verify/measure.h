/* SPDX-License-Identifier: MIT */
/* measure.h - how far an upload is from what a guess stands for, and whether that is too far. */
#ifndef PE_VERIFY_MEASURE_H
#define PE_VERIFY_MEASURE_H

#include "verify/expect.h"

/** Which arithmetic may have made the upload, as bits. */
enum { PE_BY_EXACT = 1, PE_BY_FLOAT32 = 2 };

/** The arithmetics that a guess allows. */
unsigned pe_measure_allowed(const pe_guess *guess);

/** Which of the allowed arithmetics explain the upload as this guess; 0: none. Stops at the first
 * row that none explains. */
pe_status pe_measure_explain(const pe_comparison *of, unsigned *by, pe_problem *why) PE_MUST_CHECK;

/** Elements that only float32 arithmetic may explain, which tells nothing of them (verify.h). */
pe_status pe_measure_undecided(const pe_comparison *of, size_t *out, pe_problem *why) PE_MUST_CHECK;

/** Distances among some tokens. HUGE_VAL: there is no such table. */
typedef struct pe_residual {
    double ratio;   /* the largest, as a multiple of what is allowed: up to 1 explains the upload */
    double squares; /* the sum of their squares */
} pe_residual;

/** The residual of tokens at most `reach` from position 0, by one arithmetic. The last tokens come
 * first: angles grow with positions. Beyond `most`, by ratio or squares, no more are looked at. */
pe_status pe_measure_residual(const pe_comparison *of, unsigned by, double reach,
                              const pe_residual *most, pe_residual *out,
                              pe_problem *why) PE_MUST_CHECK;

/** Set the bands, at most PE_BANDS_MAX of as many pairs each, or of units of the leading axis. */
void pe_measure_set_bands(const pe_upload_view *view, pe_distances *out);

/** Distances from the guess computed with this arithmetic, and rounded to the upload's type. The
 * bands of `out` are those the caller has set. */
pe_status pe_measure_distances(const pe_comparison *of, size_t numerics, pe_distances *out,
                               pe_problem *why) PE_MUST_CHECK;

/** The first element that arithmetic `by` (one bit) does not allow. It is held against the guess's
 * exact values. */
pe_status pe_measure_first_bad(const pe_comparison *of, unsigned by, pe_bad *out,
                               pe_problem *why) PE_MUST_CHECK;

/** The largest allowance of arithmetic `by` (one bit): of a table of pairs among the rows of the
 * farthest position, for it grows with that; else among all rows. */
pe_status pe_measure_allowance(const pe_comparison *of, unsigned by, pe_allowed *out,
                               pe_problem *why) PE_MUST_CHECK;

/** How many elements arithmetic `by` (one bit) does not allow; beyond `most` they are not counted
 * on. evenly: they are expected all over the upload, so first rows that miss half of their elements
 * tell that there are more. SIZE_MAX: the guess has not the upload's shape. */
pe_status pe_measure_misses(const pe_comparison *of, unsigned by, size_t most, bool evenly,
                            size_t *out, pe_problem *why) PE_MUST_CHECK;

/** The elements that arithmetic `by` (one bit) does not allow. Their columns are marked, too, unless
 * that is NULL: [all_columns]. */
pe_status pe_measure_strays(const pe_comparison *of, unsigned by, bool *columns, pe_strays *out,
                            pe_problem *why) PE_MUST_CHECK;

#endif
