/* SPDX-License-Identifier: MIT */
/* mistakes_ladders.c - means of cosines by distance, and scaled bases of frequencies. */
#include <math.h>
#include <string.h>

#include "verify/plain/plain_slips.h"

#define TURN 6.283185307179586

/* ---- the decay: the mean of cos(offset theta^(-2i/d)) ---- */

typedef struct mean {
    double offset, theta, d;
    size_t first, pairs; /* exponents are 2(first + i)/d */
    double cosine, sine; /* means */
    double moduli;       /* the mean of those of the partial sums */
} mean;

/* value: times d, and_value: more than that. first: places later. part: of the pairs. */
static mean mean_of(const pe_slip *p, size_t e, size_t first, double part)
{
    const pe_value *offsets = pe_values_find(&p->of->claim->values, "offsets");
    const double d = pe_slip_number(p, "rotary_dim");
    mean m = {.offset = pe_positions_at(&offsets->positions, e),
              .theta = pe_slip_number(p, "rope_theta"),
              .d = p->a == 0 ? d : d * p->a + p->b,
              .pairs = (size_t)(part * d / 2)};
    for (size_t i = 0; i < m.pairs; i++) {
        const double angle = m.offset * pow(m.theta, -2 * (double)(first + i) / m.d);
        m.cosine += cos(angle);
        m.sine += sin(angle);
        m.moduli += hypot(m.cosine, m.sine) / (double)m.pairs;
    }
    m.cosine /= (double)m.pairs;
    m.sine /= (double)m.pairs;
    return m;
}

/* Waves that are summed for one mistake at most: some tenths of a second. */
#define WAVES_MOST 0x1p22

static bool is_plain(pe_slip *p)
{
    return (double)p->n * pe_slip_number(p, "rotary_dim") <= WAVES_MOST &&
           pe_slip_has(p, "rope_type", "default");
}

static double of_sines(const pe_slip *p, size_t e)
{
    return mean_of(p, e, 0, 1).sine;
}

static double of_cosines(const pe_slip *p, size_t e)
{
    return mean_of(p, e, 0, 1).cosine;
}

static double of_next_pairs(const pe_slip *p, size_t e)
{
    return mean_of(p, e, 1, 1).cosine;
}

static double of_fast_half(const pe_slip *p, size_t e)
{
    return mean_of(p, e, 0, 0.5).cosine;
}

static double modulus(const pe_slip *p, size_t e)
{
    const mean m = mean_of(p, e, 0, 1);
    return hypot(m.cosine, m.sine);
}

static double of_partial_sums(const pe_slip *p, size_t e)
{
    return mean_of(p, e, 0, 1).moduli;
}

/* ---- the scaled base, which scaled_inv_freq, scaled_wavelength and stretch have ---- */

static double stretch_of(const pe_slip *p)
{
    const double s = pe_slip_number(p, "factor"), length = pe_slip_number(p, "seq_len");
    const double most = pe_slip_number(p, "max_position_embeddings");
    return pe_slip_has(p, "method", "dynamic") ? s * fmax(length, most) / most - (s - 1) : s;
}

/* value: the factor is raised to d/(d - value); below 0 to (d + value)/d. */
static bool solve_base(pe_slip *p)
{
    const double d = pe_slip_number(p, "head_dim"), theta = pe_slip_number(p, "rope_theta");
    const double by = p->a, power = by < 0 ? (d + by) / d : d / (d - by);
    p->b = theta * pow(stretch_of(p), pe_slip_has(p, "method", "linear") ? 1 : d / (d - 2));
    p->a = theta * pow(stretch_of(p), power);
    return fabs(p->a / p->b - 1) > 0x1p-20;
}

/* What a tensor has of a pair whose scaled frequency is 1/stretch of the other one. */
static double stretched(const pe_slip *p, size_t e, double base)
{
    const pe_upload_view *view = p->of->view;
    const size_t u = pe_upload_view_tensor(view, e);
    const char *name = view->claim->uploads[u].name;
    const double theta = pe_slip_number(p, "rope_theta");
    const double exponent = 2 * (double)(e - view->tensor_at[u]) / pe_slip_number(p, "head_dim");
    const double w = pow(theta, -exponent);
    const double stretch = base == 0 ? stretch_of(p) : pow(base / theta, exponent);
    return strcmp(name, "scaled_inv_freq") == 0     ? w / stretch
           : strcmp(name, "scaled_wavelength") == 0 ? TURN * stretch / w
           : strcmp(name, "stretch") == 0           ? stretch
                                                    : p->claimed[e];
}

