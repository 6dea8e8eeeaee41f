/* SPDX-License-Identifier: MIT */
/* attempts.c - guesses are held against an upload; those that explain it become findings. */
#include "verify/search/attempts.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "verify/upload/geometry.h"
#include "verify/mistakes/faults.h"

bool pe_attempts_found(const pe_search *s)
{
    return s->report->n_findings > 0;
}

bool pe_attempts_given_up(const pe_search *s)
{
    const pe_verify_limits *bounds = s->bounds;
    return bounds->given_up != NULL && bounds->given_up(bounds->context);
}

bool pe_attempts_did(pe_search *s, pe_status status)
{
    if (status != PE_OK && s->failed == PE_OK) {
        s->failed = status;
        *s->failure = *s->why;
    }
    return status == PE_OK;
}

/* Elements computed for each one of the upload: measuring, and confirming what was found. */
#define WHOLE_PASSES 16

bool pe_attempts_spent(const pe_search *s)
{
    const size_t most = s->bounds->max_work + WHOLE_PASSES * s->whole->elements;
    return s->failed != PE_OK || s->work > most || pe_attempts_given_up(s);
}

bool pe_attempts_go_on(const pe_search *s)
{
    return !pe_attempts_found(s) && !pe_attempts_spent(s);
}

bool pe_attempts_is_scaled(const pe_search *s)
{
    const pe_values *values = &s->claim.values;
    return pe_values_find(values, "rope_type") != NULL &&
           !pe_geometry_has_rope_type(values, "default");
}

bool pe_attempts_turns(const pe_search *s)
{
    return pe_reading_turning(&s->measured->reading) > 0.75;
}

/* ---- one guess ---- */

bool pe_attempts_set_positions(pe_search *s, const pe_upload_view *view, pe_guess *guess)
{
    const pe_values *from = view == s->whole ? &s->whole->claim->values : &s->claim.values;
    pe_value *positions = pe_values_find(&guess->values, "positions");
    if (positions == NULL || !positions->present)
        return true;
    pe_positions_free(&positions->positions);
    return pe_attempts_did(s, pe_positions_share(&pe_values_find(from, "positions")->positions,
                                                 &positions->positions, s->why));
}

/* Of elements that a rounding may have moved to either side, one in so many is let go. */
#define MOSTLY 40

/* By which arithmetic do all but a few elements of the view follow, and far fewer where angles are not
 * rounded? 0: by none. */
static unsigned explain_most(pe_search *s, pe_guess *guess)
{
    size_t misses, others;
    const size_t few = s->view->elements / MOSTLY;
    const pe_narrow_type *angles = guess->distortion.angles;
    const pe_comparison of = {s->view, guess, &s->work};
    const unsigned by = pe_measure_loosest(guess);
    if (!pe_attempts_did(s, pe_measure_misses(&of, by, few, true, &misses, s->why)) || misses > few)
        return 0;
    guess->distortion.angles = NULL;
    const bool did =
        pe_attempts_did(s, pe_measure_misses(&of, by, 8 * misses, true, &others, s->why));
    guess->distortion.angles = angles;
    return did && misses * 8 <= others ? by : 0;
}

/* Which arithmetics explain the view by the guess; 0: none. */
static unsigned explain(pe_search *s, const pe_upload_view *view, pe_guess *guess)
{
    unsigned by;
    const pe_comparison of = {view, guess, &s->work};
    return pe_attempts_did(s, pe_measure_explain(&of, true, &by, s->why)) ? by : 0;
}

void pe_attempts_try(pe_search *s, pe_guess *guess)
{
    const bool mostly = pe_faults_hold_mostly(guess), sampled = s->view != s->whole;
    if (s->failed != PE_OK || (guess->fitted && s->whole->elements <= PE_NUMBERS_TOO_FEW))
        return;
    s->report->hypotheses++;
    unsigned by = mostly ? explain_most(s, guess) : explain(s, s->view, guess);
    if (by == 0 || (sampled && !pe_attempts_set_positions(s, s->whole, guess)))
        return;
    if (sampled && !mostly)
        by = explain(s, s->whole, guess);
    const pe_comparison of = {s->whole, guess, &s->work};
    if (by != 0)
        pe_attempts_did(s, pe_findings_explain(s->report, &of, by, s->why));
}

/* ---- the whole, or a sample ---- */

/* Elements of an upload beyond which faults are looked for in a sample of its rows. */
#define SAMPLE_ELEMENTS 8192

