/* SPDX-License-Identifier: MIT */
/* approximations.c - tables of pairs that are nearly what is claimed: how their errors come. */
#include "verify/approximations.h"

#include <math.h>
#include <stdlib.h>

#include "base/turns.h"
#include "verify/beside.h"
#include "verify/findings.h"

#define TURN 6.283185307179586
#define MOST 0.97 /* the part of the elements or pairs that follow a cause */
#define FAR  0.12 /* of the amplitude: what is farther off is no approximation */

#define CELL_WORK  16 /* units, of a pair of a row that is measured */
#define AGAIN_WORK 1  /* that is looked at once more */

/* A pair of a row: what was uploaded over what is claimed. */
typedef struct cell {
    double radius, phase; /* 1 and 0: no error; NAN: nothing is claimed there */
    double angle;         /* claimed */
    double slack;         /* of the phase */
} cell;

/* Rows beside a guess, and the cells of those that have pairs. */
typedef struct cells {
    const pe_beside *b;
    cell *at; /* [n] owned: [rows][pairs] */
    size_t n;
} cells;

typedef struct row {
    pe_fault fault;
    bool (*read)(const cells *all, double *a, double *c);
    enum { NAMED, FITTED, FITTED_ANYWHERE } how; /* anywhere: elements may be far off */
} row;

/* Vectors are turned from their inputs. */
static cell cell_of(const pe_beside *b, size_t r, size_t i)
{
    const pe_geometry *g = &b->at;
    const size_t c = g->cos_at + i * g->stride, s = g->sin_at + i * g->stride;
    const size_t at = r * b->pairs + i;
    const cell none = {.radius = nan("")};
    if (i >= g->cos_n || i >= g->sin_n)
        return none;
    const bool vectors = b->view->rotated;
    const double x = vectors ? b->want[r * b->width + c] : b->cosine[at];
    const double y = vectors ? b->want[r * b->width + s] : b->sine[at];
    const double gx = pe_beside_got(b, r, c), gy = pe_beside_got(b, r, s), size = hypot(x, y);
    const double slack = b->slack[r * b->width + c] + 2 * pe_beside_rounding(b, size);
    const cell is = {.radius = hypot(gx, gy) / size,
                     .phase = atan2(gy * x - gx * y, gx * x + gy * y),
                     .angle = b->angle[at],
                     .slack = slack / size};
    return size > 0 && isfinite(is.radius) ? is : none;
}

static bool is_known(const cell *at)
{
    return !isnan(at->radius);
}

static pe_status make_cells(const pe_beside *b, cells *out, pe_problem *why)
{
    *out = (cells){b, NULL, b->rows * b->pairs};
    out->at = calloc(out->n + 1, sizeof *out->at);
    if (out->at == NULL)
        return pe_fail_memory(why);
    for (size_t e = 0; e < out->n; e++)
        out->at[e] = cell_of(b, e / b->pairs, e % b->pairs);
    pe_turn_spend(CELL_WORK * out->n);
    return PE_OK;
}

/* ---- phases ---- */

/* An angle without whole turns. */
static double wrapped(double angle)
{
    return angle - TURN * round(angle / TURN);
}

static bool is_round(const cell *at)
{
    return fabs(at->radius - 1) <= 2 * at->slack + 0x1p-16;
}

/* The same in all pairs and rows. */
static bool read_phase(const cells *all, double *a, double *unused)
{
    double x = 0, y = 0;
    size_t good = 0, known = 0;
    (void)unused;
    for (size_t e = 0; e < all->n; e++)
        if (is_known(&all->at[e])) {
            x += cos(all->at[e].phase);
            y += sin(all->at[e].phase);
        }
    *a = atan2(y, x);
    for (size_t e = 0; e < all->n; e++) {
        const cell *at = &all->at[e];
        known += is_known(at);
        good += is_round(at) && fabs(wrapped(at->phase - *a)) <= 2 * at->slack + 0x1p-16;
    }
    pe_turn_spend(2 * AGAIN_WORK * all->n);
    return known > 8 && good * 100 >= known * 99 &&
           fabs(*a) > 0x1p-10 + 8 * pe_upload_view_roundoff(all->b->view);
}

