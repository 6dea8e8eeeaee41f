/* SPDX-License-Identifier: MIT */
/* wave_rows.c - how tables of sines and cosines by place go wrong, as rows. */
#include "verify/wave_rows.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "verify/wave_row.h"

static bool set_flag(const pe_wave_row *of, pe_wave_change *c)
{
    bool *flag = (bool *)((char *)c + of->flag);
    *flag = !*flag;
    return pe_wave_is_within(c->of, of->where);
}

/* value: the claim alternates sines and cosines. */
static bool set_layout(const pe_wave_row *of, pe_wave_change *c)
{
    c->interleaved = !c->interleaved;
    return !c->of->tensors && c->of->interleaved == (of->value != 0);
}

static bool join_blocks(const pe_wave_row *of, pe_wave_change *c)
{
    (void)of;
    c->blocks = 1;
    return c->of->blocks > 1 && !c->flat && !c->interleaved;
}

static bool set_halves(const pe_wave_row *of, pe_wave_change *c)
{
    (void)of;
    c->in_halves = true;
    return pe_wave_is_within(c->of, PE_WAVE_IN_TENSORS) && pe_wave_ladder(c->of) == c->of->pairs;
}

static bool put_extra_last(const pe_wave_row *of, pe_wave_change *c)
{
    (void)of;
    c->extra_last = true;
    return c->of->extra > 0;
}

