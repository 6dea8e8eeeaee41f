/* SPDX-License-Identifier: MIT */
/* figure_cells.c - many elements become few cells, none of which hides an extreme. */
#include "formats/figure/figure.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

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

/* ---- heatmaps, and curves along the last axis ---- */

/* The row of cells of row r, counted through all panels; false: none is drawn. */
static bool find_row(const pe_layout *layout, pe_cells *cells, size_t r, row_of_cells *out)
{
    size_t panel = r / layout->rows, row = r % layout->rows;
    if (layout->curves) {
        panel = layout->panels < 2
                    ? 0
                    : (r * (layout->panels - 1) + layout->panels_of - 2) / (layout->panels_of - 1);
        if (panel >= layout->panels || pe_layout_series(layout, panel) != r)
            return false;
    }
    if (panel >= layout->panels)
        return false;
    const size_t at = (panel * layout->ny + row * layout->ny / layout->rows) * layout->nx;
    out->low = cells->low + at;
    out->high = cells->high + at;
    return true;
}

/* ---- curves along the first axis ---- */

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
            row_of_cells row = {.column = column};
            n = left < end - e ? left : end - e;
            n = n < RUN ? n : RUN;
            if (find_row(layout, cells, e / layout->columns, &row))
                cells->masked |= add_run(layout, &row, as_floats(dtype, data, n, floats), n);
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