/* Pairs have phases of their own, which are the same in all rows: from a to c. */
static bool read_phases(const cells *all, double *a, double *c)
{
    size_t good = 0, known = 0;
    *a = HUGE_VAL;
    *c = -HUGE_VAL;
    for (size_t e = 0; e < all->n && all->b->rows > 7; e++) {
        const cell *at = &all->at[e], *first = &all->at[e % all->b->pairs];
        if (!is_known(at) || !is_known(first))
            continue;
        known++;
        good += is_round(at) &&
                fabs(wrapped(at->phase - first->phase)) <= 2 * (at->slack + first->slack) + 0x1p-16;
        *a = fmin(*a, first->phase);
        *c = fmax(*c, first->phase);
    }
    pe_turn_spend(AGAIN_WORK * all->n);
    return known > 8 && good * 100 >= known * 99 &&
           *c - *a > 0x1p-10 + 8 * pe_upload_view_roundoff(all->b->view) &&
           fabs(all->b->angle[0]) < 1;
}

/* ---- quantized elements ---- */

static bool is_lattice(const pe_beside *b, double steps)
{
    size_t good = 0;
    for (size_t r = 0; r < b->rows; r++)
        for (size_t c = 0; c < b->width; c++) {
            const double x = pe_beside_got(b, r, c) * steps;
            good += fabs(x - round(x)) < 0.02 &&
                    fabs(pe_beside_got(b, r, c) - b->want[r * b->width + c]) * steps <= 1.05;
        }
    pe_turn_spend(b->rows * b->width);
    return (double)good >= MOST * (double)(b->rows * b->width);
}

static bool read_lattice(const cells *all, double *a, double *unused)
{
    static const double steps[] = {7,    8,    15,   16,   31,    32,    63,    64,    100,  127,
                                   128,  255,  256,  511,  512,   1000,  1023,  1024,  2047, 2048,
                                   4095, 4096, 8191, 8192, 10000, 16383, 16384, 32767, 32768};
    const pe_upload_view *view = all->b->view;
    (void)unused;
    for (size_t k = 0; k < PE_LEN(steps) && !view->rotated; k++)
        if (pe_upload_view_roundoff(view) * steps[k] < 0.01 && is_lattice(all->b, steps[k])) {
            *a = steps[k];
            return true;
        }
    return false;
}

static int significant_bits(double x)
{
    int exponent, n = 0;
    for (double left = fabs(frexp(x, &exponent)); left > 0 && n < 53; n++) {
        left *= 2;
        left -= left >= 1;
    }
    return n;
}

static bool read_bits(const cells *all, double *a, double *unused)
{
    const pe_beside *b = all->b;
    size_t by_bits[54] = {0}, n = 0;
    (void)unused;
    for (size_t r = 0; r < b->rows; r++)
        for (size_t c = 0; c < b->width; c++)
            by_bits[significant_bits(pe_beside_got(b, r, c))]++;
    pe_turn_spend(4 * b->rows * b->width);
    size_t bits = 0;
    while (bits < 53 && (double)n < MOST * (double)(b->rows * b->width))
        n += by_bits[bits++];
    *a = (double)bits - 1;
    return bits > 2 && bits <= 15 && exp2(-*a) > 4 * pe_upload_view_roundoff(b->view);
}

/* ---- angles ---- */

/* Whole turns of the angle, which a reduction takes off. */
static double turns_of(const cell *at)
{
    return floor(at->angle / TURN);
}

/* The phase falls behind by the same for each turn: from few turns to many. */
static double read_slope(const cells *all)
{
    double slope = 0;
    for (int bits = 1; bits <= 20; bits++) {
        double up = 0, down = 0;
        const double most = ldexp(1, bits);
        for (size_t e = 0; e < all->n; e++) {
            const double n = turns_of(&all->at[e]);
            if (!is_known(&all->at[e]) || fabs(n) > most)
                continue;
            up += n * wrapped(all->at[e].phase - slope * n);
            down += n * n;
        }
        slope += down > 0 ? up / down : 0;
        pe_turn_spend(AGAIN_WORK * all->n);
    }
    return slope;
}

