/* SPDX-License-Identifier: MIT */
/* by_reading.c - what is tried of an upload of pairs, whose positions and frequencies are
 * measured. */
#include "verify/by_reading.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "verify/added_scaling.h"
#include "verify/amplitude.h"
#include "verify/approximations.h"
#include "verify/by_laws.h"
#include "verify/by_patterns.h"
#include "verify/fit.h"
#include "verify/head_positions.h"
#include "verify/laws.h"
#include "verify/measure_rows.h"
#include "verify/strays.h"

/* ---- what is read ---- */

static void free_measured(pe_measured *at)
{
    pe_guess_free(&at->guess);
    pe_reading_free(&at->reading);
    pe_cause_free(&at->cause);
}

static pe_status read_guess(pe_search *s, const pe_guess *guess, pe_measured *out, pe_problem *why)
{
    *out = (pe_measured){0};
    pe_status status = pe_guess_copy(guess, &out->guess, why);
    if (status != PE_OK)
        return status;
    status = pe_attempts_set_positions(s, s->whole, &out->guess, why);
    if (status == PE_OK)
        status = pe_reading_make(&(pe_comparison){s->whole, &out->guess, &s->work}, &out->reading,
                                 &out->made, why);
    if (status != PE_OK)
        free_measured(out);
    return status;
}

/* How well a reading explains the rows; frequencies of its own, negative positions, and pairs of
 * many sizes explain less. Afar, rounded frequencies tell no positions. */
static double goodness(const pe_measured *at)
{
    const pe_reading *r = &at->reading;
    const double placed = r->quality * (r->own ? 0.8 : 1) * (pe_reading_is_negative(r) ? 0.85 : 1);
    return at->made ? fmax(placed, pe_reading_turning(r) / 2) * (0.5 + r->steady / 2) : 0;
}

/* The better of two readings stays. */
static pe_status read_better(pe_search *s, const pe_guess *guess, pe_measured *best,
                             pe_problem *why)
{
    pe_measured other;
    const pe_status status = read_guess(s, guess, &other, why);
    if (status != PE_OK)
        return status;
    const bool better = goodness(&other) > goodness(best) + 0.1;
    pe_measured *worse = better ? best : &other;
    free_measured(worse);
    if (better)
        *best = other;
    return PE_OK;
}

/* Read the upload as claimed, or where that makes no sense in another layout. */
static pe_status read_best(pe_search *s, const pe_guess *claim, pe_measured *best, pe_problem *why)
{
    pe_status status = read_guess(s, claim, best, why);
    if (status != PE_OK)
        return status;
    for (size_t f = 0; f < pe_faults_n && goodness(best) < 0.8 && status == PE_OK; f++) {
        pe_guess guess;
        if (!pe_faults_is_layout(&pe_faults[f]))
            continue;
        status = pe_guess_copy(claim, &guess, why);
        if (status != PE_OK)
            break;
        if (pe_faults_apply(&pe_faults[f], &guess))
            status = read_better(s, &guess, best, why);
        pe_guess_free(&guess);
    }
    if (status != PE_OK)
        free_measured(best);
    return status;
}

/* ---- pairs of faults, of which the first brings the guess nearer to what was measured ---- */

/* Pairs of a row that agree with any frequencies. */
#define FEW_BY_CHANCE 3

/* Where rows are nowhere, as of rounded angles, slow pairs of the middle row tell frequencies. */
static bool agrees_by_phases(const pe_search *s, const double *w)
{
    const pe_reading *r = &s->measured->reading;
    size_t known = 0, near = 0;
    for (size_t i = 0; i < r->pairs && r->quality < 0.5; i++) {
        const double angle = w[i] * r->claimed[r->tokens / 2];
        const bool tells = fabs(angle) > 0.01 && fabs(angle) < 3;
        known += tells;
        near += tells && fabs(r->phase[i] - angle) < 0.01 * fabs(angle);
    }
    return near > FEW_BY_CHANCE && near + known / 16 >= known;
}

