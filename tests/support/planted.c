/* SPDX-License-Identifier: MIT */
/* planted.c - tables with mistakes in them, made by slow and plain code of the tests' own. */
#include "support/check.h"

#include <math.h>
#include <mpfr.h>
#include <string.h>

#include "support/planted.h"
#include "support/rope_model.h"
#include "support/slow.h"

double planted_number(const planted *how, const char *name, double otherwise)
{
    const json_t *value = json_object_get(how->parameters, name);
    return value == NULL ? otherwise : json_number_value(value);
}

const char *planted_text(const planted *how, const char *name)
{
    const char *text = json_string_value(json_object_get(how->parameters, name));
    return text != NULL ? text : "";
}

static bool is(const planted *how, const char *name, const char *text)
{
    return strcmp(planted_text(how, name), text) == 0;
}

/* ---- frequencies ----------------------------------------------------------------------------- */

/* What a pair needs; c, s: of one position. */
typedef struct pair {
    mpfr_t theta, amplitude, c, s;
    float theta32;
} pair;

static void pair_init(pair *p)
{
    mpfr_inits2(SLOW_BITS, p->theta, p->amplitude, p->c, p->s, (mpfr_ptr)NULL);
}

static void pair_clear(pair *p)
{
    mpfr_clears(p->theta, p->amplitude, p->c, p->s, (mpfr_ptr)NULL);
}

static float powf_rounded(float base, float exponent)
{
    mpfr_t x, y;
    mpfr_inits2(SLOW_BITS, x, y, (mpfr_ptr)NULL);
    mpfr_set_d(x, (double)base, MPFR_RNDN);
    mpfr_set_d(y, (double)exponent, MPFR_RNDN);
    mpfr_pow(x, x, y, MPFR_RNDN);
    const float result = (float)slow_round(PE_FLOAT32, x);
    mpfr_clears(x, y, (mpfr_ptr)NULL);
    return result;
}

static void rope_pair(const planted *how, size_t i, pair *out)
{
    json_t *asked = json_copy(how->parameters);
    if (how->head_exponent) {
        json_object_set(asked, "rotary_dim", json_object_get(asked, "head_dim"));
        json_object_del(asked, "partial_rotary_factor");
    }
    rope_model_theta(asked, i, out->theta);
    json_decref(asked);
    rope_model_attention(how->parameters, out->amplitude);
    if (how->attention_power == 0)
        mpfr_set_ui(out->amplitude, 1, MPFR_RNDN);
    if (how->attention_power == -1)
        mpfr_ui_div(out->amplitude, 1, out->amplitude, MPFR_RNDN);
    if (how->attention_power == 2)
        mpfr_sqr(out->amplitude, out->amplitude, MPFR_RNDN);
    if (how->arithmetic == PLANTED_EXACT)
        return;
    const float dim = (float)(2 * rope_model_pairs(how->parameters));
    const float power =
        powf_rounded((float)planted_number(how, "rope_theta", 10000), (float)(2 * i) / dim);
    out->theta32 = 1.0F / power;
    if (is(how, "rope_type", "linear"))
        out->theta32 = out->theta32 / (float)planted_number(how, "factor", 1);
}

static size_t sines_of(const planted *how)
{
    const size_t d = (size_t)planted_number(how, "d_model", 0);
    return planted_number(how, "freq_shift", 0) == 0 ? d - d / 2 : d / 2;
}

static void sinusoidal_pair(const planted *how, size_t i, pair *out)
{
    const double d = planted_number(how, "d_model", 0), base = planted_number(how, "base", 10000);
    const double shift = planted_number(how, "freq_shift", 0);
    const double half = shift == 0 ? d / 2 : floor(d / 2);
    slow_frequency(base, i, half - shift, out->theta);
    mpfr_mul_d(out->theta, out->theta, planted_number(how, "scale", 1), MPFR_RNDN);
    mpfr_set_ui(out->amplitude, 1, MPFR_RNDN);
    if (how->arithmetic == PLANTED_EXACT)
        return;
    /* only with freq_shift 0 and scale 1 */
    out->theta32 = 1.0F / powf_rounded((float)base, (float)(2 * i) / (float)d);
}

