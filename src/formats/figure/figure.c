/* SPDX-License-Identifier: MIT */
/* figure.c - the elements of a figure come and are reduced to its cells; then it is drawn. */
#include "formats/figure/figure.h"

#include <stdlib.h>

#include "formats/figure/pixels.h"

/* Beside its pixels: text, and of every point of a curve its coordinates. */
#define TEXT_MAX  ((size_t)48 << 10)
#define POINT_MAX ((size_t)40)

/* Of lines and words, in units of work (plan/price.h). */
#define WORDS_WORK ((uint64_t)32768)

typedef struct reduction {
    pe_figure figure;
    pe_figure_write write;
} reduction;

static pe_status take(void *state, const pe_elements *elements, pe_problem *why)
{
    reduction *r = state;
    if (r->figure.cells.low == NULL) {
        const pe_status status = pe_cells_make(&r->figure.layout, &r->figure.cells, why);
        if (status != PE_OK)
            return status;
    }
    pe_cells_take(&r->figure.layout, elements, &r->figure.cells);
    return PE_OK;
}

static pe_status finish(void *state, pe_buffer *out, pe_problem *why)
{
    reduction *r = state;
    pe_figure *figure = &r->figure;
    pe_status status =
        figure->cells.low != NULL ? PE_OK : pe_cells_make(&figure->layout, &figure->cells, why);
    if (status != PE_OK)
        return status;
    figure->empty =
        !pe_cells_bounds(&figure->layout, &figure->cells, &figure->least, &figure->most);
    r->write(figure, out);
    pe_cells_free(&figure->cells);
    return out->failed ? pe_fail_memory(why) : PE_OK;
}

static void release(void *state)
{
    reduction *r = state;
    pe_cells_free(&r->figure.cells);
    free(r);
}

/* The pixels, in base64 where the file is text, and what is drawn around them. */
static uint64_t bytes_max(const pe_figure *figure)
{
    const pe_layout *layout = &figure->layout;
    const pe_figure_options *options = &figure->rendering->figure;
    const size_t pixels = pe_pixels_png_max(options->width * options->height, options->height);
    const size_t images = layout->panels * pe_pixels_png_max(0, 0);
    const size_t points = layout->curves ? 2 * layout->panels * layout->nx : 0;
    return TEXT_MAX + (uint64_t)(pixels + images) / 3 * 4 + points * POINT_MAX +
           layout->panels * 1024;
}

/* Lines and words; of images each pixel, which is coloured and compressed; points of curves. */
static uint64_t drawing_work(const pe_layout *layout)
{
    const size_t cells = layout->panels * layout->nx * layout->ny;
    const size_t pixels = layout->pooled ? layout->across * layout->down : 1;
    return WORDS_WORK +
           (layout->curves ? 2 * cells * PE_POINT_WORK : cells * pixels * PE_PIXEL_WORK);
}

void pe_figure_describe(const pe_figure *what, pe_figure_write write, pe_segments *out)
{
    reduction *r = calloc(1, sizeof *r);
    if (r == NULL) {
        out->text.failed = true;
        return;
    }
    const pe_tensor *tensor = pe_figure_tensor(what);
    r->figure = *what;
    r->write = write;
    pe_layout_make(tensor, what->rendering, &r->figure.layout);
    const size_t elements = r->figure.layout.elements;
    out->reducer = (pe_reducer){
        .elements = elements < tensor->elements ? elements : tensor->elements,
        .bytes_max = bytes_max(&r->figure),
        .work = drawing_work(&r->figure.layout),
        .state = r,
        .take = take,
        .finish = finish,
        .release = release,
    };
    pe_segments_numbers(out, what->tensor, &pe_reduced_encode);
}

pe_status pe_figure_check(const pe_tensor *tensor, const pe_rendering *rendering, pe_problem *why)
{
    size_t axes = 0;
    for (size_t d = 0; d < tensor->shape.ndim; d++)
        axes += tensor->shape.dim[d] != 1;
    if (rendering->figure.view == PE_VIEW_CURVES && axes > 2)
        return pe_fail(why, PE_INVALID_PARAMETER, "view",
                       "view must be heatmap for a tensor of more than two axes, this one has %zu",
                       axes);
    return PE_OK;
}

pe_canvas pe_figure_canvas(const pe_figure *figure, pe_buffer *out)
{
    const pe_figure_options *options = &figure->rendering->figure;
    return (pe_canvas){
        .width = options->width, .height = options->height, .dark = options->dark, .out = out};
}
