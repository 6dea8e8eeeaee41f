/* SPDX-License-Identifier: MIT */
/* wave_places.c - a table of sines and cosines: what stands in each place, claimed or changed. */
#include "verify/plain/wave_places.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Roundings of an angle on the float32 path, and of a wave: allowance.h. */
#define ANGLE_ERROR (24 * 0x1p-24)
#define WAVE_ERROR  (4 * 0x1p-24)

/* A sine or cosine, in units of work. */
#define WAVE_WORK 4

typedef enum wave { SINE, COSINE, ANGLE, PLACE, ZERO } wave;

/* Where an element belongs. */
typedef struct place {
    size_t row, pair;
    wave wave;
} place;

/* ---- columns ---- */

/* Of a row of `blocks` parts, each sines and cosines. */
static place place_in_row(const pe_wave_change *c, size_t row, size_t column)
{
    const pe_wave_table *t = c->of;
    const size_t each = 2 * t->pairs / t->blocks, half = each / 2;
    if (half == 0)
        return (place){.row = row, .wave = ZERO};
    const size_t at = column % each;
    const bool second = t->interleaved ? at % 2 != 0 : at >= half;
    return (place){.row = row,
                   .pair = column / each * half + (t->interleaved ? at / 2 : at % half),
                   .wave = column >= 2 * t->pairs      ? ZERO
                           : second != t->cosine_first ? COSINE
                                                       : SINE};
}

static wave wave_of(const char *name)
{
    return strcmp(name, "cos") == 0       ? COSINE
           : strcmp(name, "sin") == 0     ? SINE
           : strcmp(name, "row_col") == 0 ? PLACE
                                          : ANGLE;
}

static place place_of(const pe_wave_change *c, size_t e)
{
    const pe_wave_table *t = c->of;
    const pe_upload_view *view = t->of->view;
    if (e < t->extra * t->columns)
        return (place){.wave = ZERO};
    if (!t->tensors)
        return place_in_row(c, e / t->columns - t->extra, e % t->columns);
    const size_t u = pe_upload_view_tensor(view, e);
    e -= view->tensor_at[u];
    const wave is = wave_of(view->claim->uploads[u].name);
    if (is == PLACE)
        return (place){.row = e / PE_GRID_AXES,
                       .pair = e % PE_GRID_AXES == 0 ? PE_DOWN : PE_ACROSS,
                       .wave = is};
    return (place){.row = e / t->pairs, .pair = e % t->pairs, .wave = is};
}

/* ---- numbers ---- */

/* Where a row's patch is, in lines of so many patches of its frame. */
static void find_patch(const pe_wave_change *c, size_t row, size_t width, double *line,
                       double *column)
{
    const size_t all = c->of->height * c->of->width, patch = row % all;
    const size_t m = width % c->of->merge == 0 ? c->of->merge : 1;
    const size_t within = patch % (m * m), block = patch / (m * m);
    const size_t side = width / m;
    const size_t down = block / side * m + within / m, across = block % side * m + within % m;
    *line = (double)down;
    *column = (double)across;
}

/* How many patches come before a row's along an axis; of a line of padding one less than none. */
static double steps_along(const pe_wave_change *c, size_t at, size_t axis)
{
    const pe_wave_table *t = c->of;
    const double width = c->by_columns ? (double)t->height : c->width;
    double line, column, at_axis[PE_GRID_AXES];
    find_patch(c, at, (size_t)width, &line, &column);
    at_axis[PE_ACROSS] = c->by_columns ? line : column;
    at_axis[PE_DOWN] = c->by_columns ? column : line;
    const size_t other = PE_DOWN - axis;
    return at_axis[other] >= t->valid[other] ? -1 : fmin(at_axis[axis], t->valid[axis] - 1);
}

double pe_wave_coordinate(const pe_wave_change *c, size_t row, size_t axis)
{
    const pe_wave_table *t = c->of;
    const size_t of = c->only < PE_GRID_AXES ? c->only : c->swapped ? PE_DOWN - axis : axis;
    const double units = of == axis ? 1 : t->unit[of] / t->unit[axis];
    const double steps = (c->running >> axis & 1) != 0
                             ? (double)row
                             : steps_along(c, row, c->exchanged ? PE_DOWN - of : of);
    double x = (t->first[of] + (t->forward ? steps : -steps) + c->shift + c->from[of]) * c->times *
               c->along[of] * units;
    x = isnan(c->held) ? x : c->held;
    x = c->absolute ? fabs(x) : c->negative ? -x : x;
    return fmax(-c->clamp, fmin(c->clamp, x));
}