static bool agrees_by_turns(const pe_search *s, const double *w)
{
    const pe_reading *r = &s->measured->reading;
    const double span = pe_reading_span(r);
    size_t known = 0, near = 0;
    for (size_t i = 0; i < r->pairs && pe_attempts_turns(s); i++)
        if (isfinite(r->turned[i])) {
            known++;
            near += fabs(w[i] - r->turned[i]) * span < 0.2;
        }
    return near > 0 && near + known / 16 >= known;
}

/* A number that other frequencies, or another amplitude, hardly have. */
static double print_of(const pe_expect *expect)
{
    double sum = expect->amplitude;
    for (size_t i = 0; i < expect->geometry.pairs; i++)
        sum += expect->frequency[i] * (1 + 0.618 * (double)i);
    return sum;
}

/* Was such a guess looked at before? Now it was. */
static bool is_seen(pe_seen *seen, double print)
{
    for (size_t k = 0; k < seen->n; k++)
        if (fabs(seen->print[k] - print) <= 1e-13 * fabs(print))
            return true;
    if (seen->n < PE_LEN(seen->print))
        seen->print[seen->n++] = print;
    return false;
}

/* Does a guess turn and size the pairs as measured? */
static pe_status find_agreement(pe_search *s, pe_guess *guess, pe_agreement *out, pe_problem *why)
{
    pe_expect expect;
    const pe_reading *r = &s->measured->reading;
    *out = (pe_agreement){.turned = false};
    s->work += pe_upload_view_plan_work(s->view);
    const pe_status status =
        pe_measure_expect(&(pe_comparison){s->view, guess, &s->work}, true, &expect, why);
    if (status != PE_OK || !expect.fits)
        return status;
    if (expect.geometry.pairs >= r->pairs)
        out->turned = agrees_by_turns(s, expect.frequency) || agrees_by_phases(s, expect.frequency);
    out->print = print_of(&expect);
    out->sized =
        pe_attempts_turns(s) && fabs(expect.amplitude - r->amplitude) < 4e-3 * r->amplitude;
    pe_expect_free(&expect);
    return status;
}

/* Do the rows of many pairs have positions? */
static bool makes_sense(const pe_measured *at)
{
    return at->reading.quality > 0.9 && at->reading.pairs >= 16;
}

/* Are rows of a table equal where, and only where, the positions of a guess are? */
static pe_status repeats(pe_search *s, pe_guess *guess, bool *out, pe_problem *why)
{
    pe_expect expect;
    size_t equal = 0, t = 0;
    const pe_upload_view *view = s->view;
    const pe_status status =
        pe_expect_make(&(pe_comparison){view, guess, &s->work}, PE_NUMERICS_EXACT, &expect, why);
    if (status != PE_OK || !expect.fits)
        return status;
    for (; t + 1 < view->tokens; t++) {
        const bool same = pe_upload_view_position(view, &expect.positions, t) ==
                          pe_upload_view_position(view, &expect.positions, t + 1);
        size_t c = 0;
        while (c < view->width &&
               pe_upload_view_at(view, false, t, c) == pe_upload_view_at(view, false, t + 1, c))
            c++;
        if (same != (c == view->width))
            break;
        equal += same;
    }
    pe_expect_free(&expect);
    *out = equal > 0 && t + 1 == view->tokens;
    return PE_OK;
}

