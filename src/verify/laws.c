/* SPDX-License-Identifier: MIT */
/* laws.c - what a reading says of frequencies and amplitude that no value of the claim gives. */
#include "verify/laws.h"

#include <math.h>

#define TURN 6.283185307179586

/* ---- frequencies ---- */

/* What a law makes of the frequency of pair i. */
typedef double law_of(const pe_reading *r, size_t i);

/* w_i of a ladder that goes on beyond its ends. */
static double step_of_ladder(const pe_reading *r, double i)
{
    const size_t n = r->pairs;
    if (i >= 0 && i < (double)n)
        return r->frequency[(size_t)i];
    const double ratio = r->frequency[n - 1] / r->frequency[n - 2];
    return i < 0 ? r->frequency[0] / ratio : r->frequency[n - 1] * ratio;
}

static double next_pair(const pe_reading *r, size_t i)
{
    return step_of_ladder(r, (double)i + 1);
}

static double previous_pair(const pe_reading *r, size_t i)
{
    return step_of_ladder(r, (double)i - 1);
}

static double reciprocal(const pe_reading *r, size_t i)
{
    return 1 / r->frequency[i];
}

static double squared(const pe_reading *r, size_t i)
{
    return r->frequency[i] * r->frequency[i];
}

static double root(const pe_reading *r, size_t i)
{
    return sqrt(r->frequency[i]);
}

static double reversed(const pe_reading *r, size_t i)
{
    return r->frequency[r->pairs - 1 - i];
}

static double exchanged(const pe_reading *r, size_t i)
{
    return step_of_ladder(r, (double)(i ^ 1));
}

static double in_twos(const pe_reading *r, size_t i)
{
    return r->frequency[i - i % 2];
}

static double one_more(const pe_reading *r, size_t i)
{
    const double n = (double)r->pairs;
    return pow(r->frequency[i], n / (n + 1));
}

static double one_less(const pe_reading *r, size_t i)
{
    const double n = (double)r->pairs;
    return pow(r->frequency[i], n / (n - 1));
}

static double in_turns(const pe_reading *r, size_t i)
{
    return r->frequency[i] * TURN;
}

static double in_radians(const pe_reading *r, size_t i)
{
    return r->frequency[i] / TURN;
}

static double in_degrees(const pe_reading *r, size_t i)
{
    return r->frequency[i] * TURN / 360;
}

static double all_first(const pe_reading *r, size_t i)
{
    (void)i;
    return r->frequency[0];
}

/* Tables are looked at with fewer pairs than have the claimed frequency. */
static double tail_rests(const pe_reading *r, size_t i)
{
    return fabs(r->turned[i]) < fabs(r->frequency[i]) / 50 ? 0 : r->frequency[i];
}

static const struct law {
    pe_fault fault;
    law_of *predict;
} laws[] = {
    {{.name = "reciprocal_frequencies",
      .rule = "frequencies are the reciprocals: theta^(2i/d) for theta^(-2i/d)",
      .remedy = "divide 1 by the power: inv_freq = 1 / theta^(2i/d)"},
     reciprocal},
    {{.name = "exponent_doubled",
      .rule = "frequencies are squared: exponents are 4i/d, or the ladder was applied twice",
      .remedy = "take the exponents 2i/d for i below d/2"},
     squared},
    {{.name = "exponent_halved",
      .rule = "frequencies are the square roots: exponents are i/d, not 2i/d",
      .remedy = "take the exponents 2i/d: arange(0, d, 2) / d"},
     root},
    {{.name = "index_plus_one",
      .rule = "the ladder is shifted: pair i has the frequency of pair i + 1",
      .remedy = "count pairs from 0"},
     next_pair},
    {{.name = "index_minus_one",
      .rule = "the ladder is shifted: pair i has the frequency of pair i - 1",
      .remedy = "count pairs from 0"},
     previous_pair},
    {{.name = "frequencies_reversed",
      .rule = "channels are reversed: the order of the frequencies is the other one, slowest first",
      .remedy = "reverse the order of the pairs"},
     reversed},
    {{.name = "channels_exchanged",
      .rule = "even and odd channels (pairs) are exchanged in order",
      .remedy = "check the order of the channels"},
     exchanged},
    {{.name = "integer_division",
      .rule = "two pairs each have one frequency: exponents come from an integer division (i // 2)",
      .remedy = "take the exponents 2i/d of pair i"},
     in_twos},
    {{.name = "denominator_plus_two",
      .rule = "exponents are divided by d + 2, not by d",
      .remedy = "divide the exponents by d"},
     one_more},
    {{.name = "denominator_minus_two",
      .rule = "exponents are divided by d - 2, not by d: the ladder reaches theta itself",
      .remedy = "divide the exponents by d (freq_shift 0)"},
     one_less},
    {{.name = "angles_times_two_pi",
      .rule = "angles are multiplied by 2 pi",
      .remedy = "take angles in radians: position times inv_freq"},
     in_turns},
    {{.name = "angles_over_two_pi",
      .rule = "angles are divided by 2 pi: turns were taken for radians",
      .remedy = "take angles in radians: position times inv_freq"},
     in_radians},
    {{.name = "angles_in_degrees",
      .rule = "angles in degrees were taken for radians",
      .remedy = "take angles in radians: position times inv_freq"},
     in_degrees},
    {{.name = "one_frequency",
      .rule = "all pairs have the frequency of pair 0",
      .remedy = "take a frequency of its own for each pair"},
     all_first},
    {{.name = "pairs_rest",
      .rule = "some pairs do not turn: their frequencies are zero (see measured.frequencies)",
      .remedy = "make frequencies for all pairs"},
     tail_rests},
};

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

static bool follows(const pe_reading *r, law_of *predict)
{
    size_t good = 0, known = 0, telling = 0;
    for (size_t i = 0; i < r->pairs; i++) {
        const double w = predict(r, i);
        if (!isfinite(r->turned[i]) || !isfinite(w))
            continue;
        known++;
        good += is_near(r, r->turned[i], w);
        telling += is_near(r, r->turned[i], w) && !is_near(r, r->turned[i], r->frequency[i]);
    }
    return known * 5 >= r->pairs * 4 && good * 20 >= known * 19 && telling >= 2;
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
    for (size_t k = 0; k < PE_LEN(laws) && n == 0; k++)
        if (follows(r, laws[k].predict)) {
            add(&laws[k].fault, guess);
            guess->fitted |= laws[k].predict == tail_rests;
            n++;
        }
    if (n == 0)
        n += find_band(r, guess);
    if (r->quality > 0.8 || n > 0)
        n += guess->n_faults < PE_FAULTS_MAX && find_amplitude(r, guess);
    return n;
}
