/* SPDX-License-Identifier: MIT */
/* axis_frequencies.c - pairs of several axes: sections, channels, exponents and bases that differ. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "verify/axis_reading.h"

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
    double *copy = calloc(by->n, sizeof *copy);
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

/* rule: its sentence, which is freed. */
static pe_status try_change(pe_search *s, const pe_guess *claim, const pe_fault *fault,
                            const change *by, pe_buffer *rule, pe_try *next, pe_problem *why)
{
    pe_guess guess;
    pe_status status = pe_guess_copy(claim, &guess, why);
    if (status == PE_OK) {
        pe_guess_say(&guess, fault, fault->remedy);
        pe_buffer_str(&guess.rule, pe_buffer_text(rule));
        status = set_list(&guess, by, why);
        if (status == PE_OK)
            status = next(s, &guess, why);
        pe_guess_free(&guess);
    }
    pe_buffer_free(rule);
    return status;
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

/* Does each pair turn by the axis that the sections give it? turns: bits of axes, [pairs]. */
static bool are_sections(const pe_axis_reading *x, const unsigned *turns, const double *size,
                         bool interleaved)
{
    size_t i = 0;
    while (i < x->pairs && (turns[i] >> section_of(size, interleaved, i) & 1) != 0)
        i++;
    return i == x->pairs;
}

/* The claimed ones, or the first that may be: with as many pairs of height as of width, as models have
 * them, or nearly. */
static bool find_sections(const pe_axis_reading *x, const unsigned *turns, bool interleaved,
                          double *size)
{
    const double pairs = (double)x->pairs;
    if (are_sections(x, turns, size, interleaved))
        return true;
    for (double apart = 0; apart < pairs && x->pairs <= 256; apart++)
        for (double least = 1; 2 * least + apart < pairs; least++)
            for (int wider = 0; wider < 2; wider++) {
                size[1] = wider ? least : least + apart;
                size[2] = wider ? least + apart : least;
                size[0] = pairs - size[1] - size[2];
                if (are_sections(x, turns, size, interleaved))
                    return true;
            }
    return false;
}

static pe_status try_sections(pe_search *s, const pe_axis_reading *x, const pe_guess *claim,
                              const unsigned *turns, pe_try *next, pe_problem *why)
{
    static const pe_fault sizes = {"mrope_sections", .remedy = "set mrope_section as claimed"};
    static const pe_fault layout = {"mrope_interleaved",
                                    .remedy = "set mrope_interleaved as claimed"};
    static const char *const words[] = {"in blocks (sections)", "interleaved"};
    const double *claimed = pe_values_find(&claim->values, "mrope_section")->list;
    const pe_value *flag = pe_values_find(&claim->values, "mrope_interleaved");
    const bool is = flag != NULL && flag->present && flag->truth;
    pe_status status = PE_OK;
    for (int flip = 0; flip < 2 && status == PE_OK && pe_attempts_go_on(s); flip++) {
        double size[SECTIONS] = {claimed[0], claimed[1], claimed[2]};
        pe_buffer rule = {0};
        if (!find_sections(x, turns, is != flip, size))
            continue;
        const bool same = memcmp(size, claimed, sizeof size) == 0;
        pe_buffer_format(&rule, "mrope_section was %g,%g,%g %s, not %g,%g,%g %s", size[0], size[1],
                         size[2], words[is != flip], claimed[0], claimed[1], claimed[2], words[is]);
        status =
            try_change(s, claim, same ? &layout : &sizes,
                       &(change){"mrope_section", size, SECTIONS, false, flip}, &rule, next, why);
    }
    return status;
}

static pe_status read_sections(pe_search *s, const pe_axis_reading *x, const pe_guess *claim,
                               pe_try *next, pe_problem *why)
{
    unsigned *turns = calloc(x->pairs + 1, sizeof *turns);
    if (turns == NULL)
        return pe_fail_memory(why);
    for (size_t i = 0; i < x->pairs; i++)
        for (size_t a = 0; a < SECTIONS; a++)
            turns[i] |= (unsigned)pe_axis_reading_turns(x, i, a, x->frequency[i]) << a;
    const pe_status status = try_sections(s, x, claim, turns, next, why);
    free(turns);
    return status;
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

static pe_status try_dims(pe_search *s, const pe_axis_reading *x, const pe_guess *claim,
                          pe_try *next, pe_problem *why)
{
    static const pe_fault dims = {"axes_dims", .remedy = "set axes_dims as claimed"};
    double list[PE_AXES_MAX];
    pe_buffer rule = {0};
    size_t start = find_start(x, 0, 0);
    for (size_t a = 0; a < x->n; a++) {
        const size_t end = a + 1 < x->n ? find_start(x, a + 1, start + 1) : x->pairs;
        if (start >= x->pairs) {
            pe_buffer_free(&rule);
            return PE_OK;
        }
        list[a] = 2 * (double)(end - start);
        pe_buffer_format(&rule, a > 0 ? ",%g" : "pairs are shared out otherwise: axes_dims was %g",
                         list[a]);
        start = end;
    }
    return try_change(s, claim, &dims, &(change){"axes_dims", list, x->n, false, false}, &rule,
                      next, why);
}

/* ---- exponents and bases ---- */

/* Frequencies are base^(-j/n): the place of pair i in its ladder, and its length. */
static double place(const pe_axis_reading *x, size_t i)
{
    return (double)(x->own ? x->index[i] : i);
}

static double length(const pe_axis_reading *x, size_t i)
{
    return (double)(x->own ? x->count[x->axis[i]] : x->pairs);
}

static double over_all(const pe_axis_reading *x, size_t i)
{
    return (double)i / (double)x->pairs;
}

static double in_axis_over_all(const pe_axis_reading *x, size_t i)
{
    return (double)x->index[i] / (double)x->pairs;
}

static double in_axis(const pe_axis_reading *x, size_t i)
{
    return (double)x->index[i] / (double)x->count[x->axis[i]];
}

static double over_ends(const pe_axis_reading *x, size_t i)
{
    return place(x, i) > 0 ? place(x, i) / (length(x, i) - 1) : 0;
}

#define OWN  "give each axis frequencies of its own: theta^(-2j/d), d its channels (axes_dims)"
#define ONE  "make one ladder of all pairs of the head, then cut it into sections"
#define ENDS "take theta^(-2j/d): the last exponent is (d - 2)/d, not 1"

/* Of ladders of the axes, or of one for all. */
static const struct {
    pe_fault fault;
    double (*exponent)(const pe_axis_reading *x, size_t i);
    bool own;
} exponents[] = {
    {{"axes_one_ladder", "all axes share one ladder of frequencies: exponents count on over all",
      .remedy = OWN},
     over_all,
     true},
    {{"axes_exponents", "exponents of each axis are divided by head_dim, not by its channels",
      .remedy = OWN},
     in_axis_over_all,
     true},
    {{"axes_exponents", "exponents are j/(n - 1), not j/n: linspace with both ends included",
      .remedy = ENDS},
     over_ends,
     true},
    {{"axes_exponents", "exponents are j/(n - 1), not j/n: linspace with both ends included",
      .remedy = ENDS},
     over_ends,
     false},
    {{"mrope_ladder_restarts", "frequencies restart in each section: its pairs count from 0",
      .remedy = ONE},
     in_axis_over_all,
     false},
    {{"mrope_ladder_restarts", "frequencies restart in each section: it has a ladder of its own",
      .remedy = ONE},
     in_axis,
     false},
};

/* The logarithm of the base of an axis. */
static double log_base(const pe_axis_reading *x, const pe_guess *claim, size_t a)
{
    for (size_t i = x->pairs; i-- > 0;)
        if ((!x->own || x->axis[i] == a) && place(x, i) > 0)
            return -log(x->frequency[i]) * length(x, i) / place(x, i);
    return log(pe_values_real(&claim->values, "rope_theta"));
}

/* As factors of the claimed frequencies. */
static pe_status try_exponents(pe_search *s, const pe_axis_reading *x, const pe_guess *claim,
                               pe_try *next, pe_problem *why)
{
    pe_status status = PE_OK;
    double *factor = calloc(x->pairs + 1, sizeof *factor);
    if (factor == NULL)
        return pe_fail_memory(why);
    for (size_t e = 0; e < PE_LEN(exponents) && status == PE_OK && pe_attempts_go_on(s); e++) {
        const pe_fault *fault = &exponents[e].fault;
        const change by = {"freq_factors", factor, x->pairs, true, false};
        bool turns = exponents[e].own == x->own;
        for (size_t i = 0; i < x->pairs && turns; i++) {
            const double w = exp(-log_base(x, claim, x->axis[i]) * exponents[e].exponent(x, i));
            factor[i] = x->frequency[i] / w;
            turns = pe_axis_reading_turns(x, i, x->axis[i], w);
        }
        pe_buffer rule = {0};
        pe_buffer_str(&rule, fault->rule);
        if (turns)
            status = try_change(s, claim, fault, &by, &rule, next, why);
        pe_buffer_free(&rule);
    }
    free(factor);
    return status;
}

/* Do all pairs of the axis turn by the base? */
static bool has_base(const pe_axis_reading *x, const pe_guess *claim, size_t a, double theta)
{
    const double was = log_base(x, claim, a), power = log(theta) / was;
    size_t i = x->pairs;
    while (i > 0 && (x->axis[i - 1] != a ||
                     pe_axis_reading_turns(x, i - 1, a, pow(x->frequency[i - 1], power))))
        i--;
    return i == 0 && fabs(power - 1) > 1e-9;
}

/* Of one axis, or of all: positions of the others may hide that they turn so, too. */
static pe_status try_theta(pe_search *s, const pe_axis_reading *x, const pe_guess *claim, size_t a,
                           double theta, bool all, pe_try *next, pe_problem *why)
{
    static const pe_fault of_axis = {
        "axes_theta", .remedy = "give each axis the theta of the claim (axes_theta, axes_scale)"};
    static const pe_fault of_all = {"rope_theta", .remedy = "set rope_theta as claimed"};
    const pe_value *given = pe_values_find(&claim->values, "axes_theta");
    double list[PE_AXES_MAX];
    pe_buffer rule = {0};
    for (size_t k = 0; k < x->n; k++)
        list[k] = all || k == a    ? theta
                  : given->present ? given->list[k]
                                   : pe_values_real(&claim->values, "rope_theta");
    if (all)
        pe_buffer_format(&rule, "rope_theta, the base of all axes, was %g", theta);
    else
        pe_buffer_format(&rule, "the base (theta) of axis %zu was %g", a, theta);
    return try_change(s, claim, all ? &of_all : &of_axis,
                      &(change){"axes_theta", list, x->n, false, false}, &rule, next, why);
}

/* Of one digit, as people take them. */
static pe_status try_thetas(pe_search *s, const pe_axis_reading *x, const pe_guess *claim,
                            pe_try *next, pe_problem *why)
{
    pe_status status = PE_OK;
    for (size_t a = 0; a < x->n; a++)
        for (int power = 2; power <= 7; power++)
            for (int digit = 1; digit <= 9 && status == PE_OK && pe_attempts_go_on(s); digit++) {
                const double theta = digit * pow(10, power);
                const bool has = has_base(x, claim, a, theta);
                if (has)
                    status = try_theta(s, x, claim, a, theta, false, next, why);
                if (has && status == PE_OK && pe_attempts_go_on(s))
                    status = try_theta(s, x, claim, a, theta, true, next, why);
            }
    return status;
}

pe_status pe_axis_frequencies_each(pe_search *s, const pe_axis_reading *x, const pe_guess *claim,
                                   pe_try *next, pe_problem *why)
{
    const pe_value *factors = pe_values_find(&claim->values, "freq_factors");
    if (!pe_geometry_has_rope_type(&claim->values, "default") || factors == NULL ||
        factors->present)
        return PE_OK;
    pe_status status = try_exponents(s, x, claim, next, why);
    if (status == PE_OK && x->sections && pe_attempts_go_on(s))
        status = read_sections(s, x, claim, next, why);
    if (status == PE_OK && x->own && pe_attempts_go_on(s))
        status = try_dims(s, x, claim, next, why);
    return status == PE_OK && x->own ? try_thetas(s, x, claim, next, why) : status;
}
