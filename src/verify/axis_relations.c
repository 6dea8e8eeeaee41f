/* SPDX-License-Identifier: MIT */
/* axis_relations.c - how positions of axes follow from the claimed ones. */
#include "verify/axis_relations.h"

/* Numbers of a relation are multiples of 1/GRAIN. */
#define GRAIN 840.0

/* ---- how they follow from the claimed ones ---- */

/* How far off a position may be that the fastest pair of the axis tells. */
static double error_of(const pe_axes *x, size_t a)
{
    double fastest = 0;
    for (size_t i = 0; i < x->pairs; i++)
        if (x->axis[i] == a)
            fastest = fmax(fastest, x->expect->frequency[i]);
    return fmin((1e-4 + 4 * pe_upload_view_roundoff(x->of->view)) / fastest, 0.2);
}

/* The simplest fraction that it may be. */
static double tidied(double number, double error)
{
    for (int parts = 1; parts <= 12; parts++) {
        const double near = round(number * parts) / parts;
        if (fabs(number - near) <= error)
            return near;
    }
    return round(number * GRAIN) / GRAIN;
}

static bool is_relation(const pe_axes *x, size_t a, const pe_axis_relation *by)
{
    const double *at = pe_axes_positions(x, x->read, a),
                 *from = pe_axes_positions(x, x->claimed, by->from);
    for (size_t t = 0; t < x->tokens; t++)
        if (!(fabs(at[t] - by->times * from[t] - by->plus) <= 16 * pe_axes_slack(x)))
            return false;
    return true;
}

/* Plain shifts first; a relation to the own axis before one to another. */
static bool relate_to(pe_axes *x, size_t a, size_t from, bool linear)
{
    size_t low, high;
    pe_axis_relation *by = &x->by[a];
    const double error = error_of(x, a);
    const double *at = pe_axes_positions(x, x->read, a),
                 *was = pe_axes_positions(x, x->claimed, from);
    pe_axes_find_ends(x, from, &low, &high);
    *by = (pe_axis_relation){.known = true, .from = from, .times = 1};
    if (linear && was[high] > was[low])
        by->times = tidied((at[high] - at[low]) / (was[high] - was[low]),
                           2 * error / (was[high] - was[low]));
    by->plus = tidied(at[low] - by->times * was[low], error);
    by->known = is_relation(x, a, by);
    return by->known;
}

bool pe_axis_relations_find(pe_axes *x, size_t a)
{
    for (int linear = 0; linear < 2; linear++)
        for (size_t k = 0; k < x->n; k++)
            if (relate_to(x, a, (a + k) % x->n, linear > 0))
                return true;
    return false;
}

double pe_axis_relations_tidy(const pe_axes *x, size_t a, double number)
{
    return tidied(number, error_of(x, a));
}

/* ---- what is said ---- */

#define SCALE "pass positions as they are: not interpolated, not normalized"

static const pe_fault exchanged = {.name = "axes_exchanged",
                                   .rule =
                                       "the axes are exchanged: each has the positions of another",
                                   .remedy = PE_AXES_ORDER};
static const pe_fault shifted = {.name = "axes_shifted",
                                 .rule =
                                     "all positions are shifted, on each axis: an offset of {a}",
                                 .remedy = PE_AXES_START};
static const pe_fault scaled = {
    .name = "axes_scaled",
    .rule = "positions of all axes were multiplied by {a}: linear scaling, interpolated or "
            "normalized",
    .remedy = SCALE};
static const pe_fault others = {.name = "axis_positions",
                                .remedy = PE_AXES_START "; " PE_AXES_ORDER};
static bool is_permutation(const pe_axes *x)
{
    unsigned seen = 0;
    for (size_t a = 0; a < x->n; a++) {
        if (x->by[a].times != 1 || x->by[a].plus != 0)
            return false;
        seen |= 1U << x->by[a].from;
    }
    return seen == (1U << x->n) - 1;
}

/* Do all axes have the shift, or all the factor, of the first one? */
static bool is_even(const pe_axes *x, bool shift)
{
    for (size_t a = 0; a < x->n; a++) {
        const pe_axis_relation *by = &x->by[a];
        if (by->from != a || by->times != (shift ? 1 : x->by[0].times) ||
            by->plus != (shift ? x->by[0].plus : 0))
            return false;
    }
    return true;
}

bool pe_axis_relations_is_own(const pe_axis_relation *by, size_t a)
{
    return by->from == a && by->times == 1 && by->plus == 0;
}

/* Axis by axis. */
static void tell_relations(const pe_axes *x, pe_guess *guess)
{
    const char *before = "positions of axes are others: ";
    for (size_t a = 0; a < x->n; a++) {
        const pe_axis_relation *by = &x->by[a];
        const bool moved = by->from != a, times = by->times != 1;
        if (pe_axis_relations_is_own(by, a))
            continue;
        pe_buffer_format(&guess->rule, "%saxis %zu ", before, a);
        before = ", ";
        if (by->times == 0) {
            pe_guess_format(guess, "is {a} everywhere: constant", by->plus, 0);
            continue;
        }
        if (moved)
            pe_buffer_format(&guess->rule, "has the positions of axis %zu", by->from);
        if (times)
            pe_guess_format(guess, moved ? " and was multiplied by {a}" : "was multiplied by {a}",
                            by->times, 0);
        if (by->plus != 0)
            pe_guess_format(guess, moved || times ? " and is shifted by {a}" : "is shifted by {a}",
                            by->plus, 0);
    }
}

static void make_positions(const pe_axes *x, double *out)
{
    for (size_t a = 0; a < x->n; a++) {
        const double *from = pe_axes_positions(x, x->claimed, x->by[a].from);
        for (size_t t = 0; t < x->tokens; t++)
            out[a * x->tokens + t] = x->by[a].times * from[t] + x->by[a].plus;
    }
}

void pe_axis_relations_apply(pe_axes *x, pe_guess *guess)
{
    const pe_fault *fault = is_permutation(x)   ? &exchanged
                            : is_even(x, true)  ? &shifted
                            : is_even(x, false) ? &scaled
                                                : &others;
    const pe_axis_relation *by = &x->by[0];
    make_positions(x, x->read);
    pe_guess_say(guess, fault, fault->remedy);
    if (fault == &others)
        tell_relations(x, guess);
    else
        pe_guess_format(guess, fault->rule, fault == &scaled ? by->times : by->plus, 0);
}