/* To the grain; near a boundary of rounding float32 arithmetic may fall to either side. */
static double keep(const pe_grain *grain, double x, double *error)
{
    if (grain == NULL)
        return x;
    *error = pe_grain_round(grain, x + *error) - pe_grain_round(grain, x - *error);
    return pe_grain_round(grain, x);
}

static double frequency_of(const pe_wave_change *c, size_t pair)
{
    const double *w = c->of->frequency;
    if (c->in_halves)
        return w[pair % 2 * (c->of->pairs / 2) + pair / 2];
    return w[pair];
}

double pe_wave_number(const pe_wave_change *c, size_t e, double *error)
{
    const place at = place_of(c, e);
    *error = 0;
    if (at.wave == PLACE)
        return pe_wave_coordinate(c, at.row, at.pair) - c->of->first[at.pair];
    if (at.wave == ZERO)
        return 0;
    const size_t axis = c->of->axis[at.pair];
    const double w = frequency_of(c, at.pair), unit = c->of->unit[axis];
    const double v = c->power == 1 ? w : unit * pow(w / unit, c->power);
    const double made = pe_wave_coordinate(c, at.row, axis) *
                        (c->frequencies == NULL ? v : pe_grain_round(c->frequencies, v));
    *error = ANGLE_ERROR * fabs(made);
    const double angle = keep(c->angles, made, error);
    *error += WAVE_ERROR;
    if (at.wave == ANGLE)
        return angle;
    return keep(c->waves, at.wave == SINE ? sin(angle) : cos(angle), error);
}

static bool is_at(const pe_wave_change *c, const double *numbers, double roundoff, size_t e)
{
    double error;
    const double x = pe_wave_number(c, e, &error);
    return fabs(numbers[e] - x) <= error + (2 * roundoff + 0x1p-40) * fmax(fabs(x), 1);
}

bool pe_wave_follows(const pe_wave_change *c, const double *numbers, double roundoff)
{
    size_t e = c->of->of->elements; /* the last rows tell most */
    while (e > 0 && is_at(c, numbers, roundoff, e - 1))
        e--;
    pe_numbers_spend(c->of->of, WAVE_WORK * (c->of->of->elements - e));
    return e == 0;
}

/* ---- the claim as a table ---- */

pe_wave_change pe_wave_claimed(const pe_wave_table *t)
{
    return (pe_wave_change){.of = t,
                            .times = 1,
                            .power = 1,
                            .clamp = t->clamp,
                            .along = {1, 1},
                            .held = nan(""),
                            .width = (double)t->width,
                            .only = PE_GRID_AXES};
}

/* Sine and cosine of a pair of a row. */
typedef struct sample {
    double sine, cosine;
} sample;

static sample sample_in_row(const pe_wave_change *c, const double *row, size_t pair)
{
    const pe_wave_table *t = c->of;
    const size_t half = t->pairs / t->blocks, at = pair % half;
    const double *block = row + pair / half * 2 * half;
    const size_t first = t->interleaved ? 2 * at : at;
    const size_t second = t->interleaved ? first + 1 : at + half;
    return (sample){block[first], block[second]};
}

static sample sample_at(const pe_wave_change *c, const double *numbers, size_t row, size_t pair)
{
    const pe_wave_table *t = c->of;
    const pe_upload_view *view = t->of->view;
    sample out = {0, 1};
    if (!t->tensors)
        out = sample_in_row(c, numbers + (t->extra + row) * t->columns, pair);
    for (size_t u = 0; u < view->n_tensors && t->tensors; u++) {
        const wave is = wave_of(view->claim->uploads[u].name);
        if (is < ANGLE)
            *(is == SINE ? &out.sine : &out.cosine) =
                numbers[view->tensor_at[u] + row * t->pairs + pair];
    }
    return t->cosine_first ? (sample){out.cosine, out.sine} : out;
}

/* Of an upload of one tensor the angle itself; NAN: the upload has both waves. */
static double lone_angle(const pe_wave_change *c, const double *numbers, size_t row, size_t pair)
{
    const pe_wave_table *t = c->of;
    const pe_upload_view *view = t->of->view;
    wave has = PLACE;
    double x = 0;
    for (size_t u = 0; u < view->n_tensors && t->tensors; u++) {
        const wave is = wave_of(view->claim->uploads[u].name);
        if (is == PLACE || has == ANGLE)
            continue;
        if (has != PLACE && is != ANGLE)
            return nan("");
        has = is;
        x = numbers[view->tensor_at[u] + row * t->pairs + pair];
    }
    return has == ANGLE ? x : has == SINE ? asin(x) : has == COSINE ? acos(x) : nan("");
}

