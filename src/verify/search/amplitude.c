/* SPDX-License-Identifier: MIT */
/* amplitude.c - waves that are all larger or smaller than claimed, by one number. */
#include "verify/search/amplitude.h"

#include <math.h>

#include "verify/search/by_laws.h"
#include "verify/search/by_patterns.h"
#include "verify/mistakes/faults.h"
#include "verify/upload/geometry.h"
#include "verify/search/strays.h"

#define FEWEST  32      /* elements: of fewer any number explains too much */
#define DIFFERS 4e-3    /* relative: what two amplitudes must differ by */
#define KNOWN   0x1p-22 /* relative: what a number with a name may be off by, in float32 */

/* What factors are made of. */
typedef struct sizes {
    double width, attention, factor, original;
    double longest;                   /* max_position_embeddings */
    double sequence, mscale, all_dim; /* seq_len, mscale, mscale_all_dim */
    double is;                        /* the amplitude that was measured */
    bool longrope;
} sizes;

/* Numbers that people multiply by. */
typedef struct row {
    pe_fault fault; /* {a} is the number, {b} the width */
    double (*of)(const sizes *at);
} row;

static double root(const sizes *at)
{
    return sqrt(at->width);
}

static double inverse_root(const sizes *at)
{
    return 1 / sqrt(at->width);
}

static double inverse_fourth_root(const sizes *at)
{
    return 1 / sqrt(sqrt(at->width));
}

static double log2_of_e(const sizes *at)
{
    (void)at;
    return M_LOG2E;
}

static double log2_of_e_scaled(const sizes *at)
{
    return M_LOG2E / sqrt(at->width);
}

static double kept_of_ten(const sizes *at)
{
    (void)at;
    return 1 / 0.9;
}

static double kept_of_five(const sizes *at)
{
    (void)at;
    return 1 / 0.8;
}

static double once_less(const sizes *at)
{
    return 1 / at->attention;
}

static double once_more(const sizes *at)
{
    return at->attention;
}

static double inverted(const sizes *at)
{
    return 1 / (at->attention * at->attention);
}

static double rooted(const sizes *at)
{
    return 1 / sqrt(at->attention);
}

static double less_one(const sizes *at)
{
    return at->longrope ? nan("") : (at->attention - 1) / at->attention;
}

/* mscale_all_dim scales the softmax, squared. */
static double of_softmax(const sizes *at)
{
    const double all = 0.1 * at->all_dim * log(at->factor) + 1;
    return all * all / at->attention;
}

static double of_mscale(const sizes *at)
{
    return (0.1 * at->mscale * log(at->factor) + 1) / at->attention;
}

static double by_log10(const sizes *at)
{
    return (0.1 * log10(at->factor) + 1) / at->attention;
}

static double by_ln(const sizes *at)
{
    return (0.1 * log(at->factor) + 1) / at->attention;
}

static double by_log2(const sizes *at)
{
    return (0.1 * log2(at->factor) + 1) / at->attention;
}

static double by_less(const sizes *at)
{
    return (0.07 * log(at->factor) + 1) / at->attention;
}

/* The factor of longrope tells the original length, which is a power of two: A^2 = ln(longest) /
 * ln(original). */
static double by_other_length(const sizes *at)
{
    const double power = log2(at->longest) / (at->is * at->is), whole = round(power);
    if (!at->longrope || !(fabs(power - whole) < 0.01))
        return nan("");
    return sqrt(log2(at->longest) / whole) / at->attention;
}

static double by_lengths(const sizes *at)
{
    return sqrt(1 + log(at->factor) / log(at->original)) / at->attention;
}

static double by_longest(const sizes *at)
{
    return sqrt(1 + log(at->factor) / log(at->longest)) / at->attention;
}

static double by_inverse_lengths(const sizes *at)
{
    return sqrt(1 - log(at->factor) / log(at->original)) / at->attention;
}

static double by_sequence(const sizes *at)
{
    return sqrt(log(at->sequence) / log(at->original)) / at->attention;
}

#define BY_LENGTHS                                                                                 \
    "take sqrt(1 + ln(s)/ln(original length)), s = max_position_embeddings/original length"
#define ALL            "all waves were multiplied by {a}"
#define ROW(NAME, ...) PE_ROW(NAME, .of = __VA_ARGS__)
#define TIMES(OF, ...) ROW(amplitude, OF, .fault.rule = ALL __VA_ARGS__)

