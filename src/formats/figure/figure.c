/* SPDX-License-Identifier: MIT */
/* figure.c - the elements of a figure come and are reduced to its cells; then it is drawn. */
#include "formats/figure/figure.h"

#include <stdlib.h>

#include "base/size.h"
#include "formats/figure/pixels.h"

/* Beside its pixels: text, and of every point of a curve its coordinates. */
#define TEXT_MAX  ((size_t)48 << 10)
#define POINT_MAX ((size_t)40)

/* Of lines and words, in units of work (plan/price.h). */
#define WORDS_WORK ((uint64_t)32768)

/* Of several: title and parameters. */
enum { SHEET_TOP = 52 };

typedef struct reduction {
    pe_sheet sheet;
    pe_figure_write write;
} reduction;

static pe_status take(void *state, const pe_elements *elements, pe_problem *why)
{
    pe_figure *figure = ((reduction *)state)->sheet.part;
    while (pe_figure_tensor(figure) != elements->tensor)
        figure++;
    if (figure->cells.low == NULL) {
        PE_TRY(pe_cells_make(&figure->layout, &figure->cells, why));
    }
    pe_cells_take(&figure->layout, elements, &figure->cells);
    return PE_OK;
}

static void free_cells(reduction *r)
{
    for (size_t i = 0; i < r->sheet.n; i++)
        pe_cells_free(&r->sheet.part[i].cells);
}

static pe_status finish(void *state, pe_buffer *out, pe_problem *why)
{
    reduction *r = state;
    for (pe_figure *figure = r->sheet.part; figure < r->sheet.part + r->sheet.n; figure++) {
        if (figure->cells.low == NULL &&
            pe_cells_make(&figure->layout, &figure->cells, why) != PE_OK)
            return why->status;
        figure->empty = !pe_cells_bounds(&figure->layout, &figure->cells, 0, figure->layout.panels,
                                         &figure->least, &figure->most);
    }
    r->write(&r->sheet, out);
    free_cells(r);
    return out->failed ? pe_fail_memory(why) : PE_OK;
}

static void release(void *state)
{
    free_cells(state);
    free(state);
}

static size_t count(const pe_plan *plan, const pe_rendering *rendering, size_t chosen)
{
    size_t n = 0;
    for (size_t t = 0; t < plan->n_tensors; t++)
        n += pe_format_holds(rendering, t, chosen);
    return n;
}

/* Up to three figures are beside each other; more are in rows of the same number. */
static size_t abreast_of(size_t n)
{
    size_t abreast = 1;
    while (abreast * abreast < n)
        abreast++;
    return n <= 3 ? n : abreast;
}

void pe_figure_describe(const pe_plan *plan, const pe_rendering *rendering, size_t chosen,
                        pe_figure_write write, pe_segments *out)
{
    reduction *r = calloc(1, sizeof *r);
    if (r == NULL) {
        out->text.failed = true;
        return;
    }
    const size_t n = count(plan, rendering, chosen), abreast = abreast_of(n);
    r->write = write;
    r->sheet = (pe_sheet){.rendering = rendering, .of_part = *rendering, .abreast = abreast};
    r->sheet.of_part.figure.width /= abreast;
    r->sheet.top = n > 1 ? SHEET_TOP : 0;
    r->sheet.of_part.figure.height -= r->sheet.top;
    r->sheet.of_part.figure.height /= pe_layout_quotient(n, abreast);
    out->reducer = (pe_reducer){.state = r, .take = take, .finish = finish, .release = release};
    for (size_t t = 0; t < plan->n_tensors; t++)
        if (pe_format_holds(rendering, t, chosen)) {
            const bool of_several = n > 1;
            pe_figure *figure = &r->sheet.part[r->sheet.n++];
            const pe_tensor *tensor = &plan->tensors[t];
            const pe_layout *layout = &figure->layout;
            *figure = (pe_figure){.plan = plan,
                                  .rendering = &r->sheet.of_part,
                                  .tensor = t,
                                  .of_several = of_several};
            pe_layout_make(tensor, figure->rendering, of_several, &figure->layout);
            out->reducer.elements[t] = pe_size_min(layout->elements, tensor->elements);
            /* The pixels, in base64 where the file is text, and what is drawn around them. */
            const pe_figure_options *options = &figure->rendering->figure;
            const size_t pixels =
                pe_pixels_png_max(options->width * options->height, options->height);
            const size_t images = layout->panels * pe_pixels_png_max(0, 0);
            const size_t points = layout->curves ? 2 * layout->panels * layout->nx : 0;
            out->reducer.bytes_max += TEXT_MAX + (uint64_t)(pixels + images) / 3 * 4 +
                                      points * POINT_MAX + layout->panels * 1024;
            /* Lines and words; of images each pixel, which is coloured and compressed; points of
             * curves. */
            const size_t cells = layout->panels * layout->nx * layout->ny;
            const size_t shown =
                layout->panels * (size_t)layout->panel.width * (size_t)layout->panel.height;
            out->reducer.work +=
                WORDS_WORK + (layout->curves ? 2 * cells * PE_POINT_WORK
                                             : (layout->pooled ? shown : cells) * PE_PIXEL_WORK);
            pe_segments_numbers(out, t, &pe_reduced_encode);
        }
}

void pe_figure_place(const pe_sheet *sheet, size_t part, size_t *x, size_t *y)
{
    *x = part % sheet->abreast * sheet->of_part.figure.width;
    *y = sheet->top + part / sheet->abreast * sheet->of_part.figure.height;
}

pe_status pe_figure_check(const pe_plan *plan, const pe_rendering *rendering, size_t chosen,
                          pe_problem *why)
{
    const pe_figure_options *options = &rendering->figure;
    for (size_t t = 0; t < plan->n_tensors; t++) {
        const pe_shape *shape = &plan->tensors[t].shape;
        size_t axes = 0;
        for (size_t d = 0; d < shape->ndim; d++)
            axes += shape->dim[d] != 1;
        if (pe_format_holds(rendering, t, chosen) && options->view == PE_VIEW_CURVES && axes > 2)
            return pe_fail(
                why, PE_INVALID_PARAMETER, "view",
                "view must be auto, heatmap or own_scales for a tensor of more than two axes, "
                "this one has %zu",
                axes);
    }
    const size_t n = count(plan, rendering, chosen), abreast = abreast_of(n);
    if (n <= 1)
        return PE_OK;
    const size_t width = abreast * PE_WORDS_WIDTH_MIN,
                 height = SHEET_TOP + pe_layout_quotient(n, abreast) * PE_WORDS_HEIGHT_MIN;
    if (options->width >= width && options->height >= height)
        return PE_OK;
    return pe_fail(why, PE_INVALID_PARAMETER, options->width < width ? "width" : "height",
                   "a figure of %zu tensors needs at least %zu x %zu pixels, got %zu x %zu; or "
                   "tensor= chooses one",
                   n, width, height, options->width, options->height);
}
