/* SPDX-License-Identifier: MIT */
/* figure_layout.c - panels, cells and margins; and how many elements become few cells, none of which
 * hides an extreme. */
#include "formats/figure/figure.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/size.h"
#include "formats/words.h"

/* Margins, in pixels: for ticks and the names of the axes, for title and parameters, for the
 * legend. */
enum { LEFT = 80, TOP = 66, TOP_OF_PART = 36, BOTTOM = 66, RIGHT = 96, RIGHT_OF_CURVES = 22 };
/* Without words. */
enum { BARE = 6 };
/* Between panels, with room for what stands above each. */
enum { GAP_X = 14, GAP_Y = 22, HEAD = 16 };
/* Panels smaller than this show nothing. */
enum { PANEL_X_MIN = 48, PANEL_Y_MIN = 40, CURVE_Y_MIN = 36, PANELS_MAX = 64, CURVES_MAX = 8 };

static size_t length_of(const pe_shape *shape, size_t axis)
{
    return axis < shape->ndim ? shape->dim[axis] : 1;
}

/* The number of columns of panels that leaves each the largest of its shorter sides. */
static size_t choose_abreast(const pe_layout *layout, size_t most)
{
    double best = 0;
    size_t chosen = 1;
    for (size_t n = 1; n <= pe_size_min(layout->panels, most); n++) {
        const size_t high = pe_layout_quotient(layout->panels, n);
        const double x = (layout->plot.width + GAP_X) / (double)n - GAP_X,
                     y = (layout->plot.height + GAP_Y - HEAD) / (double)high - GAP_Y;
        const double side = x < y ? x : y;
        if (side > best) {
            best = side;
            chosen = n;
        }
    }
    return chosen;
}

static void place_panels(pe_layout *out)
{
    /* Above one panel there is room below the parameters, but not below the title of a part. */
    const bool heads = out->panels > 1 || (out->own_scales && out->plot.y < TOP);
    const double head = heads ? HEAD : 0;
    const size_t high = pe_layout_quotient(out->panels, out->abreast);
    out->right = (double)(size_t)((out->plot.width + GAP_X) / (double)out->abreast);
    out->below = (double)(size_t)((out->plot.height - head + GAP_Y) / (double)high);
    out->panel = (pe_box){out->plot.x, out->plot.y + head, out->right - GAP_X, out->below - GAP_Y};
}

/* ---- curves ---- */

static void lay_curves(const pe_shape *shape, const size_t *axis, size_t n, pe_layout *out)
{
    const size_t first = axis[0], last = axis[n - 1];
    out->x_axis = out->points_first ? first : last;
    out->y_axis = out->points_first ? last : first;
    out->rows = 1;
    out->columns = length_of(shape, out->x_axis);
    out->panels_of = n == 1 ? 1 : length_of(shape, out->y_axis);
    const size_t room = (size_t)(out->plot.height + GAP_Y) / (CURVE_Y_MIN + GAP_Y);
    out->panels = pe_size_min(out->panels_of, pe_size_min(room < 1 ? 1 : room, CURVES_MAX));
    out->panels = out->panels > 0 ? out->panels : 1;
    out->abreast = 1;
    place_panels(out);
    out->nx = pe_size_min(out->columns, (size_t)out->panel.width);
    out->ny = 1;
    out->pooled = out->columns > (size_t)out->panel.width;
    out->elements = out->columns * out->panels_of;
}

size_t pe_layout_series(const pe_layout *layout, size_t panel)
{
    if (layout->panels < 2)
        return 0;
    return panel * (layout->panels_of - 1) / (layout->panels - 1);
}

/* ---- heatmaps ---- */