/* Does the fault bring the pairs to what was measured, or a layout sense into the rows? */
static pe_status is_nearer(pe_search *s, pe_guess *guess, bool *out, pe_problem *why)
{
    pe_measured other;
    pe_agreement agrees = s->agrees;
    const pe_fault *last = guess->faults[guess->n_faults - 1];
    *out = pe_faults_is_grain(last);
    if (*out) /* elements themselves say so */
        return PE_OK;
    if (guess->distortion.positions.round != NULL && !s->whole->rotated)
        return repeats(s, guess, out, why);
    if (!pe_faults_is_layout(last)) {
        const pe_status found = find_agreement(s, guess, &agrees, why);
        *out = ((agrees.turned && !s->agrees.turned) || (agrees.sized && !s->agrees.sized)) &&
               !is_seen(&s->seen, agrees.print);
        return found;
    }
    if (pe_faults_is_of_waves(last) ? makes_sense(s->measured)
                                    : pe_attempts_has_pairs_as_read(s, guess))
        return PE_OK;
    const pe_status status = read_guess(s, guess, &other, why);
    if (status != PE_OK)
        return status;
    *out = other.reading.quality >= 0.5 && goodness(&other) >= goodness(s->measured) - 0.1;
    free_measured(&other);
    return PE_OK;
}

/* Which fault of the list is the last one of the guess. */
static size_t number_of(const pe_guess *guess)
{
    return (size_t)(guess->faults[guess->n_faults - 1] - pe_faults);
}

/* With the first fault, positions may have a cause that they had not as claimed. */
static pe_status read_behind(pe_search *s, pe_guess *guess, pe_problem *why)
{
    pe_measured at;
    bool clear = false;
    if (guess->n_faults + 2 > PE_FAULTS_MAX) /* a cause may be two faults */
        return PE_OK;
    pe_status status = read_guess(s, guess, &at, why);
    if (status == PE_OK && at.made && at.reading.quality > 0.9)
        status = pe_causes_find(&at.reading, s->whole->rotated, &at.cause, &clear, why);
    if (status == PE_OK && clear && at.cause.fault != NULL && !pe_causes_is_list(&at.cause)) {
        pe_causes_apply(&at.cause, &at.guess);
        status = pe_attempts_copy(s, &at.guess, pe_attempts_try, why);
    }
    free_measured(&at);
    return status;
}

/* A first fault, and second ones behind it. */
static pe_status peel_one(pe_search *s, pe_guess *guess, pe_problem *why)
{
    bool *nearer = &s->nearer[number_of(guess)];
    if (pe_faults_hold_mostly(guess))
        return PE_OK;
    pe_status status = is_nearer(s, guess, nearer, why);
    if (status == PE_OK && *nearer)
        status = pe_attempts_singles(s, guess, why);
    return status == PE_OK && *nearer && !pe_attempts_found(s) && !makes_sense(s->measured)
               ? read_behind(s, guess, why)
               : status;
}

/* Numbers behind it. Those behind another value follow from measured frequencies. */
static pe_status fit_behind(pe_search *s, pe_guess *guess, pe_problem *why)
{
    const pe_fault *last = guess->faults[guess->n_faults - 1];
    return s->nearer[number_of(guess)] && !pe_attempts_found(s) &&
                   (last->param == NULL || pe_faults_is_layout(last))
               ? pe_attempts_fits(s, guess, why)
               : PE_OK;
}

/* Named faults go before numbers that are fitted. */
static pe_status peel(pe_search *s, pe_guess *guess, pe_problem *why)
{
    pe_status status = find_agreement(s, guess, &s->agrees, why);
    s->seen.n = 0;
    s->nearer = calloc(pe_faults_n, sizeof *s->nearer);
    if (status == PE_OK && s->nearer == NULL)
        status = pe_fail_memory(why);
    if (status == PE_OK)
        status = pe_attempts_with_each_fault(s, guess, 0, peel_one, why);
    if (status == PE_OK && !pe_attempts_found(s))
        status = pe_attempts_with_each_fault(s, guess, 0, fit_behind, why);
    free(s->nearer);
    s->nearer = NULL;
    return status;
}

/* ---- two changes of values, of which frequencies that were measured tell the first ---- */

/* Changes that measured frequencies follow but for one number. */
#define MOST_NUMBERS 4

