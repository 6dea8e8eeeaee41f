/* SPDX-License-Identifier: MIT */
/* svg.c - image/svg+xml: a figure of one tensor; text is text, and heatmaps are images in it. */
#include <math.h>
#include <nettle/base64.h>
#include <stdint.h>
#include <string.h>

#include "base/yield.h"
#include "formats/figure/figure.h"
#include "formats/figure/pixels.h"
#include "plan/resource.h"

/* ---- numbers and text ---- */

/* A coordinate, rounded to tenths. */
static void put_number(pe_buffer *out, double value)
{
    const long tenths = (long)floor(value * 10 + 0.5), size = tenths < 0 ? -tenths : tenths;
    pe_buffer_format(out, size % 10 == 0 ? "%s%ld" : "%s%ld.%ld", tenths < 0 ? "-" : "", size / 10,
                     size % 10);
}

static void put_pair(pe_buffer *out, const char *before, pe_point p)
{
    pe_buffer_str(out, before);
    put_number(out, p.x);
    pe_buffer_str(out, " ");
    put_number(out, p.y);
}

static void put_attribute(pe_buffer *out, const char *name, double value)
{
    pe_buffer_format(out, " %s=\"", name);
    put_number(out, value);
    pe_buffer_str(out, "\"");
}

static void put_box(pe_buffer *out, const char *before, const pe_box *box)
{
    pe_buffer_str(out, before);
    put_attribute(out, "x", box->x);
    put_attribute(out, "y", box->y);
    put_attribute(out, "width", box->width);
    put_attribute(out, "height", box->height);
}

/* Text and attributes, with what XML gives a meaning escaped, and controls left out. */
static void put_escaped(pe_buffer *out, const char *text)
{
    for (; *text != '\0'; text++) {
        const char *entity = *text == '&'   ? "&amp;"
                             : *text == '<' ? "&lt;"
                             : *text == '>' ? "&gt;"
                             : *text == '"' ? "&quot;"
                                            : NULL;
        if (entity != NULL)
            pe_buffer_str(out, entity);
        else if ((unsigned char)*text >= ' ')
            pe_buffer_add(out, text, 1);
    }
}

static void put_colour(pe_buffer *out, const pe_canvas *canvas, const char *name,
                       unsigned char colour)
{
    pe_palette palette;
    pe_palette_make(canvas->dark, &palette);
    const unsigned char *rgb = palette.rgb[colour];
    pe_buffer_format(out, " %s=\"#%02x%02x%02x\"", name, rgb[0], rgb[1], rgb[2]);
}

/* ---- the canvas ---- */

static void draw_box(pe_canvas *canvas, const pe_box *box, unsigned char colour)
{
    pe_buffer *out = canvas->out;
    put_box(out, "<rect", box);
    put_colour(out, canvas, "fill", colour);
    pe_buffer_str(out, "/>\n");
}

static void draw_line(pe_canvas *canvas, const pe_point *points, size_t n, const pe_pen *pen,
                      bool apart)
{
    pe_buffer *out = canvas->out;
    pe_buffer_str(out, "<path d=\"");
    for (size_t i = 0; i < n; i++) {
        put_pair(out, i == 0 || (apart && i % 2 == 0) ? "M" : "L", points[i]);
        pe_yield_spend(PE_POINT_WORK);
    }
    pe_buffer_str(out, "\"");
    put_colour(out, canvas, "stroke", pen->colour);
    put_attribute(out, "stroke-width", pen->width);
    pe_buffer_str(out, "/>\n");
}

static void draw_text(pe_canvas *canvas, const pe_caption *caption)
{
    static const char *const anchors[] = {"start", "middle", "end"};
    pe_buffer *out = canvas->out;
    if (*caption->text == '\0')
        return;
    pe_buffer_str(out, "<text");
    if (caption->upwards) {
        put_pair(out, " transform=\"translate(", caption->at);
        pe_buffer_str(out, ") rotate(-90)\"");
    } else {
        put_attribute(out, "x", caption->at.x);
        put_attribute(out, "y", caption->at.y);
    }
    put_attribute(out, "font-size", caption->size);
    pe_buffer_format(out, " text-anchor=\"%s\"", anchors[(int)(2 * caption->anchor)]);
    pe_buffer_str(out, caption->strong ? " font-weight=\"600\"" : "");
    put_colour(out, canvas, "fill", caption->colour);
    pe_buffer_str(out, ">");
    put_escaped(out, caption->text);
    pe_buffer_str(out, "</text>\n");
}

