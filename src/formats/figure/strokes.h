/* SPDX-License-Identifier: MIT */
/* strokes.h - letters as strokes of a pen, for the text of PNG figures. */
#ifndef PE_FORMATS_FIGURE_STROKES_H
#define PE_FORMATS_FIGURE_STROKES_H

#include "formats/figure/canvas.h"

/** Width of a text in pixels; also near enough for the fonts of browsers. */
double pe_strokes_width(const char *text, double size);

/** Draw it with the canvas's lines. What is no printable ASCII becomes a box. */
void pe_strokes_draw(pe_canvas *canvas, const pe_caption *caption);

#endif
