/* SPDX-License-Identifier: MIT */
/* rope_attention_scale.c - attention temperature: queries far out are scaled up. */
#include "encodings/rope/rope_params.h"
#include "exact/round.h"
#include "plan/plan.h"

#include <math.h>
#include <stdlib.h>

/* A logarithm in MPFR costs so many units: some microseconds. */
#define EVALUATION_WORK 512

enum { STEPS, LOG_LENGTH, LOG_RATIO };
static const char *const variants[] = {
    [STEPS] = "llama4", [LOG_LENGTH] = "qwen", [LOG_RATIO] = "inkling", NULL};

typedef struct scale {
    pe_positions positions;
    size_t variant;
    double beta, original, offset;
} scale;

/* What a value depends on: the steps, or the position and what is added to it. */
typedef struct element {
    const scale *of;
    double at, offset;
} element;

/* ln((at + offset) / divisor); the quotient is at least 1, and may be near it. */
static void log_quotient(const element *e, double divisor, mpfr_ptr out)
{
    mpfr_t quotient;
    mpfr_init2(quotient, mpfr_get_prec(out) + 128);
    mpfr_set_d(quotient, e->at, MPFR_RNDN);
    mpfr_add_d(quotient, quotient, e->offset, MPFR_RNDN);
    mpfr_div_d(quotient, quotient, divisor, MPFR_RNDN);
    mpfr_log(out, quotient, MPFR_RNDN);
    mpfr_clear(quotient);
}

static void eval(const void *context, size_t index PE_UNUSED, mpfr_ptr out)
{
    const element *e = context;
    if (e->of->variant == LOG_LENGTH) {
        mpfr_t whole;
        mpfr_init2(whole, mpfr_get_prec(out) + 8);
        mpfr_set_d(whole, e->of->original, MPFR_RNDN);
        mpfr_log(whole, whole, MPFR_RNDN);
        log_quotient(e, 1, out);
        mpfr_div(out, out, whole, MPFR_RNDN);
        mpfr_clear(whole);
        return;
    }
    if (e->of->variant == LOG_RATIO) {
        log_quotient(e, e->of->original, out);
    } else {
        mpfr_set_d(out, e->at, MPFR_RNDN);
        mpfr_log1p(out, out, MPFR_RNDN);
    }
    mpfr_mul_d(out, out, e->of->beta, MPFR_RNDN);
    mpfr_add_ui(out, out, 1, MPFR_RNDN);
}

/* floor((position + offset) / original) in real arithmetic. Rounding can only make the quotient too
 * large; then the remainder is negative. */
static double steps_at(const scale *state, double position)
{
    const double steps = floor((position + state->offset) / state->original);
    const double rest = fma(-steps, state->original, position);
    return rest < -state->offset ? steps - 1 : steps;
}

/* The element of a position; its value is 1 where `at` is 0. */
static element element_at(const scale *state, double position)
{
    if (state->variant == STEPS)
        return (element){state, steps_at(state, position), 0};
    const bool within = position <= state->original - state->offset;
    return (element){state, within ? 0 : position, state->offset};
}

static pe_status fill(const pe_plan *plan, const pe_region *region, void *out,
                      pe_problem *why PE_UNUSED)
{
    const scale *state = plan->state;
    const pe_dtype dtype = plan->tensors[region->tensor].dtype;
    unsigned char *to = out;
    double last = 0, value = 1;
    for (size_t u = 0; u < region->units; u++, to += pe_dtype_bytes(dtype)) {
        const element e = element_at(state, pe_positions_at(&state->positions, region->first + u));
        if (e.at != last) {
            last = e.at;
            value = last == 0 ? 1 : pe_exact_round(dtype, eval, &e, 0);
        }
        pe_dtype_store(dtype, value, to);
    }
    return PE_OK;
}

/* Of how many values a logarithm is made. Positions of one step that follow each other share one;
 * those of a list are looked at, since they may be in any order. */
static size_t logarithms(const scale *state, double span)
{
    size_t changes = 1;
    const pe_positions *positions = &state->positions;
    const double steps = state->variant == STEPS ? span / state->original + 2 : HUGE_VAL;
    if (positions->list == NULL)
        return steps < (double)positions->count ? (size_t)steps : positions->count;
    for (size_t i = 1; i < positions->count; i++)
        changes += element_at(state, pe_positions_at(positions, i)).at !=
                   element_at(state, pe_positions_at(positions, i - 1)).at;
    return changes;
}

