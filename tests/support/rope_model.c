/* SPDX-License-Identifier: MIT */
/* rope_model.c - an independent model of every rope type, straight from its formula in MPFR. */
#include "support/check.h"

#include <string.h>

#include "support/rope_model.h"
#include "support/slow.h"

static double number(const json_t *request, const char *name, double otherwise)
{
    const json_t *value = json_object_get(request, name);
    return value == NULL ? otherwise : json_number_value(value);
}

static const char *type_of(const json_t *request)
{
    const char *type = json_string_value(json_object_get(request, "rope_type"));
    return type != NULL ? type : "default";
}

static bool is(const json_t *request, const char *type)
{
    return strcmp(type_of(request), type) == 0;
}

static double dim_of(const json_t *request)
{
    const double head_dim = number(request, "head_dim", 0);
    if (is(request, "proportional"))
        return head_dim;
    const double share = number(request, "partial_rotary_factor", 1);
    return number(request, "rotary_dim", (double)(int)(head_dim * share));
}

static double original_of(const json_t *request)
{
    return number(request, "original_max_position_embeddings",
                  number(request, "max_position_embeddings", 0));
}

size_t rope_model_pairs(const json_t *request)
{
    return (size_t)dim_of(request) / 2;
}

/* ---- pieces ---------------------------------------------------------------------------------- */

/* out = x^(num/den) */
static void power(double x, double num, double den, mpfr_ptr out)
{
    mpfr_t exponent;
    mpfr_init2(exponent, SLOW_BITS);
    mpfr_set_d(exponent, num, MPFR_RNDN);
    mpfr_div_d(exponent, exponent, den, MPFR_RNDN);
    mpfr_set_d(out, x, MPFR_RNDN);
    mpfr_pow(out, out, exponent, MPFR_RNDN);
    mpfr_clear(exponent);
}

static void clamp(mpfr_ptr x)
{
    if (mpfr_cmp_ui(x, 0) < 0)
        mpfr_set_ui(x, 0, MPFR_RNDN);
    if (mpfr_cmp_ui(x, 1) > 0)
        mpfr_set_ui(x, 1, MPFR_RNDN);
}

/* out = y + (x - y) weight: x where weight is 1 */
static void blend(mpfr_srcptr x, mpfr_srcptr y, mpfr_srcptr weight, mpfr_ptr out)
{
    mpfr_t difference;
    mpfr_init2(difference, SLOW_BITS);
    mpfr_sub(difference, x, y, MPFR_RNDN);
    mpfr_mul(difference, difference, weight, MPFR_RNDN);
    mpfr_add(out, y, difference, MPFR_RNDN);
    mpfr_clear(difference);
}

/* The pair that turns so often over the original context: d log_theta(original/(2 pi turns)) / 2 */
static void pair_of(const json_t *request, double turns, mpfr_ptr out)
{
    mpfr_t theta;
    mpfr_init2(theta, SLOW_BITS);
    mpfr_const_pi(out, MPFR_RNDN);
    mpfr_mul_d(out, out, 2 * turns, MPFR_RNDN);
    mpfr_d_div(out, original_of(request), out, MPFR_RNDN);
    mpfr_log2(out, out, MPFR_RNDN);
    mpfr_set_d(theta, number(request, "rope_theta", 10000), MPFR_RNDN);
    mpfr_log2(theta, theta, MPFR_RNDN);
    mpfr_div(out, out, theta, MPFR_RNDN);
    mpfr_mul_d(out, out, dim_of(request) / 2, MPFR_RNDN);
    mpfr_clear(theta);
}

