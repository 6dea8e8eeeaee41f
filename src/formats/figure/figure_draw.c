/* SPDX-License-Identifier: MIT */
/* figure_draw.c - title, notes, ticks and names of axes. */
#include "formats/figure/figure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/size.h"
#include "formats/figure/pixels.h"

#define MARGIN  16.0 /* of the paper, beside text */
#define TICK    4.0
#define DECADES 1000.0 /* from here on, values are shown on a logarithmic scale */

bool pe_figure_wants_log(const pe_figure *figure)
{
    return figure->least > 0 && figure->most / figure->least >= DECADES;
}

/* ---- text ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Cut a text so that it fits, with dots for what is missing; whole characters and numbers. */
static void fit(pe_buffer *text, const pe_caption *caption, double room)
{
    const double size = caption->size;
    const bool strong = caption->strong;
    if (pe_letters_width(pe_buffer_text(text), size, strong) <= room)
        return;
    room -= pe_letters_width("...", size, strong);
    char next = ' ';
    while (text->bytes > 0 && pe_letters_width(pe_buffer_text(text), size, strong) > room) {
        text->bytes--;
        while (text->bytes > 0 && ((unsigned char)text->data[text->bytes] & 0xc0) == 0x80)
            text->bytes--;
        next = text->data[text->bytes];
    }
    if (is_digit(next) ||
        (next != ' ' && next != ',' && text->bytes > 0 && is_digit(text->data[text->bytes - 1])))
        while (text->bytes > 0 && text->data[text->bytes - 1] != ' ')
            text->bytes--;
    pe_buffer_str(text, "...");
}

/* Text that is cut to the room; takes it. */
static void draw_fitting(pe_canvas *canvas, pe_buffer *text, double room, pe_caption caption)
{
    fit(text, &caption, room);
    caption.text = pe_buffer_text(text);
    canvas->text(canvas, &caption);
    canvas->out->failed |= text->failed;
    pe_buffer_free(text);
}

/* In smaller letters where it would not fit. */
static void draw_title(pe_buffer *title, double size, pe_canvas *canvas)
{
    const double room = (double)canvas->width - 2 * MARGIN;
    while (size > PE_TEXT_SIZE && pe_letters_width(pe_buffer_text(title), size, true) > room)
        size--;
    draw_fitting(canvas, title, room,
                 (pe_caption){.at = {MARGIN, 25}, .size = size, .strong = true, .colour = PE_INK});
}

static void draw_parameters(const pe_rendering *rendering, pe_canvas *canvas)
{
    pe_buffer parameters = {0};
    pe_words_parameters(rendering, &parameters);
    draw_fitting(canvas, &parameters, (double)canvas->width - 2 * MARGIN,
                 (pe_caption){.at = {MARGIN, 44}, .size = PE_TEXT_SIZE, .colour = PE_FAINT});
}

void pe_figure_sheet_title(const pe_sheet *sheet, pe_canvas *canvas)
{
    pe_buffer title = {0};
    pe_words_resource(sheet->rendering, &title);
    draw_title(&title, PE_TITLE_SIZE, canvas);
    draw_parameters(sheet->rendering, canvas);
}

/* The bytes of the words that fit into the room; at least one word. */
static size_t line_of(const char *text, double size, double room)
{
    size_t fitting = 0;
    pe_buffer line = {0};
    for (size_t end = strcspn(text, " ");; end += 1 + strcspn(text + end + 1, " ")) {
        line.bytes = 0;
        pe_buffer_add(&line, text, end);
        const bool fits = pe_letters_width(pe_buffer_text(&line), size, false) <= room;
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
        pe_figure_text(canvas, (pe_point){MARGIN, y}, PE_TEXT_SIZE, 0, line);
        at += bytes + (at[bytes] == ' ');
    }
}

void pe_figure_text(pe_canvas *canvas, pe_point at, double size, double anchor, const char *text)
{
    canvas->text(
        canvas,
        &(pe_caption){.at = at, .size = size, .anchor = anchor, .colour = PE_INK, .text = text});
}

