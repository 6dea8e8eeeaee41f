/* SPDX-License-Identifier: MIT */
/* amplitude.c - waves that are all larger or smaller than claimed, by one number. */
#include "verify/search/attempts.h"

#include <math.h>

#include "verify/mistakes/faults.h"
#include "verify/mistakes/sequence.h"
#include "verify/upload/geometry.h"

#define FEWEST  32      /* elements: of fewer any number explains too much */
#define DIFFERS 4e-3    /* relative: what two amplitudes must differ by */
#define KNOWN   0x1p-22 /* relative: what a number with a name may be off by, in float32 */

/* ---- numbers that people multiply by, {a}: equations of the claimed amplitude, x, and of the measured one,
 * y. {b} is the length of a vector ---- */

#define WIDTH   "(head_dim == head_dim ? head_dim : d_model == d_model ? d_model : columns)"
#define LENGTH  "original_max_position_embeddings"
#define LONGEST "max_position_embeddings"
#define SCALE   "(factor == factor ? factor : " LONGEST "/" LENGTH ")"
#define BY_LENGTHS                                                                                 \
    "take sqrt(1 + ln(s)/ln(original length)), s = max_position_embeddings/original length"
#define ALL            "all waves were multiplied by {a}"
#define ROW(NAME, ...) PE_ROW(NAME, .b = WIDTH, .a = __VA_ARGS__)
#define TIMES(OF, ...) ROW(amplitude, OF, .fault.rule = ALL __VA_ARGS__)

/* The factor of longrope tells the original length, which is a power of two: A^2 = ln(longest) /
 * ln(original). */
#define POWER "(log2(" LONGEST ")/y^2)"
#define OTHER_LENGTH                                                                               \
    "rope_type.longrope && abs(" POWER " - round(" POWER ")) < 0.01 ? "                            \
    "sqrt(log2(" LONGEST ")/round(" POWER "))/x : none"

static const pe_slip rows[] = {
    ROW(attention_factor_missing, "1/x"),
    ROW(attention_factor_squared, "x"),
    ROW(attention_factor_inverted, "1/x^2"),
    ROW(attention_factor_root, "1/sqrt(x)"),
    ROW(attention_factor_without_one, "rope_type.longrope ? none : (x - 1)/x"),
    ROW(attention_factor_of_softmax, "(0.1*mscale_all_dim*ln" SCALE " + 1)^2/x"),
    ROW(attention_factor_of_mscale, "(0.1*mscale*ln" SCALE " + 1)/x"),
    ROW(attention_factor_log10, "(0.1*log10" SCALE " + 1)/x"),
    ROW(attention_factor_log2, "(0.1*log2" SCALE " + 1)/x"),
    ROW(attention_factor_other, "(0.07*ln" SCALE " + 1)/x"),
    ROW(attention_factor_other, "(0.1*ln" SCALE " + 1)/x",
        .fault.rule = "the attention factor was that of yarn: 0.1 ln(factor) + 1"),
    ROW(attention_factor_other, "sqrt(1 + ln" SCALE "/ln(" LENGTH "))/x",
        .fault.rule =
            "the attention factor was that of longrope: sqrt(1 + ln(factor)/ln(original length))"),
    ROW(attention_factor_other, OTHER_LENGTH,
        .fault.rule = "the attention factor was that of longrope for another original length "
                      "(original_max_position_embeddings), a power of two"),
    ROW(attention_factor_other, "sqrt(1 + ln" SCALE "/ln(" LONGEST "))/x",
        .fault.rule = "the attention factor of longrope was made with ln(max_position_embeddings) "
                      "in the place "
                      "of ln(original length)",
        .fault.remedy = BY_LENGTHS),
    ROW(attention_factor_other, "sqrt(1 - ln" SCALE "/ln(" LENGTH "))/x",
        .fault.rule = "the attention factor of longrope was made with the inverse scale, original "
                      "length/length: "
                      "sqrt(1 - ln(s)/ln(original length))",
        .fault.remedy = BY_LENGTHS),
    ROW(attention_factor_other, "sqrt(ln(seq_len)/ln(" LENGTH "))/x",
        .fault.rule = "the attention factor of longrope was made with seq_len in the place of "
                      "max_position_embeddings",
        .fault.remedy = BY_LENGTHS),
    ROW(amplitude, "sqrt" WIDTH),
    TIMES("1/sqrt" WIDTH, ": 1/sqrt({b}), the scale of the softmax was folded in"),
    TIMES(WIDTH "^-0.25", ": {b}^(-1/4), half of the scale of the softmax was folded in"),
    TIMES("1/ln(2)", ": log2(e), for a softmax of base 2"),
    TIMES("1/(ln(2)*sqrt" WIDTH ")",
          ": log2(e)/sqrt({b}), the scale of a softmax of base 2 was folded in"),
    TIMES("1/0.9", ": 1/0.9, as dropout of 0.1 does to what it keeps",
          .fault.fitted = true), /* which has other reasons, too */
    TIMES("1/0.8", ": 1/0.8, as dropout of 0.2 does to what it keeps",
          .fault.fitted = true), /* which has other reasons, too */
};

