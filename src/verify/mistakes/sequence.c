/* SPDX-License-Identifier: MIT */
/* sequence.c - the numbers of one stage of a table, and what mistakes make of them. */
#include "verify/mistakes/sequence.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/yield.h"

#define ITEM_WORK     8 /* units, of a number that an equation makes */
#define TURN          6.283185307179586
#define POSITION_NEAR 0.03 /* how well a position is measured */

/* Beyond the largest number of float16 a frequency is infinite. */
static bool is_reported(const pe_sequence *s, double measured, double x)
{
    if (isinf(measured))
        return x > 65504 && s->roundoff > 1e-4;
    return fabs(measured - x) <=
           (8e-6 + 1.01 * s->roundoff) * fabs(x) + (s->roundoff > 1e-4 ? 0x1p-24 : 0);
}

/* Of pairs that turn by more than half a turn from row to row, whole turns are not seen. */
static bool is_turned(const pe_sequence *s, double measured, double w)
{
    const double turns = (measured - w) * s->step / TURN;
    if (fabs(measured - w) <= 0.01 * fabs(w) + s->slack / s->span)
        return true;
    return fmax(fabs(w), fabs(measured)) * fabs(s->step) > TURN / 2 &&
           fabs(turns - round(turns)) < 2e-3;
}

bool pe_sequence_is_near(const pe_sequence *s, size_t i, double x)
{
    if (s->of_positions)
        return isfinite(x) && fabs(s->measured[i] - x) <= POSITION_NEAR + 1e-6 * fabs(x);
    return s->span > 0 ? is_turned(s, s->measured[i], x) : is_reported(s, s->measured[i], x);
}

/* ---- what equations call the numbers of a sequence ---- */

static double index_of(const void *of PE_UNUSED, double i)
{
    return i;
}

static double count_of(const void *of, double i PE_UNUSED)
{
    return (double)((const pe_sequence *)of)->n;
}

static double columns_of(const void *of, double i PE_UNUSED)
{
    return (double)((const pe_sequence *)of)->columns;
}

/* Beyond the ends of a sequence it goes on by its last ratio. */
static double item_of(const void *of, double i)
{
    const pe_sequence *s = of;
    const double *x = s->claimed;
    if (i >= 0 && i < (double)s->n)
        return x[(size_t)i];
    const double ratio = s->n > 1 ? x[s->n - 1] / x[s->n - 2] : nan("");
    return i < 0 ? x[0] / ratio : x[s->n - 1] * ratio;
}

static double measured_of(const void *of, double i)
{
    const pe_sequence *s = of;
    return s->measured != NULL && i >= 0 && i < (double)s->n ? s->measured[(size_t)i] : nan("");
}

static double part_of(const void *of, double i)
{
    const pe_sequence *s = of;
    return i >= 0 && i < (double)s->n ? pe_sequence_part(s, (size_t)i) : nan("");
}

/* Is it that of the claimed base? */
static double unscaled_of(const void *of, double i)
{
    const pe_sequence *s = of;
    return pe_sequence_is_near(s, (size_t)i, s->plain[(size_t)i]);
}

#define MEMBER(NAME, OF)                                                                           \
    {                                                                                              \
        .name = NAME, .offset = offsetof(pe_sequence, OF)                                          \
    }

const pe_term pe_sequence_terms[] = {
    {.name = "x", .at = item_of},
    {.name = "y", .at = measured_of},
    {.name = "i", .at = index_of},
    {.name = "n", .at = count_of},
    {.name = "columns", .at = columns_of},
    {.name = "part", .at = part_of},
    {.name = "unscaled", .at = unscaled_of},
    {.name = "plain", .offset = offsetof(pe_sequence, plain), .listed = true},
    MEMBER("a", a),
    MEMBER("b", b),
    MEMBER("first", first),
    MEMBER("least", least),
    MEMBER("theta", theta),
    MEMBER("span", span),
    MEMBER("held", held),
    MEMBER("listed", listed),
    MEMBER("roundoff", roundoff),
    {0},
};

/* ---- mistakes ---- */

static bool read(const pe_sequence *s, const char *text, pe_equation *out)
{
    return pe_equation_read(text, s->terms, pe_sequence_terms, s->values, s, out);
}

/* The number of an equation; NULL: the other one. */
static double number_of(const pe_sequence *s, const char *text, double other)
{
    return text != NULL ? pe_equation_number(text, s->terms, pe_sequence_terms, s->values, s)
                        : other;
}

bool pe_sequence_read(pe_sequence *s, const pe_slip *mistake)
{
    s->by = mistake;
    s->a = mistake->fault.value;
    s->b = mistake->fault.and_value;
    s->a = number_of(s, mistake->a, s->a);
    s->b = number_of(s, mistake->b, s->b);
    if (mistake->solve != NULL && !mistake->solve(s))
        return false;
    return number_of(s, mistake->where, 1) == 1 &&
           (mistake->make != NULL || read(s, mistake->op != NULL ? mistake->op : "x", &s->made));
}

double pe_sequence_at(const pe_sequence *s, size_t i)
{
    return s->by->make != NULL ? s->by->make(s, i) : pe_equation_at(&s->made, s, (double)i);
}

size_t pe_sequence_exceptions(const pe_sequence *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++) {
        n += !pe_sequence_is_near(s, i, pe_sequence_at(s, i));
        pe_yield_look(ITEM_WORK);
    }
    return n;
}

double pe_sequence_part(const pe_sequence *s, size_t i)
{
    return s->claimed[i] / s->plain[i];
}

bool pe_sequence_is_scaled(const pe_sequence *s)
{
    size_t i = 0;
    while (i < s->n && !(fabs(pe_sequence_part(s, i) - 1) > 1e-9))
        i++;
    return i < s->n;
}