static pe_status keep_nearest(pe_search *s, const pe_expect *expect, size_t agreeing,
                              pe_problem *why)
{
    const pe_guess *guess = expect->guess;
    pe_guess copy;
    pe_nearest *best = s->nearest;
    const pe_status status = pe_guess_copy(guess, &copy, why);
    if (status != PE_OK)
        return status;
    pe_guess_free(&best->guess);
    best->guess = copy;
    best->fault = *guess->faults[guess->n_faults - 1];
    best->agreeing = agreeing;
    best->amplitude = expect->amplitude;
    best->guess.faults[guess->n_faults - 1] = &best->fault;
    return PE_OK;
}

/* A number that all frequencies tell, or that positions were multiplied by. */
static pe_status number_behind(pe_search *s, pe_guess *guess, pe_problem *why)
{
    if (s->nearest->numbers == 0)
        return PE_OK;
    s->nearest->numbers--;
    const pe_status status = pe_attempts_fits(s, guess, why);
    return status == PE_OK && pe_attempts_go_on(s) ? read_behind(s, guess, why) : status;
}

/* The measured frequencies, as finely as the upload's type tells them. */
static pe_ladder fine_ladder(const pe_search *s)
{
    pe_ladder ladder = pe_ladder_of_reading(&s->measured->reading);
    ladder.slack = fmin(ladder.slack, 16 * s->measured->reading.roundoff + 0x1p-17);
    return ladder;
}

/* Does the change bring more pairs to what was measured, or leave one law between both? */
static pe_status weigh(pe_search *s, pe_guess *guess, pe_problem *why)
{
    pe_expect expect;
    pe_ladder ladder = fine_ladder(s);
    s->work += pe_upload_view_plan_work(s->view);
    pe_status status =
        pe_measure_expect(&(pe_comparison){s->view, guess, &s->work}, true, &expect, why);
    if (status != PE_OK || !expect.fits)
        return status;
    if (expect.geometry.pairs == ladder.n && !is_seen(&s->seen, print_of(&expect))) {
        ladder.claimed = expect.frequency;
        const size_t near = pe_ladder_count_near(&ladder);
        if (near > s->nearest->agreeing)
            status = keep_nearest(s, &expect, near, why);
        if (status == PE_OK && near < ladder.n)
            status = pe_by_laws_behind(s, guess, &ladder, number_behind, why);
        else if (status == PE_OK) /* far rows tell more */
            status = number_behind(s, guess, why);
    }
    pe_expect_free(&expect);
    return status;
}

/* Faults that change a value, any value, and linear scaling that makes pair 0 turn as measured. */
static pe_status weigh_changes(pe_search *s, pe_guess *guess, pe_problem *why)
{
    const double ratio = pe_reading_ratio(&s->measured->reading, 0);
    pe_fault linear = *pe_fits_linear;
    linear.value = round(2 / ratio) / 2;
    pe_status status =
        ratio < 0.9 && ratio > 1e-3 ? pe_attempts_with_fault(s, guess, &linear, weigh, why) : PE_OK;
    for (size_t f = 0; f < pe_faults_n && status == PE_OK && pe_attempts_go_on(s); f++)
        if (pe_faults[f].param != NULL && !pe_faults_is_layout(&pe_faults[f]))
            status = pe_attempts_with_fault(s, guess, &pe_faults[f], weigh, why);
    return status == PE_OK ? pe_attempts_each_value(s, guess, weigh, why) : status;
}

/* Another type of scaling may have left the claimed attention factor as it was. */
static void keep_amplitude(const pe_search *s, pe_nearest *nearest)
{
    const pe_reading *r = &s->measured->reading;
    const double claimed = r->claimed_amplitude, near = 4e-3 * claimed;
    if (!(fabs(r->amplitude - claimed) < near) || fabs(nearest->amplitude - claimed) < near)
        return;
    nearest->guess.distortion.gain = claimed / nearest->amplitude;
    nearest->guess.distortion.values_inexact = true;
    pe_buffer_str(&nearest->guess.rule, ", while the attention factor stayed");
}

