/* SPDX-License-Identifier: MIT */
/* palette.h - the colours of figures: one byte each, an index of a palette. */
#ifndef PE_FORMATS_FIGURE_PALETTE_H
#define PE_FORMATS_FIGURE_PALETTE_H

#include <stdbool.h>

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

#endif