static double by_base(const pe_slip *p, size_t e)
{
    return stretched(p, e, p->a);
}

static double linearly(const pe_slip *p, size_t e)
{
    return stretched(p, e, 0);
}

/* ---- the rows ---- */

#define DECAY  &pe_slip_values, "rope/decay", NULL, is_plain
#define BASE   &pe_slip_values, "rope/scaled-base", NULL, solve_base, by_base
#define LADDER "take the exponents 2i/rotary_dim, i from 0"
#define POWER                                                                                      \
    "compute the scaled base as the method does: ntk and dynamic b*s^(d/(d-2)), linear b*s"

static const pe_plain_mistake rows[] = {
    {{PE_NAME(decay_sine), "sines stand where cosines belong: they were exchanged",
      .remedy = "take the mean of cosines"},
     DECAY,
     of_sines},
    {{PE_NAME(exponents_halved), "exponents were halved, as if divided by twice the dimension",
      .value = 2, .remedy = "divide 2i by rotary_dim"},
     DECAY,
     of_cosines},
    {{PE_NAME(denominator_minus_two), "exponents were divided by d - 2, not by d", .value = 1,
      .and_value = -2, .remedy = LADDER},
     DECAY,
     of_cosines},
    {{PE_NAME(index_plus_one), "exponents count from 1: pair i has the frequency of pair i + 1",
      .remedy = LADDER},
     DECAY,
     of_next_pairs},
    {{PE_NAME(decay_squared), "squares stand for the means", .value = 2,
      .remedy = "take the mean itself"},
     &pe_slip_values,
     "rope/decay",
     .op = pe_slip_power},
    {{PE_NAME(decay_of_half), "the mean is that of the first half of the pairs, the fast ones",
      .remedy = "take the mean of rotary_dim/2 pairs, not of rotary_dim/4"},
     DECAY,
     of_fast_half},
    {{PE_NAME(decay_modulus),
      "the modulus of the mean of exp(i angle) was taken, not its real part, the mean cosine",
      .remedy = "take the real part"},
     DECAY,
     modulus},
    {{PE_NAME(decay_bound),
      "the mean of the moduli of the partial sums was taken: the bound of RoFormer's section 3.4.3",
      .remedy = "take the mean cosine of all pairs"},
     DECAY,
     of_partial_sums},
    {{PE_NAME(base_scaled), "the factor was raised to (d - 2)/d: the scaled base was {a}, not {b}",
      .value = -2, .remedy = POWER},
     BASE},
    {{PE_NAME(base_scaled),
      "the factor was raised to d/(d - 4), as if d were the number of pairs: the scaled base was "
      "{a}, not {b}",
      .value = 4, .remedy = POWER},
     BASE},
    {{PE_NAME(base_scaled), "the factor was raised to d/(d - 1): the scaled base was {a}, not {b}",
      .value = 1, .remedy = POWER},
     BASE},
    {{PE_NAME(base_scaled),
      "rope_theta was multiplied by the factor itself, without an exponent: the scaled base was "
      "{a}, not {b}",
      .remedy = POWER},
     BASE},
    {{PE_NAME(linear_for_base),
      "frequencies were divided by the factor, as linear scaling does it: the base was not scaled",
      .remedy = "scale the base, not the positions or the frequencies"},
     &pe_slip_values,
     "rope/scaled-base",
     .op = linearly},
    {{PE_NAME(stretch_inverted), "the stretch is the reciprocal: scaled over unscaled frequencies",
      .value = -1, .remedy = "divide the unscaled frequency by the scaled one"},
     &pe_slip_values,
     "rope/scaled-base",
     "stretch",
     .op = pe_slip_power},
};
const pe_plain_mistakes pe_mistakes_of_ladders = {rows, PE_LEN(rows)};