/* Or waves were multiplied by a number. */
static pe_status multiply_nearest(pe_search *s, pe_nearest *nearest, pe_problem *why)
{
    return nearest->guess.distortion.gain == 0 &&
                   pe_amplitude_set(s, &nearest->guess, s->measured->reading.amplitude,
                                    nearest->amplitude)
               ? pe_attempts_copy(s, &nearest->guess, pe_attempts_try, why)
               : PE_OK;
}

/* Values behind the nearest change of one. */
static pe_status change_two(pe_search *s, pe_guess *guess, pe_problem *why)
{
    pe_ladder ladder = fine_ladder(s);
    const size_t agreeing = pe_ladder_count_near(&ladder);
    pe_nearest nearest = {.agreeing = agreeing,
                          .amplitude = s->measured->reading.claimed_amplitude};
    if (agreeing == ladder.n && s->measured->reading.quality > 0.5)
        return PE_OK;
    pe_status status = pe_ladder_make(&s->claim, &ladder, why);
    if (status == PE_OK && !pe_laws_is_one_number(&ladder))
        nearest.numbers = MOST_NUMBERS;
    pe_ladder_free(&ladder);
    s->nearest = &nearest;
    s->seen.n = 0;
    if (status == PE_OK)
        status = weigh_changes(s, guess, why);
    s->nearest = NULL;
    keep_amplitude(s, &nearest);
    if (status == PE_OK && nearest.agreeing > agreeing && pe_attempts_go_on(s))
        status = pe_attempts_copy(s, &nearest.guess, pe_attempts_try, why);
    if (status == PE_OK && nearest.agreeing > agreeing && pe_attempts_go_on(s))
        status = pe_attempts_singles(s, &nearest.guess, why);
    if (status == PE_OK && nearest.agreeing > agreeing && pe_attempts_go_on(s))
        status = pe_attempts_values(s, &nearest.guess, why);
    if (status == PE_OK && nearest.agreeing > agreeing && pe_attempts_go_on(s))
        status = multiply_nearest(s, &nearest, why);
    pe_guess_free(&nearest.guess);
    return status;
}

/* ---- what is tried of an upload that was measured ---- */

static bool stands_still(const pe_search *s)
{
    return s->measured->reading.still && s->measured->reading.claimed[0] != 0;
}

/* Positions that are moved so, alone, or behind another value. */
static pe_status try_moved(pe_search *s, pe_guess *guess, const pe_fault *fault, double times,
                           double plus, pe_problem *why)
{
    guess->distortion.positions = (pe_position_map){.times = times, .plus = plus};
    pe_guess_say(guess, fault, fault->remedy);
    pe_guess_format(guess, fault->rule, plus, 0);
    pe_status status = pe_attempts_copy(s, guess, pe_attempts_try, why);
    if (status == PE_OK && pe_attempts_go_on(s))
        status = pe_attempts_singles(s, guess, why);
    return status == PE_OK && pe_attempts_go_on(s) ? pe_attempts_fits(s, guess, why) : status;
}

/* Rows that are all that of one position tell no frequency, but it may be the first one. */
static pe_status try_still(pe_search *s, pe_guess *guess, pe_problem *why)
{
    static const pe_fault constant = {.name = "positions_constant",
                                      .rule = "every row is that of position {a}",
                                      .remedy = "pass each row its own position"};
    return try_moved(s, guess, &constant, 0, s->measured->reading.claimed[0], why);
}

/* By how much the first row is moved, in whole positions. */
static double first_shift(const pe_search *s)
{
    const pe_reading *r = &s->measured->reading;
    return round(r->position[0] - r->claimed[0]);
}

static bool is_nearly_shifted(const pe_search *s)
{
    const pe_cause *cause = &s->measured->cause;
    return pe_causes_is_line(cause) && fabs(cause->a - 1) < 0.05 && first_shift(s) != 0;
}

