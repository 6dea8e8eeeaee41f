/* SPDX-License-Identifier: MIT */
/* wave_rows.c - how tables of sines and cosines by place go wrong: coordinates (op) and frequencies (also). */
#include <math.h>
#include <string.h>

#include "verify/plain/plain_waves.h"

#define TURN 6.283185307179586

/* ---- numbers that are read off the waves ---- */

/* The pair whose turns are told best: its claimed frequency is nearest to 1/8. */
static size_t best_pair(const pe_waves *t)
{
    size_t best = 0;
    const double *w = t->claimed.frequency;
    for (size_t i = 0; i < t->pairs; i++)
        if (fabs(log(8 * w[i])) < fabs(log(8 * w[best])))
            best = i;
    return best;
}

/* By how much the uploaded pair turns for each step of its coordinate. NAN: it has no steps. */
static double step_of(const pe_sequence *p, size_t pair)
{
    const pe_waves *t = p->state;
    const double *x = p->claimed + t->axis[pair] * t->rows;
    size_t row = 1;
    while (row < t->rows && x[row] == x[0])
        row++;
    return row < t->rows ? pe_waves_turn(p, p->of->got, row, pair) / (x[row] - x[0]) : nan("");
}

/* Coordinates are a (x + b), read off the pair whose turns are told best. */
static bool read_line(pe_sequence *p)
{
    const pe_waves *t = p->state;
    const size_t best = best_pair(t);
    const double w = t->claimed.frequency[best], k = step_of(p, best) / w;
    const bool coarse = p->of->roundoff > 0x1p-12;
    p->a = coarse ? pe_equation_tidy(k) : pe_equation_tidy(k * 840) / 840;
    const double by = pe_waves_start(p, best) / (w * p->a) - p->claimed[t->axis[best] * t->rows];
    p->b = round(by * 840) / 840;
    return isfinite(p->a) && isfinite(p->b) && p->a != 0 && (p->a != 1 || p->b != round(p->b)) &&
           t->forward;
}

/* Distances end at the row from which on rows differ from each other. */
static bool read_clamp(pe_sequence *p)
{
    pe_waves *t = p->state;
    size_t r = 1;
    while (r < t->rows && fabs(pe_waves_turn(p, p->of->got, r, 0)) <= 4 * p->of->roundoff)
        r++;
    p->a = fabs(p->claimed[r - 1]);
    t->made.clamp = HUGE_VAL;
    return r > 1 && r < t->rows && !t->forward && p->a != t->claimed.clamp;
}

/* The coordinate of the first row on an axis: slow pairs tell how many turns faster ones have
 * made, up to the one that is told best. */
static double read_start(const pe_sequence *p, size_t best)
{
    const pe_waves *t = p->state;
    const double *w = t->claimed.frequency;
    double at = 0, known = 0;
    for (size_t i = t->pairs; i-- > 0;) {
        if (t->axis[i] != t->axis[best] || !(w[i] > known) || w[i] > w[best])
            continue;
        const double angle = pe_waves_start(p, i);
        at = (angle + TURN * round((at * w[i] - angle) / TURN)) / w[i];
        known = w[i];
    }
    return at;
}

static bool read_shift(pe_sequence *p)
{
    const pe_waves *t = p->state;
    const size_t best = best_pair(t);
    p->a = round(read_start(p, best) - p->claimed[t->axis[best] * t->rows]);
    return isfinite(p->a) && fabs(p->a) > 1;
}

static bool read_held(pe_sequence *p)
{
    const pe_waves *t = p->state;
    const size_t best = best_pair(t);
    p->a = round(read_start(p, best));
    return isfinite(p->a) && t->height == 1 &&
           fabs(pe_waves_turn(p, p->of->got, 1, best)) <= 8 * p->of->roundoff + 0x1p-20;
}

/* Of n frequencies exponents are i/(n - 1) in timing signals, else i/n. value: how many more steps there
 * were to the last one. */
static bool read_denominator(pe_sequence *p)
{
    const double n = (double)pe_waves_ladder(p->state);
    const bool timing = strcmp(pe_numbers_resource(p->of), "sinusoidal/timing") == 0;
    p->b = timing ? n - 1 : n;
    p->a += p->b;
    return p->b > 0 && p->a > 0;
}

/* w = base^-e for all e: another base is a power of w. */
static bool read_base(pe_sequence *p)
{
    const pe_waves *t = p->state;
    const size_t best = best_pair(t);
    const double unit = t->unit[t->axis[best]], theta = pe_slip_number(p, "rope_theta");
    const double power =
        log(fabs(step_of(p, best)) / unit) / log(t->claimed.frequency[best] / unit);
    p->b = isnan(theta) ? pe_slip_number(p, "base") : theta;
    const double read = pow(p->b, power), digits = pow(10, floor(log10(read)) - 1);
    p->a = round(read / digits) * digits;
    return isfinite(log(p->a)) && log(p->a) / log(p->b) > 0 && p->a != p->b;
}