static bool read_reduction(const cells *all, double *a, double *unused)
{
    const double slope = read_slope(all);
    size_t good = 0, telling = 0;
    (void)unused;
    for (size_t e = 0; e < all->n; e++) {
        const cell *at = &all->at[e];
        const double behind = slope * turns_of(at);
        const bool tells = is_known(at) && fabs(behind) > 4 * at->slack;
        telling += tells;
        good += tells && fabs(wrapped(at->phase - behind)) <= 2 * at->slack + 0.02 * fabs(behind);
    }
    *a = TURN - slope;
    return telling > 8 && (double)good >= 0.9 * (double)telling && fabs(slope) < 0.1;
}

/* ---- tables of sines ---- */

/* Between two entries of a table of n a chord goes, which is inside of the circle. */
static bool read_chords(const cells *all, double *a, double *unused)
{
    double least = 1, most = 0;
    const double slack = 2 * pe_upload_view_roundoff(all->b->view) + 0x1p-21;
    (void)unused;
    for (size_t e = 0; e < all->n; e++)
        if (is_known(&all->at[e])) {
            least = fmin(least, all->at[e].radius);
            most = fmax(most, all->at[e].radius);
        }
    *a = round(TURN / 2 / acos(least));
    const double power = round(log2(*a));
    if (fabs(log2(*a) - power) < 0.03)
        *a = exp2(power);
    return 1 - least > 4 * slack && most <= 1 + 2 * slack && least > 0.9 && *a >= 16;
}

/* Phases are whole parts of a turn. */
static bool read_entries(const cells *all, double *a, double *unused)
{
    (void)unused;
    for (int bits = 6; bits <= 16; bits++) {
        size_t good = 0, known = 0;
        *a = ldexp(1, bits);
        for (size_t e = 0; e < all->n; e++) {
            const cell *at = &all->at[e];
            const double entry = (at->angle + at->phase) * *a / TURN;
            known += is_known(at);
            good += is_known(at) && fabs(entry - round(entry)) < 0.05;
        }
        pe_turn_spend(AGAIN_WORK * all->n);
        if (known > 8 && (double)good >= MOST * (double)known)
            return true;
    }
    return false;
}

/* ---- errors by rows ---- */

/* Of phases and radii. */
static double square_of(const cell *at)
{
    return at->phase * at->phase + (at->radius - 1) * (at->radius - 1);
}

/* The mean square error of a quarter of the rows. */
static double error_of(const cells *all, size_t quarter)
{
    double sum = 0, n = 0;
    const size_t pairs = all->b->pairs, first = quarter * all->b->rows / 4 * pairs;
    for (size_t e = first; e < (quarter + 1) * all->b->rows / 4 * pairs; e++)
        if (is_known(&all->at[e])) {
            sum += square_of(&all->at[e]);
            n++;
        }
    return n > 0 ? sqrt(sum / n) : 0;
}

/* Is the first row, wherever it is, nearly free of error? */
static bool begins_well(const cells *all, double error)
{
    double most = 0;
    for (size_t i = 0; i < all->b->pairs; i++)
        most = fmax(most, fabs(all->at[i].phase) + fabs(all->at[i].radius - 1));
    return most < error / 2;
}

static bool read_growth(const cells *all, double *first, double *last)
{
    if (all->b->rows < 16 || all->b->view->rotated)
        return false;
    *first = error_of(all, 0);
    *last = error_of(all, 3);
    return *last > 2 * *first && error_of(all, 2) > error_of(all, 1) && begins_well(all, *last);
}

/* In a type of `bits` significant bits. */
static bool read_coarse_growth(const cells *all, double *bits, double *unused)
{
    double first, last;
    (void)unused;
    return read_bits(all, bits, unused) && read_growth(all, &first, &last);
}

