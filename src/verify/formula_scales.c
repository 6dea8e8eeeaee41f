/* SPDX-License-Identifier: MIT */
/* formula_scales.c - scales of xPos and of attention, and decays, with a mistake in them. */
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

static double xpos_missing(const pe_formula *f, size_t e, double claimed)
{
    (void)f;
    (void)e;
    (void)claimed;
    return 1;
}

static double xpos_read_base(const pe_formula *f, double *b)
{
    const size_t e = pe_formula_farthest(f, 1);
    *b = pe_formula_number(f, "scale_base");
    const double a = round(*b * log(pe_formula_claimed(f, e)) / log(pe_formula_got(f, e)));
    return a > 0 && a != *b ? a : nan("");
}

static double xpos_base(const pe_formula *f, size_t e, double claimed)
{
    (void)claimed; /* those of the finding's own scale_base */
    return pow(pe_formula_claimed(f, e), pe_formula_number(f, "scale_base") / f->a);
}

/* Of a cosine or sine; all tensors have as many elements. */
static double xpos_applied(const pe_formula *f, size_t e, double claimed)
{
    const pe_upload_view *view = f->of->view;
    const size_t own = pe_upload_view_tensor(view, e);
    size_t u = 0;
    while (u < view->n_tensors && strcmp(view->claim->uploads[u].name, "scale") != 0)
        u++;
    const size_t at = u < view->n_tensors ? view->tensor_at[u] + e - view->tensor_at[own] : e;
    return u == own || u == view->n_tensors || at >= f->of->elements ? claimed
                                                                     : claimed * f->of->claimed[at];
}

static double xpos_zeta(const pe_formula *f, size_t e, double gamma)
{
    return (2 * (double)(e % f->columns) / (2 * (double)f->columns) + gamma) / (1 + gamma);
}

static double xpos_exponent(const pe_formula *f, size_t e)
{
    return (pe_formula_position(f, e) - pe_formula_number(f, "center")) /
           pe_formula_number(f, "scale_base");
}

static double xpos_read_center(const pe_formula *f, double *b)
{
    *b = pe_formula_number(f, "center");
    const double turned = log(pe_formula_got(f, 0)) / log(xpos_zeta(f, 0, 0.4));
    const double a = round(pe_formula_position(f, 0) - turned * pe_formula_number(f, "scale_base"));
    return isfinite(a) && a != *b ? a : nan("");
}

static double xpos_center(const pe_formula *f, size_t e, double claimed)
{
    (void)claimed;
    return pow(xpos_zeta(f, e, 0.4),
               (pe_formula_position(f, e) - f->a) / pe_formula_number(f, "scale_base"));
}

/* Of pair 0 zeta is gamma/(1 + gamma). */
static double xpos_read_gamma(const pe_formula *f, double *b)
{
    const size_t e = pe_formula_farthest(f, 1) / f->columns * f->columns;
    const double zeta = pow(pe_formula_got(f, e), 1 / xpos_exponent(f, e));
    const double a = round(100 * zeta / (1 - zeta)) / 100;
    *b = 0.4;
    return a > 0 && isfinite(a) && a != 0.4 ? a : nan("");
}

static double xpos_gamma(const pe_formula *f, size_t e, double claimed)
{
    (void)claimed;
    return pow(xpos_zeta(f, e, f->a), xpos_exponent(f, e));
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
    return pow(xpos_zeta(f, f->columns - 1 - e % f->columns, 0.4), xpos_exponent(f, e));
}

/* ---- the attention scale ---- */

static double scale_log2(const pe_formula *f, size_t e, double claimed)
{
    (void)f;
    (void)e;
    return 1 + (claimed - 1) / log(2);
}

static double scale_log10(const pe_formula *f, size_t e, double claimed)
{
    (void)f;
    (void)e;
    return 1 + (claimed - 1) / log(10);
}

static double scale_missing(const pe_formula *f, size_t e, double claimed)
{
    (void)f;
    (void)e;
    (void)claimed;
    return 1;
}

static double scale_unfloored(const pe_formula *f, size_t e, double claimed)
{
    (void)claimed;
    const double p = pe_formula_position(f, e) + pe_formula_number(f, "position_offset");
    return 1 + pe_formula_number(f, "beta") *
                   log1p(p / pe_formula_number(f, "original_max_position_embeddings"));
}

