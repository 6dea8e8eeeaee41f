/* SPDX-License-Identifier: MIT */
/* mrope_causes.c - tables of several axes: which positions and sections made them. */
#include "verify/mrope_causes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Time, height and width. */
enum { TIME, HEIGHT, WIDTH, AXES };

/* How far from the claim a shift is looked for. */
#define FARTHEST 4096

/* Positions and sections, the claimed ones or others. */
typedef struct axes {
    size_t tokens;
    size_t first, end;    /* tokens of the image: from the first to the last whose axes differ */
    double *at;           /* [AXES][tokens] owned */
    double section[AXES]; /* pairs of each */
    bool interleaved;
    double moved; /* of the last token: how far it is from the claimed position */
} axes;

static double *axis(const axes *x, size_t a)
{
    return x->at + a * x->tokens;
}

/* ---- what rows change ---- */

/* One mistake. False: it makes no sense here. */
typedef struct row {
    pe_fault fault;
    bool (*change)(const struct row *of, axes *x, double *a, double *b);
    unsigned char from[AXES]; /* axes in the place of each */
} row;

static bool take_axes(const row *of, axes *x, size_t first, size_t end)
{
    for (size_t t = first; t < end; t++) {
        const double was[] = {axis(x, TIME)[t], axis(x, HEIGHT)[t], axis(x, WIDTH)[t]};
        for (size_t a = 0; a < AXES; a++)
            axis(x, a)[t] = was[of->from[a]];
    }
    return end > first;
}

static bool change_axes(const row *of, axes *x, double *a, double *b)
{
    (void)a;
    (void)b;
    return take_axes(of, x, 0, x->tokens);
}

static bool change_image(const row *of, axes *x, double *a, double *b)
{
    (void)a;
    (void)b;
    return take_axes(of, x, x->first, x->end);
}

static bool count_tokens(const row *of, axes *x, double *a, double *b)
{
    const double first = axis(x, TIME)[0];
    (void)of;
    (void)a;
    (void)b;
    for (size_t t = 0; t < AXES * x->tokens; t++)
        x->at[t] = first + (double)(t % x->tokens);
    return true;
}

static bool flip_interleaved(const row *of, axes *x, double *a, double *b)
{
    (void)of;
    (void)a;
    (void)b;
    x->interleaved = !x->interleaved;
    return true;
}

static bool take_thirds(const row *of, axes *x, double *a, double *b)
{
    const double pairs = x->section[TIME] + x->section[HEIGHT] + x->section[WIDTH];
    (void)of;
    x->section[HEIGHT] = x->section[WIDTH] = floor(pairs / 3);
    *a = x->section[TIME] = pairs - 2 * x->section[WIDTH];
    *b = x->section[WIDTH];
    return *b > 0;
}

static bool move_sections(const row *of, axes *x, double *a, double *b)
{
    (void)a;
    (void)b;
    x->section[TIME] += of->fault.value;
    x->section[WIDTH] -= of->fault.value;
    return x->section[TIME] > 0 && x->section[WIDTH] > 0;
}

static void add(axes *x, size_t a, size_t first, size_t end, double plus)
{
    for (size_t t = first; t < end; t++)
        axis(x, a)[t] += plus;
}

static bool shift_all(const row *of, axes *x, double *a, double *b)
{
    (void)of;
    (void)b;
    *a = x->moved;
    for (size_t k = 0; k < AXES; k++)
        add(x, k, 0, x->tokens, *a);
    return isfinite(*a) && *a != 0;
}

static bool shift_after(const row *of, axes *x, double *a, double *b)
{
    (void)of;
    *a = x->moved;
    *b = (double)x->end;
    for (size_t k = 0; k < AXES; k++)
        add(x, k, x->end, x->tokens, *a);
    return isfinite(*a) && *a != 0 && x->end > x->first && x->end < x->tokens;
}

static bool shift_axis(const row *of, axes *x, double *a, double *b)
{
    (void)b;
    *a = of->fault.value;
    add(x, of->from[0], 0, x->tokens, *a);
    return true;
}

