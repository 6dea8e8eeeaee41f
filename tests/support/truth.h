/* SPDX-License-Identifier: MIT */
/* truth.h - sines and cosines straight from their formula, in MPFR alone. */
#ifndef PE_TESTS_SUPPORT_TRUTH_H
#define PE_TESTS_SUPPORT_TRUTH_H

#include <mpfr.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"

/** amplitude * sin, cos(position * scale * theta_i); callbacks write at out's precision. */
typedef struct truth_formula {
    void (*theta)(const void *frequencies, size_t i, mpfr_ptr out);
    void (*amplitude)(const void *amplitudes, mpfr_ptr out); /* NULL: 1 */
    const void *frequencies, *amplitudes;
    double scale;
} truth_formula;

/** What the elements of a pair share. */
typedef struct truth_pair {
    const truth_formula *formula;
    size_t i;
    mpfr_t theta, factor;
} truth_pair;

void truth_pair_init(truth_pair *pair, const truth_formula *formula, size_t i);
void truth_pair_clear(truth_pair *pair);

/** The sine, value[0], and the cosine, value[1], at that position, rounded to each dtype. */
void truth_at(const truth_pair *pair, double position, double value[2][PE_DTYPES]);

/** Bits that values are computed with, and how many roundings needed HARD bits instead. */
#define TRUTH_BITS      192
#define TRUTH_HARD_BITS 2200
extern uint64_t truth_hard;

#endif
