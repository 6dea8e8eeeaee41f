/* SPDX-License-Identifier: MIT */
/* emit.h - two vectors of doubles rounded to a type and stored, with the proof of the rounding. */
#ifndef PE_KERNELS_LEVEL_EMIT_H
#define PE_KERNELS_LEVEL_EMIT_H

#include "kernels/level/lanes.h"

/** How two vectors a and b go to memory. */
typedef enum pe_shape_of_row {
    PE_ROW_INTERLEAVED, /* a0 b0 a1 b1 ..., all to the first place */
    PE_ROW_PLANES,      /* a0 a1 ... and b0 b1 ... */
    PE_ROW_RUN          /* a0 a1 ... b0 b1 ..., all to the first place: 16 bits, NaN among them */
} pe_shape_of_row;

/** What a row is made of: constants where functions are inlined. */
typedef struct pe_row_kind {
    pe_dtype dtype;
    pe_shape_of_row shape;
    bool single; /* of waves: one sequence alone, so planes */
} pe_row_kind;

/** Where two vectors go. */
typedef struct pe_spot {
    void *first, *second;
} pe_spot;

/**
 * When a rounding counts as proven. Values are not below `small`, which keeps them normal and
 * relates their error to their last place.
 *
 * float32: the 29 bits of the double that are dropped must not be within `window` of a midpoint
 * (window: a power of two, in last places of the double), which the error does not reach.
 * float16, bfloat16: the value is rounded to float first. That keeps it, and what it stands for,
 * on one side of any midpoint, which are floats, unless it lands on one.
 */
typedef struct pe_rounding_margin {
    uint32_t window;
    float small;
} pe_rounding_margin;

#define PE_DROPPED ((1U << 29) - 1) /* bits of a double beyond those of a float */

/*
 * Each of these defines
 *
 *     pe_seen, pe_emit           two vectors to float32, float16 or bfloat16, and what proves them
 *     pe_doubt                   whether anything of two emits is open
 *     pe_ok_double, PE_ALL_OK_DOUBLE, pe_same, pe_open_lanes
 *                                equal doubles, and the lanes where some were not
 *     pe_emit_double             two vectors as they are
 */
#if PE_LANES == 8
#include "kernels/level/emit_512.h"
#elif PE_LANES == 4
#include "kernels/level/emit_256.h"
#else
#include "kernels/level/emit_any.h"
#endif

#endif