static bool hold_image(const row *of, axes *x, double *a, double *b)
{
    const double start = axis(x, TIME)[x->first];
    (void)of;
    *a = start;
    *b = (double)x->first;
    for (size_t k = 0; k < AXES; k++)
        add(x, k, x->first, x->end, -start);
    return x->end > x->first && start != 0;
}

static bool double_image(const row *of, axes *x, double *a, double *b)
{
    const double start = axis(x, TIME)[x->first];
    (void)of;
    *a = (double)x->first;
    *b = (double)x->end - 1;
    for (size_t k = 0; k < AXES; k++)
        for (size_t t = x->first; t < x->end; t++)
            axis(x, k)[t] = start + 2 * (axis(x, k)[t] - start);
    return x->end > x->first;
}

#define ORDER                                                                                      \
    "give the pairs of each section the positions of time, height and width, in this order"
#define IMAGE  "place patches behind the text before them, row by row of the merged grid"
#define BEHIND "let text after an image go on at its largest position plus 1 (rope_deltas)"

static const row rows[] = {
    {{"mrope_axes_exchanged", "the axes of height and width are exchanged", .remedy = ORDER},
     change_axes,
     {TIME, WIDTH, HEIGHT}},
    {{"mrope_axes_exchanged",
      "the axes of time and width are exchanged: sections stand in reverse order", .remedy = ORDER},
     change_axes,
     {WIDTH, HEIGHT, TIME}},
    {{"mrope_axes_exchanged", "the axes of time and height are exchanged", .remedy = ORDER},
     change_axes,
     {HEIGHT, TIME, WIDTH}},
    {{"mrope_one_axis", "all sections have the positions of one axis, time", .remedy = ORDER},
     change_axes,
     {TIME, TIME, TIME}},
    {{"mrope_one_axis", "all sections have the positions of one axis, height", .remedy = ORDER},
     change_axes,
     {HEIGHT, HEIGHT, HEIGHT}},
    {{"mrope_one_axis", "all sections have the positions of one axis, width", .remedy = ORDER},
     change_axes,
     {WIDTH, WIDTH, WIDTH}},
    {{"mrope_text_positions", "all axes have plain consecutive positions, as text has",
      .remedy = "pass the position_ids of the three axes"},
     count_tokens,
     {0}},
    {{"mrope_interleaved", "sections were interleaved where blocks are claimed, or the reverse",
      .remedy = "set mrope_interleaved as claimed"},
     flip_interleaved,
     {0}},
    {{"mrope_sections", "sections were equal thirds: {a} pairs of time, {b} of height and width",
      .remedy = "set mrope_section as claimed"},
     take_thirds,
     {0}},
    {{"mrope_sections", "sections begin one pair later: that of time has one pair more", .value = 1,
      .remedy = "set mrope_section as claimed"},
     move_sections,
     {0}},
    {{"mrope_sections", "sections begin one pair earlier: that of time has one pair less",
      .value = -1, .remedy = "set mrope_section as claimed"},
     move_sections,
     {0}},
    {{"mrope_image_axes", "patches of the image are in columns: height and width are exchanged",
      .remedy = IMAGE},
     change_image,
     {TIME, WIDTH, HEIGHT}},
    {{"mrope_image_time", "the image's time runs with its rows: its axis has those of the height",
      .remedy = IMAGE},
     change_image,
     {HEIGHT, HEIGHT, WIDTH}},
    {{"mrope_image_start",
      "the image is not moved behind the text: from row {b} on patches are shifted by -{a}",
      .remedy = IMAGE},
     hold_image,
     {0}},
    {{"mrope_image_stride",
      "patches of rows {a} to {b}, the image, have a stride of 2: their merge was ignored",
      .remedy = "divide grid_thw by spatial_merge_size"},
     double_image,
     {0}},
    {{"mrope_text_after", "text after the image, from row {b} on, is shifted by {a}",
      .remedy = BEHIND},
     shift_after,
     {0}},
    {{"mrope_positions_shifted", "all positions are shifted: an offset of {a}",
      .remedy = "check padding on the left and the offset of the cache"},
     shift_all,
     {0}},
    {{"mrope_axis_shifted", "the axis of the width is shifted by {a}", .value = 1, .remedy = IMAGE},
     shift_axis,
     {WIDTH}},
    {{"mrope_axis_shifted", "the axis of the width is shifted by {a}", .value = -1,
      .remedy = IMAGE},
     shift_axis,
     {WIDTH}},
    {{"mrope_axis_shifted", "the axis of the height is shifted by {a}", .value = 1,
      .remedy = IMAGE},
     shift_axis,
     {HEIGHT}},
    {{"mrope_axis_shifted", "the axis of the height is shifted by {a}", .value = -1,
      .remedy = IMAGE},
     shift_axis,
     {HEIGHT}},
    {{"mrope_axis_shifted", "the axis of time is shifted by {a}", .value = 1, .remedy = IMAGE},
     shift_axis,
     {TIME}},
    {{"mrope_axis_shifted", "the axis of time is shifted by {a}", .value = -1, .remedy = IMAGE},
     shift_axis,
     {TIME}},
};

