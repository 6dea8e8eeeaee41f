/* SPDX-License-Identifier: MIT */
/* formula_scales.c - scales of xPos and of attention with a mistake in them. */
#include "verify/formula.h"

#include <math.h>
#include <string.h>

/* ---- scales of xPos: zeta^((p - center)/scale_base), zeta = (2i/d + 0.4)/1.4 ---- */

static double xpos_reciprocal(const pe_formula *f, size_t e, double claimed)
{
    (void)f;
    (void)e;
    return 1 / claimed;
}

/* Scales are 1 at most where p - center has no sign. */
static double xpos_absolute(const pe_formula *f, size_t e, double claimed)
{
    (void)f;
    (void)e;
    return fmin(claimed, 1 / claimed);
}

static double xpos_missing(const pe_formula *f, size_t e, double claimed)
{
    (void)f;
    (void)e;
    (void)claimed;
    return 1;
}

/* The logarithm of what one position more multiplies the scale of a pair by. */
static double xpos_step(const pe_formula *f, size_t pair,
                        double (*number)(const pe_formula *, size_t))
{
    const size_t last = f->end - f->first - f->columns;
    return log(number(f, last + pair) / number(f, pair)) /
           (pe_formula_position(f, last) - pe_formula_position(f, 0));
}

/* Whatever the center is. */
static double xpos_read_base(const pe_formula *f, double *b)
{
    *b = pe_formula_number(f, "scale_base");
    const double a =
        round(*b * xpos_step(f, 0, pe_formula_claimed) / xpos_step(f, 0, pe_formula_got));
    return a > 0 && a != *b ? a : nan("");
}

static double xpos_base(const pe_formula *f, size_t e, double claimed)
{
    (void)claimed; /* those of the finding's own scale_base */
    return pow(pe_formula_claimed(f, e), pe_formula_number(f, "scale_base") / f->a);
}

/* Of a cosine or sine; all tensors have as many elements. A row's value is the power. */
static double xpos_applied(const pe_formula *f, size_t e, double claimed)
{
    const pe_upload_view *view = f->of->view;
    const size_t own = pe_upload_view_tensor(view, e);
    size_t u = 0;
    while (u < view->n_tensors && strcmp(view->claim->uploads[u].name, "scale") != 0)
        u++;
    const size_t at = u < view->n_tensors ? view->tensor_at[u] + e - view->tensor_at[own] : e;
    return u == own || u == view->n_tensors || at >= f->of->elements
               ? claimed
               : claimed * pow(f->of->claimed[at], f->by->fault.value);
}

static double xpos_zeta(const pe_formula *f, size_t e, double gamma)
{
    return (2 * (double)(e % f->columns) / (2 * (double)f->columns) + gamma) / (1 + gamma);
}

/* (p - center)/scale_base, as the scale of pair 0 tells it. */
static double xpos_exponent(const pe_formula *f, size_t e)
{
    return log(pe_formula_claimed(f, e / f->columns * f->columns)) / log(xpos_zeta(f, 0, 0.4));
}

static double xpos_read_center(const pe_formula *f, double *b)
{
    *b = pe_formula_number(f, "center");
    const double a = round(pe_formula_position(f, 0) -
                           log(pe_formula_got(f, 0)) / xpos_step(f, 0, pe_formula_claimed));
    return isfinite(a) && a != *b ? a : nan("");
}

static double xpos_center(const pe_formula *f, size_t e, double claimed)
{
    (void)claimed;
    return exp(xpos_step(f, e % f->columns, pe_formula_claimed) *
               (pe_formula_position(f, e) - f->a));
}

/* Of pair 0 zeta is gamma/(1 + gamma). */
static double xpos_read_gamma(const pe_formula *f, double *b)
{
    const size_t e = pe_formula_farthest(f, 1) / f->columns * f->columns;
    const double zeta = pow(pe_formula_got(f, e), 1 / xpos_exponent(f, e));
    const double a = round(100 * zeta / (1 - zeta)) / 100;
    *b = 0.4;
    return a >= 0 && isfinite(a) && a != 0.4 ? a : nan("");
}

static double xpos_gamma(const pe_formula *f, size_t e, double claimed)
{
    (void)claimed;
    return pow(xpos_zeta(f, e, f->a), xpos_exponent(f, e));
}

static double xpos_not_divided(const pe_formula *f, size_t e, double claimed)
{
    (void)claimed;
    return pow(1.4 * xpos_zeta(f, e, 0.4), xpos_exponent(f, e));
}

/* Of an exponent that was read, a whole one may be just below. */
static double xpos_floored(const pe_formula *f, size_t e, double claimed)
{
    (void)claimed;
    return pow(xpos_zeta(f, e, 0.4), floor(xpos_exponent(f, e) + 0x1p-30));
}

