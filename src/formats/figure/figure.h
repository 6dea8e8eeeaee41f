/* SPDX-License-Identifier: MIT */
/* figure.h - a figure as a format: numbers are looked at, block by block, and then drawn. */
#ifndef PE_FORMATS_FIGURE_FIGURE_H
#define PE_FORMATS_FIGURE_FIGURE_H

#include "formats/figure/figure_draw.h"
#include "formats/segments.h"

/** Figures of one size beside and below each other, one for each tensor. */
typedef struct pe_sheet {
    const pe_rendering *rendering; /* of the whole */
    pe_rendering of_part;          /* the same with the size of a figure */
    size_t n, abreast;
    pe_figure part[PE_MAX_TENSORS]; /* their renderings are of_part */
} pe_sheet;

/** Append the file of a sheet whose cells are known. Where memory is short, out->failed. */
typedef void (*pe_figure_write)(const pe_sheet *sheet, pe_buffer *out);

/** What a point of a curve costs as text, in units of work (plan/price.h). */
#define PE_POINT_WORK ((uint64_t)32)

/** Refuses view=curves of three axes and more. */
pe_status pe_figure_check(const pe_tensor *tensor, const pe_rendering *rendering,
                          pe_problem *why) PE_MUST_CHECK;
/** Refuses a sheet on which its figures would be too small. */
pe_status pe_figure_check_sheet(const pe_plan *plan, const pe_rendering *rendering, size_t chosen,
                                pe_problem *why) PE_MUST_CHECK;

/** Describe the figures of the tensors that a rendering holds, which `write` makes. */
void pe_figure_describe(const pe_plan *plan, const pe_rendering *rendering, size_t chosen,
                        pe_figure_write write, pe_segments *out);

/** Draw all of a figure. Where memory is short, canvas->out->failed. */
void pe_figure_draw(const pe_figure *figure, pe_canvas *canvas);

/** Where a figure is on its sheet: its upper left corner. */
void pe_figure_place(const pe_sheet *sheet, size_t part, size_t *x, size_t *y);

#endif
