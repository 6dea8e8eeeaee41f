/* SPDX-License-Identifier: MIT */
/* measure.h - how far an upload is from what a guess stands for, and whether that is too far. */
#ifndef PE_VERIFY_MEASURE_H
#define PE_VERIFY_MEASURE_H

#include "verify/expect.h"

/** Which arithmetic may have made the upload, as bits. */
enum { PE_BY_EXACT = 1, PE_BY_FLOAT32 = 2 };

/** The arithmetic that a guess allows. */
unsigned pe_measure_allowed(const pe_guess *guess);

/**
 * Which of the allowed arithmetics explain the upload as this guess: 0 when none does. Stops at
 * the first row that tells. *work is raised by the elements computed.
 */
pe_status pe_measure_explain(const pe_upload_view *view, const pe_guess *guess, unsigned *by,
                             size_t *work, pe_problem *why) PE_MUST_CHECK;

/** Elements that only float32 arithmetic may explain, and of which it tells nothing (verify.h). */
pe_status pe_measure_undecided(const pe_upload_view *view, const pe_guess *guess, size_t *out,
                               pe_problem *why) PE_MUST_CHECK;

/**
 * The largest distance as a multiple of what arithmetic `by` (one bit) allows, 1 where it still
 * explains the upload, among tokens at most `most` from position 0; and the sum of the squares of
 * distances there. HUGE_VAL: no such table.
 */
pe_status pe_measure_strain(const pe_upload_view *view, const pe_guess *guess, unsigned by,
                            double most, double *out, double *squares, size_t *work,
                            pe_problem *why) PE_MUST_CHECK;

/**
 * Distances from the guess computed with this arithmetic, rounded to the upload's type. bad and
 * bands may be NULL; `by` (one bit) is the rule that decides what is bad, the guess's exact values
 * what it is held against.
 */
pe_status pe_measure(const pe_upload_view *view, const pe_guess *guess, size_t numerics,
                     pe_errors *errors, pe_band *bands, size_t n_bands,
                     pe_problem *why) PE_MUST_CHECK;
pe_status pe_measure_first_bad(const pe_upload_view *view, const pe_guess *guess, unsigned by,
                               pe_bad *out, pe_problem *why) PE_MUST_CHECK;

/** Bands there are: pairs, or units of the leading axis, in at most PE_BANDS_MAX runs. */
size_t pe_measure_bands(const pe_upload_view *view, pe_band *out);

#endif
