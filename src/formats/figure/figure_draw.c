/* SPDX-License-Identifier: MIT */
/* figure_draw.c - title, notes, ticks and names of axes. */
#include "formats/figure/figure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "formats/figure/pixels.h"

#define MARGIN  16.0 /* of the paper, beside text */
#define TICK    4.0
#define DECADES 1000.0 /* from here on, values are shown on a logarithmic scale */

bool pe_figure_wants_log(const pe_figure *figure)
{
    return figure->least > 0 && figure->most / figure->least >= DECADES;
}

/* ---- text ---- */

/* Fonts of browsers are wider than ours, at most by so much. */
#define FONT_WIDER 1.2

/* Cut a text so that it fits, with dots for what is missing; whole characters. */
static void fit(pe_buffer *text, double size, double room)
{
    room /= FONT_WIDER;
    if (pe_strokes_width(pe_buffer_text(text), size) <= room)
        return;
    room -= pe_strokes_width("...", size);
    while (text->bytes > 0 && pe_strokes_width(pe_buffer_text(text), size) > room) {
        text->bytes--;
        while (text->bytes > 0 && ((unsigned char)text->data[text->bytes] & 0xc0) == 0x80)
            text->bytes--;
    }
    pe_buffer_str(text, "...");
}

/* Text that is cut to the room; takes it. */
static void draw_fitting(pe_canvas *canvas, pe_buffer *text, double room, pe_caption caption)
{
    fit(text, caption.size, room);
    caption.text = pe_buffer_text(text);
    canvas->text(canvas, &caption);
    canvas->out->failed |= text->failed;
    pe_buffer_free(text);
}

void pe_figure_title(const pe_figure *figure, pe_canvas *canvas)
{
    pe_buffer title = {0}, parameters = {0};
    const double room = (double)canvas->width - 2 * MARGIN;
    if (figure->of_several)
        pe_buffer_str(&title, pe_segments_tensor_name(figure->plan, figure->tensor));
    else
        pe_words_title(figure->plan, figure->rendering, figure->tensor, &title);
    pe_words_parameters(figure->rendering->values, &parameters);
    draw_fitting(
        canvas, &title, room,
        (pe_caption){.at = {MARGIN, 25}, .size = PE_TITLE_SIZE, .strong = true, .colour = PE_INK});
    draw_fitting(canvas, &parameters, room,
                 (pe_caption){.at = {MARGIN, 44}, .size = PE_TEXT_SIZE, .colour = PE_FAINT});
}

/* The bytes of the words that fit into the room; at least one word. */
static size_t line_of(const char *text, double size, double room)
{
    size_t fitting = 0;
    pe_buffer line = {0};
    for (size_t end = strcspn(text, " ");; end += 1 + strcspn(text + end + 1, " ")) {
        line.bytes = 0;
        pe_buffer_add(&line, text, end);
        const bool fits = pe_strokes_width(pe_buffer_text(&line), size) * FONT_WIDER <= room;
        if (fitting > 0 && !fits)
            break;
        fitting = end;
        if (text[end] == '\0' || line.failed)
            break;
    }
    pe_buffer_free(&line);
    return fitting;
}

void pe_figure_draw_sentence(const char *title, const char *sentence, pe_canvas *canvas)
{
    const double room = (double)canvas->width - 2 * MARGIN;
    const char *at = sentence;
    canvas->text(canvas, &(pe_caption){.at = {MARGIN, 25},
                                       .size = PE_TITLE_SIZE,
                                       .strong = true,
                                       .colour = PE_INK,
                                       .text = title});
    for (size_t row = 0; *at != '\0' && 50 + 18 * row < canvas->height; row++) {
        char line[512];
        const double y = 50 + 18 * (double)row;
        const size_t bytes = line_of(at, PE_TEXT_SIZE, room);
        snprintf(line, sizeof line, "%.*s", (int)(bytes < sizeof line ? bytes : sizeof line), at);
        canvas->text(
            canvas,
            &(pe_caption){.at = {MARGIN, y}, .size = PE_TEXT_SIZE, .colour = PE_INK, .text = line});
        at += bytes + (at[bytes] == ' ');
    }
}

static size_t ceiling(size_t a, size_t b)
{
    return b == 0 ? 0 : (a + b - 1) / b;
}

/* What cannot be seen: that cells are pooled, and that panels are missing. */
void pe_figure_note(const pe_figure *figure, pe_canvas *canvas)
{
    const pe_layout *layout = &figure->layout;
    pe_buffer note = {0};
    if (layout->pooled && layout->curves)
        pe_buffer_format(&note, "minimum and maximum of up to %zu values per pixel",
                         ceiling(layout->columns, layout->nx));
    else if (layout->pooled)
        pe_buffer_format(&note,
                         "minimum and maximum of up to %zu x %zu values per %zu x %zu pixels",
                         ceiling(layout->rows, layout->ny), ceiling(layout->columns, layout->nx),
                         layout->down, layout->across);
    if (layout->panels < layout->panels_of)
        pe_buffer_format(&note,
                         layout->curves ? "%s%zu of %zu curves" : "%sthe first %zu of %zu panels",
                         note.bytes > 0 ? "; " : "", layout->panels, layout->panels_of);
    if (figure->empty)
        pe_buffer_str(&note, "no values");
    draw_fitting(canvas, &note, (double)canvas->width - 2 * MARGIN,
                 (pe_caption){.at = {MARGIN, (double)canvas->height - 11},
                              .size = PE_SMALL_SIZE,
                              .colour = PE_FAINT});
}

