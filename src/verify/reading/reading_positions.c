/* SPDX-License-Identifier: MIT */
/* reading_positions.c - at which position each row of an upload of pairs is. */
#include "verify/reading/reading_positions.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/turns.h"

#define SLOW          (4 * PE_PHASE_ERROR)
#define GOOD_PAIRS    0.7 /* the part of the pairs that agree on a row's position */
#define FLOAT32_ANGLE 0x1p-20

/* Units of work: a pair of a row, whose position is sought. */
#define PAIR_WORK 24

/* Pairs whose angle float32 arithmetic cannot tell say nothing; nor do those that do not turn. */
static bool tells(double w, double position)
{
    return isfinite(w) && w != 0 && fabs(w * position) * FLOAT32_ANGLE < 1;
}

/* A pair that has hardly turned agrees with every frequency. It counts only where nothing else
 * does. */
static bool slow_pairs_count(const pe_reading_source *s, const double *w, double position)
{
    size_t turned = 0;
    for (size_t i = 0; i < s->pairs; i++)
        turned += tells(w[i], position) && fabs(w[i] * position) >= SLOW;
    return turned < 3 && turned < s->pairs;
}

/* The part of the pairs whose phase agrees with the position, and how they would move it. */
static double agreement(const pe_reading_source *s, const double *w, const double *row,
                        double position, double *better)
{
    double good = 0, all = 0, up = 0, down = 0;
    const double least = slow_pairs_count(s, w, position) ? 0 : SLOW;
    for (size_t i = 0; i < s->pairs; i++) {
        if (!tells(w[i], position) || fabs(w[i] * position) < least || isnan(row[i]))
            continue;
        const double off = pe_reading_wrap(row[i] - position * w[i]);
        all++;
        if (!(fabs(off) < PE_PHASE_ERROR + FLOAT32_ANGLE * fabs(w[i] * position)))
            continue;
        good++;
        up += off * w[i];
        down += w[i] * w[i];
    }
    *better = position + (down > 0 ? up / down : 0);
    return all > 0 ? good / all : 0;
}

/* From the slowest pair, whose turn is longer than most tables, to the fastest: each knows the
 * position better, and well enough to count the turns of the next. */
static double follow_phases(const pe_reading_source *s, const double *w, const double *row,
                            double start)
{
    double position = start;
    for (size_t k = 0; k < s->pairs; k++) {
        const size_t i = s->order[k];
        if (!tells(w[i], position) || isnan(row[i]))
            continue;
        const double off = pe_reading_wrap(row[i] - position * w[i]);
        position += off / w[i];
    }
    return position;
}

/* Farther off than the slowest pair can tell: an integer of 16 or 32 bits overflowed, or positions
 * begin anew. */
static double measure_afar(const pe_reading_source *s, const double *w, const double *row,
                           double claimed)
{
    static const double widths[] = {0x1p16, 0x1p32};
    double better;
    for (size_t k = 0; k < PE_LEN(widths) && claimed >= widths[k] / 2; k++)
        if (agreement(s, w, row, claimed - widths[k], &better) >= GOOD_PAIRS)
            return better;
    if (fabs(w[s->order[0]] * claimed) < PE_TURN / 2)
        return PE_NOWHERE;
    pe_turn_spend(PAIR_WORK * s->pairs);
    const double position = follow_phases(s, w, row, 0);
    return agreement(s, w, row, position, &better) < GOOD_PAIRS ? PE_NOWHERE : better;
}

/* PE_NOWHERE: no position makes such a row. Of positions that explain it the claimed one is
 * taken. */
static double measure_position(const pe_reading_source *s, const double *w, const double *row,
                               double claimed)
{
    double better;
    if (agreement(s, w, row, claimed, &better) >= GOOD_PAIRS && fabs(better - claimed) < 0.25)
        return better;
    double position = follow_phases(s, w, row, claimed);
    if (agreement(s, w, row, position, &better) < GOOD_PAIRS)
        return measure_afar(s, w, row, claimed);
    return better;
}

/* A whole number where it may be one. */
static double settled(double position, double claimed)
{
    const double whole = fabs(position - claimed) < 0.02 ? claimed : round(position);
    return fabs(position - whole) < 0.02 ? whole : position;
}

double pe_reading_positions(const pe_reading_source *s, const double *w, size_t stride,
                            pe_reading *r)
{
    double good = 0, all = 0;
    double *row = malloc((s->pairs + 1) * sizeof *row);
    for (size_t t = 0; t < r->tokens && row != NULL; t += stride) {
        pe_turn_spend((PAIR_WORK + PE_VECTOR_WORK * pe_upload_view_token_rows(s->view)) * s->pairs);
        pe_reading_phases(s, t, row);
        r->position[t] = settled(measure_position(s, w, row, r->claimed[t]), r->claimed[t]);
        good += isfinite(r->position[t]);
        all++;
    }
    free(row);
    return all > 0 ? good / all : 0;
}
