/* SPDX-License-Identifier: MIT */
/* wave_places.h - a table of sines and cosines: what stands in each place, claimed or changed. */
#ifndef PE_VERIFY_PLAIN_WAVE_PLACES_H
#define PE_VERIFY_PLAIN_WAVE_PLACES_H

#include "verify/search/numbers.h"

enum { PE_ACROSS, PE_DOWN, PE_GRID_AXES };

/** What an element is of: wave(frequency[pair] coordinate), of the pair's axis. */
typedef struct pe_wave_table {
    const pe_numbers *of;
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
    double clamp;                      /* coordinates are no larger */
    bool centred;                      /* coordinate 0 is the middle of each side */
    double first[PE_GRID_AXES];        /* coordinate of row 0 */
    double unit[PE_GRID_AXES];         /* what coordinates of the axis are multiplied by */
    double *frequency;                 /* [pairs] owned */
    size_t *axis;                      /* [pairs] owned */
} pe_wave_table;

/** Another table: each number says how it differs. */
typedef struct pe_wave_change {
    const pe_wave_table *of;
    double shift, times, power, clamp; /* of coordinates; of frequencies, unit (w/unit)^power */
    double along[PE_GRID_AXES];        /* what the coordinate of each axis is multiplied by, too */
    double from[PE_GRID_AXES];         /* and what is added to it before that */
    double held;                       /* the coordinate of all rows; NAN: each has its own */
    /* types that they were rounded to; or NULL */
    const pe_grain *frequencies, *angles, *waves;
    double width;            /* of a line, in which rows are counted */
    bool by_columns;         /* rows go down first */
    unsigned running;        /* axes that count rows: bit PE_ACROSS, bit PE_DOWN */
    bool exchanged, swapped; /* places of the axes; their coordinates */
    bool absolute, negative; /* coordinates */
    bool in_halves;          /* of a ladder that the axes share, not in turn */
    size_t only;             /* the axis whose coordinates all pairs have; PE_GRID_AXES: none */
    double a, b;             /* numbers of the sentence of the row that changed it last */
} pe_wave_change;

/** *made is false where the numbers of the claim are no such table. */
pe_status pe_wave_table_make(const pe_numbers *plain, pe_wave_table *out, bool *made,
                             pe_problem *why) PE_MUST_CHECK;
void pe_wave_table_free(pe_wave_table *table);

/** The table without a change. */
pe_wave_change pe_wave_claimed(const pe_wave_table *t);

/** Of a row, on an axis. */
double pe_wave_coordinate(const pe_wave_change *c, size_t row, size_t axis);
/** An element; *error: of float32 arithmetic. */
double pe_wave_number(const pe_wave_change *c, size_t e, double *error);
/** Are all numbers those of the changed table? */
bool pe_wave_follows(const pe_wave_change *c, const double *numbers, double roundoff);

/** By how much the uploaded pair turns for each step of its coordinate. NAN: it has no steps. */
double pe_wave_step(const pe_wave_change *c, size_t pair);
/** By how much a pair turns from row 0 to another, of these numbers. */
double pe_wave_turn(const pe_wave_change *c, const double *numbers, size_t row, size_t pair);
/** The uploaded angle of a pair in row 0. */
double pe_wave_start(const pe_wave_change *c, size_t pair);

#endif
