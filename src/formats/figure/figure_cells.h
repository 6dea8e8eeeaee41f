/* SPDX-License-Identifier: MIT */
/* figure_cells.h - the least and the greatest element of each cell of a figure. */
#ifndef PE_FORMATS_FIGURE_FIGURE_CELLS_H
#define PE_FORMATS_FIGURE_FIGURE_CELLS_H

#include "formats/figure/figure_layout.h"
#include "formats/segments.h"

/** A cell of which nothing has come, or only masked elements, has low > high. */
typedef struct pe_cells {
    float *low, *high; /* [panels, ny, nx], owned */
    bool masked;       /* some element was */
} pe_cells;

pe_status pe_cells_make(const pe_layout *layout, pe_cells *out, pe_problem *why) PE_MUST_CHECK;
void pe_cells_free(pe_cells *cells);

/** Add elements, which come in order. */
void pe_cells_take(const pe_layout *layout, const pe_elements *elements, pe_cells *cells);

/** Of all cells; false when there is no element. */
bool pe_cells_bounds(const pe_layout *layout, const pe_cells *cells, double *least, double *most);

#endif
