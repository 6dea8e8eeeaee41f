/* SPDX-License-Identifier: MIT */
/* figure.h - where the elements of a tensor are on the paper, the cells that they become, and how these are drawn. */
#ifndef PE_FORMATS_FIGURE_FIGURE_H
#define PE_FORMATS_FIGURE_FIGURE_H

#include <stdbool.h>
#include <stddef.h>

#include "formats/figure/canvas.h"
#include "formats/format.h"
#include "formats/segments.h"
#include "formats/words.h"

/** Values [from, to], on a line or a logarithmic one (then both are positive). */
typedef struct pe_axis {
    double from, to;
    bool log;
} pe_axis;

#define PE_TICKS_MAX 24
#define PE_TICK_TEXT 40

typedef struct pe_tick {
    double value;
    char text[PE_TICK_TEXT];
} pe_tick;

/** A tick at a value, which is its text. */
void pe_axis_tick(double value, pe_tick *out);

/** The same as pe_axis_at on a logarithmic axis. */
double pe_axis_at_log(const pe_axis *axis, double value);

/** Where a value is: 0 at from, 1 at to. */
static inline double pe_axis_at(const pe_axis *axis, double value)
{
    return axis->log ? pe_axis_at_log(axis, value) : (value - axis->from) / (axis->to - axis->from);
}

/** The axis with ends that ticks fall on: at least these values, with zero where it is near. */
pe_axis pe_axis_around(double least, double most, bool log);

/** About `wanted` ticks at round values; whole ones where only these mean something. */
size_t pe_axis_ticks(const pe_axis *axis, size_t wanted, bool whole, pe_tick out[PE_TICKS_MAX]);

/** The least round number (1, 2, 5, times a power of ten) that is not below a positive value. */
double pe_axis_round_up(double value);

/**
 * Axes of length 1 count for nothing. One axis is a curve; two are a heatmap, rows downwards; of
 * more, all but the last two number the panels of small multiples.
 *
 * A panel is a grid of cells. While there is room, a cell is one element. Otherwise it covers
 * several, of which the least and the greatest are kept.
 */
typedef struct pe_layout {
    bool bare; /* too small for words: panels alone */
    bool curves;
    bool bars;                /* curves: of elements that nothing is between */
    size_t x_axis, y_axis;    /* of the tensor; curves: y_axis numbers the panels */
    bool points_first;        /* curves: points lie along the first of two axes */
    bool own_scales;          /* heatmaps: each of several has a scale and a legend of its own */
    size_t panels, panels_of; /* drawn, and there are */
    size_t rows, columns;     /* of a panel, in elements; curves: 1, and the points */
    size_t nx, ny;            /* of a panel, in cells */
    bool pooled;
    size_t abreast;      /* panels beside each other */
    pe_box panel;        /* the first */
    double right, below; /* from a panel to the next */
    pe_box plot;         /* all panels */
    size_t elements;     /* of the tensor that are needed: the first ones */
} pe_layout;

/** `of_several`: title and parameters stand above the sheet, not in the figure. */
void pe_layout_make(const pe_tensor *tensor, const pe_rendering *rendering, bool of_several,
                    pe_layout *out);

/** a / b, rounded up; 0 of nothing. */
static inline size_t pe_layout_quotient(size_t a, size_t b)
{
    return b == 0 ? 0 : (a + b - 1) / b;
}

/** The first pixel of cell i of n that share a length. */
static inline size_t pe_layout_edge(size_t i, size_t n, double length)
{
    return i * (size_t)length / n;
}

/** The box of a panel. */
pe_box pe_layout_panel(const pe_layout *layout, size_t panel);

/** Curves: which one of panels_of a panel shows, spread evenly. */
size_t pe_layout_series(const pe_layout *layout, size_t panel);

/** A cell of which nothing has come, or only masked elements, has low > high. */
typedef struct pe_cells {
    float *low, *high; /* [panels, ny, nx], owned */
    bool masked;       /* some element was */
} pe_cells;

pe_status pe_cells_make(const pe_layout *layout, pe_cells *out, pe_problem *why) PE_MUST_CHECK;
void pe_cells_free(pe_cells *cells);

/** Add elements, which come in order. */
void pe_cells_take(const pe_layout *layout, const pe_elements *elements, pe_cells *cells);