static pe_status plan(pe_values *values, pe_plan *out, pe_problem *why)
{
    const pe_positions *positions = pe_values_positions(values, "positions");
    double least, most;
    pe_positions_bounds(positions, &least, &most);
    if (least < 0)
        return pe_fail(why, PE_INVALID_PARAMETER, "positions",
                       "positions must be at least 0, where attention begins, got %.17g", least);
    PE_TRY(pe_plan_begin(out, sizeof(scale), fill, why));
    scale *state = out->state;
    /* What a variant does not read is refused; beta is 0.1 and positions count from 0, or from
     * 1. */
    state->variant = pe_values_choice(values, "variant");
    state->original = (double)pe_values_int(values, "original_max_position_embeddings");
    if (state->variant == LOG_LENGTH && pe_values_present(values, "beta"))
        return pe_fail(why, PE_INVALID_PARAMETER, "beta",
                       "beta does not go with variant qwen, which has no such factor");
    if (state->variant == LOG_LENGTH && state->original < 2)
        return pe_fail(why, PE_INVALID_PARAMETER, "original_max_position_embeddings",
                       "original_max_position_embeddings must be at least 2 with variant qwen: its "
                       "logarithm is a divisor");
    if (state->variant != LOG_LENGTH && !pe_values_present(values, "beta"))
        pe_values_set_real(values, "beta", 0.1);
    if (!pe_values_present(values, "position_offset"))
        pe_values_set_int(values, "position_offset", state->variant == STEPS ? 0 : 1);
    state->beta = state->variant == LOG_LENGTH ? 0 : pe_values_real(values, "beta");
    state->offset = (double)pe_values_int(values, "position_offset");
    PE_TRY(pe_plan_positions(out, values, "positions", &state->positions, why));
    PE_TRY(pe_plan_add_tensor(out, "scale", pe_values_dtype(values),
                              &(pe_shape){1, {positions->count}}, 1, why));
    return pe_plan_set_work(
        out, 0, 1 + logarithms(state, most - least) * EVALUATION_WORK / (positions->count + 1),
        why);
}

static const pe_param own[] = {
    PE_PARAM("variant", CHOICE, .choices = variants,
             .help =
                 "llama4: in steps of the original length. qwen: the logarithm of the length, by "
                 "that of the original one (Qwen's use_logn_attn). inkling: by the logarithm of "
                 "the length over the original one. The last two are 1 up to the original length.",
             .example = "llama4"),
    PE_PARAM("beta", REAL, .optional = true, .min = 0, .max = 1000, .fallback_text = "0.1",
             .help = "The factor of the logarithm by which the scale grows. qwen has none.",
             .example = "0.1"),
    PE_PARAM("original_max_position_embeddings", INT, .min = 1, .max = PE_ROPE_LENGTH_MAX,
             .fallback = 16384, .unit = "tokens",
             .help =
                 "The scale grows in steps of this length, or from this length on. It is 1 before.",
             .example = "8192"),
    PE_PARAM("position_offset", INT, .optional = true, .min = 0, .max = 1,
             .fallback_text = "0; qwen, inkling: 1", .unit = "tokens",
             .help = "It is added to each position. Llama 4 counts from 1 here, and so needs 1.",
             .example = "0"),
    PE_PARAM_MODEL("ministral-3-3b-reasoning"),
};

/**
 * Multiplies the query at position p, after its rotation. Llama 4 counts positions from 1 here, with
 * original_max_position_embeddings its floor_scale, 8192, in the layers that do not rotate.
 *
 * Source  position_offset: Llama4TextAttention in models/llama4/modeling_llama4.py. qwen: logn_tensor
 *         of QWenAttention; Su 2021, "log n" attention. inkling: InklingAttention.
 * Shapes  [positions].
 * Accuracy  correctly rounded.
 */
const pe_resource pe_rope_attention_scale = {
    PE_NAMED("rope", "/attention-scale"),
    .kind = PE_TABLE,
    .summary = "The factor of the query at each position, by attention temperature.",
    .formula = "scale(p) = 1 + beta ln(1 + floor(n / N)), n = p + position_offset, N = "
               "original_max_position_embeddings; qwen: max(1, ln(n) / ln(N)); inkling: 1 + beta "
               "ln(max(1, n/N))",
    .labels = PE_LABELS({.axes = "positions", .value = "scale"}),
    .source = "Nakanishi 2025, arXiv:2501.19399, as get_llama_4_attn_scale in "
              "huggingface/transformers src/transformers/models/ministral3/modeling_ministral3.py "
              "at b4b5244c9c7cdb80d0aaafdb8f35244612788532; qwen: Qwen/Qwen-7B modeling_qwen.py; "
              "inkling: huggingface/transformers v5.23.0",
    .param_sets = {&pe_params_positions, PE_PARAMS(own), &pe_params_output_exact},
    .plan = plan,
};
