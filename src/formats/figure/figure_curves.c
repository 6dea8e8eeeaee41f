/* SPDX-License-Identifier: MIT */
/* figure_curves.c - values over one axis; of several series each has a panel, all one scale. */
#include <math.h>
#include <stdlib.h>

#include "formats/figure/figure.h"

#define DOTS_MAX 64 /* as many points are told apart */

static const pe_pen rule = {PE_RULE, 1}, zero_rule = {PE_FAINT, 1}, curve = {PE_ACCENT, 1.75},
                    band = {PE_ACCENT, 1.25}, dot = {PE_ACCENT, 4.5};

static double y_of(const pe_box *panel, const pe_axis *axis, float value)
{
    return panel->y + panel->height * (1 - pe_axis_at(axis, (double)value));
}

/* A point for each cell, with gaps where cells are masked: runs of points, each drawn as one line.
 * Returns the cell behind the run. */
static size_t draw_run(const pe_figure *figure, const pe_box *panel, const pe_axis *axis,
                       size_t at[2], pe_point *point, pe_canvas *canvas)
{
    const pe_layout *layout = &figure->layout;
    const float *low = figure->cells.low + at[0] * layout->nx;
    const double step = layout->columns > 1 ? panel->width / (double)(layout->columns - 1) : 0;
    size_t i = at[1], n = 0;
    for (; i < layout->nx && isfinite(low[i]); i++, n++)
        point[n] = (pe_point){panel->x + (step > 0 ? step * (double)i : panel->width / 2),
                              y_of(panel, axis, low[i])};
    if (n > 1)
        canvas->line(canvas, point, n, &curve, false);
    for (size_t d = n; d-- > 0 && layout->columns <= DOTS_MAX;)
        point[2 * d] = point[2 * d + 1] = point[d];
    if (n > 0 && (layout->columns <= DOTS_MAX || n == 1)) {
        point[1] = point[0];
        canvas->line(canvas, point, layout->columns <= DOTS_MAX ? 2 * n : 2, &dot, true);
    }
    return n > 0 ? i : i + 1;
}

/* A line through the least and the greatest value of each pixel, that which is nearer first; with
 * gaps where all of a pixel is masked. */
static void draw_band(const pe_figure *figure, const pe_box *panel, const pe_axis *axis,
                      size_t series, pe_point *point, pe_canvas *canvas)
{
    const size_t nx = figure->layout.nx;
    const float *low = figure->cells.low + series * nx, *high = figure->cells.high + series * nx;
    size_t n = 0;
    for (size_t i = 0; i < nx; i++) {
        if (low[i] <= high[i]) {
            const double x = panel->x + (double)i + 0.5, least = y_of(panel, axis, low[i]),
                         most = y_of(panel, axis, high[i]);
            const bool rising = n > 0 && fabs(point[n - 1].y - least) < fabs(point[n - 1].y - most);
            point[n++] = (pe_point){x, rising ? least : most};
            point[n++] = (pe_point){x, rising ? most : least};
        }
        if (n > 0 && (i + 1 == nx || low[i] > high[i])) {
            if (n == 2) { /* alone between gaps: all of its pixel */
                point[0].y -= 0.5;
                point[1].y += 0.5;
            }
            canvas->line(canvas, point, n, &band, false);
            n = 0;
        }
    }
}

void pe_figure_draw_curves(const pe_figure *figure, pe_canvas *canvas)
{
    const pe_layout *layout = &figure->layout;
    const bool log = pe_figure_wants_log(figure), from_zero = layout->bars && !log;
    const double least = from_zero ? fmin(figure->least, 0) : figure->least,
                 most = from_zero ? fmax(figure->most, 0) : figure->most;
    const pe_axis axis = figure->empty ? (pe_axis){0, 1, false} : pe_axis_around(least, most, log);
    const pe_box last = pe_layout_panel(layout, layout->panels > 0 ? layout->panels - 1 : 0);
    pe_axis_words words;
    pe_point *point = malloc((2 * layout->nx + 2) * sizeof *point);
    if (point == NULL) {
        canvas->out->failed = true;
        return;
    }
    for (size_t p = 0; p < layout->panels; p++) {
        const pe_box box = pe_layout_panel(layout, p);
        pe_figure_head(figure, p, NULL, canvas);
        if (!layout->bare) {
            pe_tick tick[PE_TICKS_MAX];
            const size_t n = pe_axis_ticks(&axis, (size_t)(box.height / 44), false, tick);
            for (size_t i = 0; i < n; i++) {
                const bool zero = tick[i].value == 0 && !axis.log && axis.from < 0;
                pe_figure_tick_left(
                    &box, box.y + box.height * (1 - pe_axis_at(&axis, tick[i].value)),
                    box.x + box.width, zero ? &zero_rule : &rule, tick[i].text, canvas);
            }
        }
        if (layout->pooled)
            draw_band(figure, &box, &axis, p, point, canvas);
        if (layout->bars) {
            /* From zero, or from the foot of a logarithmic scale; a quarter of the room is left
             * between two. */
            const size_t n = figure->layout.nx;
            const double step = box.width / (double)n, foot = axis.log ? axis.from : 0;
            for (size_t i = 0; i < n; i++) {
                const double zero = y_of(&box, &axis, (float)foot),
                             top = y_of(&box, &axis, figure->cells.low[i]);
                const pe_box bar = {box.x + step * ((double)i + 0.125), top < zero ? top : zero,
                                    step * 0.75, fabs(zero - top)};
                if (isfinite(figure->cells.low[i]))
                    canvas->box(canvas, &bar, PE_ACCENT);
            }
        }
        for (size_t at[2] = {p, 0}; !layout->pooled && !layout->bars && at[1] < layout->nx;)
            at[1] = draw_run(figure, &box, &axis, at, point, canvas);
    }
    free(point);
    if (layout->bare)
        return;
    pe_words_axis(figure->rendering, pe_figure_tensor(figure), layout->x_axis, &words);
    pe_figure_ticks_below(&last, &words, layout->columns, layout->pooled || layout->bars, canvas);
}
