/* SPDX-License-Identifier: MIT */
/* png.c - image/png: a figure in pixels. */
#include <stdlib.h>
#include <string.h>

#include "formats/figure/figure.h"
#include "formats/figure/pixels.h"

/* A figure is drawn on pixels of its own, which are copied to their place. */
static bool draw_part(const pe_sheet *sheet, size_t i, unsigned char *pixels, pe_buffer *out)
{
    size_t x, y;
    const size_t width = sheet->rendering->figure.width;
    const pe_figure_options *options = &sheet->of_part.figure;
    pe_canvas canvas = {
        .width = options->width, .height = options->height, .dark = options->dark, .out = out};
    canvas.pixels = calloc(canvas.width, canvas.height); /* 0 is the paper */
    if (canvas.pixels == NULL)
        return false;
    pe_pixels_canvas(&canvas);
    pe_figure_draw(&sheet->part[i], &canvas);
    pe_figure_place(sheet, i, &x, &y);
    for (size_t row = 0; row < canvas.height; row++)
        memcpy(pixels + (y + row) * width + x, canvas.pixels + row * canvas.width, canvas.width);
    free(canvas.pixels);
    return true;
}

static void write_png(const pe_sheet *sheet, pe_buffer *out)
{
    pe_palette palette;
    const pe_figure_options *options = &sheet->rendering->figure;
    const size_t size[2] = {options->width, options->height};
    unsigned char *pixels = calloc(size[0], size[1]);
    bool drawn = pixels != NULL;
    if (drawn && sheet->n > 1) {
        pe_canvas head = {.width = size[0], .height = size[1], .out = out, .pixels = pixels};
        pe_pixels_canvas(&head);
        pe_figure_sheet_title(sheet, &head);
    }
    for (size_t i = 0; i < sheet->n && drawn; i++)
        drawn = draw_part(sheet, i, pixels, out);
    if (drawn) {
        pe_palette_make(options->dark, &palette);
        pe_pixels_png(pixels, size, &palette, out);
    }
    out->failed |= !drawn;
    free(pixels);
}

static void write_sentence(const pe_figure_options *options, const char *title, const char *text,
                           pe_buffer *out)
{
    pe_palette palette;
    const size_t size[2] = {options->width, options->height};
    pe_canvas canvas = {.width = options->width,
                        .height = options->height,
                        .dark = options->dark,
                        .out = out,
                        .pixels = calloc(options->width, options->height)};
    if (canvas.pixels == NULL) {
        out->failed = true;
        return;
    }
    pe_pixels_canvas(&canvas);
    pe_figure_draw_sentence(title, text, &canvas);
    pe_palette_make(options->dark, &palette);
    pe_pixels_png(canvas.pixels, size, &palette, out);
    free(canvas.pixels);
}

static void describe(const pe_plan *plan, const pe_rendering *rendering, size_t tensor,
                     pe_segments *out)
{
    pe_figure_describe(plan, rendering, tensor, write_png, out);
    out->reducer.work = rendering->figure.width * rendering->figure.height * PE_PIXEL_WORK;
}

static const struct pe_format_ops ops = {.check = pe_figure_check,
                                         .check_plan = pe_figure_check_sheet,
                                         .sentence = write_sentence,
                                         .describe = describe};

const pe_format pe_format_png = {
    .name = "png",
    .extension = ".png",
    .media_type = "image/png",
    .help =
        "A figure in pixels, a panel for each tensor: title, axes with units, ticks and legend.",
    .holds_any = true,
    .is_figure = true,
    .maker = pe_pixels_maker,
    .ops = &ops,
};
