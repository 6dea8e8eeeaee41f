/* SPDX-License-Identifier: MIT */
/* axis_reading.c - which axis turns each pair, and at which position of each axis every token is. */
#include "verify/axes/axis_reading.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/yield.h"
#include "plan/common_params.h"

double pe_axis_reading_tidy(double number, double error)
{
    for (int parts = 1; parts <= 12; parts++) {
        const double near = round(number * parts) / parts;
        if (fabs(number - near) <= error)
            return near;
    }
    return number;
}

void pe_axis_reading_ends(const pe_axis_reading *x, size_t a, size_t first, size_t end, size_t *low,
                          size_t *high)
{
    const double *at = x->claimed + a * x->tokens;
    *low = *high = first;
    for (size_t t = first; t < end; t++) {
        *low = at[t] < at[*low] ? t : *low;
        *high = at[t] > at[*high] ? t : *high;
    }
}

/* ---- angles ---- */

static double wrap(double angle)
{
    return remainder(angle, 2 * acos(-1));
}

/* How far off an angle may be that was read as `angle`, and is `turn` radians away. A small angle of
 * a table is as precise as its sine. */
static double slack(const pe_axis_reading *x, double angle, double turn)
{
    const double u = x->roundoff;
    const double of_elements = x->of->view->rotated ? 4 * u : 2 * u * fmin(1, fabs(angle));
    return of_elements + x->least * (1 + fabs(turn));
}

/* As the guess negates and exchanges waves and positions. */
static double angle_of(const pe_axis_reading *x, pe_wave wave)
{
    const pe_guess *guess = x->of->guess;
    if (guess->distortion.exchanged && x->of->view->rotated)
        wave = (pe_wave){wave.sine, wave.cosine};
    if (hypot(wave.cosine, wave.sine) == 0)
        return nan("");
    return guess->distortion.positions.times *
           atan2(pe_guess_sine_sign(guess) * wave.sine, pe_guess_cosine_sign(guess) * wave.cosine);
}

/* Those of the claim, or of the upload. */
static pe_status read_angles(pe_axis_reading *x, pe_expect *expect, bool claimed, pe_problem *why)
{
    const pe_upload_view *view = x->of->view;
    const size_t work = 4 * x->pairs * pe_upload_view_token_rows(view);
    for (size_t t = 0; t < x->tokens; t++) {
        pe_expected_row row;
        const size_t r = pe_upload_view_row(view, t, 0);
        if (claimed && pe_expect_row(expect, r, &row, why) != PE_OK)
            return why->status;
        for (size_t i = 0; i < x->pairs; i++) {
            pe_wave wave = {0, 0};
            if (claimed)
                pe_upload_view_add_wave(view, &expect->geometry, r, row.value, i, &wave);
            else
                wave = pe_upload_view_wave(view, &expect->geometry, t, i);
            x->angle[i * x->tokens + t] = angle_of(x, wave);
        }
        *x->of->work += work;
        pe_yield_spend(work);
    }
    return PE_OK;
}

/* Does the pair turn by these positions times w, from this phase, whose error is given? */
static bool follows(const pe_axis_reading *x, size_t i, const double *at, double w, double phase,
                    double error)
{
    const double *angle = x->angle + i * x->tokens;
    for (size_t t = 0; t < x->tokens; t++)
        if (fabs(wrap(angle[t] - phase - w * at[t])) > slack(x, angle[t], w * at[t]) + error)
            return false;
    return true;
}

bool pe_axis_reading_turns(const pe_axis_reading *x, size_t i, size_t a, double w)
{
    size_t low, high;
    const double *at = x->claimed + a * x->tokens, *angle = x->angle + i * x->tokens;
    pe_axis_reading_ends(x, a, 0, x->tokens, &low, &high);
    return follows(x, i, at, w, angle[low] - w * at[low], slack(x, angle[low], 0));
}

/* That of the pair before goes before others. False: the claim turns some pair by none. */
static bool find_axes(pe_axis_reading *x)
{
    for (size_t i = 0; i < x->pairs; i++) {
        size_t a = i > 0 ? x->axis[i - 1] : 0;
        for (size_t k = 0; !follows(x, i, x->claimed + a * x->tokens, x->frequency[i], 0, 0);
             a = k++)
            if (k == x->n)
                return false;
        x->axis[i] = a;
        x->index[i] = x->count[a]++;
    }
    return true;
}

/* ---- positions ---- */

/* Positions are near enough to be told from whole numbers apart. */
#define ERROR_MAX 0.3

/* From the slowest pair, which has made no whole turn from the claimed position on, to the fastest
 * one, which tells how far off they may be. */
static bool read_axis(pe_axis_reading *x, size_t a)
{
    double *at = x->at + a * x->tokens;
    for (size_t t = 0; t < x->tokens; t++) {
        double error = ERROR_MAX;
        at[t] = x->claimed[a * x->tokens + t];
        for (size_t i = x->pairs; i-- > 0;) {
            const double w = x->frequency[i], angle = x->angle[i * x->tokens + t];
            if (x->axis[i] != a || w == 0)
                continue;
            at[t] += wrap(angle - w * at[t]) / w;
            error = fmin(slack(x, angle, w * at[t]) / w, ERROR_MAX);
        }
        at[t] = pe_axis_reading_tidy(at[t], error);
        x->error[a] = t > 0 ? fmax(x->error[a], error) : error;
    }
    bool read = x->count[a] > 0;
    for (size_t i = 0; i < x->pairs && read; i++)
        read = x->axis[i] != a || follows(x, i, at, x->frequency[i], 0, 0);
    return read;
}

