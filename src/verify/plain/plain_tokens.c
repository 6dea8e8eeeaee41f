/* SPDX-License-Identifier: MIT */
/* plain_tokens.c - tokens with a position on each of several axes: pairs that turn by them, ids, and rows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/yield.h"
#include "plan/common_params.h"
#include "plan/resource.h"
#include "verify/plain/plain_waves.h"

#define TURN 6.283185307179586

/* ---- text and images ---- */

/* Text has one position on all axes. */
static bool is_text(const pe_waves *t, size_t row)
{
    const double *x = t->claimed.coordinate + row;
    size_t a = 1;
    while (a < t->axes && x[a * t->rows] == x[0])
        a++;
    return a == t->axes;
}

/* Of each token: is it a patch, where does its run begin, and how far did the images before it go
 * beyond their starts? The first patch has one position on all axes, and others may; that of text is
 * beyond those before it. */
static void find_runs(const pe_waves *t)
{
    bool inside = false;
    size_t run = 0;
    double most = 0, start = 0, past = 0;
    for (size_t r = 0; r < t->rows; r++) {
        const double x = t->claimed.coordinate[r];
        const bool text = is_text(t, r), ends = inside && text && x > most;
        const bool begins = !text || (r + 1 < t->rows && !is_text(t, r + 1));
        if (ends)
            past += most - start;
        if (ends || (!inside && begins)) {
            inside = begins;
            run = r;
            start = most = x;
        }
        for (size_t a = 0; a < t->axes; a++)
            most = fmax(most, t->claimed.coordinate[a * t->rows + r]);
        t->image[r] = inside;
        t->run[r] = (double)run;
        t->past[r] = past;
    }
}

/* ---- the claim ---- */

/* The axis by which the claim turns a pair; that of the pair before goes before others. t->axes: none
 * does. */
static size_t axis_of(const pe_sequence *p, size_t pair)
{
    const pe_waves *t = p->state;
    const size_t before = pair > 0 ? t->axis[pair - 1] : 0;
    for (size_t k = 0; k < t->axes; k++) {
        const size_t a = (before + k) % t->axes;
        const double *x = t->claimed.coordinate + a * t->rows, w = t->claimed.frequency[pair];
        size_t r = 0;
        while (r < t->rows && fabs(remainder(p->of->claimed[r * t->pairs + pair] - w * x[r],
                                             TURN)) <= 1e-9 * (1 + fabs(w * x[r])))
            r++;
        if (r == t->rows)
            return a;
    }
    return t->axes;
}

pe_status pe_waves_of_tokens(pe_sequence *p, pe_problem *why)
{
    pe_waves *t = p->state;
    const pe_numbers *of = p->of;
    const bool pairs = of->frequency != NULL;
    t->of = pairs ? PE_PAIRS_OF_AXES : PE_IDS_OF_TOKENS;
    t->axes = pairs ? of->view->axes : 3;
    t->rows = pairs ? of->view->tokens : of->elements / t->axes;
    t->pairs = pairs ? of->elements / t->rows : 0;
    t->is.sections = !pairs || (t->axes == 3 && pe_values_present(p->values, "mrope_section"));
    if ((!pairs && strcmp(of->resource, "rope/table") == 0) || t->rows == 0)
        return PE_OK;
    PE_TRY(pe_waves_make_room(p, why));
    for (size_t k = 0; k < t->axes * t->rows; k++)
        t->claimed.coordinate[k] =
            pairs ? pe_positions_at(&pe_values_find(p->values, "positions")->positions, k)
                  : of->claimed[k];
    for (size_t a = 0; a < t->axes; a++)
        t->unit[a] = 1;
    for (size_t i = 0; i < t->pairs; i++) {
        t->claimed.frequency[i] = of->frequency[i];
        t->axis[i] = axis_of(p, i);
        if (t->axis[i] == t->axes)
            return PE_OK;
    }
    if (t->is.sections != 0)
        find_runs(t);
    p->n = t->axes * t->rows;
    return PE_OK;
}

/* ---- guesses ---- */

static double made_at(const void *coordinates, size_t k, double claimed PE_UNUSED)
{
    return ((const double *)coordinates)[k];
}

/* Frequencies that other axes or another base give are put in the place of those of the values. */
bool pe_waves_apply(const void *sequence, pe_guess *guess)
{
    const pe_sequence *p = sequence;
    const pe_waves *t = p->state;
    pe_distortion *by = &guess->distortion;
    const pe_position_map map = {.times = 1, .move = made_at, .cause = t->made.coordinate};
    if (memcmp(t->made.frequency, p->of->frequency, t->pairs * sizeof(double)) != 0) {
        by->inv_freq = t->made.frequency;
        by->inv_freq_pairs = t->pairs;
        by->values_inexact = true;
    }
    return pe_guess_map_positions(&pe_values_find(&guess->values, "positions")->positions, &map);
}