#define SAMPLE_ROWS 4 /* of a token */

/* Token k of n: a quarter from the start, a quarter up to the end, the rest spread between. */
static size_t sampled_token(size_t k, size_t n, size_t tokens)
{
    const size_t quarter = n / 4, spread = n - 2 * quarter;
    if (k < quarter)
        return k;
    if (k >= n - quarter)
        return tokens - (n - k);
    return quarter + (k - quarter) * (tokens - 2 * quarter) / spread;
}

static pe_status copy_tokens(const pe_upload_view *from, pe_upload_view *to,
                             pe_positions *positions, pe_problem *why)
{
    const size_t width = from->width, token_rows = pe_upload_view_token_rows(from);
    const pe_positions *all = &pe_values_find(&from->claim->values, "positions")->positions;
    const pe_shape one = {1, {to->tokens}}, several = {2, {from->axes, to->tokens}};
    pe_array list;
    PE_TRY(pe_array_make(PE_FLOAT64, from->axes == 1 ? &one : &several, &list, why));
    for (size_t k = 0; k < to->tokens; k++) {
        const size_t token = sampled_token(k, to->tokens, from->tokens);
        for (size_t a = 0; a < from->axes; a++)
            ((double *)list.data)[a * to->tokens + k] =
                pe_positions_at(all, a * from->tokens + token);
        for (size_t o = 0; o < to->inner; o++) {
            const size_t row = pe_upload_view_row(from, token, o * token_rows / to->inner);
            const size_t at = pe_upload_view_row(to, k, o) * width;
            pe_upload_view_take(from, false, row, to->got + at);
            if (to->inputs != NULL)
                pe_upload_view_take(from, true, row, to->inputs + at);
        }
    }
    pe_status status = pe_positions_from_list(&list, "positions", positions, why);
    pe_array_free(&list);
    return status;
}

static pe_status sample_few(const pe_upload_view *view, size_t tokens, size_t rows,
                            pe_upload_view *out, pe_positions *positions, pe_problem *why)
{
    *out = *view;
    out->outer = 1;
    out->inner = rows;
    out->heads = rows > 1 ? rows : view->heads;
    out->tokens = out->batch_tokens = tokens < view->tokens ? tokens : view->tokens;
    out->rows = out->tokens * rows;
    pe_status status = pe_upload_view_make_rows(out, why);
    if (status == PE_OK)
        status = copy_tokens(view, out, positions, why);
    if (status != PE_OK)
        pe_upload_view_free(out);
    return status;
}

/*
 * Some tokens of a view: the first, the last and others between, with a few rows each. positions:
 * theirs, as a claim's. *sampled is false, and nothing is made, when the view is small or holds
 * plain numbers.
 */
static pe_status make_sample(const pe_upload_view *view, pe_upload_view *out,
                             pe_positions *positions, bool *sampled, pe_problem *why)
{
    const size_t token_rows = pe_upload_view_token_rows(view);
    const size_t rows = token_rows < SAMPLE_ROWS ? token_rows : SAMPLE_ROWS;
    const size_t tokens = SAMPLE_ELEMENTS / (view->width * rows) + 32;
    *sampled = view->layout != NULL && view->elements > SAMPLE_ELEMENTS && tokens < view->tokens;
    return *sampled ? sample_few(view, tokens, rows, out, positions, why) : PE_OK;
}

static void try_sample(pe_search *s, const pe_upload_view *sample, pe_positions positions,
                       pe_try *next)
{
    pe_positions *claimed = &pe_values_find(&s->claim.values, "positions")->positions;
    const pe_positions all = *claimed;
    *claimed = positions;
    s->view = sample;
    s->report->sampled = sample->tokens;
    next(s, &s->claim);
    pe_positions_free(claimed);
    *claimed = all;
}

void pe_attempts_of_whole(pe_search *s, const pe_upload_view *whole, pe_try *next)
{
    bool sampled;
    pe_upload_view sample;
    pe_positions positions;
    const pe_upload_view *was_view = s->view, *was_whole = s->whole;
    if (!pe_attempts_did(s, make_sample(whole, &sample, &positions, &sampled, s->why)))
        return;
    s->view = s->whole = whole;
    if (sampled)
        try_sample(s, &sample, positions, next);
    else
        next(s, &s->claim);
    s->view = was_view;
    s->whole = was_whole;
    if (sampled)
        pe_upload_view_free(&sample);
}

/* ---- guesses made of others ---- */