static void pair_turn(const planted *how, double position, pair *p)
{
    mpfr_t angle;
    mpfr_init2(angle, SLOW_BITS);
    mpfr_mul_d(angle, p->theta, position, MPFR_RNDN);
    if (how->arithmetic == PLANTED_FLOAT32)
        mpfr_set_d(angle, (double)((float)position * p->theta32), MPFR_RNDN);
    if (how->arithmetic == PLANTED_FLOAT32_FREQUENCIES) {
        mpfr_set_d(angle, (double)p->theta32, MPFR_RNDN);
        mpfr_mul_d(angle, angle, position, MPFR_RNDN);
    }
    mpfr_sin_cos(p->s, p->c, angle, MPFR_RNDN);
    if (how->arithmetic == PLANTED_FLOAT32) {
        const float a = (float)slow_round(PE_FLOAT32, p->amplitude);
        mpfr_set_d(p->s, (double)((float)slow_round(PE_FLOAT32, p->s) * a), MPFR_RNDN);
        mpfr_set_d(p->c, (double)((float)slow_round(PE_FLOAT32, p->c) * a), MPFR_RNDN);
    } else {
        mpfr_mul(p->s, p->s, p->amplitude, MPFR_RNDN);
        mpfr_mul(p->c, p->c, p->amplitude, MPFR_RNDN);
    }
    mpfr_clear(angle);
}

/* ---- waves ----------------------------------------------------------------------------------- */

#define NOWHERE SIZE_MAX

static size_t pairs_of(const planted *how)
{
    return how->kind == PLANTED_SINUSOIDAL ? sines_of(how) : rope_model_pairs(how->parameters);
}

static pe_shape wave_shape(const planted *how)
{
    if (how->kind == PLANTED_ROPE)
        return (pe_shape){3, {2, how->tokens, pairs_of(how)}};
    const char *width = how->kind == PLANTED_VECTORS ? "head_dim" : "d_model";
    return (pe_shape){2, {how->tokens, (size_t)planted_number(how, width, 0)}};
}

/* Elements of pair i of token t: cosine and sine, or the channels a and b. */
static void place(const planted *how, size_t t, size_t i, size_t *c, size_t *s)
{
    const size_t n = pairs_of(how);
    const size_t d = how->kind == PLANTED_ROPE ? 2 * n : wave_shape(how).dim[1];
    if (how->kind == PLANTED_ROPE) {
        *c = t * n + i;
        *s = (how->tokens + t) * n + i;
    } else if (how->kind == PLANTED_VECTORS) {
        const bool half = is(how, "pairing", "half");
        *c = t * d + (half ? i : 2 * i);
        *s = t * d + (half ? i + n : 2 * i + 1);
    } else if (is(how, "layout", "sin_cos")) {
        *s = t * d + i;
        *c = t * d + n + i;
    } else if (is(how, "layout", "cos_sin")) {
        *s = t * d + d / 2 + i;
        *c = t * d + i;
    } else {
        *s = t * d + 2 * i;
        *c = t * d + 2 * i + 1;
    }
    if (how->kind == PLANTED_SINUSOIDAL && i >= d / 2)
        *c = NOWHERE;
}

static void pair_make(const planted *how, size_t i, pair *p)
{
    pair_init(p);
    if (how->kind == PLANTED_SINUSOIDAL)
        sinusoidal_pair(how, i, p);
    else
        rope_pair(how, i, p);
}

/* a' = a c - b s, b' = b c + a s in MPFR, rounded once */
static void turn_channels(const planted *how, const pair *p, double a, double b, double *to_a,
                          double *to_b)
{
    mpfr_t x, y;
    mpfr_inits2(SLOW_BITS, x, y, (mpfr_ptr)NULL);
    mpfr_mul_d(x, p->c, a, MPFR_RNDN);
    mpfr_mul_d(y, p->s, b, MPFR_RNDN);
    mpfr_sub(x, x, y, MPFR_RNDN);
    *to_a = slow_round(how->dtype, x);
    mpfr_mul_d(x, p->c, b, MPFR_RNDN);
    mpfr_mul_d(y, p->s, a, MPFR_RNDN);
    mpfr_add(x, x, y, MPFR_RNDN);
    *to_b = slow_round(how->dtype, x);
    mpfr_clears(x, y, (mpfr_ptr)NULL);
}

