/* SPDX-License-Identifier: MIT */
/* axis_positions.c - pairs of several axes: at which position of each axis every token is. */
#include "verify/axis_positions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/turns.h"
#include "verify/amplitude.h"
#include "verify/axis_frequencies.h"
#include "verify/axis_relations.h"
#include "verify/changes.h"
#include "verify/faults.h"
#include "verify/mrope_causes.h"

/* Tokens beyond which nobody looks where each has gone. */
#define MOVED_MAX 2048

/* ---- angles ---- */

/* As the guess negates and exchanges waves and positions. */
static double angle_of(const pe_axes *x, pe_wave wave)
{
    const pe_distortion *by = &x->of->guess->distortion;
    const double sign = pe_guess_sine_sign(x->of->guess);
    if (by->exchanged && x->of->view->rotated)
        wave = (pe_wave){wave.sine, wave.cosine};
    return by->positions.times *
           atan2(sign * wave.sine, pe_guess_cosine_sign(x->of->guess) * wave.cosine);
}

static void read_angles(pe_axes *x)
{
    const pe_geometry *g = &x->expect->geometry;
    const size_t rows = pe_upload_view_token_rows(x->of->view);
    for (size_t t = 0; t < x->tokens; t++) {
        for (size_t i = 0; i < x->pairs; i++)
            x->angle[i * x->tokens + t] = angle_of(x, pe_upload_view_wave(x->of->view, g, t, i));
        pe_turn_spend(8 * rows * x->pairs);
    }
    *x->of->work += 4 * x->pairs * x->tokens * rows;
}

/* ---- which axis turns a pair ---- */

/* A token at which the claim puts two axes farthest apart. */
static size_t find_apart(const pe_axes *x, size_t a, size_t b)
{
    size_t best = 0;
    const double *p = pe_axes_positions(x, x->claimed, a), *q = pe_axes_positions(x, x->claimed, b);
    for (size_t t = 0; t < x->tokens; t++)
        best = fabs(p[t] - q[t]) > fabs(p[best] - q[best]) ? t : best;
    return best;
}

/* Strike the axes out by which the claim does not turn a pair at the token; axes: bits, [pairs]. */
static pe_status strike_out(pe_axes *x, size_t token, unsigned *axes, pe_problem *why)
{
    pe_expected_row row;
    const pe_upload_view *view = x->of->view;
    for (size_t o = 0; o < (view->rotated ? pe_upload_view_token_rows(view) : 1); o++) {
        const size_t r = pe_upload_view_row(view, token, o);
        if (pe_expect_row(x->expect, r, &row, why) != PE_OK)
            return why->status;
        for (size_t i = 0; i < x->pairs; i++) {
            pe_wave wave = {0, 0};
            pe_upload_view_add_wave(view, &x->expect->geometry, r, row.value, i, &wave);
            for (size_t a = 0; a < x->n && hypot(wave.cosine, wave.sine) > 0; a++) {
                const double angle =
                    x->expect->frequency[i] * pe_axes_positions(x, x->claimed, a)[token];
                if (!(fabs(pe_axes_wrap(angle_of(x, wave) - angle)) <= 1e-9 + 1e-12 * fabs(angle)))
                    axes[i] &= ~(1U << a);
            }
        }
    }
    return PE_OK;
}

/* Two axes are told apart where they are far from each other. */
static pe_status find_axes(pe_axes *x, bool *found, pe_problem *why)
{
    pe_status status = PE_OK;
    unsigned *axes = calloc(x->pairs + 1, sizeof *axes);
    if (axes == NULL)
        return pe_fail_memory(why);
    for (size_t i = 0; i < x->pairs; i++)
        axes[i] = (1U << x->n) - 1;
    for (size_t a = 0; a < x->n; a++)
        for (size_t b = a + 1; b < x->n && status == PE_OK; b++)
            status = strike_out(x, find_apart(x, a, b), axes, why);
    *found = status == PE_OK;
    for (size_t i = 0; i < x->pairs && *found; i++) {
        size_t a = i > 0 ? x->axis[i - 1] : 0;
        for (size_t k = 0; k < x->n && (axes[i] >> a & 1) == 0; k++)
            a = k;
        x->axis[i] = a;
        *found = (axes[i] >> a & 1) != 0;
    }
    free(axes);
    return status;
}

/* ---- positions ---- */

