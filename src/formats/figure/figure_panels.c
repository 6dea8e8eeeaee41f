/* SPDX-License-Identifier: MIT */
/* figure_panels.c - values over one axis, all with one scale; and values as colours, with the legend
 * that says which. */
#include <math.h>
#include <stdlib.h>

#include "base/size.h"
#include "base/yield.h"
#include "formats/figure/figure.h"

/* ---- curves ---- */

#define DOTS_MAX 64 /* as many points are told apart */

static const pe_pen rule = {PE_RULE, 1}, zero_rule = {PE_FAINT, 1}, curve = {PE_ACCENT, 1.75},
                    band = {PE_ACCENT, 1.25}, dot = {PE_ACCENT, 4.5};

static double y_of(const pe_box *panel, const pe_axis *axis, float value)
{
    return panel->y + panel->height * (1 - pe_axis_at(axis, (double)value));
}

/* A line through a point for each cell or, where pixels hold several values, through the least and
 * the greatest of each, that which is nearer first; with gaps where all of a cell is masked. Few
 * points, and one between gaps, are dots, too. */
static void draw_line(const pe_figure *figure, const pe_box *panel, const pe_axis *axis,
                      size_t series, pe_point *point, pe_canvas *canvas)
{
    const pe_layout *layout = &figure->layout;
    const size_t nx = layout->nx;
    const float *low = figure->cells.low + series * nx, *high = figure->cells.high + series * nx;
    const double step = layout->columns > 1 ? panel->width / (double)(layout->columns - 1) : 0;
    const bool few = layout->columns <= DOTS_MAX;
    size_t n = 0;
    for (size_t i = 0; i < nx; i++) {
        const bool masked = low[i] > high[i];
        const double least = masked ? 0 : y_of(panel, axis, low[i]);
        if (!masked && layout->pooled) {
            const double x = panel->x + (double)i + 0.5, most = y_of(panel, axis, high[i]);
            const bool rising = n > 0 && fabs(point[n - 1].y - least) < fabs(point[n - 1].y - most);
            point[n++] = (pe_point){x, rising ? least : most};
            point[n++] = (pe_point){x, rising ? most : least};
        } else if (!masked) {
            const double x = step > 0 ? step * (double)i : panel->width / 2;
            point[n++] = (pe_point){panel->x + x, least};
        }
        if (n == 0 || (i + 1 < nx && !masked))
            continue;
        if (layout->pooled && n == 2) { /* alone between gaps: all of its pixel */
            point[0].y -= 0.5;
            point[1].y += 0.5;
        }
        if (n > 1)
            canvas->line(canvas, point, n, layout->pooled ? &band : &curve, false);
        if (!layout->pooled && (few || n == 1)) {
            for (size_t d = n; d-- > 0;)
                point[2 * d] = point[2 * d + 1] = point[d];
            canvas->line(canvas, point, 2 * n, &dot, true);
        }
        n = 0;
    }
}

static void draw_curves(const pe_figure *figure, pe_canvas *canvas)
{
    const pe_layout *layout = &figure->layout;
    const bool log = pe_figure_wants_log(figure), from_zero = layout->bars && !log;
    const double least = from_zero ? fmin(figure->least, 0) : figure->least,
                 most = from_zero ? fmax(figure->most, 0) : figure->most;
    const pe_axis axis = figure->empty ? (pe_axis){0, 1, false} : pe_axis_around(least, most, log);
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
        if (!layout->bars) {
            draw_line(figure, &box, &axis, p, point, canvas);
        } else {
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
    }
    free(point);
    if (layout->bare)
        return;
    const pe_box last = pe_layout_panel(layout, layout->panels - 1);
    const pe_axis_words words = pe_figure_words(figure, layout->x_axis);
    pe_figure_ticks(&last, &words, layout->columns, true, layout->pooled || layout->bars, canvas);
}

/* ---- heatmaps ---- */

enum { BAR_WIDTH = 12, BAR_GAP = 18, BAR_MAX = 260, STEPS_MAX = PE_SEQUENTIAL };
/* Of the legend of one panel. */
enum { OWN_WIDTH = 6, OWN_GAP = 3 };

/* Below this, values within [-1, 1] get a scale of their own. */
#define SMALL 0.25

/* How values become colours. */
typedef struct colouring {
    pe_axis axis;
    size_t first, n; /* colours of the palette */
    bool steps;      /* a colour for each whole number */
} colouring;

/* Indices: a colour each. Beyond 1 without a sign: the sequential scale. Else the diverging one, of
 * which values from beyond -1 to 0 have the lower half. */
