/* SPDX-License-Identifier: MIT */
/* axis_frequencies.c - pairs of several axes: sections, channels, exponents and bases that differ. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verify/axes/axis_reading.h"

/* A list of the claim is another one. */
typedef struct change {
    const char *name;
    const double *list;
    size_t n;
    bool inexact, flips; /* flips: pairs of sections interleave, or do not */
} change;

/* ---- guesses ---- */

static pe_status set_list(pe_guess *guess, const change *by, pe_problem *why)
{
    pe_value *value = pe_values_find(&guess->values, by->name);
    pe_value *flag = pe_values_find(&guess->values, "mrope_interleaved");
    double *copy = calloc(by->n + 1, sizeof *copy); /* there is no empty block */
    if (copy == NULL)
        return pe_fail_memory(why);
    memcpy(copy, by->list, by->n * sizeof *copy);
    free(value->list);
    value->list = copy;
    value->list_length = by->n;
    value->present = true;
    if (by->flips && flag != NULL) {
        flag->truth = !flag->truth;
        (void)pe_geometry_set_choice(&guess->values, "mrope_layout",
                                     flag->truth ? "interleaved" : "sections");
    }
    guess->distortion.values_inexact |= by->inexact;
    return PE_OK;
}

static void try_change(pe_search *s, const pe_guess *claim, const pe_fault *fault, const change *by,
                       const char *rule, pe_try *next)
{
    pe_guess guess;
    if (!pe_attempts_did(s, pe_guess_copy(claim, &guess, s->why)))
        return;
    pe_guess_say(&guess, fault, pe_fault_remedy(fault));
    pe_buffer_str(&guess.rule, rule);
    if (pe_attempts_did(s, set_list(&guess, by, s->why)))
        next(s, &guess);
    pe_guess_free(&guess);
}

/* ---- sections of M-RoPE ---- */

enum { SECTIONS = 3 };

/* The axis of pair i, as Qwen2-VL and Qwen3-VL give pairs to axes. */
static size_t section_of(const double *size, bool interleaved, size_t i)
{
    const double at = (double)i;
    const size_t k = i % SECTIONS;
    if (interleaved)
        return k > 0 && at < SECTIONS * size[k] ? k : 0;
    return at < size[0] ? 0 : at < size[0] + size[1] ? 1 : 2;
}

static bool are_sections(const pe_axis_reading *x, bool interleaved, const double *size)
{
    size_t i = 0;
    while (i < x->pairs &&
           pe_axis_reading_turns(x, i, section_of(size, interleaved, i), x->frequency[i]))
        i++;
    return i == x->pairs && size[0] > 0 && size[1] > 0 && size[2] > 0;
}

/* The claimed ones, or those that are read off the pairs. False: some pair turns otherwise. */
static bool find_sections(const pe_axis_reading *x, bool interleaved, double *size)
{
    size_t i, axis = 0;
    const double *w = x->frequency;
    if (are_sections(x, interleaved, size))
        return true;
    size[1] = size[2] = 0;
    for (size_t k = 1; k < SECTIONS && interleaved; k++)
        for (i = k; i < x->pairs && pe_axis_reading_turns(x, i, k, w[i]); i += SECTIONS)
            size[k]++;
    for (i = 0; i < x->pairs && axis < SECTIONS && !interleaved; i++) {
        while (axis < SECTIONS && !pe_axis_reading_turns(x, i, axis, w[i]))
            axis++;
        if (axis > 0 && axis < SECTIONS)
            size[axis]++;
    }
    size[0] = (double)x->pairs - size[1] - size[2];
    return are_sections(x, interleaved, size);
}

static void try_sections(pe_search *s, const pe_axis_reading *x, const pe_guess *claim,
                         pe_try *next)
{
    static const pe_fault sizes = {.name = PE_NAME(mrope_sections)};
    static const pe_fault layout = {.name = PE_NAME(mrope_interleaved)};
    static const char *const words[] = {"in blocks (sections)", "interleaved"};
    const double *claimed = pe_values_find(&claim->values, "mrope_section")->list;
    const pe_value *flag = pe_values_find(&claim->values, "mrope_interleaved");
    const bool is = flag != NULL && flag->present && flag->truth;
    for (int flip = 0; flip < 2 && pe_attempts_go_on(s); flip++) {
        double size[SECTIONS] = {claimed[0], claimed[1], claimed[2]};
        char rule[192];
        if (!find_sections(x, is != flip, size))
            continue;
        const change by = {"mrope_section", size, SECTIONS, false, flip};
        const bool same = size[0] == claimed[0] && size[1] == claimed[1];
        (void)snprintf(rule, sizeof rule, "mrope_section was %g,%g,%g %s, not %g,%g,%g %s", size[0],
                       size[1], size[2], words[is != flip], claimed[0], claimed[1], claimed[2],
                       words[is]);
        try_change(s, claim, same ? &layout : &sizes, &by, rule, next);
    }
}

