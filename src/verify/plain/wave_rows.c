/* SPDX-License-Identifier: MIT */
/* wave_rows.c - how tables of sines and cosines by place go wrong, as rows. */
#include "verify/plain/wave_rows.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "verify/plain/wave_row.h"

static bool set_flag(const pe_wave_row *of, pe_wave_change *c)
{
    bool *flag = (bool *)((char *)c + of->flag);
    *flag = !*flag;
    return pe_wave_is_within(c->of, of->where);
}

static bool set_halves(const pe_wave_row *of, pe_wave_change *c)
{
    (void)of;
    c->in_halves = true;
    return pe_wave_is_within(c->of, PE_WAVE_IN_TENSORS) && pe_wave_ladder(c->of) == c->of->pairs;
}

/* value: axes that count rows. */
static bool count_rows(const pe_wave_row *of, pe_wave_change *c)
{
    c->running = (unsigned)of->value;
    return pe_wave_is_within(c->of, PE_WAVE_IN_GRIDS);
}

/* value: the axis that is missing. */
static bool drop_axis(const pe_wave_row *of, pe_wave_change *c)
{
    c->along[(size_t)of->value] = 0;
    return pe_wave_is_within(c->of, PE_WAVE_IN_GRIDS);
}

static bool has_units(const pe_wave_table *t)
{
    return t->height > 1 && t->width > 1 && t->unit[PE_ACROSS] > 0 && t->unit[PE_DOWN] > 0;
}

static bool is_normalized(const pe_wave_table *t)
{
    const pe_value *normal = pe_values_find(&t->of->claim->values, "normalize");
    return t->centred || (normal != NULL && normal->present && normal->truth);
}

/* Units of the claim are 1 where coordinates are whole numbers. value: it normalizes them. */
static bool leave_units(const pe_wave_row *of, pe_wave_change *c)
{
    const pe_wave_table *t = c->of;
    for (size_t axis = PE_ACROSS; axis < PE_GRID_AXES; axis++) {
        c->along[axis] = 1 / t->unit[axis];
        c->from[axis] = t->centred ? -t->first[axis] : 0;
    }
    c->a = c->along[PE_ACROSS];
    c->b = c->along[PE_DOWN];
    return has_units(t) && (c->a != 1 || c->b != 1) && is_normalized(t) == (of->value != 0);
}

/* The claimed coordinate of patch i of n is (i + 1/2 - n/2) times 2/n. */
enum { BY_LONGER, BY_SHORTER, FROM_ZERO, PLAIN };

/* value: which other one it is. */
static bool centre_otherwise(const pe_wave_row *of, pe_wave_change *c)
{
    const double side[] = {[PE_ACROSS] = (double)c->of->width, [PE_DOWN] = (double)c->of->height};
    c->a = of->value == BY_LONGER ? fmax(side[0], side[1]) : fmin(side[0], side[1]);
    for (size_t axis = PE_ACROSS; axis < PE_GRID_AXES; axis++) {
        const double n = side[axis];
        c->along[axis] = of->value == FROM_ZERO ? 0.5 : of->value == PLAIN ? n / 2 : n / c->a;
        c->from[axis] = of->value == FROM_ZERO ? n / 2
                        : of->value == PLAIN   ? (n - 1) / 2
                                               : (n - c->a) / 2;
    }
    return pe_wave_is_within(c->of, PE_WAVE_CENTRED) &&
           (of->value >= FROM_ZERO || side[0] != side[1]);
}

/* Coordinates that differ between axes in more than their places. */
static bool swap_axes(const pe_wave_row *of, pe_wave_change *c)
{
    const pe_wave_table *t = c->of;
    (void)of;
    c->swapped = true;
    return has_units(t) && t->unit[PE_ACROSS] != t->unit[PE_DOWN];
}

/* value: the axis whose unit both have. */
static bool take_unit(const pe_wave_row *of, pe_wave_change *c)
{
    const size_t from = (size_t)of->value, to = from == PE_ACROSS ? PE_DOWN : PE_ACROSS;
    c->a = c->along[to] = c->of->unit[from] / c->of->unit[to];
    return has_units(c->of) && c->a != 1;
}

static bool take_axis(const pe_wave_row *of, pe_wave_change *c)
{
    c->only = (size_t)of->value;
    return c->of->height > 1;
}

static bool set_width(const pe_wave_row *of, pe_wave_change *c)
{
    c->b = c->width;
    c->a = c->width = of->and_value != 0 ? of->and_value
                      : of->value != 0   ? c->b + of->value
                                         : (double)c->of->height;
    return c->of->height > 1 && c->a > 0 && c->a != c->b;
}

static bool shift(const pe_wave_row *of, pe_wave_change *c)
{
    c->a = c->shift = of->value;
    return pe_wave_is_within(c->of, of->where);
}

