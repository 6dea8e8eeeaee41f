/* SPDX-License-Identifier: MIT */
/* by_laws.c - guesses whose frequencies follow a law. */
#include "plan/common_params.h"
#include "plan/resource.h"
#include "verify/search/attempts.h"

#include <math.h>
#include <string.h>

#include "verify/reading/causes.h"

/* Values of scaling say nothing where a law gives the frequencies. */
static void try_beside_law(pe_search *s, pe_guess *guess)
{
    const pe_fault *last = guess->faults[guess->n_faults - 1];
    if (last->param == NULL || pe_faults_is_layout(last))
        pe_attempts_try(s, guess);
}

/* A base is fitted more precisely than it is read off turns. */
static bool is_rough(const pe_guess *guess)
{
    return guess->faults[guess->n_faults - 1]->name == PE_NAME(base_about);
}

static void try_law_itself(pe_search *s, pe_guess *guess)
{
    if (!is_rough(guess))
        pe_attempts_try(s, guess);
}

/* The last mistake of a guess is a row of frequencies. */
static const pe_slip *last_of(const pe_guess *guess)
{
    return (const pe_slip *)guess->faults[guess->n_faults - 1];
}

/* What is only fitted says nothing behind a change of a value. */
static void try_named_law(pe_search *s, pe_guess *guess)
{
    if (!last_of(guess)->fitted)
        pe_attempts_try(s, guess);
}

/* A law alone, and then with each single fault. */
static void try_law(pe_search *s, pe_guess *guess)
{
    pe_attempts_copy(s, guess, try_law_itself);
    if (pe_attempts_go_on(s) && !is_rough(guess) && !last_of(guess)->subtle)
        pe_attempts_with_each_fault(s, guess, 0, try_beside_law);
}

/* One law after the other; those with a name all, so that equals are told. */
static void try_laws(pe_search *s, const pe_guess *from, pe_sequence *inv_freq, pe_try *how)
{
    size_t law = 0;
    for (bool more = true;
         more && !pe_attempts_spent(s) && (how == try_named_law || !pe_attempts_found(s));) {
        pe_guess guess;
        if (!pe_attempts_did(s, pe_guess_copy(from, &guess, s->why)))
            return;
        more = pe_inv_freq_next(inv_freq, &law, &guess);
        if (more)
            pe_attempts_copy(s, &guess, how);
        pe_guess_free(&guess);
    }
}

static void try_inv_freq(pe_search *s, const pe_guess *from, pe_sequence *inv_freq, pe_try *how)
{
    if (pe_attempts_did(s, pe_inv_freq_make(&s->claim, inv_freq, s->why)))
        try_laws(s, from, inv_freq, how);
    pe_inv_freq_free(inv_freq);
}

/* All that is known is which pairs turn otherwise. */
static bool find_others(const pe_sequence *l, pe_guess *guess)
{
    static const pe_fault others = {.name = PE_NAME(frequencies_other)},
                          band = {.name = PE_NAME(frequency_band)},
                          bands = {.name = PE_NAME(bands_moved)};
    size_t first = l->n, last = 0, known = 0, n = 0;
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (size_t i = 0; i < l->n; i++) {
        known += isfinite(l->measured[i]) ? 1 : 0;
        if (!isfinite(l->measured[i]) || pe_sequence_is_near(l, i, l->claimed[i]))
            continue;
        first = i < first ? i : first;
        last = i;
        low = fmin(low, l->measured[i] / l->claimed[i]);
        high = fmax(high, l->measured[i] / l->claimed[i]);
        n++;
    }
    if (n < 2 || known * 4 < 3 * l->n || !(low >= 0 && high > 0.01))
        return false;
    const pe_fault *of = high - low < 0.01 * high                     ? &band
                         : pe_sequence_is_scaled(l) && l->listed == 0 ? &bands
                                                                      : &others;
    pe_guess_say(guess, of, pe_fault_remedy(of));
    pe_buffer_str(&guess->rule, "frequencies are others: ");
    if (n <= last - first)
        pe_buffer_format(&guess->rule, "%zu of the ", n);
    pe_buffer_format(&guess->rule, "pairs %zu to %zu turn ", first, last);
    if (low > 1e-3 * high)
        pe_buffer_format(&guess->rule, "%.4g to ", low);
    else
        pe_buffer_str(&guess->rule, "at most ");
    pe_buffer_format(&guess->rule, "%.4g times as fast as claimed", high);
    guess->fitted = true;
    return true;
}

static void try_uploaded(pe_search *s, pe_guess *guess, pe_sequence *inv_freq)
{
    if (pe_attempts_did(s, pe_inv_freq_make(&s->claim, inv_freq, s->why)))
        try_laws(s, guess, inv_freq, try_named_law);
    if (pe_attempts_go_on(s))
        try_laws(s, guess, inv_freq, try_law);
    pe_inv_freq_free(inv_freq);
}