/** Of the cells of some panels; false when they have no element. */
bool pe_cells_bounds(const pe_layout *layout, const pe_cells *cells, size_t first, size_t panels,
                     double *least, double *most);

typedef struct pe_figure {
    const pe_plan *plan;
    const pe_rendering *rendering;
    size_t tensor;
    pe_layout layout;
    pe_cells cells;
    double least, most; /* of the cells */
    bool empty;         /* no element is to be seen */
    bool of_several;    /* its title is the tensor's name; the sheet has one, too */
} pe_figure;

/** A sentence in the place of a figure: why there is none. */
void pe_figure_draw_sentence(const char *title, const char *sentence, pe_canvas *canvas);

/* ---- the parts ---- */

static inline const pe_tensor *pe_figure_tensor(const pe_figure *figure)
{
    return &figure->plan->tensors[figure->tensor];
}

/** An axis of its tensor. */
static inline pe_axis_words pe_figure_words(const pe_figure *figure, size_t axis)
{
    pe_axis_words words;
    pe_words_axis(figure->rendering, pe_figure_tensor(figure), axis, &words);
    return words;
}

/** Whether the values are shown on a logarithmic scale: positive ones that span decades. */
bool pe_figure_wants_log(const pe_figure *figure);

/** Text in ink; `anchor` as in pe_caption. */
void pe_figure_text(pe_canvas *canvas, pe_point at, double size, double anchor, const char *text);

/** The panels: curves or heatmaps. */
void pe_figure_draw_panels(const pe_figure *figure, pe_canvas *canvas);

/** Ticks of n elements, whose ends or centres they stand at: below a panel, or left of it. */
void pe_figure_ticks(const pe_box *panel, const pe_axis_words *words, size_t n, bool below,
                     bool at_centres, pe_canvas *canvas);
/** One tick left of a panel: a line that ends at `until`, left of the panel or across it, and its
 * text. */
void pe_figure_tick_left(const pe_box *panel, double y, double until, const pe_pen *pen,
                         const char *text, pe_canvas *canvas);
/** The number of a panel above it: "head 3", "2, 0"; and what its scale spans, if that is its own. */
void pe_figure_head(const pe_figure *figure, size_t panel, const pe_axis *own, pe_canvas *canvas);

/** A smaller figure has no words; one of several may not be smaller. */
enum { PE_WORDS_WIDTH_MIN = 220, PE_WORDS_HEIGHT_MIN = 148 };

/** Sizes of text. */
#define PE_TITLE_SIZE 16.0
#define PE_TEXT_SIZE  12.0
#define PE_SMALL_SIZE 11.0

/** Figures of one size beside and below each other, one for each tensor. */
typedef struct pe_sheet {
    const pe_rendering *rendering;  /* of the whole */
    pe_rendering of_part;           /* the same with the size of a figure */
    size_t n, abreast, top;         /* `top` pixels of several are for title and parameters */
    pe_figure part[PE_MAX_TENSORS]; /* their renderings are of_part */
} pe_sheet;

/** Append the file of a sheet whose cells are known. Where memory is short, out->failed. */
typedef void (*pe_figure_write)(const pe_sheet *sheet, pe_buffer *out);

/** What a point of a curve costs as text, in units of work (plan/price.h). */
#define PE_POINT_WORK ((uint64_t)32)

/** Refuses view=curves of three axes and more, and a sheet on which its figures would be too small. */
pe_status pe_figure_check(const pe_plan *plan, const pe_rendering *rendering, size_t chosen,
                          pe_problem *why) PE_MUST_CHECK;

/** Describe the figures of the tensors that a rendering holds, which `write` makes. */
void pe_figure_describe(const pe_plan *plan, const pe_rendering *rendering, size_t chosen,
                        pe_figure_write write, pe_segments *out);

/** Title and parameters of a sheet of several. */
void pe_figure_sheet_title(const pe_sheet *sheet, pe_canvas *canvas);

/** Draw all of a figure. Where memory is short, canvas->out->failed. */
void pe_figure_draw(const pe_figure *figure, pe_canvas *canvas);

/** Where a figure is on its sheet: its upper left corner. */
void pe_figure_place(const pe_sheet *sheet, size_t part, size_t *x, size_t *y);

#endif