/* ---- pairs of several axes ---- */

/* As the guess negates and exchanges waves and positions. */
static double angle_of(const pe_numbers *plain, const pe_geometry *at, const double *numbers,
                       size_t token, size_t pair)
{
    pe_wave wave = {0, 0};
    const pe_upload_view *view = plain->view;
    const pe_guess *guess = plain->claim;
    const size_t rows = view->rotated ? pe_upload_view_token_rows(view) : 1;
    for (size_t o = 0; o < rows; o++) {
        const size_t row = pe_upload_view_row(view, token, o);
        pe_upload_view_add_wave(view, at, row, numbers + row * view->width, pair, &wave);
    }
    if (guess->distortion.exchanged && view->rotated)
        wave = (pe_wave){wave.sine, wave.cosine};
    if (hypot(wave.cosine, wave.sine) == 0)
        return nan("");
    return guess->distortion.positions.times *
           atan2(pe_guess_sine_sign(guess) * wave.sine, pe_guess_cosine_sign(guess) * wave.cosine);
}

/* The claimed ones are less than a turn from those of the upload. */
static void read_angles(const pe_numbers *plain, const pe_geometry *at, size_t pairs, double *got,
                        double *claimed)
{
    const size_t tokens = plain->view->tokens;
    for (size_t t = 0; t < tokens; t++)
        for (size_t i = 0; i < pairs; i++) {
            const double angle = angle_of(plain, at, plain->got, t, i);
            const double more = angle_of(plain, at, plain->claimed, t, i) - angle;
            got[t * pairs + i] = angle;
            claimed[t * pairs + i] = angle + remainder(more, TURN);
        }
    pe_numbers_spend(plain, 2 * pairs * plain->view->rows);
}

void pe_angles_read(const pe_numbers *plain, pe_slips_how how)
{
    pe_geometry at;
    const pe_upload_view *view = plain->view;
    if (view->rotated)
        pe_geometry_of_vectors(&plain->claim->values, &at);
    else if (!view->layout->geometry(&plain->claim->values, &at))
        return;
    if (plain->claim->distortion.exchanged && !view->rotated)
        pe_geometry_exchange(&at);
    const size_t pairs = at.sin_n < at.cos_n ? at.sin_n : at.cos_n, n = pairs * view->tokens;
    double *angle = calloc(2 * n + 1, sizeof *angle);
    if (angle == NULL) {
        pe_attempts_did(plain->search, pe_fail_memory(plain->search->why));
        return;
    }
    read_angles(plain, &at, pairs, angle, angle + n);
    pe_numbers angles = *plain;
    angles.got = angle;
    angles.claimed = angle + n;
    angles.elements = n;
    angles.step = 0;
    if (n > 0)
        pe_slips_find(&angles, how);
    free(angle);
}

/* Does it change how all axes turn? */
static bool is_common(const pe_fault *fault)
{
    return (fault->param != NULL &&
            pe_faults_is_of(fault->param, "rope_theta mrope_section mrope_layout axes_dims")) ||
           pe_faults_is_layout(fault) || fault->name == PE_NAME(inverse_turn) ||
           fault->name == PE_NAME(scaling_dropped);
}

/* Of longer tables only a single mistake is looked for. */
#define BEHIND_MAX 512

static void try_behind(pe_search *s, const pe_guess *claim)
{
    static const pe_fault unscaled = {
        .name = PE_NAME(axes_scale), .param = "axes_scale", .change = pe_changes_ignored};
    if (pe_values_present(&claim->values, "axes_scale"))
        pe_attempts_with_fault(s, claim, &unscaled, pe_explain_one);
    for (size_t f = 0; f < pe_faults_n && pe_attempts_go_on(s); f++)
        if (is_common(&pe_faults[f]))
            pe_attempts_with_fault(s, claim, &pe_faults[f], pe_explain_one);
}

void pe_axes_try(pe_search *s, pe_guess *guess)
{
    const pe_upload_view *view = s->view, *whole = s->whole;
    if (whole->axes < 2 || whole->axes > PE_AXES_MAX || whole->width_differs ||
        whole->got == NULL || whole->unsent_n > 0 || whole->tokens < 2)
        return;
    s->view = whole;
    if (pe_attempts_set_positions(s, whole, guess))
        pe_explain_one(s, guess);
    if (pe_attempts_go_on(s) && whole->tokens <= BEHIND_MAX)
        try_behind(s, guess);
    if (pe_attempts_go_on(s) && whole->tokens <= BEHIND_MAX)
        pe_explain_two(s, guess);
    if (pe_attempts_go_on(s))
        pe_explain_fitted(s, guess);
    s->view = view;
}