/* Of qwen, whose scale is 1 where it would be less. */
static double scale_unlimited(const pe_formula *f, size_t e, double claimed)
{
    (void)claimed;
    return log(pe_formula_position(f, e) + pe_formula_number(f, "position_offset")) /
           log(pe_formula_number(f, "original_max_position_embeddings"));
}

static double scale_squared(const pe_formula *f, size_t e, double claimed)
{
    (void)f;
    (void)e;
    return claimed * claimed;
}

/* ---- the decay ---- */

/* The mean over the pairs of a wave, with exponents of 2i over d. */
static double mean_wave(const pe_formula *f, size_t e, double (*wave)(double), double d)
{
    const double theta = pe_formula_number(f, "rope_theta");
    const double offset = pe_formula_entry(f, "offsets", e);
    const double pairs = floor(pe_formula_number(f, "rotary_dim") / 2);
    double sum = 0;
    for (size_t i = 0; (double)i < pairs; i++)
        sum += wave(offset * pow(theta, -2 * (double)i / d));
    return sum / pairs;
}

static double decay_sine(const pe_formula *f, size_t e, double claimed)
{
    (void)claimed;
    return mean_wave(f, e, sin, pe_formula_number(f, "rotary_dim"));
}

static double decay_half(const pe_formula *f, size_t e, double claimed)
{
    (void)claimed;
    return mean_wave(f, e, cos, 2 * pe_formula_number(f, "rotary_dim"));
}

/* Waves that are summed for one law at most: some tenths of a second. */
#define DECAY_WAVES 0x1p23

/* Of plain frequencies alone. */
static double decay_plain(const pe_formula *f, double *b)
{
    (void)b;
    if ((double)(f->end - f->first) * pe_formula_number(f, "rotary_dim") > DECAY_WAVES)
        return nan("");
    const bool plain =
        strcmp(pe_geometry_choice_text(pe_formula_values(f), "rope_type"), "default") == 0;
    return plain ? 0 : nan("");
}

/* ---- the rows ---- */

#define XPOS      "rope/xpos/table", "scale"
#define ATTENTION "rope/attention-scale", NULL
#define DECAY     "rope/decay", NULL
#define ZETA      "take zeta of pair i as (2i/d + 0.4)/1.4"

const pe_formula_row pe_formula_scales[] = {
    {XPOS,
     {"xpos_reciprocal",
      "scales are the reciprocal ones: those of keys for queries, or the inverse",
      .remedy = "multiply queries by the scale, divide keys by it"},
     NULL,
     xpos_reciprocal},
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
      .remedy = "keep the scale apart, or apply it once"},
     NULL,
     xpos_applied},
    {ATTENTION,
     {"scale_missing", "every scale is 1: what is claimed was not applied",
      .remedy = "multiply queries by the scale of their position"},
     NULL,
     scale_missing},
    {ATTENTION,
     {"scale_log2", "the logarithm of base 2 was taken, not the natural one: log2 for log",
      .remedy = "take the natural logarithm"},
     NULL,
     scale_log2},
    {ATTENTION,
     {"scale_log10", "the logarithm of base 10 was taken, not the natural one: log10 for log",
      .remedy = "take the natural logarithm"},
     NULL,
     scale_log10},
    {ATTENTION,
     {"scale_unfloored", "positions over the original length were not rounded down: no floor",
      .remedy = "take floor(position / original_max_position_embeddings)"},
     NULL,
     scale_unfloored},
    {ATTENTION,
     {"scale_unlimited",
      "scales below 1 were kept: max(1, log(n)/log(N)) was not taken of the first positions",
      .remedy = "take max(1, log(n)/log(N))"},
     NULL,
     scale_unlimited},
    {ATTENTION,
     {"scale_squared", "scales are squared: queries were multiplied twice, or keys, too",
      .remedy = "multiply queries alone, once"},
     NULL,
     scale_squared},
    {ATTENTION,
     {"scale_reciprocal", "scales are the reciprocal ones: queries were divided by the scale",
      .remedy = "multiply queries by the scale"},
     NULL,
     xpos_reciprocal},
    {DECAY,
     {"decay_sine", "sines stand where cosines belong: they were exchanged",
      .remedy = "take the mean of cosines"},
     decay_plain,
     decay_sine},
    {DECAY,
     {"exponents_halved",
      "exponents of the frequencies were halved, as if divided by twice the "
      "dimension",
      .remedy = "divide 2i by rotary_dim"},
     decay_plain,
     decay_half},
};
const size_t pe_formula_scales_n = PE_LEN(pe_formula_scales);