/* Where rounding down and cutting differ. */
static double xpos_is_before(const pe_formula *f, double *b)
{
    (void)b;
    return xpos_exponent(f, 0) < 0 ? 0 : nan("");
}

static double xpos_truncated(const pe_formula *f, size_t e, double claimed)
{
    (void)claimed;
    const double exponent = xpos_exponent(f, e);
    return pow(xpos_zeta(f, e, 0.4), trunc(exponent + copysign(0x1p-30, exponent)));
}

static double xpos_later(const pe_formula *f, size_t e, double claimed)
{
    (void)claimed;
    const double zeta = ((double)(e % f->columns + 1) / (double)f->columns + 0.4) / 1.4;
    return pow(zeta, xpos_exponent(f, e));
}

static double xpos_half(const pe_formula *f, size_t e, double claimed)
{
    (void)claimed;
    const double zeta = ((double)(e % f->columns) / (2 * (double)f->columns) + 0.4) / 1.4;
    return pow(zeta, xpos_exponent(f, e));
}

static double xpos_reversed(const pe_formula *f, size_t e, double claimed)
{
    (void)claimed;
    return pe_formula_claimed(f, e + f->columns - 1 - 2 * (e % f->columns));
}

/* ---- the attention scale: 1 + beta ln(1 + floor(n/N)), n = p + position_offset ---- */

static bool has_variant(const pe_formula *f, const char *name)
{
    return strcmp(pe_geometry_choice_text(pe_formula_values(f), "variant"), name) == 0;
}

/* Rows that read nothing, of one variant. A number of few bits says little, and one alone. */
static double of_llama4(const pe_formula *f, double *b)
{
    (void)b;
    *f->fitted = !pe_numbers_change(f->of, f->of->got, f->of->roundoff > 0x1p-12 ? 4 : 1);
    return has_variant(f, "llama4") ? 0 : nan("");
}

static double of_inkling(const pe_formula *f, double *b)
{
    (void)b;
    return has_variant(f, "inkling") ? 0 : nan("");
}

static double not_of_llama4(const pe_formula *f, double *b)
{
    (void)b;
    return has_variant(f, "llama4") ? nan("") : 0;
}

static double of_logarithm(const pe_formula *f, double *b)
{
    (void)b;
    return has_variant(f, "qwen") ? nan("") : 0;
}

static double scale_length(const pe_formula *f)
{
    return pe_formula_number(f, "original_max_position_embeddings");
}

/* Of fractions of a step, too. */
static double scale_steps(const pe_formula *f, size_t e)
{
    return (pe_formula_position(f, e) + pe_formula_number(f, "position_offset")) / scale_length(f);
}

static double scale_of(const pe_formula *f, double steps)
{
    return 1 + pe_formula_number(f, "beta") * log1p(steps);
}

/* A logarithm of another base. */
static double scale_logarithm(const pe_formula *f, size_t e, double claimed)
{
    (void)e;
    return 1 + (claimed - 1) / log(f->by->fault.value);
}

static double scale_missing(const pe_formula *f, size_t e, double claimed)
{
    (void)f;
    (void)e;
    (void)claimed;
    return 1;
}

static double scale_alone(const pe_formula *f, size_t e, double claimed)
{
    (void)f;
    (void)e;
    return claimed - 1;
}

static double scale_unfloored(const pe_formula *f, size_t e, double claimed)
{
    (void)claimed;
    return scale_of(f, scale_steps(f, e));
}

static double scale_ceiled(const pe_formula *f, size_t e, double claimed)
{
    (void)claimed;
    return scale_of(f, ceil(scale_steps(f, e)));
}

static double scale_rounded(const pe_formula *f, size_t e, double claimed)
{
    (void)claimed;
    return scale_of(f, rint(scale_steps(f, e)));
}

static double scale_of_steps(const pe_formula *f, size_t e, double claimed)
{
    (void)claimed;
    return scale_of(f, fmax(floor(scale_steps(f, e)) - 1, 0));
}

static double scale_linear(const pe_formula *f, size_t e, double claimed)
{
    (void)claimed;
    return 1 + pe_formula_number(f, "beta") * floor(scale_steps(f, e));
}

/* Those below 1, too, of qwen and of inkling. */
static double scale_unlimited(const pe_formula *f, size_t e, double claimed)
{
    (void)claimed;
    const double steps = log(scale_steps(f, e));
    return has_variant(f, "qwen") ? 1 + steps / log(scale_length(f))
                                  : 1 + pe_formula_number(f, "beta") * steps;
}

