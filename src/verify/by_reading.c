/* SPDX-License-Identifier: MIT */
/* by_reading.c - what is tried of an upload of pairs, whose positions and frequencies are
 * measured. */
#include "verify/by_reading.h"

#include <math.h>

#include "verify/added_scaling.h"
#include "verify/amplitude.h"
#include "verify/by_laws.h"
#include "verify/by_patterns.h"
#include "verify/fit.h"
#include "verify/measured.h"
#include "verify/noise.h"
#include "verify/strays.h"
#include "verify/two_changes.h"

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

/* Rows that turn the other way, at no positions that a rule gives. */
static bool is_turned_back(const pe_search *s)
{
    const pe_measured *at = s->measured;
    return pe_reading_is_negative(&at->reading) &&
           (at->cause.fault == NULL || pe_causes_is_list(&at->cause));
}

static pe_status try_singles_and_laws(pe_search *s, pe_guess *guess, pe_problem *why)
{
    const pe_status status = pe_attempts_singles(s, guess, why);
    return status == PE_OK && pe_attempts_go_on(s) ? pe_by_laws_named(s, guess, why) : status;
}

/* Frequencies that are slightly others hide that positions are negative, and nothing else. */
static pe_status try_back(pe_search *s, pe_guess *guess, pe_problem *why)
{
    return pe_attempts_with_fault(s, guess, pe_faults_find("inverse"), try_singles_and_laws, why);
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

/* May waves of any values be the elements? */
static bool is_of_waves(const pe_search *s)
{
    return !s->measured->noisy;
}

/* Otherwise than all by one multiple. */
static bool turns_otherwise(const pe_search *s)
{
    return is_of_waves(s) && pe_attempts_turns(s) && !s->measured->multiplied;
}

static bool is_sized_otherwise(const pe_search *s)
{
    return is_of_waves(s) && pe_amplitude_differs(s);
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

static bool is_of_vectors(const pe_search *s)
{
    return s->whole->rotated;
}

static bool is_small(const pe_search *s)
{
    return s->whole->elements <= MEASURABLE && !s->part;
}

static bool has_few_pairs(const pe_search *s)
{
    return is_small(s) && s->measured->reading.pairs < FEW_PAIRS;
}

static bool is_small_and_uneven(const pe_search *s)
{
    return is_small(s) && !pe_attempts_turns(s);
}

/* Rows that are not evenly spaced tell no frequency of fast pairs. */
static bool is_scattered(const pe_search *s)
{
    enum { MOST = 256 };
    const pe_reading *r = &s->measured->reading;
    size_t t = 2;
    while (t < r->tokens && r->claimed[t] - r->claimed[t - 1] == r->claimed[1] - r->claimed[0])
        t++;
    return t < r->tokens && r->tokens <= MOST && !s->part && r->quality < 0.5;
}

static pe_status fit_in_layouts(pe_search *s, pe_guess *guess, pe_problem *why)
{
    pe_status status = PE_OK;
    for (size_t f = 0; f < pe_faults_n && status == PE_OK && pe_attempts_go_on(s); f++)
        if (pe_faults_is_layout(&pe_faults[f]))
            status = pe_attempts_with_fault(s, guess, &pe_faults[f], pe_attempts_fits, why);
    return status;
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

#define LEAST_PLACED 0.9 /* the part of the rows that have a position */

/* Rows may seem to be nowhere only because frequencies are others. */
static pe_status place_again(pe_search *s, pe_guess *law, pe_problem *why)
{
    pe_measured other;
    pe_status status =
        pe_measured_read(s, law, (pe_reading_least){.quality = LEAST_PLACED}, &other, why);
    if (status != PE_OK)
        return status;
    if (other.made && !other.reading.own && other.reading.quality > LEAST_PLACED)
        status = place(s, law, &other, why);
    pe_measured_free(&other);
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
    pe_status status = pe_measured_repeats(s, guess, &rounded, why);
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
    {.try = pe_by_patterns_try, .applies = is_of_vectors, .of_claim = true},
    {.try = pe_by_laws_named},
    {.try = pe_by_laws_measured},
    {.try = pe_attempts_fits},
    {.try = pe_two_changes_try, .applies = pe_attempts_turns},
    {.try = pe_by_laws_mixed, .applies = is_sent},
    {0},
};

/* Numbers are fitted only where no named fault explains the upload; one that explains it alone goes
 * before those that do so beside a fault. */
static const pe_attempt of_readings[] = {
    {.try = try_still, .applies = stands_still, .unplaced = true},
    {.try = try_back, .applies = is_turned_back, .unplaced = true},
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
    {.try = pe_two_changes_try, .applies = turns_otherwise, .unplaced = true},
    {.try = pe_by_laws_mixed, .applies = has_frequencies},
    {.try = pe_amplitude_behind, .applies = is_sized_otherwise},
    {.try = pe_attempts_fits, .applies = is_small_and_uneven, .of_claim = true},
    {.try = fit_in_layouts, .applies = is_scattered, .of_claim = true},
    {.try = pe_attempts_pairs, .applies = has_few_pairs, .of_claim = true},
    {.try = pe_by_laws_alone},
    {.try = pe_strays_try, .of_claim = true},
    {.try = pe_strays_try, .applies = has_faults},
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
    {.try = pe_two_changes_try, .applies = turns_otherwise, .unplaced = true},
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

pe_status pe_by_reading_try(pe_search *s, pe_guess *guess, pe_problem *why)
{
    pe_measured best;
    const pe_upload_view *view = s->view;
    pe_status status = pe_measured_best(s, guess, &best, why);
    if (status != PE_OK)
        return status;
    if (best.made) {
        best.laid_out = best.guess.n_faults == guess->n_faults && best.reading.anchored;
        s->measured = &best;
        best.noisy = pe_noise_hides_waves(s);
        status = pe_attempts_go_on(s) ? try_reading(s, &best, why) : PE_OK;
        s->measured = NULL;
        s->view = view;
        s->report->pairs_tried = true;
        s->report->has_reading = true;
        s->report->reading = best.reading;
        best.reading = (pe_reading){0};
    }
    pe_measured_free(&best);
    return status;
}
