/* SPDX-License-Identifier: MIT */
/* beside.h - rows of an upload of pairs beside the numbers that a guess stands for. */
#ifndef PE_VERIFY_MISTAKES_BESIDE_H
#define PE_VERIFY_MISTAKES_BESIDE_H

#include <math.h>

#include "verify/compare/expect.h"

/** All rows of an upload, or some that are spread over it. */
typedef struct pe_beside {
    const pe_upload_view *view;
    pe_guess *guess;
    pe_geometry at;
    size_t rows, width, pairs;
    size_t heads; /* of vectors; a batch has so many for each of its items */
    bool whole;   /* all rows of the upload, in order */
    size_t *row;  /* [rows] of the view; owned, as all of these */
    size_t *pair; /* [width] the pair of a column; SIZE_MAX: none */
    bool *second; /* [width] the sine, or the second channel of the pair */
    double *got, *want,
        *slack; /* [rows][width] what was sent, what belongs there, and how far off it
                                 * may be; 0 where float32 tells nothing: all would be so far off */
    double *cosine, *sine, *angle; /* [rows][pairs] with the amplitude */
    double *frequency;             /* [pairs] */
    double amplitude, roundoff;    /* roundoff: of the upload's type */
} pe_beside;

/** *made is false where the guess has not the upload's shape. */
pe_status pe_beside_make(const pe_comparison *of, pe_beside *out, bool *made,
                         pe_problem *why) PE_MUST_CHECK;
void pe_beside_free(pe_beside *beside);

/** Of a vector: its head, and its item of a batch. Of tables 0. */
size_t pe_beside_head(const pe_beside *b, size_t row);
size_t pe_beside_item(const pe_beside *b, size_t row);

/** The uploaded element, and of vectors the one that was to be rotated. */
static inline double pe_beside_got(const pe_beside *b, size_t row, size_t column)
{
    return b->got[row * b->width + column];
}

double pe_beside_input(const pe_beside *b, size_t row, size_t column);

/** How far x may be off by the rounding of the upload's type. */
static inline double pe_beside_rounding(const pe_beside *b, double x)
{
    return 1.02 * b->roundoff * fabs(x) + 0x1p-22 * b->amplitude;
}

/** Is the uploaded element what the guess says? */
static inline bool pe_beside_is_claimed(const pe_beside *b, size_t row, size_t column)
{
    const double want = b->want[row * b->width + column];
    return fabs(pe_beside_got(b, row, column) - want) <=
           b->slack[row * b->width + column] + pe_beside_rounding(b, want);
}

#endif