/* The next faster pair of the axis; `pairs`: none. */
static size_t next_pair(const pe_axes *x, size_t a, double above)
{
    const double *w = x->expect->frequency;
    size_t best = x->pairs;
    for (size_t i = 0; i < x->pairs; i++)
        if (x->axis[i] == a && w[i] > above && (best == x->pairs || w[i] < w[best]))
            best = i;
    return best;
}

/* From the slowest pair, which has made no whole turn from where the reading starts, to the fastest
 * one. */
static void read_axis(pe_axes *x, size_t a, bool from_claim)
{
    double *at = pe_axes_positions(x, x->read, a);
    const double *w = x->expect->frequency, *claimed = pe_axes_positions(x, x->claimed, a);
    for (size_t t = 0; t < x->tokens; t++)
        at[t] = from_claim ? claimed[t] : 0;
    for (size_t i = next_pair(x, a, 0); i < x->pairs; i = next_pair(x, a, w[i]))
        for (size_t t = 0; t < x->tokens; t++)
            at[t] += pe_axes_wrap(x->angle[i * x->tokens + t] - w[i] * at[t]) / w[i];
    *x->of->work += x->pairs * (x->pairs + x->tokens);
    pe_turn_spend(x->pairs * (x->pairs + x->tokens));
}

/* Do all pairs of the axis turn by what was read? */
static bool is_read(const pe_axes *x, size_t a)
{
    size_t pairs = 0;
    const double *at = pe_axes_positions(x, x->read, a);
    for (size_t i = 0; i < x->pairs; i++) {
        const double w = x->expect->frequency[i];
        if (x->axis[i] != a)
            continue;
        pairs++;
        pe_turn_spend(4 * x->tokens);
        for (size_t t = 0; t < x->tokens; t++)
            if (!(fabs(pe_axes_wrap(x->angle[i * x->tokens + t] - w * at[t])) <=
                  pe_axes_slack(x) * (1 + 1e-2 * fabs(w * at[t]))))
                return false;
    }
    return pairs > 0;
}

static bool finds_axis(pe_axes *x, size_t a)
{
    read_axis(x, a, false);
    if (is_read(x, a))
        return true;
    read_axis(x, a, true);
    return is_read(x, a);
}

/* Do they go farther below 0 than above it? */
static bool is_negative(const pe_axes *x, const double *at)
{
    double least = 0, greatest = 0;
    for (size_t k = 0; k < x->n * x->tokens; k++) {
        least = fmin(least, at[k]);
        greatest = fmax(greatest, at[k]);
    }
    return -least > 2 * greatest;
}

/* A turn the other way is tried by itself. */
static bool is_inverse(const pe_axes *x)
{
    return is_negative(x, x->read) && !is_negative(x, x->claimed);
}

/* ---- what was read ---- */

static pe_status try_positions(pe_search *s, const pe_axes *x, pe_guess *guess, pe_problem *why)
{
    const pe_status status = pe_axes_set_positions(guess, x->read, x->n * x->tokens, why);
    if (status != PE_OK) /* a position beyond the bounds: no such guess */
        return pe_status_is_ours(status) ? status : PE_OK;
    return x->next(s, guess, why);
}

static pe_status try_relations(pe_search *s, pe_axes *x, pe_guess *guess, pe_problem *why)
{
    pe_axis_relations_apply(x, guess);
    return try_positions(s, x, guess, why);
}

/* ---- tokens in another order, or others in part ---- */

#define MESH "let tokens count along the rows: the last axis of the mesh runs fastest"

static const pe_fault in_order = {
    .name = "mesh_transposed",
    .rule = "tokens are in another order, the mesh grid is transposed: token {a} has the positions "
            "that the claim gives to token {b}",
    .remedy = MESH};
static const pe_fault running = {
    .name = "axes_text_positions",
    .rule = "all axes have the running number of the token from {a} on, as text has",
    .remedy = PE_AXES_ORDER};
static const pe_fault in_part = {.name = "axis_positions_in_part", .remedy = PE_AXES_START};

static bool is_token(const pe_axes *x, size_t t, size_t of)
{
    for (size_t a = 0; a < x->n; a++)
        if (x->read[a * x->tokens + t] != x->claimed[a * x->tokens + of])
            return false;
    return true;
}