/* ---- the claim ---- */

static bool differs(const axes *x, size_t t)
{
    return axis(x, TIME)[t] != axis(x, HEIGHT)[t] || axis(x, TIME)[t] != axis(x, WIDTH)[t];
}

/* The first patch has the same position on all axes. */
static void find_image(axes *x)
{
    size_t t = 0;
    while (t < x->tokens && !differs(x, t))
        t++;
    x->first = t > 0 && t < x->tokens ? t - 1 : t;
    x->end = x->first;
    for (; t < x->tokens; t++)
        x->end = differs(x, t) ? t + 1 : x->end;
}

static pe_status make_axes(const pe_comparison *of, axes *out, pe_problem *why)
{
    const pe_values *values = &of->guess->values;
    const pe_positions *positions = &pe_values_find(values, "positions")->positions;
    const pe_value *sections = pe_values_find(values, "mrope_section");
    const pe_value *interleaved = pe_values_find(values, "mrope_interleaved");
    *out = (axes){.tokens = of->view->tokens, .moved = nan("")};
    out->at = calloc(AXES * out->tokens, sizeof *out->at);
    if (out->at == NULL)
        return pe_fail_memory(why);
    for (size_t t = 0; t < AXES * out->tokens; t++)
        out->at[t] = pe_positions_at(positions, t);
    for (size_t a = 0; a < AXES; a++)
        out->section[a] = sections->list[a];
    out->interleaved = interleaved != NULL && interleaved->present && interleaved->truth;
    find_image(out);
    return PE_OK;
}

/* Three axes and their sections. */
static bool has_axes(const pe_comparison *of)
{
    const pe_value *sections = pe_values_find(&of->guess->values, "mrope_section");
    return of->view->axes == AXES && !of->view->width_differs && sections != NULL &&
           sections->present && sections->list_length == AXES && of->view->tokens > 0;
}

/* ---- how far the last token was moved ---- */

/* Do all pairs of the last row turn by their frequency times `position`? */
static bool is_at(const pe_comparison *of, const pe_expect *expect, double position)
{
    const pe_geometry *g = &expect->geometry;
    const double *got = of->view->got + (of->view->tokens - 1) * of->view->width;
    for (size_t i = 0; i < g->cos_n && i < g->sin_n; i++) {
        const double angle = position * expect->frequency[i], a = expect->amplitude;
        if (!(fabs(got[g->cos_at + i * g->stride] - a * cos(angle)) < 0.05 * a) ||
            !(fabs(got[g->sin_at + i * g->stride] - a * sin(angle)) < 0.05 * a))
            return false;
    }
    return true;
}

/* The nearest shift first. */
static double find_shift(const pe_comparison *of, const pe_expect *expect, double claimed)
{
    for (int by = 0; by <= 2 * FARTHEST; by++) {
        const int half = by / 2, shift = by % 2 == 0 ? half : -half;
        if (is_at(of, expect, claimed + shift))
            return shift;
    }
    return nan("");
}

