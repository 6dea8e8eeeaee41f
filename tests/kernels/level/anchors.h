/* SPDX-License-Identifier: MIT */
/* anchors.h - what kernels keep to themselves, by the lanes of each level. */
#ifndef PE_TESTS_KERNELS_LEVEL_ANCHORS_H
#define PE_TESTS_KERNELS_LEVEL_ANCHORS_H

#include <stdint.h>

/** Sine and cosine of a phase in double, as anchors of the narrow types are. */
typedef void anchor_of(uint64_t phase_hi, uint64_t phase_lo, double *sine, double *cosine);
extern anchor_of anchor_baseline, anchor_v3, anchor_v4;

#endif
