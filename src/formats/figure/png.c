/* SPDX-License-Identifier: MIT */
/* png.c - image/png: a figure in pixels; and pixels as a PNG with a palette: libpng's, row by row. */
#include <assert.h>
#include <png.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/yield.h"
#include "formats/figure/figure.h"
#include "formats/figure/pixels.h"

/* The library is told all that it would choose by itself, and that could differ between builds. */
enum { DEPTH = 8, LEVEL = 4, WINDOW_BITS = 15, MEMORY_LEVEL = 8, CHUNK = 8192 };

/* Around the data of a chunk: its length, type and sum. */
enum { CHUNK_FRAME = 12, SIGNATURE = 8, HEADER = 13 };

static_assert(sizeof(png_color) == 3, "a colour is a row of pe_palette");

void pe_pixels_maker(pe_buffer *out)
{
    pe_buffer_format(out, "libpng %s, zlib %s at level %d", png_get_libpng_ver(NULL), zlibVersion(),
                     LEVEL);
}

/* Each row has its filter before it. What cannot be compressed grows by a 3,000th (zlib's own
 * bound), and by the frames of its chunks. */
size_t pe_pixels_png_max(size_t pixels, size_t rows)
{
    const size_t raw = pixels + rows, packed = raw + raw / 3000 + 64;
    return SIGNATURE + HEADER + (size_t)3 * PE_COLOURS + packed +
           (packed / CHUNK + 4) * CHUNK_FRAME;
}

/* ---- what the library calls ---- */

/* An error ends the picture, at the setjmp below. All errors are of memory. */
static void stop(png_structp png, png_const_charp message PE_UNUSED)
{
    png_longjmp(png, 1);
}

/* A warning goes before each error of memory; without this it is printed. */
static void ignore(png_structp png PE_UNUSED, png_const_charp message PE_UNUSED)
{
}

static void append(png_structp png, png_bytep data, size_t bytes)
{
    pe_buffer *out = png_get_io_ptr(png);
    pe_buffer_add(out, data, bytes);
    if (out->failed)
        png_error(png, "no memory for the file");
}

/* Without it the library would take the buffer for a FILE. */
static void flush(png_structp png PE_UNUSED)
{
}

/* ---- the file ---- */

/* Errors come to the setjmp. All that was allocated is the library's, and its caller frees that. */
static bool put_file(png_structp png, png_infop info, const unsigned char *pixels,
                     const size_t size[2], const pe_palette *palette)
{
    if (setjmp(png_jmpbuf(png)) != 0)
        return false;
    png_set_compression_level(png, LEVEL);
    png_set_compression_window_bits(png, WINDOW_BITS);
    png_set_compression_mem_level(png, MEMORY_LEVEL);
    png_set_compression_strategy(png, Z_DEFAULT_STRATEGY);
    png_set_compression_buffer_size(png, CHUNK);
    png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_FILTER_NONE); /* colours are no amounts */
    png_set_IHDR(png, info, (png_uint_32)size[0], (png_uint_32)size[1], DEPTH,
                 PNG_COLOR_TYPE_PALETTE, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_BASE,
                 PNG_FILTER_TYPE_BASE);
    png_set_PLTE(png, info, (png_const_colorp)palette->rgb, PE_COLOURS);
    png_write_info(png, info);
    for (size_t y = 0; y < size[1]; y++) {
        pe_yield_spend(PE_PIXEL_WORK * size[0]);
        png_write_row(png, pixels + y * size[0]);
    }
    png_write_end(png, NULL);
    return true;
}

void pe_pixels_png(const unsigned char *pixels, const size_t size[2], const pe_palette *palette,
                   pe_buffer *out)
{
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, stop, ignore);
    png_infop info = png_create_info_struct(png);
    if (info != NULL)
        png_set_write_fn(png, out, append, flush);
    if (info == NULL || !put_file(png, info, pixels, size, palette))
        out->failed = true;
    png_destroy_write_struct(&png, &info);
}

/* ---- the format ---- */

/* The file of a canvas, which ends. */
static void put_canvas(pe_canvas *canvas)
{
    pe_palette palette;
    pe_palette_make(canvas->dark, &palette);
    pe_pixels_png(canvas->pixels, (const size_t[]){canvas->width, canvas->height}, &palette,
                  canvas->out);
    free(canvas->pixels);
}

static void write_png(const pe_sheet *sheet, pe_buffer *out)
{
    pe_canvas whole, part;
    bool drawn = pe_pixels_canvas(&sheet->rendering->figure, out, &whole);
    if (drawn && sheet->n > 1)
        pe_figure_sheet_title(sheet, &whole);
    for (size_t i = 0; i < sheet->n && drawn; i++) {
        /* A figure is drawn on pixels of its own, which are copied to their place. */
        size_t x, y;
        drawn = pe_pixels_canvas(&sheet->of_part.figure, out, &part);
        if (drawn)
            pe_figure_draw(&sheet->part[i], &part);
        pe_figure_place(sheet, i, &x, &y);
        for (size_t row = 0; drawn && row < part.height; row++)
            memcpy(whole.pixels + (y + row) * whole.width + x, part.pixels + row * part.width,
                   part.width);
        free(part.pixels);
    }
    if (drawn)
        put_canvas(&whole);
    else
        free(whole.pixels);
}

static void write_sentence(const pe_figure_options *options, const char *title, const char *text,
                           pe_buffer *out)
{
    pe_canvas canvas;
    if (!pe_pixels_canvas(options, out, &canvas))
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
