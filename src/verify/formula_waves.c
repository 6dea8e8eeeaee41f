/* SPDX-License-Identifier: MIT */
/* formula_waves.c - decays, scaled bases and rotations of an offset with a mistake in them. */
#include "verify/formula.h"

#include <math.h>
#include <string.h>

#define TURN 6.283185307179586

/* ---- the decay ---- */

typedef struct waves {
    double offset, theta, d;
    size_t first, pairs; /* exponents are 2(first + i)/d */
} waves;

static waves waves_of(const pe_formula *f, size_t e)
{
    const double d = pe_formula_number(f, "rotary_dim");
    return (waves){.offset = pe_formula_entry(f, "offsets", e),
                   .theta = pe_formula_number(f, "rope_theta"),
                   .d = d,
                   .pairs = (size_t)(d / 2)};
}

static double angle_of(const waves *w, size_t i)
{
    return w->offset * pow(w->theta, -2 * (double)(w->first + i) / w->d);
}

static double mean_wave(const waves *w, double (*wave)(double))
{
    double sum = 0;
    for (size_t i = 0; i < w->pairs; i++)
        sum += wave(angle_of(w, i));
    return sum / (double)w->pairs;
}

static double decay_sine(const pe_formula *f, size_t e, double claimed)
{
    (void)claimed;
    const waves w = waves_of(f, e);
    return mean_wave(&w, sin);
}

/* A row's values: the denominator of the exponents is d times one plus the other. */
static double decay_ladder(const pe_formula *f, size_t e, double claimed)
{
    (void)claimed;
    waves w = waves_of(f, e);
    w.d = w.d * f->by->fault.value + f->by->fault.and_value;
    return mean_wave(&w, cos);
}

static double decay_later(const pe_formula *f, size_t e, double claimed)
{
    (void)claimed;
    waves w = waves_of(f, e);
    w.first = 1;
    return mean_wave(&w, cos);
}

static double decay_absolute(const pe_formula *f, size_t e, double claimed)
{
    (void)f;
    (void)e;
    return fabs(claimed);
}

static double decay_squared(const pe_formula *f, size_t e, double claimed)
{
    (void)f;
    (void)e;
    return claimed * claimed;
}

static double decay_of_half(const pe_formula *f, size_t e, double claimed)
{
    (void)claimed;
    waves w = waves_of(f, e);
    w.pairs /= 2;
    return mean_wave(&w, cos);
}

static double decay_modulus(const pe_formula *f, size_t e, double claimed)
{
    const waves w = waves_of(f, e);
    return hypot(claimed, mean_wave(&w, sin));
}

/* |S_j| of the first j pairs: the bound of RoFormer's section 3.4.3 and its figure. */
static double decay_bound(const pe_formula *f, size_t e, double claimed)
{
    (void)claimed;
    const waves w = waves_of(f, e);
    double cosines = 0, sines = 0, sum = 0;
    for (size_t i = 0; i < w.pairs; i++) {
        cosines += cos(angle_of(&w, i));
        sines += sin(angle_of(&w, i));
        sum += hypot(cosines, sines);
    }
    return sum / (double)w.pairs;
}

/* Waves that are summed for one law at most: some tenths of a second. */
#define DECAY_WAVES 0x1p22

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

/* ---- the scaled base: scaled_inv_freq, scaled_wavelength and stretch have it ---- */

static double stretch_of(const pe_formula *f)
{
    const double s = pe_formula_number(f, "factor");
    const double length = pe_formula_number(f, "seq_len");
    const double most = pe_formula_number(f, "max_position_embeddings");
    const bool dynamic =
        strcmp(pe_geometry_choice_text(pe_formula_values(f), "method"), "dynamic") == 0;
    return dynamic ? s * fmax(length, most) / most - (s - 1) : s;
}

/* The base times a power of the stretch; the claimed one in *b. */
static double base_by(const pe_formula *f, double power, double *b)
{
    const double theta = pe_formula_number(f, "rope_theta"), d = pe_formula_number(f, "head_dim");
    const bool linear =
        strcmp(pe_geometry_choice_text(pe_formula_values(f), "method"), "linear") == 0;
    *b = theta * pow(stretch_of(f), linear ? 1 : d / (d - 2));
    const double a = theta * pow(stretch_of(f), power);
    return fabs(a / *b - 1) > 0x1p-20 ? a : nan("");
}

