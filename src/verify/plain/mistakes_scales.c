/* SPDX-License-Identifier: MIT */
/* mistakes_scales.c - scales by position: those of xPos, and those of attention. */
#include <math.h>
#include <string.h>

#include "verify/plain/plain_slips.h"

/* ---- xPos: zeta^((p - center)/scale_base), zeta = (2i/d + 0.4)/1.4 ---- */

static double zeta_of(const pe_slip *p, double pair, double gamma)
{
    return (pair / (double)p->columns + gamma) / (1 + gamma);
}

static double pair_of(const pe_slip *p, size_t e)
{
    return (double)(e % p->columns);
}

/* (p - center)/scale_base, as the scale of pair 0 tells it. */
static double exponent_of(const pe_slip *p, size_t e)
{
    return log(p->claimed[e / p->columns * p->columns]) / log(zeta_of(p, 0, 0.4));
}

/* Scales are 1 at most where p - center has no sign. */
static double not_above_one(const pe_slip *p, size_t e)
{
    return fmin(p->claimed[e], 1 / p->claimed[e]);
}

/* Of pair 0 zeta is gamma/(1 + gamma). */
static bool solve_gamma(pe_slip *p)
{
    size_t e = 0;
    for (size_t row = 0; row < p->n; row += p->columns)
        e = fabs(exponent_of(p, row)) > fabs(exponent_of(p, e)) ? row : e;
    const double zeta = pow(p->measured[e], 1 / exponent_of(p, e));
    p->a = round(100 * zeta / (1 - zeta)) / 100;
    p->b = 0.4;
    return p->a >= 0 && isfinite(p->a) && p->a != p->b;
}

static double with_gamma(const pe_slip *p, size_t e)
{
    return pow(zeta_of(p, pair_of(p, e), p->a), exponent_of(p, e));
}

/* value: what zeta is multiplied by. */
static double with_zeta_times(const pe_slip *p, size_t e)
{
    return pow(p->a * zeta_of(p, pair_of(p, e), 0.4), exponent_of(p, e));
}

/* value: times the pair, and_value: places later. */
static double with_pair(const pe_slip *p, size_t e)
{
    const double pair = p->by->fault.value * pair_of(p, e) + p->by->fault.and_value;
    return pow(zeta_of(p, pair, 0.4), exponent_of(p, e));
}

/* Of an exponent that was read, a whole one may be just below. value: toward 0. */
static double with_whole_exponent(const pe_slip *p, size_t e)
{
    const double exponent = exponent_of(p, e);
    const double whole = p->by->fault.value != 0 ? trunc(exponent + copysign(0x1p-30, exponent))
                                                 : floor(exponent + 0x1p-30);
    return pow(zeta_of(p, pair_of(p, e), 0.4), whole);
}

static double pairs_reversed(const pe_slip *p, size_t e)
{
    return p->claimed[e + p->columns - 1 - 2 * (e % p->columns)];
}

/* Cosines and sines times a power of the scale; all tensors have as many elements. */
static double with_scale(const pe_slip *p, size_t e)
{
    const pe_upload_view *view = p->of->view;
    const size_t own = pe_upload_view_tensor(view, e);
    size_t u = 0;
    while (u < view->n_tensors && strcmp(view->claim->uploads[u].name, "scale") != 0)
        u++;
    const size_t at = u < view->n_tensors ? view->tensor_at[u] + e - view->tensor_at[own] : p->n;
    return u == own || at >= p->n ? p->claimed[e] : p->claimed[e] * pow(p->claimed[at], p->a);
}

/* ---- attention: 1 + beta ln(1 + floor(n/N)), n = p + position_offset ---- */

static double steps_at(const pe_slip *p, size_t e)
{
    return (pe_slip_position(p, e) + pe_slip_number(p, "position_offset")) /
           pe_slip_number(p, "original_max_position_embeddings");
}

static double scale_of(const pe_slip *p, double steps)
{
    return 1 + pe_slip_number(p, "beta") * log1p(steps);
}

/* A number of few bits says little, and one alone. */
static bool is_llama4(pe_slip *p)
{
    p->fitted = !pe_numbers_change(p->of, p->of->got, p->of->roundoff > 0x1p-12 ? 4 : 1);
    return pe_slip_has(p, "variant", "llama4");
}

static bool is_inkling(pe_slip *p)
{
    return pe_slip_has(p, "variant", "inkling");
}

static bool is_not_llama4(pe_slip *p)
{
    return !pe_slip_has(p, "variant", "llama4");
}

static bool has_beta(pe_slip *p)
{
    return !pe_slip_has(p, "variant", "qwen");
}

/* value: what the logarithm is divided by. */
static double over_logarithm(const pe_slip *p, size_t e)
{
    return 1 + (p->claimed[e] - 1) / log(p->a);
}

