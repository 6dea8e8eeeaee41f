/* SPDX-License-Identifier: MIT */
/* amplitude.c - waves that are all larger or smaller than claimed, by one number. */
#include "verify/search/attempts.h"

#include <math.h>
#include <stddef.h>

#include "verify/mistakes/faults.h"
#include "verify/mistakes/sequence.h"
#include "verify/upload/geometry.h"

#define FEWEST  32      /* elements: of fewer any number explains too much */
#define DIFFERS 4e-3    /* relative: what two amplitudes must differ by */
#define KNOWN   0x1p-22 /* relative: what a number with a name may be off by, in float32 */

/* What factors are made of, and the numbers that a claim has: NAN where it has none. */
typedef struct sizes {
    double width, attention; /* of a vector; the claimed amplitude */
    double longest, length;  /* max_position_embeddings and the original one */
    double scale;            /* of yarn's factor, or of both lengths */
    double is;               /* the amplitude that was measured */
} sizes;

#define SIZE(NAME, OF)                                                                             \
    {                                                                                              \
        .name = NAME, .offset = offsetof(sizes, OF)                                                \
    }

static const pe_term terms[] = {SIZE("width", width),
                                SIZE("A", attention),
                                SIZE("s", scale),
                                SIZE("longest", longest),
                                SIZE("L", length),
                                SIZE("is", is),
                                {0}};

/* ---- numbers that people multiply by: equations. {a} is the number, {b} the width ---- */

#define BY_LENGTHS                                                                                 \
    "take sqrt(1 + ln(s)/ln(original length)), s = max_position_embeddings/original length"
#define ALL            "all waves were multiplied by {a}"
#define ROW(NAME, ...) PE_ROW(NAME, .op = __VA_ARGS__)
#define TIMES(OF, ...) ROW(amplitude, OF, .fault.rule = ALL __VA_ARGS__)

/* The factor of longrope tells the original length, which is a power of two: A^2 = ln(longest) /
 * ln(original). */
#define POWER "(log2(longest)/is^2)"
#define OTHER_LENGTH                                                                               \
    "rope_type.longrope && abs(" POWER " - round(" POWER ")) < 0.01 ? "                            \
    "sqrt(log2(longest)/round(" POWER "))/A : none"

static const pe_slip rows[] = {
    ROW(attention_factor_missing, "1/A"),
    ROW(attention_factor_squared, "A"),
    ROW(attention_factor_inverted, "1/A^2"),
    ROW(attention_factor_root, "1/sqrt(A)"),
    ROW(attention_factor_without_one, "rope_type.longrope ? none : (A - 1)/A"),
    ROW(attention_factor_of_softmax, "(0.1*mscale_all_dim*ln(s) + 1)^2/A"),
    ROW(attention_factor_of_mscale, "(0.1*mscale*ln(s) + 1)/A"),
    ROW(attention_factor_log10, "(0.1*log10(s) + 1)/A"),
    ROW(attention_factor_log2, "(0.1*log2(s) + 1)/A"),
    ROW(attention_factor_other, "(0.07*ln(s) + 1)/A"),
    ROW(attention_factor_other, "(0.1*ln(s) + 1)/A",
        .fault.rule = "the attention factor was that of yarn: 0.1 ln(factor) + 1"),
    ROW(attention_factor_other, "sqrt(1 + ln(s)/ln(L))/A",
        .fault.rule =
            "the attention factor was that of longrope: sqrt(1 + ln(factor)/ln(original length))"),
    ROW(attention_factor_other, OTHER_LENGTH,
        .fault.rule = "the attention factor was that of longrope for another original length "
                      "(original_max_position_embeddings), a power of two"),
    ROW(attention_factor_other, "sqrt(1 + ln(s)/ln(longest))/A",
        .fault.rule = "the attention factor of longrope was made with ln(max_position_embeddings) "
                      "in the place "
                      "of ln(original length)",
        .fault.remedy = BY_LENGTHS),
    ROW(attention_factor_other, "sqrt(1 - ln(s)/ln(L))/A",
        .fault.rule = "the attention factor of longrope was made with the inverse scale, original "
                      "length/length: "
                      "sqrt(1 - ln(s)/ln(original length))",
        .fault.remedy = BY_LENGTHS),
    ROW(attention_factor_other, "sqrt(ln(seq_len)/ln(L))/A",
        .fault.rule = "the attention factor of longrope was made with seq_len in the place of "
                      "max_position_embeddings",
        .fault.remedy = BY_LENGTHS),
    ROW(amplitude, "sqrt(width)"),
    TIMES("1/sqrt(width)", ": 1/sqrt({b}), the scale of the softmax was folded in"),
    TIMES("width^-0.25", ": {b}^(-1/4), half of the scale of the softmax was folded in"),
    TIMES("1/ln(2)", ": log2(e), for a softmax of base 2"),
    TIMES("1/(ln(2)*sqrt(width))",
          ": log2(e)/sqrt({b}), the scale of a softmax of base 2 was folded in"),
    TIMES("1/0.9", ": 1/0.9, as dropout of 0.1 does to what it keeps",
          .fault.fitted = true), /* which has other reasons, too */
    TIMES("1/0.8", ": 1/0.8, as dropout of 0.2 does to what it keeps",
          .fault.fitted = true), /* which has other reasons, too */
};

