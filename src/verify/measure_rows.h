/* SPDX-License-Identifier: MIT */
/* measure_rows.h - a row of an upload beside the expected one, for the files of measure.h. */
#ifndef PE_VERIFY_MEASURE_ROWS_H
#define PE_VERIFY_MEASURE_ROWS_H

#include <math.h>

#include "verify/expect.h"
#include "verify/grain.h"

/** A row of the upload beside the row that is expected there. */
typedef struct pe_measure_row {
    const pe_upload_view *view;
    size_t row, width;
    pe_dtype dtype;
    const pe_grain *grain, *wider; /* that elements were rounded to, and perhaps on the way */
    bool truncated;
    double tolerance;
    const double *got; /* [width] */
    pe_expected_row want;
} pe_measure_row;

/** 0 where they are equal: infinities, too. */
static inline double pe_measure_distance(double got, double x)
{
    return got == x ? 0 : fabs(got - x);
}

/** Row `row` of the upload; valid until the next call. Errors  as pe_expect_row. */
pe_status pe_measure_compare(pe_expect *expect, size_t row, pe_measure_row *out,
                             pe_problem *why) PE_MUST_CHECK;

/** The guess's exact numbers, with its frequencies if they are needed. Where out->fits is false, or
 * on failure, there is nothing to free. Errors  OVERLOADED (memory). */
pe_status pe_measure_expect(const pe_comparison *of, bool frequencies, pe_expect *out,
                            pe_problem *why) PE_MUST_CHECK;

/** What distance of column c arithmetic `by` (one bit) allows, in units of the numbers. */
double pe_measure_row_allows(const pe_measure_row *r, size_t c, unsigned by);

/** Which arithmetics allow column c, as bits; 0: none. */
unsigned pe_measure_explained_by(const pe_measure_row *r, size_t c);

#endif