/* What cannot be seen: that cells are pooled, and that panels are missing. */
static void draw_note(const pe_figure *figure, pe_canvas *canvas)
{
    const pe_layout *layout = &figure->layout;
    pe_buffer note = {0};
    if (layout->pooled && layout->curves)
        pe_buffer_format(&note, "minimum and maximum of up to %zu values per pixel",
                         pe_layout_quotient(layout->columns, layout->nx));
    else if (layout->pooled)
        pe_buffer_format(&note,
                         "minimum and maximum of up to %zu x %zu values per %zu x %zu pixels",
                         pe_layout_quotient(layout->rows, layout->ny),
                         pe_layout_quotient(layout->columns, layout->nx),
                         pe_layout_quotient((size_t)layout->panel.height, layout->ny),
                         pe_layout_quotient((size_t)layout->panel.width, layout->nx));
    if (layout->panels < layout->panels_of)
        pe_buffer_format(&note,
                         layout->curves ? "%s%zu of %zu curves" : "%sthe first %zu of %zu panels",
                         note.bytes > 0 ? "; " : "", layout->panels, layout->panels_of);
    if (layout->own_scales && figure->cells.masked)
        pe_buffer_format(&note, "%sgrey: masked", note.bytes > 0 ? "; " : "");
    if (figure->empty)
        pe_buffer_str(&note, "no values");
    draw_fitting(canvas, &note, (double)canvas->width - 2 * MARGIN,
                 (pe_caption){.at = {MARGIN, (double)canvas->height - 11},
                              .size = PE_SMALL_SIZE,
                              .colour = PE_FAINT});
}

/* ---- axes ---- */

static const pe_pen tick_pen = {PE_INK, 1};

void pe_figure_tick_left(const pe_box *panel, double y, double until, const pe_pen *pen,
                         const char *text, pe_canvas *canvas)
{
    const double pixel = floor(y) + 0.5;
    const pe_point line[2] = {{until > panel->x ? panel->x : panel->x - 1 - TICK, pixel},
                              {until, pixel}};
    canvas->line(canvas, line, 2, pen, false);
    pe_figure_text(canvas, (pe_point){panel->x - 8, y + 4}, PE_SMALL_SIZE, 1, text);
}

void pe_figure_ticks(const pe_box *panel, const pe_axis_words *words, size_t n, bool below,
                     bool at_centres, pe_canvas *canvas)
{
    static const double apart[2][2] = {{40, 16},
                                       {64, 72}}; /* left and below; of numbers, of names */
    pe_tick tick[PE_TICKS_MAX];
    const double length = below ? panel->width : panel->height, base = panel->y + panel->height;
    const double share = at_centres ? (double)n : (double)(n - 1);
    const pe_axis axis = {words->first, words->first + words->step * (double)(n - 1), false};
    const double wanted = length / apart[below][words->names != NULL];
    const size_t ticks = n == 0 ? 0 : pe_axis_ticks(&axis, (size_t)wanted, true, tick);
    for (size_t i = 0; i < ticks; i++) {
        if (words->names != NULL)
            snprintf(tick[i].text, sizeof tick[i].text, "%s",
                     pe_words_element(words, (size_t)tick[i].value));
        const double along = (tick[i].value - words->first) / words->step + (at_centres ? 0.5 : 0);
        const double at = share > 0 ? length * along / share : length / 2;
        const double x = panel->x + at, pixel = floor(x) + 0.5;
        const pe_point line[2] = {{pixel, base + 1}, {pixel, base + 1 + TICK}};
        if (!below) {
            pe_figure_tick_left(panel, panel->y + at, panel->x - 1, &tick_pen, tick[i].text,
                                canvas);
            continue;
        }
        canvas->line(canvas, line, 2, &tick_pen, false);
        pe_figure_text(canvas, (pe_point){x, base + 18}, PE_SMALL_SIZE, 0.5, tick[i].text);
    }
}

/* What may stand above a panel, the most first: a number is there wholly or not at all. */
enum { NAME = 1, NUMBER = 2, ENDS = 4 };
static const int head_parts[] = {NAME | NUMBER | ENDS, NUMBER | ENDS, ENDS, NAME | NUMBER, NUMBER};

static void choose_head(const char *name, const char *number, const char *ends, double room,
                        pe_buffer *out)
{
    for (size_t i = 0; i < PE_LEN(head_parts); i++) {
        out->bytes = 0;
        pe_buffer_str(out, (head_parts[i] & NAME) != 0 ? name : "");
        if ((head_parts[i] & NUMBER) != 0)
            pe_buffer_str(out, number + (out->bytes == 0 && number[0] == ' '));
        if ((head_parts[i] & ENDS) != 0)
            pe_buffer_format(out, "%s%s", out->bytes > 0 && ends[0] != '\0' ? ": " : "", ends);
        if (pe_letters_width(pe_buffer_text(out), PE_SMALL_SIZE, false) <= room)
            return;
    }
    out->bytes = 0;
}