static double not_rounded(const pe_slip *p, size_t e)
{
    return scale_of(p, steps_at(p, e));
}

static double rounded_up(const pe_slip *p, size_t e)
{
    return scale_of(p, ceil(steps_at(p, e)));
}

static double rounded_to_nearest(const pe_slip *p, size_t e)
{
    return scale_of(p, rint(steps_at(p, e)));
}

static double of_one_less(const pe_slip *p, size_t e)
{
    return scale_of(p, fmax(floor(steps_at(p, e)) - 1, 0));
}

static double without_logarithm(const pe_slip *p, size_t e)
{
    return 1 + pe_slip_number(p, "beta") * floor(steps_at(p, e));
}

/* Those below 1, too, of qwen and of inkling. */
static double not_limited(const pe_slip *p, size_t e)
{
    const double steps = log(steps_at(p, e));
    return !pe_slip_has(p, "variant", "qwen")
               ? 1 + pe_slip_number(p, "beta") * steps
               : 1 + steps / log(pe_slip_number(p, "original_max_position_embeddings"));
}

/* ---- the rows ---- */

#define XPOS      &pe_slip_values, "rope/xpos/table", "scale"
#define APPLIED   &pe_slip_values, "rope/xpos/table", NULL
#define ATTENTION &pe_slip_values, "rope/attention-scale", NULL

static const pe_plain_mistake rows[] = {
    PE_SLIP(xpos_reciprocal, XPOS, NULL, pe_slip_power, .fault.value = -1),
    PE_SLIP(xpos_absolute, XPOS, NULL, not_above_one),
    PE_SLIP(xpos_undivided, XPOS, NULL, with_zeta_times, .fault.value = 1.4),
    PE_SLIP(xpos_floored, XPOS, NULL, with_whole_exponent),
    PE_SLIP(xpos_floored, XPOS, NULL, with_whole_exponent,
            .fault.rule = "exponents were cut to whole numbers, toward 0: an integer division",
            .fault.value = 1),
    PE_SLIP(xpos_missing, XPOS, NULL, pe_slip_constant, .fault.value = 1),
    PE_SLIP(xpos_gamma, XPOS, solve_gamma, with_gamma),
    PE_SLIP(xpos_index, XPOS, NULL, with_pair, .fault.value = 1, .fault.and_value = 1),
    PE_SLIP(xpos_exponent, XPOS, NULL, with_pair, .fault.value = 0.5),
    PE_SLIP(xpos_reversed, XPOS, NULL, pairs_reversed),
    PE_SLIP(xpos_applied, APPLIED, NULL, with_scale, .fault.value = 1),
    PE_SLIP(
        xpos_applied, APPLIED, NULL, with_scale,
        .fault.rule =
            "cosines and sines were divided by the scale: that of keys was applied to them, too",
        .fault.value = -1),
    PE_SLIP(scale_missing, ATTENTION, NULL, pe_slip_constant,
            .fault.rule = "every scale is 1: what is claimed was not applied",
            .fault.remedy = "multiply queries by the scale of their position", .fault.value = 1),
    PE_SLIP(scale_log2, ATTENTION, has_beta, over_logarithm, .fault.value = 2),
    PE_SLIP(scale_log10, ATTENTION, has_beta, over_logarithm, .fault.value = 10),
    PE_SLIP(scale_linear, ATTENTION, is_llama4, without_logarithm),
    PE_SLIP(scale_of_steps, ATTENTION, is_llama4, of_one_less),
    PE_SLIP(scale_log1p, ATTENTION, is_inkling, not_rounded),
    PE_SLIP(scale_unfloored, ATTENTION, is_llama4, not_rounded),
    PE_SLIP(scale_unfloored, ATTENTION, is_llama4, rounded_up,
            .fault.rule = "positions over the original length were rounded up: ceil for floor"),
    PE_SLIP(scale_unfloored, ATTENTION, is_llama4, rounded_to_nearest,
            .fault.rule =
                "positions over the original length were rounded to the nearest, not down"),
    PE_SLIP(scale_unlimited, ATTENTION, is_not_llama4, not_limited),
    PE_SLIP(scale_alone, ATTENTION, has_beta, pe_slip_plus, .fault.value = -1),
    PE_SLIP(scale_squared, ATTENTION, NULL, pe_slip_power, .fault.value = 2),
    PE_SLIP(scale_root, ATTENTION, NULL, pe_slip_power, .fault.value = 0.5),
    PE_SLIP(scale_reciprocal, ATTENTION, NULL, pe_slip_power, .fault.value = -1),
};
const pe_plain_mistakes pe_mistakes_of_scales = {rows, PE_LEN(rows)};