/* Types that angles and waves were rounded to: value is a grain; and_value 2 for angles, 4 for waves. */
static bool round_to(pe_sequence *p)
{
    pe_waves *t = p->state;
    const pe_grain *grain = &pe_grains[(size_t)p->a];
    const unsigned what = (unsigned)p->b;
    t->made.angles = (what & 2) != 0 ? grain : NULL;
    t->made.waves = (what & 4) != 0 ? grain : NULL;
    return true;
}

/* ---- rows that are counted otherwise ---- */

static double by_columns(const pe_sequence *p, size_t i)
{
    const pe_waves *t = p->state;
    const size_t axis = i / t->rows;
    return t->first[axis] + pe_waves_steps(t, i % t->rows, axis, t->height, true);
}

/* In lines of a. */
static double in_lines(const pe_sequence *p, size_t i)
{
    const pe_waves *t = p->state;
    const size_t axis = i / t->rows;
    return t->first[axis] + pe_waves_steps(t, i % t->rows, axis, (size_t)p->a, false);
}

/* ---- the rows ---- */

#define SCALE  "pass coordinates as they are: do not normalize them"
#define LADDER "check the base, the timescales and the denominator of the exponents"
#define WIDE   "keep frequencies and angles in float32; round the waves alone"

#define WAVE(NAME, ...) PE_SLIP(NAME, &pe_slip_waves, __VA_ARGS__)
#define ROUND(TYPE, WHAT)                                                                          \
    .solve = round_to, .fault.value = PE_GRAIN_##TYPE, .fault.and_value = (WHAT)
#define POWER(OF) .also = "fastest*(w/fastest)^(" OF ")"
#define WIDTH(OF)                                                                                  \
    .a = OF, .b = "side", .where = "other_side > 1 && a > 0 && a != b", .make = in_lines
#define OTHER                "other*other_unit/unit" /* the coordinate of the other axis */
#define UNITS                "grid && unit > 0 && other_unit > 0"
#define WHOLE                .a = "1/unit", .b = "1/other_unit", .op = "(x - centred*origin)/unit"
#define CENTRED(FROM, TIMES) .op = "(x + " FROM ")*" TIMES
#define EPS                  "(normalized && centred == 0 ? max(eps, 0) : 0)"
#define SIDES(MORE)                                                                                \
    .a = "side" MORE, .b = "other_side" MORE,                                                      \
    .op = "x*(normalized ? side + " EPS " : 1)/(side" MORE " + " EPS ")"

