/* SPDX-License-Identifier: MIT */
/* figure_layout.h - where the elements of a tensor are on the paper, decided before one is made. */
#ifndef PE_FORMATS_FIGURE_FIGURE_LAYOUT_H
#define PE_FORMATS_FIGURE_FIGURE_LAYOUT_H

#include "formats/figure/canvas.h"
#include "formats/format.h"

/**
 * Axes of length 1 count for nothing. One axis is a curve; two are a heatmap, rows downwards; of
 * more, all but the last two number the panels of small multiples.
 *
 * A panel is a grid of cells. While there is room, a cell is one element. Otherwise it covers
 * several, of which the least and the greatest are kept.
 */
typedef struct pe_layout {
    bool curves;
    size_t x_axis, y_axis;    /* of the tensor; curves: y_axis numbers the panels */
    bool points_first;        /* curves: points lie along the first of two axes */
    size_t panels, panels_of; /* drawn, and there are */
    size_t rows, columns;     /* of a panel, in elements; curves: 1, and the points */
    size_t nx, ny;            /* of a panel, in cells */
    size_t across, down;      /* pixels of a cell; heatmaps only */
    bool pooled;
    size_t abreast;      /* panels beside each other */
    pe_box panel;        /* the first */
    double right, below; /* from a panel to the next */
    pe_box plot;         /* all panels */
    size_t elements;     /* of the tensor that are needed: the first ones */
} pe_layout;

void pe_layout_make(const pe_tensor *tensor, const pe_rendering *rendering, pe_layout *out);

/** The box of a panel. */
pe_box pe_layout_panel(const pe_layout *layout, size_t panel);

/** Curves: which one of panels_of a panel shows, spread evenly. */
size_t pe_layout_series(const pe_layout *layout, size_t panel);

#endif