/* The first token that stands elsewhere, and where it belongs; false: some stand nowhere. */
static bool find_order(const pe_axes *x, size_t *token, size_t *of)
{
    *token = x->tokens;
    for (size_t t = 0; t < x->tokens; t++) {
        size_t steps = 0, at = t;
        for (; steps < x->tokens && !is_token(x, t, at); steps++)
            at = at + 1 < x->tokens ? at + 1 : 0;
        if (steps == x->tokens)
            return false;
        if (steps > 0 && *token == x->tokens) {
            *token = t;
            *of = at;
        }
        pe_turn_spend(1 + steps);
    }
    return *token < x->tokens;
}

static void round_read(pe_axes *x)
{
    for (size_t a = 0; a < x->n; a++) {
        for (size_t t = 0; t < x->tokens; t++)
            x->read[a * x->tokens + t] = pe_axis_relations_tidy(x, a, x->read[a * x->tokens + t]);
    }
}

/* The rows from the first to the last that differ, and by how much where all do so alike. */
static void tell_part(const pe_axes *x, pe_guess *guess)
{
    size_t first = x->tokens, last = 0;
    bool even = true;
    for (size_t t = 0; t < x->tokens; t++)
        if (!is_token(x, t, t)) {
            first = first == x->tokens ? t : first;
            last = t;
        }
    const double by = x->read[first] - x->claimed[first];
    for (size_t a = 0; a < x->n; a++)
        for (size_t t = first; t <= last; t++)
            even = even && x->read[a * x->tokens + t] - x->claimed[a * x->tokens + t] == by;
    pe_buffer_format(&guess->rule, "from row %zu to row %zu positions of axes are others: ", first,
                     last);
    if (even)
        pe_guess_format(guess, "they are shifted by {a}", by, 0);
    for (size_t a = 0; a < x->n && !even; a++)
        pe_guess_format(guess, a == 0 ? "row {b} is at {a}" : ", {a}",
                        x->read[a * x->tokens + first], (double)first);
    for (size_t a = 0; a < x->n && !even; a++)
        pe_guess_format(guess, a == 0 ? ", not at {a}" : ", {a}", x->claimed[a * x->tokens + first],
                        0);
    guess->fitted |= !even;
}

static bool is_running(const pe_axes *x)
{
    for (size_t a = 0; a < x->n; a++)
        for (size_t t = 0; t < x->tokens; t++)
            if (x->read[a * x->tokens + t] != x->read[0] + (double)t)
                return false;
    return true;
}

static pe_status try_moved(pe_search *s, pe_axes *x, pe_guess *guess, pe_problem *why)
{
    size_t token, of = 0;
    round_read(x);
    *x->of->work += x->tokens * x->tokens;
    const bool order = find_order(x, &token, &of);
    const pe_fault *fault = order ? &in_order : is_running(x) ? &running : &in_part;
    pe_guess_say(guess, fault, fault->remedy);
    if (fault != &in_part)
        pe_guess_format(guess, fault->rule, order ? (double)token : x->read[0], (double)of);
    else
        tell_part(x, guess);
    return try_positions(s, x, guess, why);
}

static pe_status try_read(pe_search *s, pe_axes *x, pe_guess *guess, pe_problem *why)
{
    bool related = true, as_claimed = true;
    for (size_t a = 0; a < x->n; a++) {
        if (!finds_axis(x, a))
            return PE_OK;
        related = pe_axis_relations_find(x, a) && related;
        as_claimed = as_claimed && x->by[a].known && pe_axis_relations_is_own(&x->by[a], a);
    }
    if (as_claimed || is_inverse(x) || (!related && x->tokens > MOVED_MAX))
        return PE_OK;
    return related ? try_relations(s, x, guess, why) : try_moved(s, x, guess, why);
}

/* Each exchange of two axes. */
static pe_status try_exchanges(pe_search *s, pe_axes *x, const pe_guess *claim, pe_problem *why)
{
    pe_status status = PE_OK;
    for (size_t a = 0; a < x->n; a++)
        for (size_t b = a + 1; b < x->n && status == PE_OK && pe_attempts_go_on(s); b++) {
            pe_guess guess;
            for (size_t k = 0; k < x->n; k++)
                x->by[k] = (pe_axis_relation){true, k == a ? b : k == b ? a : k, 1, 0};
            status = pe_guess_copy(claim, &guess, why);
            if (status != PE_OK)
                return status;
            status = try_relations(s, x, &guess, why);
            pe_guess_free(&guess);
        }
    return status;
}

/* ---- life ---- */

