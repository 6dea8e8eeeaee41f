/* SPDX-License-Identifier: MIT */
/* expect.h - the numbers that a guess stands for, laid out as the upload. */
#ifndef PE_VERIFY_EXPECT_H
#define PE_VERIFY_EXPECT_H

#include "verify/upload_view.h"
#include "verify/guess.h"

/** Tokens that are computed at a time. */
#define PE_EXPECT_BLOCK 32

/** One row: what belongs there, and how far from it a sound implementation may be. */
typedef struct pe_expected_row {
    double *value;   /* [width] */
    double *exact;   /* allowed on top of the rounding of the upload's type */
    double *float32; /* the same of the float32 path */
    double *radius;  /* of the circle that the pair is on; 0: of none */
    double *radial;  /* how far off it the float32 path may be, before rounding to the type */
    size_t *partner; /* the column of the pair's other number; its own where that is not there */
} pe_expected_row;

typedef struct pe_expect {
    const pe_upload_view *view;
    const pe_guess *guess;
    pe_geometry geometry; /* where the guess puts pairs */
    pe_plan plan;
    pe_positions positions; /* moved */
    bool split;             /* cosines and sines are tensors of their own */
    size_t table_pairs;     /* of the plan; the first of them are used */
    double *frequency;      /* [pairs], NULL until asked for */
    double amplitude;
    double *cosines, *sines;  /* [PE_EXPECT_BLOCK][pairs] */
    pe_expected_row row;      /* [width] each */
    void *raw;                /* a block as the plan fills it */
    size_t block, block_rows; /* tokens that cosines and sines hold */
    size_t repeat;            /* plain: rows of the plan, repeated so often */
} pe_expect;

/**
 * Plan a guess with this arithmetic. *fits is false where its numbers have not the upload's shape,
 * or its values are refused: then there is nothing to free.
 * Errors  INTERNAL (memory).
 */
pe_status pe_expect_make(const pe_upload_view *view, const pe_guess *guess, size_t numerics,
                         pe_expect *out, bool *fits, pe_problem *why) PE_MUST_CHECK;
void pe_expect_free(pe_expect *expect);

/** Frequencies and amplitude, by asking the resource for an angle so small that its tangent is the
 * angle. Needed for the float32 allowance. */
pe_status pe_expect_probe(pe_expect *expect, pe_problem *why) PE_MUST_CHECK;

/** The row-th row; valid until the next call. Quick when tokens come in order. */
pe_status pe_expect_row(pe_expect *expect, size_t row, pe_expected_row *out,
                        pe_problem *why) PE_MUST_CHECK;

#endif
