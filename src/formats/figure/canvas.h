/* SPDX-License-Identifier: MIT */
/* canvas.h - what a figure is drawn on: pixels, or the text of an SVG. */
#ifndef PE_FORMATS_FIGURE_CANVAS_H
#define PE_FORMATS_FIGURE_CANVAS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "formats/figure/palette.h"

/** In pixels from the upper left corner. */
typedef struct pe_point {
    double x, y;
} pe_point;

typedef struct pe_box {
    double x, y, width, height;
} pe_box;

typedef struct pe_pen {
    unsigned char colour; /* of the palette; PE_INK, PE_FAINT, PE_RULE, PE_ACCENT */
    double width;
} pe_pen;

/** A line of text; `at` is on its baseline. */
typedef struct pe_caption {
    pe_point at;
    double size;
    double anchor; /* what stands left of `at`: 0, 0.5, 1 of it */
    bool upwards;  /* turned to the left */
    bool strong;
    unsigned char colour;
    const char *text; /* UTF-8 */
} pe_caption;

/** Colours by row; each is a box of across x down pixels. */
typedef struct pe_image {
    size_t columns, rows, across, down;
    size_t x, y; /* of the upper left corner */
    const unsigned char *colour;
} pe_image;

typedef struct pe_canvas pe_canvas;
struct pe_canvas {
    size_t width, height;
    bool dark;
    pe_buffer *out; /* of the file; out->failed: memory was short */
    unsigned char *pixels;
    void (*box)(pe_canvas *canvas, const pe_box *box, unsigned char colour);
    /** Through the points; `apart`: each two are a line of their own. A line of no length is a
     * dot. */
    void (*line)(pe_canvas *canvas, const pe_point *points, size_t n, const pe_pen *pen,
                 bool apart);
    void (*text)(pe_canvas *canvas, const pe_caption *caption);
    void (*image)(pe_canvas *canvas, const pe_image *image);
};

#endif
