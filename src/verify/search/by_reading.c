/* SPDX-License-Identifier: MIT */
/* by_reading.c - what is tried of an upload of pairs, whose positions and frequencies are
 * measured. */
#include "plan/common_params.h"
#include "plan/resource.h"
#include "verify/search/attempts.h"

#include <stdio.h>
#include <string.h>

/* ---- reading an upload with a guess ---- */

static void measured_free(pe_measured *at)
{
    pe_guess_free(&at->guess);
    pe_reading_free(&at->reading);
    pe_cause_free(&at->cause);
}

/* False: it failed. */
static bool measured_read(pe_search *s, const pe_guess *guess, pe_reading_least least,
                          pe_measured *out)
{
    *out = (pe_measured){0};
    if (!pe_attempts_did(s, pe_guess_copy(guess, &out->guess, s->why)))
        return false;
    const pe_comparison of = {s->whole, &out->guess, &s->work};
    const bool read =
        pe_attempts_set_positions(s, s->whole, &out->guess) &&
        pe_attempts_did(s, pe_reading_make(&of, &least, &out->reading, &out->made, s->why));
    if (!read)
        measured_free(out);
    return read;
}

static double goodness_of(const pe_measured *at)
{
    return at->made ? pe_reading_goodness(&at->reading) : 0;
}

/* Read the upload as claimed, or where that makes no sense in another layout. False: it failed. */
static bool measured_best(pe_search *s, const pe_guess *claim, pe_measured *best)
{
    if (!measured_read(s, claim, (pe_reading_least){0}, best))
        return false;
    for (size_t f = 0; f < pe_faults_n && goodness_of(best) < 0.8 && s->failed == PE_OK; f++) {
        pe_guess guess;
        pe_measured other;
        const double least = goodness_of(best) + 0.1;
        if (!pe_faults_is_layout(&pe_faults[f]) ||
            !pe_attempts_did(s, pe_guess_copy(claim, &guess, s->why)))
            continue;
        if (pe_faults_apply(&pe_faults[f], &guess) &&
            measured_read(s, &guess, (pe_reading_least){.goodness = least}, &other)) {
            const bool better = goodness_of(&other) > least;
            measured_free(better ? best : &other);
            *best = better ? other : *best;
        }
        pe_guess_free(&guess);
    }
    if (s->failed != PE_OK)
        measured_free(best);
    return s->failed == PE_OK;
}

/* ---- what is tried ---- */

static bool stands_still(const pe_search *s)
{
    return s->measured->reading.still && s->measured->reading.claimed[0] != 0;
}

static void try_other_values(pe_search *s, pe_guess *guess)
{
    pe_attempts_singles(s, guess);
    if (pe_attempts_go_on(s))
        pe_attempts_fits(s, guess);
}

