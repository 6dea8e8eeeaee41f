/* SPDX-License-Identifier: MIT */
/* laws.c - what a reading says of frequencies and amplitude that no value of the claim gives. */
#include "verify/laws.h"

#include <math.h>

#define TURN 6.283185307179586

/* ---- frequencies ---- */

/* Is a measured frequency this one? Only its turn from row to row is known. */
static bool is_near(const pe_reading *r, double turned, double w)
{
    const double step = r->claimed[1] - r->claimed[0];
    const size_t half = r->tokens / 2;
    const double span = fabs(step) * (double)half;
    const double off = turned - w, turns = off * step / TURN;
    if (fabs(off) <= 0.01 * fabs(w) + 0.05 / span)
        return true;
    return fabs(w * step) > TURN / 2 && fabs(turns - round(turns)) < 2e-3;
}

static void add(const pe_fault *fault, pe_guess *guess)
{
    pe_guess_say(guess, fault, fault->remedy);
    pe_buffer_str(&guess->rule, fault->rule);
}

/* Pairs that all turn by one multiple, beside those that turn as claimed: two bands. */
static bool find_band(const pe_reading *r, pe_guess *guess)
{
    static const pe_fault band = {.name = "frequency_band",
                                  .remedy = "check the scaling of the frequencies by bands"};
    size_t first = r->pairs, last = 0;
    for (size_t i = 0; i < r->pairs; i++)
        if (isfinite(r->turned[i]) && !is_near(r, r->turned[i], r->frequency[i])) {
            first = i < first ? i : first;
            last = i;
        }
    if (first >= last)
        return false;
    const double ratio = pe_reading_ratio(r, first);
    for (size_t i = first; i <= last; i++)
        if (!is_near(r, r->turned[i], ratio * r->frequency[i]))
            return false;
    while (last + 1 < r->pairs && fabs(pe_reading_ratio(r, last + 1) / ratio - 1) < 0.01)
        last++;
    pe_guess_say(guess, &band, band.remedy);
    pe_buffer_format(&guess->rule,
                     "pairs %zu to %zu turn %.6g times as fast as claimed, as if scaled by a "
                     "factor of %.6g",
                     first, last, ratio, 1 / ratio);
    guess->fitted = true;
    return true;
}

/* ---- the amplitude ---- */

static bool is_size(double amplitude, double wanted)
{
    return fabs(amplitude - wanted) <= 4e-3 * wanted;
}

static bool find_amplitude(const pe_reading *r, pe_guess *guess)
{
    static const pe_fault inverted = {
        .name = "attention_factor_inverted",
        .rule = "the attention factor is the reciprocal: its numerator and denominator "
                "(mscale, mscale_all_dim) were exchanged",
        .remedy = "divide by mscale_all_dim's factor, multiply by mscale's"};
    static const pe_fault amplitude = {
        .name = "amplitude", .remedy = "check the attention factor (mscale) and other scales"};
    const double claimed = r->claimed_amplitude;
    if (!(r->amplitude > 0) || is_size(r->amplitude, claimed))
        return false;
    if (claimed != 1 && is_size(r->amplitude, 1 / claimed)) {
        add(&inverted, guess);
        return true;
    }
    pe_guess_say(guess, &amplitude, amplitude.remedy);
    pe_buffer_format(&guess->rule, "the amplitude is %.5g, not %.5g", r->amplitude, claimed);
    guess->fitted = true;
    return true;
}

size_t pe_laws_find(const pe_reading *r, pe_guess *guess)
{
    size_t n = 0;
    if (r->tokens < 8 || r->pairs < 8)
        return 0;
    if (guess->distortion.ladder == NULL)
        n += find_band(r, guess);
    if (r->quality > 0.8 || n > 0)
        n += guess->n_faults < PE_FAULTS_MAX && find_amplitude(r, guess);
    return n;
}
