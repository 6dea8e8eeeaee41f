/* SPDX-License-Identifier: MIT */
/* expected_numbers.h - the numbers that a guess stands for, laid out as the upload. */
#ifndef PE_VERIFY_COMPARE_EXPECTED_NUMBERS_H
#define PE_VERIFY_COMPARE_EXPECTED_NUMBERS_H

#include "verify/compare/guess.h"
#include "verify/upload/upload_view.h"

/** Tokens that are computed at a time. */
#define PE_EXPECT_BLOCK 32

/** One row: what belongs there, and how far from it a sound implementation may be. */
typedef struct pe_expected_row {
    double *value;         /* [width] */
    double *exact_error;   /* allowed beside the rounding to the upload's type */
    double *float32_error; /* the same of the float32 path */
    double *radius;        /* of the circle that the pair is on; 0: it is on none */
    double *radius_error;  /* of the float32 path, before it is rounded to the type */
    size_t *partner;       /* the column of the pair's other number; its own where there is none */
} pe_expected_row;

typedef struct pe_expect {
    const pe_upload_view *view;
    const pe_guess *guess;
    /** False: the guess's numbers have not the upload's shape, or its values are refused. */
    bool fits;
    pe_geometry geometry;         /* where the guess puts pairs */
    pe_plan *plan;                /* owned; NULL before there is one */
    pe_positions positions;       /* moved as the guess says */
    bool two_tensors;             /* cosines and sines are tensors of their own */
    double *frequency;            /* [pairs]; NULL before pe_expect_probe */
    double *roundings;            /* [pairs] behind it: pe_allowance_roundings */
    double *undistorted;          /* [pairs] behind those: as the values alone give them */
    double *per_position;         /* [columns] of cosines or sines alone (allowance.h); or NULL */
    size_t columns;               /* of per_position */
    double amplitude;             /* the gain before that */
    pe_expected_row row;          /* [width] each; row.value owns these three, too: */
    double *cosines, *sines;      /* [PE_EXPECT_BLOCK][pairs] */
    double *filled;               /* a block as the plan fills it */
    double *taken;                /* [2][width]: a row of the upload, and of its inputs */
    size_t first_token, n_tokens; /* that cosines and sines hold */
    double known_of_all;          /* plain numbers: what allowance.h keeps */
    size_t repeat;                /* plain numbers: how many rows one row of the plan stands for */
} pe_expect;

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

/** Both with the guess's exact numbers; its frequencies only where they are needed. */
pe_status pe_expect_exact(const pe_comparison *of, bool frequencies, pe_expect *out,
                          pe_problem *why) PE_MUST_CHECK;

/** Row `row` of the upload, as doubles; valid until the next call. */
const double *pe_expect_got(pe_expect *expect, size_t row);

/** The row-th row; valid until the next call. Quick when tokens come in order. */
pe_status pe_expect_row(pe_expect *expect, size_t row, pe_expected_row *out,
                        pe_problem *why) PE_MUST_CHECK;

/** Of plain numbers fill expect->row with elements [first, first + n) of the upload, at most PE_PLAIN_ROW. */
pe_status pe_expect_plain(pe_expect *expect, size_t first, size_t n, pe_problem *why) PE_MUST_CHECK;

#endif
