/* SPDX-License-Identifier: MIT */
/* head_positions.c - rotated vectors of which some heads or batch items are at other positions. */
#include "verify/head_positions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/turns.h"
#include "verify/beside.h"
#include "verify/faults.h"
#include "verify/findings.h"

#define FARTHEST  512 /* from the claimed position, how far another one is looked for */
#define PAIR_WORK 8   /* units */

/* Positions of the rows that were looked at. */
typedef struct found {
    const pe_beside *of;
    double *claimed, *is; /* [rows] owned; NAN: none */
    bool axis_only;       /* only an axis that positions run along is told */
} found;

/* Does the vector turn by the position times each frequency? */
static bool is_at(const pe_beside *b, size_t row, double position)
{
    const pe_geometry *g = &b->at;
    for (size_t i = 0; i < b->pairs; i++) {
        const size_t c = g->cos_at + i * g->stride, s = g->sin_at + i * g->stride;
        const double u = pe_beside_input(b, row, c), v = pe_beside_input(b, row, s);
        const double x = b->amplitude * cos(position * b->frequency[i]);
        const double y = b->amplitude * sin(position * b->frequency[i]);
        const double slack = (fabs(u) + fabs(v)) * b->amplitude *
                             (4 * pe_upload_view_roundoff(b->view) + 0x1p-19 +
                              0x1p-20 * fabs(position * b->frequency[i]));
        if (!(fabs(pe_beside_got(b, row, c) - u * x + v * y) <= slack) ||
            !(fabs(pe_beside_got(b, row, s) - v * x - u * y) <= slack))
            return false;
    }
    return true;
}

/* The nearest first; near 0, too, where a head or item may count from. */
static double find_position(const pe_beside *b, size_t row, double claimed)
{
    pe_turn_spend(PAIR_WORK * (3 * FARTHEST + b->pairs));
    for (int k = 0; k <= 2 * FARTHEST; k++) {
        const double by = k % 2 == 0 ? k / 2 : -(k + 1) / 2;
        if (is_at(b, row, claimed + by))
            return claimed + by;
    }
    for (int k = 0; k < 2 * FARTHEST; k++) {
        const double at = k % 2 == 0 ? k / 2 : -(k + 1) / 2;
        if (is_at(b, row, at))
            return at;
    }
    return nan("");
}

/* The part of the rows that have a position. */
static double read_positions(found *at)
{
    const pe_beside *b = at->of;
    size_t n = 0;
    for (size_t r = 0; r < b->rows; r++) {
        const double angle = b->angle[r * b->pairs];
        at->claimed[r] =
            b->frequency[0] != 0 ? round(0x1p20 * angle / b->frequency[0]) / 0x1p20 : 0;
        at->is[r] = find_position(b, r, at->claimed[r]);
        n += isnan(at->is[r]) ? 0 : 1;
        if (r == 15 && n < 4)
            return 0;
    }
    return (double)n / (double)b->rows;
}

/* ---- what rows have in common ---- */

typedef size_t unit_of(const pe_beside *b, size_t row);

/* Do all rows have the number of their unit for a position, counted from this one? */
static bool counts_from(const found *at, unit_of *of, double first, double sign)
{
    for (size_t r = 0; r < at->of->rows; r++)
        if (!isnan(at->is[r]) && at->is[r] != sign * (first + (double)of(at->of, r)))
            return false;
    return of(at->of, at->of->rows - 1) > 0;
}

/* The angles are negative, too. */
static bool counts_backwards(const found *at, unit_of *of)
{
    return counts_from(at, of, at->claimed[0], -1) || counts_from(at, of, 0, -1);
}

static bool counts_units(const found *at, unit_of *of)
{
    return counts_from(at, of, at->claimed[0], 1) || counts_from(at, of, 0, 1) ||
           counts_backwards(at, of);
}

/* The shift of most rows of a unit; NAN: they have none. */
static double shift_of(const found *at, unit_of *of, size_t unit)
{
    for (size_t k = 0; k < at->of->rows; k++) {
        size_t same = 0, all = 0;
        if (of(at->of, k) != unit || isnan(at->is[k]))
            continue;
        const double shift = at->is[k] - at->claimed[k];
        for (size_t r = k; r < at->of->rows; r++)
            if (of(at->of, r) == unit) {
                all++;
                same += at->is[r] - at->claimed[r] == shift;
            }
        if (all > 1 && 10 * same >= 7 * all)
            return shift;
        if (all < 4)
            break;
    }
    return nan("");
}

static bool tell_shifts(const found *at, unit_of *of, const char *name, pe_buffer *out)
{
    const size_t units = of(at->of, at->of->rows - 1) + 1;
    size_t n = 0;
    for (size_t u = 0; u < units && units > 1; u++) {
        const double shift = shift_of(at, of, u);
        if (isnan(shift))
            return false;
        n += shift != 0;
        if (shift != 0 && n <= 4)
            pe_buffer_format(out, "%s%s %zu", n > 1 ? ", " : "positions are shifted: those of ",
                             name, u);
        if (shift != 0 && n <= 4)
            pe_buffer_format(out, " by %.6g", shift);
    }
    pe_buffer_str(out, n > 4 ? ", and more" : "");
    return n > 0;
}

