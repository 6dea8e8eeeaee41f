/* SPDX-License-Identifier: MIT */
/* pixels.c - lines, boxes, images and text in pixels, one byte each. */
#include "formats/figure/pixels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "base/yield.h"

/* The pixel that a coordinate is in, within [0, end]. */
static size_t pixel(double at, size_t end)
{
    return at <= 0 ? 0 : at >= (double)end ? end : (size_t)at;
}

static void draw_box(pe_canvas *canvas, const pe_box *box, unsigned char colour)
{
    const size_t from = pixel(box->x + 0.5, canvas->width);
    const size_t to = pixel(box->x + box->width + 0.5, canvas->width);
    const size_t end = pixel(box->y + box->height + 0.5, canvas->height);
    for (size_t y = pixel(box->y + 0.5, canvas->height); y < end && from < to; y++)
        memset(canvas->pixels + y * canvas->width + from, colour, to - from);
}

/* Where shapes of one ramp meet, the stronger one shows. */
static void cover(pe_canvas *canvas, double x, double y, unsigned char colour, double share)
{
    if (x < 0 || y < 0 || x >= (double)canvas->width || y >= (double)canvas->height)
        return;
    unsigned char *pixel = canvas->pixels + (size_t)y * canvas->width + (size_t)x;
    const unsigned char ramp = colour / PE_RAMP * PE_RAMP, full = colour % PE_RAMP;
    const unsigned char level = (unsigned char)(share * full + 0.5);
    const bool same = *pixel >= ramp && *pixel < ramp + PE_RAMP;
    if (level > 0 && (same ? ramp + level > *pixel : *pixel % PE_RAMP <= level || share > 0.5))
        *pixel = (unsigned char)(ramp + level);
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

static void draw_line(pe_canvas *canvas, const pe_point *points, size_t n, const pe_pen *pen,
                      bool apart)
{
    const double reach = pen->width / 2 + 0.5;
    for (size_t i = 0; i + 1 < n; i += apart ? 2 : 1) {
        const pe_point a = points[i], b = points[i + 1];
        const double along_x = b.x - a.x, along_y = b.y - a.y,
                     squared = along_x * along_x + along_y * along_y;
        const size_t x_begin = pixel(least(a.x, b.x) - reach, canvas->width);
        const size_t x_end = pixel(a.x + b.x - least(a.x, b.x) + reach + 1, canvas->width);
        const size_t y_end = pixel(a.y + b.y - least(a.y, b.y) + reach + 1, canvas->height);
        for (size_t y = pixel(least(a.y, b.y) - reach, canvas->height); y < y_end; y++) {
            pe_yield_spend(x_end - x_begin);
            for (size_t x = x_begin; x < x_end; x++) {
                /* The distance of the pixel's centre from the nearest point of the segment. */
                const pe_point p = {(double)x + 0.5, (double)y + 0.5};
                double t =
                    squared == 0 ? 0 : ((p.x - a.x) * along_x + (p.y - a.y) * along_y) / squared;
                t = t < 0 ? 0 : t > 1 ? 1 : t;
                const double dx = a.x + t * along_x - p.x, dy = a.y + t * along_y - p.y;
                const double share = reach - sqrt(dx * dx + dy * dy);
                if (share > 0)
                    cover(canvas, (double)x, (double)y, pen->colour, share > 1 ? 1 : share);
            }
        }
    }
}

static void draw_image(pe_canvas *canvas, const pe_image *image)
{
    const size_t columns = image->columns, width = image->width;
    if (columns == 0 || image->rows == 0)
        return;
    for (size_t y = 0; y < image->height && image->y + y < canvas->height; y++) {
        const unsigned char *row = image->colour + y * image->rows / image->height * columns;
        unsigned char *to = canvas->pixels + (image->y + y) * canvas->width + image->x;
        pe_yield_spend(width);
        for (size_t x = 0; x < width && image->x + x < canvas->width; x++)
            to[x] = row[columns == width ? x : x * columns / width];
    }
}

/* ---- text: outlines of DejaVu Sans, taken when the program is built, filled here in arithmetic that
 * is the same everywhere ---- */

typedef struct glyph {
    short width; /* in UNITs */
    const short
        *contour; /* of each contour: its points' number, then x and y of each; ends with 0 */
} glyph;

/* Printable ASCII, a minus, and a box that stands for all else. */
#define GLYPHS 97
static const glyph glyphs[2 * GLYPHS] = {
#include "letters.inc"
};

#define UNIT      1024.0 /* of the size of the text */
#define SUB_ROWS  4      /* of a row of pixels */
#define CROSSINGS 64     /* of a row with one letter, at most */
#define WIDEST    64     /* pixels of a letter, at most */
#define POINTS    256    /* of a letter's outlines, at most */

static const glyph *glyph_of(const char *at, bool strong)
{
    const bool minus = strncmp(at, PE_MINUS, sizeof PE_MINUS - 1) == 0;
    const size_t last = minus ? GLYPHS - 2 : GLYPHS - 1;
    return &glyphs[(strong ? GLYPHS : 0) + (*at >= ' ' && *at < 127 ? (size_t)(*at - ' ') : last)];
}

/* A character of several bytes is one box. */
static bool goes_on(unsigned char c)
{
    return (c & 0xc0) == 0x80;
}

double pe_letters_width(const char *text, double size, bool strong)
{
    double units = 0;
    for (; *text != '\0'; text++)
        if (!goes_on((unsigned char)*text))
            units += glyph_of(text, strong)->width;
    return units * size / UNIT;
}

/* Where a line crosses an outline, and whether upwards. */
typedef struct crossing {
    double x;
    int up;
} crossing;

/* A letter that is being drawn: the place of its origin, of its outlines' points, their bounds. */
typedef struct hand {
    const pe_caption *caption;
    const glyph *glyph;
    pe_point at, point[POINTS], least, most;
} hand;

static pe_point place(const hand *by, const short *xy)
{
    const double unit = by->caption->size / UNIT, x = xy[0] * unit, y = xy[1] * unit;
    return by->caption->upwards ? (pe_point){by->at.x - y, by->at.y - x}
                                : (pe_point){by->at.x + x, by->at.y - y};
}

/* The crossings of the outlines with a horizontal line, from left to right; returns how many. */
static size_t cross(const hand *by, double y, crossing out[CROSSINGS])
{
    const pe_point *point = by->point;
    size_t n = 0;
    for (const short *at = by->glyph->contour; *at != 0; point += *at, at += 1 + 2 * (size_t)*at) {
        pe_point from = point[*at - 1];
        for (short i = 0; i < *at; i++) {
            const pe_point to = point[i];
            if ((from.y <= y) != (to.y <= y) && n < CROSSINGS) {
                const crossing new = {from.x + (y - from.y) * (to.x - from.x) / (to.y - from.y),
                                      to.y > from.y ? 1 : -1};
                size_t place = n++;
                for (; place > 0 && out[place - 1].x > new.x; place--)
                    out[place] = out[place - 1];
                out[place] = new;
            }
            from = to;
        }
    }
    return n;
}

/* The row of pixels y: inside is where the outlines wind around a point. */
static void draw_row(const hand *by, pe_canvas *canvas, double y)
{
    const double left = floor(by->least.x);
    const size_t wide = pe_size_min(WIDEST, (size_t)(by->most.x - left) + 1);
    crossing at[CROSSINGS];
    double share[WIDEST] = {0};
    for (int sub = 0; sub < SUB_ROWS; sub++) {
        const size_t n = cross(by, y + (sub + 0.5) / SUB_ROWS, at);
        int winding = 0;
        for (size_t i = 0; i + 1 < n; i++) {
            winding += at[i].up;
            if (winding == 0)
                continue;
            /* What [from, to] covers of each pixel, counted from `left`. */
            const double from = at[i].x, to = at[i + 1].x;
            for (size_t x = from > left ? (size_t)(from - left) : 0; x < wide; x++) {
                const double pixel = left + (double)x;
                if (pixel >= to)
                    break;
                share[x] += (fmin(to, pixel + 1) - fmax(from, pixel)) / SUB_ROWS;
            }
        }
    }
    for (size_t x = 0; x < wide; x++)
        if (share[x] > 0)
            cover(canvas, left + (double)x, y, by->caption->colour, share[x]);
}

static void draw_text(pe_canvas *canvas, const pe_caption *caption)
{
    const double before =
        caption->anchor * pe_letters_width(caption->text, caption->size, caption->strong);
    hand by = {.caption = caption, .at = caption->at};
    *(caption->upwards ? &by.at.y : &by.at.x) -= caption->upwards ? -before : before;
    for (const char *c = caption->text; *c != '\0'; c++) {
        if (goes_on((unsigned char)*c))
            continue;
        by.glyph = glyph_of(c, caption->strong);
        by.least = (pe_point){HUGE_VAL, HUGE_VAL};
        by.most = (pe_point){-HUGE_VAL, -HUGE_VAL};
        size_t n = 0;
        for (const short *at = by.glyph->contour; *at != 0; at += 1 + 2 * (size_t)*at)
            for (short i = 0; i < *at && n < POINTS; i++) {
                const pe_point p = by.point[n++] = place(&by, at + 1 + 2 * i);
                by.least = (pe_point){fmin(by.least.x, p.x), fmin(by.least.y, p.y)};
                by.most = (pe_point){fmax(by.most.x, p.x), fmax(by.most.y, p.y)};
            }
        const double top = floor(by.least.y);
        for (size_t row = 0; top + (double)row < by.most.y; row++) {
            pe_yield_spend(WIDEST);
            draw_row(&by, canvas, top + (double)row);
        }
        *(caption->upwards ? &by.at.y : &by.at.x) +=
            (caption->upwards ? -1 : 1) * by.glyph->width * caption->size / UNIT;
    }
}

bool pe_pixels_canvas(const pe_figure_options *options, pe_buffer *out, pe_canvas *canvas)
{
    *canvas = (pe_canvas){.width = options->width,
                          .height = options->height,
                          .dark = options->dark,
                          .out = out,
                          .pixels = calloc(options->width, options->height), /* 0 is the paper */
                          .box = draw_box,
                          .line = draw_line,
                          .text = draw_text,
                          .image = draw_image};
    out->failed |= canvas->pixels == NULL;
    return canvas->pixels != NULL;
}