/* out = 1 - ramp of pair i between those of `fast` and `slow` turns */
static void mask(const json_t *request, double fast, double slow, bool whole, size_t i,
                 mpfr_ptr out)
{
    mpfr_t low, high;
    mpfr_inits2(SLOW_BITS, low, high, (mpfr_ptr)NULL);
    pair_of(request, fast, low);
    pair_of(request, slow, high);
    if (whole) {
        mpfr_rint_floor(low, low, MPFR_RNDN);
        mpfr_rint_ceil(high, high, MPFR_RNDN);
    }
    if (mpfr_sgn(low) < 0)
        mpfr_set_ui(low, 0, MPFR_RNDN);
    if (mpfr_cmp_d(high, dim_of(request) - 1) > 0)
        mpfr_set_d(high, dim_of(request) - 1, MPFR_RNDN);
    mpfr_ui_sub(out, i, low, MPFR_RNDN);
    mpfr_sub(high, high, low, MPFR_RNDN);
    if (mpfr_zero_p(high)) {
        mpfr_set_ui(high, 1, MPFR_RNDN);
        mpfr_div_ui(high, high, 1000, MPFR_RNDN);
    }
    mpfr_div(out, out, high, MPFR_RNDN);
    clamp(out);
    mpfr_ui_sub(out, 1, out, MPFR_RNDN);
    mpfr_clears(low, high, (mpfr_ptr)NULL);
}

/* ---- types ----------------------------------------------------------------------------------- */

/* theta^(-2i/d) by factor^(-2i/(d-2)): the base theta factor^(d/(d-2)). */
static void ntk(const json_t *request, double factor, size_t i, mpfr_ptr theta)
{
    mpfr_t growth;
    mpfr_init2(growth, SLOW_BITS);
    power(factor, -2 * (double)i, dim_of(request) - 2, growth);
    mpfr_mul(theta, theta, growth, MPFR_RNDN);
    mpfr_clear(growth);
}

/* factor L/M - (factor - 1), to the power -2i/(d-2) */
static void dynamic(const json_t *request, size_t i, mpfr_ptr theta)
{
    const double most = number(request, "max_position_embeddings", 0);
    const double length = number(request, "seq_len", most), factor = number(request, "factor", 1);
    mpfr_t growth, exponent;
    if (length <= most)
        return;
    mpfr_inits2(SLOW_BITS, growth, exponent, (mpfr_ptr)NULL);
    mpfr_set_d(growth, factor, MPFR_RNDN);
    mpfr_mul_d(growth, growth, length, MPFR_RNDN);
    mpfr_div_d(growth, growth, most, MPFR_RNDN);
    mpfr_sub_d(growth, growth, factor, MPFR_RNDN);
    mpfr_add_ui(growth, growth, 1, MPFR_RNDN);
    mpfr_set_d(exponent, -2 * (double)i, MPFR_RNDN);
    mpfr_div_d(exponent, exponent, dim_of(request) - 2, MPFR_RNDN);
    mpfr_pow(growth, growth, exponent, MPFR_RNDN);
    mpfr_mul(theta, theta, growth, MPFR_RNDN);
    mpfr_clears(growth, exponent, (mpfr_ptr)NULL);
}

/* theta / factor * (1 - w) + theta * w, w = mask * extrapolation_factor */
static void yarn(const json_t *request, size_t i, mpfr_ptr theta)
{
    mpfr_t slow, weight;
    mpfr_inits2(SLOW_BITS, slow, weight, (mpfr_ptr)NULL);
    mpfr_div_d(slow, theta, number(request, "factor", 1), MPFR_RNDN);
    mask(request, number(request, "beta_fast", 32), number(request, "beta_slow", 1),
         !json_is_false(json_object_get(request, "truncate")), i, weight);
    mpfr_mul_d(weight, weight, number(request, "extrapolation_factor", 1), MPFR_RNDN);
    blend(theta, slow, weight, theta);
    mpfr_clears(slow, weight, (mpfr_ptr)NULL);
}

/* By turns over the original context: kept above high, theta / factor below low. */
static void by_parts(const json_t *request, double low, double high, mpfr_ptr theta)
{
    mpfr_t slow, weight, turn;
    mpfr_inits2(SLOW_BITS, slow, weight, turn, (mpfr_ptr)NULL);
    mpfr_div_d(slow, theta, number(request, "factor", 1), MPFR_RNDN);
    mpfr_const_pi(turn, MPFR_RNDN);
    mpfr_mul_ui(turn, turn, 2, MPFR_RNDN);
    mpfr_mul_d(weight, theta, original_of(request), MPFR_RNDN);
    mpfr_div(weight, weight, turn, MPFR_RNDN);
    if (low == high) {
        mpfr_set_ui(weight, mpfr_cmp_d(weight, low) > 0, MPFR_RNDN);
    } else {
        mpfr_sub_d(weight, weight, low, MPFR_RNDN);
        mpfr_set_d(turn, high, MPFR_RNDN);
        mpfr_sub_d(turn, turn, low, MPFR_RNDN);
        mpfr_div(weight, weight, turn, MPFR_RNDN);
        clamp(weight);
    }
    blend(theta, slow, weight, theta);
    mpfr_clears(slow, weight, turn, (mpfr_ptr)NULL);
}