static const pe_slip measured = ROW(amplitude, "y/x", .fault.rule = ALL, .fault.fitted = true);

/* Relative: what a product that was rounded to the upload's type is off by, and the measure. */
static double slack(const pe_search *s)
{
    return 2 * pe_upload_view_roundoff(s->whole) + 0x1p-46;
}

/* The row of the nearest number, the first one of those that are equal; it is read. */
static void find_row(pe_sequence *is, double near)
{
    const pe_slip *best = &measured;
    const double times = is->measured[0] / is->claimed[0];
    for (size_t k = 0; k < PE_LEN(rows); k++) {
        const bool makes_sense = pe_sequence_read(is, &rows[k]);
        const double off = fabs(times / is->a - 1);
        if (makes_sense && is->a != 1 && off <= near) { /* not of NAN */
            best = &rows[k];
            near = off - 1e-9;
        }
    }
    (void)!pe_sequence_read(is, best);
}

static bool differs(const pe_search *s, double is, double claimed)
{
    return s->whole->elements >= FEWEST && claimed > 0 && is > 0 &&
           fabs(is / claimed - 1) > DIFFERS + 4 * slack(s);
}

bool pe_amplitude_differs(const pe_search *s)
{
    const pe_reading *r = &s->measured->reading;
    return differs(s, r->amplitude, r->claimed_amplitude);
}

static void set_gain(pe_guess *guess, const pe_sequence *is, double error)
{
    const pe_fault *fault = &is->by->fault;
    guess->distortion.gain = is->a;
    guess->distortion.gain_error = error;
    guess->distortion.values_inexact = true;
    guess->fitted |= fault->fitted;
    pe_guess_tell(guess, fault, is->a, is->b);
    if (is->by == &measured && is->claimed[0] != 1)
        pe_buffer_format(&guess->rule, ": the attention factor was %.7g, not %.7g",
                         is->a * is->claimed[0], is->claimed[0]);
}

static pe_sequence sequence_of(const pe_search *s)
{
    const pe_reading *r = &s->measured->reading;
    return (pe_sequence){.n = 1,
                         .claimed = &r->claimed_amplitude,
                         .measured = &r->amplitude,
                         .columns = s->whole->width,
                         .values = &s->claim.values};
}

void pe_amplitude_tell(const pe_search *s, pe_guess *guess)
{
    pe_sequence is = sequence_of(s);
    find_row(&is, DIFFERS);
    set_gain(guess, &is, slack(s));
    guess->fitted = true;
}

/* Of a number that has a name: a fault behind it may hardly show. */
static void try_behind(pe_search *s, pe_guess *guess)
{
    if (!guess->fitted)
        pe_attempts_singles(s, guess);
    if (!guess->fitted && pe_attempts_go_on(s))
        pe_by_laws_named(s, guess);
}

static void try_alone(pe_search *s, pe_guess *guess)
{
    static const pe_attempt alone[] = {
        {.try = pe_attempts_try}, {.try = pe_by_elements_try}, {.try = try_behind}, {0}};
    pe_attempts_in_order(s, guess, alone);
}

static void try_row(pe_search *s, const pe_guess *from, const pe_sequence *is, double error)
{
    pe_guess guess;
    if (!pe_attempts_did(s, pe_guess_copy(from, &guess, s->why)))
        return;
    set_gain(&guess, is, error);
    try_alone(s, &guess);
    pe_guess_free(&guess);
}

/* A number that has a name is known: elements of a narrow type tell it from others. Values give the
 * number, where a row of faults.h has it; else it multiplies waves. The measured one comes after it. */
void pe_amplitude_alone(pe_search *s, pe_guess *guess)
{
    const double near = slack(s), error = fmin(near, KNOWN);
    pe_sequence is = sequence_of(s);
    if (guess->n_faults >= PE_FAULTS_MAX)
        return;
    find_row(&is, near);
    const bool named = is.by != &measured;
    const pe_fault *fault = named ? pe_faults_find(is.by->fault.name) : NULL;
    if (fault != NULL)
        pe_attempts_with_fault(s, guess, fault, try_alone);
    if (named && !pe_attempts_found(s))
        try_row(s, guess, &is, error);
    if (!(named && near < KNOWN) && !pe_attempts_found(s) && pe_sequence_read(&is, &measured))
        try_row(s, guess, &is, near);
}