static const row rows[] = {
    ROW(attention_factor_missing, once_less),
    ROW(attention_factor_squared, once_more),
    ROW(attention_factor_inverted, inverted),
    ROW(attention_factor_root, rooted),
    ROW(attention_factor_without_one, less_one),
    ROW(attention_factor_of_softmax, of_softmax),
    ROW(attention_factor_of_mscale, of_mscale),
    ROW(attention_factor_log10, by_log10),
    ROW(attention_factor_log2, by_log2),
    ROW(attention_factor_other, by_less),
    ROW(attention_factor_other, by_ln,
        .fault.rule = "the attention factor was that of yarn: 0.1 ln(factor) + 1"),
    ROW(attention_factor_other, by_lengths,
        .fault.rule =
            "the attention factor was that of longrope: sqrt(1 + ln(factor)/ln(original length))"),
    ROW(attention_factor_other, by_other_length,
        .fault.rule = "the attention factor was that of longrope for another original length "
                      "(original_max_position_embeddings), a power of two"),
    ROW(attention_factor_other, by_longest,
        .fault.rule = "the attention factor of longrope was made with ln(max_position_embeddings) "
                      "in the place "
                      "of ln(original length)",
        .fault.remedy = BY_LENGTHS),
    ROW(attention_factor_other, by_inverse_lengths,
        .fault.rule = "the attention factor of longrope was made with the inverse scale, original "
                      "length/length: "
                      "sqrt(1 - ln(s)/ln(original length))",
        .fault.remedy = BY_LENGTHS),
    ROW(attention_factor_other, by_sequence,
        .fault.rule = "the attention factor of longrope was made with seq_len in the place of "
                      "max_position_embeddings",
        .fault.remedy = BY_LENGTHS),
    ROW(amplitude, root),
    TIMES(inverse_root, ": 1/sqrt({b}), the scale of the softmax was folded in"),
    TIMES(inverse_fourth_root, ": {b}^(-1/4), half of the scale of the softmax was folded in"),
    TIMES(log2_of_e, ": log2(e), for a softmax of base 2"),
    TIMES(log2_of_e_scaled, ": log2(e)/sqrt({b}), the scale of a softmax of base 2 was folded in"),
    TIMES(kept_of_ten, ": 1/0.9, as dropout of 0.1 does to what it keeps",
          .fault.fitted = true), /* which has other reasons, too */
    TIMES(kept_of_five, ": 1/0.8, as dropout of 0.2 does to what it keeps",
          .fault.fitted = true), /* which has other reasons, too */
};

static const row measured = {.fault = {.name = PE_NAME(amplitude), .rule = ALL, .fitted = true}};

/* The length of a vector that is encoded. */
static double width_of(const pe_search *s)
{
    static const char *const names[] = {"head_dim", "d_model"};
    for (size_t n = 0; n < PE_LEN(names); n++)
        if (pe_values_find(&s->claim.values, names[n]) != NULL)
            return (double)pe_values_int(&s->claim.values, names[n]);
    return (double)s->whole->width;
}

/* Relative: what a product that was rounded to the upload's type is off by, and the measure. */
static double slack(const pe_search *s)
{
    return 2 * pe_upload_view_roundoff(s->whole) + 0x1p-46;
}

static double real_or_nowhere(const pe_search *s, const char *name)
{
    const pe_value *value = pe_values_find(&s->claim.values, name);
    if (value == NULL || !value->present)
        return nan("");
    return value->param->kind == PE_KIND_INT ? (double)value->integer : value->real;
}

/* The nearest number; the first one of those that are equal. */
static const row *find_row(const sizes *of, double times, double near)
{
    const row *best = &measured;
    for (size_t k = 0; k < PE_LEN(rows); k++) {
        const double number = rows[k].of(of), off = fabs(times / number - 1);
        if (number != 1 && off <= near) { /* not of NAN */
            best = &rows[k];
            near = off - 1e-9;
        }
    }
    return best;
}

static bool differs(const pe_search *s, double is, double claimed)
{
    return s->whole->elements >= FEWEST && claimed > 0 && is > 0 &&
           fabs(is / claimed - 1) > DIFFERS + 4 * slack(s);
}

static sizes sizes_of(const pe_search *s, double is, double claimed)
{
    const double factor = real_or_nowhere(s, "factor");
    const double original = real_or_nowhere(s, "original_max_position_embeddings");
    const double longest = real_or_nowhere(s, "max_position_embeddings");
    return (sizes){.width = width_of(s),
                   .attention = claimed,
                   .factor = isnan(factor) ? longest / original : factor,
                   .original = original,
                   .longest = longest,
                   .sequence = real_or_nowhere(s, "seq_len"),
                   .mscale = real_or_nowhere(s, "mscale"),
                   .all_dim = real_or_nowhere(s, "mscale_all_dim"),
                   .is = is,
                   .longrope = pe_geometry_has_rope_type(&s->claim.values, "longrope")};
}

