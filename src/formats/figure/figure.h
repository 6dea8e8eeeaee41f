/* SPDX-License-Identifier: MIT */
/* figure.h - a figure as a format: numbers are looked at, block by block, and then drawn. */
#ifndef PE_FORMATS_FIGURE_FIGURE_H
#define PE_FORMATS_FIGURE_FIGURE_H

#include "formats/figure/figure_draw.h"
#include "formats/segments.h"

/** Append the file of a figure whose cells are known. Where memory is short, out->failed. */
typedef void (*pe_figure_write)(const pe_figure *figure, pe_buffer *out);

/** What a point of a curve costs as text, in units of work (plan/price.h). */
#define PE_POINT_WORK ((uint64_t)32)

/** Refuses view=curves of three axes and more. */
pe_status pe_figure_check(const pe_tensor *tensor, const pe_rendering *rendering,
                          pe_problem *why) PE_MUST_CHECK;

/** Describe the figure of a tensor, which `write` makes. */
void pe_figure_describe(const pe_figure *what, pe_figure_write write, pe_segments *out);

/** A canvas of the figure's size for an appending writer. */
pe_canvas pe_figure_canvas(const pe_figure *figure, pe_buffer *out);

#endif
