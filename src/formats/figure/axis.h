/* SPDX-License-Identifier: MIT */
/* axis.h - scales of values and indices, and where their ticks are. */
#ifndef PE_FORMATS_FIGURE_AXIS_H
#define PE_FORMATS_FIGURE_AXIS_H

#include <stdbool.h>
#include <stddef.h>

/** Values [from, to], on a line or a logarithmic one (then both are positive). */
typedef struct pe_axis {
    double from, to;
    bool log;
} pe_axis;

typedef struct pe_tick {
    double value;
    char text[32];
} pe_tick;

#define PE_TICKS_MAX 24

/** Where a value is: 0 at from, 1 at to. */
double pe_axis_at(const pe_axis *axis, double value);

/** The axis with ends that ticks fall on: at least these values, with zero where it is near. */
pe_axis pe_axis_around(double least, double most, bool log);

/** About `wanted` ticks at round values; whole ones where only these mean something. */
size_t pe_axis_ticks(const pe_axis *axis, size_t wanted, bool whole, pe_tick out[PE_TICKS_MAX]);

/** The least round number (1, 2, 5, times a power of ten) that is not below a positive value. */
double pe_axis_round_up(double value);

#endif
