/* SPDX-License-Identifier: MIT */
/* plain_waves.h - the stage of waves by place: coordinates of rows, and frequencies of pairs. */
#ifndef PE_VERIFY_PLAIN_PLAIN_WAVES_H
#define PE_VERIFY_PLAIN_PLAIN_WAVES_H

#include "verify/plain/plain_slips.h"

enum { PE_ACROSS, PE_DOWN, PE_GRID_AXES };

/** Coordinates are [PE_GRID_AXES][rows], the numbers of the stage. */
typedef struct pe_places {
    double *coordinate; /* before they are clamped */
    double *frequency;  /* [pairs] behind them; fastest first on each axis */
    double clamp;       /* coordinates are no larger */
    /* types that angles and waves were rounded to; or NULL */
    const pe_grain *angles, *waves;
} pe_places;

/** What equations of the stage name, of the coordinate or the pair that is asked for. */
typedef struct pe_waves_names {
    double axis, row, origin, unit, side; /* origin: the claimed coordinate of row 0 */
    double other, other_origin, other_unit, other_side; /* of the other axis, in the same row */
    double fastest;                                     /* of a pair: the unit of its axis */
    double pairs, ladder, grid, tensors, centred, normalized, backward;
} pe_waves_names;

/** A table of wave(frequency[pair] coordinate), of the pair's axis. */
typedef struct pe_waves {
    size_t columns;                    /* of a row: an odd number has one of zeros at its end */
    size_t extra;                      /* rows of zeros before the others, which are not counted */
    size_t rows, pairs, width, height; /* a line is `width` wide; frames have as many rows each */
    double valid[PE_GRID_AXES];        /* patches beyond so many are padding */
    size_t merge;                      /* rows go by blocks of so many patches squared */
    size_t next;                       /* the first row whose coordinate across is another */
    size_t below;                      /* the row of the patch below the first */
    bool tensors;                      /* cosines, sines and angles apart; else a row has both */
    bool forward;                      /* coordinates rise from row to row */
    size_t blocks;                     /* of sines, then cosines, in a row */
    bool interleaved, cosine_first;    /* or sines and cosines alternate; the other way round */
    bool centred;                      /* coordinate 0 is the middle of each side */
    bool normalized;                   /* coordinates are divided by the sides */
    double first[PE_GRID_AXES];        /* coordinate of row 0 */
    double unit[PE_GRID_AXES];         /* what coordinates of the axis are multiplied by */
    size_t *axis;                      /* [pairs] owned */
    pe_places claimed, made;           /* numbers owned by claimed */
    const pe_slip *by;                 /* which has made them; NULL: nothing has */
    pe_waves_names names;
} pe_waves;

/** Where a row's patch is, in lines of so many patches of its frame: how many patches come before it
 * along an axis; of a line of padding one less than none. */
double pe_waves_steps(const pe_waves *t, size_t row, size_t axis, size_t width, bool by_columns);

/** How many frequencies a ladder has; patches whose axes differ in the fastest one share it. */
size_t pe_waves_ladder(const pe_waves *t);

/** By how much a pair turns from row 0 to another, of these numbers. */
double pe_waves_turn(const pe_sequence *p, const double *numbers, size_t row, size_t pair);
/** The uploaded angle of a pair in row 0. */
double pe_waves_start(const pe_sequence *p, size_t pair);

#endif