/* linear and ntk by a mask of 1.25 to 0.75 turns, that and theta by one of 16 to 2 */
static void part_ntk(const json_t *request, size_t i, mpfr_ptr theta)
{
    const double factor = number(request, "factor", 1);
    mpfr_t other, mixed, weight;
    mpfr_inits2(SLOW_BITS, other, mixed, weight, (mpfr_ptr)NULL);
    mpfr_div_d(mixed, theta, factor, MPFR_RNDN);
    mpfr_set(other, theta, MPFR_RNDN);
    ntk(request, factor, i, other);
    mask(request, 1.25, 0.75, true, i, weight);
    mpfr_mul_d(weight, weight, number(request, "ntk_factor", 1), MPFR_RNDN);
    blend(other, mixed, weight, mixed);
    mask(request, 16, 2, true, i, weight);
    mpfr_mul_d(weight, weight, number(request, "extrapolation_factor", 1), MPFR_RNDN);
    blend(theta, mixed, weight, theta);
    mpfr_clears(other, mixed, weight, (mpfr_ptr)NULL);
}

/* (theta factor)^(-2i/d) factor^(-2/d) = theta^(-2i/d) factor^(-2(i+1)/d) */
static void ntk_fixed(const json_t *request, size_t i, mpfr_ptr theta)
{
    mpfr_t stretch;
    mpfr_init2(stretch, SLOW_BITS);
    power(number(request, "factor", 1), 2 * (double)(i + 1), dim_of(request), stretch);
    mpfr_div(theta, theta, stretch, MPFR_RNDN);
    mpfr_clear(stretch);
}

/* factor^(((i + 1)/(d/2))^b) */
static void ntk_mixed(const json_t *request, size_t i, mpfr_ptr theta)
{
    mpfr_t exponent, stretch;
    mpfr_inits2(SLOW_BITS, exponent, stretch, (mpfr_ptr)NULL);
    mpfr_set_ui(exponent, i + 1, MPFR_RNDN);
    mpfr_div_d(exponent, exponent, dim_of(request) / 2, MPFR_RNDN);
    mpfr_set_d(stretch, number(request, "mixed_b", 0), MPFR_RNDN);
    mpfr_pow(exponent, exponent, stretch, MPFR_RNDN);
    mpfr_set_d(stretch, number(request, "factor", 1), MPFR_RNDN);
    mpfr_pow(stretch, stretch, exponent, MPFR_RNDN);
    mpfr_div(theta, theta, stretch, MPFR_RNDN);
    mpfr_clears(exponent, stretch, (mpfr_ptr)NULL);
}

static void longrope(const json_t *request, size_t i, mpfr_ptr theta)
{
    const double original = original_of(request);
    const bool beyond =
        number(request, "seq_len", number(request, "max_position_embeddings", 0)) > original;
    const json_t *list = json_object_get(request, beyond ? "long_factor" : "short_factor");
    mpfr_div_d(theta, theta, json_number_value(json_array_get(list, i)), MPFR_RNDN);
}