/* Frequencies that are slightly others seem to stretch positions. */
static pe_status try_shift(pe_search *s, pe_guess *guess, pe_problem *why)
{
    static const pe_fault shifted = {
        .name = "position_offset",
        .rule = "positions were larger by {a}",
        .remedy = "check the offset of the cache: past_key_values length, padding_idx + 1, "
                  "start_pos"};
    return try_moved(s, guess, &shifted, 1, first_shift(s), why);
}

static bool has_faults(const pe_search *s)
{
    return s->measured->guess.n_faults > 0;
}

/* Those of positions that are only multiplied have been held against the laws. */
static bool has_frequencies(const pe_search *s)
{
    const pe_measured *at = s->measured;
    return at->reading.tokens >= 8 && !at->multiplied;
}

/* Otherwise than all by one multiple. */
static bool turns_otherwise(const pe_search *s)
{
    return pe_attempts_turns(s) && !s->measured->multiplied;
}

/* Frequencies that are others may seem to move positions. */
static bool is_placed(const pe_search *s)
{
    return has_frequencies(s) && s->measured->guess.n_faults > s->measured->unplaced->n_faults;
}

/* Elements, and pairs of channels, of a table that is large enough for a measurement. In a smaller one
 * all pairs of faults are tried. */
#define MEASURABLE 1024
#define FEW_PAIRS  32

static bool is_sent(const pe_search *s)
{
    return s->whole->unsent_n == 0;
}

static bool is_small(const pe_search *s)
{
    return s->whole->elements <= MEASURABLE && !s->part;
}

static bool has_few_pairs(const pe_search *s)
{
    return is_small(s) && s->measured->reading.pairs < FEW_PAIRS;
}

static bool has_all_heads(const pe_search *s)
{
    return !s->part;
}

static bool is_small_and_uneven(const pe_search *s)
{
    return is_small(s) && !pe_attempts_turns(s);
}

static pe_status try_numbers(pe_search *s, pe_guess *guess, pe_problem *why)
{
    const pe_status status = has_faults(s) ? pe_attempts_fits(s, guess, why) : PE_OK;
    return status == PE_OK ? pe_attempts_copy(s, &s->claim, pe_attempts_fits, why) : status;
}

/* Some rows are those of other positions, all others are right. */
static pe_status try_list(pe_search *s, pe_guess *guess, pe_problem *why)
{
    if (!pe_causes_list(&s->measured->reading, &s->measured->cause))
        return PE_OK;
    s->view = s->whole;
    pe_causes_apply(&s->measured->cause, guess);
    const pe_status status = pe_attempts_set_positions(s, s->view, guess, why);
    return status == PE_OK ? pe_attempts_try(s, guess, why) : status;
}

/* The positions that the frequencies of a law give, with that law, or with what is fitted. */
static pe_status place(pe_search *s, pe_guess *law, pe_measured *at, pe_problem *why)
{
    bool clear;
    pe_guess claim;
    const pe_upload_view *view = s->view;
    pe_status status = pe_causes_find(&at->reading, s->whole->rotated, &at->cause, &clear, why);
    if (status != PE_OK || !clear || pe_causes_is_multiple(&at->cause))
        return status;
    status = pe_guess_copy(&s->claim, &claim, why);
    if (status != PE_OK)
        return status;
    s->view = pe_causes_is_list(&at->cause) ? s->whole : s->view;
    pe_causes_apply(&at->cause, &claim);
    pe_causes_apply(&at->cause, law);
    status = pe_attempts_copy(s, &claim, pe_attempts_singles, why);
    if (status == PE_OK && !law->fitted && !pe_attempts_found(s))
        status = pe_attempts_copy(s, law, pe_attempts_try, why);
    if (status == PE_OK && !pe_attempts_found(s))
        status = pe_attempts_copy(s, &claim, pe_attempts_fits, why);
    pe_guess_free(&claim);
    s->view = view;
    return status;
}

/* Rows may seem to be nowhere only because frequencies are others. */
static pe_status place_again(pe_search *s, pe_guess *law, pe_problem *why)
{
    pe_measured other;
    pe_status status = read_guess(s, law, &other, why);
    if (status != PE_OK)
        return status;
    if (other.made && !other.reading.own && other.reading.quality > 0.9)
        status = place(s, law, &other, why);
    free_measured(&other);
    return status;
}