/* value: a grain; and_value: 1 for frequencies, 2 for angles, 4 for waves, together. */
static bool round_to(const pe_wave_row *of, pe_wave_change *c)
{
    const pe_grain *grain = &pe_grains[(size_t)of->value];
    const unsigned what = (unsigned)of->and_value;
    c->frequencies = (what & 1) != 0 ? grain : NULL;
    c->angles = (what & 2) != 0 ? grain : NULL;
    c->waves = (what & 4) != 0 ? grain : NULL;
    return true;
}

static bool scale(const pe_wave_row *of, pe_wave_change *c)
{
    c->a = c->times = of->value;
    return true;
}

/* value: what is added to the sides that divide coordinates, each axis by its own. */
static bool divide_by_sides(const pe_wave_row *of, pe_wave_change *c)
{
    const pe_values *values = &c->of->of->claim->values;
    const bool divided = is_normalized(c->of);
    const bool has_eps = divided && !c->of->centred && pe_values_present(values, "eps");
    const double eps = has_eps ? pe_values_real(values, "eps") : 0;
    const double side[] = {[PE_ACROSS] = (double)c->of->width, [PE_DOWN] = (double)c->of->height};
    for (size_t axis = PE_ACROSS; axis <= PE_DOWN; axis++)
        c->along[axis] = (divided ? side[axis] + eps : 1) / (side[axis] + of->value + eps);
    c->a = side[PE_ACROSS] + of->value;
    c->b = side[PE_DOWN] + of->value;
    return pe_wave_is_within(c->of, PE_WAVE_IN_GRIDS) && (!divided || of->value != 0);
}

static bool set_root(const pe_wave_row *of, pe_wave_change *c)
{
    c->power *= of->value;
    return true;
}

#define SCALE  "pass coordinates as they are: do not normalize them"
#define LADDER "check the base, the timescales and the denominator of the exponents"

#define FLAG(NAME) .make = set_flag, .flag = offsetof(pe_wave_change, NAME)

#define WIDE               "keep frequencies and angles in float32; round the waves alone"
#define ROUND(GRAIN, WHAT) .make = round_to, .value = PE_GRAIN_##GRAIN, .and_value = (WHAT)

