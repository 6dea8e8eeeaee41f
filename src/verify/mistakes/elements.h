/* SPDX-License-Identifier: MIT */
/* elements.h - elements of an upload of pairs beside the claimed ones, and mistakes of single elements. */
#ifndef PE_VERIFY_MISTAKES_ELEMENTS_H
#define PE_VERIFY_MISTAKES_ELEMENTS_H

#include "verify/mistakes/sequence.h"

/**
 * What equations name of an element and of its pair. A line has the rows of one head and item, `inner`
 * on from token to token; an item has all its rows, of which neighbours are `by`.
 */
typedef struct pe_element {
    double row, column, wide; /* column: among `wide` of its tensor; wide is 0 outside of all */
    double next;              /* the column behind it, of those of pairs */
    double pair, second;      /* none: it is of no pair; second: the sine, or the second channel */
    double copied;            /* it is in the second copy of its pairs */
    double c, s, angle, w;    /* the wave, with the amplitude; its frequency */
    double u, v, in;          /* of vectors the channels that it turns; of tables 1, 0 and x */
    double slack, rounding;   /* what x may be off by; slack without the rounding of the type */
    double narrow, ulp;       /* narrow: the upload's type has 16 bits; ulp: of x in it */
    double rows, width, pairs, stride, copy, amplitude, step, gain; /* step: of pair 1 to pair 0 */
    double line, inner, item, heads, by;
    double late; /* columns between where elements stand and where they belong; 0: none */
} pe_element;
#define PE_ELEMENT_NAMES                                                                           \
    "row column wide next pair second copied c s angle w u v in slack rounding narrow ulp rows "   \
    "width pairs stride copy amplitude step gain line inner item heads by late"

/** All rows of an upload of pairs, or some that are spread over it. */
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
    /* [rows][width] what was sent, what belongs there, and how far off it may be; 0 where float32
     * tells nothing: all would be so far off */
    double *got, *want, *slack;
    double *cosine, *sine, *angle; /* [rows][pairs] with the amplitude */
    double *frequency;             /* [pairs] */
    double amplitude, roundoff;    /* roundoff: of the upload's type */
    pe_sequence all;               /* the elements with the row that was read */
    pe_equation second_made;       /* and what it makes of those that are second, if it says so */
    /* the element that is looked at, its wave being of an angle that is `more` larger; what the numbers
     * that were taken for it may be off by */
    pe_element now;
    size_t element;
    double more, error;
} pe_beside;

/** *made is false where the guess has not the upload's shape. */
pe_status pe_beside_make(const pe_comparison *of, pe_beside *out, bool *made,
                         pe_problem *why) PE_MUST_CHECK;
void pe_beside_free(pe_beside *beside);

/** How far x may be off by the rounding of the upload's type. */
double pe_beside_rounding(const pe_beside *b, double x);
/** Is an uploaded element what the guess says? */
bool pe_beside_is_claimed(const pe_beside *b, size_t element);

/** Read a mistake. False: it makes no sense of this upload. */
bool pe_beside_read(pe_beside *b, const pe_slip *row) PE_MUST_CHECK;
/** Is an uploaded element what the mistake that was read makes of it? */
bool pe_beside_follows(pe_beside *b, size_t element);

/** The names of pe_element, x and y, and those that have an index: own[k], element k of the tensor;
 * cosine[k] and sine[k] of pair k of the row; input[k], a channel of it before it was turned;
 * first[r] and other[r], the channels of the pair in row r; length, of the claimed row; as_float16 and
 * as_bfloat16, y read again as the type that its bytes may have. */
extern const pe_term pe_element_terms[];

/** What became of the numbers of pairs; then where elements stand, and their bytes. `also` is of second
 * elements; where it is there, elements of no pair are as claimed. */
extern const pe_slips pe_mistakes_of_elements;

#endif