static pe_status read_shift(const pe_comparison *of, axes *x, pe_problem *why)
{
    pe_expect expect;
    if (differs(x, x->tokens - 1))
        return PE_OK;
    *of->work += pe_upload_view_plan_work(of->view) + 8 * FARTHEST;
    pe_status status = pe_expect_make(of, PE_NUMERICS_EXACT, &expect, why);
    if (status != PE_OK || !expect.fits)
        return status;
    status = pe_expect_probe(&expect, why);
    if (status == PE_OK)
        x->moved = find_shift(of, &expect, axis(x, TIME)[x->tokens - 1]);
    pe_expect_free(&expect);
    return status;
}

/* ---- explaining ---- */

static pe_status set_positions(pe_guess *guess, const axes *x, pe_problem *why)
{
    pe_array list;
    pe_positions *positions = &pe_values_find(&guess->values, "positions")->positions;
    pe_status status = pe_array_make(PE_FLOAT64, &positions->shape, &list, why);
    if (status != PE_OK)
        return status;
    memcpy(list.data, x->at, AXES * x->tokens * sizeof *x->at);
    pe_positions_free(positions);
    status = pe_positions_from_list(&list, "positions", positions, why);
    pe_array_free(&list);
    return status;
}

static void set_sections(pe_guess *guess, const axes *x)
{
    pe_value *interleaved = pe_values_find(&guess->values, "mrope_interleaved");
    pe_value *sections = pe_values_find(&guess->values, "mrope_section");
    memcpy(sections->list, x->section, sizeof x->section);
    if (interleaved == NULL || interleaved->truth == x->interleaved)
        return;
    interleaved->truth = x->interleaved;
    (void)pe_guess_set_choice(&guess->values, "mrope_layout",
                              x->interleaved ? "interleaved" : "sections");
}

/* With the positions and sections of a row. */
static pe_status try_axes(pe_search *s, const axes *x, pe_guess *guess, pe_problem *why)
{
    const pe_status status = set_positions(guess, x, why);
    if (status != PE_OK) /* a position beyond the bounds: no such guess */
        return pe_status_is_ours(status) ? status : PE_OK;
    set_sections(guess, x);
    return pe_attempts_try(s, guess, why);
}

static pe_status try_row(pe_search *s, const pe_guess *claim, const axes *claimed, const row *by,
                         pe_problem *why)
{
    axes x = *claimed;
    double a = 0, b = 0;
    pe_guess guess;
    x.at = malloc(AXES * x.tokens * sizeof *x.at);
    if (x.at == NULL)
        return pe_fail_memory(why);
    memcpy(x.at, claimed->at, AXES * x.tokens * sizeof *x.at);
    pe_status status = PE_OK;
    if (by->change(by, &x, &a, &b)) {
        status = pe_guess_copy(claim, &guess, why);
        if (status == PE_OK) {
            pe_guess_say(&guess, &by->fault, by->fault.remedy);
            pe_guess_format(&guess, by->fault.rule, a, b);
            status = try_axes(s, &x, &guess, why);
            pe_guess_free(&guess);
        }
    }
    free(x.at);
    return status;
}

static pe_status try_rows(pe_search *s, pe_guess *guess, pe_problem *why)
{
    axes claimed;
    const pe_comparison of = {s->whole, guess, &s->work};
    pe_status status = make_axes(&of, &claimed, why);
    if (status == PE_OK)
        status = read_shift(&of, &claimed, why);
    for (size_t r = 0; r < PE_LEN(rows) && status == PE_OK && !pe_attempts_spent(s); r++)
        status = try_row(s, guess, &claimed, &rows[r], why);
    free(claimed.at);
    return status;
}

pe_status pe_mrope_causes_try(pe_search *s, pe_guess *guess, pe_problem *why)
{
    const pe_upload_view *view = s->view;
    if (!has_axes(&(pe_comparison){s->whole, guess, &s->work}))
        return PE_OK;
    s->view = s->whole;
    pe_status status = pe_attempts_set_positions(s, s->whole, guess, why);
    if (status == PE_OK)
        status = try_rows(s, guess, why);
    s->view = view;
    return status;
}
