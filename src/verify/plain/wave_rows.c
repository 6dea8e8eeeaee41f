/* SPDX-License-Identifier: MIT */
/* wave_rows.c - how tables of sines and cosines by place go wrong: coordinates (op) and frequencies (also). */
#include <math.h>
#include <string.h>

#include "verify/plain/plain_waves.h"

#define TURN 6.283185307179586

/* ---- another base, a power of all frequencies: w = unit base^-e ---- */

/* By the pair of the axis that tells it best: each tells how many turns the next faster one makes from
 * the lowest claimed coordinate to the highest. NAN: none turns. */
static double read_power(const pe_sequence *p, size_t axis)
{
    const pe_waves *t = p->state;
    const size_t low = (size_t)t->low[axis], high = (size_t)t->high[axis];
    const double *x = p->claimed + axis * t->rows, span = x[high] - x[low], unit = t->unit[axis];
    double power = nan(""), best = nan(""), most = 0;
    for (size_t i = t->pairs; i-- > 0;) {
        const double e = -log(t->claimed.frequency[i] / unit);
        if (t->axis[i] != axis || !(e > 0))
            continue;
        const double about = isnan(power) ? 0 : unit * exp(-power * e) * span;
        const double angle = pe_waves_angle(p, p->of->got, high, i);
        const double turn =
            about + remainder(angle - pe_waves_angle(p, p->of->got, low, i) - about, TURN);
        power = turn > 0 ? -log(turn / span / unit) / e : power;
        best = turn * e > most ? power : best;
        most = fmax(most, turn * e);
    }
    return best;
}

static bool has_power(const pe_sequence *p, size_t axis, double power)
{
    const pe_waves *t = p->state;
    const double unit = t->unit[axis];
    size_t i = t->pairs;
    while (i > 0 &&
           (t->axis[i - 1] != axis ||
            pe_waves_follow(p, i - 1, axis, unit * pow(t->claimed.frequency[i - 1] / unit, power))))
        i--;
    return i == 0;
}

/* That of fewest digits by which one axis turns; a row may hide that others do, too. */
bool pe_waves_read_base(pe_sequence *p)
{
    enum { DIGITS = 6 };
    pe_waves *t = p->state;
    const bool one = p->a != 0;
    const double theta = pe_slip_number(p, "rope_theta");
    p->b = isnan(theta) ? pe_slip_number(p, "base") : theta;
    for (size_t axis = 0; axis < t->axes && t->pairs > 0; axis++) {
        const double read = one && has_power(p, axis, 1) ? nan("") : pow(p->b, read_power(p, axis));
        for (int digits = 0; digits < DIGITS && read > 1; digits++) {
            const double unit = pow(10, floor(log10(read)) - digits);
            p->a = round(read / unit) * unit;
            t->is.axis_read = (double)axis;
            if (p->a > 1 && p->a != p->b && has_power(p, axis, log(p->a) / log(p->b)))
                return true;
        }
    }
    return false;
}

/* Types that angles and waves were rounded to: value is a narrow type; and_value 2 for angles, 4 for waves. */
static bool round_to(pe_sequence *p)
{
    pe_waves *t = p->state;
    const pe_narrow_type *narrow = &pe_narrow_types[(size_t)p->a];
    const unsigned what = (unsigned)p->b;
    t->made.angles = (what & 2) != 0 ? narrow : NULL;
    t->made.waves = (what & 4) != 0 ? narrow : NULL;
    return true;
}

