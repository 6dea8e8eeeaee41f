/* SPDX-License-Identifier: MIT */
/* plain_waves.h - the stage of waves by place: coordinates of rows, and frequencies of pairs. */
#ifndef PE_VERIFY_PLAIN_PLAIN_WAVES_H
#define PE_VERIFY_PLAIN_PLAIN_WAVES_H

#include "verify/plain/plain_slips.h"

/** Axes of a table by place. Those of tokens are as the claim counts them. */
enum { PE_ACROSS, PE_DOWN, PE_GRID_AXES, PE_AXES_MAX = 8 };

/** Resources whose tables they are: waves by place, and tokens on several axes. */
#define PE_OF_PLACES "rope/grid sinusoidal/grid sinusoidal/timing sinusoidal/relative"
#define PE_OF_TOKENS "rope/table rope/mrope-positions"

/** What the elements are. */
typedef enum pe_waves_of {
    PE_WAVES_BY_PLACE, /* sines, cosines, angles and coordinates of a grid or a line */
    PE_PAIRS_OF_AXES,  /* angles [rows][pairs], read off pairs of several axes */
    PE_IDS_OF_TOKENS   /* coordinates [axes][rows] */
} pe_waves_of;

typedef struct pe_places {
    double *coordinate; /* [axes][rows], the numbers of the stage, before they are clamped */
    double *frequency;  /* [pairs] fastest first on each axis */
    double clamp;       /* coordinates are no larger */
    /* types that angles and waves were rounded to; or NULL */
    const pe_narrow_type *angles, *waves;
} pe_places;

/** What equations name: how many axes, rows and pairs there are, and frequencies that axes may share; which
 * of three kinds the table is: with lines, of timing signals, with tensors for each wave; whether zero is
 * the middle of each side, coordinates are divided by the sides, or fall from row to row; whether elements
 * have few bits, and axes of tokens share one ladder (as in M-RoPE); the axis of which a base was read. */
typedef struct pe_waves_are {
    double axes, rows, pairs, ladder, grid, timing, tensors, centred, normalized, backward, coarse;
    double sections, axis_read;
} pe_waves_are;
#define PE_WAVES_NAMES                                                                             \
    "axes rows pairs ladder grid timing tensors centred normalized backward coarse sections "      \
    "axis_read"

/** A table of wave(frequency[pair] coordinate), of the pair's axis. */
typedef struct pe_waves {
    pe_waves_of of;
    pe_waves_are is;
    size_t axes, rows, pairs;
    pe_places claimed, made; /* all numbers, and those below, are in one block */
    size_t *axis;            /* [pairs] */
    const pe_slip *by;       /* which has made `made`; NULL: nothing has */
    double *seen;            /* [axes][rows] coordinates of the upload; infinite: not yet read */
    double *of_pair, *index, *count; /* [pairs] axis, number among its pairs, how many these are */
    double *run, *image, *past;      /* [rows] of tokens (plain_tokens.c) */
    double *unit, *side;             /* [axes] the fastest frequency; how many places there are */
    double *low, *high;              /* [axes] rows where the claim is lowest, and highest */
    /* of waves by place */
    size_t columns;                 /* of a row: an odd number has one of zeros at its end */
    size_t extra;                   /* rows of zeros before the others, which are not counted */
    size_t width, height;           /* a line is `width` wide; frames have as many rows each */
    double valid[PE_GRID_AXES];     /* patches beyond so many are padding */
    size_t merge;                   /* rows go by blocks of so many patches squared */
    size_t next;                    /* the first row whose coordinate across is another */
    size_t below;                   /* the row of the patch below the first */
    size_t blocks;                  /* of sines, then cosines, in a row */
    bool interleaved, cosine_first; /* or sines and cosines alternate; the other way round */
    double first[PE_AXES_MAX];      /* coordinate of row 0 */
} pe_waves;

/** Room for numbers of axes, rows and pairs.   Errors  OVERLOADED (memory). */
pe_status pe_waves_make_room(pe_sequence *p, pe_problem *why) PE_MUST_CHECK;

/** Where a row's patch is, in lines of so many patches of its frame: how many patches come before it
 * along an axis; of a line of padding one less than none. */
double pe_waves_steps(const pe_waves *t, size_t row, size_t axis, size_t width, bool by_columns);

/** The angle of a pair in a row of these numbers; of a wave that was sent alone one of two. */
double pe_waves_angle(const pe_sequence *p, const double *numbers, size_t row, size_t pair);

/** Item i of the upload's coordinates. */
double pe_waves_seen(const void *sequence, double i);

/** Another base of all axes, or (value 1) of one, by the pairs of an axis: a for the claimed b (wave_rows.c). */
pe_solve pe_waves_read_base;

/** Does the uploaded pair turn by the claimed coordinates of an axis times w, from whatever phase? */
bool pe_waves_follow(const pe_sequence *p, size_t pair, size_t axis, double w);

/** What a claim says of tokens. p->n stays 0 where it is nothing.   Errors  OVERLOADED (memory). */
pe_status pe_waves_of_tokens(pe_sequence *p, pe_problem *why) PE_MUST_CHECK;

/** Put what a mistake of pairs of several axes made into a guess. False: it cannot be. */
bool pe_waves_apply(const void *sequence, pe_guess *guess);

#endif
