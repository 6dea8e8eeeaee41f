/* SPDX-License-Identifier: MIT */
/* png.c - image/png: a figure of one tensor, in pixels. */
#include <stdlib.h>

#include "formats/figure/figure.h"
#include "formats/figure/pixels.h"

static void write_png(const pe_figure *figure, pe_buffer *out)
{
    pe_palette palette;
    pe_canvas canvas = pe_figure_canvas(figure, out);
    const size_t size[2] = {canvas.width, canvas.height};
    canvas.pixels = calloc(canvas.width, canvas.height); /* 0 is the paper */
    if (canvas.pixels == NULL) {
        out->failed = true;
        return;
    }
    pe_pixels_canvas(&canvas);
    pe_figure_draw(figure, &canvas);
    pe_palette_make(canvas.dark, &palette);
    pe_pixels_png(canvas.pixels, size, &palette, out);
    free(canvas.pixels);
}

static void describe(const pe_plan *plan, const pe_rendering *rendering, size_t tensor,
                     pe_segments *out)
{
    const pe_figure figure = {.plan = plan, .rendering = rendering, .tensor = tensor};
    pe_figure_describe(&figure, write_png, out);
    out->reducer.work = rendering->figure.width * rendering->figure.height * PE_PIXEL_WORK;
}

static const struct pe_format_ops ops = {.check = pe_figure_check, .describe = describe};

const pe_format pe_format_png = {
    .name = "png",
    .extension = ".png",
    .media_type = "image/png",
    .help = "A figure of one tensor in pixels: title, axes with units, ticks and legend.",
    .is_figure = true,
    .maker = pe_pixels_maker,
    .ops = &ops,
};
