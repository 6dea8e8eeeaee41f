/* SPDX-License-Identifier: MIT */
/* axis_frequencies.c - pairs of several axes: which axis and which frequency every pair has. */
#include "verify/axis_frequencies.h"

#include <stdlib.h>
#include <string.h>

#include "verify/faults.h"

void pe_axes_find_ends(const pe_axes *x, size_t a, size_t *low, size_t *high)
{
    const double *at = pe_axes_positions(x, x->claimed, a);
    *low = *high = 0;
    for (size_t t = 0; t < x->tokens; t++) {
        *low = at[t] < at[*low] ? t : *low;
        *high = at[t] > at[*high] ? t : *high;
    }
}

pe_status pe_axes_set_positions(pe_guess *guess, const double *at, size_t count, pe_problem *why)
{
    pe_array list;
    pe_positions *positions = &pe_values_find(&guess->values, "positions")->positions;
    pe_status status = pe_array_make(PE_FLOAT64, &positions->shape, &list, why);
    if (status != PE_OK)
        return status;
    memcpy(list.data, at, count * sizeof *at);
    pe_positions_free(positions);
    status = pe_positions_from_list(&list, "positions", positions, why);
    pe_array_free(&list);
    return status;
}

static const pe_fault dims_other = {
    .name = "axes_dims",
    .rule = "pairs are given to the axes in another order: axes_dims was ",
    .remedy = "set axes_dims as claimed"};
static const pe_fault dims_shared = {
    .name = "axes_dims",
    .rule = "pairs are shared out among the axes otherwise: axes_dims was ",
    .remedy = "set axes_dims as claimed"};
static const pe_fault one_ladder = {
    .name = "axes_one_ladder",
    .rule = "all axes share one ladder of frequencies, as sections of M-RoPE do: exponents count "
            "on over all pairs of the head",
    .remedy = "give each axis frequencies of its own: theta^(-2j/d), d its channels (axes_dims)"};
static const pe_fault whole_width = {
    .name = "axes_exponents",
    .rule = "exponents of each axis are divided by the whole head_dim, not by its own channels",
    .remedy = "give each axis frequencies of its own: theta^(-2j/d), d its channels (axes_dims)"};
static const pe_fault ends_included = {
    .name = "axes_exponents",
    .rule = "exponents of each ladder of n frequencies are j/(n - 1), not j/n: linspace with both "
            "ends included",
    .remedy = "take theta^(-2j/d): the last exponent is (d - 2)/d, not 1"};
static const pe_fault slowest_first = {
    .name = "frequencies_reversed",
    .rule = "the frequencies are in reverse order: the slowest come first",
    .remedy = "let exponents grow from pair to pair"};
static const pe_fault theta_of_axis = {
    .name = "axes_theta",
    .rule = "the base (theta) of axis {b} was {a}: its frequencies are others",
    .remedy = "give each axis the theta of the claim (axes_theta, axes_scale)"};

static pe_status try_dims(pe_search *s, const pe_axes *x, const pe_guess *claim,
                          const pe_fault *fault, const double *order, pe_problem *why)
{
    pe_guess guess;
    pe_status status = pe_guess_copy(claim, &guess, why);
    if (status != PE_OK)
        return status;
    pe_value *dims = pe_values_find(&guess.values, "axes_dims");
    pe_guess_say(&guess, fault, fault->remedy);
    pe_buffer_str(&guess.rule, fault->rule);
    for (size_t a = 0; a < dims->list_length; a++)
        pe_buffer_format(&guess.rule, a > 0 ? ",%g" : "%g", order[a]);
    memcpy(dims->list, order, dims->list_length * sizeof *order);
    status = x->next(s, &guess, why);
    pe_guess_free(&guess);
    return status;
}

/* Does the pair turn by the positions of the axis times w, in all rows? */
static bool turns_by(const pe_axes *x, size_t i, size_t a, double w)
{
    const double *at = pe_axes_positions(x, x->claimed, a), *angle = x->angle + i * x->tokens;
    const double slack = 1e-3 + 6 * pe_upload_view_roundoff(x->of->view);
    for (size_t t = 0; t < x->tokens; t++)
        if (!(fabs(pe_axes_wrap(angle[t] - w * at[t])) <= slack))
            return false;
    return true;
}

/* Channels of each axis: it begins where a pair turns as its first one, whose exponent is 0 whatever
 * the base and the number of its channels. False: some axis begins nowhere. */