static double base_inverse_power(const pe_formula *f, double *b)
{
    const double d = pe_formula_number(f, "head_dim");
    return base_by(f, (d - 2) / d, b);
}

static double base_half_power(const pe_formula *f, double *b)
{
    const double d = pe_formula_number(f, "head_dim");
    return base_by(f, d / (d - 4), b);
}

static double base_of_one(const pe_formula *f, double *b)
{
    const double d = pe_formula_number(f, "head_dim");
    return base_by(f, d / (d - 1), b);
}

static double base_times(const pe_formula *f, double *b)
{
    return base_by(f, 1, b);
}

/* Which tensor an element is of, and of which pair. */
static const char *tensor_of(const pe_formula *f, size_t e, double *pair)
{
    const pe_upload_view *view = f->of->view;
    const size_t u = pe_upload_view_tensor(view, f->first + e);
    *pair = (double)(f->first + e - view->tensor_at[u]);
    return view->claim->uploads[u].name;
}

/* What a tensor has of a pair whose scaled frequency is 1/stretch of the other one. */
static double stretched(const char *name, double claimed, double w, double stretch)
{
    return strcmp(name, "scaled_inv_freq") == 0     ? w / stretch
           : strcmp(name, "scaled_wavelength") == 0 ? TURN * stretch / w
           : strcmp(name, "stretch") == 0           ? stretch
                                                    : claimed;
}

static double base_scaled(const pe_formula *f, size_t e, double claimed)
{
    double i;
    const char *name = tensor_of(f, e, &i);
    const double theta = pe_formula_number(f, "rope_theta");
    const double exponent = 2 * i / pe_formula_number(f, "head_dim");
    return stretched(name, claimed, pow(theta, -exponent), pow(f->a / theta, exponent));
}

static double base_linear(const pe_formula *f, size_t e, double claimed)
{
    double i;
    const char *name = tensor_of(f, e, &i);
    const double exponent = 2 * i / pe_formula_number(f, "head_dim");
    return stretched(name, claimed, pow(pe_formula_number(f, "rope_theta"), -exponent),
                     stretch_of(f));
}

static double reciprocal(const pe_formula *f, size_t e, double claimed)
{
    (void)f;
    (void)e;
    return 1 / claimed;
}

/* ---- rotations of an offset: cosines and sines of offset base^(-i/n) ---- */

/* Of a pair, in blocks [n, 2, 2] or in the matrix. */
static size_t cosine_at(const pe_formula *f, size_t i)
{
    return f->columns == 2 ? 4 * i : 2 * i * (f->columns + 1);
}

static double offset_angle(const pe_formula *f, size_t i)
{
    const size_t e = cosine_at(f, i);
    return atan2(pe_formula_got(f, e + 1), pe_formula_got(f, e));
}

/* Slow pairs have made no whole turn. *b: the offset. */
static double offset_read_base(const pe_formula *f, double *b)
{
    const double n = pe_formula_number(f, "d_model") / 2;
    *b = 0;
    if (n < 4)
        return nan("");
    const size_t last = (size_t)n - 1, middle = (size_t)(n / 2);
    const double slow = offset_angle(f, last);
    const double steps = (double)(last - middle);
    const double read = pow(offset_angle(f, middle) / slow, n / steps);
    const double unit = pow(10, floor(log10(read)) - 1), a = round(read / unit) * unit;
    *b = round(slow * pow(a, (n - 1) / n));
    return isfinite(a) && a >= 10 && a != pe_formula_number(f, "base") ? a : nan("");
}

static double offset_waves(const pe_formula *f, size_t e, double claimed, double offset)
{
    const bool blocks = f->columns == 2;
    const size_t row = e / f->columns, column = e % f->columns, i = row / 2;
    if (!blocks && column / 2 != i)
        return claimed;
    const double n = pe_formula_number(f, "d_model") / 2;
    const double angle = offset * pow(f->a, -(double)i / n);
    const bool first = row % 2 == 0, cosine = first == (column % 2 == 0);
    return cosine ? cos(angle) : first ? sin(angle) : -sin(angle);
}

static double offset_base(const pe_formula *f, size_t e, double claimed)
{
    return offset_waves(f, e, claimed, pe_formula_number(f, "offset"));
}

static double offset_and_base(const pe_formula *f, size_t e, double claimed)
{
    double offset;
    (void)offset_read_base(f, &offset);
    return offset_waves(f, e, claimed, offset);
}