/* ==== how tokens with positions on several axes go wrong: positions (op) and frequencies (also) ==== */

/* ---- each axis by itself ---- */

/* What became of each axis, from where it is claimed lowest to where it is highest. */
static bool say_lines(pe_sequence *p)
{
    const pe_waves *t = p->state;
    for (size_t a = 0; a < t->axes; a++) {
        const double low = (double)(a * t->rows) + t->low[a];
        const double high = (double)(a * t->rows) + t->high[a];
        const double x = p->claimed[(size_t)low], y = pe_waves_seen(p, low);
        const double times = (pe_waves_seen(p, high) - y) / (p->claimed[(size_t)high] - x);
        if (times < 0)
            return false; /* a turn the other way is another mistake */
        const bool scaled = isfinite(times) && times != 1;
        const double moved = y - (scaled ? times * x : x);
        if (times == 0) {
            pe_slip_say(p, "; axis %zu is %.7g everywhere: constant", a, y);
            continue;
        }
        if (scaled)
            pe_slip_say(p, "; axis %zu was multiplied by %.7g", a, times);
        if (moved != 0 && scaled)
            pe_slip_say(p, ", then shifted by %.7g", moved);
        else if (moved != 0)
            pe_slip_say(p, "; axis %zu is shifted by %.7g", a, moved);
    }
    return true;
}

/* ---- the rows ---- */

#define TOKENS(NAME, ...) PE_SLIP(NAME, &pe_slip_waves, PE_OF_TOKENS, NULL, __VA_ARGS__)
#define OWN               .where = "sections == 0" /* each axis has a inv_freq of its own */
#define SHARED            .where = "sections"      /* axes share one, as in M-RoPE */

/* Of item i, the position of a token on an axis. */
#define AXIS  "floor(i/rows)"
#define ROW   "i % rows"
#define IMAGE "image[" ROW "]"
#define START "(" AXIS "*rows + run[" ROW "])" /* the item where its run begins */
#define LOW   "(" AXIS "*rows + low[" AXIS "])"
#define HIGH  "(" AXIS "*rows + high[" AXIS "])"

/* The first item that is not as claimed; the farthest one. */
#define MOVED "first(y != x)"
#define FAR   "first(x == most(x))"

#define ANOTHER(BY) .a = "floor(" MOVED "/rows)", .b = "(a + " BY ") % axes"
#define EXCHANGED   .op = AXIS " == a ? x[b*rows + " ROW "] : " AXIS " == b ? x[a*rows + " ROW "] : x"
/* Within the image that holds the first item that moved. */
#define EXCHANGED_WITHIN                                                                           \
    .op = "run[" ROW "] != run[" MOVED " % rows] ? x : " AXIS " == a ? x[b*rows + " ROW            \
          "] : " AXIS " == b ? x[a*rows + " ROW "] : x"
#define FOR_ANOTHER .op = AXIS " == a ? x[b*rows + " ROW "] : x"
#define IS_OF(AXIS) "sum(y != x[" AXIS "*rows + " ROW "]) == 0"
#define FOR_ALL     .a = IS_OF("0") " ? 0 : " IS_OF("1") " ? 1 : 2", .op = "x[a*rows + " ROW "]"
#define SHIFTED     .a = "y - x", .op = "x + a"
#define FROM_ON                                                                                    \
    .a = "y[" MOVED "] - x[" MOVED "]", .b = MOVED " % rows", .op = ROW " < b ? x : x + a"
#define RUNNING .op = "y[0] + " ROW

/* Places of the last two axes, of an image or a mesh; they go down the columns. */
#define WITHIN  "(sections == 0 || " IMAGE ")"
#define SIZE(K) "most(" AXIS " == axes - " K " && " WITHIN " ? x - x[" START "] + 1 : none)"
#define PATCH   "(" ROW " - run[" ROW "])"
#define COLUMNS                                                                                    \
    .a = SIZE("2"), .b = SIZE("1"),                                                                \
    .op = WITHIN " ? x[" START " + floor(" PATCH "/(a*b))*a*b + " PATCH                            \
                 " % (a*b) % a*b + floor(" PATCH " % (a*b)/a)] : x"
/* Patches are farther from the start of their image, or nearer; time is, too (a), and the text behind (b). */
#define SPREAD(BY)                                                                                 \
    .a = "most(" AXIS " == 0 && " IMAGE " && y != x)", .b = "most(" IMAGE " == 0 && y != x)",      \
    .op = "x " BY " (b*past[" ROW "] + " IMAGE "*(a || " AXIS " > 0)*(x - x[" START "]))"