static const pe_slip rows[] = {
    WAVE(axes_exchanged, .where = "grid", .op = "origin + other - other_origin"),
    WAVE(
        axes_exchanged, .where = UNITS " && unit != other_unit", .op = OTHER,
        .fault.rule =
            "rows and columns are exchanged: each axis has the coordinates of the other, scaled by "
            "the other side"),
    WAVE(mesh_transposed, .where = "grid", .make = by_columns),
    WAVE(one_axis, .where = "other_side > 1", .op = "axis == 0 ? x : " OTHER),
    WAVE(one_axis, .where = "other_side > 1", .op = "axis == 1 ? x : " OTHER,
         .fault.rule = "all pairs have the coordinate of one axis, the row: the column is missing"),
    WAVE(grid_width, WIDTH("other_side")),
    WAVE(grid_width, WIDTH("side + 1"), .fault.rule = "the grid was {a} wide, not {b}"),
    WAVE(grid_width, WIDTH("side - 1"), .fault.rule = "the grid was {a} wide, not {b}"),
    WAVE(coordinates_negative, .op = "-x"),
    WAVE(coordinates_absolute, .where = "backward", .op = "abs(x)"),
    WAVE(coordinates_shifted, .op = "x + a", .fault.value = 1),
    WAVE(coordinates_shifted, .op = "x + a", .fault.value = -1,
         .fault.rule = "coordinates are shifted by {a}: one too small"),
    WAVE(coordinates_shifted, .op = "x + a", .fault.value = 0.5,
         .fault.rule = "coordinates are shifted by {a}: they are those of centres"),
    WAVE(coordinates_shifted, .where = "centred", .op = "x - 0.5",
         .fault.rule =
             "coordinates are those of corners, i/n, not of centres: 0.5 was not added to "
             "the patch",
         .fault.remedy = "add 0.5 to the row and the column before they are divided"),
    /* the claimed coordinate of patch i of n is (i + 1/2 - n/2) times 2/n */
    WAVE(coordinates_by_sides, .a = "max(side, other_side)",
         .where = "centred && side != other_side", CENTRED("(side - a)/2", "side/a")),
    WAVE(coordinates_by_sides, .a = "min(side, other_side)",
         .where = "centred && side != other_side", CENTRED("(side - a)/2", "side/a"),
         .fault.rule =
             "both axes were divided by the shorter side, {a} (min), not each by its own"),
    WAVE(coordinates_range, .where = "centred", CENTRED("side/2", "0.5")),
    WAVE(coordinates_plain, .where = "centred", CENTRED("(side - 1)/2", "side/2")),
    WAVE(one_axis, .where = "grid", .op = "axis == 1 ? origin + row : x",
         .fault.rule = "rows are the numbers of patches, counted one after the other (a flat "
                       "index): they were not divided by the width",
         .fault.remedy = "divide the number of a patch by the width"),
    WAVE(axis_missing, .where = "grid", .op = "axis == 0 ? 0 : x"),
    WAVE(axis_missing, .where = "grid", .op = "axis == 1 ? 0 : x",
         .fault.rule = "rows are missing: their coordinate is 0 in all patches"),
    WAVE(coordinates_plain, .where = UNITS " && (a != 1 || b != 1) && normalized == 0", WHOLE,
         .fault.rule =
             "coordinates are whole numbers, not scaled or normalized: columns were multiplied by "
             "{a}, rows by {b} (base_size or interpolation_scale was ignored)"),
    WAVE(coordinates_plain, .where = UNITS " && (a != 1 || b != 1) && normalized", WHOLE,
         .fault.rule = "coordinates are whole numbers of patches: they are neither normalized "
                       "nor multiplied by the scale (normalize was ignored)"),
    WAVE(coordinates_of_one_axis, .a = "other_unit/unit", .where = UNITS " && a != 1",
         .op = "axis == 0 ? a*x : x"),
    WAVE(coordinates_of_one_axis, .a = "unit/other_unit", .where = UNITS " && a != 1",
         .op = "axis == 1 ? a*x : x",
         .fault.rule = "rows are scaled as columns are, by the width: they were multiplied by {a}"),
    WAVE(two_pi, .op = "x/(2*pi)"),
    WAVE(two_pi, .a = "2*pi", .op = "a*x",
         .fault.rule = "coordinates were multiplied by 2 pi, {a}: turns were taken for radians"),
    WAVE(one_position, .solve = read_held, .op = "a"),
    WAVE(coordinates_by_sides, .where = "grid", SIDES(" - 1"),
         .fault.rule =
             "coordinates are divided by the sides less one: columns by {a}, rows by {b}"),
    WAVE(coordinates_by_sides, .where = "grid && normalized == 0", SIDES(""),
         .fault.rule = "coordinates are normalized by the sides of the grid: columns were "
                       "divided by {a}, rows by {b}",
         .fault.remedy = SCALE),
    WAVE(coordinates_scaled, .solve = read_line, .where = "b == 0", .op = "a*x"),
    WAVE(coordinates_linear, .solve = read_line, .where = "b != 0", .op = "a*(x + b)"),
    WAVE(coordinates_clamped, .solve = read_clamp, .op = "max(-a, min(a, x))"),
    WAVE(ladder_in_halves, .where = "tensors && pairs % 2 == 0 && ladder == pairs",
         .also = "w[i % 2*(pairs/2) + floor(i/2)]"),
    WAVE(base_other, .solve = read_base, .where = "a >= 100", POWER("ln(a)/ln(b)")),
    WAVE(exponents_halved,
         .fault.rule = "frequencies are the square root of the claimed ones: exponents were "
                       "halved, as if divided by twice the dimension",
         .fault.remedy = LADDER, POWER("0.5")),
    WAVE(exponents_doubled, POWER("2")),
    WAVE(freq_shift, .solve = read_denominator, POWER("b/a"), .fault.value = 1,
         .fault.rule =
             "exponents were divided by {a}, not by {b}: the denominator was larger by 1, "
             "as n for n - 1"),
    WAVE(freq_shift, .solve = read_denominator, POWER("b/a"), .fault.value = -1,
         .fault.rule = "exponents were divided by {a}, not by {b}: the denominator was smaller by "
                       "1, as n - 1 for n"),
    WAVE(exponents_positive, POWER("-1")),
    WAVE(bfloat16_inv_freq, .fault.remedy = WIDE, .also = "bfloat16(w)"),
    WAVE(bfloat16_angles, ROUND(BFLOAT16, 2)),
    WAVE(bfloat16_angles, .fault.rule = "frequencies and angles were computed in bfloat16",
         .also = "bfloat16(w)", ROUND(BFLOAT16, 2)),
    WAVE(bfloat16_arithmetic, .fault.remedy = WIDE, .also = "bfloat16(w)", ROUND(BFLOAT16, 6)),
    WAVE(float16_inv_freq, .fault.remedy = WIDE, .also = "float16(w)"),
    WAVE(float16_angles, ROUND(FLOAT16, 2)),
    WAVE(float16_angles, .fault.rule = "frequencies and angles were computed in float16",
         .also = "float16(w)", ROUND(FLOAT16, 2)),
    WAVE(float16_arithmetic, .fault.remedy = WIDE, .also = "float16(w)", ROUND(FLOAT16, 6)),
    WAVE(base_other, .solve = read_base, .where = "a < 100", /* which few take */
         POWER("ln(a)/ln(b)")),
    WAVE(coordinates_shifted, .solve = read_shift, .op = "x + a",
         .fault.rule = "coordinates are shifted by {a}: they start elsewhere, or lengths are "
                       "others"),
};
const pe_slips pe_mistakes_of_waves = {rows, PE_LEN(rows)};