/* A PNG of one pixel for each box, which the browser makes larger without smoothing it. */
static void draw_image(pe_canvas *canvas, const pe_image *image)
{
    pe_buffer *out = canvas->out, png = {0};
    pe_palette palette;
    const size_t size[2] = {image->columns, image->rows};
    if (image->columns == 0 || image->rows == 0)
        return;
    pe_palette_make(canvas->dark, &palette);
    pe_pixels_png(image->colour, size, &palette, &png);
    put_box(
        out, "<image",
        &(pe_box){(double)image->x, (double)image->y, (double)image->width, (double)image->height});
    pe_buffer_str(out, " preserveAspectRatio=\"none\" style=\"image-rendering:pixelated\" "
                       "href=\"data:image/png;base64,");
    const size_t bytes = BASE64_ENCODE_RAW_LENGTH(png.bytes);
    char *to = pe_buffer_reserve(out, bytes);
    if (to != NULL) {
        base64_encode_raw(to, png.bytes, (const uint8_t *)png.data);
        out->bytes += bytes;
    }
    pe_yield_spend(png.bytes / 3);
    pe_buffer_str(out, "\"/>\n");
    out->failed |= png.failed;
    pe_buffer_free(&png);
}

/* ---- the file ---- */

static pe_canvas canvas_of(const pe_figure_options *options, pe_buffer *out)
{
    return (pe_canvas){.width = options->width,
                       .height = options->height,
                       .dark = options->dark,
                       .out = out,
                       .box = draw_box,
                       .line = draw_line,
                       .text = draw_text,
                       .image = draw_image};
}

static void begin(size_t width, size_t height, pe_buffer *out)
{
    pe_buffer_format(out,
                     "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%zu\" height=\"%zu\" "
                     "viewBox=\"0 0 %zu %zu\" role=\"img\" fill=\"none\" stroke-linecap=\"round\" "
                     "stroke-linejoin=\"round\" font-family=\"system-ui, 'Segoe UI', Roboto, "
                     "'Helvetica Neue', 'DejaVu Sans', Arial, sans-serif\" "
                     "style=\"font-variant-numeric:tabular-nums\">\n",
                     width, height, width, height);
}

static void draw_paper(const pe_figure_options *options, pe_buffer *out)
{
    pe_canvas paper = canvas_of(options, out);
    draw_box(&paper, &(pe_box){0, 0, (double)paper.width, (double)paper.height}, PE_PAPER);
}

static void write_svg(const pe_sheet *sheet, pe_buffer *out)
{
    const pe_figure_options *options = &sheet->rendering->figure;
    begin(options->width, options->height, out);
    pe_buffer text = {0};
    const pe_figure *figure = &sheet->part[0];
    const pe_resource *resource = sheet->rendering->resource;
    if (sheet->n == 1 || resource == NULL)
        pe_words_title(figure->plan, figure->rendering, figure->tensor, &text);
    else
        pe_words_resource(sheet->rendering, &text);
    pe_buffer_str(out, "<title>");
    put_escaped(out, pe_buffer_text(&text));
    pe_buffer_str(out, "</title>\n");
    if (resource != NULL) {
        pe_buffer_str(out, "<desc>");
        put_escaped(out, resource->summary);
        pe_buffer_str(out, " ");
        put_escaped(out, resource->formula);
        pe_buffer_str(out, "</desc>\n");
    }
    out->failed |= text.failed;
    pe_buffer_free(&text);
    draw_paper(options, out);
    if (sheet->n > 1) {
        pe_canvas head = canvas_of(options, out);
        pe_figure_sheet_title(sheet, &head);
    }
    for (size_t i = 0; i < sheet->n; i++) {
        size_t x, y;
        pe_canvas canvas = canvas_of(&sheet->part[i].rendering->figure, out);
        pe_figure_place(sheet, i, &x, &y);
        if (sheet->n > 1)
            pe_buffer_format(out, "<g transform=\"translate(%zu,%zu)\">\n", x, y);
        pe_figure_draw(&sheet->part[i], &canvas);
        if (sheet->n > 1)
            pe_buffer_str(out, "</g>\n");
    }
    pe_buffer_str(out, "</svg>\n");
}

static void write_sentence(const pe_figure_options *options, const char *title, const char *text,
                           pe_buffer *out)
{
    pe_canvas canvas = canvas_of(options, out);
    begin(options->width, options->height, out);
    pe_buffer_str(out, "<title>");
    put_escaped(out, text);
    pe_buffer_str(out, "</title>\n");
    draw_paper(options, out);
    pe_figure_draw_sentence(title, text, &canvas);
    pe_buffer_str(out, "</svg>\n");
}

static void describe(const pe_plan *plan, const pe_rendering *rendering, size_t tensor,
                     pe_segments *out)
{
    pe_figure_describe(plan, rendering, tensor, write_svg, out);
}

const pe_format pe_format_svg = {
    .name = "svg",
    .extension = ".svg",
    .media_type = "image/svg+xml",
    .help = "A figure as SVG, a panel for each tensor: title, axes with units, ticks and legend.",
    .holds_any = true,
    .is_figure = true,
    .is_text = true,
    .maker = pe_pixels_maker,
    .check = pe_figure_check,
    .sentence = write_sentence,
    .describe = describe,
};