void pe_layout_make(const pe_tensor *tensor, const pe_rendering *rendering, bool of_several,
                    pe_layout *out)
{
    const size_t top = of_several ? TOP_OF_PART : TOP;
    size_t axis[PE_MAX_DIMS];
    pe_axis_words words;
    const pe_shape *shape = &tensor->shape;
    size_t n = 0;
    for (size_t d = 0; d < shape->ndim; d++) /* axes longer than 1, at least one */
        if (shape->dim[d] != 1)
            axis[n++] = d;
    if (n == 0)
        axis[n++] = shape->ndim > 0 ? shape->ndim - 1 : 0;
    const pe_figure_view view = rendering->figure.view;
    *out = (pe_layout){.curves = view == PE_VIEW_CURVES || (view != PE_VIEW_HEATMAP && n == 1)};
    pe_words_axis(rendering, tensor, 0, &words);
    out->bare = rendering->figure.width < PE_WORDS_WIDTH_MIN ||
                rendering->figure.height < PE_WORDS_HEIGHT_MIN;
    out->own_scales = view == PE_VIEW_OWN_SCALES && n > 2;
    out->points_first = n == 2 && axis[0] == 0 && words.along_positions;
    pe_words_axis(rendering, tensor, axis[0], &words);
    out->plot = (pe_box){LEFT, (double)top,
                         (double)(rendering->figure.width - LEFT -
                                  (out->curves || out->own_scales ? RIGHT_OF_CURVES : RIGHT)),
                         (double)(rendering->figure.height - top - BOTTOM)};
    if (out->bare)
        out->plot = (pe_box){BARE, BARE, (double)(rendering->figure.width - 2 * BARE),
                             (double)(rendering->figure.height - 2 * BARE)};
    if (out->curves) {
        lay_curves(&tensor->shape, axis, n, out);
    } else {
        const size_t most_x = (size_t)(out->plot.width + GAP_X) / (PANEL_X_MIN + GAP_X);
        const size_t most_y = (size_t)(out->plot.height - HEAD + GAP_Y) / (PANEL_Y_MIN + GAP_Y);
        out->x_axis = axis[n - 1];
        out->y_axis = n > 1 ? axis[n - 2] : tensor->shape.ndim;
        out->columns = length_of(&tensor->shape, out->x_axis);
        out->rows = n > 1 ? length_of(&tensor->shape, out->y_axis) : 1;
        out->panels_of = 1;
        for (size_t d = 0; d + 2 < n; d++)
            out->panels_of *= length_of(&tensor->shape, axis[d]);
        out->panels = pe_size_min(out->panels_of, pe_size_min(most_x * most_y, PANELS_MAX));
        out->panels = out->panels > 0 ? out->panels : 1; /* also where there is no element */
        out->abreast = choose_abreast(out, most_x);
        place_panels(out);
        /* A cell that covers several elements has two pixels at least along a row: for the least and
         * the greatest. */
        const size_t width = (size_t)out->panel.width, height = (size_t)out->panel.height;
        out->pooled = out->columns > width || out->rows > height;
        out->nx = pe_size_min(out->columns, out->pooled ? width / 2 : width);
        out->ny = pe_size_min(out->rows, height);
        out->elements = out->panels * out->rows * out->columns;
    }
    out->bars = out->curves && n == 1 && words.apart && !out->pooled;
}

pe_box pe_layout_panel(const pe_layout *layout, size_t panel)
{
    pe_box box = layout->panel;
    const size_t row = panel / layout->abreast;
    box.x += (double)(panel % layout->abreast) * layout->right;
    box.y += (double)row * layout->below;
    return box;
}

/* ---- cells ---- */

#define RUN 1024 /* elements that are converted at once */

pe_status pe_cells_make(const pe_layout *layout, pe_cells *out, pe_problem *why)
{
    const size_t n = layout->panels * layout->ny * layout->nx;
    *out =
        (pe_cells){.low = malloc((n + 1) * sizeof(float)), .high = malloc((n + 1) * sizeof(float))};
    if (out->low == NULL || out->high == NULL) {
        pe_cells_free(out);
        return pe_fail_memory(why);
    }
    for (size_t i = 0; i < n; i++) {
        out->low[i] = INFINITY;
        out->high[i] = -INFINITY;
    }
    return PE_OK;
}

void pe_cells_free(pe_cells *cells)
{
    free(cells->low);
    free(cells->high);
    *cells = (pe_cells){0};
}

/* Where a run of elements goes: columns from `column` on, of a row of cells. */
typedef struct row_of_cells {
    float *low, *high; /* of cell 0 */
    size_t column;
} row_of_cells;

