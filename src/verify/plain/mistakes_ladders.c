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

static const pe_plain_mistake rows[] = {
    PE_SLIP(decay_sine, DECAY, of_sines),
    PE_SLIP(exponents_halved, DECAY, of_cosines,
            .fault.rule = "exponents were halved, as if divided by twice the dimension",
            .fault.remedy = "divide 2i by rotary_dim", .fault.value = 2),
    PE_SLIP(denominator_minus_two, DECAY, of_cosines,
            .fault.rule = "exponents were divided by d - 2, not by d", .fault.remedy = LADDER,
            .fault.value = 1, .fault.and_value = -2),
    PE_SLIP(index_plus_one, DECAY, of_next_pairs,
            .fault.rule = "exponents count from 1: pair i has the frequency of pair i + 1",
            .fault.remedy = LADDER),
    PE_SLIP(decay_squared, &pe_slip_values, "rope/decay", .op = pe_slip_power, .fault.value = 2),
    PE_SLIP(decay_of_half, DECAY, of_fast_half),
    PE_SLIP(decay_modulus, DECAY, modulus),
    PE_SLIP(decay_bound, DECAY, of_partial_sums),
    PE_SLIP(base_scaled, BASE,
            .fault.rule = "the factor was raised to (d - 2)/d: the scaled base was {a}, not {b}",
            .fault.value = -2),
    PE_SLIP(base_scaled, BASE,
            .fault.rule = "the factor was raised to d/(d - 4), as if d were the number of pairs: "
                          "the scaled base was "
                          "{a}, not {b}",
            .fault.value = 4),
    PE_SLIP(base_scaled, BASE,
            .fault.rule = "the factor was raised to d/(d - 1): the scaled base was {a}, not {b}",
            .fault.value = 1),
    PE_SLIP(base_scaled, BASE,
            .fault.rule = "rope_theta was multiplied by the factor itself, without an exponent: "
                          "the scaled base was "
                          "{a}, not {b}"),
    PE_SLIP(linear_for_base, &pe_slip_values, "rope/scaled-base", .op = linearly),
    PE_SLIP(stretch_inverted, &pe_slip_values, "rope/scaled-base", "stretch", .op = pe_slip_power,
            .fault.value = -1),
};
const pe_plain_mistakes pe_mistakes_of_ladders = {rows, PE_LEN(rows)};
