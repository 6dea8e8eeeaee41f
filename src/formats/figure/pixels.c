/* SPDX-License-Identifier: MIT */
/* pixels.c - lines, boxes and images in pixels, one byte each. */
#include "formats/figure/pixels.h"

#include <math.h>
#include <string.h>

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

/* From a point to the segment from a to b. */
static double distance(pe_point p, pe_point a, pe_point b)
{
    const double x = b.x - a.x, y = b.y - a.y, squared = x * x + y * y;
    double t = squared == 0 ? 0 : ((p.x - a.x) * x + (p.y - a.y) * y) / squared;
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    const double dx = a.x + t * x - p.x, dy = a.y + t * y - p.y;
    return sqrt(dx * dx + dy * dy);
}

/* Where shapes of one ramp meet, the stronger one shows. */
void pe_pixels_cover(pe_canvas *canvas, double x, double y, unsigned char colour, double share)
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

static void draw_segment(pe_canvas *canvas, pe_point a, pe_point b, const pe_pen *pen)
{
    const double reach = pen->width / 2 + 0.5;
    const size_t x_begin = pixel(least(a.x, b.x) - reach, canvas->width);
    const size_t x_end = pixel(a.x + b.x - least(a.x, b.x) + reach + 1, canvas->width);
    const size_t y_end = pixel(a.y + b.y - least(a.y, b.y) + reach + 1, canvas->height);
    for (size_t y = pixel(least(a.y, b.y) - reach, canvas->height); y < y_end; y++) {
        pe_yield_spend(x_end - x_begin);
        for (size_t x = x_begin; x < x_end; x++) {
            const pe_point centre = {(double)x + 0.5, (double)y + 0.5};
            const double share = reach - distance(centre, a, b);
            if (share > 0)
                pe_pixels_cover(canvas, (double)x, (double)y, pen->colour, share > 1 ? 1 : share);
        }
    }
}

static void draw_line(pe_canvas *canvas, const pe_point *points, size_t n, const pe_pen *pen,
                      bool apart)
{
    for (size_t i = 0; i + 1 < n; i += apart ? 2 : 1)
        draw_segment(canvas, points[i], points[i + 1], pen);
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

void pe_pixels_canvas(pe_canvas *canvas)
{
    canvas->box = draw_box;
    canvas->line = draw_line;
    canvas->text = pe_letters_draw;
    canvas->image = draw_image;
}