/* ---- errors in proportion to the angle ---- */

/* By which part of its frequency a pair turns too fast; *left: squares of what that leaves of the
 * errors, of which *of are. */
static double read_part(const cells *all, size_t i, double *left, double *of)
{
    double up = 0, down = 0, squares = 0;
    for (size_t e = i; e < all->n; e += all->b->pairs) {
        const cell *at = &all->at[e];
        if (!is_known(at))
            continue;
        up += at->phase * at->angle;
        down += at->angle * at->angle;
        squares += square_of(at);
    }
    *of += squares;
    *left += squares - (down > 0 ? up * up / down : 0);
    return down > 0 && up * up / down > 0.9 * squares ? up / down : 0;
}

static bool read_parts(const cells *all, double *least, double *most)
{
    double left = 0, of = 0;
    *least = *most = 1;
    for (size_t i = 0; i < all->b->pairs; i++) {
        const double times = 1 + read_part(all, i, &left, &of);
        *least = fmin(*least, times);
        *most = fmax(*most, times);
    }
    return all->b->rows > 7 && left < 0.05 * of;
}

/* No rounding does more. */
static bool read_small_parts(const cells *all, double *least, double *most)
{
    return read_parts(all, least, most) && *least > 0.9 && *most < 1.1;
}

/* ---- all that is known is their size ---- */

static bool read_size(const cells *all, double *a, double *unused)
{
    const pe_beside *b = all->b;
    (void)unused;
    *a = 0;
    for (size_t e = 0; e < b->rows * b->width; e++) {
        const double off = fabs(pe_beside_got(b, e / b->width, e % b->width) - b->want[e]);
        *a = isfinite(off) ? fmax(*a, off) : HUGE_VAL;
    }
    return isfinite(*a);
}

/* ---- the rows ---- */

static const row rows[] = {
    {{"phase_added", "a phase of {a} radians was added to all angles: they are shifted by it",
      .remedy = "make angles as position times inv_freq"},
     read_phase,
     FITTED_ANYWHERE},
    {{"elements_quantized",
      "elements are multiples of 1/{a}: they were quantized, or rounded to steps of that size",
      .remedy = "keep the table in floating-point numbers"},
     read_lattice,
     NAMED},
    {{"errors_grow",
      "elements have no more than {a} significant bits, and errors grow from row to row: rows are "
      "made from the row before, by a running product or sum that is rounded to these bits",
      .remedy = "make each row from its own position, in float32 or wider"},
     read_coarse_growth,
     FITTED},
    {{"elements_coarse",
      "elements have no more than {a} significant bits: they were rounded to a narrower type, or "
      "quantized",
      .remedy = "keep the table in the claimed type until it is used"},
     read_bits,
     NAMED},
    {{"angles_reduced",
      "angles were reduced by {a} for each turn, not by 2 pi: a range reduction of low precision",
      .remedy = "reduce angles by 2 pi in float64, or let sin and cos do it"},
     read_reduction,
     FITTED},
    {{"sine_entries",
      "sines are the nearest entries of a lookup table of {a} to the turn, without interpolation",
      .remedy = "compute sines and cosines, or interpolate"},
     read_entries,
     FITTED},
    {{"sine_chords",
      "sines are interpolated in a lookup table, as one of {a} entries to the turn: pairs are "
      "inside of the circle",
      .remedy = "compute sines and cosines, or take a longer table"},
     read_chords,
     FITTED},
};

static const row growth[] = {
    {{"frequencies_near",
      "errors grow in proportion to the position: pairs turn {a} to {b} times as fast as claimed; "
      "frequencies were rounded or scaled in other bands, or rows are a running product of a "
      "rounded step",
      .remedy = "make frequencies (inv_freq) in float32 or wider, with the claimed scaling, and "
                "rows from their own positions"},
     read_small_parts,
     FITTED},
    {{"frequencies_other",
      "pairs turn {a} to {b} times as fast as claimed: frequencies are others, as those of other "
      "bands",
      .remedy = "make frequencies (inv_freq) with the claimed scaling: factor, betas, original "
                "length"},
     read_parts,
     FITTED},
    {{"errors_grow",
      "errors grow from row to row, from {a} to {b}: rows are made from the row before, by a "
      "running sum or product that is rounded at each step",
      .remedy = "make each row from its own position"},
     read_growth,
     FITTED},
};

