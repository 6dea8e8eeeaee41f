/* SPDX-License-Identifier: MIT */
/* alibi.c - the slopes of attention with linear biases. */
#include "encodings/relative/alibi.h"

#include <math.h>
#include <mpfr.h>
#include <stdlib.h>

#include "encodings/registry.h"
#include "exact/round.h"
#include "plan/plan.h"

enum { PRESS, FORMULA };

static const char *const variants[] = {[PRESS] = "press", [FORMULA] = "formula", NULL};

static const pe_param num_heads_params[] = {
    PE_PARAM("num_heads", INT, .required = true, .by_model = true, .min = 1,
             .max = PE_ALIBI_HEADS_MAX, .plan_work = PE_PLAN_WORK_POWER, .unit = "heads",
             .help = "Attention heads of the model.", .example = "8"),
};
const pe_param_set pe_alibi_num_heads_params = {num_heads_params, PE_LEN(num_heads_params)};

static const pe_param heads_params[] = {
    PE_PARAM("heads", POSITIONS, .optional = true, .integers_only = true,
             .fallback_text = "0:num_heads", .unit = "heads",
             .help = "The wanted heads, from 0: a:b, a:b:step, a number, or a list.",
             .example = "0:4"),
};
const pe_param_set pe_alibi_heads_params = {heads_params, PE_LEN(heads_params)};

static const pe_param slope_params[] = {
    /* Slopes of 1 - 2^-36 to 2^-512: what is left of a double's range holds any product. */
    PE_PARAM("alibi_bias_max", REAL, .min = 1e-6, .max = 512, .fallback = 8,
             .help = "The last slope is 2^-alibi_bias_max.", .example = "8"),
    PE_PARAM(
        "variant", CHOICE, .choices = variants,
        .help =
            "The slopes for a number of heads that is no power of two. press: every other slope of "
            "the next power of two is added. formula: the exponents are evenly spaced.",
        .example = "press"),
};
const pe_param_set pe_alibi_slope_params = {slope_params, PE_LEN(slope_params)};
const pe_param_set pe_alibi_bias_max_params = {slope_params, 1};

pe_alibi_formula pe_alibi_formula_of(const pe_values *values)
{
    return (pe_alibi_formula){(uint64_t)pe_values_int(values, "num_heads"),
                              pe_values_choice(values, "variant"),
                              pe_values_real(values, "alibi_bias_max")};
}

pe_alibi_slope pe_alibi_slope_of(const pe_alibi_formula *formula, size_t head)
{
    const size_t heads = (size_t)formula->num_heads;
    const double bias_max = formula->bias_max;
    size_t power = 1;
    while (power * 2 <= heads)
        power *= 2;
    if (formula->variant == FORMULA)
        return (pe_alibi_slope){bias_max, (double)(head + 1), (double)heads};
    if (head < power)
        return (pe_alibi_slope){bias_max, (double)(head + 1), (double)power};
    /* The first, third, fifth ... slope of twice as many heads. */
    return (pe_alibi_slope){bias_max, (double)(2 * (head - power) + 1), (double)(2 * power)};
}

/*
 * The exponent bias_max * num / den at out's precision, 128 bits or more; returns whether it is an
 * integer. bias_max is a multiple of 2^-72, num and den are below 2^14: the product is exact, and a
 * quotient that is no integer lies 2^-86 from the nearest, which rounding to 128 bits keeps.
 */
static bool exponent(const pe_alibi_slope *slope, mpfr_ptr out)
{
    mpfr_set_d(out, slope->bias_max, MPFR_RNDN);
    mpfr_mul_d(out, out, slope->num, MPFR_RNDN);
    mpfr_div_d(out, out, slope->den, MPFR_RNDN);
    return mpfr_integer_p(out) != 0;
}

typedef struct product {
    const pe_alibi_slope *slope;
    int64_t k;
} product;

static void eval_product(const void *context, size_t index PE_UNUSED, mpfr_ptr out)
{
    const product *p = context;
    /* slope * k at out's precision p, relative error below 2^(8-p); exact where that fits. */
    mpfr_t x;
    /* The exponent is below 2^9: its error costs the power as many bits. */
    mpfr_init2(x, mpfr_get_prec(out) + 128);
    (void)exponent(p->slope, x);
    mpfr_neg(x, x, MPFR_RNDN);
    mpfr_exp2(out, x, MPFR_RNDN);
    mpfr_mul_si(out, out, p->k, MPFR_RNDN);
    mpfr_clear(x);
}

/* 2^-x where x is an integer, else 0. */
static double power_of_two(const pe_alibi_slope *slope)
{
    mpfr_t x;
    mpfr_init2(x, 128);
    const double value = exponent(slope, x) ? ldexp(1, -(int)mpfr_get_si(x, MPFR_RNDN)) : 0;
    mpfr_clear(x);
    return value;
}

double pe_alibi_round(const pe_alibi_slope *slope, int64_t k, pe_dtype dtype)
{
    const product p = {slope, k};
    const double power = power_of_two(slope);
    if (power == 0)
        return pe_exact_round(dtype, eval_product, &p, 0);
    unsigned char element[8];
    pe_dtype_store(dtype, power * (double)k, element); /* the product is exact */
    return pe_dtype_load(dtype, element) + 0.0;
}

void pe_alibi_pair(const pe_alibi_slope *slope, double *hi, double *lo)
{
    const product p = {slope, 1};
    *hi = power_of_two(slope);
    *lo = 0;
    if (*hi == 0)
        pe_exact_pair(eval_product, &p, 0, hi, lo);
}

static pe_status fill(const pe_plan *plan, const pe_region *region, void *out,
                      pe_problem *why PE_UNUSED)
{
    const pe_alibi_slope *slopes = plan->state;
    const pe_dtype dtype = plan->tensors[region->tensor].dtype;
    const size_t bytes = pe_dtype_bytes(dtype);
    for (size_t u = 0; u < region->units; u++)
        pe_dtype_store(dtype, pe_alibi_round(&slopes[region->first + u], 1, dtype),
                       (unsigned char *)out + u * bytes);
    return PE_OK;
}

static pe_status plan_slopes(pe_values *values, pe_plan *out, pe_problem *why)
{
    const pe_alibi_formula formula = pe_alibi_formula_of(values);
    const size_t heads = (size_t)formula.num_heads;
    const pe_shape shape = {1, {heads}};
    PE_TRY(pe_plan_add_tensor(out, "slopes", pe_values_dtype(values), &shape, 1, why));
    PE_TRY(pe_plan_begin(out, heads * sizeof(pe_alibi_slope), fill, why));
    pe_alibi_slope *slopes = out->state;
    for (size_t h = 0; h < heads; h++)
        slopes[h] = pe_alibi_slope_of(&formula, h);
    return PE_OK;
}

const pe_resource pe_alibi_slopes = {
    PE_NAMED("alibi", "/slopes"),
    .kind = PE_TABLE,
    .summary = "The slopes by which the heads of a model bias attention.",
    .formula = "m_h = 2^(-alibi_bias_max h/H), h = 1..H; press, H no power of two: those of the "
               "largest power p below H, then 2^(-alibi_bias_max (2j - 1)/(2p)), j = 1..H-p",
    .labels = PE_LABELS({.axes = "head", .value = "slope"}),
    .source = PE_ALIBI_SOURCE,
    .param_sets = {&pe_params_model, &pe_alibi_num_heads_params, &pe_alibi_slope_params,
                   &pe_params_output_exact},
    .null_is_masked = true,
    .plan = plan_slopes,
};