/* ---- channels of axes ---- */

/* The first pair from i on that turns as the first one of the axis, whose exponent is 0 whatever the
 * base and the number of its channels. */
static size_t find_start(const pe_axis_reading *x, size_t a, size_t i)
{
    size_t first = 0;
    while (first < x->pairs && (x->axis[first] != a || x->index[first] > 0))
        first++;
    while (first < x->pairs && i < x->pairs && !pe_axis_reading_turns(x, i, a, x->frequency[first]))
        i++;
    return first < x->pairs ? i : x->pairs;
}

static void try_dims(pe_search *s, const pe_axis_reading *x, const pe_guess *claim, pe_try *next)
{
    static const pe_fault dims = {.name = PE_NAME(axes_dims)};
    double list[PE_AXES_MAX];
    char rule[256] = "pairs are shared out among the axes otherwise: axes_dims was";
    size_t start = find_start(x, 0, 0);
    for (size_t a = 0; a < x->n; a++) {
        const size_t end = a + 1 < x->n ? find_start(x, a + 1, start + 1) : x->pairs;
        const size_t used = strlen(rule);
        if (start >= x->pairs)
            return;
        list[a] = 2 * (double)(end - start);
        (void)snprintf(rule + used, sizeof rule - used, "%s %g", a > 0 ? "," : "", list[a]);
        start = end;
    }
    const change by = {"axes_dims", list, x->n, false, false};
    try_change(s, claim, &dims, &by, rule, next);
}

/* ---- exponents and bases ---- */

/* Exponents of a ladder: the numbers of pairs of the head, or of an axis, over how many there are of
 * either, or so many less. */
typedef struct ladder {
    bool numbers_of_all, over_all;
    size_t less;
} ladder;

static double exponent(const pe_axis_reading *x, ladder by, size_t i)
{
    const size_t number = by.numbers_of_all ? i : x->index[i];
    const size_t n = (by.over_all ? x->pairs : x->count[x->axis[i]]) - by.less;
    return number > 0 ? (double)number / (double)n : 0;
}

/* What may stand in the place of ladders of the axes (own), or of one for all. */
static const struct {
    bool own;
    ladder is;
    const pe_fault_name *name;
    const char *sentence;
} ladders[] = {
    {true,
     {true, true, 0},
     PE_NAME(axes_one_ladder),
     "all axes share one ladder of frequencies: exponents count on over all"},
    {true,
     {false, true, 0},
     PE_NAME(axes_exponents),
     "exponents of each axis are divided by head_dim, not by its channels"},
    {true,
     {false, false, 1},
     PE_NAME(axes_exponents),
     "exponents are j/(n - 1), not j/n: linspace with both ends included"},
    {false,
     {true, true, 1},
     PE_NAME(axes_exponents),
     "exponents are j/(n - 1), not j/n: linspace with both ends included"},
    {false,
     {false, true, 0},
     PE_NAME(mrope_ladder_restarts),
     "frequencies restart in each section: its pairs count from 0"},
    {false,
     {false, false, 0},
     PE_NAME(mrope_ladder_restarts),
     "frequencies restart in each section: it has a ladder of its own"},
};

/* The logarithm of the base of an axis. */
static double log_base(const pe_axis_reading *x, const pe_guess *claim, size_t a)
{
    const ladder claimed = {!x->own, !x->own, 0};
    for (size_t i = x->pairs; i-- > 0;)
        if ((!x->own || x->axis[i] == a) && exponent(x, claimed, i) > 0)
            return -log(x->frequency[i]) / exponent(x, claimed, i);
    return log(pe_values_real(&claim->values, "rope_theta"));
}

/* As factors of the claimed frequencies. */
static void try_ladders(pe_search *s, const pe_axis_reading *x, const pe_guess *claim, pe_try *next)
{
    double *factor = calloc(x->pairs + 1, sizeof *factor);
    const change by = {"freq_factors", factor, x->pairs, true, false};
    if (factor == NULL) {
        pe_attempts_did(s, pe_fail_memory(s->why));
        return;
    }
    for (size_t e = 0; e < PE_LEN(ladders) && pe_attempts_go_on(s); e++) {
        const pe_fault fault = {.name = ladders[e].name};
        bool turns = ladders[e].own == x->own;
        for (size_t i = 0; i < x->pairs && turns; i++) {
            const double w = exp(-log_base(x, claim, x->axis[i]) * exponent(x, ladders[e].is, i));
            factor[i] = x->frequency[i] / w;
            turns = pe_axis_reading_turns(x, i, x->axis[i], w);
        }
        if (turns)
            try_change(s, claim, &fault, &by, ladders[e].sentence, next);
    }
    free(factor);
}