void pe_figure_head(const pe_figure *figure, size_t panel, const pe_axis *own, pe_canvas *canvas)
{
    const pe_layout *layout = &figure->layout;
    const pe_box box = pe_layout_panel(layout, panel);
    const double room = layout->right - 4;
    char ends[2 * PE_TICK_TEXT + 4] = "";
    pe_buffer head = {0}, number = {0};
    if (layout->bare || (layout->panels < 2 && (own == NULL || figure->empty)))
        return;
    const pe_axis_words words = pe_figure_words(figure, layout->curves ? layout->y_axis : 0);
    const size_t series = layout->curves ? pe_layout_series(layout, panel) : 0;
    const char *element = layout->curves ? pe_words_element(&words, series) : NULL;
    if (layout->curves)
        pe_buffer_format(&number, " %zu", series);
    if (!layout->curves) {
        /* The numbers of the leading axes. */
        const pe_shape *shape = &pe_figure_tensor(figure)->shape;
        size_t left = layout->panels_of, rest = panel;
        for (size_t d = 0; d < shape->ndim && left > 1; d++) {
            if (shape->dim[d] == 1)
                continue;
            left /= shape->dim[d];
            pe_buffer_format(&number, "%s%zu",
                             left * shape->dim[d] == layout->panels_of ? " " : ", ", rest / left);
            rest %= left;
        }
    }
    if (own != NULL) {
        pe_tick end[2];
        pe_axis_tick(own->from, &end[0]);
        pe_axis_tick(own->to, &end[1]);
        snprintf(ends, sizeof ends, "%s to %s", end[0].text, end[1].text);
    }
    const bool named =
        layout->curves || layout->panels_of == pe_figure_tensor(figure)->shape.dim[0];
    if (element != NULL)
        pe_buffer_str(&head, element);
    else
        choose_head(named ? words.name : "", pe_buffer_text(&number), ends, room, &head);
    head.failed |= number.failed;
    pe_buffer_free(&number);
    draw_fitting(canvas, &head, room,
                 (pe_caption){.at = {box.x, box.y - 5}, .size = PE_SMALL_SIZE, .colour = PE_FAINT});
}

static void draw_axis_names(const pe_figure *figure, pe_canvas *canvas)
{
    const pe_layout *layout = &figure->layout;
    const pe_box *plot = &layout->plot, last = pe_layout_panel(layout, layout->panels - 1);
    const pe_axis_words below = pe_figure_words(figure, layout->x_axis),
                        beside = pe_figure_words(figure, layout->y_axis);
    pe_buffer left = {0};
    pe_figure_text(canvas, (pe_point){plot->x + plot->width / 2, last.y + last.height + 35},
                   PE_TEXT_SIZE, 0.5, below.name);
    /* Of several, a curve has its name above it. */
    if (layout->curves && !figure->of_several)
        pe_words_value(figure->rendering, pe_figure_tensor(figure), &left);
    else if (!layout->curves)
        pe_buffer_str(&left, beside.name);
    if (figure->of_several &&
        pe_letters_width(pe_buffer_text(&left), PE_TEXT_SIZE, false) > plot->height)
        pe_buffer_free(&left); /* it would stand in the title */
    draw_fitting(canvas, &left, plot->height + 60,
                 (pe_caption){.at = {MARGIN + 4, plot->y + plot->height / 2},
                              .size = PE_TEXT_SIZE,
                              .anchor = 0.5,
                              .upwards = true,
                              .colour = PE_INK});
}

void pe_figure_draw(const pe_figure *figure, pe_canvas *canvas)
{
    pe_buffer title = {0};
    if (figure->layout.bare) {
        pe_figure_draw_panels(figure, canvas);
        return;
    }
    if (figure->of_several)
        pe_buffer_str(&title, pe_segments_tensor_name(figure->plan, figure->tensor));
    else
        pe_words_title(figure->plan, figure->rendering, figure->tensor, &title);
    draw_title(&title, figure->of_several ? PE_TEXT_SIZE : PE_TITLE_SIZE, canvas);
    if (!figure->of_several)
        draw_parameters(figure->rendering, canvas);
    pe_figure_draw_panels(figure, canvas);
    draw_axis_names(figure, canvas);
    draw_note(figure, canvas);
}
