/* SPDX-License-Identifier: MIT */
/* patterns.h - what may stand in the place of a claimed element of pairs, as rows. */
#ifndef PE_VERIFY_MISTAKES_PATTERNS_H
#define PE_VERIFY_MISTAKES_PATTERNS_H

#include <math.h>

#include "verify/compare/guess.h"
#include "verify/compare/equation.h"

/* ---- rows of an upload of pairs beside the numbers that a guess stands for ---- */

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
    size_t late;                   /* columns between where elements stand and belong; 0: none */
    pe_equation *made, *from;      /* [patterns][2] owned by made, as what follows */
    pe_equation *turn;             /* [patterns][4] */
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

/* ---- the rows of patterns.h: one mistake each, which says what every element is ---- */

/** A pair of a row: its wave, and of vectors the channels that it turns. Equations call them c, s,
 * angle, A, w, step, a and b. */
typedef struct pe_pattern_wave {
    double cosine, sine, angle, amplitude;
    double frequency, step; /* step: of pair 1, in units of that of pair 0 */
    double a, b;            /* of tables 1 and 0 */
} pe_pattern_wave;

typedef struct pe_pattern_place {
    size_t row, column;
} pe_pattern_place;

/** What equations of places name: a place among rows and n columns. A line has the rows of one head and
 * item, `inner` on from token to token; an item all its rows, of which neighbours are `by`. */
typedef struct pe_pattern_names {
    double row, column, rows, n, pair, pairs, second, stride, line, inner, item, heads, by, late;
} pe_pattern_names;

/** x was kept as round(scale x + zero) from least to most; scale 0: none. */
typedef struct pe_pattern_steps {
    double scale, zero, least, most;
} pe_pattern_steps;

typedef struct pe_pattern {
    pe_fault fault; /* its sentence tells of elements without saying which */
    enum { PE_TABLES, PE_VECTORS, PE_EITHER } of;
    const char *made[2]; /* equations: what both elements of a pair are */
    enum { PE_AS_CLAIMED, PE_ZERO, PE_NEGATED } unpaired; /* beside these: columns of no pair */
    /** Or: in which row and column is the claimed element that stands there? none: it is nowhere. */
    const char *from[2];
    /** Or: the uploaded element as it should have been read: bytes of all elements are the same. */
    double (*reread)(pe_dtype dtype, double got);
    /** Or: a channel of a vector is own c - other s, or own c + other s where it is the second of its
     * pair: by the wave of which pair (none: it passes), its own channel, the other one, is it second? */
    const char *turn[4];
    /** Or: is the element so? */
    bool (*is_so)(const pe_beside *b, pe_pattern_place at);
    /** Or: it is one of these integers, or what they stand for. */
    pe_pattern_steps steps;
    bool of_inputs;   /* `from` takes vectors before they are rotated */
    bool of_rows;     /* `from` moves rows as a whole */
    bool of_copies;   /* numbers of pairs stand twice in a row */
    bool of_any_size; /* `is_so` whatever waves were multiplied by */
} pe_pattern;

/** What a pair's numbers became, tried first; then where elements stand, and their bytes. */
extern const pe_pattern pe_pattern_rows[];
extern const size_t pe_pattern_rows_n;

/* ---- which of them an element follows ---- */

/** The {a} of its sentence. */
double pe_patterns_number(size_t pattern, const pe_beside *b);

/** Does it make sense of this upload? */
bool pe_patterns_applies(size_t pattern, const pe_beside *b);

/** Is the element what the pattern says? */
bool pe_patterns_is_near(size_t pattern, const pe_beside *b, size_t row, size_t column);

#endif
