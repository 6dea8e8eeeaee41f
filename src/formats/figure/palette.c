/* SPDX-License-Identifier: MIT */
/* palette.c - the colours of figures. */
#include <stddef.h>

#include "formats/figure/canvas.h"

#define STOPS 17

/*
 * Arms of equal lightness at equal distance from 0, so that the scale reads the same without hue,
 * and blue against red, which all common colour blindness keeps apart. The page of the explorer has
 * the same colours (web/parts/palette.js).
 *
 * Source  OKLCH: lightness 1 to 0.42 (0.33) in equal steps, hues 255, 27 and 190; chroma 0.17 (0.08)
 *         times sin(min(1, 1.25 t) pi/2), as far as sRGB has it.
 */
static const unsigned blue[STOPS] = {0xffffff, 0xeaf4ff, 0xd5e9ff, 0xc1deff, 0xacd2ff, 0x99c7ff,
                                     0x85bbff, 0x73b0fd, 0x61a4f8, 0x5098f1, 0x3f8cea, 0x2e80e0,
                                     0x1d75d6, 0x0969ca, 0x005ebe, 0x0053b2, 0x0048a6};
static const unsigned red[STOPS] = {0xffffff, 0xffeeec, 0xffddd8, 0xffccc6, 0xffbcb3, 0xfdaba1,
                                    0xf99b90, 0xf38b80, 0xed7b70, 0xe56c62, 0xdb5e54, 0xd14f47,
                                    0xc6423b, 0xba3530, 0xad2825, 0xa0191a, 0x94020d};
static const unsigned teal[STOPS] = {0xffffff, 0xeaf3f2, 0xd6e8e6, 0xc1dcda, 0xadd0cd, 0x99c5c1,
                                     0x86b9b5, 0x73ada9, 0x61a19d, 0x4f9591, 0x3d8984, 0x2b7d78,
                                     0x17716d, 0x006561, 0x005955, 0x004d4a, 0x00423e};

/* The paper, and what is drawn on it; as the page has them. */
static const struct {
    unsigned paper, ink, accent, masked;
} themes[2] = {{0xffffff, 0x16191c, 0x00705f, 0xb4b8bb}, {0x131618, 0xe9ebec, 0x55c9b3, 0x4a5157}};

/* Colour i of n between two others. */
static void mix(const unsigned ends[2], size_t i, size_t n, unsigned char out[3])
{
    for (size_t c = 0; c < 3; c++) {
        const size_t shift = 16 - 8 * c;
        const size_t from = ends[0] >> shift & 255, to = ends[1] >> shift & 255;
        out[c] = (unsigned char)((from * (n - i) + to * i + n / 2) / n);
    }
}

static void make_ramp(unsigned paper, unsigned colour, unsigned char out[][3])
{
    const unsigned ends[2] = {paper, colour};
    for (size_t i = 0; i < PE_RAMP; i++)
        mix(ends, i, PE_RAMP - 1, out[i]);
}

/* Colour i of n + 1 along the stops. */
static void along(const unsigned stops[STOPS], size_t i, size_t n, unsigned char out[3])
{
    const size_t at = i * (STOPS - 1), stop = at / n < STOPS - 1 ? at / n : STOPS - 2;
    mix(stops + stop, at - stop * n, n, out);
}

void pe_palette_make(bool dark, pe_palette *out)
{
    const size_t half = PE_DIVERGING / 2, zero = PE_MINUS_ONE + half;
    const unsigned masked[2] = {themes[dark].masked, themes[dark].masked};
    make_ramp(themes[dark].paper, themes[dark].ink, out->rgb);
    make_ramp(themes[dark].paper, themes[dark].accent, out->rgb + PE_RAMP);
    mix(masked, 0, 1, out->rgb[PE_MASKED]);
    for (size_t i = 0; i <= half; i++) {
        along(blue, i, half, out->rgb[zero - i]);
        along(red, i, half, out->rgb[zero + i]);
    }
    for (size_t i = 0; i < PE_SEQUENTIAL; i++)
        along(teal, i, PE_SEQUENTIAL - 1, out->rgb[PE_SEQUENTIAL_ZERO + i]);
}
