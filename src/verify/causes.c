/* SPDX-License-Identifier: MIT */
/* causes.c - what a reading says of the positions: a named cause, or the bare numbers. */
#include "verify/causes.h"

#include <math.h>
#include <stdlib.h>

#define EXCEPTION 4 /* one of so many rows may be something else */

static size_t count_exceptions(const pe_reading *r, const pe_cause *cause)
{
    size_t n = 0;
    for (size_t t = 0; t < r->tokens; t++)
        n += !isfinite(r->position[t]) || !pe_position_is_near(r->position[t], cause->predicted[t]);
    return n;
}

static bool follows(const pe_reading *r, const pe_position_rule *of, pe_cause *out)
{
    out->a = out->b = 0;
    if (of->read != NULL && !of->read(r, out))
        return false;
    for (size_t t = 0; t < r->tokens; t++)
        out->predicted[t] = of->predict(out, r->claimed[t]);
    out->exceptions = count_exceptions(r, out);
    return out->exceptions <= r->tokens / EXCEPTION;
}

/* Of the rules that most rows follow, the first with the fewest exceptions. */
static const pe_position_rule *choose(const pe_reading *r, bool vectors, pe_cause *out)
{
    const pe_position_rule *best = NULL;
    size_t least = SIZE_MAX;
    for (size_t k = 0; k < pe_n_position_rules; k++)
        if ((vectors || !pe_position_rules[k].vectors_only) &&
            follows(r, &pe_position_rules[k], out) && out->exceptions < least) {
            best = &pe_position_rules[k];
            least = out->exceptions;
        }
    if (best != NULL)
        (void)follows(r, best, out);
    return best;
}

/* Rows without a position keep the claimed one. */
static void take_list(const pe_reading *r, pe_cause *out)
{
    out->exceptions = 0;
    for (size_t t = 0; t < r->tokens; t++) {
        const bool known = isfinite(r->position[t]);
        out->predicted[t] = known ? r->position[t] : r->claimed[t];
        out->exceptions += !known;
    }
}

bool pe_causes_list(const pe_reading *reading, pe_cause *cause)
{
    if (cause->fault != NULL || cause->exceptions == 0)
        return false;
    take_list(reading, cause);
    cause->fault = &pe_position_list_of(reading)->fault;
    return cause->exceptions == 0;
}

/* A rule with exceptions, of which some have a position of their own: does the list say more? */
static bool is_listed_better(const pe_reading *r, const pe_cause *cause)
{
    size_t elsewhere = 0;
    for (size_t t = 0; t < r->tokens; t++)
        elsewhere +=
            isfinite(r->position[t]) && !pe_position_is_near(r->position[t], cause->predicted[t]);
    return r->pairs >= 8 && r->quality == 1 && !cause->mirrored &&
           (pe_position_list_of(r) == &pe_positions_run_on || elsewhere * 8 > r->tokens);
}

/* Nobody is so far out, but waves of no angle seem to be. */
#define FAR 0x1p33

static bool is_nowhere(const pe_reading *r, const pe_cause *cause)
{
    double far = 0, claimed = 0;
    for (size_t t = 0; t < r->tokens; t++) {
        far = fmax(far, fabs(cause->predicted[t]));
        claimed = fmax(claimed, fabs(r->claimed[t]));
    }
    return far > FAR + 8 * claimed;
}

pe_status pe_causes_find(const pe_reading *reading, bool vectors, pe_cause *out, bool *found,
                         pe_problem *why)
{
    *out = (pe_cause){.first = reading->claimed[0],
                      .rows = reading->tokens,
                      .predicted = calloc(reading->tokens + 1, sizeof(double))};
    if (out->predicted == NULL)
        return pe_fail_memory(why);
    const pe_position_rule *best = choose(reading, vectors, out);
    if (best == NULL && pe_reading_is_negative(reading)) {
        pe_reading back = *reading;
        back.position = calloc(reading->tokens + 1, sizeof(double));
        for (size_t t = 0; t < reading->tokens && back.position != NULL; t++)
            back.position[t] = -reading->position[t];
        best = back.position != NULL ? choose(&back, vectors, out) : NULL;
        out->mirrored = best != NULL;
        free(back.position);
    }
    if (best != NULL && out->exceptions > 0 && is_listed_better(reading, out))
        best = NULL;
    /* few pairs find a position for any numbers */
    *found = best != NULL || (reading->pairs >= 8 && reading->quality > 1 - 1.0 / EXCEPTION);
    if (best == NULL) {
        take_list(reading, out);
        best = pe_position_list_of(reading);
    }
    *found = *found && !is_nowhere(reading, out);
    out->fault = *found && best->fault.name[0] != '\0' ? &best->fault : NULL;
    return PE_OK;
}