bool pe_amplitude_differs(const pe_search *s)
{
    const pe_reading *r = &s->measured->reading;
    return differs(s, r->amplitude, r->claimed_amplitude);
}

bool pe_amplitude_read(const pe_search *s, double is, double claimed, pe_amplitude *out)
{
    if (!differs(s, is, claimed))
        return false;
    const double times = is / claimed;
    const sizes of = sizes_of(s, is, claimed);
    const row *named = find_row(&of, times, slack(s));
    *out = (pe_amplitude){&named->fault, named->of != NULL ? named->of(&of) : times, of.width,
                          claimed};
    return true;
}

static void set_gain(pe_guess *guess, const pe_amplitude *is, double error)
{
    guess->distortion.gain = is->times;
    guess->distortion.gain_error = error;
    guess->distortion.values_inexact = true;
    guess->fitted |= is->fault->fitted;
    pe_guess_tell(guess, is->fault, is->times, is->width);
    if (is->fault == &measured.fault && is->claimed != 1)
        pe_buffer_format(&guess->rule, ": the attention factor was %.7g, not %.7g",
                         is->times * is->claimed, is->claimed);
}

bool pe_amplitude_set(const pe_search *s, pe_guess *guess, double is, double claimed)
{
    pe_amplitude read;
    if (guess->n_faults >= PE_FAULTS_MAX || !pe_amplitude_read(s, is, claimed, &read))
        return false;
    set_gain(guess, &read, read.fault == &measured.fault ? slack(s) : fmin(slack(s), KNOWN));
    return true;
}

static const pe_attempt alone[] = {
    {.try = pe_attempts_try},
    {.try = pe_by_patterns_try},
    {0},
};

/* Of a number with a name: a fault behind it may hardly show. */
static const pe_attempt named_alone[] = {
    {.try = pe_attempts_try},
    {.try = pe_by_patterns_try},
    {.try = pe_attempts_singles},
    {.try = pe_by_laws_named},
    {0},
};

static pe_status try_row(pe_search *s, const pe_guess *from, const pe_amplitude *is, double error,
                         const pe_attempt *list, pe_problem *why)
{
    pe_guess guess;
    pe_status status = pe_guess_copy(from, &guess, why);
    if (status != PE_OK)
        return status;
    set_gain(&guess, is, error);
    status = pe_attempts_in_order(s, &guess, list, why);
    pe_guess_free(&guess);
    return status;
}

static pe_status try_named(pe_search *s, pe_guess *guess, pe_problem *why)
{
    return pe_attempts_in_order(s, guess, named_alone, why);
}

/* Values give the number, where a row of faults.h has it; else it multiplies waves. */
static pe_status try_named_row(pe_search *s, const pe_guess *from, const pe_amplitude *is,
                               double error, pe_problem *why)
{
    const pe_fault *fault = pe_faults_find(is->fault->name);
    return fault != NULL ? pe_attempts_with_fault(s, from, fault, try_named, why)
                         : try_row(s, from, is, error, named_alone, why);
}

/* A number that has a name is known: elements of a narrow type tell it from others. The measured
 * one comes after it. */
pe_status pe_amplitude_alone(pe_search *s, pe_guess *guess, pe_problem *why)
{
    pe_status status = PE_OK;
    const pe_reading *r = &s->measured->reading;
    const double times = r->amplitude / r->claimed_amplitude, near = slack(s);
    const sizes of = sizes_of(s, r->amplitude, r->claimed_amplitude);
    const row *nearest = find_row(&of, times, near);
    if (guess->n_faults >= PE_FAULTS_MAX)
        return PE_OK;
    if (nearest != &measured) {
        const pe_amplitude is = {&nearest->fault, nearest->of(&of), of.width, of.attention};
        const double error = fmin(near, KNOWN);
        status = try_named_row(s, guess, &is, error, why);
        if (status == PE_OK && !pe_attempts_found(s))
            status = try_row(s, guess, &is, error, alone, why);
    }
    return status == PE_OK && (nearest == &measured || near >= KNOWN) && !pe_attempts_found(s)
               ? try_row(s, guess, &(pe_amplitude){&measured.fault, times, of.width, of.attention},
                         near, alone, why)
               : status;
}