static const pe_slip rows[] = {
    TOKENS(axes_one_ladder, OWN, .also = "rope_theta^(-i/pairs)"),
    TOKENS(axes_exponents, OWN, .also = "rope_theta^(-index/pairs)"),
    TOKENS(axes_exponents_linspace, .also = "w^(sections ? pairs/(pairs - 1) : count/(count - 1))"),
    TOKENS(mrope_ladder_restarts, SHARED, .also = "rope_theta^(-index/pairs)"),
    TOKENS(mrope_ladder_restarts_own, SHARED, .also = "rope_theta^(-index/count)"),
    TOKENS(rope_theta, .solve = pe_waves_read_base, .also = "w^(ln(a)/ln(b))",
           .fault.param = "rope_theta"),
    TOKENS(rope_theta_axis, OWN, .solve = pe_waves_read_base, .fault.value = 1,
           .also = "of == axis_read ? w^(ln(a)/ln(b)) : w"),
    TOKENS(axes_exchanged_tokens, OWN, ANOTHER("1"), EXCHANGED),
    TOKENS(axes_exchanged_tokens, OWN, ANOTHER("2"), EXCHANGED),
    TOKENS(mrope_axes_exchanged, SHARED, ANOTHER("1"), EXCHANGED),
    TOKENS(mrope_axes_exchanged, SHARED, ANOTHER("2"), EXCHANGED),
    TOKENS(axes_text_positions, OWN, RUNNING),
    TOKENS(mrope_text_positions, SHARED, RUNNING),
    TOKENS(one_axis_all, OWN, FOR_ALL),
    TOKENS(one_axis_other, OWN, ANOTHER("1"), FOR_ANOTHER),
    TOKENS(one_axis_other, OWN, ANOTHER("2"), FOR_ANOTHER),
    TOKENS(mrope_one_axis, SHARED, FOR_ALL),
    TOKENS(mrope_one_axis_other, SHARED, ANOTHER("1"), FOR_ANOTHER),
    TOKENS(mrope_one_axis_other, SHARED, ANOTHER("2"), FOR_ANOTHER),
    TOKENS(axes_shifted, OWN, SHIFTED),
    TOKENS(mrope_positions_shifted, SHARED, SHIFTED),
    TOKENS(axes_scaled, .a = "y[" FAR "]/x[" FAR "]", .op = "a*x",
           .where = "2*sum(abs(y - a*x) < 0.03) > n"),
    TOKENS(mrope_axis_shifted, SHARED, .a = "floor(" MOVED "/rows)",
           .b = "y[" MOVED "] - x[" MOVED "]", .op = AXIS " == a ? x + b : x"),
    TOKENS(mrope_image_axes, SHARED, ANOTHER("1"), EXCHANGED_WITHIN),
    TOKENS(mrope_image_axes, SHARED, ANOTHER("2"), EXCHANGED_WITHIN),
    TOKENS(mrope_image_place, SPREAD("-")),
    TOKENS(mrope_image_stride, SPREAD("+")),
    TOKENS(mrope_start_scaled, .a = "y[first(" IMAGE ")]/x[first(" IMAGE ")]",
           .where = "a >= 2 && a == floor(a)",
           .op = IMAGE " && " AXIS " == 0 ? x + (a - 1)*x[" START "] : x"),
    TOKENS(mrope_image_time, .a = "y[" MOVED "] - x[" MOVED "]",
           .op = IMAGE " && " AXIS " == 0 ? x + y[" START "] - x[" START "] : x"),
    TOKENS(mrope_image_start, .a = "y[" MOVED "] - x[" MOVED "]",
           .op = IMAGE " ? x + y[" START "] - x[" START "] : x"),
    TOKENS(mrope_image_start_behind, FROM_ON, .where = "image[b]"),
    TOKENS(mrope_text_after, FROM_ON, .where = "image[b] == 0 && run[b] > 0"),
    TOKENS(axis_positions_in_part, .a = "y[" MOVED "] - x[" MOVED "]",
           .b = "most(y != x ? " ROW " : none)", .op = ROW " > b ? x : x + a"),
    TOKENS(axis_positions_in_part_from, OWN, FROM_ON),
    TOKENS(axis_positions, .solve = say_lines, .fault.if_alone = true,
           .op = "x[" HIGH "] > x[" LOW "] ? y[" LOW "] + (x - x[" LOW "])*(y[" HIGH "] - y[" LOW
                 "])/(x[" HIGH "] - x[" LOW "]) : y[" LOW "]"),
    TOKENS(mrope_image_columns, SHARED, COLUMNS),
    TOKENS(mesh_transposed_tokens, OWN, COLUMNS),
    TOKENS(axis_positions_in_part_others, .a = MOVED " % rows", .op = "y", .fault.fitted = true),
};
const pe_slips pe_mistakes_of_tokens = {rows, PE_LEN(rows)};