static colouring choose(const pe_figure *figure, bool empty, double low, double high)
{
    const double most = fabs(low) > fabs(high) ? fabs(low) : fabs(high);
    if (empty)
        return (colouring){{-1, 1, false}, PE_MINUS_ONE, PE_DIVERGING, false};
    if (pe_figure_tensor(figure)->dtype == PE_INT32 && high - low < STEPS_MAX)
        return (colouring){{low, high, false}, PE_SEQUENTIAL_ZERO, PE_SEQUENTIAL, true};
    if (low >= 0 && high > 1)
        return (colouring){pe_axis_around(low, high, low > 0 && pe_figure_wants_log(figure)),
                           PE_SEQUENTIAL_ZERO, PE_SEQUENTIAL, false};
    const double end = most == 0 || (most > SMALL && most <= 1) ? 1 : pe_axis_round_up(most);
    if (high <= 0 && (end > 1 || figure->layout.own_scales))
        return (colouring){{-end, 0, false}, PE_MINUS_ONE, PE_DIVERGING / 2 + 1, false};
    return (colouring){{-end, end, false}, PE_MINUS_ONE, PE_DIVERGING, false};
}

static inline unsigned char colour_at(const colouring *by, double share)
{
    const double at = share * (double)(by->n - 1) + 0.5;
    const size_t i = !(at > 0) ? 0 : at >= (double)by->n ? by->n - 1 : (size_t)at;
    return (unsigned char)(by->first + i);
}

/* Of a scale of steps the palest colour would be the paper's, so it begins a little above. */
static inline unsigned char colour_of(const colouring *by, double value)
{
    const double range = by->axis.to - by->axis.from;
    if (by->steps)
        return colour_at(by, range == 0 ? 0.5 : 0.06 + 0.94 * (value - by->axis.from) / range);
    return colour_at(by, pe_axis_at(&by->axis, value));
}

/* ---- cells ---- */

/* Row by row of cells. Where a cell has several values, least and greatest take turns like the squares
 * of a chessboard, so both show. A cell begins where the one before it ends: edges are quotients, which
 * take longer than pixels. */
static void draw_cells(const pe_figure *figure, size_t panel, const colouring *by,
                       unsigned char *colours, pe_canvas *canvas)
{
    const pe_layout *layout = &figure->layout;
    const pe_box box = pe_layout_panel(layout, panel);
    const size_t width = (size_t)box.width, height = (size_t)box.height, nx = layout->nx;
    for (size_t row = 0; row < layout->ny; row++) {
        const size_t at = (panel * layout->ny + row) * nx;
        const float *low = figure->cells.low + at, *high = figure->cells.high + at;
        pe_yield_spend(layout->pooled ? width * height / layout->ny : nx);
        for (size_t i = 0; i < nx && !layout->pooled; i++)
            colours[row * nx + i] = isfinite(low[i]) ? colour_of(by, (double)low[i]) : PE_MASKED;
        if (!layout->pooled)
            continue;
        const size_t top = pe_layout_edge(row, layout->ny, box.height),
                     below = pe_layout_edge(row + 1, layout->ny, box.height);
        for (size_t i = 0, left = 0, right; i < nx; i++, left = right) {
            const bool masked = low[i] > high[i];
            const unsigned char ends[2] = {masked ? PE_MASKED : colour_of(by, (double)low[i]),
                                           masked ? PE_MASKED : colour_of(by, (double)high[i])};
            right = pe_layout_edge(i + 1, nx, box.width);
            for (size_t y = top; y < below; y++)
                for (size_t x = left; x < right; x++)
                    colours[y * width + x] = ends[(x + y) % 2];
        }
    }
    canvas->image(canvas, &(pe_image){.columns = layout->pooled ? width : nx,
                                      .rows = layout->pooled ? height : layout->ny,
                                      .x = (size_t)box.x,
                                      .y = (size_t)box.y,
                                      .width = width,
                                      .height = height,
                                      .colour = colours});
}

/* A line around a box. */
static void frame(const pe_box *box, pe_canvas *canvas)
{
    static const pe_pen pen = {PE_FAINT, 1};
    const double x = box->x - 0.5, y = box->y - 0.5, right = x + box->width + 1,
                 below = y + box->height + 1;
    const pe_point corner[] = {{x, y}, {right, y}, {right, below}, {x, below}, {x, y}};
    canvas->line(canvas, corner, 5, &pen, false);
}

/* ---- the legend ---- */

static void legend_text(pe_point at, const char *text, pe_canvas *canvas)
{
    pe_figure_text(canvas, (pe_point){at.x + BAR_WIDTH + 7, at.y + 4}, PE_SMALL_SIZE, 0, text);
}

