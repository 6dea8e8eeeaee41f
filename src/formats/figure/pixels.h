/* SPDX-License-Identifier: MIT */
/* pixels.h - a canvas of pixels, and pixels as a PNG. */
#ifndef PE_FORMATS_FIGURE_PIXELS_H
#define PE_FORMATS_FIGURE_PIXELS_H

#include <stdint.h>

#include "formats/figure/canvas.h"
#include "formats/format.h"

/** A canvas whose pixels, width x height bytes, are the caller's to free, and the colour of the paper;
 * false: there is no memory. Of text, what is neither printable ASCII nor a minus becomes a box. */
bool pe_pixels_canvas(const pe_figure_options *options, pe_buffer *out, pe_canvas *canvas);

/** Append the PNG of width x height colours; where memory is short, out->failed. */
void pe_pixels_png(const unsigned char *pixels, const size_t size[2], const pe_palette *palette,
                   pe_buffer *out);

/** What it takes at most. */
size_t pe_pixels_png_max(size_t pixels, size_t rows);

/** What a pixel costs, coloured and compressed, in units of work (plan/price.h). */
#define PE_PIXEL_WORK ((uint64_t)6)

/** The libraries that write and compress, with their versions: the bytes depend on them. */
void pe_pixels_maker(pe_buffer *out);

/** Width of a text in pixels; also near enough for the fonts of browsers. */
double pe_letters_width(const char *text, double size, bool strong);

#endif
