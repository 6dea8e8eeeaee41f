/* SPDX-License-Identifier: MIT */
/* longrope.c - LongRoPE: a divisor for each pair, found by search. */
#include "encodings/rope/types/rope_types.h"
#include "exact/round.h"
#include "plan/plan.h"

#include <math.h>

enum { GUARD = 64 };

static void scale(const void *formula, size_t i, mpfr_ptr theta)
{
    const pe_rope_formula *f = formula;
    mpfr_div_d(theta, theta, f->list[i], MPFR_RNDN);
}

/* The reference takes 1/(divisor * p), p = theta^(2i/d). */
static float scale32(const void *formula, size_t i, float inv PE_UNUSED)
{
    const pe_rope_formula *f = formula;
    const float p = pe_exact_powf((float)f->theta, (float)(2 * i) / (float)f->dim);
    const float product = (float)f->list[i] * p;
    return 1.0F / product;
}

static void amplitude(const void *formula, mpfr_ptr out)
{
    const pe_rope_formula *f = formula;
    if (pe_rope_has(f, PE_ROPE_ATTENTION_FACTOR)) {
        mpfr_set_d(out, f->key[PE_ROPE_ATTENTION_FACTOR], MPFR_RNDN);
    } else {
        /* sqrt(1 + ln(s) / ln(original)), s = factor, or else max_position_embeddings / original; 1
         * for s <= 1 */
        mpfr_t log_original;
        mpfr_init2(log_original, mpfr_get_prec(out) + GUARD);
        mpfr_t s;
        mpfr_init2(s, mpfr_get_prec(out) + GUARD);
        if (pe_rope_has(f, PE_ROPE_FACTOR)) {
            mpfr_set_d(s, f->key[PE_ROPE_FACTOR], MPFR_RNDN);
        } else {
            mpfr_set_d(s, f->key[PE_ROPE_MAX_POSITIONS], MPFR_RNDN);
            mpfr_div_d(s, s, f->key[PE_ROPE_ORIGINAL], MPFR_RNDN);
        }
        mpfr_set_ui(out, 1, MPFR_RNDN);
        if (mpfr_cmp_ui(s, 1) > 0) {
            mpfr_log(s, s, MPFR_RNDN);
            mpfr_set_d(log_original, f->key[PE_ROPE_ORIGINAL], MPFR_RNDN);
            mpfr_log(log_original, log_original, MPFR_RNDN);
            mpfr_div(s, s, log_original, MPFR_RNDN);
            mpfr_add_ui(s, s, 1, MPFR_RNDN);
            mpfr_sqrt(out, s, MPFR_RNDN);
        }
        mpfr_clears(s, log_original, (mpfr_ptr)0);
    }
}

/* The same in float64, step by step. */
static double amplitude32(const pe_rope_formula *f)
{
    const double original = f->key[PE_ROPE_ORIGINAL];
    const double factor = pe_rope_has(f, PE_ROPE_FACTOR) ? f->key[PE_ROPE_FACTOR]
                                                         : f->key[PE_ROPE_MAX_POSITIONS] / original;
    if (pe_rope_has(f, PE_ROPE_ATTENTION_FACTOR))
        return f->key[PE_ROPE_ATTENTION_FACTOR];
    const double share = pe_exact_log(factor) / pe_exact_log(original);
    return factor <= 1 ? 1 : sqrt(1 + share);
}

static pe_status check(const pe_values *values, pe_rope_formula *formula, pe_problem *why)
{
    if (pe_rope_has(formula, PE_ROPE_ATTENTION_FACTOR))
        return PE_OK;
    if (!pe_rope_has(formula, PE_ROPE_FACTOR) && !pe_rope_has(formula, PE_ROPE_MAX_POSITIONS))
        return pe_fail(why, PE_MISSING_PARAMETER, "max_position_embeddings",
                       "rope_type longrope needs max_position_embeddings, factor or "
                       "attention_factor for its attention factor");
    if (formula->key[PE_ROPE_ORIGINAL] < 2)
        return pe_values_invalid(values, "original_max_position_embeddings", why,
                                 "original_max_position_embeddings must be at least 2 where the "
                                 "attention factor divides by its logarithm, got 1");
    return PE_OK;
}

/* Which set of divisors holds, and the length up to which it is the short one. */
static void add_scalars(const pe_rope_formula *formula, pe_plan *plan)
{
    pe_plan_add_text(plan, "selected", pe_rope_beyond(formula) ? "long" : "short");
    pe_plan_add_scalar(plan, "original_max_position_embeddings", formula->key[PE_ROPE_ORIGINAL]);
}

/* seq_len, not the positions, chooses between the two lists. */
static void warn_positions(const pe_rope_formula *f, const pe_positions *positions, pe_plan *plan)
{
    const double original = f->key[PE_ROPE_ORIGINAL];
    double least, most;
    if (pe_rope_beyond(f))
        return;
    pe_positions_bounds(positions, &least, &most);
    if (most >= original)
        pe_plan_warn(plan,
                     "position %.0f lies beyond original_max_position_embeddings, but seq_len says "
                     "that the sequence does not: frequencies are those of short_factor",
                     most);
}

/**
 * Source  Ding et al. 2024, arXiv:2402.13753, as _compute_longrope_parameters in
 *         huggingface/transformers at b4b5244c does it: short_factor up to the original context,
 *         long_factor beyond; an attention factor for both.
 */
const pe_rope_type pe_rope_longrope = {
    .name = "longrope",
    .reads = PE_ROPE_BIT(PE_ROPE_FACTOR) | PE_ROPE_BIT(PE_ROPE_MAX_POSITIONS) |
             PE_ROPE_BIT(PE_ROPE_SEQ_LEN) | PE_ROPE_BIT(PE_ROPE_ORIGINAL) |
             PE_ROPE_BIT(PE_ROPE_ATTENTION_FACTOR) | PE_ROPE_BIT(PE_ROPE_SHORT_FACTOR) |
             PE_ROPE_BIT(PE_ROPE_LONG_FACTOR),
    .needs = PE_ROPE_BIT(PE_ROPE_SHORT_FACTOR) | PE_ROPE_BIT(PE_ROPE_LONG_FACTOR),
    .check = check,
    .scale = scale,
    .scale32 = scale32,
    .amplitude = amplitude,
    .amplitude32 = amplitude32,
    .add_scalars = add_scalars,
    .warn_positions = warn_positions,
};
