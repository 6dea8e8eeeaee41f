/* SPDX-License-Identifier: MIT */
/* alibi.c - the slopes of attention with linear biases, and the heads that an answer wants. */
#include "encodings/relative/alibi.h"

#include <math.h>
#include <mpfr.h>
#include <stddef.h>
#include <stdlib.h>

#include "encodings/registry.h"
#include "exact/round.h"
#include "kernels/kernels.h"
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

/* What slopes depend on. Plain data without padding. */
typedef struct formula {
    uint64_t num_heads, variant;
    double bias_max;
} formula;

static formula formula_of(const pe_values *values)
{
    return (formula){(uint64_t)pe_values_int(values, "num_heads"),
                     pe_values_choice(values, "variant"), pe_values_real(values, "alibi_bias_max")};
}

/* Of one head, 0 <= head < num_heads. */
static pe_alibi_slope slope_of(const formula *f, size_t head)
{
    const size_t heads = (size_t)f->num_heads;
    const double bias_max = f->bias_max;
    size_t power = 1;
    while (power * 2 <= heads)
        power *= 2;
    if (f->variant == FORMULA)
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

/* slope * k correctly rounded to dtype, as a double. */
static double round_product(const pe_alibi_slope *slope, int64_t k, pe_dtype dtype)
{
    const product p = {slope, k};
    const double power = power_of_two(slope);
    if (power == 0)
        return pe_exact_round(dtype, eval_product, &p, 0);
    unsigned char element[8];
    pe_dtype_store(dtype, power * (double)k, element); /* the product is exact */
    return pe_dtype_load(dtype, element) + 0.0;
}

static pe_status fill(const pe_plan *plan, const pe_region *region, void *out,
                      pe_problem *why PE_UNUSED)
{
    const pe_alibi_slope *slopes = plan->state;
    const pe_dtype dtype = plan->tensors[region->tensor].dtype;
    const size_t bytes = pe_dtype_bytes(dtype);
    for (size_t u = 0; u < region->units; u++)
        pe_dtype_store(dtype, round_product(&slopes[region->first + u], 1, dtype),
                       (unsigned char *)out + u * bytes);
    return PE_OK;
}

static pe_status plan_slopes(pe_values *values, pe_plan *out, pe_problem *why)
{
    const formula f = formula_of(values);
    const size_t heads = (size_t)f.num_heads;
    const pe_shape shape = {1, {heads}};
    PE_TRY(pe_plan_add_tensor(out, "slopes", pe_values_dtype(values), &shape, 1, why));
    PE_TRY(pe_plan_begin(out, heads * sizeof(pe_alibi_slope), fill, why));
    pe_alibi_slope *slopes = out->state;
    for (size_t h = 0; h < heads; h++)
        slopes[h] = slope_of(&f, h);
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

/* Elements whose doubts are listed at a time. */
#define BLOCK 1024

/* What the pair leaves open is done again with as many bits as it takes. */
void pe_alibi_ramp(const pe_alibi_head *head, pe_dtype dtype, int64_t first, int64_t step, size_t n,
                   unsigned char *out)
{
    uint32_t doubtful[BLOCK];
    const size_t bytes = pe_dtype_bytes(dtype);
    for (size_t at = 0, some; at < n; at += some) {
        some = n - at < BLOCK ? n - at : BLOCK;
        const int64_t k = first + (int64_t)at * step;
        const size_t listed = pe_kernels_get()->ramp(dtype, head->hi, head->lo, k, step, some,
                                                     out + at * bytes, doubtful);
        for (size_t i = 0; i < listed; i++)
            pe_dtype_store(dtype, round_product(&head->slope, k + doubtful[i] * step, dtype),
                           out + (at + doubtful[i]) * bytes);
    }
}

pe_status pe_alibi_heads_check(pe_values *values, pe_problem *why)
{
    const int64_t num_heads = pe_values_int(values, "num_heads");
    pe_values_set_range(values, "heads", 0, (size_t)num_heads);
    const pe_positions *heads = pe_values_positions(values, "heads");
    for (size_t i = 0; i < heads->count; i++) {
        const double h = pe_positions_at(heads, i);
        if (h < 0 || h >= (double)num_heads)
            return pe_fail(why, PE_INVALID_PARAMETER, "heads",
                           "heads must be from 0 to %lld, got %.17g", (long long)num_heads - 1, h);
    }
    return PE_OK;
}

/* ---- slopes ready to be multiplied, which requests share ---- */

typedef struct wanted {
    formula slopes;
    unsigned char head[PE_ALIBI_HEADS_MAX / 8]; /* a bit each */
} wanted;

static void make_heads(const void *of, void *out)
{
    const wanted *w = of;
    pe_alibi_head *head = out;
    for (size_t h = 0; h < w->slopes.num_heads; h++) {
        if ((w->head[h / 8] >> h % 8 & 1) == 0)
            continue;
        head[h].slope = slope_of(&w->slopes, h);
        const product p = {&head[h].slope, 1};
        head[h].hi = power_of_two(&head[h].slope);
        head[h].lo = 0;
        if (head[h].hi == 0)
            pe_exact_pair(eval_product, &p, 0, &head[h].hi, &head[h].lo);
    }
}

pe_status pe_alibi_heads_plan(const pe_values *values, pe_plan *plan, pe_alibi_heads *out,
                              pe_problem *why)
{
    wanted w = {.slopes = formula_of(values)};
    const size_t num_heads = (size_t)w.slopes.num_heads;
    pe_plan_owns(plan, &out->shared, pe_tables_unref);
    PE_TRY(pe_plan_positions(plan, values, "heads", &out->chosen, why));
    for (size_t i = 0; i < out->chosen.count; i++) {
        const size_t h = (size_t)pe_positions_at(&out->chosen, i);
        w.head[h / 8] |= (unsigned char)(1U << h % 8);
    }
    const pe_numbers_spec spec = {.bytes = num_heads * sizeof(pe_alibi_head),
                                  .make = make_heads,
                                  .formula = &w,
                                  .formula_bytes = offsetof(wanted, head) + (num_heads + 7) / 8};
    pe_status status = pe_tables_numbers(plan->tables, &spec, &out->shared, why);
    if (status == PE_OK)
        out->head = out->shared.data;
    return status;
}

const pe_alibi_head *pe_alibi_heads_at(const pe_alibi_heads *heads, size_t i)
{
    return &heads->head[(size_t)pe_positions_at(&heads->chosen, i)];
}

pe_status pe_alibi_heads_fit(const pe_alibi_heads *heads, pe_dtype dtype, size_t distance,
                             const char *where, pe_problem *why)
{
    for (size_t i = 0; i < heads->chosen.count; i++) {
        unsigned char element[8];
        pe_alibi_ramp(pe_alibi_heads_at(heads, i), dtype, (int64_t)distance, 1, 1, element);
        if (isinf(pe_dtype_load(dtype, element)))
            return pe_fail(why, PE_INVALID_PARAMETER, where,
                           "the bias at distance %zu overflows %s, whose largest number is %.9g",
                           distance, pe_dtype_name(dtype), pe_dtype_max(dtype));
    }
    return PE_OK;
}
