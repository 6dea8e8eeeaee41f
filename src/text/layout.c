/* SPDX-License-Identifier: MIT */
/* layout.c - the layouts of numbers, made by rule. */
#include "text/layout.h"

#include <string.h>

/* Fixed notation is for points from -5 to 21. */
#define FIXED_MIN  (-5)
#define FIXED_MAX  21
#define SCIENTIFIC (FIXED_MAX - FIXED_MIN + 1)

pe_layout pe_layouts[PE_LAYOUTS];
pe_place pe_layout_places[PE_POINT_MAX - PE_POINT_MIN + 1];

/* 0.000ddd: digits begin after the point and -point zeros. */
static void lay_out_small(int point, pe_layout *out)
{
    out->shift = (uint8_t)(2 - point);
    memset(out->moved + out->shift, 255, PE_LAYOUT_BYTES - out->shift);
    out->text[1] = '.';
    for (int n = 0; n <= 17; n++)
        out->bytes[n] = (uint8_t)(out->shift + n);
}

/* ddd.ddd: digits behind the point are one further. */
static void lay_out_large(int point, pe_layout *out)
{
    out->shift = 1;
    memset(out->own, 255, (size_t)point);
    memset(out->moved + point + 1, 255, (size_t)(PE_LAYOUT_BYTES - 1 - point));
    out->text[point] = '.';
    for (int n = 0; n <= 17; n++)
        out->bytes[n] = (uint8_t)(n <= point ? point : n + 1);
}

static void pick(pe_layout *out)
{
    for (int j = 0; j < PE_LAYOUT_BYTES; j++) {
        const int first = j < 16 ? 0 : 8;
        out->from[j] = 255;
        if (out->own[j] != 0)
            out->from[j] = (uint8_t)(j - first);
        if (out->moved[j] != 0)
            out->from[j] = (uint8_t)(j - out->shift - first);
    }
}

static pe_place find_place(int point)
{
    pe_place place = {.layout = (uint8_t)(point - FIXED_MIN)};
    if (point < FIXED_MIN || point > FIXED_MAX) {
        const int value = point > 0 ? point - 1 : 1 - point;
        char *at = place.exponent; /* all of it is printed, its end as zeros */
        *at++ = 'e';
        *at++ = point > 0 ? '+' : '-';
        for (int unit = value >= 100 ? 100 : value >= 10 ? 10 : 1; unit > 0; unit /= 10)
            *at++ = (char)('0' + value / unit % 10);
        place.layout = (uint8_t)(SCIENTIFIC + (at - place.exponent) - 3);
    }
    return place;
}

__attribute__((constructor)) static void fill_layouts(void)
{
    for (int i = 0; i < PE_LAYOUTS; i++) {
        const int point = i < SCIENTIFIC ? i + FIXED_MIN : 1;
        pe_layout *out = &pe_layouts[i];
        memset(out->text, '0', PE_LAYOUT_BYTES);
        if (point <= 0)
            lay_out_small(point, out);
        else
            lay_out_large(point, out);
        if (i >= SCIENTIFIC)
            out->exponent_bits = (uint8_t)(8 * (i - SCIENTIFIC + 3));
        pick(out);
    }
    for (int point = PE_POINT_MIN; point <= PE_POINT_MAX; point++)
        pe_layout_places[point - PE_POINT_MIN] = find_place(point);
}
