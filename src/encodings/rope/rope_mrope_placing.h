/* SPDX-License-Identifier: MIT */
/* rope_mrope_placing.h - where the runs of a sequence with images and videos begin. */
#ifndef PE_ENCODINGS_ROPE_ROPE_MROPE_PLACING_H
#define PE_ENCODINGS_ROPE_ROPE_MROPE_PLACING_H

#include "encodings/rope/rope_mrope_places.h"
#include "plan/values.h"

/** Kinds of runs. */
enum {
    PE_RUN_TEXT,
    PE_RUN_IMAGE,
    PE_RUN_VIDEO,
    PE_RUN_AUDIO,
    PE_RUN_AUDIO_VIDEO,
    PE_RUN_JOINT,
    PE_RUN_KINDS
};

/** Numbers that a grid has: frames, height, width. */
enum { PE_GRID_ROW = 3 };

/** Choices of variant, video_frames, after_grid and dtype. */
enum {
    PE_VARIANT_MROPE,
    PE_VARIANT_XDROPE,
    PE_VARIANT_HY_V4_VL, /* from here on frames are counted, not timed */
    PE_VARIANT_FLUX,     /* and these are the variants of diffusion */
    PE_VARIANT_FLUX2,
    PE_VARIANT_QWEN_IMAGE,
    PE_VARIANT_Z_IMAGE,
    PE_VARIANT_WAN,
    PE_VARIANT_HUNYUAN_VIDEO,
    PE_VARIANTS
};
enum { PE_FRAMES_TOGETHER, PE_FRAMES_APART };
enum { PE_AFTER_HIGHEST, PE_AFTER_SIZE };
enum { PE_POSITIONS_INT32, PE_POSITIONS_FLOAT32 };

/** The names of the kinds; NULL ends them. */
extern const char *const pe_mrope_run_kinds[PE_RUN_KINDS + 1];
/** Which parameter has the grids of a kind; NULL: it has none. */
extern const char *const pe_mrope_run_grids[PE_RUN_KINDS];

/** What placing has found. */
typedef struct pe_mrope_placed {
    size_t tokens; /* without padding */
    double highest;
    bool overtaken; /* a video lasts longer than it is wide and high */
} pe_mrope_placed;

/**
 * Place one run after the other. Grids must be as many as the runs that have one. Runs that omit
 * their length get that of their grid.
 * Shapes  out: places->run has room for each run of token_runs.
 * Errors  INVALID_PARAMETER: a grid does not fit its run, the merging or the variant, or positions
 *         go beyond 2^31. All are collected.
 */
pe_status pe_mrope_placing_place(const pe_values *values, pe_mrope_places *places,
                                 pe_mrope_placed *out, pe_problem *why) PE_MUST_CHECK;

#endif