/* The uploaded frequencies beside those of the guess. */
void pe_by_laws_uploaded(pe_search *s, pe_guess *guess)
{
    pe_expect expect;
    pe_expected_row row;
    const pe_upload_view *view = s->view;
    const pe_comparison of = {view, guess, &s->work};
    const char *resource = view->claim->resource->name, *tensor = view->claim->uploads[0].name;
    if ((strcmp(resource, "rope/frequencies") != 0 || strcmp(tensor, "inv_freq") != 0) &&
        (strcmp(resource, "rope/scaled-base") != 0 || strcmp(tensor, "scaled_inv_freq") != 0))
        return;
    if (!pe_attempts_did(s, pe_expect_make(&of, PE_NUMERICS_EXACT, &expect, s->why)) ||
        !expect.fits)
        return;
    const bool made = pe_attempts_did(s, pe_expect_row(&expect, 0, &row, s->why));
    pe_sequence inv_freq = {.n = view->claim->uploads[0].array.elements,
                            .claimed = row.value,
                            .measured = view->got,
                            .roundoff = pe_upload_view_roundoff(view)};
    if (made && inv_freq.n <= PE_PLAIN_ROW)
        try_uploaded(s, guess, &inv_freq);
    pe_expect_free(&expect);
}

void pe_by_laws_named(pe_search *s, pe_guess *guess)
{
    pe_sequence inv_freq = pe_inv_freq_of_reading(&s->measured->reading);
    inv_freq.held = inv_freq.faint = true;
    try_inv_freq(s, guess, &inv_freq, try_named_law);
}

void pe_by_laws_measured(pe_search *s, pe_guess *guess)
{
    pe_sequence inv_freq = pe_inv_freq_of_reading(&s->measured->reading);
    inv_freq.held = true;
    try_inv_freq(s, guess, &inv_freq, try_law);
}

void pe_by_laws_each(pe_search *s, pe_guess *guess, pe_try *how)
{
    pe_sequence inv_freq = pe_inv_freq_of_reading(&s->measured->reading);
    try_inv_freq(s, guess, &inv_freq, how);
}

/* ---- laws that no element is held against ---- */

static bool is_size(double amplitude, double wanted)
{
    return fabs(amplitude - wanted) <= 4e-3 * wanted;
}

/* Where rows are at claimed positions, and pairs as long, do elements deny what turns suggest? *law
 * is the first row that they do not deny, where there is one. */
static bool deny(pe_search *s, const pe_guess *from, pe_sequence *inv_freq, size_t *law)
{
    const pe_reading *r = &s->measured->reading;
    size_t next = *law, misses = 0, placed = 0;
    const size_t most = s->view->elements / 4;
    bool denied = false;
    for (size_t t = 0; t < r->tokens; t++)
        placed += r->position[t] == r->claimed[t];
    if (s->view->unsent_n > 0 || 2 * placed < r->tokens ||
        !is_size(r->amplitude, r->claimed_amplitude))
        return false;
    for (bool more = true; more && !pe_attempts_spent(s);) {
        pe_guess guess;
        const size_t before = next;
        const pe_comparison of = {s->view, &guess, &s->work};
        if (!pe_attempts_did(s, pe_guess_copy(from, &guess, s->why)))
            break;
        more =
            pe_inv_freq_next(inv_freq, &next, &guess) &&
            pe_attempts_did(s, pe_measure_misses(&of, PE_BY_FLOAT32, most, false, &misses, s->why));
        pe_guess_free(&guess);
        denied |= more;
        if (more && misses <= most) {
            *law = before;
            return false;
        }
    }
    return denied;
}

/* One law of the frequencies, and the amplitude. */
static void find_laws(const pe_search *s, pe_sequence *inv_freq, size_t law, bool denied,
                      pe_guess *guess)
{
    const pe_reading *r = &s->measured->reading;
    if (r->tokens < 8)
        return;
    const bool follows = !denied && pe_inv_freq_next(inv_freq, &law, guess);
    guess->fitted |= follows;
    if (r->pairs < 8)
        return;
    const bool others = !follows && find_others(inv_freq, guess);
    if ((r->quality > 0.8 || others) && guess->n_faults < PE_FAULTS_MAX && pe_amplitude_differs(s))
        pe_amplitude_tell(s, guess);
}

void pe_by_laws_alone(pe_search *s, pe_guess *guess)
{
    const pe_reading *r = &s->measured->reading;
    const size_t before = guess->n_faults;
    pe_sequence inv_freq = pe_inv_freq_of_reading(r);
    pe_buffer evidence = {0};
    pe_finding finding = {.exact = false};
    size_t law = 0;
    if (pe_attempts_did(s, pe_inv_freq_make(&s->claim, &inv_freq, s->why))) {
        const bool denied = deny(s, guess, &inv_freq, &law);
        find_laws(s, &inv_freq, law, denied, guess);
    }
    if (s->failed == PE_OK && guess->n_faults > before) {
        pe_buffer_format(&evidence,
                         "measured: frequencies from row to row, the median amplitude, and "
                         "positions of %.0f of %zu rows; no element was compared",
                         r->quality * (double)r->tokens, r->tokens);
        pe_attempts_did(s, pe_findings_add(s->report, &finding, guess, &evidence, s->why));
    }
    pe_inv_freq_free(&inv_freq);
}