static pe_status place_by_laws(pe_search *s, pe_guess *guess, pe_problem *why)
{
    return pe_by_laws_each(s, guess, place_again, why);
}

/* Positions that were rounded, where equal rows say so, and then multiplied or scaled. */
static pe_status try_rounded(pe_search *s, pe_guess *guess, pe_problem *why)
{
    bool rounded = false;
    if (guess->distortion.positions.round == NULL || s->whole->rotated)
        return PE_OK;
    pe_status status = repeats(s, guess, &rounded, why);
    if (status == PE_OK && rounded)
        status = pe_attempts_singles(s, guess, why);
    return status == PE_OK && rounded && pe_attempts_go_on(s) ? pe_attempts_fits(s, guess, why)
                                                              : status;
}

static bool is_listed(const pe_search *s)
{
    return pe_causes_is_list(&s->measured->cause);
}

static pe_status round_positions(pe_search *s, pe_guess *guess, pe_problem *why)
{
    return pe_attempts_with_each_fault(s, guess, 0, try_rounded, why);
}

/* Before a list of positions is taken, or a line. */
static const pe_attempt of_lists[] = {
    {.try = round_positions, .applies = is_listed},
    {.try = place_by_laws, .applies = has_frequencies, .of_claim = true},
    {.try = try_shift, .applies = is_nearly_shifted},
    {0},
};

/* Before a cause is taken: as scaled frequencies, positions may be multiplied. */
static const pe_attempt of_multiples[] = {
    {.try = pe_by_laws_named},
    {.try = pe_by_laws_measured},
    {.try = pe_attempts_fits},
    {.try = change_two, .applies = pe_attempts_turns},
    {.try = pe_by_laws_mixed, .applies = is_sent},
    {0},
};

/* Numbers are fitted only where no named fault explains the upload; one that explains it alone goes
 * before those that do so beside a fault. */
static const pe_attempt of_readings[] = {
    {.try = try_still, .applies = stands_still, .unplaced = true},
    {.try = pe_attempts_try, .applies = has_faults},
    {.try = pe_attempts_singles, .applies = has_faults},
    {.try = pe_strays_not_finite, .applies = has_faults},
    {.try = pe_by_laws_named, .applies = has_frequencies},
    {.try = pe_by_laws_named, .applies = is_placed, .unplaced = true},
    {.try = pe_amplitude_alone, .applies = pe_amplitude_differs},
    {.try = pe_attempts_values, .applies = pe_attempts_is_scaled},
    {.try = pe_by_laws_measured, .applies = has_frequencies},
    {.try = pe_added_scaling_try, .applies = pe_attempts_turns},
    {.try = try_numbers, .applies = pe_attempts_turns},
    {.try = pe_by_laws_measured, .applies = is_placed, .unplaced = true},
    {.try = place_by_laws, .applies = has_frequencies, .of_claim = true},
    {.try = pe_by_patterns_try, .of_claim = true},
    {.try = pe_by_patterns_try, .applies = has_faults},
    {.try = pe_by_patterns_in_layouts, .applies = pe_strays_are_many, .of_claim = true},
    {.try = try_list, .of_claim = true},
    {.try = pe_head_positions_try, .applies = has_all_heads, .of_claim = true},
    {.try = pe_approximations_try, .applies = has_faults},
    {.try = pe_approximations_try, .of_claim = true},
    {.try = peel},
    {.try = change_two, .applies = turns_otherwise, .unplaced = true},
    {.try = pe_head_positions_behind, .applies = has_all_heads, .of_claim = true},
    {.try = pe_by_laws_mixed, .applies = has_frequencies},
    {.try = pe_amplitude_behind, .applies = pe_amplitude_differs},
    {.try = pe_attempts_fits, .applies = is_small_and_uneven, .of_claim = true},
    {.try = pe_attempts_pairs, .applies = has_few_pairs, .of_claim = true},
    {.try = pe_approximations_growing, .of_claim = true},
    {.try = pe_approximations_growing, .applies = has_faults},
    {.try = pe_by_laws_alone},
    {.try = pe_strays_try, .of_claim = true},
    {.try = pe_strays_try, .applies = has_faults},
    {.try = pe_approximations_any, .of_claim = true},
    {.try = pe_approximations_any, .applies = has_faults},
    {0},
};

