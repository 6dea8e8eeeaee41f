/* SPDX-License-Identifier: MIT */
/* fit.c - faults that are wrong numbers, which are read off the upload. */
#include "verify/fit.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "text/scan.h"
#include "verify/changes.h"
#include "verify/fit_angle.h"
#include "verify/fit_residual.h"
#include "verify/measure.h"

static bool set_number(pe_guess *guess, const pe_fault *fault)
{
    pe_values_set_real(&guess->values, fault->param, fault->value);
    return true;
}

/* Scaling that the claim does not tell. */
static bool add_scaling(pe_guess *guess, const pe_fault *fault)
{
    const pe_fault type = {.param = "rope_type", .text = fault->text};
    return pe_changes_choice(guess, &type) && set_number(guess, fault);
}

const pe_fault pe_fits[] = {
    {"rope_theta", NULL, .change = set_number, .param = "rope_theta", .value = 100,
     .and_value = 1e12},
    {"base", NULL, .change = set_number, .param = "base", .value = 100, .and_value = 1e12},
    {"factor", NULL, .change = set_number, .param = "factor", .value = 1, .and_value = 1e6},
    {"scale", NULL, .change = set_number, .param = "scale", .value = 1e-6, .and_value = 1e4},
    /* a factor of ntk would be another base */
    {"scaling_added", NULL, .change = add_scaling, .param = "factor", .text = "linear", .value = 1,
     .and_value = 1e6, .sets_rope_type = true},
};
const size_t pe_fits_n = PE_LEN(pe_fits);
const pe_fault *const pe_fits_linear = &pe_fits[PE_LEN(pe_fits) - 1];

/* ---- the number as a client would have written it ---- */

static pe_status explains(const pe_fitting *fit, double value, bool *out, pe_problem *why)
{
    unsigned by = 0;
    pe_values_set_real(&fit->on.guess->values, fit->param, value);
    const pe_status status = pe_measure_explain(&fit->on, &by, why);
    *out = (by & fit->by) != 0;
    return status;
}

/* The decimal of so many digits nearest to the value. */
static double decimal(double value, int digits)
{
    char text[48];
    double result = value;
    size_t used;
    const int bytes = snprintf(text, sizeof text, "%.*e", digits - 1, value);
    if (bytes < 0 || pe_scan_number(text, (size_t)bytes, &result, &used) != PE_SCAN_OK)
        return value;
    return result;
}

/* The decimal of so many digits on the other side of the value. */
static double decimal_beyond(double value, double nearest, int digits)
{
    const double unit = pow(10, floor(log10(fmin(nearest, value))) - digits + 1);
    return decimal(nearest < value ? nearest + unit : nearest - unit, digits);
}

/* Of the values around this one that explain the upload, one of the fewest digits: values that
 * explain it are an interval, so the decimals on both sides tell whether any does. A decimal of few
 * digits may be what no search among doubles meets. */
static pe_status write_as_decimal(const pe_fitting *fit, double value, int most, bool *made,
                                  pe_problem *why)
{
    pe_status status = PE_OK;
    *made = false;
    for (int digits = 1; digits <= most && !*made && status == PE_OK; digits++) {
        const double nearest = decimal(value, digits);
        const double beyond = decimal_beyond(value, nearest, digits);
        status = explains(fit, nearest, made, why);
        if (status == PE_OK && !*made && beyond > 0)
            status = explains(fit, beyond, made, why);
    }
    return status;
}

/* ---- the value ---- */

/* Digits of a value that is worse known than it seemed: 1e8 is near 100015511. */
#define ROUGH_DIGITS 3

static pe_status refine_by(pe_fitting *fit, unsigned by, const pe_bracket *at, bool *made,
                           pe_problem *why)
{
    pe_bracket finer = *at;
    bool held = false; /* does the bracket hold a value? */
    fit->by = by;
    const pe_status status = pe_fit_residual_refine(fit, &finer, &held, why);
    if (status != PE_OK)
        return status;
    return held ? write_as_decimal(fit, finer.value, DBL_DECIMAL_DIG, made, why)
                : write_as_decimal(fit, at->value, ROUGH_DIGITS, made, why);
}

