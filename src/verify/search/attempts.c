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

/* Elements computed for each one of the upload: measuring, and confirming what was found. */
#define WHOLE_PASSES 16

bool pe_attempts_spent(const pe_search *s)
{
    const size_t most = s->bounds->max_work + WHOLE_PASSES * s->whole->elements;
    return s->work > most || pe_attempts_given_up(s);
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

pe_status pe_attempts_set_positions(const pe_search *s, const pe_upload_view *view, pe_guess *guess,
                                    pe_problem *why)
{
    const pe_values *from = view == s->whole ? &s->whole->claim->values : &s->claim.values;
    pe_value *positions = pe_values_find(&guess->values, "positions");
    if (positions == NULL || !positions->present)
        return PE_OK;
    pe_positions_free(&positions->positions);
    return pe_positions_share(&pe_values_find(from, "positions")->positions, &positions->positions,
                              why);
}

/* Of elements that a rounding may have moved to either side, one in so many is let go. */
#define MOSTLY 40

/* Do all but a few elements of the view follow, and far fewer where angles are not rounded? */
static pe_status explain_most(pe_search *s, pe_guess *guess, unsigned *by, pe_problem *why)
{
    size_t misses, others;
    const size_t few = s->view->elements / MOSTLY;
    const pe_grain *angles = guess->distortion.angles;
    const pe_comparison of = {s->view, guess, &s->work};
    *by = pe_measure_allowed(guess) == PE_BY_EXACT ? PE_BY_EXACT : PE_BY_FLOAT32;
    pe_status status = pe_measure_misses(&of, *by, few, true, &misses, why);
    if (status != PE_OK || misses > few) {
        *by = 0;
        return status;
    }
    guess->distortion.angles = NULL;
    status = pe_measure_misses(&of, *by, 8 * misses, true, &others, why);
    guess->distortion.angles = angles;
    *by = misses * 8 <= others ? *by : 0;
    return status;
}

/* Which arithmetics explain the view by the guess; 0: none. */
static pe_status explain(pe_search *s, const pe_upload_view *view, pe_guess *guess, unsigned *by,
                         pe_problem *why)
{
    return pe_measure_explain(&(pe_comparison){view, guess, &s->work}, by, why);
}

pe_status pe_attempts_try(pe_search *s, pe_guess *guess, pe_problem *why)
{
    unsigned by;
    const bool mostly = pe_faults_hold_mostly(guess);
    if (guess->fitted && s->whole->elements <= PE_NUMBERS_TOO_FEW)
        return PE_OK;
    s->report->hypotheses++;
    pe_status status =
        mostly ? explain_most(s, guess, &by, why) : explain(s, s->view, guess, &by, why);
    if (status != PE_OK || by == 0)
        return status;
    if (s->view != s->whole)
        status = pe_attempts_set_positions(s, s->whole, guess, why);
    if (status == PE_OK && !mostly && s->view != s->whole)
        status = explain(s, s->whole, guess, &by, why);
    if (status != PE_OK || by == 0)
        return status;
    return pe_findings_explain(s->report, &(pe_comparison){s->whole, guess, &s->work}, by, why);
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

static pe_status try_sample(pe_search *s, const pe_upload_view *sample, pe_positions positions,
                            pe_try *next, pe_problem *why)
{
    pe_positions *claimed = &pe_values_find(&s->claim.values, "positions")->positions;
    const pe_positions all = *claimed;
    *claimed = positions;
    s->view = sample;
    s->report->sampled = sample->tokens;
    const pe_status status = next(s, &s->claim, why);
    pe_positions_free(claimed);
    *claimed = all;
    return status;
}

pe_status pe_attempts_of_whole(pe_search *s, const pe_upload_view *whole, pe_try *next,
                               pe_problem *why)
{
    bool sampled;
    pe_upload_view sample;
    pe_positions positions;
    const pe_upload_view *was_view = s->view, *was_whole = s->whole;
    PE_TRY(make_sample(whole, &sample, &positions, &sampled, why));
    s->view = s->whole = whole;
    pe_status status =
        sampled ? try_sample(s, &sample, positions, next, why) : next(s, &s->claim, why);
    s->view = was_view;
    s->whole = was_whole;
    if (sampled)
        pe_upload_view_free(&sample);
    return status;
}

/* ---- guesses made of others ---- */

pe_status pe_attempts_copy(pe_search *s, const pe_guess *from, pe_try *next, pe_problem *why)
{
    pe_guess guess;
    PE_TRY(pe_guess_copy(from, &guess, why));
    pe_status status = pe_attempts_set_positions(s, s->view, &guess, why);
    if (status == PE_OK)
        status = next(s, &guess, why);
    pe_guess_free(&guess);
    return status;
}

pe_status pe_attempts_with_fault(pe_search *s, const pe_guess *from, const pe_fault *fault,
                                 pe_try *next, pe_problem *why)
{
    pe_guess guess;
    pe_status status = pe_guess_copy(from, &guess, why);
    if (status != PE_OK)
        return status;
    if (pe_faults_apply(fault, &guess))
        status = next(s, &guess, why);
    pe_guess_free(&guess);
    return status;
}

pe_status pe_attempts_with_each_fault(pe_search *s, const pe_guess *from, size_t first,
                                      pe_try *next, pe_problem *why)
{
    pe_status status = PE_OK;
    const bool laid_out = s->measured != NULL && s->measured->laid_out;
    for (size_t f = first; f < pe_faults_n && status == PE_OK && !pe_attempts_spent(s); f++)
        if ((!laid_out || !pe_faults_is_of_waves(&pe_faults[f])) &&
            (!pe_faults[f].if_alone || !pe_attempts_found(s)))
            status = pe_attempts_with_fault(s, from, &pe_faults[f], next, why);
    return status;
}

/* Do `next` with a copy in which a value was ignored, of each one. */
static pe_status with_each_ignored(pe_search *s, const pe_guess *from, pe_try *next,
                                   pe_problem *why)
{
    pe_status status = PE_OK;
    for (size_t i = 0; i < from->values.n && status == PE_OK && !pe_attempts_spent(s); i++) {
        pe_fault fault;
        if (pe_value_faults_ignored(from, i, &fault))
            status = pe_attempts_with_fault(s, from, &fault, next, why);
    }
    return status;
}

pe_status pe_attempts_singles(pe_search *s, pe_guess *guess, pe_problem *why)
{
    PE_TRY(pe_attempts_with_each_fault(s, guess, 0, pe_attempts_try, why));
    return with_each_ignored(s, guess, pe_attempts_try, why);
}

/* Of plain numbers, which say less, only the nearest changes; of frequencies that are scaled still
 * fewer, for laws tell them. */
#define PLAIN_CHANGES  11
#define SCALED_CHANGES 9

pe_status pe_attempts_each_value(pe_search *s, const pe_guess *guess, pe_try *next, pe_problem *why)
{
    pe_status status = PE_OK;
    for (size_t i = 0; i < guess->values.n && status == PE_OK; i++) {
        pe_fault fault;
        const size_t most = s->view->layout != NULL    ? SIZE_MAX
                            : pe_attempts_is_scaled(s) ? SCALED_CHANGES
                                                       : PLAIN_CHANGES;
        for (size_t k = 0; k < most && status == PE_OK && !pe_attempts_spent(s) &&
                           pe_value_faults_nth(guess, i, k, &fault);
             k++)
            status = pe_attempts_with_fault(s, guess, &fault, next, why);
    }
    return status;
}

pe_status pe_attempts_values(pe_search *s, pe_guess *guess, pe_problem *why)
{
    return pe_attempts_each_value(s, guess, pe_attempts_try, why);
}

/* Each fault behind the one of the guess, as a second one. */
static pe_status try_second_faults(pe_search *s, pe_guess *one, pe_problem *why)
{
    const size_t first = (size_t)(one->faults[one->n_faults - 1] - pe_faults);
    if (pe_faults_hold_mostly(one))
        return PE_OK;
    return pe_attempts_with_each_fault(s, one, first + 1, pe_attempts_try, why);
}

pe_status pe_attempts_pairs(pe_search *s, pe_guess *guess, pe_problem *why)
{
    s->report->pairs_tried = true;
    pe_status status = with_each_ignored(s, guess, pe_attempts_singles, why);
    if (status == PE_OK && !pe_attempts_found(s))
        status = pe_attempts_with_each_fault(s, guess, 0, try_second_faults, why);
    if (status != PE_OK || pe_attempts_found(s) || s->view->layout == NULL || s->view->axes > 1)
        return status;
    return pe_attempts_with_each_fault(s, guess, 0, pe_attempts_fits, why);
}

/* ---- one attempt after the other ---- */

static bool is_due(const pe_search *s, const pe_attempt *row)
{
    return (row->even_found || !pe_attempts_found(s)) &&
           (row->even_spent || !pe_attempts_spent(s)) && (row->applies == NULL || row->applies(s));
}

pe_status pe_attempts_in_order(pe_search *s, const pe_guess *from, const pe_attempt *rows,
                               pe_problem *why)
{
    pe_status status = PE_OK;
    for (; rows->try != NULL && status == PE_OK; rows++) {
        const pe_guess *guess = rows->of_claim   ? &s->claim
                                : rows->unplaced ? s->measured->unplaced
                                                 : from;
        if (is_due(s, rows))
            status = pe_attempts_copy(s, guess, rows->try, why);
    }
    return status;
}