static double offset_read_base_alone(const pe_formula *f, double *b)
{
    const double a = offset_read_base(f, b), claimed = pe_formula_number(f, "offset");
    const bool same = *b == claimed;
    *b = pe_formula_number(f, "base");
    return same ? a : nan("");
}

static double offset_read_both(const pe_formula *f, double *b)
{
    const double a = offset_read_base(f, b);
    return *b != pe_formula_number(f, "offset") ? a : nan("");
}

/* ---- the rows ---- */

#define DECAY  "rope/decay", NULL
#define BASE   "rope/scaled-base", NULL
#define OFFSET "sinusoidal/offset", NULL
#define LADDER "take the exponents 2i/rotary_dim, i from 0"
#define POWER                                                                                      \
    "compute the scaled base as the method does: ntk and dynamic b*s^(d/(d-2)), linear b*s"

const pe_formula_row pe_formula_waves[] = {
    {DECAY,
     {"decay_sine", "sines stand where cosines belong: they were exchanged",
      .remedy = "take the mean of cosines"},
     decay_plain,
     decay_sine},
    {DECAY,
     {"exponents_halved",
      "exponents of the frequencies were halved, as if divided by twice the dimension", .value = 2,
      .remedy = "divide 2i by rotary_dim"},
     decay_plain,
     decay_ladder},
    {DECAY,
     {"denominator_minus_two", "exponents were divided by d - 2, not by d", .value = 1,
      .and_value = -2, .remedy = LADDER},
     decay_plain,
     decay_ladder},
    {DECAY,
     {"index_plus_one", "exponents count from 1: pair i has the frequency of pair i + 1",
      .remedy = LADDER},
     decay_plain,
     decay_later},
    {DECAY,
     {"decay_absolute", "absolute values stand for the means: their sign is lost",
      .remedy = "keep the sign of the mean"},
     NULL,
     decay_absolute},
    {DECAY,
     {"decay_squared", "squares stand for the means", .remedy = "take the mean itself"},
     NULL,
     decay_squared},
    {DECAY,
     {"decay_of_half", "the mean is that of the first half of the pairs, the fast ones",
      .remedy = "take the mean of rotary_dim/2 pairs, not of rotary_dim/4"},
     decay_plain,
     decay_of_half},
    {DECAY,
     {"decay_modulus",
      "the modulus of the mean of exp(i angle) was taken, not its real part, the mean cosine",
      .remedy = "take the real part"},
     decay_plain,
     decay_modulus},
    {DECAY,
     {"decay_bound",
      "the mean of the moduli of the partial sums, |S_1| to |S_(d/2)|, was taken: the bound of "
      "RoFormer's section 3.4.3",
      .remedy = "take the mean cosine of all pairs"},
     decay_plain,
     decay_bound},
    {BASE,
     {"base_scaled", "the factor was raised to (d - 2)/d: the scaled base was {a}, not {b}",
      .remedy = POWER},
     base_inverse_power,
     base_scaled},
    {BASE,
     {"base_scaled",
      "the factor was raised to d/(d - 4), as if d were the number of pairs: the scaled base was "
      "{a}, not "
      "{b}",
      .remedy = POWER},
     base_half_power,
     base_scaled},
    {BASE,
     {"base_scaled", "the factor was raised to d/(d - 1): the scaled base was {a}, not {b}",
      .remedy = POWER},
     base_of_one,
     base_scaled},
    {BASE,
     {"base_scaled",
      "rope_theta was multiplied by the factor itself, without an exponent: the scaled base was "
      "{a}, not {b}",
      .remedy = POWER},
     base_times,
     base_scaled},
    {BASE,
     {"linear_for_base",
      "frequencies were divided by the factor, as linear scaling does it: the base was not scaled",
      .remedy = "scale the base, not the positions or the frequencies"},
     NULL,
     base_linear},
    {"rope/scaled-base",
     "stretch",
     {"stretch_inverted", "the stretch is the reciprocal: scaled over unscaled frequencies",
      .remedy = "divide the unscaled frequency by the scaled one"},
     NULL,
     reciprocal},
    {OFFSET,
     {"base", "the base was {a}, not {b}", .remedy = "set base as claimed"},
     offset_read_base_alone,
     offset_base},
    {OFFSET,
     {"offset_and_base", "the base was {a}, and the offset {b}",
      .remedy = "set base and offset as claimed"},
     offset_read_both,
     offset_and_base},
};
const size_t pe_formula_waves_n = PE_LEN(pe_formula_waves);