/* Rows that are all that of one position tell no frequency, but it may be the first one. */
static void try_still(pe_search *s, pe_guess *guess)
{
    static const pe_fault constant = {.name = PE_NAME(positions_constant)};
    const double first = s->measured->reading.claimed[0];
    guess->distortion.positions = (pe_position_map){.times = 0, .plus = first};
    pe_guess_tell(guess, &constant, first, 0);
    pe_attempts_copy(s, guess, pe_attempts_try);
    if (pe_attempts_go_on(s))
        try_other_values(s, guess);
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

/* Frequencies that are others may seem to move positions. */
static bool is_placed(const pe_search *s)
{
    return has_frequencies(s) && s->measured->guess.n_faults > s->measured->unplaced->n_faults;
}

/* Elements, and pairs of channels, of a table that is large enough for a measurement. In a smaller one
 * all pairs of faults are tried. */
#define MEASURABLE 1024
#define FEW_PAIRS  32

static bool has_few_pairs(const pe_search *s)
{
    return s->whole->elements <= MEASURABLE && s->measured->reading.pairs < FEW_PAIRS;
}

static bool is_sent(const pe_search *s)
{
    return s->whole->unsent_n == 0;
}

static bool is_of_vectors(const pe_search *s)
{
    return s->whole->rotated;
}

static void try_numbers(pe_search *s, pe_guess *guess)
{
    if (has_faults(s))
        pe_attempts_fits(s, guess);
    pe_attempts_copy(s, &s->claim, pe_attempts_fits);
}

/* The positions that the frequencies of a law give, with that law, or with what is fitted. */
static void place(pe_search *s, pe_guess *law, pe_measured *at)
{
    bool clear;
    pe_guess claim;
    const pe_upload_view *view = s->view;
    if (!pe_attempts_did(
            s, pe_causes_find(&at->reading, s->whole->rotated, &at->cause, &clear, s->why)) ||
        !clear || pe_causes_is_multiple(&at->cause) ||
        !pe_attempts_did(s, pe_guess_copy(&s->claim, &claim, s->why)))
        return;
    s->view = pe_causes_is_list(&at->cause) ? s->whole : s->view;
    pe_causes_apply(&at->cause, &claim);
    pe_causes_apply(&at->cause, law);
    pe_attempts_copy(s, &claim, pe_attempts_singles);
    if (!law->fitted && !pe_attempts_found(s))
        pe_attempts_copy(s, law, pe_attempts_try);
    if (!pe_attempts_found(s))
        pe_attempts_copy(s, &claim, pe_attempts_fits);
    pe_guess_free(&claim);
    s->view = view;
}

#define LEAST_PLACED 0.9 /* the part of the rows that have a position */

/* Rows may seem to be nowhere only because frequencies are others. */
static void place_again(pe_search *s, pe_guess *law)
{
    pe_measured other;
    if (!measured_read(s, law, (pe_reading_least){.quality = LEAST_PLACED}, &other))
        return;
    if (other.made && !other.reading.own && other.reading.quality > LEAST_PLACED)
        place(s, law, &other);
    measured_free(&other);
}

static void place_by_laws(pe_search *s, pe_guess *guess)
{
    pe_by_laws_each(s, guess, place_again);
}

/* A table of defaults has neither the scaling nor the base of the claim. */
static void try_unscaled(pe_search *s, pe_guess *guess)
{
    pe_attempts_with_fault(s, guess, pe_faults_find(PE_NAME(scaling_dropped)), try_other_values);
}

/* Before a cause is taken: as scaled frequencies, positions may be multiplied. */
static const pe_attempt of_multiples[] = {
    {.try = pe_by_elements_try, .applies = is_of_vectors, .of_claim = true},
    {.try = pe_by_laws_measured},
    {.try = pe_attempts_fits},
    {0},
};

/* Numbers are fitted only where no named fault explains the upload; one that explains it alone goes
 * before those that do so beside a fault. */
static const pe_attempt of_readings[] = {
    {.try = try_still, .applies = stands_still, .unplaced = true},
    {.try = pe_attempts_try, .applies = has_faults},
    {.try = pe_attempts_singles, .applies = has_faults},
    {.try = pe_by_laws_named, .applies = has_frequencies},
    {.try = pe_by_laws_named, .applies = is_placed, .unplaced = true},
    {.try = pe_amplitude_alone, .applies = pe_amplitude_differs},
    {.try = pe_attempts_values, .applies = pe_attempts_is_scaled, .of_claim = true},
    {.try = pe_by_laws_measured, .applies = has_frequencies},
    {.try = try_numbers, .applies = pe_attempts_turns},
    {.try = try_unscaled, .applies = pe_attempts_is_scaled, .of_claim = true},
    {.try = place_by_laws, .applies = has_frequencies, .of_claim = true},
    {.try = pe_by_elements_try, .of_claim = true},
    {.try = pe_by_elements_try, .applies = has_faults},
    {.try = pe_attempts_pairs, .applies = has_few_pairs, .of_claim = true},
    {.try = pe_by_laws_alone},
    {.try = pe_mismatches_try, .of_claim = true},
    {.try = pe_mismatches_try, .applies = has_faults},
    {0},
};

/* Of waves that were sent alone mistakes of elements say nothing. */
static const pe_attempt of_lone_waves[] = {
    {.try = pe_attempts_singles, .of_claim = true},
    {.try = pe_attempts_try, .applies = has_faults},
    {.try = pe_attempts_singles, .applies = has_faults},
    {.try = pe_by_laws_measured, .applies = has_frequencies},
    {.try = try_numbers, .applies = pe_attempts_turns},
    {.try = pe_attempts_values, .applies = pe_attempts_is_scaled},
    {.try = pe_mismatches_try, .of_claim = true},
    {.try = pe_mismatches_try, .applies = has_faults},
    {.try = pe_by_laws_alone},
    {0},
};

/* The guess takes the cause of its positions, where there is a clear one. */
static void try_placed(pe_search *s, pe_measured *at)
{
    bool clear;
    if (!pe_attempts_did(
            s, pe_causes_find(&at->reading, s->whole->rotated, &at->cause, &clear, s->why)))
        return;
    at->multiplied = clear && pe_causes_is_multiple(&at->cause);
    if (at->multiplied)
        pe_attempts_in_order(s, &at->guess, of_multiples);
    else if (clear && (pe_causes_is_list(&at->cause) || pe_causes_is_line(&at->cause)))
        pe_attempts_copy(s, &s->claim, place_by_laws);
    if (clear)
        pe_causes_apply(&at->cause, &at->guess);
    if (clear && pe_causes_is_list(&at->cause))
        s->view = s->whole;
    pe_attempts_in_order(s, &at->guess, is_sent(s) ? of_readings : of_lone_waves);
}

static void try_reading(pe_search *s, pe_measured *at)
{
    pe_guess unplaced;
    if (!pe_attempts_did(s, pe_guess_copy(&at->guess, &unplaced, s->why)))
        return;
    at->unplaced = &unplaced;
    try_placed(s, at);
    at->unplaced = NULL;
    pe_guess_free(&unplaced);
}

void pe_by_reading_try(pe_search *s, pe_guess *guess)
{
    pe_measured best;
    const pe_upload_view *view = s->view;
    if (!measured_best(s, guess, &best))
        return;
    if (best.made) {
        best.laid_out = best.guess.n_faults == guess->n_faults && best.reading.anchored;
        s->measured = &best;
        if (pe_attempts_go_on(s))
            try_reading(s, &best);
        s->measured = NULL;
        s->view = view;
        s->report->pairs_tried = true;
        s->report->has_reading = true;
        s->report->reading = best.reading;
        best.reading = (pe_reading){0};
    }
    measured_free(&best);
}

/* ==== cosines, or sines, that were uploaded alone ==== */

/* Rows without which nothing is measured. */
#define ROWS_LEAST 16

bool pe_lone_waves_are(const pe_search *s)
{
    const pe_claim *claim = s->whole->claim;
    const pe_value *positions = pe_values_find(&claim->values, "positions");
    const char *name = claim->uploads[0].name;
    const pe_array *array = &claim->uploads[0].array;
    return s->whole->layout == NULL && strcmp(claim->resource->name, "rope/table") == 0 &&
           claim->n_uploads == 1 &&
           (strncmp(name, "cos", 3) == 0 || strncmp(name, "sin", 3) == 0) &&
           array->shape.ndim == 2 && array->shape.dim[0] >= ROWS_LEAST && positions != NULL &&
           positions->positions.shape.ndim == 1 && s->whole->got != NULL;
}

static bool sent_cosines(const pe_search *s)
{
    return strncmp(s->whole->claim->uploads[0].name, "cos", 3) == 0;
}

/* The same with the other tensor, whose numbers are 0 so far. "cos_cache" for "sin_cache". */
static pe_status make_claim(const pe_search *s, pe_claim *out, pe_problem *why)
{
    const pe_claim *sent = s->whole->claim;
    pe_upload *other = &out->uploads[1];
    *out = (pe_claim){.resource = sent->resource,
                      .any_numerics = sent->any_numerics,
                      .tolerance = sent->tolerance,
                      .seq_axis = sent->seq_axis,
                      .n_uploads = 1};
    out->uploads[0] = sent->uploads[0];
    out->uploads[0].array.borrowed = true;
    snprintf(other->name, sizeof other->name, "%s%s", sent_cosines(s) ? "sin" : "cos",
             sent->uploads[0].name + 3);
    pe_status status = pe_values_copy(&sent->values, &out->values, why);
    if (status == PE_OK)
        status = pe_array_make(PE_FLOAT64, &sent->uploads[0].array.shape, &other->array, why);
    if (status != PE_OK) {
        pe_verify_claim_free(out);
        return status;
    }
    memset(other->array.data, 0, other->array.elements * sizeof(double));
    out->n_uploads = 2;
    return PE_OK;
}

static void read_pairs(pe_search *s, pe_guess *claim)
{
    pe_attempts_copy(s, claim, pe_by_reading_try);
}

static void try_pairs(pe_search *s, pe_claim *claim)
{
    pe_upload_view pairs;
    if (!pe_attempts_did(s, pe_upload_view_make(claim, s->claim.context, &pairs, s->why)))
        return;
    pairs.unsent_at = pairs.tensor_at[sent_cosines(s) ? 1 : 0];
    pairs.unsent_n = pairs.width / 2;
    pe_attempts_of_whole(s, &pairs, read_pairs);
    pe_upload_view_free(&pairs);
}

void pe_lone_waves_try(pe_search *s, pe_guess *guess PE_UNUSED)
{
    pe_claim claim;
    if (!pe_attempts_did(s, make_claim(s, &claim, s->why)))
        return;
    try_pairs(s, &claim);
    pe_verify_claim_free(&claim);
}