static bool read_dims(const pe_axes *x, double *dims)
{
    size_t start = 0, first = 0;
    for (size_t a = 0; a < x->n; a++) {
        size_t i = a == 0 ? 0 : start + 1;
        while (first < x->pairs && x->axis[first] != a)
            first++;
        while (first < x->pairs && i < x->pairs && !turns_by(x, i, a, x->expect->frequency[first]))
            i++;
        if (first == x->pairs || i >= x->pairs || (a == 0 && i > 0))
            return false;
        if (a > 0)
            dims[a - 1] = 2 * (double)(i - start);
        start = i;
    }
    dims[x->n - 1] = 2 * (double)(x->pairs - start);
    return true;
}

/* Are they the same numbers in another order? */
static bool are_permuted(const double *a, const double *b, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        size_t left = 0, right = 0;
        for (size_t j = 0; j < n; j++) {
            left += a[j] == a[k];
            right += b[j] == a[k];
        }
        if (left != right)
            return false;
    }
    return true;
}

static pe_status try_read_dims(pe_search *s, const pe_axes *x, const pe_guess *claim,
                               pe_problem *why)
{
    double dims[PE_AXES_MAX] = {0};
    const double *claimed = pe_values_find(&claim->values, "axes_dims")->list;
    if (!read_dims(x, dims) || memcmp(dims, claimed, x->n * sizeof *dims) == 0)
        return PE_OK;
    return try_dims(s, x, claim, are_permuted(dims, claimed, x->n) ? &dims_other : &dims_shared,
                    dims, why);
}

/* The value takes the list, which is the caller's. */
static pe_status set_list(pe_guess *guess, const char *name, const double *list, size_t n,
                          pe_problem *why)
{
    pe_value *value = pe_values_find(&guess->values, name);
    double *copy = calloc(n + 1, sizeof *copy); /* one more: there is no empty block */
    if (copy == NULL)
        return pe_fail_memory(why);
    memcpy(copy, list, n * sizeof *copy);
    free(value->list);
    value->list = copy;
    value->list_length = n;
    value->present = true;
    return PE_OK;
}

/* ---- other exponents ---- */

static pe_status set_one_ladder(const pe_axes *x, pe_guess *guess, pe_problem *why)
{
    double pairs[PE_AXES_MAX];
    pe_value *dims = pe_values_find(&guess->values, "axes_dims");
    for (size_t a = 0; a < x->n; a++)
        pairs[a] = dims->list[a] / 2;
    dims->present = false;
    return set_list(guess, "mrope_section", pairs, x->n, why);
}

static double theta_of(const pe_guess *guess, size_t axis)
{
    const pe_value *given = pe_values_find(&guess->values, "axes_theta");
    return given != NULL && given->present ? given->list[axis]
                                           : pe_values_real(&guess->values, "rope_theta");
}

/* Of an axis before bases stood for other exponents. */
static double base_of(const pe_search *s, const pe_guess *guess, size_t axis)
{
    const pe_value *given = pe_values_find(&s->claim.values, "axes_theta");
    return given != NULL && given->present ? given->list[axis]
                                           : pe_values_real(&guess->values, "rope_theta");
}

/* theta^(-2j/D) is (theta^(d/D))^(-2j/d) */
static pe_status set_whole_width(const pe_axes *x, pe_guess *guess, pe_problem *why)
{
    double list[PE_AXES_MAX];
    const double *dims = pe_values_find(&guess->values, "axes_dims")->list;
    for (size_t a = 0; a < x->n; a++)
        list[a] = pow(theta_of(guess, a), dims[a] / (2 * (double)x->pairs));
    guess->distortion.values_inexact = true;
    return set_list(guess, "axes_theta", list, x->n, why);
}

/* theta^(-j/(n-1)) is (theta^(n/(n-1)))^(-j/n) */
static pe_status set_ends(const pe_axes *x, pe_guess *guess, pe_problem *why)
{
    double list[PE_AXES_MAX];
    const pe_value *dims = pe_values_find(&guess->values, "axes_dims");
    const bool own = dims != NULL && dims->present;
    for (size_t a = 0; a < (own ? x->n : 1); a++) {
        const double pairs = own ? dims->list[a] / 2 : (double)x->pairs;
        list[a] = pairs > 1 ? pow(theta_of(guess, a), pairs / (pairs - 1)) : theta_of(guess, a);
    }
    guess->distortion.values_inexact = true;
    if (own)
        return set_list(guess, "axes_theta", list, x->n, why);
    pe_values_set_real(&guess->values, "rope_theta", list[0]);
    return PE_OK;
}