void rope_model_theta(const json_t *request, size_t i, mpfr_ptr out)
{
    const double factor = number(request, "factor", 1);
    const json_t *divisors = json_object_get(request, "freq_factors");
    power(number(request, "rope_theta", 10000), -2 * (double)i, dim_of(request), out);
    if (is(request, "linear") || is(request, "proportional"))
        mpfr_div_d(out, out, factor, MPFR_RNDN);
    if (is(request, "proportional") &&
        (double)i >=
            (double)(int)(dim_of(request) * number(request, "partial_rotary_factor", 1) / 2))
        mpfr_set_ui(out, 0, MPFR_RNDN);
    if (is(request, "ntk"))
        ntk(request, factor, i, out);
    if (is(request, "ntk_alpha"))
        ntk(request, number(request, "alpha", 1), i, out);
    if (is(request, "ntk_fixed"))
        ntk_fixed(request, i, out);
    if (is(request, "ntk_mixed"))
        ntk_mixed(request, i, out);
    if (is(request, "ntk_by_parts"))
        by_parts(request, number(request, "beta_slow", 1), number(request, "beta_fast", 32), out);
    if (is(request, "llama3"))
        by_parts(request, number(request, "low_freq_factor", 1),
                 number(request, "high_freq_factor", 4), out);
    if (is(request, "part_ntk"))
        part_ntk(request, i, out);
    if (is(request, "dynamic"))
        dynamic(request, i, out);
    if (is(request, "yarn"))
        yarn(request, i, out);
    if (is(request, "longrope"))
        longrope(request, i, out);
    if (divisors != NULL)
        mpfr_div_d(out, out, json_number_value(json_array_get(divisors, i)), MPFR_RNDN);
}

/* ---- the attention factor, and tables -------------------------------------------------------- */

/* out *= 1 + mscale ln(factor) / 10, or divided by it */
static void temper(const json_t *request, double mscale, bool divide, mpfr_ptr out)
{
    mpfr_t by;
    mpfr_init2(by, SLOW_BITS);
    mpfr_set_d(by, number(request, "factor", 1), MPFR_RNDN);
    mpfr_log(by, by, MPFR_RNDN);
    mpfr_mul_d(by, by, mscale, MPFR_RNDN);
    mpfr_div_ui(by, by, 10, MPFR_RNDN);
    mpfr_add_ui(by, by, 1, MPFR_RNDN);
    if (divide)
        mpfr_div(out, out, by, MPFR_RNDN);
    else
        mpfr_mul(out, out, by, MPFR_RNDN);
    mpfr_clear(by);
}

static void longrope_attention(const json_t *request, mpfr_ptr out)
{
    const double original = original_of(request);
    mpfr_t s;
    mpfr_init2(s, SLOW_BITS);
    mpfr_set_d(s, number(request, "max_position_embeddings", 0), MPFR_RNDN);
    mpfr_div_d(s, s, original, MPFR_RNDN);
    if (json_object_get(request, "factor") != NULL)
        mpfr_set_d(s, number(request, "factor", 1), MPFR_RNDN);
    if (mpfr_cmp_ui(s, 1) > 0) {
        mpfr_log(s, s, MPFR_RNDN);
        mpfr_set_d(out, original, MPFR_RNDN);
        mpfr_log(out, out, MPFR_RNDN);
        mpfr_div(out, s, out, MPFR_RNDN);
        mpfr_add_ui(out, out, 1, MPFR_RNDN);
        mpfr_sqrt(out, out, MPFR_RNDN);
    }
    mpfr_clear(s);
}

void rope_model_attention(const json_t *request, mpfr_ptr out)
{
    const double mscale = number(request, "mscale", 0), all = number(request, "mscale_all_dim", 0);
    mpfr_set_ui(out, 1, MPFR_RNDN);
    if (json_object_get(request, "attention_factor") != NULL) {
        mpfr_set_d(out, number(request, "attention_factor", 1), MPFR_RNDN);
    } else if (is(request, "longrope")) {
        longrope_attention(request, out);
    } else if (is(request, "yarn")) {
        const bool both = mscale != 0 && all != 0;
        temper(request, both ? mscale : 1, false, out);
        if (both)
            temper(request, all, true, out);
        mpfr_mul_d(out, out, number(request, "attn_factor", 1), MPFR_RNDN);
    }
}

void rope_model_wave(const json_t *request, size_t i, double position, bool cosine, mpfr_ptr out)
{
    mpfr_t attention;
    mpfr_init2(attention, SLOW_BITS);
    rope_model_theta(request, i, out);
    rope_model_attention(request, attention);
    mpfr_mul_d(out, out, position, MPFR_RNDN);
    if (cosine)
        mpfr_cos(out, out, MPFR_RNDN);
    else
        mpfr_sin(out, out, MPFR_RNDN);
    mpfr_mul(out, out, attention, MPFR_RNDN);
    mpfr_clear(attention);
}