static pe_status make(pe_axes *x, pe_problem *why)
{
    const pe_positions *at = &pe_values_find(&x->of->guess->values, "positions")->positions;
    x->tokens = x->of->view->tokens;
    x->pairs = x->expect->geometry.sin_n < x->expect->geometry.cos_n ? x->expect->geometry.sin_n
                                                                     : x->expect->geometry.cos_n;
    x->claimed = calloc((2 * x->n + x->pairs) * x->tokens, sizeof *x->claimed);
    x->axis = calloc(x->pairs + 1, sizeof *x->axis);
    if (x->claimed == NULL || x->axis == NULL)
        return pe_fail_memory(why);
    x->read = x->claimed + x->n * x->tokens;
    x->angle = x->read + x->n * x->tokens;
    for (size_t k = 0; k < x->n * x->tokens; k++)
        x->claimed[k] = pe_positions_at(at, k);
    return PE_OK;
}

/* Does the pair turn as the guess says from where its axis is lowest, whatever phase it has there? */
static bool turns(const pe_axes *x, size_t i)
{
    size_t low, high, t = 0;
    const double w = x->expect->frequency[i], *angle = x->angle + i * x->tokens;
    const double *at = pe_axes_positions(x, x->claimed, x->axis[i]);
    pe_axes_find_ends(x, x->axis[i], &low, &high);
    while (t < x->tokens && fabs(pe_axes_wrap(angle[t] - angle[low] - w * (at[t] - at[low]))) <=
                                2 * pe_axes_slack(x) * (1 + 1e-2 * fabs(w * at[t])))
        t++;
    return t == x->tokens;
}

/* next: what is done with guesses, where at least so many pairs turn as this one says; NULL: they are
 * counted only. */
static pe_status measure(pe_search *s, pe_axes *x, pe_guess *guess, size_t least, pe_problem *why)
{
    bool found = false;
    size_t turning = 0;
    pe_status status = make(x, why);
    if (status == PE_OK)
        status = find_axes(x, &found, why);
    if (found)
        read_angles(x);
    for (size_t i = 0; i < x->pairs && found; i++)
        turning += turns(x, i);
    s->turning = x->next == NULL ? turning : s->turning;
    found = found && x->next != NULL && turning >= least;
    if (found && turning < x->pairs)
        status = pe_axis_frequencies_try(s, x, guess, why);
    if (found && status == PE_OK && pe_attempts_go_on(s))
        status = x->next == pe_attempts_try ? try_read(s, x, guess, why)
                                            : try_exchanges(s, x, guess, why);
    free(x->claimed);
    free(x->axis);
    return status;
}

static bool has_axes(const pe_search *s)
{
    const pe_upload_view *view = s->whole;
    return view->axes > 1 && view->axes <= PE_AXES_MAX && !view->width_differs &&
           view->got != NULL && view->unsent_n == 0 && view->tokens > 1;
}

static pe_status measure_with(pe_search *s, pe_guess *guess, pe_try *next, pe_try *bare,
                              size_t least, pe_problem *why)
{
    pe_expect expect;
    const pe_comparison of = {s->whole, guess, &s->work};
    if (guess->n_faults == PE_FAULTS_MAX || !pe_attempts_go_on(s))
        return PE_OK;
    pe_status status = pe_expect_make(&of, PE_NUMERICS_EXACT, &expect, why);
    if (status != PE_OK || !expect.fits)
        return status;
    pe_axes x = {.of = &of, .expect = &expect, .next = next, .bare = bare, .n = s->whole->axes};
    status = pe_expect_probe(&expect, why);
    if (status == PE_OK)
        status = measure(s, &x, guess, least, why);
    pe_expect_free(&expect);
    return status;
}

static pe_status try_any(pe_search *s, pe_guess *guess, pe_problem *why)
{
    return measure_with(s, guess, pe_attempts_try, pe_attempts_try, 0, why);
}

/* Behind a guess by which more pairs turn than by the claim. */
static pe_status try_axes(pe_search *s, pe_guess *guess, pe_problem *why)
{
    return measure_with(s, guess, pe_attempts_try, pe_attempts_try, s->turning + 1, why);
}

/* ---- behind another mistake ---- */

/* Of longer tables only a single mistake is looked for. */
#define BEHIND_MAX 512

static pe_status try_fault(pe_search *s, pe_guess *guess, pe_problem *why)
{
    const pe_status status = pe_mrope_causes_each(s, guess, pe_attempts_try, why);
    return status == PE_OK ? try_axes(s, guess, why) : status;
}

