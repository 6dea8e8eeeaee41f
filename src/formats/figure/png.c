/* SPDX-License-Identifier: MIT */
/* png.c - image/png: a figure in pixels. */
#include <stdlib.h>
#include <string.h>

#include "formats/figure/figure.h"
#include "formats/figure/pixels.h"

/* Paper, whose pixels are the caller's; false: there is no memory. */
static bool make_canvas(const pe_figure_options *options, pe_canvas *canvas, pe_buffer *out)
{
    *canvas = (pe_canvas){.width = options->width,
                          .height = options->height,
                          .dark = options->dark,
                          .out = out,
                          .pixels = calloc(options->width, options->height)}; /* 0 is the paper */
    pe_pixels_canvas(canvas);
    out->failed |= canvas->pixels == NULL;
    return canvas->pixels != NULL;
}

/* The file of a canvas, which ends. */
static void put_canvas(pe_canvas *canvas)
{
    pe_palette palette;
    pe_palette_make(canvas->dark, &palette);
    pe_pixels_png(canvas->pixels, (const size_t[]){canvas->width, canvas->height}, &palette,
                  canvas->out);
    free(canvas->pixels);
}

/* A figure is drawn on pixels of its own, which are copied to their place. */
static bool draw_part(const pe_sheet *sheet, size_t i, pe_canvas *whole)
{
    size_t x, y;
    pe_canvas canvas;
    if (!make_canvas(&sheet->of_part.figure, &canvas, whole->out))
        return false;
    pe_figure_draw(&sheet->part[i], &canvas);
    pe_figure_place(sheet, i, &x, &y);
    for (size_t row = 0; row < canvas.height; row++)
        memcpy(whole->pixels + (y + row) * whole->width + x, canvas.pixels + row * canvas.width,
               canvas.width);
    free(canvas.pixels);
    return true;
}

static void write_png(const pe_sheet *sheet, pe_buffer *out)
{
    pe_canvas canvas;
    bool drawn = make_canvas(&sheet->rendering->figure, &canvas, out);
    if (drawn && sheet->n > 1)
        pe_figure_sheet_title(sheet, &canvas);
    for (size_t i = 0; i < sheet->n && drawn; i++)
        drawn = draw_part(sheet, i, &canvas);
    if (drawn)
        put_canvas(&canvas);
    else
        free(canvas.pixels);
}

static void write_sentence(const pe_figure_options *options, const char *title, const char *text,
                           pe_buffer *out)
{
    pe_canvas canvas;
    if (!make_canvas(options, &canvas, out))
        return;
    pe_figure_draw_sentence(title, text, &canvas);
    put_canvas(&canvas);
}

static void describe(const pe_plan *plan, const pe_rendering *rendering, size_t tensor,
                     pe_segments *out)
{
    pe_figure_describe(plan, rendering, tensor, write_png, out);
    out->reducer.work = rendering->figure.width * rendering->figure.height * PE_PIXEL_WORK;
}

const pe_format pe_format_png = {
    .name = "png",
    .extension = ".png",
    .media_type = "image/png",
    .help =
        "A figure in pixels, a panel for each tensor: title, axes with units, ticks and legend.",
    .holds_any = true,
    .is_figure = true,
    .maker = pe_pixels_maker,
    .check = pe_figure_check,
    .sentence = write_sentence,
    .describe = describe,
};