static double scale_power(const pe_formula *f, size_t e, double claimed)
{
    (void)e;
    return pow(claimed, f->by->fault.value);
}

/* Of beta as a person would have written it. */
static double scale_read_beta(const pe_formula *f, double *b)
{
    const size_t e = pe_formula_farthest(f, 1);
    *b = pe_formula_number(f, "beta");
    const double read = *b * (pe_formula_got(f, e) - 1) / (pe_formula_claimed(f, e) - 1);
    const double unit = pow(10, floor(log10(fabs(read))) - 1), a = round(read / unit) * unit;
    *f->fitted = f->of->roundoff > 0x1p-20 || !pe_numbers_change(f->of, f->of->claimed, 4);
    return isfinite(a) && a > 0 && !pe_numbers_is_near(f->of, a, *b) ? a : nan("");
}

static double scale_beta(const pe_formula *f, size_t e, double claimed)
{
    (void)claimed; /* those of the finding's own beta */
    return 1 + (pe_formula_claimed(f, e) - 1) * f->a / pe_formula_number(f, "beta");
}

/* Lengths by which all positions have as many steps as their scales tell: from a to b. One number
 * of steps, or two, may have come otherwise. */
static double scale_read_length(const pe_formula *f, double *b)
{
    const double length = scale_length(f), beta = pe_formula_number(f, "beta");
    const double offset = pe_formula_number(f, "position_offset");
    const size_t n = has_variant(f, "llama4") ? f->end - f->first : 0;
    double low = 0, fewest = HUGE_VAL, most = 0;
    *b = HUGE_VAL;
    for (size_t e = 0; e < n && low <= *b; e++) {
        const double at = pe_formula_position(f, e) + offset;
        const double steps = round(expm1((pe_formula_got(f, e) - 1) / beta));
        low = fmax(low, floor(at / (steps + 1)) + 1);
        *b = fmin(*b, floor(at / steps));
        fewest = fmin(fewest, steps);
        most = fmax(most, steps);
    }
    *f->fitted = most < fewest + 2;
    const bool told = isfinite(*b) && low <= *b && (!*f->fitted || *b > 1.1 * low);
    return told && (length < low || length > *b) ? low : nan("");
}

static double scale_other_length(const pe_formula *f, size_t e, double claimed)
{
    (void)claimed;
    return scale_of(f, floor(scale_steps(f, e) * scale_length(f) / f->a));
}

/* ---- the rows ---- */

#define XPOS      "rope/xpos/table", "scale"
#define ATTENTION "rope/attention-scale", NULL
#define ZETA      "take zeta of pair i as (2i/d + 0.4)/1.4"
#define EXPONENT  "divide p - center by scale_base in floating point"
#define STEPS     "log(1 + floor(n/N)) of n = position + position_offset, N the original length"
#define FLOOR     "take floor(position / original_max_position_embeddings)"

