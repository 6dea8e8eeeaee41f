/* SPDX-License-Identifier: MIT */
/* mrope_causes.c - tables of several axes: which positions and sections made them. */
#include "verify/mrope_causes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "verify/findings.h"

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

/* Patches of which each has the position of the first. */
static bool stay_in_image(const row *of, axes *x, double *a, double *b)
{
    (void)of;
    *a = (double)x->first;
    *b = (double)x->end - 1;
    for (size_t k = 0; k < AXES; k++)
        for (size_t t = x->first; t < x->end; t++)
            axis(x, k)[t] = axis(x, k)[x->first];
    return x->end > x->first;
}

/* Text after the image begins anew at 0. */
static bool restart_after(const row *of, axes *x, double *a, double *b)
{
    (void)of;
    *a = (double)x->end;
    *b = 0;
    for (size_t k = 0; k < AXES; k++)
        for (size_t t = x->end; t < x->tokens; t++)
            axis(x, k)[t] = (double)(t - x->end);
    return x->end > x->first && x->end < x->tokens;
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
    {{"mrope_image_place", "rows {a} to {b}, the image, have one position: all patches are stuck",
      .remedy = IMAGE},
     stay_in_image,
     {0}},
    {{"mrope_text_after", "text after the image, from row {a} on, begins anew at {b}: it restarts",
      .remedy = BEHIND},
     restart_after,
     {0}},
    {{"mrope_axes_exchanged",
      "the axes are in the order height, width, time: sections are turned by one", .remedy = ORDER},
     change_axes,
     {HEIGHT, WIDTH, TIME}},
    {{"mrope_axes_exchanged",
      "the axes are in the order width, time, height: sections are turned by one", .remedy = ORDER},
     change_axes,
     {WIDTH, TIME, HEIGHT}},
    {{"mrope_one_axis", "the axis of width has the positions of the height", .remedy = ORDER},
     change_axes,
     {TIME, HEIGHT, HEIGHT}},
    {{"mrope_one_axis", "the axis of height has the positions of the width", .remedy = ORDER},
     change_axes,
     {TIME, WIDTH, WIDTH}},
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

/* ---- which axis a pair follows ---- */

/* Does the pair turn by the positions of the axis, in all rows? */
static bool follows_axis(const pe_comparison *of, const pe_expect *expect, const axes *x, size_t i,
                         size_t a)
{
    const pe_geometry *g = &expect->geometry;
    const double w = expect->frequency[i], size = expect->amplitude;
    const double roundoff = pe_upload_view_roundoff(of->view);
    for (size_t t = 0; t < x->tokens; t++) {
        const double *got = of->view->got + t * of->view->width, angle = w * axis(x, a)[t];
        const double slack = size * (0x1p-20 * (1 + fabs(angle)) + 2 * roundoff);
        if (!(fabs(got[g->cos_at + i * g->stride] - size * cos(angle)) <= slack) ||
            !(fabs(got[g->sin_at + i * g->stride] - size * sin(angle)) <= slack))
            return false;
    }
    return true;
}

/* That of the pair before it where several do; AXES: none. */
static size_t axis_of(const pe_comparison *of, const pe_expect *expect, const axes *x, size_t i,
                      size_t before)
{
    if (before < AXES && follows_axis(of, expect, x, i, before))
        return before;
    for (size_t a = 0; a < AXES; a++)
        if (follows_axis(of, expect, x, i, a))
            return a;
    return AXES;
}

/* "pairs 0 to 31 follow time, ..."; false: too many follow none. */
static bool tell_axes(const pe_comparison *of, const pe_expect *expect, const axes *x,
                      pe_buffer *out)
{
    enum { MOST = 6 };
    static const char *const names[] = {"time", "height", "width", "no axis"};
    size_t first = 0, before = AXES, runs = 0, none = 0;
    const size_t pairs = expect->geometry.pairs;
    for (size_t i = 0; i <= pairs; i++) {
        const size_t is = i < pairs ? axis_of(of, expect, x, i, before) : AXES + 1;
        none += is == AXES;
        if (i > 0 && is != before && ++runs <= MOST)
            pe_buffer_format(out, "%s %zu to %zu follow %s",
                             runs > 1 ? "," : "axes or sections are others: pairs", first, i - 1,
                             names[before]);
        first = i == 0 || is != before ? i : first;
        before = is;
    }
    pe_buffer_str(out, runs > MOST ? " and so on, interleaved" : "");
    return none * 2 < pairs;
}

static pe_status measure_axes(pe_search *s, pe_guess *guess, pe_problem *why)
{
    static const pe_fault others = {.name = "mrope_sections",
                                    .remedy = "set mrope_section as claimed; " ORDER};
    axes x;
    pe_expect expect;
    pe_buffer rule = {0}, evidence = {0};
    pe_finding finding = {.exact = false};
    const pe_comparison of = {s->whole, guess, &s->work};
    pe_status status = pe_expect_make(&of, PE_NUMERICS_EXACT, &expect, why);
    if (status != PE_OK || !expect.fits)
        return status;
    status = make_axes(&of, &x, why);
    if (status == PE_OK)
        status = pe_expect_probe(&expect, why);
    if (status == PE_OK && tell_axes(&of, &expect, &x, &rule)) {
        pe_guess_say(guess, &others, others.remedy);
        pe_buffer_str(&guess->rule, pe_buffer_text(&rule));
        guess->fitted = true;
        pe_buffer_str(&evidence, "each pair was held against the claimed positions of each axis");
        status = pe_findings_add(s->report, &finding, guess, &evidence, why);
    }
    *of.work += 4 * s->whole->elements;
    pe_buffer_free(&rule);
    free(x.at);
    pe_expect_free(&expect);
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
    if (status == PE_OK && pe_attempts_go_on(s))
        status = measure_axes(s, guess, why);
    s->view = view;
    return status;
}

/* ---- position ids ---- */

static double id_at(const void *context, size_t e, double claimed, double *error)
{
    const double *ids = context;
    (void)claimed;
    (void)error;
    return ids[e];
}

static pe_status try_ids(const pe_numbers *plain, const pe_fault *fault, const double *ids,
                         double a, double b, pe_problem *why)
{
    const pe_numbers_cause cause = {fault, a, b, false};
    pe_numbers_spend(plain, plain->elements);
    for (size_t e = 0; e < plain->elements; e++)
        if (ids[e] != plain->got[e])
            return PE_OK;
    return pe_numbers_try(plain, &cause, 1, &(pe_numbers_law){id_at, ids, 0}, why);
}

/* One row's change of the claimed ids. */
static pe_status try_row_of_ids(const pe_numbers *plain, const axes *claimed, double *ids,
                                const row *by, pe_problem *why)
{
    axes x = *claimed;
    double a = 0, b = 0;
    x.at = ids;
    memcpy(ids, claimed->at, plain->elements * sizeof *ids);
    return by->change(by, &x, &a, &b) ? try_ids(plain, &by->fault, ids, a, b, why) : PE_OK;
}

/* Patches, and text behind them, which counts from a of a token on. */
static pe_status try_text_after(const pe_numbers *plain, const axes *x, double *ids, bool counts,
                                pe_problem *why)
{
    static const pe_fault after[] = {
        {"mrope_text_after",
         "text after an image goes on behind the largest position by {a}: it is shifted",
         .remedy = BEHIND},
        {"mrope_text_after",
         "text after an image counts its patches: positions go on at their number, shifted by {a} "
         "from row {b} on",
         .remedy = BEHIND}};
    double plus = 0, first = 0, by = 0;
    size_t start = 0;
    for (size_t t = 0; t < x->tokens; t++) {
        const bool text = !differs(x, t);
        const bool begins = t > 0 && text && differs(x, t - 1);
        start = t > 0 && !text && !differs(x, t - 1) ? t - 1 : start;
        if (begins) {
            const double at = axis(x, TIME)[t] + plus;
            const double wanted = counts ? axis(x, TIME)[start] + plus + (double)(t - start)
                                         : at + plain->got[t] - at;
            plus += wanted - at;
            first = first == 0 ? (double)t : first;
            by = by == 0 ? plus : by;
        }
        for (size_t a = 0; a < AXES; a++)
            ids[a * x->tokens + t] = axis(x, a)[t] + plus;
    }
    return by != 0 ? try_ids(plain, &after[counts], ids, by, first, why) : PE_OK;
}

/* All that is known: where ids begin to differ, and by how much. */
static pe_status tell_difference(const pe_numbers *plain, const axes *x, pe_problem *why)
{
    static const pe_fault other = {
        "mrope_ids_other",
        "position ids of the image or of text after it are others: from token {a} on the first "
        "one differs by {b}, see measured.differences",
        .remedy = IMAGE "; " BEHIND};
    size_t t = 0;
    double off[AXES] = {0};
    while (t < x->tokens && off[0] == 0 && off[1] == 0 && off[2] == 0) {
        for (size_t a = 0; a < AXES; a++)
            off[a] = plain->got[a * x->tokens + t] - axis(x, a)[t];
        t++;
    }
    pe_numbers_list(plain, "differences", off, AXES);
    const double by = off[0] != 0 ? off[0] : off[1] != 0 ? off[1] : off[2];
    pe_guess guess;
    pe_buffer evidence = {0};
    pe_finding finding = {.exact = true};
    pe_status status = by == 0 ? PE_OK : pe_guess_copy(plain->claim, &guess, why);
    if (status != PE_OK || by == 0)
        return status;
    pe_guess_say(&guess, &other, other.remedy);
    pe_guess_format(&guess, other.rule, (double)t - 1, by);
    guess.fitted = true;
    pe_buffer_str(&evidence, "read off the first token that differs");
    status = pe_findings_add(plain->search->report, &finding, &guess, &evidence, why);
    pe_guess_free(&guess);
    return status;
}

pe_status pe_mrope_causes_find(const pe_numbers *plain, pe_problem *why)
{
    pe_status status = PE_OK;
    double *ids = malloc((2 * plain->elements + 1) * sizeof *ids);
    axes x = {.tokens = plain->elements / AXES, .at = ids};
    if (ids == NULL)
        return pe_fail_memory(why);
    memcpy(ids, plain->claimed, plain->elements * sizeof *ids);
    if (plain->elements % AXES == 0 && x.tokens > 1) {
        find_image(&x);
        x.moved = plain->got[x.tokens - 1] - plain->claimed[x.tokens - 1];
        double *made = ids + plain->elements;
        for (size_t r = 0; r < PE_LEN(rows) && status == PE_OK && pe_numbers_goes_on(plain); r++)
            status = try_row_of_ids(plain, &x, made, &rows[r], why);
        for (int counts = 1; counts >= 0 && status == PE_OK; counts--)
            if (!pe_attempts_found(plain->search) && pe_numbers_goes_on(plain))
                status = try_text_after(plain, &x, made, counts == 1, why);
        if (status == PE_OK && pe_numbers_goes_on(plain) && !pe_attempts_found(plain->search))
            status = tell_difference(plain, &x, why);
    }
    free(ids);
    return status;
}
