/* SPDX-License-Identifier: MIT */
/* axis_reading.h - pairs of several axes as they were measured, and what is tried of them. */
#ifndef PE_VERIFY_AXES_AXIS_READING_H
#define PE_VERIFY_AXES_AXIS_READING_H

#include "verify/search/attempts.h"
#include "verify/search/numbers.h"

#define PE_AXES_MAX 8

/** Angles of an upload, beside the axes and frequencies of a guess. */
typedef struct pe_axis_reading {
    const pe_comparison *of;
    size_t n, tokens, pairs;
    bool own;                  /* each axis has a ladder of frequencies of its own (axes_dims) */
    bool sections;             /* three axes of M-RoPE share one */
    double least, roundoff;    /* what angles and elements may be off */
    double *claimed;           /* [n][tokens] owned by one block, as are the next three */
    double *at;                /* [n][tokens] positions that were read */
    double *angle;             /* [pairs][tokens] radians; NAN: a pair of no length */
    double *frequency;         /* [pairs] */
    size_t *axis, *index;      /* [pairs] owned: its axis, and its place among that one's pairs */
    size_t count[PE_AXES_MAX]; /* pairs of each axis */
    double error[PE_AXES_MAX]; /* how far its positions may be off */
    bool known;                /* all pairs turn by `at` */
} pe_axis_reading;

/** Read the upload. False in *made: the guess has not its shape. To be freed in any case. */
pe_status pe_axis_reading_make(const pe_comparison *of, pe_axis_reading *out, bool *made,
                               pe_problem *why) PE_MUST_CHECK;
void pe_axis_reading_free(pe_axis_reading *x);

/** Does the pair turn by the claimed positions of the axis times w, from whatever phase? */
bool pe_axis_reading_turns(const pe_axis_reading *x, size_t i, size_t a, double w);

/** The tokens of [first, end) where the claim puts the axis lowest and highest. */
void pe_axis_reading_ends(const pe_axis_reading *x, size_t a, size_t first, size_t end, size_t *low,
                          size_t *high);

/** The simplest fraction within the error, or the number itself. */
double pe_axis_reading_tidy(double number, double error);

/** Try the guess with the positions that were read, told by how they follow from the claimed ones,
 * which become exact. */
void pe_axis_positions_try(pe_search *s, pe_axis_reading *x, const pe_guess *claim);

/** Position ids of M-RoPE are told the same way. */
pe_numbers_use pe_axis_positions_of_ids;

/** Do `next` with the guess of other axes of the pairs, other exponents and other bases that the
 * angles tell. */
void pe_axis_frequencies_each(pe_search *s, const pe_axis_reading *x, const pe_guess *claim,
                              pe_try *next);

/** Pairs of several axes: all this, alone and behind another mistake. */
pe_try pe_axis_search_try;

#endif
