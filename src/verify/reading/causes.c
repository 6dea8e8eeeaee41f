/* SPDX-License-Identifier: MIT */
/* causes.c - what a reading says of the positions and the frequencies: a named mistake, or the numbers. */
#include "verify/reading/causes.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "verify/mistakes/sequence.h"
#include "verify/upload/geometry.h"

#define EXCEPTION 4    /* one of so many rows may be something else */
#define NEAR      0.03 /* of a position: how well it is measured */

static bool is_near(double x, double y)
{
    return isfinite(y) && fabs(x - y) <= NEAR + 1e-6 * fabs(y);
}

static pe_sequence positions_of(const pe_reading *reading)
{
    return (pe_sequence){.of_positions = true,
                         .n = reading->tokens,
                         .claimed = reading->claimed,
                         .measured = reading->position,
                         .first = reading->claimed[0]};
}

/* Of the mistakes that most rows have, the first with the fewest exceptions. */
static const pe_slip *choose(pe_sequence *s, bool vectors, pe_cause *out)
{
    const pe_slip *best = NULL;
    size_t least = s->n / EXCEPTION + 1;
    for (size_t k = 0; k < pe_mistakes_of_positions.n; k++) {
        const pe_slip *row = &pe_mistakes_of_positions.row[k];
        if ((row->fault.vectors_only && !vectors) || !pe_sequence_read(s, row))
            continue;
        const size_t exceptions = pe_sequence_exceptions(s);
        if (exceptions < least) {
            best = row;
            least = exceptions;
            out->made = *s;
        }
    }
    for (size_t i = 0; i < s->n && best != NULL; i++)
        out->predicted[i] = pe_sequence_at(&out->made, i);
    out->exceptions = best != NULL ? least : 0;
    out->made.measured = NULL; /* which are the caller's */
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

static const pe_slip *list_of(const pe_reading *reading)
{
    const pe_sequence s = positions_of(reading);
    return pe_positions_list_of(&s);
}

/* A mistake with exceptions, of which some have a position of their own: does the list say more? */
static bool is_listed_better(const pe_reading *r, const pe_cause *cause)
{
    size_t elsewhere = 0;
    for (size_t t = 0; t < r->tokens; t++)
        elsewhere += isfinite(r->position[t]) && !is_near(r->position[t], cause->predicted[t]);
    return r->pairs >= 8 && r->quality == 1 && !cause->mirrored &&
           (list_of(r) == &pe_positions_run_on || elsewhere * 8 > r->tokens);
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

/* Positions that are negative may be those of a mistake, mirrored. */
static const pe_slip *choose_mirrored(const pe_reading *r, bool vectors, pe_cause *out)
{
    pe_sequence back = positions_of(r);
    double *mirrored = calloc(r->tokens + 1, sizeof *mirrored);
    for (size_t t = 0; t < r->tokens && mirrored != NULL; t++)
        mirrored[t] = -r->position[t];
    back.measured = mirrored;
    const pe_slip *best = mirrored != NULL ? choose(&back, vectors, out) : NULL;
    out->mirrored = best != NULL;
    free(mirrored);
    return best;
}

pe_status pe_causes_find(const pe_reading *reading, bool vectors, pe_cause *out, bool *found,
                         pe_problem *why)
{
    pe_sequence s = positions_of(reading);
    *out = (pe_cause){.rows = reading->tokens,
                      .predicted = calloc(reading->tokens + 1, sizeof(double))};
    if (out->predicted == NULL)
        return pe_fail_memory(why);
    const pe_slip *best = choose(&s, vectors, out);
    if (best == NULL && pe_reading_is_negative(reading))
        best = choose_mirrored(reading, vectors, out);
    if (best != NULL && out->exceptions > 0 && is_listed_better(reading, out))
        best = NULL;
    /* few pairs find a position for any numbers */
    *found = best != NULL || (reading->pairs >= 8 && reading->quality > 1 - 1.0 / EXCEPTION);
    if (best == NULL) {
        take_list(reading, out);
        best = list_of(reading);
    }
    *found = *found && !is_nowhere(reading, out);
    out->patch = *found && best->fault.name != NULL ? best : NULL;
    return PE_OK;
}

/* Where a cause moves the position of a token; what a list says holds for its own tokens only. */
static double move(const void *context, size_t token, double claimed)
{
    const pe_cause *cause = context;
    if (cause->patch->op == NULL)
        return cause->predicted[token];
    const pe_sequence one = {.n = 1,
                             .claimed = &claimed,
                             .first = cause->made.first,
                             .a = cause->made.a,
                             .b = cause->made.b};
    return (cause->mirrored ? -1 : 1) * pe_equation_at(&cause->made.made, &one, 0);
}

bool pe_causes_is_multiple(const pe_cause *cause)
{
    return cause->patch != NULL && cause->patch->multiplies;
}

bool pe_causes_is_line(const pe_cause *cause)
{
    return cause->patch != NULL && cause->patch->is_line;
}

bool pe_causes_is_list(const pe_cause *cause)
{
    return cause->patch != NULL && cause->patch->op == NULL;
}

/* ---- telling ---- */

/* Rows [t, end] of the list have one step. Two rows are a run where that is 0 or the claimed one. */
static size_t end_of_run(const pe_cause *cause, size_t t)
{
    const double *p = cause->predicted;
    size_t end = t + 1;
    while (end + 1 < cause->rows && is_near(p[end + 1] - p[end], p[t + 1] - p[t]))
        end++;
    if (end >= cause->rows)
        return t;
    return end > t + 1 || is_near(p[end], p[t]) || is_near(p[end], p[t] + 1) ? end : t;
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
        if (end > t && !is_near(p[end], p[t]))
            pe_buffer_format(out, " to %.6g", p[end]);
        t = end + 1;
    }
    pe_buffer_str(out, t < cause->rows ? " and so on" : "");
    for (t = 1; t < cause->rows && cause->patch == &pe_positions_other; t++)
        if (p[t] < p[t - 1] - NEAR) {
            pe_buffer_str(out, "; they restart or wrap");
            return;
        }
}

/* A number as people choose it: whole, or with a half, third or quarter; of other fractions only
 * those that were computed are. */
static bool is_tidy(double x)
{
    for (int n = 1; n <= 12; n++)
        if (fabs(n * x - round(n * x)) <= (n == 1 ? NEAR : n <= 4 ? 1e-2 : 1e-9))
            return true;
    return false;
}

void pe_causes_apply(const pe_cause *cause, pe_guess *guess)
{
    const pe_slip *of = cause->patch;
    if (of == NULL)
        return;
    static const pe_fault negative = {
        .name = PE_NAME(inverse),
        .rule = "the rotation was the inverse one: the sign of the sine is the opposite"};
    if (cause->mirrored && guess->n_faults < PE_FAULTS_MAX) {
        pe_guess_tell(guess, &negative, 0, 0);
    }
    guess->distortion.positions.move = move;
    guess->distortion.positions.cause = cause;
    pe_guess_tell(guess, &of->fault, cause->made.a, cause->made.b);
    guess->fitted |=
        of->fitted || (of->op != NULL && !(is_tidy(cause->made.a) && is_tidy(cause->made.b)));
    if (of == &pe_positions_other || of == &pe_positions_permuted)
        tell_runs(cause, &guess->rule);
}

void pe_cause_free(pe_cause *cause)
{
    free(cause->predicted);
    cause->predicted = NULL;
}

/* ==== claimed and measured frequencies of the pairs of an upload ==== */

pe_status pe_inv_freq_make(const pe_guess *guess, pe_sequence *s, pe_problem *why)
{
    s->plain = calloc(2 * s->n + 1, sizeof *s->plain);
    if (s->plain == NULL)
        return pe_fail_memory(why);
    s->put = s->plain + s->n;
    s->values = &guess->values;
    s->listed = pe_geometry_has_rope_type(&guess->values, "longrope") ||
                pe_values_present(&guess->values, "freq_factors") ||
                pe_values_present(&guess->values, "lerope_alpha");
    /* of axes with frequencies of their own there is no one progression */
    if (!pe_values_present(&guess->values, "axes_dims") &&
        pe_values_present(&guess->values, "rope_theta"))
        s->theta = pe_values_real(&guess->values, "rope_theta");
    const double theta = s->theta;
    for (size_t i = 0; i < s->n; i++)
        s->plain[i] = theta > 0 ? pow(theta, -(double)i / (double)s->n) : s->claimed[i];
    s->least = 1;
    for (size_t i = 0; i < s->n; i++)
        s->least = fmin(s->least, pe_sequence_part(s, i));
    return PE_OK;
}

void pe_inv_freq_free(pe_sequence *inv_freq)
{
    free(inv_freq->plain);
    *inv_freq = (pe_sequence){.n = 0};
}

pe_sequence pe_inv_freq_of_reading(const pe_reading *r)
{
    const double turned = fabs(r->step) * floor((double)r->tokens / 2);
    const double far = fmax(fabs(r->claimed[0]), fabs(r->claimed[r->tokens - 1]));
    return (pe_sequence){.n = r->pairs,
                         .claimed = r->frequency,
                         .measured = r->turned,
                         .step = r->step,
                         .slack = 0.05,
                         .span = r->anchored ? fmax(turned, far) : turned};
}

/* ---- which mistake they have ---- */

/* Is a pair so fast that float32 angles do not resolve its turns? Where many are, it is not seen
 * which way pairs turn, and elements tell. */
static bool is_wild(const pe_sequence *s, double w)
{
    return s->held != 0 && fabs(w) * s->span > 0x1p10;
}

/* Pairs that are as the mistake makes them. */
typedef struct counts {
    size_t good, back, known, telling, wild; /* back: turning the other way */
} counts;

static counts count(const pe_sequence *s)
{
    counts n = {0};
    for (size_t i = 0; i < s->n && (n.known - n.good) * 20 <= s->n + n.back * 20; i++) {
        const double w = pe_sequence_at(s, i);
        n.wild += is_wild(s, w);
        if (isnan(s->measured[i]) || !isfinite(w) || is_wild(s, w))
            continue;
        const bool near = pe_sequence_is_near(s, i, w);
        n.known++;
        n.good += near;
        n.back += pe_sequence_is_near(s, i, -w);
        n.telling += near && !pe_sequence_is_near(s, i, s->claimed[i]);
    }
    return n;
}

static bool follows(pe_sequence *s)
{
    counts n = count(s);
    const pe_slip *of = s->by;
    if (s->span == 0)
        return n.good + (of->but_one && s->n > 8) >= s->n && n.telling > 0;
    const bool wild = n.wild * 4 > s->n;
    const bool faint = s->faint || (s->held != 0 && (of->subtle || of->faint));
    const size_t least = faint || wild ? 0 : of->may_be_one ? 1 : 2;
    n.good = wild && n.back > n.good ? n.back : n.good;
    s->unseen = wild && n.good < 2;
    return (n.known + n.wild) * 5 >= s->n * 4 && n.good * 20 >= n.known * 19 && n.telling >= least;
}

bool pe_inv_freq_next(pe_sequence *s, size_t *k, pe_guess *guess)
{
    if (s->n < 4 || guess->n_faults >= PE_FAULTS_MAX)
        return false;
    while (*k < pe_mistakes_of_frequencies.n) {
        const pe_slip *of = &pe_mistakes_of_frequencies.row[(*k)++];
        if (!pe_sequence_read(s, of) || !follows(s))
            continue;
        for (size_t i = 0; i < s->n; i++) {
            const double w = pe_sequence_at(s, i);
            const bool free = of->but_one && s->span == 0 && !pe_sequence_is_near(s, i, w);
            s->put[i] = free ? s->measured[i] : w;
        }
        guess->distortion.inv_freq = s->put;
        guess->distortion.inv_freq_pairs = s->n;
        guess->distortion.values_inexact = true;
        guess->fitted |= of->fitted || s->unseen;
        pe_guess_tell(guess, &of->fault, s->a, s->b);
        return true;
    }
    return false;
}