static void wave_numbers(const planted *how, double *out, pe_shape *shape)
{
    *shape = wave_shape(how);
    memset(out, 0, PLANTED_MAX * sizeof *out);
    if (how->kind == PLANTED_VECTORS)
        memcpy(out, how->inputs, how->tokens * shape->dim[1] * sizeof *out);
    for (size_t i = 0; i < pairs_of(how); i++) {
        pair p;
        pair_make(how, i, &p);
        for (size_t t = 0; t < how->tokens; t++) {
            size_t c, s;
            place(how, t, i, &c, &s);
            pair_turn(how, how->positions[t], &p);
            if (how->kind == PLANTED_VECTORS) {
                turn_channels(how, &p, how->inputs[c], how->inputs[s], &out[c], &out[s]);
                continue;
            }
            out[how->exchanged ? c : s] = slow_round(how->dtype, p.s);
            if (c != NOWHERE)
                out[how->exchanged ? s : c] = slow_round(how->dtype, p.c);
        }
        pair_clear(&p);
    }
}

static double roundoff(const planted *how)
{
    static const int bits[] = {
        [PE_FLOAT32] = 24, [PE_FLOAT64] = 53, [PE_FLOAT16] = 11, [PE_BFLOAT16] = 8};
    return ldexp(1, -bits[how->dtype]);
}

/* A (24 2^-24 |p| w + 2^-22); vectors: times |a| + |b|, and 3 u A (|a| + |b|) */
/* Where llama3 smooths, w = v ((1 - s)/factor + s), s = (v L/2 pi - low)/(high - low): an error of
 * v comes out (dw/dv) (v/w) times as large. */
static double smoothing(const planted *how, size_t i, double w)
{
    if (!is(how, "rope_type", "llama3"))
        return 1;
    const double low = planted_number(how, "low_freq_factor", 1),
                 high = planted_number(how, "high_freq_factor", 4);
    const double turns =
        planted_number(how, "original_max_position_embeddings", 8192) / 6.283185307179586;
    const double v =
        pow(planted_number(how, "rope_theta", 10000), -(double)i / (double)pairs_of(how));
    const double s = (v * turns - low) / (high - low),
                 kept = 1 - 1 / planted_number(how, "factor", 8);
    return s > 0 && s < 1 ? 1 + v * v * kept * turns / (high - low) / w : 1;
}

/* The roundings of an angle (verify/allowance.h): by a power, or by a product for each pair before
 * it. */
static double roundings(const planted *how, size_t i, double w)
{
    const double powers = fmin(14, 2 * fabs(log(w))), products = 3 * (double)i;
    return w == 1 ? 2 : (10 + fmax(powers, products)) * smoothing(how, i, w);
}

/* Of vectors three roundings of a factor 1 + u each: (1 + u)^3 - 1 < 3 u (1 + u) + u^3. */
static double kept_of(double u, double a, double size)
{
    return 3 * u * (1 + u) * a * size;
}

static void allow_waves(const planted *how, double *exact, double *float32)
{
    const double u = roundoff(how);
    for (size_t i = 0; i < pairs_of(how); i++) {
        pair p;
        pair_make(how, i, &p);
        const double w = mpfr_get_d(p.theta, MPFR_RNDN), a = mpfr_get_d(p.amplitude, MPFR_RNDN);
        for (size_t t = 0; t < how->tokens; t++) {
            size_t c, s;
            place(how, t, i, &c, &s);
            double kept = 0;
            double drift =
                a * (roundings(how, i, w) * 0x1p-24 * fabs(how->positions[t]) * w + 0x1p-22);
            if (how->kind == PLANTED_VECTORS) {
                const double size = fabs(how->inputs[c]) + fabs(how->inputs[s]);
                kept = kept_of(u, a, size);
                drift = drift * size + kept;
            }
            exact[s] = kept;
            float32[s] = drift;
            if (c != NOWHERE) {
                exact[c] = kept;
                float32[c] = drift;
            }
        }
        pair_clear(&p);
    }
}

/* ||(c, s)| - A| <= sqrt(2) (2^-22 A + ulp(A)/2); vectors: A |(a, b)|, their allowance without the
 * angle's */
bool planted_on_circles(const planted *how, const double *numbers)
{
    const double u = roundoff(how);
    bool on = true;
    for (size_t i = 0; i < pairs_of(how); i++) {
        pair p;
        pair_make(how, i, &p);
        const double a = mpfr_get_d(p.amplitude, MPFR_RNDN);
        for (size_t t = 0; t < how->tokens; t++) {
            size_t c, s;
            place(how, t, i, &c, &s);
            double radius = a, radial = 0x1p-22 * a;
            if (c == NOWHERE)
                continue;
            if (how->kind == PLANTED_VECTORS) {
                const double size = fabs(how->inputs[c]) + fabs(how->inputs[s]);
                radius = a * hypot(how->inputs[c], how->inputs[s]);
                radial = size * radial + kept_of(u, a, size);
            }
            const double half = ldexp(u, ilogb(radius + 2 * radial));
            on &= fabs(hypot(numbers[c], numbers[s]) - radius) <= 1.41421357 * (radial + half);
        }
        pair_clear(&p);
    }
    return on;
}