static const pe_wave_row rows[] = {
    PE_ROW(axes_exchanged, FLAG(exchanged), .where = PE_WAVE_IN_GRIDS),
    PE_ROW(
        axes_exchanged,
        .fault.rule =
            "rows and columns are exchanged: each axis has the coordinates of the other, scaled by "
            "the other side",
        .make = swap_axes),
    PE_ROW(mesh_transposed, FLAG(by_columns), .where = PE_WAVE_IN_GRIDS),
    PE_ROW(one_axis, .make = take_axis, .value = PE_ACROSS),
    PE_ROW(one_axis,
           .fault.rule =
               "all pairs have the coordinate of one axis, the row: the column is missing",
           .make = take_axis, .value = PE_DOWN),
    PE_ROW(grid_width, .make = set_width),
    PE_ROW(grid_width, .fault.rule = "the grid was {a} wide, not {b}", .make = set_width,
           .value = 1),
    PE_ROW(grid_width, .fault.rule = "the grid was {a} wide, not {b}", .make = set_width,
           .value = -1),
    PE_ROW(coordinates_negative, FLAG(negative)),
    PE_ROW(coordinates_absolute, FLAG(absolute), .where = PE_WAVE_BACKWARD),
    PE_ROW(coordinates_shifted, .make = shift, .value = 1),
    PE_ROW(coordinates_shifted, .fault.rule = "coordinates are shifted by {a}: one too small",
           .make = shift, .value = -1),
    PE_ROW(coordinates_shifted,
           .fault.rule = "coordinates are shifted by {a}: they are those of centres", .make = shift,
           .value = 0.5),
    PE_ROW(
        coordinates_shifted,
        .fault.rule =
            "coordinates are those of corners, i/n, not of centres: 0.5 was not added to the patch",
        .fault.remedy = "add 0.5 to the row and the column before they are divided", .make = shift,
        .value = -0.5, .where = PE_WAVE_CENTRED),
    PE_ROW(coordinates_by_sides, .make = centre_otherwise, .value = BY_LONGER),
    PE_ROW(coordinates_by_sides,
           .fault.rule =
               "both axes were divided by the shorter side, {a} (min), not each by its own",
           .make = centre_otherwise, .value = BY_SHORTER),
    PE_ROW(coordinates_range, .make = centre_otherwise, .value = FROM_ZERO),
    PE_ROW(coordinates_plain, .make = centre_otherwise, .value = PLAIN),
    PE_ROW(one_axis,
           .fault.rule = "rows are the numbers of patches, counted one after the other (a flat "
                         "index): they were "
                         "not divided by the width",
           .fault.remedy = "divide the number of a patch by the width", .make = count_rows,
           .value = 2),
    PE_ROW(axis_missing, .make = drop_axis, .value = PE_ACROSS),
    PE_ROW(axis_missing, .fault.rule = "rows are missing: their coordinate is 0 in all patches",
           .make = drop_axis, .value = PE_DOWN),
    PE_ROW(
        coordinates_plain,
        .fault.rule =
            "coordinates are whole numbers, not scaled or normalized: columns were multiplied by "
            "{a}, rows by {b} (base_size or interpolation_scale was ignored)",
        .make = leave_units),
    PE_ROW(coordinates_plain,
           .fault.rule = "coordinates are whole numbers of patches: they are neither normalized "
                         "nor multiplied by "
                         "the scale (normalize was ignored)",
           .make = leave_units, .value = 1),
    PE_ROW(coordinates_of_one_axis, .make = take_unit, .value = PE_DOWN),
    PE_ROW(coordinates_of_one_axis,
           .fault.rule =
               "rows are scaled as columns are, by the width: they were multiplied by {a}",
           .make = take_unit, .value = PE_ACROSS),
    PE_ROW(two_pi, .make = scale, .value = 0.15915494309189535),
    PE_ROW(two_pi,
           .fault.rule = "coordinates were multiplied by 2 pi, {a}: turns were taken for radians",
           .make = scale, .value = 6.283185307179586),
    PE_ROW(one_position, .make = pe_wave_hold),
    PE_ROW(coordinates_by_sides,
           .fault.rule =
               "coordinates are divided by the sides less one: columns by {a}, rows by {b}",
           .make = divide_by_sides, .value = -1),
    PE_ROW(coordinates_by_sides,
           .fault.rule = "coordinates are normalized by the sides of the grid: columns were "
                         "divided by {a}, rows "
                         "by {b}",
           .fault.remedy = SCALE, .make = divide_by_sides),
    PE_ROW(coordinates_scaled, .make = pe_wave_linear, .value = 1),
    PE_ROW(coordinates_linear, .make = pe_wave_linear),
    PE_ROW(coordinates_clamped, .make = pe_wave_clamp),
    PE_ROW(ladder_in_halves, .make = set_halves),
    PE_ROW(base_other, .make = pe_wave_base),
    PE_ROW(exponents_halved,
           .fault.rule = "frequencies are the square root of the claimed ones: exponents were "
                         "halved, as if divided "
                         "by twice the dimension",
           .fault.remedy = LADDER, .make = set_root, .value = 0.5),
    PE_ROW(exponents_doubled, .make = set_root, .value = 2),
    PE_ROW(
        freq_shift,
        .fault.rule =
            "exponents were divided by {a}, not by {b}: the denominator was larger by 1, as n for "
            "n - 1",
        .make = pe_wave_denominator, .value = 1),
    PE_ROW(
        freq_shift,
        .fault.rule =
            "exponents were divided by {a}, not by {b}: the denominator was smaller by 1, as n - 1 "
            "for n",
        .make = pe_wave_denominator, .value = -1),
    PE_ROW(exponents_positive, .make = set_root, .value = -1),
    PE_ROW(bfloat16_inv_freq, .fault.remedy = WIDE, ROUND(BFLOAT16, 1)),
    PE_ROW(bfloat16_angles, ROUND(BFLOAT16, 2)),
    PE_ROW(bfloat16_angles, .fault.rule = "frequencies and angles were computed in bfloat16",
           ROUND(BFLOAT16, 3)),
    PE_ROW(bfloat16_arithmetic, .fault.remedy = WIDE, ROUND(BFLOAT16, 7)),
    PE_ROW(float16_inv_freq, .fault.remedy = WIDE, ROUND(FLOAT16, 1)),
    PE_ROW(float16_angles, ROUND(FLOAT16, 2)),
    PE_ROW(float16_angles, .fault.rule = "frequencies and angles were computed in float16",
           ROUND(FLOAT16, 3)),
    PE_ROW(float16_arithmetic, .fault.remedy = WIDE, ROUND(FLOAT16, 7)),
    PE_ROW(base_other, .make = pe_wave_base, .value = 1),
    PE_ROW(coordinates_shifted,
           .fault.rule =
               "coordinates are shifted by {a}: they start elsewhere, or lengths are others",
           .make = pe_wave_shift),
};
const size_t pe_wave_rows_n = PE_LEN(rows);

bool pe_wave_rows_make(pe_wave_change *c, size_t r, pe_numbers_cause *cause)
{
    c->a = c->b = 0;
    const bool made = rows[r].make(&rows[r], c);
    *cause = (pe_numbers_cause){.fault = &rows[r].fault, .a = c->a, .b = c->b};
    return made;
}
