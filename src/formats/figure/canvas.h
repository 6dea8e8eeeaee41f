/* SPDX-License-Identifier: MIT */
/* canvas.h - what a figure is drawn on: pixels, or the text of an SVG; and its colours. */
#ifndef PE_FORMATS_FIGURE_CANVAS_H
#define PE_FORMATS_FIGURE_CANVAS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"

/**
 * Two ramps of 16 from the paper on, whose steps are the edges of smooth strokes: [0, 15] to the
 * ink, [16, 31] to the accent. Then the neutral of masked elements, the diverging scale (blue -1,
 * white 0, red +1) and the sequential one (white to dark).
 */
enum {
    PE_PAPER = 0,
    PE_RULE = 3,
    PE_FAINT = 10,
    PE_INK = 15,
    PE_ACCENT = 31,
    PE_RAMP = 16,
    PE_MASKED = 32,
    PE_MINUS_ONE = 33,
    PE_DIVERGING = 129,
    PE_SEQUENTIAL_ZERO = PE_MINUS_ONE + PE_DIVERGING,
    PE_SEQUENTIAL = 90,
    PE_COLOURS = PE_SEQUENTIAL_ZERO + PE_SEQUENTIAL,
};

typedef struct pe_palette {
    unsigned char rgb[PE_COLOURS][3];
} pe_palette;

/** The colours of data are the same on both papers. */
void pe_palette_make(bool dark, pe_palette *out);

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

/** The sign of a negative number, U+2212. */
#define PE_MINUS "\xe2\x88\x92"

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

/** Colours by row, which fill a box of whole pixels; pixel i of n shows colour i * columns / n. */
typedef struct pe_image {
    size_t columns, rows;
    size_t x, y, width, height;
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