double pe_wave_start(const pe_wave_change *c, size_t pair)
{
    const double alone = lone_angle(c, c->of->of->got, 0, pair);
    const sample at = sample_at(c, c->of->of->got, 0, pair);
    return isnan(alone) ? atan2(at.sine, at.cosine) : alone;
}

double pe_wave_turn(const pe_wave_change *c, const double *numbers, size_t row, size_t pair)
{
    const double alone = lone_angle(c, numbers, row, pair) - lone_angle(c, numbers, 0, pair);
    if (!isnan(alone))
        return alone;
    const sample a = sample_at(c, numbers, 0, pair), b = sample_at(c, numbers, row, pair);
    return atan2(b.sine * a.cosine - b.cosine * a.sine, b.cosine * a.cosine + b.sine * a.sine);
}

double pe_wave_step(const pe_wave_change *c, size_t pair)
{
    const size_t axis = c->of->axis[pair];
    const double from = pe_wave_coordinate(c, 0, axis);
    size_t row = 1;
    while (row < c->of->rows && pe_wave_coordinate(c, row, axis) == from)
        row++;
    return row < c->of->rows ? pe_wave_turn(c, c->of->of->got, row, pair) /
                                   (pe_wave_coordinate(c, row, axis) - from)
                             : nan("");
}

/* Frequencies are read off the claimed numbers, and hold where they give all of them again. */
static void read_frequencies(pe_wave_table *t)
{
    const pe_wave_change c = pe_wave_claimed(t);
    while (t->next + 1 < t->rows && t->height == 1 &&
           pe_wave_turn(&c, t->of->claimed, t->next, 0) == 0)
        t->next++;
    for (size_t i = 0; i < t->pairs; i++) {
        const double across = t->width > 1 ? pe_wave_turn(&c, t->of->claimed, t->next, i) : 0;
        const double down = t->height > 1 ? pe_wave_turn(&c, t->of->claimed, t->below, i) : 0;
        t->axis[i] = fabs(across) >= fabs(down) ? (size_t)PE_ACROSS : (size_t)PE_DOWN;
        t->frequency[i] = fabs(t->axis[i] == PE_ACROSS ? across : down);
    }
}

/* Of patches the resource tells the angles, whichever tensors were uploaded. */
static void read_angles(pe_wave_table *t, const pe_plan *plan)
{
    pe_problem why;
    size_t k = 0;
    while (k < plan->n_tensors && strcmp(plan->tensors[k].name, "angles") != 0)
        k++;
    if (k == plan->n_tensors || plan->tensors[k].unit != t->pairs)
        return;
    double *row = calloc(2 * t->pairs, sizeof *row), *from = row + t->pairs;
    const pe_region first = pe_plan_units(plan, k, 0, 1);
    const bool filled = row != NULL && pe_plan_make_region(plan, &first, from, &why) == PE_OK;
    for (size_t axis = PE_ACROSS; axis < PE_GRID_AXES && filled; axis++) {
        const size_t next = axis == PE_ACROSS ? 1 : t->below;
        const pe_region region = pe_plan_units(plan, k, next, 1);
        if ((axis == PE_ACROSS ? t->width : t->height) < 2 ||
            pe_plan_make_region(plan, &region, row, &why) != PE_OK)
            continue;
        for (size_t i = 0; i < t->pairs; i++)
            if (row[i] != from[i]) {
                t->axis[i] = axis;
                t->frequency[i] = fabs(row[i] - from[i]);
            }
    }
    free(row);
}

static void plan_angles(pe_wave_table *t)
{
    pe_problem why;
    pe_values values;
    pe_plan plan = {0};
    if (!t->tensors || pe_values_copy(&t->of->claim->values, &values, &why) != PE_OK)
        return;
    (void)pe_geometry_set_choice(&values, "dtype", "float64");
    if (pe_guess_plan(t->of->claim, &values, &plan, &why) == PE_OK)
        read_angles(t, &plan);
    pe_plan_free(&plan);
    pe_values_free(&values);
}

static double number_of(const pe_wave_table *t, const char *name)
{
    const pe_value *value = pe_values_find(&t->of->claim->values, name);
    if (value == NULL || !value->present)
        return 0;
    return value->param->kind == PE_KIND_INT ? (double)value->integer : value->real;
}

/* Beyond how many patches of an axis there is padding. */
static double valid_of(const pe_wave_table *t, const char *name)
{
    const double n = number_of(t, name);
    return n > 0 ? n : HUGE_VAL;
}

/* The fastest frequency of each axis; 1 of patches, but for those whose coordinates are centred. */
static void find_units(pe_wave_table *t)
{
    const bool one = t->tensors && !t->centred;
    t->unit[PE_ACROSS] = t->unit[PE_DOWN] = one ? 1 : 0;
    for (size_t i = 0; i < t->pairs && !one; i++)
        t->unit[t->axis[i]] = fmax(t->unit[t->axis[i]], t->frequency[i]);
}

