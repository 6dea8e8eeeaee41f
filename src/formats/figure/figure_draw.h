/* SPDX-License-Identifier: MIT */
/* figure_draw.h - a figure whose cells are known, drawn on a canvas. */
#ifndef PE_FORMATS_FIGURE_FIGURE_DRAW_H
#define PE_FORMATS_FIGURE_FIGURE_DRAW_H

#include "formats/figure/axis.h"
#include "formats/figure/figure_cells.h"
#include "formats/words.h"

typedef struct pe_figure {
    const pe_plan *plan;
    const pe_rendering *rendering;
    size_t tensor;
    pe_layout layout;
    pe_cells cells;
    double least, most; /* of the cells */
    bool empty;         /* no element is to be seen */
    bool of_several;    /* its title is the tensor's name */
} pe_figure;

/** A sentence in the place of a figure: why there is none. */
void pe_figure_draw_sentence(const char *title, const char *sentence, pe_canvas *canvas);

/* ---- the parts ---- */

static inline const pe_tensor *pe_figure_tensor(const pe_figure *figure)
{
    return &figure->plan->tensors[figure->tensor];
}

/** Whether the values are shown on a logarithmic scale: positive ones that span decades. */
bool pe_figure_wants_log(const pe_figure *figure);

/** What stands around the panels. */
void pe_figure_title(const pe_figure *figure, pe_canvas *canvas);
void pe_figure_axis_names(const pe_figure *figure, pe_canvas *canvas);
void pe_figure_note(const pe_figure *figure, pe_canvas *canvas);

void pe_figure_draw_heatmaps(const pe_figure *figure, pe_canvas *canvas);
void pe_figure_draw_curves(const pe_figure *figure, pe_canvas *canvas);

/** Ticks below a panel, or left of it: of `n` elements that share `pixels`. */
void pe_figure_ticks_below(const pe_box *panel, const pe_axis_words *words, size_t n,
                           bool at_centres, pe_canvas *canvas);
void pe_figure_ticks_left(const pe_box *panel, const pe_axis_words *words, size_t n,
                          pe_canvas *canvas);
/** The number of a panel above it: "head 3", "2, 0". */
void pe_figure_head(const pe_figure *figure, size_t panel, pe_canvas *canvas);

/** Sizes of text. */
#define PE_TITLE_SIZE 16.0
#define PE_TEXT_SIZE  12.0
#define PE_SMALL_SIZE 11.0

#endif
