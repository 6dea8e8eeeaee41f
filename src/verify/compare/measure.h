/* SPDX-License-Identifier: MIT */
/* measure.h - how far an upload is from what a guess stands for, and whether that is too far. */
#ifndef PE_VERIFY_COMPARE_MEASURE_H
#define PE_VERIFY_COMPARE_MEASURE_H

#include "verify/compare/expected_numbers.h"
#include "verify/upload/upload.h"

/** Which arithmetic may have made the upload, as bits. */
enum { PE_BY_EXACT = 1, PE_BY_FLOAT32 = 2 };

/** The arithmetics that a guess allows, and the one of them that allows most. */
unsigned pe_measure_allowed(const pe_guess *guess);
unsigned pe_measure_loosest(const pe_guess *guess);

/* ---- a row ---- */

/** A row of the upload beside the row that is expected there. */
typedef struct pe_measure_row {
    const pe_upload_view *view;
    size_t row, width;
    pe_dtype dtype;
    const pe_narrow_type *narrow,
        *wider; /* that elements were rounded to, and perhaps on the way */
    bool truncated;
    double tolerance;
    const double *got; /* [width] */
    pe_expected_row want;
} pe_measure_row;

/** What distance of column c arithmetic `by` (one bit) allows, in units of the numbers; and how much
 * of that is roundings of the element itself. */
double pe_measure_allowance(const pe_measure_row *r, size_t c, unsigned by);
double pe_measure_stored(const pe_measure_row *r, size_t c, unsigned by);

/** Which arithmetics allow column c, as bits; 0: none. */
unsigned pe_measure_explained_by(const pe_measure_row *r, size_t c);

/* ---- all rows ---- */

/** Does what it does with a row. False: no more are looked at. */
typedef bool pe_measure_visit(void *state, const pe_expect *expect, pe_measure_row *r);

/** Visit the rows of each token in turn; the last block of tokens comes first where last_first is
 * set, for its positions tell most, and before all rows a few plain numbers. `expect` is freed.
 * Errors  as pe_expect_row. */
pe_status pe_measure_walk(const pe_comparison *of, pe_expect *expect, bool last_first,
                          pe_measure_visit *each, void *state, pe_problem *why) PE_MUST_CHECK;

/** Is float32 arithmetic off by so much in column c that it allows any number? */
bool pe_measure_is_undecided(const pe_measure_row *r, size_t c);

/** Which of the allowed arithmetics explain the upload as this guess; 0: none. Stops at the first
 * row that none explains. decided: float32 must tell something of half of the elements. */
pe_status pe_measure_explain(const pe_comparison *of, bool decided, unsigned *by,
                             pe_problem *why) PE_MUST_CHECK;

/** How many elements arithmetic `by` (one bit) does not allow; beyond `most` they are not counted
 * on. evenly: they are expected all over the upload, so first rows that miss half of their elements
 * tell that there are more. SIZE_MAX: the guess has not the upload's shape. */
pe_status pe_measure_misses(const pe_comparison *of, unsigned by, size_t most, bool evenly,
                            size_t *out, pe_problem *why) PE_MUST_CHECK;

#endif