/* Derived numbers are too rough for patterns and errors of single elements. */
static const pe_attempt of_derived[] = {
    {.try = pe_attempts_singles, .of_claim = true},
    {.try = pe_attempts_try, .applies = has_faults},
    {.try = pe_attempts_singles, .applies = has_faults},
    {.try = pe_by_laws_measured, .applies = has_frequencies},
    {.try = pe_added_scaling_try, .applies = pe_attempts_turns},
    {.try = try_numbers, .applies = pe_attempts_turns},
    {.try = pe_attempts_values, .applies = pe_attempts_is_scaled},
    {.try = peel},
    {.try = change_two, .applies = turns_otherwise, .unplaced = true},
    {.try = pe_strays_try, .of_claim = true},
    {.try = pe_strays_try, .applies = has_faults},
    {.try = pe_by_laws_alone},
    {0},
};

/* The guess takes the cause of its positions, where there is a clear one. */
static pe_status try_placed(pe_search *s, pe_measured *at, pe_problem *why)
{
    bool clear;
    pe_status status = pe_causes_find(&at->reading, s->whole->rotated, &at->cause, &clear, why);
    if (status != PE_OK)
        return status;
    at->multiplied = clear && pe_causes_is_multiple(&at->cause);
    if (at->multiplied)
        status = pe_attempts_in_order(s, &at->guess, of_multiples, why);
    else if (clear && (pe_causes_is_list(&at->cause) || pe_causes_is_line(&at->cause)))
        status = pe_attempts_in_order(s, &at->guess, of_lists, why);
    if (status != PE_OK)
        return status;
    if (clear)
        pe_causes_apply(&at->cause, &at->guess);
    if (clear && pe_causes_is_list(&at->cause))
        s->view = s->whole;
    return pe_attempts_in_order(s, &at->guess, is_sent(s) ? of_readings : of_derived, why);
}

static pe_status try_reading(pe_search *s, pe_measured *at, pe_problem *why)
{
    pe_guess unplaced;
    pe_status status = pe_guess_copy(&at->guess, &unplaced, why);
    if (status != PE_OK)
        return status;
    at->unplaced = &unplaced;
    status = try_placed(s, at, why);
    at->unplaced = NULL;
    pe_guess_free(&unplaced);
    return status;
}

pe_status pe_by_reading_laws(pe_search *s, pe_guess *guess, pe_problem *why)
{
    pe_measured at;
    pe_status status = read_guess(s, guess, &at, why);
    if (status != PE_OK)
        return status;
    s->measured = &at;
    status = at.made ? pe_by_laws_named(s, guess, why) : PE_OK;
    s->measured = NULL;
    free_measured(&at);
    return status;
}

pe_status pe_by_reading_try(pe_search *s, pe_guess *guess, pe_problem *why)
{
    pe_measured best;
    const pe_upload_view *view = s->view;
    pe_status status = read_best(s, guess, &best, why);
    if (status != PE_OK)
        return status;
    if (best.made) {
        best.laid_out = best.guess.n_faults == guess->n_faults && best.reading.anchored;
        s->measured = &best;
        status = pe_attempts_go_on(s) ? try_reading(s, &best, why) : PE_OK;
        s->measured = NULL;
        s->view = view;
        s->report->pairs_tried = true;
        s->report->has_reading = true;
        s->report->reading = best.reading;
        best.reading = (pe_reading){0};
    }
    free_measured(&best);
    return status;
}