/* Do all pairs of the axis turn by another base? */
static bool has_base(const pe_axis_reading *x, const pe_guess *claim, size_t a, double theta)
{
    const double power = log(theta) / log_base(x, claim, a);
    size_t i = x->pairs;
    while (i > 0 && (x->axis[i - 1] != a ||
                     pe_axis_reading_turns(x, i - 1, a, pow(x->frequency[i - 1], power))))
        i--;
    return i == 0 && fabs(power - 1) > 1e-9;
}

/* -ln of the base, by the pair of the axis that tells it best: each tells how many turns the next faster
 * one makes from the lowest claimed position to the highest. NAN: none turns. */
static double read_base(const pe_axis_reading *x, size_t a)
{
    size_t low, high;
    const ladder claimed = {!x->own, !x->own, 0};
    double slope = nan(""), best = nan(""), most = 0;
    pe_axis_reading_ends(x, a, 0, x->tokens, &low, &high);
    const double *at = x->claimed + a * x->tokens, span = at[high] - at[low];
    for (size_t i = x->pairs; i-- > 0;) {
        const double e = exponent(x, claimed, i), *angle = x->angle + i * x->tokens;
        if (x->axis[i] != a || !(e > 0))
            continue;
        const double about = isnan(slope) ? 0 : exp(slope * e) * span;
        const double turn = about + remainder(angle[high] - angle[low] - about, 2 * acos(-1));
        slope = turn > 0 ? log(turn / span) / e : slope;
        best = turn * e > most ? slope : best;
        most = fmax(most, turn * e);
    }
    return best;
}

/* Of all axes, or of this one. */
static void try_theta(pe_search *s, const pe_axis_reading *x, const pe_guess *claim, double theta,
                      size_t one, pe_try *next)
{
    static const pe_fault fault = {.name = PE_NAME(rope_theta)};
    const pe_value *was = pe_values_find(&claim->values, "axes_theta");
    const double claimed = pe_values_real(&claim->values, "rope_theta");
    double list[PE_AXES_MAX];
    char rule[96], of[32] = "all axes";
    if (!x->own) {
        const pe_fault shared = {
            .param = "rope_theta", .change = pe_changes_number, .value = theta};
        if (one == 0)
            pe_attempts_with_fault(s, claim, &shared, next);
        return;
    }
    for (size_t a = 0; a < x->n; a++)
        list[a] = one == x->n || one == a       ? theta
                  : was != NULL && was->present ? was->list[a]
                                                : claimed;
    if (one < x->n)
        (void)snprintf(of, sizeof of, "axis %zu", one);
    (void)snprintf(rule, sizeof rule, "rope_theta, the base of %s, was %g", of, theta);
    const change by = {"axes_theta", list, x->n, false, false};
    try_change(s, claim, &fault, &by, rule, next);
}

/* The base of fewest digits by which one axis turns: positions of the others may hide that they do,
 * too. */
static void try_thetas(pe_search *s, const pe_axis_reading *x, const pe_guess *claim, pe_try *next)
{
    enum { DIGITS = 6 };
    for (size_t a = 0; a < x->n; a++) {
        const double read = exp(-read_base(x, a));
        for (int digits = 0; digits < DIGITS && pe_attempts_go_on(s); digits++) {
            const double unit = pow(10, floor(log10(read)) - digits);
            const double theta = unit * round(read / unit);
            if (!(theta > 1) || !has_base(x, claim, a, theta))
                continue;
            try_theta(s, x, claim, theta, x->own ? x->n : 0, next);
            if (x->own && pe_attempts_go_on(s))
                try_theta(s, x, claim, theta, a, next);
        }
    }
}

void pe_axis_frequencies_each(pe_search *s, const pe_axis_reading *x, const pe_guess *claim,
                              pe_try *next)
{
    const pe_value *factors = pe_values_find(&claim->values, "freq_factors");
    if (!pe_geometry_has_rope_type(&claim->values, "default") || factors == NULL ||
        factors->present)
        return;
    try_ladders(s, x, claim, next);
    if (x->sections)
        try_sections(s, x, claim, next);
    if (x->own && pe_attempts_go_on(s))
        try_dims(s, x, claim, next);
    try_thetas(s, x, claim, next);
}
