/* SPDX-License-Identifier: MIT */
/* rope_xpos_scale.h - the powers by which xPos scales the pairs of a token. */
#ifndef PE_ENCODINGS_ROPE_ROPE_XPOS_SCALE_H
#define PE_ENCODINGS_ROPE_ROPE_XPOS_SCALE_H

#include <stdint.h>

#include "encodings/rope/rope.h"
#include "exact/fixed128.h"
#include "exact/pair.h"

/** What the powers depend on. Plain data without padding. */
typedef struct pe_xpos_powers {
    uint64_t pairs, levels;
    double dim, base;
} pe_xpos_powers;

/** What a scale of one pair costs, in units of work. */
#define PE_XPOS_SCALE_WORK 10

/**
 *     scale_i(n) = zeta_i^(n / scale_base),   zeta_i = (2i/d + gamma) / (1 + gamma),   gamma = 0.4
 *
 * for a token n positions after the center; 0 < zeta_i < 1.
 *
 * Source  Sun et al. 2022, arXiv:2212.10554, section 3.2 and algorithm 1.
 */
typedef struct pe_xpos_scale {
    pe_xpos_powers formula;
    pe_shared_numbers shared;
    const pe_fixed128 *power; /* [2, pairs, levels]: scale_i(+-2^level) */
    const pe_pair *decline;   /* [pairs]: -ln(zeta_i) / scale_base */
} pe_xpos_scale;

/** How far a token is from the center, exactly: whole + part, part in [0, 1). */
typedef struct pe_xpos_distance {
    double whole;
    pe_pair part;
} pe_xpos_distance;

/** position - center, or center - position; center is an integer. */
pe_xpos_distance pe_rope_xpos_distance(double position, double center, bool negated);

/** Scales stay within 2^+-1000 for |n| up to this many times scale_base: (7/2)^553 < 2^1000. */
#define PE_XPOS_REACH 553

/** For distances whose whole part is at most `most`, an integer. Requests share the powers.
 * Errors  OVERLOADED (memory). */
pe_status pe_rope_xpos_scale_make(const pe_rope *rope, double base, double most, pe_xpos_scale *out,
                                  pe_problem *why) PE_MUST_CHECK;

/** scale_i(n) as hi + lo, with a relative error below 2^-64. */
void pe_rope_xpos_scale_pair(const pe_xpos_scale *scale, size_t i, const pe_xpos_distance *n,
                             double *hi, double *lo);

/** Pairs of a token at a position are multiplied by scale_i(position - center), or divided. */
typedef struct pe_xpos_turn {
    const pe_xpos_scale *scale;
    double center;
    bool divide;
} pe_xpos_turn;

/** scale_i(n), correctly rounded to dtype. */
double pe_rope_xpos_scale_round(const pe_xpos_scale *scale, size_t i, const pe_xpos_distance *n,
                                pe_dtype dtype);

#endif