/* Column c belongs to cell c * nx / columns, nx <= columns. The quotient is carried on from column to
 * column, as dividing would take longer than all else. Masked elements are skipped. */
static bool add_run(const pe_layout *layout, const row_of_cells *row, const float *x, size_t n)
{
    const size_t nx = layout->nx, columns = layout->columns;
    float *low = row->low + row->column * nx / columns;
    float *high = row->high + (low - row->low);
    size_t over = row->column * nx % columns;
    bool masked = false;
    for (size_t i = 0; i < n; i++) {
        if (fabsf(x[i]) <= FLT_MAX) {
            *low = x[i] < *low ? x[i] : *low;
            *high = x[i] > *high ? x[i] : *high;
        } else {
            masked = true;
        }
        over += nx;
        const bool next = over >= columns;
        over -= next ? columns : 0;
        low += next;
        high += next;
    }
    return masked;
}

/* Elements as floats; those beyond the range of floats are its ends. */
static const float *as_floats(pe_dtype dtype, const void *data, size_t n, float *out)
{
    if (dtype == PE_FLOAT32)
        return data;
    const char *at = data;
    const double most = (double)FLT_MAX;
    for (size_t i = 0; i < n; i++, at += pe_dtype_bytes(dtype)) {
        const double x = pe_dtype_load(dtype, at);
        out[i] = (float)(isfinite(x) ? fmin(fmax(x, -most), most) : x);
    }
    return out;
}

void pe_cells_take(const pe_layout *layout, const pe_elements *elements, pe_cells *cells)
{
    if (layout->curves && layout->points_first) {
        /* Of each row only the elements of the curves that are drawn. */
        const pe_dtype dtype = elements->tensor->dtype;
        const size_t width = layout->panels_of, end = elements->first + elements->n;
        for (size_t r = elements->first / width; r * width < end; r++)
            for (size_t p = 0; p < layout->panels; p++) {
                const size_t e = r * width + pe_layout_series(layout, p);
                if (e < elements->first || e >= end || r >= layout->columns)
                    continue;
                float x;
                const char *at =
                    (const char *)elements->data + (e - elements->first) * pe_dtype_bytes(dtype);
                const row_of_cells row = {cells->low + p * layout->nx, cells->high + p * layout->nx,
                                          r};
                cells->masked |= add_run(layout, &row, as_floats(dtype, at, 1, &x), 1);
            }
    } else {
        float floats[RUN];
        const pe_dtype dtype = elements->tensor->dtype;
        const char *data = elements->data;
        const size_t end = elements->first + elements->n;
        for (size_t e = elements->first, n; e < end; e += n) {
            const size_t column = e % layout->columns, left = layout->columns - column;
            /* The row, counted through all panels, of which some curves are not drawn. */
            const size_t r = e / layout->columns, between = layout->panels - 1;
            size_t panel = r / layout->rows;
            if (layout->curves)
                panel = between == 0
                            ? 0
                            : (r * between + layout->panels_of - 2) / (layout->panels_of - 1);
            const bool drawn =
                panel < layout->panels && (!layout->curves || pe_layout_series(layout, panel) == r);
            const size_t at =
                (panel * layout->ny + r % layout->rows * layout->ny / layout->rows) * layout->nx;
            n = pe_size_min(pe_size_min(left, end - e), RUN);
            if (drawn) {
                const row_of_cells row = {cells->low + at, cells->high + at, column};
                cells->masked |= add_run(layout, &row, as_floats(dtype, data, n, floats), n);
            }
            data += n * pe_dtype_bytes(dtype);
        }
    }
}

bool pe_cells_bounds(const pe_layout *layout, const pe_cells *cells, size_t first, size_t panels,
                     double *least, double *most)
{
    const size_t each = layout->ny * layout->nx;
    float low = INFINITY, high = -INFINITY;
    for (size_t i = first * each; i < (first + panels) * each; i++) {
        low = cells->low[i] < low ? cells->low[i] : low;
        high = cells->high[i] > high ? cells->high[i] : high;
    }
    *least = (double)low;
    *most = (double)high;
    return low <= high;
}