/* Exact numbers tell the value best. What no value of the reference path explains, which may be
 * farther off, no exact one does either. */
static pe_status refine_by_each(pe_fitting *fit, const pe_bracket *at, bool *made, pe_problem *why)
{
    const unsigned allowed = pe_measure_allowed(fit->on.guess);
    pe_status status = PE_OK;
    bool exactly = false;
    if ((allowed & PE_BY_FLOAT32) != 0)
        status = refine_by(fit, PE_BY_FLOAT32, at, made, why);
    if (status != PE_OK || allowed == PE_BY_FLOAT32 || (allowed != PE_BY_EXACT && !*made))
        return status;
    const double loose = pe_values_real(&fit->on.guess->values, fit->param);
    status = refine_by(fit, PE_BY_EXACT, at, &exactly, why);
    if (!exactly)
        pe_values_set_real(&fit->on.guess->values, fit->param, loose);
    *made |= exactly;
    return status;
}

static pe_status find_value(pe_fitting *fit, const pe_fault *row, bool *made, pe_problem *why)
{
    pe_expect expect;
    const double claimed = pe_values_real(&fit->on.guess->values, fit->param);
    pe_bracket at = {row->value, row->and_value, claimed, HUGE_VAL};
    pe_status status = pe_fitting_expect(fit, claimed, &expect, why);
    if (status != PE_OK || !expect.fits)
        return status;
    fit->geometry = expect.geometry;
    fit->positions = &expect.positions;
    status = pe_fit_angle_bisect(fit, &at, why);
    bool contradicts = false;
    if (status == PE_OK && at.error < HUGE_VAL)
        status = pe_fitting_contradicts(fit, &at, &contradicts, why);
    if (status == PE_OK && at.error < HUGE_VAL && !contradicts)
        status = refine_by_each(fit, &at, made, why);
    fit->positions = NULL;
    pe_expect_free(&expect);
    return status;
}

/* Nobody scales by less; a range reduction of low precision looks so. */
#define LEAST_FACTOR 1.0001

/* Is there a number to find, which no fault before found? */
static bool applies(const pe_fault *fit, const pe_guess *guess)
{
    const pe_position_map *map = &guess->distortion.positions;
    /* alone, or with moved positions: in more pairs it would cost more work than it finds */
    if (fit->sets_rope_type)
        return pe_geometry_has_rope_type(&guess->claim->values, "default") &&
               pe_geometry_has_rope_type(&guess->values, "default") &&
               (guess->n_faults == 0 || !pe_guess_map_is_identity(map));
    return pe_values_present(&guess->values, fit->param) &&
           !(guess->n_faults > 0 && guess->faults[0]->param != NULL &&
             strcmp(guess->faults[0]->param, fit->param) == 0);
}

/* Is it the base of so many pairs, in which the exponents of these were divided by another number?
 * The claimed base, or one of few digits. */
static bool is_power(double base, double claimed, double *near)
{
    *near = fabs(base / claimed - 1) < 5e-5 ? claimed : decimal(base, 1);
    return fabs(base / *near - 1) < 5e-5;
}

/* A base of many digits that is a power of one of few: exponents were divided by d - 2 or d + 2, or
 * by the d of another head. */
static void tell_denominator(pe_guess *guess, double pairs, double claimed, double found)
{
    static const double heads[] = {32, 48, 64, 72, 80, 96, 112, 128, 160, 192, 256};
    double near;
    if (pairs <= 2 || found == decimal(found, 3))
        return;
    for (int step = -1; step <= 1; step += 2)
        if (is_power(pow(found, (pairs + step) / pairs), claimed, &near))
            pe_buffer_format(&guess->rule,
                             ", which is %.7g^(d/(d %c 2)): exponents are divided by d %c 2, "
                             "not by d (freq_shift)",
                             near, step < 0 ? '-' : '+', step < 0 ? '-' : '+');
    size_t k = 0;
    while (k < PE_LEN(heads) &&
           (heads[k] == 2 * pairs || !is_power(pow(found, heads[k] / 2 / pairs), claimed, &near)))
        k++;
    if (k < PE_LEN(heads))
        pe_buffer_format(&guess->rule,
                         ", which is %.7g^(%g/%g): exponents are divided by %g, as those of "
                         "another head_dim, not by %g",
                         near, 2 * pairs, heads[k], heads[k], 2 * pairs);
}