/* Distances end elsewhere, if at all. */
static bool lift_clamp(pe_sequence *p)
{
    pe_waves *t = p->state;
    t->made.clamp = HUGE_VAL;
    return t->is.backward != 0;
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

#define WAVE(NAME, ...) PE_SLIP(NAME, &pe_slip_waves, PE_OF_PLACES, NULL, __VA_ARGS__)
#define ROUND(TYPE, WHAT)                                                                          \
    .solve = round_to, .fault.value = PE_NARROW_##TYPE, .fault.and_value = (WHAT)
#define POWER(OF) .also = "unit[of]*(w/unit[of])^(" OF ")"
#define BASE      .solve = pe_waves_read_base, POWER("ln(a)/ln(b)")

/* Of n frequencies exponents are i/(n - 1) in timing signals, else i/n. */
#define DENOMINATOR(MORE)                                                                          \
    .a = "ladder - timing" MORE, .b = "ladder - timing", .where = "a > 0 && b > 0", POWER("b/a")

/* Of item i: its axis, the same row of the other one, and what belongs to either; origin: row 0. */
#define AXIS         "floor(i/rows)"
#define UNIT         "unit[" AXIS "]"
#define SIDE         "side[" AXIS "]"
#define ORIGIN       "x[" AXIS "*rows]"
#define OTHER_UNIT   "unit[1 - " AXIS "]"
#define OTHER_SIDE   "side[1 - " AXIS "]"
#define OTHER_ORIGIN "x[(1 - " AXIS ")*rows]"
#define SAME_ROW     "x[(1 - " AXIS ")*rows + i % rows]"
#define OTHER        SAME_ROW "*" OTHER_UNIT "/" UNIT /* as coordinates of this axis have it */

#define WIDTH(OF)                                                                                  \
    .a = OF, .b = SIDE, .where = OTHER_SIDE " > 1 && a > 0 && a != b", .make = in_lines
#define UNITS                "grid && " UNIT " > 0 && " OTHER_UNIT " > 0"
#define WHOLE                .a = "1/" UNIT, .b = "1/" OTHER_UNIT, .op = "(x - centred*" ORIGIN ")/" UNIT
#define CENTRED(FROM, TIMES) .op = "(x + " FROM ")*" TIMES
#define EPS                  "(normalized && centred == 0 ? max(eps, 0) : 0)"
#define SIDES(MORE)                                                                                \
    .a = SIDE MORE, .b = OTHER_SIDE MORE,                                                          \
    .op = "x*(normalized ? " SIDE " + " EPS " : 1)/(" SIDE MORE " + " EPS ")"

/* Coordinates are a (x + b), by the farthest one and the nearest of its axis. */
#define FAR   "first(x == most(x))"
#define NEAR  "(floor(" FAR "/rows)*rows + low[floor(" FAR "/rows)])"
#define SLOPE "(y[" FAR "] - y[" NEAR "])/(x[" FAR "] - x[" NEAR "])"
#define LINE                                                                                       \
    .a = "coarse ? tidy(" SLOPE ") : tidy(840*" SLOPE ")/840",                                     \
    .b = "round(840*(y[" NEAR "]/a - x[" NEAR "]))/840"

static const pe_slip rows[] = {
    WAVE(axes_exchanged, .where = "grid", .op = ORIGIN " + " SAME_ROW " - " OTHER_ORIGIN),
    WAVE(axes_exchanged_scaled, .where = UNITS " && " UNIT " != " OTHER_UNIT, .op = OTHER),
    WAVE(mesh_transposed, .where = "grid", .make = by_columns),
    WAVE(one_axis, .where = OTHER_SIDE " > 1", .op = AXIS " == 0 ? x : " OTHER),
    WAVE(one_axis_row, .where = OTHER_SIDE " > 1", .op = AXIS " == 1 ? x : " OTHER),
    WAVE(grid_width, WIDTH(OTHER_SIDE)),
    WAVE(grid_width_by, WIDTH(SIDE " + 1")),
    WAVE(grid_width_by, WIDTH(SIDE " - 1")),
    WAVE(coordinates_negative, .op = "-x"),
    WAVE(coordinates_absolute, .where = "backward", .op = "abs(x)"),
    WAVE(coordinates_shifted, .op = "x + a", .fault.value = 1),
    WAVE(coordinates_shifted_down, .op = "x + a", .fault.value = -1),
    WAVE(coordinates_shifted_centres, .op = "x + a", .fault.value = 0.5),
    WAVE(coordinates_shifted_corners, .where = "centred", .op = "x - 0.5"),
    /* the claimed coordinate of patch i of n is (i + 1/2 - n/2) times 2/n */
    WAVE(coordinates_by_sides, .a = "max(side[0], side[1])",
         .where = "centred && side[0] != side[1]", CENTRED("(" SIDE " - a)/2", SIDE "/a")),
    WAVE(coordinates_by_sides_shorter, .a = "min(side[0], side[1])",
         .where = "centred && side[0] != side[1]", CENTRED("(" SIDE " - a)/2", SIDE "/a")),
    WAVE(coordinates_range, .where = "centred", CENTRED(SIDE "/2", "0.5")),
    WAVE(coordinates_plain, .where = "centred", CENTRED("(" SIDE " - 1)/2", SIDE "/2")),
    WAVE(one_axis_flat, .where = "grid", .op = AXIS " == 1 ? " ORIGIN " + i % rows : x"),
    WAVE(axis_missing, .where = "grid", .op = AXIS " == 0 ? 0 : x"),
    WAVE(axis_missing_rows, .where = "grid", .op = AXIS " == 1 ? 0 : x"),
    WAVE(coordinates_plain_whole, .where = UNITS " && (a != 1 || b != 1) && normalized == 0",
         WHOLE),
    WAVE(coordinates_plain_patches, .where = UNITS " && (a != 1 || b != 1) && normalized", WHOLE),
    WAVE(coordinates_of_one_axis, .a = OTHER_UNIT "/" UNIT, .where = UNITS " && a != 1",
         .op = AXIS " == 0 ? a*x : x"),
    WAVE(coordinates_of_one_axis_rows, .a = "unit[0]/unit[1]", .where = UNITS " && a != 1",
         .op = AXIS " == 1 ? a*x : x"),
    WAVE(two_pi, .op = "x/(2*pi)"),
    WAVE(two_pi_times, .a = "2*pi", .op = "a*x"),
    WAVE(one_position, .a = "round(y[0])",
         .where = "grid == 0 && y[1] == y[0] && y[rows - 1] == y[0]", .op = "a"),
    WAVE(coordinates_by_sides_less_one, .where = "grid", SIDES(" - 1")),
    WAVE(coordinates_by_sides_normalized, .where = "grid && normalized == 0", SIDES("")),
    WAVE(coordinates_scaled, LINE, .where = "b == 0 && backward == 0 && a != 0", .op = "a*x"),
    WAVE(coordinates_linear, LINE, .where = "b != 0 && backward == 0 && (a != 1 || b != round(b))",
         .op = "a*(x + b)"),
    WAVE(coordinates_clamped, .a = "abs(y[0])", .solve = lift_clamp, .where = "y[1] == y[0]",
         .op = "max(-a, min(a, x))"),
    WAVE(ladder_in_halves, .where = "tensors && pairs % 2 == 0 && ladder == pairs",
         .also = "w[i % 2*(pairs/2) + floor(i/2)]"),
    WAVE(base_other, BASE, .where = "a >= 100"),
    WAVE(exponents_halved_waves, POWER("0.5")),
    WAVE(exponents_doubled, POWER("2")),
    WAVE(freq_shift_larger, DENOMINATOR(" + 1")),
    WAVE(freq_shift_smaller, DENOMINATOR(" - 1")),
    WAVE(exponents_positive, POWER("-1")),
    WAVE(bfloat16_inv_freq, .also = "bfloat16(w)"),
    WAVE(bfloat16_angles, ROUND(BFLOAT16, 2)),
    WAVE(bfloat16_angles_frequencies, .also = "bfloat16(w)", ROUND(BFLOAT16, 2)),
    WAVE(bfloat16_arithmetic, .also = "bfloat16(w)", ROUND(BFLOAT16, 6)),
    WAVE(float16_inv_freq, .also = "float16(w)"),
    WAVE(float16_angles, ROUND(FLOAT16, 2)),
    WAVE(float16_angles_frequencies, .also = "float16(w)", ROUND(FLOAT16, 2)),
    WAVE(float16_arithmetic, .also = "float16(w)", ROUND(FLOAT16, 6)),
    WAVE(base_other, BASE, .where = "a < 100"), /* which few take */
    WAVE(coordinates_shifted_elsewhere, .a = "round(y[" FAR "] - x[" FAR "])",
         .where = "abs(a) > 1", .op = "x + a"),
};
const pe_slips pe_mistakes_of_waves = {rows, PE_LEN(rows)};