/* ---- ALiBi ----------------------------------------------------------------------------------- */

/* 2^(-max (h+1)/heads); press: the powers of the next lower power of two, then every other one of
 * the next. */
static void slope_of(const planted *how, size_t head, mpfr_ptr out)
{
    const size_t heads = (size_t)planted_number(how, "num_heads", 0);
    const double most = planted_number(how, "alibi_bias_max", 8);
    size_t below = 1;
    double num = (double)(head + 1), den = (double)heads;
    while (2 * below <= heads)
        below *= 2;
    if (!is(how, "variant", "formula") && below < heads) {
        const bool extra = head >= below;
        den = extra ? 2 * (double)below : (double)below;
        num = extra ? (double)(2 * (head - below) + 1) : (double)(head + 1);
    }
    mpfr_set_d(out, -most, MPFR_RNDN);
    mpfr_mul_d(out, out, num, MPFR_RNDN);
    mpfr_div_d(out, out, den, MPFR_RNDN);
    mpfr_exp2(out, out, MPFR_RNDN);
}

static double bias_of(const planted *how, mpfr_srcptr slope, size_t query, size_t key)
{
    const double distance = (double)query - (double)key;
    const double sign = how->negated ? -1 : 1;
    mpfr_t x;
    mpfr_init2(x, SLOW_BITS);
    if (is(how, "form", "key"))
        mpfr_mul_d(x, slope, sign * (double)key, MPFR_RNDN);
    else
        mpfr_mul_d(x, slope, -sign * fabs(distance), MPFR_RNDN);
    const double value = slow_round(how->dtype, x);
    mpfr_clear(x);
    return is(how, "form", "causal") && distance < 0 ? -HUGE_VAL : value;
}

static void bias_numbers(const planted *how, double *out, pe_shape *shape)
{
    const size_t heads = (size_t)planted_number(how, "num_heads", 0);
    const size_t queries = (size_t)planted_number(how, "query_length", 0);
    mpfr_t slope;
    mpfr_init2(slope, SLOW_BITS);
    *shape = (pe_shape){3, {heads, queries, queries}};
    for (size_t h = 0; h < heads; h++) {
        slope_of(how, h, slope);
        for (size_t q = 0; q < queries; q++)
            for (size_t k = 0; k < queries; k++)
                *out++ = bias_of(how, slope, q, k);
    }
    mpfr_clear(slope);
}

static void slope_numbers(const planted *how, double *out, pe_shape *shape)
{
    const size_t heads = (size_t)planted_number(how, "num_heads", 0);
    mpfr_t slope;
    mpfr_init2(slope, SLOW_BITS);
    *shape = (pe_shape){1, {heads}};
    for (size_t h = 0; h < heads; h++) {
        slope_of(how, h, slope);
        if (how->negated)
            mpfr_neg(slope, slope, MPFR_RNDN);
        out[h] = slow_round(how->dtype, slope);
    }
    mpfr_clear(slope);
}

void planted_numbers(const planted *how, double *out, pe_shape *shape)
{
    if (how->kind == PLANTED_BIAS)
        bias_numbers(how, out, shape);
    else if (how->kind == PLANTED_SLOPES)
        slope_numbers(how, out, shape);
    else
        wave_numbers(how, out, shape);
}

void planted_allowance(const planted *how, double *exact, double *float32)
{
    static double numbers[PLANTED_MAX];
    planted doubles = *how;
    pe_shape shape;
    memset(exact, 0, PLANTED_MAX * sizeof *exact);
    memset(float32, 0, PLANTED_MAX * sizeof *float32);
    if (how->kind != PLANTED_BIAS && how->kind != PLANTED_SLOPES) {
        allow_waves(how, exact, float32);
        return;
    }
    doubles.dtype = PE_FLOAT64;
    planted_numbers(&doubles, numbers, &shape);
    for (size_t e = 0; e < PLANTED_MAX; e++)
        exact[e] = float32[e] = isfinite(numbers[e]) ? 2 * roundoff(how) * fabs(numbers[e]) : 0;
}