/* ---- life ---- */

static bool has_list(const pe_axis_reading *x, const char *name)
{
    const pe_value *value = pe_values_find(&x->of->guess->values, name);
    return value != NULL && value->present && value->list_length == x->n;
}

static pe_status make_room(pe_axis_reading *x, const pe_expect *expect, pe_problem *why)
{
    const pe_geometry *g = &expect->geometry;
    const pe_value *positions = pe_values_find(&x->of->guess->values, "positions");
    x->n = x->of->view->axes;
    x->tokens = x->of->view->tokens;
    x->pairs = g->sin_n < g->cos_n ? g->sin_n : g->cos_n;
    x->own = has_list(x, "axes_dims");
    x->sections = x->n == 3 && has_list(x, "mrope_section");
    x->claimed = calloc((2 * x->n + x->pairs) * x->tokens + x->pairs, sizeof *x->claimed);
    x->axis = calloc(2 * x->pairs + 1, sizeof *x->axis);
    if (x->claimed == NULL || x->axis == NULL)
        return pe_fail_memory(why);
    x->at = x->claimed + x->n * x->tokens;
    x->angle = x->at + x->n * x->tokens;
    x->frequency = x->angle + x->pairs * x->tokens;
    x->index = x->axis + x->pairs;
    for (size_t i = 0; i < x->pairs; i++)
        x->frequency[i] = expect->frequency[i];
    for (size_t k = 0; k < x->n * x->tokens; k++)
        x->claimed[k] = pe_positions_at(&positions->positions, k);
    return PE_OK;
}

pe_status pe_axis_reading_make(const pe_comparison *of, pe_axis_reading *out, bool *made,
                               pe_problem *why)
{
    pe_expect expect;
    *made = false;
    *out = (pe_axis_reading){.of = of, .least = 1e-9};
    pe_status status = pe_expect_make(of, PE_NUMERICS_EXACT, &expect, why);
    if (status != PE_OK || !expect.fits)
        return status;
    status = pe_expect_probe(&expect, why);
    if (status == PE_OK)
        status = make_room(out, &expect, why);
    if (status == PE_OK)
        status = read_angles(out, &expect, true, why);
    *made = status == PE_OK && find_axes(out);
    if (*made) {
        out->least = 5e-7;
        out->roundoff = pe_upload_view_roundoff(of->view);
        status = read_angles(out, &expect, false, why);
        out->known = true;
        for (size_t a = 0; a < out->n; a++)
            out->known = out->known && read_axis(out, a);
    }
    pe_expect_free(&expect);
    return status;
}

void pe_axis_reading_free(pe_axis_reading *x)
{
    free(x->claimed);
    free(x->axis);
}

/* ==== pairs of several axes: what is tried of them, alone and behind another mistake ==== */

/* Other frequencies, each followed by `next`; then other positions. */
static void try_reading(pe_search *s, pe_guess *guess, pe_try *next)
{
    bool made;
    pe_axis_reading x;
    const pe_comparison of = {s->whole, guess, &s->work};
    if (guess->n_faults == PE_FAULTS_MAX || !pe_attempts_go_on(s))
        return;
    if (pe_attempts_did(s, pe_axis_reading_make(&of, &x, &made, s->why)) && made) {
        if (next != NULL)
            pe_axis_frequencies_each(s, &x, guess, next);
        if (pe_attempts_go_on(s))
            pe_axis_positions_try(s, &x, guess);
    }
    pe_axis_reading_free(&x);
}

static void try_places(pe_search *s, pe_guess *guess)
{
    pe_attempts_try(s, guess);
    try_reading(s, guess, NULL);
}

static void try_any(pe_search *s, pe_guess *guess)
{
    try_reading(s, guess, try_places);
}

/* Does it change how all axes turn? */
static bool is_common(const pe_fault *fault)
{
    return (fault->param != NULL && strcmp(fault->param, "rope_theta") == 0) ||
           pe_faults_is_layout(fault) || fault->name == PE_NAME(inverse) ||
           fault->name == PE_NAME(scaling_dropped);
}

/* Of longer tables only a single mistake is looked for. */
#define BEHIND_MAX 512

static void try_behind(pe_search *s, pe_guess *claim)
{
    static const pe_fault unscaled = {
        .name = PE_NAME(axes_scale), .param = "axes_scale", .change = pe_changes_ignored};
    if (s->whole->tokens > BEHIND_MAX)
        return;
    if (pe_values_present(&claim->values, "axes_scale"))
        pe_attempts_with_fault(s, claim, &unscaled, try_any);
    for (size_t f = 0; f < pe_faults_n && pe_attempts_go_on(s); f++)
        if (is_common(&pe_faults[f]))
            pe_attempts_with_fault(s, claim, &pe_faults[f], try_any);
}

static bool has_axes(const pe_upload_view *view)
{
    return view->axes > 1 && view->axes <= PE_AXES_MAX && !view->width_differs &&
           view->got != NULL && view->unsent_n == 0 && view->tokens > 1;
}

void pe_axis_search_try(pe_search *s, pe_guess *guess)
{
    const pe_upload_view *view = s->view;
    if (!has_axes(s->whole))
        return;
    s->view = s->whole;
    if (pe_attempts_set_positions(s, s->whole, guess))
        try_any(s, guess);
    if (pe_attempts_go_on(s))
        try_behind(s, guess);
    s->view = view;
}