/* Of each ladder: an axis's own, or that of all pairs. */
static pe_status set_slowest_first(const pe_axes *x, pe_guess *guess, pe_problem *why)
{
    const bool own = pe_values_present(&guess->values, "axes_dims");
    const double *w = x->expect->frequency;
    double *factors = calloc(x->pairs, sizeof *factors);
    if (factors == NULL)
        return pe_fail_memory(why);
    for (size_t first = 0, end; first < x->pairs; first = end) {
        for (end = first + 1; end < x->pairs && (!own || x->axis[end] == x->axis[first]);)
            end++;
        for (size_t i = first; i < end; i++)
            factors[i] = w[i] / w[first + end - 1 - i];
    }
    guess->distortion.values_inexact = true;
    const pe_status status = set_list(guess, "freq_factors", factors, x->pairs, why);
    free(factors);
    return status;
}

static const struct {
    const pe_fault *fault;
    pe_status (*set)(const pe_axes *x, pe_guess *guess, pe_problem *why);
    bool of_own; /* ladders of the axes */
} exponents[] = {{&one_ladder, set_one_ladder, true},
                 {&whole_width, set_whole_width, true},
                 {&ends_included, set_ends, false},
                 {&slowest_first, set_slowest_first, false}};

static pe_status try_exponents(pe_search *s, const pe_axes *x, const pe_guess *claim, bool own,
                               pe_problem *why)
{
    pe_status status = PE_OK;
    for (size_t e = 0; e < PE_LEN(exponents) && status == PE_OK && pe_attempts_go_on(s); e++) {
        pe_guess guess;
        if (exponents[e].of_own && !own)
            continue;
        status = pe_guess_copy(claim, &guess, why);
        if (status != PE_OK)
            return status;
        pe_guess_say(&guess, exponents[e].fault, exponents[e].fault->remedy);
        pe_buffer_str(&guess.rule, exponents[e].fault->rule);
        status = exponents[e].set(x, &guess, why);
        if (status == PE_OK)
            status = x->bare(s, &guess, why);
        pe_guess_free(&guess);
    }
    return status;
}

/* ---- other bases ---- */

/* The frequencies of an axis as a power of the claimed ones, and how far off that may be. */
typedef struct power {
    double is, error;
} power;

/* One that all pairs of the axis follow better, from its lowest position on: it may be shifted. A
 * small angle is as precise as its sine. */
static power better_power(const pe_axes *x, size_t a, double start)
{
    size_t low, high;
    double up = 0, down = 0, left = 0, n = 0;
    const double *at = pe_axes_positions(x, x->claimed, a);
    pe_axes_find_ends(x, a, &low, &high);
    for (size_t i = 0; i < x->pairs; i++) {
        const double by = log(x->expect->frequency[i]), w = exp(start * by);
        const double *angle = x->angle + i * x->tokens;
        for (size_t t = 0; t < x->tokens && x->axis[i] == a; t++) {
            const double want = w * (at[t] - at[low]), off = angle[t] - angle[low] - want;
            const double error = fmax(fabs(angle[t]), fabs(angle[low])) + 1e-6;
            const double part = pe_axes_wrap(off) / error, slope = want * by / error;
            if (fabs(part * error) > 0.1)
                continue;
            up += slope * part;
            down += slope * slope;
            left += part * part;
            n++;
        }
    }
    return down > 0 ? (power){start + up / down, sqrt(left / (n * down))}
                    : (power){start, HUGE_VAL};
}

/* Of the axis, by its slowest pair where the axis goes farthest; then by all. NaN: it tells none. */
static power read_power(const pe_axes *x, size_t a)
{
    size_t low, high, slow = x->pairs;
    const double *w = x->expect->frequency, *at = pe_axes_positions(x, x->claimed, a);
    for (size_t i = 0; i < x->pairs; i++)
        if (x->axis[i] == a && w[i] < 1 && (slow == x->pairs || w[i] < w[slow]))
            slow = i;
    pe_axes_find_ends(x, a, &low, &high);
    if (slow == x->pairs)
        return (power){nan(""), 0};
    const double *angle = x->angle + slow * x->tokens;
    const double turned = pe_axes_wrap(angle[high] - angle[low]) / (at[high] - at[low]);
    const power first = better_power(x, a, log(turned) / log(w[slow]));
    return better_power(x, a, better_power(x, a, first.is).is);
}

/* Do all pairs of the axis turn by that power, from its one end to the other? */
static bool fits_power(const pe_axes *x, size_t a, double by)
{
    size_t low, high;
    const double *at = pe_axes_positions(x, x->claimed, a);
    pe_axes_find_ends(x, a, &low, &high);
    for (size_t i = 0; i < x->pairs; i++) {
        const double *angle = x->angle + i * x->tokens;
        const double turn = pow(x->expect->frequency[i], by) * (at[high] - at[low]);
        if (x->axis[i] == a && !(fabs(pe_axes_wrap(angle[high] - angle[low] - turn)) < 0.05))
            return false;
    }
    return true;
}