/* Does it change how all axes turn? */
static bool is_common(const pe_fault *fault)
{
    return (fault->param != NULL && strcmp(fault->param, "rope_theta") == 0) ||
           pe_faults_is_layout(fault) || strcmp(fault->name, "inverse") == 0;
}

/* Positions behind frequencies, and an amplitude, that are not scaled. */
static pe_status try_unscaled(pe_search *s, const pe_guess *claim, pe_problem *why)
{
    static const pe_fault ignored = {
        .name = "axes_scale", .param = "axes_scale", .change = pe_changes_ignored};
    pe_status status = PE_OK;
    if (s->whole->tokens > BEHIND_MAX)
        return PE_OK;
    if (pe_values_present(&claim->values, "axes_scale"))
        status = pe_attempts_with_fault(s, claim, &ignored, try_fault, why);
    for (size_t f = 0; f < pe_faults_n && status == PE_OK && pe_attempts_go_on(s); f++)
        if (strcmp(pe_faults[f].name, "scaling_dropped") == 0)
            status = pe_attempts_with_fault(s, claim, &pe_faults[f], try_fault, why);
    return status;
}

static pe_status try_behind(pe_search *s, pe_guess *claim, pe_problem *why)
{
    if (s->whole->tokens > BEHIND_MAX)
        return PE_OK;
    pe_status status = PE_OK;
    for (size_t f = 0; f < pe_faults_n && status == PE_OK && pe_attempts_go_on(s); f++)
        if (is_common(&pe_faults[f]))
            status = pe_attempts_with_fault(s, claim, &pe_faults[f], try_fault, why);
    if (status == PE_OK)
        status = pe_mrope_causes_each(s, claim, try_axes, why);
    return status == PE_OK ? measure_with(s, claim, try_axes, try_any, 0, why) : status;
}

/* That of the last row, whose pairs must agree; 0: they do not. */
static double read_amplitude(const pe_search *s, const pe_expect *expect)
{
    const pe_geometry *g = &expect->geometry;
    double low = HUGE_VAL, high = 0;
    for (size_t i = 0; i < g->cos_n && i < g->sin_n; i++) {
        const pe_wave wave = pe_upload_view_wave(s->whole, g, s->whole->tokens - 1, i);
        const double size = hypot(wave.cosine, wave.sine);
        low = fmin(low, size);
        high = fmax(high, size);
    }
    return high - low < 0.01 * high ? (low + high) / 2 : 0;
}

static pe_status set_amplitude(pe_search *s, pe_guess *guess, bool *set, pe_problem *why)
{
    pe_expect expect;
    pe_status status = pe_expect_make(&(pe_comparison){s->whole, guess, &s->work},
                                      PE_NUMERICS_EXACT, &expect, why);
    *set = false;
    if (status != PE_OK || !expect.fits)
        return status;
    status = pe_expect_probe(&expect, why);
    if (status == PE_OK)
        *set = pe_amplitude_set(s, guess, read_amplitude(s, &expect), expect.amplitude);
    pe_expect_free(&expect);
    return status;
}

/* An amplitude of its own hides no turn: what else is mistaken comes with it. */
static pe_status try_in_order(pe_search *s, pe_guess *guess, pe_problem *why)
{
    bool other = false;
    pe_status status = measure_with(s, guess, NULL, NULL, 0, why);
    if (status == PE_OK)
        status = try_unscaled(s, guess, why);
    if (status == PE_OK && pe_attempts_go_on(s))
        status = set_amplitude(s, guess, &other, why);
    if (status == PE_OK && other)
        status = pe_attempts_copy(s, guess, pe_attempts_try, why);
    if (status == PE_OK && other && pe_attempts_go_on(s))
        status = pe_mrope_causes_each(s, guess, pe_attempts_try, why);
    if (status == PE_OK)
        status = try_any(s, guess, why);
    return status == PE_OK && pe_attempts_go_on(s) ? try_behind(s, guess, why) : status;
}

pe_status pe_axis_positions_try(pe_search *s, pe_guess *guess, pe_problem *why)
{
    const pe_upload_view *view = s->view;
    if (!has_axes(s))
        return PE_OK;
    s->view = s->whole;
    pe_status status = pe_attempts_set_positions(s, s->whole, guess, why);
    if (status == PE_OK)
        status = try_in_order(s, guess, why);
    s->view = view;
    return status;
}
