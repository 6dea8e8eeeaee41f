/* SPDX-License-Identifier: MIT */
/* palette.c - the colours of figures. */
#include "formats/figure/palette.h"

#include <stddef.h>

#define STOPS 9

/*
 * Arms of equal lightness at equal distance from 0, so that the scale reads the same without hue,
 * and blue against red, which all common colour blindness keeps apart.
 *
 * Source  OKLCH: lightness 1 to 0.42 (0.33) in equal steps, hues 255, 27 and 190, the chroma growing
 *         to 0.16, 0.17 and 0.08 as far as sRGB has it.
 */
static const unsigned blue[STOPS] = {0xffffff, 0xdae9fc, 0xb9d2f2, 0x99bbe7, 0x7aa4da,
                                     0x5c8ecd, 0x3d77bf, 0x1a60b0, 0x004b97};
static const unsigned red[STOPS] = {0xffffff, 0xfcdfdc, 0xf2c2bc, 0xe6a69d, 0xd88980,
                                    0xc86e64, 0xb85149, 0xa6332d, 0x94020d};
static const unsigned teal[STOPS] = {0xffffff, 0xd9e7e5, 0xb6cecc, 0x94b5b3, 0x739d9a,
                                     0x538582, 0x316e6a, 0x005854, 0x003f3c};

/* The paper, and what is drawn on it. */
static const struct {
    unsigned paper, ink, accent, masked;
} themes[2] = {{0xfffefb, 0x1d1f21, 0x00706a, 0xa9a59b}, {0x16181b, 0xe7e5df, 0x6fc7bf, 0x7d7a73}};

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