/* Where the claim has a layout of rows. */
static void find_layout(pe_wave_table *t)
{
    const pe_values *values = &t->of->claim->values;
    const char *layout = pe_geometry_choice_text(values, "layout");
    t->interleaved = strcmp(layout, "interleaved") == 0 ||
                     strcmp(pe_geometry_choice_text(values, "variant"), "conformer") == 0;
    t->cosine_first = strcmp(layout, "cos_sin") == 0;
    t->centred = strcmp(pe_geometry_choice_text(values, "convention"), "dinov3") == 0;
}

/* Frequencies from turns are as exact as sines of small angles are; coordinates may begin anywhere
 * that some value of the claim names, or have their zero in the middle. */
static bool finds_claim(pe_wave_table *t)
{
    const double firsts[] = {0,
                             1,
                             number_of(t, "offset"),
                             number_of(t, "start_index"),
                             number_of(t, "key_length"),
                             number_of(t, "key_length") - 1};
    const double side[] = {[PE_ACROSS] = (double)t->width, [PE_DOWN] = (double)t->height};
    for (size_t f = 0; f < (t->centred ? 1 : PE_LEN(firsts)); f++) {
        for (size_t axis = PE_ACROSS; axis < PE_GRID_AXES; axis++)
            t->first[axis] = t->centred ? (1 - side[axis]) / 2 : firsts[f];
        const pe_wave_change claim = pe_wave_claimed(t);
        if (pe_wave_follows(&claim, t->of->claimed, 0))
            return true;
    }
    return false;
}

static bool set_shape(pe_wave_table *t)
{
    const pe_numbers *plain = t->of;
    const pe_upload_view *view = plain->view;
    size_t main = 0;
    while (main + 1 < view->n_tensors && wave_of(view->claim->uploads[main].name) == PLACE)
        main++;
    const pe_shape *shape = &view->claim->uploads[main].array.shape;
    const size_t columns = shape->dim[shape->ndim - 1];
    const bool grid = strstr(view->claim->resource->name, "/grid") != NULL;
    t->tensors = strcmp(view->claim->resource->name, "rope/grid") == 0;
    t->forward = strcmp(view->claim->resource->name, "sinusoidal/relative") != 0;
    t->blocks = grid && !t->tensors ? 2 : 1;
    t->columns = columns;
    t->pairs = t->tensors ? columns : columns / 2;
    t->extra = (size_t)number_of(t, "extra_tokens");
    t->rows = view->claim->uploads[main].array.elements / columns - t->extra;
    t->width = grid ? (size_t)number_of(t, "width") : t->rows;
    t->height = grid ? (size_t)number_of(t, "height") : 1;
    t->valid[PE_ACROSS] = valid_of(t, "valid_width");
    t->valid[PE_DOWN] = valid_of(t, "valid_height");
    t->merge = t->tensors ? (size_t)fmax(number_of(t, "spatial_merge_size"), 1) : 1;
    t->clamp = number_of(t, "clamp_len") > 0 ? number_of(t, "clamp_len") : HUGE_VAL;
    t->next = 1;
    t->below = t->merge > 1 ? t->merge : t->width;
    for (size_t u = 0; u < view->n_tensors; u++)
        if (view->claim->uploads[u].array.elements != (t->extra + t->rows) * columns &&
            !(t->tensors && wave_of(view->claim->uploads[u].name) == PLACE))
            return false;
    return t->rows > 1 && t->pairs > 0 && t->height * t->width > 0 &&
           t->rows % (t->height * t->width) == 0 && t->width % t->merge == 0 &&
           (t->tensors || t->blocks == 1 || columns % 2 == 0) && t->pairs % t->blocks == 0;
}

pe_status pe_wave_table_make(const pe_numbers *plain, pe_wave_table *out, bool *made,
                             pe_problem *why)
{
    *out = (pe_wave_table){.of = plain};
    *made = false;
    if (!set_shape(out))
        return PE_OK;
    out->frequency = calloc(out->pairs, sizeof *out->frequency);
    out->axis = calloc(out->pairs, sizeof *out->axis);
    if (out->frequency == NULL || out->axis == NULL) {
        pe_wave_table_free(out);
        return pe_fail_memory(why);
    }
    find_layout(out);
    read_frequencies(out);
    plan_angles(out);
    find_units(out);
    *made = finds_claim(out);
    return PE_OK;
}

void pe_wave_table_free(pe_wave_table *table)
{
    free(table->frequency);
    free(table->axis);
    *table = (pe_wave_table){0};
}
