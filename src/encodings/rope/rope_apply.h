/* SPDX-License-Identifier: MIT */
/* rope_apply.h - the rotation of the tokens of a tensor. */
#ifndef PE_ENCODINGS_ROPE_ROPE_APPLY_H
#define PE_ENCODINGS_ROPE_ROPE_APPLY_H

#include "encodings/rope/rope_cos_sin.h"
#include "encodings/rope/rope_xpos_scale.h"

/** How the tokens of a tensor are rotated. Borrows everything. */
typedef struct pe_rope_rotation {
    const pe_rope *rope;
    const pe_shared_wave *wave;
    /** One position for all tokens, [n], or [batch, n] with batch 1 or that of axis 0; with axes
     * also [axes, n] and [axes, batch, n], and no [batch, n]. */
    const pe_positions *positions;
    bool backwards;           /* by the negative angle */
    const pe_rope_axes *axes; /* NULL: a token has one position */
    const char *finite;       /* what is refused where it overflows, by its name; NULL: nothing */
    const pe_xpos_turn *xpos; /* NULL: pairs keep their length; not with axes */
} pe_rope_rotation;

/**
 * Rotate the tokens of an array in place:
 *
 *     a' = a cos - b sin,   b' = b cos + a sin      for each pair (a, b) of channels
 *
 * times, or divided by, the scale of xPos.
 *
 * Source    Su et al. 2021, arXiv:2104.09864, equation 34.
 * Shapes    array: any leading axes, tokens along `axis`, channels last.
 * Accuracy  0.5 ulp + 2^-52 (|a| + |b|), in units of the amplitude and the scale; a float32 set:
 *           products and sums are rounded to float32, then to the dtype.
 * Errors    OVERLOADED (memory); INVALID_PARAMETER: what must stay finite does not.
 */
pe_status pe_rope_apply_array(const pe_rope_rotation *rotation, size_t axis, pe_array *array,
                              pe_problem *why) PE_MUST_CHECK;

#endif
