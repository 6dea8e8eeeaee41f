/* SPDX-License-Identifier: MIT */
/* sequence.c - the numbers of one stage of a table: as claimed, and as the upload has them. */
#include "verify/mistakes/sequence.h"

#include <math.h>
#include <stdlib.h>

#include "verify/mistakes/median.h"

#define TURN          6.283185307179586
#define POSITION_NEAR 0.03 /* how well a position is measured */

/* Beyond the largest number of float16 a frequency is infinite. */
static bool is_told(const pe_sequence *s, double measured, double x)
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
    if (s->stage == PE_AT_POSITION)
        return isfinite(x) && fabs(s->measured[i] - x) <= POSITION_NEAR + 1e-6 * fabs(x);
    return s->span > 0 ? is_turned(s, s->measured[i], x) : is_told(s, s->measured[i], x);
}

size_t pe_sequence_count_near(const pe_sequence *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++)
        n += pe_sequence_is_near(s, i, s->claimed[i]);
    return n;
}

size_t pe_sequence_exceptions(const pe_sequence *s, const pe_patch *patch)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++)
        n += !pe_sequence_is_near(s, i, patch->op(s, i));
    return n;
}

bool pe_sequence_set_operands(pe_sequence *s, const pe_patch *patch)
{
    s->a = patch->a;
    s->b = patch->b;
    return patch->operand == NULL || patch->operand(s);
}

double pe_sequence_median(const pe_sequence *s, pe_op *of)
{
    double *list = malloc((s->n + 1) * sizeof *list);
    size_t n = 0;
    for (size_t i = 0; i < s->n && list != NULL; i++) {
        const double x = of(s, i);
        if (isfinite(x))
            list[n++] = x;
    }
    const double middle = pe_median(list, n);
    free(list);
    return middle;
}

double pe_sequence_part(const pe_sequence *s, size_t i)
{
    return s->claimed[i] / s->plain[i];
}

double pe_sequence_least_part(const pe_sequence *s)
{
    double least = 1;
    for (size_t i = 0; i < s->n; i++)
        least = fmin(least, pe_sequence_part(s, i));
    return least;
}

bool pe_sequence_is_scaled(const pe_sequence *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (fabs(pe_sequence_part(s, i) - 1) > 1e-9)
            return true;
    return false;
}

size_t pe_sequence_slowest(const pe_sequence *s, double turn)
{
    size_t i = s->n - 1;
    while (i > 0 && !(s->measured[i] > 0 && s->measured[i] * s->span >= turn))
        i--;
    return i;
}

double pe_sequence_tidy(double x)
{
    const double whole = round(x), part = x != 0 ? 1 / round(1 / x) : 0;
    if (fabs(x - whole) < 2e-3 * fabs(x))
        return whole;
    return isfinite(part) && fabs(x - part) < 2e-3 * fabs(x) ? part : x;
}