static bool fits_all(const pe_axes *x, double by)
{
    size_t a = 0;
    while (a < x->n && fits_power(x, a, by))
        a++;
    return a == x->n;
}

/* To so many digits, as a person would have written it. */
static double to_digits(double number, int digits)
{
    const double unit = pow(10, floor(log10(number)) + 1 - digits);
    return round(number / unit) * unit;
}

/* The values get the base of one axis, or (a = n) of all. Those that stand for other exponents are
 * powers of the base, and become the same powers of it. */
static pe_status set_theta(const pe_search *s, const pe_axes *x, pe_guess *guess, size_t a,
                           double theta, pe_problem *why)
{
    double list[PE_AXES_MAX];
    if (!pe_values_present(&guess->values, "axes_dims")) {
        pe_values_set_real(&guess->values, "rope_theta", theta);
        return PE_OK;
    }
    for (size_t k = 0; k < x->n; k++) {
        const double is = theta_of(guess, k), was = base_of(s, guess, k);
        const double changed = is == was ? theta : pow(theta, log(is) / log(was));
        list[k] = k == a || a == x->n ? changed : is;
    }
    return set_list(guess, "axes_theta", list, x->n, why);
}

/* Digits of a base that people take. */
#define KNOWN_DIGITS 3

static pe_status try_theta(pe_search *s, const pe_axes *x, const pe_guess *claim, size_t a,
                           double theta, pe_problem *why)
{
    static const pe_fault all = {.name = "rope_theta",
                                 .rule = "rope_theta, the base of all axes, was {a}",
                                 .remedy = "set rope_theta as claimed"};
    const pe_fault *fault = a < x->n ? &theta_of_axis : &all;
    pe_guess guess;
    if (!(theta >= 1 && theta <= 1e12) || !pe_attempts_go_on(s))
        return PE_OK;
    pe_status status = pe_guess_copy(claim, &guess, why);
    if (status != PE_OK)
        return status;
    pe_guess_say(&guess, fault, fault->remedy);
    pe_guess_format(&guess, fault->rule, theta, (double)a);
    guess.fitted |= to_digits(theta, KNOWN_DIGITS) != theta;
    status = set_theta(s, x, &guess, a, theta, why);
    if (status == PE_OK)
        status = x->next(s, &guess, why);
    pe_guess_free(&guess);
    return status;
}

/* Of one axis, or of all that turn so. Sections of M-RoPE share one ladder, and its base. */
static pe_status try_power(pe_search *s, const pe_axes *x, const pe_guess *claim, size_t a,
                           double theta, double by, pe_problem *why)
{
    const bool own = pe_values_present(&claim->values, "axes_dims");
    pe_status status = own ? try_theta(s, x, claim, a, theta, why) : PE_OK;
    return status == PE_OK && fits_all(x, by) ? try_theta(s, x, claim, x->n, theta, why) : status;
}

/* Digits that all pairs may tell. */
#define THETA_DIGITS 7

/* The fewest digits that are near enough, and all digits. */
static pe_status try_thetas(pe_search *s, const pe_axes *x, const pe_guess *claim, pe_problem *why)
{
    pe_status status = PE_OK;
    for (size_t a = 0; a < x->n && status == PE_OK; a++) {
        const power read = read_power(x, a);
        const double was = base_of(s, claim, a), exact = pow(was, read.is);
        double before = was;
        for (int digits = 1; digits <= THETA_DIGITS && status == PE_OK && isfinite(exact);
             digits++) {
            const double theta = to_digits(exact, digits), by = log(theta) / log(was);
            const bool near = fabs(by - read.is) <= 10 * read.error + 1e-7;
            if (theta == before || !near || !fits_power(x, a, by))
                continue;
            before = theta;
            status = try_power(s, x, claim, a, theta, by, why);
            digits = THETA_DIGITS - 1 > digits ? THETA_DIGITS - 1 : digits;
        }
    }
    return status;
}

pe_status pe_axis_frequencies_try(pe_search *s, const pe_axes *x, const pe_guess *claim,
                                  pe_problem *why)
{
    const pe_value *dims = pe_values_find(&claim->values, "axes_dims");
    const bool own = dims != NULL && dims->present && dims->list_length == x->n;
    pe_status status = PE_OK;
    if (claim->n_faults == PE_FAULTS_MAX ||
        !(own || (pe_values_present(&claim->values, "mrope_section") &&
                  pe_geometry_has_rope_type(&claim->values, "default"))))
        return PE_OK;
    if (own)
        status = try_read_dims(s, x, claim, why);
    if (status == PE_OK)
        status = try_exponents(s, x, claim, own, why);
    return status == PE_OK ? try_thetas(s, x, claim, why) : status;
}