/* Where a cause moves the position of a token; what a list says holds for its own tokens only. */
static double move(const void *context, size_t token, double claimed)
{
    const pe_cause *cause = context;
    const pe_position_rule *of = (const pe_position_rule *)cause->fault; /* its first member */
    const double sign = cause->mirrored ? -1 : 1;
    return of->predict != NULL ? sign * of->predict(cause, claimed) : cause->predicted[token];
}

bool pe_causes_is_multiple(const pe_cause *cause)
{
    const pe_position_rule *of = (const pe_position_rule *)cause->fault;
    return of != NULL && of->kind == PE_POSITIONS_MULTIPLIED;
}

bool pe_causes_is_line(const pe_cause *cause)
{
    const pe_position_rule *of = (const pe_position_rule *)cause->fault;
    return of != NULL && of->kind == PE_POSITIONS_ON_A_LINE;
}

bool pe_causes_is_list(const pe_cause *cause)
{
    const pe_position_rule *of = (const pe_position_rule *)cause->fault;
    return of != NULL && of->kind == PE_POSITIONS_LISTED;
}

/* Rows [t, end] of the list have one step. Two rows are a run where that is 0 or the claimed one. */
static size_t end_of_run(const pe_cause *cause, size_t t)
{
    const double *p = cause->predicted;
    size_t end = t + 1;
    while (end + 1 < cause->rows && pe_position_is_near(p[end + 1] - p[end], p[t + 1] - p[t]))
        end++;
    if (end >= cause->rows)
        return t;
    return end > t + 1 || pe_position_is_near(p[end], p[t]) || pe_position_is_near(p[end], p[t] + 1)
               ? end
               : t;
}

/* The first runs of the list. */
static void tell_runs(const pe_cause *cause, pe_buffer *out)
{
    enum { MOST = 4 };
    const double *p = cause->predicted;
    size_t t = 0;
    for (size_t n = 0; t < cause->rows && n < MOST; n++) {
        const size_t end = end_of_run(cause, t);
        pe_buffer_str(out, n == 0 ? "; " : ", ");
        if (end == t)
            pe_buffer_format(out, "row %zu at %.6g", t, p[t]);
        else
            pe_buffer_format(out, "rows %zu to %zu at %.6g", t, end, p[t]);
        if (end > t && !pe_position_is_near(p[end], p[t]))
            pe_buffer_format(out, " to %.6g", p[end]);
        t = end + 1;
    }
    pe_buffer_str(out, t < cause->rows ? " and so on" : "");
    for (t = 1; t < cause->rows && cause->fault == &pe_positions_listed.fault; t++)
        if (p[t] < p[t - 1] - PE_POSITION_NEAR) {
            const bool still = t + 1 < cause->rows && pe_position_is_near(p[t], 0) &&
                               pe_position_is_near(p[t + 1], 0);
            pe_buffer_str(out, still ? "; rows that stay at 0 are not rotated, or were not written "
                                       "(cosines of 1, sines of 0)"
                                     : "; they restart or wrap");
            return;
        }
}

/* Are its numbers such as people choose? A list has none. */
static bool are_tidy(const pe_cause *cause)
{
    return pe_causes_is_list(cause) ||
           (pe_position_is_tidy(cause->a) && pe_position_is_tidy(cause->b));
}

void pe_causes_apply(const pe_cause *cause, pe_guess *guess)
{
    const pe_position_rule *of = (const pe_position_rule *)cause->fault;
    if (cause->fault == NULL)
        return;
    static const pe_fault negative = {
        .name = "inverse",
        .rule = "the rotation was the inverse one: the sign of the sine is the opposite",
        .remedy = "take the sine's sign as in x cos(a) + rotate(x) sin(a)"};
    if (cause->mirrored && guess->n_faults < PE_FAULTS_MAX) {
        pe_guess_say(guess, &negative, negative.remedy);
        pe_buffer_str(&guess->rule, negative.rule);
    }
    guess->distortion.positions.move = move;
    guess->distortion.positions.cause = cause;
    pe_guess_say(guess, cause->fault, of->remedy);
    guess->fitted |= of->fitted || !are_tidy(cause);
    pe_guess_format(guess, of->fault.rule, cause->a, cause->b);
    if (of == &pe_positions_listed || of == &pe_positions_permuted)
        tell_runs(cause, &guess->rule);
}

void pe_cause_free(pe_cause *cause)
{
    free(cause->predicted);
    cause->predicted = NULL;
}