void pe_attempts_copy(pe_search *s, const pe_guess *from, pe_try *next)
{
    pe_guess guess;
    if (!pe_attempts_did(s, pe_guess_copy(from, &guess, s->why)))
        return;
    if (pe_attempts_set_positions(s, s->view, &guess))
        next(s, &guess);
    pe_guess_free(&guess);
}

void pe_attempts_with_fault(pe_search *s, const pe_guess *from, const pe_fault *fault, pe_try *next)
{
    pe_guess guess;
    if (!pe_attempts_did(s, pe_guess_copy(from, &guess, s->why)))
        return;
    if (pe_faults_apply(fault, &guess))
        next(s, &guess);
    pe_guess_free(&guess);
}

void pe_attempts_with_each_fault(pe_search *s, const pe_guess *from, size_t first, pe_try *next)
{
    const bool laid_out = s->measured != NULL && s->measured->laid_out;
    for (size_t f = first; f < pe_faults_n && !pe_attempts_spent(s); f++)
        if ((!laid_out || !pe_faults_is_of_waves(&pe_faults[f])) &&
            (!pe_faults[f].if_alone || !pe_attempts_found(s)))
            pe_attempts_with_fault(s, from, &pe_faults[f], next);
}

/* Do `next` with a copy in which a value was ignored, of each one. */
static void with_each_ignored(pe_search *s, const pe_guess *from, pe_try *next)
{
    for (size_t i = 0; i < from->values.n && !pe_attempts_spent(s); i++) {
        pe_fault fault;
        if (pe_value_faults_ignored(from, i, &fault))
            pe_attempts_with_fault(s, from, &fault, next);
    }
}

void pe_attempts_singles(pe_search *s, pe_guess *guess)
{
    pe_attempts_with_each_fault(s, guess, 0, pe_attempts_try);
    with_each_ignored(s, guess, pe_attempts_try);
}

/* Of plain numbers, which say less, only the nearest changes; of frequencies that are scaled still
 * fewer, for laws tell them. */
#define PLAIN_CHANGES  11
#define SCALED_CHANGES 9

void pe_attempts_each_value(pe_search *s, const pe_guess *guess, pe_try *next)
{
    const size_t most = s->view->layout != NULL    ? SIZE_MAX
                        : pe_attempts_is_scaled(s) ? SCALED_CHANGES
                                                   : PLAIN_CHANGES;
    for (size_t i = 0; i < guess->values.n; i++) {
        pe_fault fault;
        for (size_t k = 0;
             k < most && !pe_attempts_spent(s) && pe_value_faults_nth(guess, i, k, &fault); k++)
            pe_attempts_with_fault(s, guess, &fault, next);
    }
}

void pe_attempts_values(pe_search *s, pe_guess *guess)
{
    pe_attempts_each_value(s, guess, pe_attempts_try);
}

/* Each fault behind the one of the guess, as a second one. */
static void try_second_faults(pe_search *s, pe_guess *one)
{
    const size_t first = (size_t)(one->faults[one->n_faults - 1] - pe_faults);
    if (!pe_faults_hold_mostly(one))
        pe_attempts_with_each_fault(s, one, first + 1, pe_attempts_try);
}

void pe_attempts_pairs(pe_search *s, pe_guess *guess)
{
    s->report->pairs_tried = true;
    with_each_ignored(s, guess, pe_attempts_singles);
    if (!pe_attempts_found(s))
        pe_attempts_with_each_fault(s, guess, 0, try_second_faults);
    if (!pe_attempts_found(s) && s->view->layout != NULL && s->view->axes == 1)
        pe_attempts_with_each_fault(s, guess, 0, pe_attempts_fits);
}

/* ---- one attempt after the other ---- */

static bool is_due(const pe_search *s, const pe_attempt *row)
{
    return s->failed == PE_OK && (row->even_found || !pe_attempts_found(s)) &&
           (row->even_spent || !pe_attempts_spent(s)) &&
           (row->applies == NULL || row->applies(s)) && (row->unless == NULL || !row->unless(s));
}

void pe_attempts_in_order(pe_search *s, const pe_guess *from, const pe_attempt *rows)
{
    for (; rows->try != NULL; rows++) {
        const pe_guess *guess = rows->of_claim   ? &s->claim
                                : rows->unplaced ? s->measured->unplaced
                                                 : from;
        if (is_due(s, rows))
            pe_attempts_copy(s, guess, rows->try);
    }
}