/* Are all vectors of a token at one position? Then it is that of the token. */
static bool differ_nowhere(const found *at)
{
    bool same = true;
    for (size_t r = 0; r < at->of->rows; r++)
        for (size_t k = 0; k < r && same; k++)
            same = at->claimed[k] != at->claimed[r] || isnan(at->is[k]) || isnan(at->is[r]) ||
                   at->is[k] == at->is[r];
    return same;
}

static bool tell_positions(const found *at, pe_buffer *out)
{
    static const char *const of_heads = "positions run along heads, not tokens: the axis "
                                        "(seq_axis) is another one";
    static const char *const of_items = "positions run along batch items, not tokens: the axis "
                                        "(seq_axis) is another one";
    const char *text = counts_units(at, pe_beside_head)   ? of_heads
                       : counts_units(at, pe_beside_item) ? of_items
                                                          : NULL;
    if (text != NULL) {
        pe_buffer_str(out, text);
        if (counts_backwards(at, text == of_heads ? pe_beside_head : pe_beside_item))
            pe_buffer_str(out, "; the sign of the sine is the opposite: the rotation is inverse");
        return true;
    }
    if (at->axis_only || differ_nowhere(at))
        return false;
    if (tell_shifts(at, pe_beside_item, "batch item", out))
        return true;
    out->bytes = 0;
    if (tell_shifts(at, pe_beside_head, "head", out))
        return true;
    out->bytes = 0;
    for (size_t r = 0; r < at->of->rows; r++)
        if (!isnan(at->is[r]) && at->is[r] != at->claimed[r]) {
            pe_buffer_format(out,
                             "vectors are at other positions: that of head %zu and item %zu at "
                             "%.6g is shifted to position %.6g",
                             pe_beside_head(at->of, r), pe_beside_item(at->of, r), at->claimed[r],
                             at->is[r]);
            return true;
        }
    return false;
}

static pe_status tell(pe_search *s, const found *at, double part, pe_problem *why)
{
    static const pe_fault fault = {
        .name = "head_positions",
        .remedy = "give each token of each head and item its own position: check seq_axis, "
                  "padding and offsets of the batch"};
    pe_buffer rule = {0};
    pe_status status = PE_OK;
    if (tell_positions(at, &rule))
        status = pe_findings_tell(s->report, at->of->guess,
                                  &(pe_told){&fault, pe_buffer_text(&rule), .fitted = true}, why,
                                  "%.0f of %zu vectors that were looked at have a position",
                                  part * (double)at->of->rows, at->of->rows);
    pe_buffer_free(&rule);
    return status;
}

static pe_status try_positions(pe_search *s, pe_guess *guess, bool axis_only, pe_problem *why)
{
    bool made = false;
    pe_beside b;
    if (!s->whole->rotated || guess->n_faults >= PE_FAULTS_MAX)
        return PE_OK;
    pe_status status = pe_attempts_set_positions(s, s->whole, guess, why);
    if (status == PE_OK)
        status = pe_beside_make(&(pe_comparison){s->whole, guess, &s->work}, &b, &made, why);
    if (status != PE_OK || !made)
        return status;
    found at = {
        .of = &b, .claimed = calloc(2 * b.rows + 1, sizeof(double)), .axis_only = axis_only};
    if (at.claimed == NULL) {
        pe_beside_free(&b);
        return pe_fail_memory(why);
    }
    at.is = at.claimed + b.rows;
    s->work += 8 * b.rows * b.width;
    const double part = b.rows > 1 ? read_positions(&at) : 0;
    if (part > 0.9)
        status = tell(s, &at, part, why);
    free(at.claimed);
    pe_beside_free(&b);
    return status;
}

pe_status pe_head_positions_try(pe_search *s, pe_guess *guess, pe_problem *why)
{
    return try_positions(s, guess, false, why);
}

pe_status pe_head_positions_axis(pe_search *s, pe_guess *guess, pe_problem *why)
{
    return try_positions(s, guess, true, why);
}

pe_status pe_head_positions_behind(pe_search *s, pe_guess *guess, pe_problem *why)
{
    pe_status status = PE_OK;
    for (size_t f = 0; f < pe_faults_n && s->whole->rotated && status == PE_OK; f++) {
        const char *param = pe_faults[f].param;
        if (param != NULL && strcmp(param, "rope_theta") == 0 && pe_attempts_go_on(s))
            status = pe_attempts_with_fault(s, guess, &pe_faults[f], pe_head_positions_try, why);
    }
    return status;
}