static const row last_resort[] = {
    {{"phases_added",
      "pairs have phases of their own, from {a} to {b} radians in all rows: their angles are "
      "shifted",
      .remedy = "make angles as position times inv_freq"},
     read_phases,
     FITTED_ANYWHERE},
    {{"approximate",
      "all elements are near the claimed ones, but no nearer than {a}: some step is an "
      "approximation, by low precision (bfloat16, float16), a running sum or product, a lookup "
      "table, a polynomial or a range reduction",
      .remedy = "compute frequencies, angles and waves in float32 or wider"},
     read_size,
     FITTED},
};

/* ---- trying ---- */

/* Few elements that are off are no way of computing all of them. Of those that are left at last,
 * memory goes bad in fewer (strays.c). */
static bool are_many(const pe_beside *b, bool at_last)
{
    size_t off = 0;
    const size_t all = b->rows * b->width;
    for (size_t e = 0; e < all; e++)
        off += pe_beside_is_claimed(b, e / b->width, e % b->width) ? 0 : 1;
    return off * (at_last ? 64 : 8) > all;
}

/* Is every element near the claimed one? */
static bool is_near(const pe_beside *b)
{
    size_t far = 0;
    const size_t all = b->rows * b->width;
    for (size_t e = 0; e < all; e++) {
        const double off = fabs(pe_beside_got(b, e / b->width, e % b->width) - b->want[e]);
        if (!isfinite(off))
            return false;
        far += off > FAR * b->amplitude * (b->view->rotated ? 2.0 : 1.0) ? 1 : 0;
    }
    return (double)far <= (1 - MOST) * (double)all;
}

/* The first row that the errors follow. */
static pe_status read_rows(pe_search *s, pe_guess *guess, const cells *all, bool near,
                           const row *first, size_t n, pe_problem *why)
{
    pe_status status = PE_OK;
    for (const row *at = first; at < first + n && status == PE_OK && !pe_attempts_found(s); at++) {
        double x = 0, y = 0;
        s->work += all->n;
        if ((near || at->how == FITTED_ANYWHERE) && at->read(all, &x, &y))
            status = pe_findings_tell(
                s->report, guess,
                &(pe_told){&at->fault, at->fault.rule, x, y, .fitted = at->how != NAMED}, why,
                "read off the errors of %zu rows", all->b->rows);
    }
    return status;
}

static pe_status try_rows(pe_search *s, pe_guess *guess, const row *first, size_t n,
                          pe_problem *why)
{
    bool made = false;
    pe_beside b;
    cells all;
    pe_status status = pe_attempts_set_positions(s, s->whole, guess, why);
    if (status == PE_OK)
        status = pe_beside_make(&(pe_comparison){s->whole, guess, &s->work}, &b, &made, why);
    if (status != PE_OK || !made)
        return status;
    if (are_many(&b, first == last_resort)) {
        status = make_cells(&b, &all, why);
        if (status == PE_OK)
            status = read_rows(s, guess, &all, is_near(&b), first, n, why);
        free(all.at);
    }
    pe_beside_free(&b);
    return status;
}

pe_status pe_approximations_try(pe_search *s, pe_guess *guess, pe_problem *why)
{
    return try_rows(s, guess, rows, PE_LEN(rows), why);
}

pe_status pe_approximations_growing(pe_search *s, pe_guess *guess, pe_problem *why)
{
    return try_rows(s, guess, growth, PE_LEN(growth), why);
}

pe_status pe_approximations_any(pe_search *s, pe_guess *guess, pe_problem *why)
{
    return try_rows(s, guess, last_resort, PE_LEN(last_resort), why);
}
