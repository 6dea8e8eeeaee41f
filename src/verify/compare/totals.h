/* SPDX-License-Identifier: MIT */
/* totals.h - what a person is told of an upload, counted in one walk over its elements. */
#ifndef PE_VERIFY_COMPARE_TOTALS_H
#define PE_VERIFY_COMPARE_TOTALS_H

#include "verify/compare/measure.h"

/** What totals count: elements that the rule of verify.h does not allow, and distances. */
enum { PE_TOTALS_RULE = 1, PE_TOTALS_DISTANCES = 2 };

/** What is told of a table, from one walk over each of its parts. Its bands are at most PE_BANDS_MAX
 * of as many pairs each, or of units of the leading axis. */
typedef struct pe_totals {
    size_t done;              /* rows of a person before those of the next part */
    unsigned by;              /* arithmetics that explain all rows so far */
    size_t undecided;         /* elements of which float32 arithmetic tells nothing (verify.h) */
    pe_distances distances;   /* from the guess, rounded to the upload's type */
    pe_mismatches mismatches; /* what the loosest arithmetic does not allow */
    pe_bad first_bad;         /* of these the first one, against exact values */
    pe_allowed allowed[2];    /* the largest allowance: of exact numbers, of float32 */
    double farthest;          /* the position that allowed is of; of plain numbers it is of all */
    pe_difference difference; /* owned; no cell: it is not wanted */
    bool *seen_rows, *seen_columns; /* owned: which of them hold mismatches */
    size_t first_bad_row;
} pe_totals;

/** Of enough elements to tell, most are mismatches. */
bool pe_totals_are_most(const pe_mismatches *at);

/** rows: of all parts; 0: the view is all. Errors  OVERLOADED (memory). */
pe_status pe_totals_make(const pe_upload_view *view, size_t rows, bool draws, pe_totals *out,
                         pe_problem *why) PE_MUST_CHECK;
/** Add a part. Distances are those of what the guess's own arithmetic computes. */
pe_status pe_totals_add(pe_totals *totals, const pe_comparison *of, unsigned what,
                        pe_problem *why) PE_MUST_CHECK;
/** All parts are there: what they tell goes to the report, and the difference with it. loosest: of
 * the claim. */
void pe_totals_report(pe_totals *totals, unsigned loosest, pe_report *out);
void pe_totals_free(pe_totals *totals);

/** The totals of a whole view, without a difference; there is nothing to free. */
pe_status pe_totals_view(const pe_comparison *of, unsigned what, pe_totals *out,
                         pe_problem *why) PE_MUST_CHECK;
/** Distances from the guess computed with this arithmetic. */
pe_status pe_totals_errors(const pe_comparison *of, size_t numerics, pe_errors *out,
                           pe_problem *why) PE_MUST_CHECK;

#endif