/* ---- axes ---- */

static const pe_pen tick_pen = {PE_INK, 1};

static size_t element_ticks(const pe_axis_words *words, size_t n, double pixels,
                            pe_tick out[PE_TICKS_MAX])
{
    const pe_axis axis = {words->first, words->first + words->step * (double)(n - 1), false};
    return n == 0 ? 0 : pe_axis_ticks(&axis, (size_t)pixels, true, out);
}

void pe_figure_ticks_below(const pe_box *panel, const pe_axis_words *words, size_t n,
                           bool at_centres, pe_canvas *canvas)
{
    pe_tick tick[PE_TICKS_MAX];
    const double base = panel->y + panel->height, share = at_centres ? (double)n : (double)(n - 1);
    const size_t ticks = element_ticks(words, n, panel->width / 64, tick);
    for (size_t i = 0; i < ticks; i++) {
        const double along = (tick[i].value - words->first) / words->step + (at_centres ? 0.5 : 0);
        const double x = panel->x + (share > 0 ? panel->width * along / share : panel->width / 2);
        const double pixel = floor(x) + 0.5;
        const pe_point line[2] = {{pixel, base + 1}, {pixel, base + 1 + TICK}};
        canvas->line(canvas, line, 2, &tick_pen, false);
        canvas->text(canvas, &(pe_caption){.at = {x, base + 18},
                                           .size = PE_SMALL_SIZE,
                                           .anchor = 0.5,
                                           .colour = PE_INK,
                                           .text = tick[i].text});
    }
}

void pe_figure_tick_left(const pe_box *panel, double y, double until, const pe_pen *pen,
                         const char *text, pe_canvas *canvas)
{
    const double pixel = floor(y) + 0.5;
    const pe_point line[2] = {{until > panel->x ? panel->x : panel->x - 1 - TICK, pixel},
                              {until, pixel}};
    canvas->line(canvas, line, 2, pen, false);
    canvas->text(canvas, &(pe_caption){.at = {panel->x - 8, y + 4},
                                       .size = PE_SMALL_SIZE,
                                       .anchor = 1,
                                       .colour = PE_INK,
                                       .text = text});
}

void pe_figure_ticks_left(const pe_box *panel, const pe_axis_words *words, size_t n,
                          pe_canvas *canvas)
{
    pe_tick tick[PE_TICKS_MAX];
    const size_t ticks = element_ticks(words, n, panel->height / 40, tick);
    for (size_t i = 0; i < ticks; i++) {
        const double along = (tick[i].value - words->first) / words->step + 0.5;
        pe_figure_tick_left(panel, panel->y + panel->height * along / (double)n, panel->x - 1,
                            &tick_pen, tick[i].text, canvas);
    }
}

/* The numbers of the leading axes. */
static void number_panel(const pe_figure *figure, size_t panel, pe_buffer *out)
{
    const pe_shape *shape = &pe_figure_tensor(figure)->shape;
    size_t left = figure->layout.panels_of, rest = panel;
    for (size_t d = 0; d < shape->ndim && left > 1; d++) {
        if (shape->dim[d] == 1)
            continue;
        left /= shape->dim[d];
        pe_buffer_format(out, "%s%zu",
                         left * shape->dim[d] == figure->layout.panels_of ? " " : ", ",
                         rest / left);
        rest %= left;
    }
}

void pe_figure_head(const pe_figure *figure, size_t panel, pe_canvas *canvas)
{
    const pe_layout *layout = &figure->layout;
    const pe_box box = pe_layout_panel(layout, panel);
    pe_axis_words words;
    pe_buffer head = {0};
    if (layout->panels < 2)
        return;
    const size_t axis = layout->curves ? layout->y_axis : 0;
    pe_words_axis(figure->rendering, pe_figure_tensor(figure), axis, &words);
    if (layout->curves || layout->panels_of == pe_figure_tensor(figure)->shape.dim[0])
        pe_buffer_str(&head, words.name);
    if (layout->curves)
        pe_buffer_format(&head, " %zu", pe_layout_series(layout, panel));
    else
        number_panel(figure, panel, &head);
    draw_fitting(canvas, &head, layout->right - 4,
                 (pe_caption){.at = {box.x, box.y - 5}, .size = PE_SMALL_SIZE, .colour = PE_FAINT});
}

void pe_figure_axis_names(const pe_figure *figure, pe_canvas *canvas)
{
    const pe_layout *layout = &figure->layout;
    const pe_tensor *tensor = pe_figure_tensor(figure);
    const pe_box *plot = &layout->plot;
    const pe_box last = pe_layout_panel(layout, layout->panels > 0 ? layout->panels - 1 : 0);
    pe_axis_words words;
    pe_buffer left = {0};
    pe_words_axis(figure->rendering, tensor, layout->x_axis, &words);
    canvas->text(canvas, &(pe_caption){.at = {plot->x + plot->width / 2, last.y + last.height + 35},
                                       .size = PE_TEXT_SIZE,
                                       .anchor = 0.5,
                                       .colour = PE_INK,
                                       .text = words.name});
    pe_words_axis(figure->rendering, tensor, layout->y_axis, &words);
    if (layout->curves)
        pe_words_value(figure->rendering, tensor, &left);
    else
        pe_buffer_str(&left, words.name);
    draw_fitting(canvas, &left, plot->height + 60,
                 (pe_caption){.at = {MARGIN + 4, plot->y + plot->height / 2},
                              .size = PE_TEXT_SIZE,
                              .anchor = 0.5,
                              .upwards = true,
                              .colour = PE_INK});
}