/* A factor or a base of dynamic scaling may be those of another length. */
static void tell_length(const pe_fault *fit, pe_guess *guess, double pairs, double found)
{
    const pe_values *claimed = &guess->claim->values;
    if (!pe_geometry_has_rope_type(claimed, "dynamic") || fit->sets_rope_type)
        return;
    const bool base = strcmp(fit->param, "rope_theta") == 0;
    const double longest = (double)pe_values_int(claimed, "max_position_embeddings");
    const double times = (double)pe_values_int(claimed, "seq_len") / longest;
    const double factor = pe_values_real(claimed, "factor"), by = base ? factor : found;
    const double theta = pe_values_real(claimed, "rope_theta");
    const double grown =
        (by * times - (by - 1)) * (base ? pow(found / theta, (pairs - 1) / pairs) : 1);
    const double other = longest * ((grown - 1) / factor + 1);
    if (other > longest)
        pe_buffer_format(&guess->rule, ", as if dynamic scaling were made for a seq_len of %.0f",
                         other);
}

/* Another base is a power of the claimed one, and of a square or root people know the reason. */
static void tell_power(const pe_fault *fit, pe_guess *guess, double pairs, double found)
{
    const pe_value *value = pe_values_find(&guess->claim->values, fit->param);
    const bool base = strcmp(fit->param, "rope_theta") == 0 || strcmp(fit->param, "base") == 0;
    const double power = base && value->present ? log(found) / log(value->real) : 1;
    if (base)
        tell_denominator(guess, pairs, value->real, found);
    if (fabs(power - 2) < 1e-5)
        pe_buffer_str(&guess->rule,
                      ", which is its square: frequencies were squared, or exponents are 4i/d");
    else if (fabs(power - 0.5) < 1e-5)
        pe_buffer_str(&guess->rule,
                      ", which is its root: frequencies are square roots, or exponents are i/d");
}

/* Nobody scales by the number of rows, but positions are divided by it. */
static void tell_rows(const pe_fault *fit, pe_guess *guess, double found)
{
    const pe_value *positions = pe_values_find(&guess->claim->values, "positions");
    if (fit->sets_rope_type && positions != NULL && found == (double)positions->positions.count)
        pe_buffer_str(&guess->rule, "; positions may have been normalized: divided by the number "
                                    "of rows, which is the same");
}

pe_status pe_fit_apply(const pe_fault *fit, const pe_comparison *to, const pe_known_turns *known,
                       bool *made, pe_problem *why)
{
    pe_guess found;
    *made = false;
    if (to->view->layout == NULL || !applies(fit, to->guess))
        return PE_OK;
    pe_status status = pe_guess_copy(to->guess, &found, why);
    if (status != PE_OK)
        return status;
    pe_fitting at = {.on = {to->view, &found, to->work}, .param = fit->param, .known = known};
    pe_fault fault = *fit;
    fault.value = 2;
    if (!fit->sets_rope_type || fit->change(&found, &fault))
        status = find_value(&at, fit, made, why);
    if (status == PE_OK && *made) {
        fault.value = pe_values_real(&found.values, fit->param);
        *made = fault.value > LEAST_FACTOR || !fit->sets_rope_type;
    }
    if (status == PE_OK && *made) {
        *made = pe_faults_apply(&fault, to->guess);
        if (*made) {
            to->guess->faults[to->guess->n_faults - 1] = fit;
            tell_power(fit, to->guess, (double)at.geometry.pairs, fault.value);
            tell_length(fit, to->guess, (double)at.geometry.pairs, fault.value);
            tell_rows(fit, to->guess, fault.value);
        }
        to->guess->fitted |= *made;
    }
    pe_guess_free(&found);
    return status;
}