/* One box for each whole number, the least at the bottom. */
static void legend_steps(const pe_box *bar, const colouring *by, pe_canvas *canvas)
{
    const size_t n = (size_t)(by->axis.to - by->axis.from) + 1;
    const double step = bar->height / (double)n, foot = bar->y + bar->height;
    for (size_t i = 0; i < n; i++) {
        const double top = floor(foot - (double)(i + 1) * step + 0.5),
                     end = floor(foot - (double)i * step + 0.5);
        const pe_box box = {bar->x, top, bar->width, end - top};
        canvas->box(canvas, &box, colour_of(by, by->axis.from + (double)i));
    }
}

/* The colours from the least, at the foot, to the greatest. */
static void legend_bar(const pe_box *bar, const colouring *by, pe_canvas *canvas)
{
    unsigned char colours[BAR_MAX];
    const size_t height = (size_t)bar->height, rows = pe_size_min(height, BAR_MAX);
    for (size_t r = 0; r < rows; r++)
        colours[r] = colour_at(by, 1 - ((double)r + 0.5) / (double)rows);
    canvas->image(canvas, &(pe_image){1, rows, (size_t)bar->x, (size_t)bar->y, (size_t)bar->width,
                                      height, colours});
}

static void draw_legend(const pe_figure *figure, const colouring *by, pe_canvas *canvas)
{
    const pe_box *plot = &figure->layout.plot;
    const pe_box first = pe_layout_panel(&figure->layout, 0);
    const double room = plot->y + plot->height - first.y, below = figure->cells.masked ? 26 : 0;
    const double most = room - below < 60 ? 60 : room - below;
    pe_box bar = {floor(plot->x + plot->width + BAR_GAP), first.y, BAR_WIDTH,
                  floor(most < BAR_MAX ? most : BAR_MAX)};
    (by->steps ? legend_steps : legend_bar)(&bar, by, canvas);
    pe_tick tick[PE_TICKS_MAX];
    const size_t ticks =
        pe_axis_ticks(&by->axis, (size_t)(bar.height / (by->steps ? 22 : 44)), by->steps, tick);
    const double step = bar.height / (by->axis.to - by->axis.from + 1); /* of a whole number */
    for (size_t t = 0; t < ticks; t++) {
        const double i = tick[t].value - by->axis.from + 0.5;
        const double y = by->steps
                             ? bar.y + bar.height - i * step
                             : bar.y + bar.height * (1 - pe_axis_at(&by->axis, tick[t].value));
        legend_text((pe_point){bar.x, y}, tick[t].text, canvas);
    }
    frame(&bar, canvas);
    if (!figure->cells.masked)
        return;
    const pe_box box = {bar.x, bar.y + bar.height + 12, BAR_WIDTH, BAR_WIDTH};
    canvas->box(canvas, &box, PE_MASKED);
    legend_text((pe_point){box.x, box.y + 6}, "masked", canvas);
}

static void draw_panel(const pe_figure *figure, size_t panel, const colouring *by,
                       pe_canvas *canvas)
{
    const pe_layout *layout = &figure->layout;
    const pe_box box = pe_layout_panel(layout, panel);
    frame(&box, canvas);
    if (layout->bare)
        return;
    pe_figure_head(figure, panel, layout->own_scales ? &by->axis : NULL, canvas);
    if (layout->own_scales)
        legend_bar(&(pe_box){box.x + box.width + OWN_GAP, box.y, OWN_WIDTH, box.height}, by,
                   canvas);
    if (panel % layout->abreast == 0) {
        const pe_axis_words words = pe_figure_words(figure, layout->y_axis);
        pe_figure_ticks(&box, &words, layout->rows, false, true, canvas);
    }
    if (panel + layout->abreast >= layout->panels) {
        const pe_axis_words words = pe_figure_words(figure, layout->x_axis);
        pe_figure_ticks(&box, &words, layout->columns, true, true, canvas);
    }
}

static void draw_heatmaps(const pe_figure *figure, pe_canvas *canvas)
{
    const pe_layout *layout = &figure->layout;
    colouring by = choose(figure, figure->empty, figure->least, figure->most);
    const size_t pixels = (size_t)layout->panel.width * (size_t)layout->panel.height;
    unsigned char *colours = malloc(pixels + 1);
    if (colours == NULL) {
        canvas->out->failed = true;
        return;
    }
    for (size_t p = 0; p < layout->panels; p++) {
        double least, most;
        if (layout->own_scales) {
            const bool some = pe_cells_bounds(layout, &figure->cells, p, 1, &least, &most);
            by = choose(figure, !some, least, most);
        }
        draw_cells(figure, p, &by, colours, canvas);
        draw_panel(figure, p, &by, canvas);
    }
    free(colours);
    if (!layout->bare && !layout->own_scales)
        draw_legend(figure, &by, canvas);
}

void pe_figure_draw_panels(const pe_figure *figure, pe_canvas *canvas)
{
    (figure->layout.curves ? draw_curves : draw_heatmaps)(figure, canvas);
}