const pe_formula_row pe_formula_scales[] = {
    {XPOS,
     {"xpos_reciprocal",
      "scales are the reciprocal ones: those of keys for queries, or the inverse",
      .remedy = "multiply queries by the scale, divide keys by it"},
     NULL,
     xpos_reciprocal},
    {XPOS,
     {"xpos_absolute",
      "the distance from the center has no sign: exponents are |p - center|/scale_base",
      .remedy = "take p - center"},
     NULL,
     xpos_absolute},
    {XPOS,
     {"xpos_undivided", "zeta was 2i/d + 0.4: it was not divided by 1.4", .remedy = ZETA},
     NULL,
     xpos_not_divided},
    {XPOS,
     {"xpos_floored",
      "the exponents (p - center)/scale_base were rounded down to whole numbers: an integer "
      "division (//)",
      .remedy = EXPONENT},
     NULL,
     xpos_floored},
    {XPOS,
     {"xpos_floored",
      "the exponents (p - center)/scale_base were cut to whole numbers, toward 0: an integer "
      "division",
      .remedy = EXPONENT},
     xpos_is_before,
     xpos_truncated},
    {XPOS,
     {"xpos_missing", "the scale is missing: it is 1 everywhere, as without xPos",
      .remedy = "apply the scales of xPos"},
     NULL,
     xpos_missing},
    {XPOS,
     {"xpos_center", "the center of the scales was position {a}, not {b}",
      .remedy = "count positions of the scale from the center"},
     xpos_read_center,
     xpos_center},
    {XPOS,
     {"xpos_scale_base", "scale_base was {a}, not {b}", .param = "scale_base",
      .remedy = "set scale_base as claimed"},
     xpos_read_base,
     xpos_base},
    {XPOS,
     {"xpos_gamma", "gamma of zeta, (2i/d + gamma)/(1 + gamma), was {a}, not {b}", .remedy = ZETA},
     xpos_read_gamma,
     xpos_gamma},
    {XPOS,
     {"xpos_index", "the index of zeta is one later: pair i has the scale of pair i + 1",
      .remedy = ZETA},
     NULL,
     xpos_later},
    {XPOS,
     {"xpos_exponent", "zeta was made of i/d, half of 2i/d", .remedy = ZETA},
     NULL,
     xpos_half},
    {XPOS,
     {"xpos_reversed", "scales of the pairs are in reverse order: zeta grows from the last pair on",
      .remedy = ZETA},
     NULL,
     xpos_reversed},
    {"rope/xpos/table",
     NULL,
     {"xpos_applied", "cosines and sines were multiplied by the scale: it was applied twice",
      .value = 1, .remedy = "keep the scale apart, or apply it once"},
     NULL,
     xpos_applied},
    {"rope/xpos/table",
     NULL,
     {"xpos_applied",
      "cosines and sines were divided by the scale: that of keys was applied to them, too",
      .value = -1, .remedy = "keep the scale apart, or apply it once"},
     NULL,
     xpos_applied},
    {ATTENTION,
     {"scale_missing", "every scale is 1: what is claimed was not applied",
      .remedy = "multiply queries by the scale of their position"},
     NULL,
     scale_missing},
    {ATTENTION,
     {"scale_log2", "the logarithm of base 2 was taken, not the natural one: log2 for log",
      .value = 2, .remedy = "take the natural logarithm"},
     of_logarithm,
     scale_logarithm},
    {ATTENTION,
     {"scale_log10", "the logarithm of base 10 was taken, not the natural one: log10 for log",
      .value = 10, .remedy = "take the natural logarithm"},
     of_logarithm,
     scale_logarithm},
    {ATTENTION,
     {"scale_linear", "no logarithm was taken: the scale was 1 + beta floor(n/N)",
      .remedy = "take the logarithm, " STEPS},
     of_llama4,
     scale_linear},
    {ATTENTION,
     {"scale_of_steps",
      "the logarithm was that of floor(n/N), not of 1 + floor(n/N): log was taken for log1p",
      .remedy = "take " STEPS},
     of_llama4,
     scale_of_steps},
    {ATTENTION,
     {"scale_log1p", "the logarithm was that of 1 + n/N, not of max(1, n/N): log1p for log",
      .remedy = "take log(max(1, n/N))"},
     of_inkling,
     scale_unfloored},
    {ATTENTION,
     {"scale_unfloored", "positions over the original length were not rounded down: no floor",
      .remedy = FLOOR},
     of_llama4,
     scale_unfloored},
    {ATTENTION,
     {"scale_unfloored", "positions over the original length were rounded up: ceil for floor",
      .remedy = FLOOR},
     of_llama4,
     scale_ceiled},
    {ATTENTION,
     {"scale_unfloored",
      "positions over the original length were rounded to the nearest: round for floor",
      .remedy = FLOOR},
     of_llama4,
     scale_rounded},
    {ATTENTION,
     {"scale_unlimited", "scales below 1 were kept: the first positions have no max(1, ...)",
      .remedy = "take max(1, log(n)/log(N)); of inkling log(max(1, n/N))"},
     not_of_llama4,
     scale_unlimited},
    {ATTENTION,
     {"scale_alone", "the 1 of 1 + beta ln(...) was left out: every scale is too small by 1",
      .remedy = "add 1 to the logarithm times beta"},
     of_logarithm,
     scale_alone},
    {ATTENTION,
     {"scale_squared", "scales are squared: queries were multiplied twice, or keys, too",
      .value = 2, .remedy = "multiply queries alone, once"},
     NULL,
     scale_power},
    {ATTENTION,
     {"scale_root", "scales are the square roots of the claimed ones, as for queries and keys both",
      .value = 0.5, .remedy = "multiply queries alone, by the whole scale"},
     NULL,
     scale_power},
    {ATTENTION,
     {"scale_reciprocal", "scales are the reciprocal ones: queries were divided by the scale",
      .value = -1, .remedy = "multiply queries by the scale"},
     NULL,
     scale_power},
    {ATTENTION,
     {"scale_beta", "beta was {a}, not {b}", .param = "beta", .remedy = "set beta as claimed"},
     scale_read_beta,
     scale_beta},
    {ATTENTION,
     {"scale_length",
      "original_max_position_embeddings was another: the steps are those of a length of {a} to "
      "{b}",
      .param = "original_max_position_embeddings",
      .remedy = "set original_max_position_embeddings as claimed"},
     scale_read_length,
     scale_other_length},
};
const size_t pe_formula_scales_n = PE_LEN(pe_formula_scales);