static bool put_columns_first(const pe_wave_row *of, pe_wave_change *c)
{
    (void)of;
    c->columns_first = true;
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

static bool drop_first(const pe_wave_row *of, pe_wave_change *c)
{
    (void)of;
    c->a = c->of->first[PE_ACROSS];
    c->shift = -c->a;
    return c->a != 0 && c->of->forward && !c->of->centred;
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

static bool divide(const pe_wave_row *of, pe_wave_change *c)
{
    c->a = (of->and_value == 0 ? (double)c->of->width : (double)c->of->height) + of->value;
    c->times = 1 / c->a;
    return c->a > 1;
}

/* value: what is added to the sides that divide coordinates, each axis by its own. */
static bool divide_by_sides(const pe_wave_row *of, pe_wave_change *c)
{
    const pe_values *values = &c->of->of->claim->values;
    const bool divided = is_normalized(c->of);
    const double eps = divided && !c->of->centred ? pe_values_real(values, "eps") : 0;
    const double side[] = {[PE_ACROSS] = (double)c->of->width, [PE_DOWN] = (double)c->of->height};
    for (size_t axis = PE_ACROSS; axis <= PE_DOWN; axis++)
        c->along[axis] = (divided ? side[axis] + eps : 1) / (side[axis] + of->value + eps);
    c->a = side[PE_ACROSS] + of->value;
    c->b = side[PE_DOWN] + of->value;
    return pe_wave_is_within(c->of, PE_WAVE_IN_GRIDS) && (!divided || of->value != 0);
}

/* value: so many patches squared. */
static bool set_merge(const pe_wave_row *of, pe_wave_change *c)
{
    const size_t merge = (size_t)of->value;
    c->b = (double)c->merge;
    c->a = of->value;
    c->merge = merge;
    return c->a != c->b && pe_wave_is_within(c->of, PE_WAVE_IN_TENSORS) &&
           c->of->height % merge == 0 && c->of->width % merge == 0;
}

/* Whole numbers that are small keep their values. */
static bool round_places(const pe_wave_row *of, pe_wave_change *c)
{
    const pe_wave_table *t = c->of;
    const pe_grain *grain = &pe_grains[(size_t)of->value];
    bool changed = false;
    for (size_t k = 0; k < t->width + t->height && !changed; k++) {
        const size_t axis = k < t->width ? PE_ACROSS : PE_DOWN;
        const size_t row = k < t->width ? k : (k - t->width) * t->width;
        const double x = pe_wave_coordinate(c, row, axis);
        changed = pe_grain_round(grain, x) != x;
    }
    c->coordinates = grain;
    return changed;
}

static bool set_flat(const pe_wave_row *of, pe_wave_change *c)
{
    (void)of;
    c->flat = true;
    c->blocks = 1;
    return !c->of->tensors && c->of->blocks == 2 && c->of->pairs > 2;
}

static bool set_root(const pe_wave_row *of, pe_wave_change *c)
{
    c->power *= of->value;
    return true;
}

#define ORDER  "let patches count along the rows of the image: k = row width + column"
#define COUNT  "count coordinates as the claim does: check the offset of the first"
#define SCALE  "pass coordinates as they are: do not normalize them"
#define UNITS  "scale and normalize coordinates as claimed, each axis by its own side"
#define LADDER "check the base, the timescales and the denominator of the exponents"

#define FLAG(NAME) .make = set_flag, .flag = offsetof(pe_wave_change, NAME)

#define WIDE               "keep frequencies and angles in float32; round the waves alone"
#define ROUND(GRAIN, WHAT) .make = round_to, .value = PE_GRAIN_##GRAIN, .and_value = (WHAT)

#define MERGED(TIMES)                                                                              \
    {                                                                                              \
        .fault = {"spatial_merge_size", "spatial_merge_size was {a}, not {b}",                     \
                  .param = "spatial_merge_size",                                                   \
                  .remedy =                                                                        \
                      "put patches in the claimed order: row by row of the image, or of each "     \
                      "block of spatial_merge_size patches squared"},                              \
        .make = set_merge, .value = (TIMES)                                                        \
    }

static const pe_wave_row rows[] = {
    PE_ROW("axes_exchanged",
           "rows and columns are exchanged: each axis has the coordinates of the other",
           "give the pairs of rows the row, those of columns the column", FLAG(exchanged),
           .where = PE_WAVE_IN_GRIDS),
    PE_ROW("axes_exchanged",
           "rows and columns are exchanged: each axis has the coordinates of the other, scaled by "
           "the other side",
           "give the pairs of rows the row, those of columns the column", .make = swap_axes),
    PE_ROW(
        "mesh_transposed",
        "patches count down the columns: the mesh grid is transposed, the order of axes exchanged",
        ORDER, FLAG(by_columns), .where = PE_WAVE_IN_GRIDS),
    PE_ROW("one_axis", "all pairs have the coordinate of one axis, the column: the row is missing",
           "give each axis its own coordinate", .make = take_axis, .value = PE_ACROSS),
    PE_ROW("one_axis", "all pairs have the coordinate of one axis, the row: the column is missing",
           "give each axis its own coordinate", .make = take_axis, .value = PE_DOWN),
    PE_ROW("grid_width", "the grid was {a} wide, not {b}: its width was taken from the height",
           "divide the number of a patch by the width", .make = set_width),
    PE_ROW("grid_width", "the grid was {a} wide, not {b}",
           "divide the number of a patch by the width", .make = set_width, .value = 1),
    PE_ROW("grid_width", "the grid was {a} wide, not {b}",
           "divide the number of a patch by the width", .make = set_width, .value = -1),
    PE_ROW("grid_width",
           "the grid was {a} wide, not {b}: patches count along one axis, as text does",
           "divide the number of a patch by the width", .make = set_width, .and_value = 1),
    PE_ROW("blocks_transposed",
           "blocks of patches come column by column, not row by row: their axes were permuted in "
           "another order",
           "put the axes of blocks before those within a block: permute (0, 2, 1, 3)",
           FLAG(blocks_down), .where = PE_WAVE_IN_BLOCKS),
    PE_ROW("frames_inner",
           "all frames of one patch stand together: frames were counted before the patches",
           "put the patches of a frame together, one frame after the other", FLAG(frames_inner),
           .where = PE_WAVE_IN_FRAMES),
    PE_ROW("frames_counted",
           "rows go on through the frames: they do not repeat, each frame counts on from the last",
           "repeat the rows and columns of the grid in each frame", FLAG(frames_on),
           .where = PE_WAVE_IN_FRAMES),
    MERGED(1),
    MERGED(2),
    PE_ROW("coordinates_negative",
           "the sign of the coordinates is the inverse one: angles are negative",
           "take the distance as query - key; check the sign of the sine", FLAG(negative)),
    PE_ROW("sine_negative", "sines have the opposite sign", "do not negate the sine",
           FLAG(sine_negative)),
    PE_ROW("rows_reversed", "rows are in reverse order: the last one comes first",
           "do not reverse the rows", FLAG(backward)),
    PE_ROW("coordinates_absolute", "distances are absolute values: their sign is lost",
           "keep the sign of the distance", FLAG(absolute), .where = PE_WAVE_BACKWARD),
    PE_ROW("coordinates_shifted", "coordinates are shifted by {a}: they count from 1", COUNT,
           .make = shift, .value = 1),
    PE_ROW("coordinates_shifted", "coordinates are shifted by {a}: one too small", COUNT,
           .make = shift, .value = -1),
    PE_ROW("coordinates_shifted", "coordinates are shifted by {a}: they are those of centres",
           COUNT, .make = shift, .value = 0.5),
    PE_ROW("coordinates_shifted",
           "coordinates are those of corners, i/n, not of centres: 0.5 was not added to the patch",
           "add 0.5 to the row and the column before they are divided", .make = shift,
           .value = -0.5, .where = PE_WAVE_CENTRED),
    PE_ROW("coordinates_by_sides",
           "both axes were divided by the longer side, {a} (max), not each by its own", UNITS,
           .make = centre_otherwise, .value = BY_LONGER),
    PE_ROW("coordinates_by_sides",
           "both axes were divided by the shorter side, {a} (min), not each by its own", UNITS,
           .make = centre_otherwise, .value = BY_SHORTER),
    PE_ROW("coordinates_range", "coordinates run from 0 to 1, not from -1 to 1", UNITS,
           .make = centre_otherwise, .value = FROM_ZERO),
    PE_ROW("coordinates_plain",
           "coordinates are whole numbers of patches, times 2 pi: they are not normalized", UNITS,
           .make = centre_otherwise, .value = PLAIN),
    PE_ROW("columns_mirrored",
           "patches of each row are in reverse order: columns run from right to left", ORDER,
           FLAG(mirrored), .where = PE_WAVE_IN_GRIDS),
    PE_ROW("rows_mirrored", "rows of patches are in reverse order, from below: axes are flipped",
           ORDER, FLAG(upside_down), .where = PE_WAVE_IN_GRIDS),
    PE_ROW("extra_tokens",
           "the rows of extra_tokens (class, registers) come last, behind the grid, not first",
           "put the rows of extra_tokens before those of the grid", .make = put_extra_last),
    PE_ROW("row_first",
           "rows are shifted by one: a row of position 0, as of a class token, comes first",
           "leave the class token out of the grid", FLAG(late), .where = PE_WAVE_IN_GRIDS),
    PE_ROW("one_axis",
           "both axes count patches one after the other, as consecutive text does (1-D)",
           "give each axis its own coordinate", .make = count_rows, .value = 3),
    PE_ROW("one_axis",
           "rows are the numbers of patches, counted one after the other (a flat index): they were "
           "not divided by the width",
           "divide the number of a patch by the width", .make = count_rows, .value = 2),
    PE_ROW("one_axis",
           "the encoding is that of a sequence (1-D): one ladder of frequencies over all columns "
           "counts the patches",
           "give each axis its own half of the columns", .make = set_flat),
    PE_ROW("axis_missing", "columns are missing: their coordinate is 0 in all patches",
           "give each axis its own coordinate", .make = drop_axis, .value = PE_ACROSS),
    PE_ROW("axis_missing", "rows are missing: their coordinate is 0 in all patches",
           "give each axis its own coordinate", .make = drop_axis, .value = PE_DOWN),
    PE_ROW("coordinates_plain",
           "coordinates are whole numbers, not scaled or normalized: columns were multiplied by "
           "{a}, rows by {b} (base_size or interpolation_scale was ignored)",
           UNITS, .make = leave_units),
    PE_ROW(
        "coordinates_plain",
        "coordinates are whole numbers of patches: they are neither normalized nor multiplied by "
        "the scale (normalize was ignored)",
        UNITS, .make = leave_units, .value = 1),
    PE_ROW("coordinates_of_one_axis",
           "columns are scaled as rows are, by the height: they were multiplied by {a}", UNITS,
           .make = take_unit, .value = PE_DOWN),
    PE_ROW("coordinates_of_one_axis",
           "rows are scaled as columns are, by the width: they were multiplied by {a}", UNITS,
           .make = take_unit, .value = PE_ACROSS),
    PE_ROW("two_pi",
           "coordinates were not multiplied by 2 pi, the scale: each is {a} times as large", UNITS,
           .make = scale, .value = 0.15915494309189535),
    PE_ROW("two_pi", "coordinates were multiplied by 2 pi, {a}: turns were taken for radians",
           UNITS, .make = scale, .value = 6.283185307179586),
    PE_ROW("one_position", "all rows have the same position, {a}: it is constant", COUNT,
           .make = pe_wave_hold),
    PE_ROW("start_ignored", "positions are shifted: they start at 0, not at {a}", COUNT,
           .make = drop_first),
    PE_ROW("coordinates_scaled", "coordinates are scaled: each was multiplied by {a}", SCALE,
           .make = scale, .value = 2),
    PE_ROW("coordinates_scaled", "coordinates are scaled: each was multiplied by {a}", SCALE,
           .make = scale, .value = 0.5),
    PE_ROW("coordinates_scaled", "coordinates are normalized: each was divided by the width, {a}",
           SCALE, .make = divide),
    PE_ROW("coordinates_scaled", "coordinates are normalized: each was divided by the height, {a}",
           SCALE, .make = divide, .and_value = 1),
    PE_ROW("coordinates_scaled",
           "coordinates are normalized: each was divided by the width - 1, {a}", SCALE,
           .make = divide, .value = -1),
    PE_ROW("coordinates_scaled",
           "coordinates are normalized: each was divided by the height - 1, {a}", SCALE,
           .make = divide, .value = -1, .and_value = 1),
    PE_ROW("coordinates_by_sides",
           "coordinates are divided by the sides less one: columns by {a}, rows by {b}", UNITS,
           .make = divide_by_sides, .value = -1),
    PE_ROW("coordinates_by_sides",
           "coordinates are normalized by the sides of the grid: columns were divided by {a}, rows "
           "by {b}",
           SCALE, .make = divide_by_sides),
    PE_ROW("coordinates_scaled",
           "coordinates are scaled: each is {a} times the claimed one (interpolation_scale, "
           "base_size, normalize)",
           UNITS, .make = pe_wave_linear, .value = 1),
    PE_ROW("coordinates_linear",
           "coordinates are scaled and shifted: each is {a} times the claimed one plus {b}, "
           "normalized",
           SCALE, .make = pe_wave_linear),
    PE_ROW("coordinates_clamped", "distances were clamped at {a}",
           "do not clip distances, or claim that", .make = pe_wave_clamp),
    PE_ROW("waves_interleaved", "the layout is interleaved: sines and cosines alternate",
           "put all sines before all cosines", .make = set_layout),
    PE_ROW("waves_in_halves", "the layout is that of halves: sines and cosines are not interleaved",
           "let sines and cosines alternate", .make = set_layout, .value = 1),
    PE_ROW("waves_joined",
           "the layout is another: sines of both axes stand together, then the cosines of both",
           "put the channels of one axis before those of the other", .make = join_blocks),
    PE_ROW("cos_sin_exchanged",
           "cosines and sines were exchanged: cosines come first in the layout",
           "put the sines first", FLAG(cosine_first)),
    PE_ROW("axes_interleaved", "pairs of rows and columns alternate: the axes are interleaved",
           "put the pairs of rows before those of columns", FLAG(mixed),
           .where = PE_WAVE_IN_TENSORS),
    PE_ROW("axes_exchanged",
           "the halves of the pairs are exchanged: those of columns come before those of rows",
           "put the pairs of rows before those of columns", .make = put_columns_first),
    PE_ROW("ladder_in_halves",
           "rows have the first half of the frequencies, columns the second: not even and odd ones",
           "give even frequencies (freqs[::2]) to rows and odd ones (freqs[1::2]) to columns",
           .make = set_halves),
    PE_ROW("base_other", "the base of the frequencies (theta) was {a}, not {b}", LADDER,
           .make = pe_wave_base),
    PE_ROW(
        "exponents_halved",
        "frequencies are the square root of the claimed ones: exponents were halved, as if divided "
        "by twice the dimension",
        LADDER, .make = set_root, .value = 0.5),
    PE_ROW("exponents_doubled", "frequencies were squared: exponents are twice the claimed ones",
           LADDER, .make = set_root, .value = 2),
    PE_ROW("freq_shift",
           "exponents were divided by {a}, not by {b}: the denominator was larger by 1, as n for "
           "n - 1",
           LADDER, .make = pe_wave_denominator, .value = 1),
    PE_ROW("freq_shift",
           "exponents were divided by {a}, not by {b}: the denominator was smaller by 1, as n - 1 "
           "for n",
           LADDER, .make = pe_wave_denominator, .value = -1),
    PE_ROW("exponents_positive",
           "frequencies are the reciprocal ones: the sign of the exponents is lost, and they grow",
           LADDER, .make = set_root, .value = -1),
    PE_ROW("bfloat16_positions", "positions were rounded to bfloat16", WIDE, .make = round_places,
           .value = PE_GRAIN_BFLOAT16),
    PE_ROW("float16_positions", "positions were rounded to float16", WIDE, .make = round_places,
           .value = PE_GRAIN_FLOAT16),
    PE_ROW("bfloat16_inv_freq", "frequencies (inv_freq) were rounded to bfloat16", WIDE,
           ROUND(BFLOAT16, 1)),
    PE_ROW("bfloat16_angles", "angles were rounded to bfloat16", WIDE, ROUND(BFLOAT16, 2)),
    PE_ROW("bfloat16_angles", "frequencies and angles were computed in bfloat16", WIDE,
           ROUND(BFLOAT16, 3)),
    PE_ROW("bfloat16_arithmetic", "frequencies, angles and waves were all computed in bfloat16",
           WIDE, ROUND(BFLOAT16, 7)),
    PE_ROW("float16_inv_freq", "frequencies (inv_freq) were rounded to float16", WIDE,
           ROUND(FLOAT16, 1)),
    PE_ROW("float16_angles", "angles were rounded to float16", WIDE, ROUND(FLOAT16, 2)),
    PE_ROW("float16_angles", "frequencies and angles were computed in float16", WIDE,
           ROUND(FLOAT16, 3)),
    PE_ROW("float16_arithmetic", "frequencies, angles and waves were all computed in float16", WIDE,
           ROUND(FLOAT16, 7)),
    PE_ROW("max_timescale", "max_timescale was {a}, not {b}", LADDER, .make = pe_wave_timescale),
    PE_ROW("base_other", "the base of the frequencies (theta) was {a}, not {b}", LADDER,
           .make = pe_wave_base, .value = 1),
    PE_ROW("coordinates_shifted",
           "coordinates are shifted by {a}: they start elsewhere, or lengths are others", COUNT,
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