static const pe_slip measured = {
    .fault = {.name = PE_NAME(amplitude), .rule = ALL, .fitted = true}};

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

/* A number of an equation, NAN where it is none. */
static double number_of(const pe_search *s, const sizes *of, const char *equation)
{
    return pe_equation_number(equation, terms, NULL, &s->claim.values, of);
}

/* The nearest number; the first one of those that are equal. */
static const pe_slip *find_row(const pe_search *s, const sizes *of, double times, double near)
{
    const pe_slip *best = &measured;
    for (size_t k = 0; k < PE_LEN(rows); k++) {
        const double number = number_of(s, of, rows[k].op), off = fabs(times / number - 1);
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
    sizes of = {.width = width_of(s), .attention = claimed, .is = is};
    of.length = number_of(s, &of, "original_max_position_embeddings");
    of.longest = number_of(s, &of, "max_position_embeddings");
    of.scale = number_of(s, &of, "factor == factor ? factor : longest/L");
    return of;
}

bool pe_amplitude_differs(const pe_search *s)
{
    const pe_reading *r = &s->measured->reading;
    return differs(s, r->amplitude, r->claimed_amplitude);
}

/* What waves were multiplied by, and which mistake that is: fault->fitted where it has no name. */
typedef struct amplitude {
    const pe_fault *fault; /* {a}: times, {b}: width */
    double times, width, claimed;
} amplitude;

static void set_gain(pe_guess *guess, const amplitude *is, double error)
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

static void try_row(pe_search *s, const pe_guess *from, const amplitude *is, double error,
                    const pe_attempt *list)
{
    pe_guess guess;
    if (!pe_attempts_did(s, pe_guess_copy(from, &guess, s->why)))
        return;
    set_gain(&guess, is, error);
    pe_attempts_in_order(s, &guess, list);
    pe_guess_free(&guess);
}

static void try_named(pe_search *s, pe_guess *guess)
{
    pe_attempts_in_order(s, guess, named_alone);
}

/* A number that has a name is known: elements of a narrow type tell it from others. Values give the
 * number, where a row of faults.h has it; else it multiplies waves. The measured one comes after it. */
void pe_amplitude_alone(pe_search *s, pe_guess *guess)
{
    const pe_reading *r = &s->measured->reading;
    const double times = r->amplitude / r->claimed_amplitude, near = slack(s);
    const sizes of = sizes_of(s, r->amplitude, r->claimed_amplitude);
    const pe_slip *nearest = find_row(s, &of, times, near);
    if (guess->n_faults >= PE_FAULTS_MAX)
        return;
    if (nearest != &measured) {
        const amplitude is = {&nearest->fault, number_of(s, &of, nearest->op), of.width,
                              of.attention};
        const double error = fmin(near, KNOWN);
        const pe_fault *fault = pe_faults_find(nearest->fault.name);
        if (fault != NULL)
            pe_attempts_with_fault(s, guess, fault, try_named);
        else
            try_row(s, guess, &is, error, named_alone);
        if (!pe_attempts_found(s))
            try_row(s, guess, &is, error, alone);
    }
    const amplitude is = {&measured.fault, times, of.width, of.attention};
    if ((nearest == &measured || near >= KNOWN) && !pe_attempts_found(s))
        try_row(s, guess, &is, near, alone);
}
