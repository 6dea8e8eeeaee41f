/* SPDX-License-Identifier: MIT */
/* plain_waves.c - the stage of waves by place: coordinates of rows, and frequencies of pairs. */
#include "verify/plain/plain_waves.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "plan/plan.h"
#include "plan/resource.h"

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
static place place_in_row(const pe_waves *t, size_t row, size_t column)
{
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

static place place_of(const pe_sequence *p, size_t e)
{
    const pe_waves *t = p->state;
    const pe_upload_view *view = p->of->view;
    if (e < t->extra * t->columns)
        return (place){.wave = ZERO};
    if (!t->tensors)
        return place_in_row(t, e / t->columns - t->extra, e % t->columns);
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

static void find_patch(const pe_waves *t, size_t row, size_t width, double *line, double *column)
{
    const size_t all = t->height * t->width, patch = row % all;
    const size_t m = width % t->merge == 0 ? t->merge : 1;
    const size_t within = patch % (m * m), block = patch / (m * m);
    const size_t side = width / m;
    const size_t down = block / side * m + within / m, across = block % side * m + within % m;
    *line = (double)down;
    *column = (double)across;
}

double pe_waves_steps(const pe_waves *t, size_t row, size_t axis, size_t width, bool by_columns)
{
    double line, column, at_axis[PE_GRID_AXES];
    find_patch(t, row, width, &line, &column);
    at_axis[PE_ACROSS] = by_columns ? line : column;
    at_axis[PE_DOWN] = by_columns ? column : line;
    const size_t other = PE_DOWN - axis;
    return at_axis[other] >= t->valid[other] ? -1 : fmin(at_axis[axis], t->valid[axis] - 1);
}

static double coordinate_of(const pe_waves *t, const pe_places *by, size_t row, size_t axis)
{
    return fmax(-by->clamp, fmin(by->clamp, by->coordinate[axis * t->rows + row]));
}

/* To the grain; near a boundary of rounding float32 arithmetic may fall to either side. */
static double keep(const pe_grain *grain, double x, double *error)
{
    if (grain == NULL)
        return x;
    *error = pe_grain_round(grain, x + *error) - pe_grain_round(grain, x - *error);
    return pe_grain_round(grain, x);
}

static double number_at(const pe_sequence *p, const pe_places *by, size_t e, double *error)
{
    const pe_waves *t = p->state;
    const place at = place_of(p, e);
    *error = 0;
    if (at.wave == PLACE)
        return coordinate_of(t, by, at.row, at.pair) - t->first[at.pair];
    if (at.wave == ZERO)
        return 0;
    const double made = coordinate_of(t, by, at.row, t->axis[at.pair]) * by->frequency[at.pair];
    *error = ANGLE_ERROR * fabs(made);
    const double angle = keep(by->angles, made, error);
    *error += WAVE_ERROR;
    if (at.wave == ANGLE)
        return angle;
    return keep(by->waves, at.wave == SINE ? sin(angle) : cos(angle), error);
}

/* Are the claimed numbers those of the table? The last rows tell most. */
static bool gives_claim(const pe_sequence *p)
{
    const pe_waves *t = p->state;
    size_t e = p->of->elements;
    for (bool same = true; e > 0 && same; e -= same) {
        double error;
        const double x = number_at(p, &t->claimed, e - 1, &error);
        same = fabs(p->of->claimed[e - 1] - x) <= error + 0x1p-40 * fmax(fabs(x), 1);
    }
    pe_numbers_spend(p->of, WAVE_WORK * (p->of->elements - e));
    return e == 0;
}

/* ---- what pairs turn by ---- */

/* Sine and cosine of a pair of a row. */
typedef struct sample {
    double sine, cosine;
} sample;

static sample sample_in_row(const pe_waves *t, const double *row, size_t pair)
{
    const size_t half = t->pairs / t->blocks, at = pair % half;
    const double *block = row + pair / half * 2 * half;
    const size_t first = t->interleaved ? 2 * at : at;
    const size_t second = t->interleaved ? first + 1 : at + half;
    return (sample){block[first], block[second]};
}

static sample sample_at(const pe_sequence *p, const double *numbers, size_t row, size_t pair)
{
    const pe_waves *t = p->state;
    const pe_upload_view *view = p->of->view;
    sample out = {0, 1};
    if (!t->tensors)
        out = sample_in_row(t, numbers + (t->extra + row) * t->columns, pair);
    for (size_t u = 0; u < view->n_tensors && t->tensors; u++) {
        const wave is = wave_of(view->claim->uploads[u].name);
        if (is < ANGLE)
            *(is == SINE ? &out.sine : &out.cosine) =
                numbers[view->tensor_at[u] + row * t->pairs + pair];
    }
    return t->cosine_first ? (sample){out.cosine, out.sine} : out;
}

/* Of an upload of one tensor the angle itself; NAN: the upload has both waves. */
static double lone_angle(const pe_sequence *p, const double *numbers, size_t row, size_t pair)
{
    const pe_waves *t = p->state;
    const pe_upload_view *view = p->of->view;
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

double pe_waves_start(const pe_sequence *p, size_t pair)
{
    const double alone = lone_angle(p, p->of->got, 0, pair);
    const sample at = sample_at(p, p->of->got, 0, pair);
    return isnan(alone) ? atan2(at.sine, at.cosine) : alone;
}

double pe_waves_turn(const pe_sequence *p, const double *numbers, size_t row, size_t pair)
{
    const double alone = lone_angle(p, numbers, row, pair) - lone_angle(p, numbers, 0, pair);
    if (!isnan(alone))
        return alone;
    const sample a = sample_at(p, numbers, 0, pair), b = sample_at(p, numbers, row, pair);
    return atan2(b.sine * a.cosine - b.cosine * a.sine, b.cosine * a.cosine + b.sine * a.sine);
}

/* ---- the claim as a table ---- */

/* Frequencies are read off the claimed numbers, and hold where they give all of them again. */
static void read_frequencies(const pe_sequence *p)
{
    pe_waves *t = p->state;
    while (t->next + 1 < t->rows && t->height == 1 &&
           pe_waves_turn(p, p->of->claimed, t->next, 0) == 0)
        t->next++;
    for (size_t i = 0; i < t->pairs; i++) {
        const double across = t->width > 1 ? pe_waves_turn(p, p->of->claimed, t->next, i) : 0;
        const double down = t->height > 1 ? pe_waves_turn(p, p->of->claimed, t->below, i) : 0;
        t->axis[i] = fabs(across) >= fabs(down) ? (size_t)PE_ACROSS : (size_t)PE_DOWN;
        t->claimed.frequency[i] = fabs(t->axis[i] == PE_ACROSS ? across : down);
    }
}

/* Of patches the resource tells the angles, whichever tensors were uploaded. */
static void read_angles(pe_waves *t, const pe_plan *plan)
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
                t->claimed.frequency[i] = fabs(row[i] - from[i]);
            }
    }
    free(row);
}

static void plan_angles(const pe_sequence *p)
{
    pe_waves *t = p->state;
    pe_problem why;
    pe_values values;
    pe_plan plan = {0};
    if (!t->tensors || pe_values_copy(p->values, &values, &why) != PE_OK)
        return;
    (void)pe_geometry_set_choice(&values, "dtype", "float64");
    if (pe_guess_plan(p->of->claim, &values, &plan, &why) == PE_OK)
        read_angles(t, &plan);
    pe_plan_free(&plan);
    pe_values_free(&values);
}

/* 0: the claim has none. */
static double number_of(const pe_sequence *p, const char *name)
{
    return fmax(pe_slip_number(p, name), 0);
}

/* Beyond how many patches of an axis there is padding. */
static double valid_of(const pe_sequence *p, const char *name)
{
    const double n = number_of(p, name);
    return n > 0 ? n : HUGE_VAL;
}

/* The fastest frequency of each axis; 1 of patches, but for those whose coordinates are centred. */
static void find_units(pe_waves *t)
{
    const bool one = t->tensors && !t->centred;
    t->unit[PE_ACROSS] = t->unit[PE_DOWN] = one ? 1 : 0;
    for (size_t i = 0; i < t->pairs && !one; i++)
        t->unit[t->axis[i]] = fmax(t->unit[t->axis[i]], t->claimed.frequency[i]);
}

/* Where the claim has a layout of rows. */
static void find_layout(const pe_sequence *p)
{
    pe_waves *t = p->state;
    const char *layout = pe_geometry_choice_text(p->values, "layout");
    const pe_value *normal = pe_values_find(p->values, "normalize");
    t->interleaved = strcmp(layout, "interleaved") == 0 ||
                     strcmp(pe_geometry_choice_text(p->values, "variant"), "conformer") == 0;
    t->cosine_first = strcmp(layout, "cos_sin") == 0;
    t->centred = strcmp(pe_geometry_choice_text(p->values, "convention"), "dinov3") == 0;
    t->normalized = t->centred || (normal != NULL && normal->present && normal->truth);
}

/* Frequencies from turns are as exact as sines of small angles are; coordinates may begin anywhere
 * that some value of the claim names, or have their zero in the middle. */
static bool finds_claim(const pe_sequence *p)
{
    pe_waves *t = p->state;
    const double firsts[] = {0,
                             1,
                             number_of(p, "offset"),
                             number_of(p, "start_index"),
                             number_of(p, "key_length"),
                             number_of(p, "key_length") - 1};
    const double side[] = {[PE_ACROSS] = (double)t->width, [PE_DOWN] = (double)t->height};
    for (size_t f = 0; f < (t->centred ? 1 : PE_LEN(firsts)); f++) {
        for (size_t i = 0; i < PE_GRID_AXES * t->rows; i++) {
            const size_t axis = i / t->rows;
            const double steps = pe_waves_steps(t, i % t->rows, axis, t->width, false);
            t->first[axis] = t->centred ? (1 - side[axis]) / 2 : firsts[f];
            t->claimed.coordinate[i] = t->first[axis] + (t->forward ? steps : -steps);
        }
        if (gives_claim(p))
            return true;
    }
    return false;
}

static bool set_shape(const pe_sequence *p)
{
    pe_waves *t = p->state;
    const pe_upload_view *view = p->of->view;
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
    t->extra = (size_t)number_of(p, "extra_tokens");
    t->rows = view->claim->uploads[main].array.elements / columns - t->extra;
    t->width = grid ? (size_t)number_of(p, "width") : t->rows;
    t->height = grid ? (size_t)number_of(p, "height") : 1;
    t->valid[PE_ACROSS] = valid_of(p, "valid_width");
    t->valid[PE_DOWN] = valid_of(p, "valid_height");
    t->merge = t->tensors ? (size_t)fmax(number_of(p, "spatial_merge_size"), 1) : 1;
    t->claimed.clamp = valid_of(p, "clamp_len");
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

size_t pe_waves_ladder(const pe_waves *t)
{
    const size_t half = t->pairs / 2;
    const double *w = t->claimed.frequency;
    const bool shared = !t->centred && t->tensors && half > 0 && fabs(w[0] / w[half] - 1) > 1e-9;
    return t->tensors && !shared ? half : t->pairs / t->blocks;
}

/* ---- what equations call them ---- */

static void name_coordinate(const pe_sequence *p, size_t i)
{
    pe_waves *t = p->state;
    const size_t axis = i / t->rows, other = PE_DOWN - axis, row = i % t->rows;
    const double side[] = {[PE_ACROSS] = (double)t->width, [PE_DOWN] = (double)t->height};
    t->names.axis = (double)axis;
    t->names.row = (double)row;
    t->names.origin = t->first[axis];
    t->names.unit = t->unit[axis];
    t->names.side = side[axis];
    t->names.other = p->claimed[other * t->rows + row];
    t->names.other_origin = t->first[other];
    t->names.other_unit = t->unit[other];
    t->names.other_side = side[other];
}

/* Of the whole table. */
static void name_table(pe_waves *t)
{
    t->names.pairs = (double)t->pairs;
    t->names.ladder = (double)pe_waves_ladder(t);
    t->names.grid = t->height > 1 && t->width > 1;
    t->names.tensors = t->tensors;
    t->names.centred = t->centred;
    t->names.normalized = t->normalized;
    t->names.backward = !t->forward;
}

#define TERM(NAME)                                                                                 \
    {                                                                                              \
#NAME, .offset = offsetof(pe_waves, names.NAME), STATE                                     \
    }
#define STATE .through = offsetof(pe_sequence, state)

static const pe_term terms[] = {
    TERM(axis),
    TERM(row),
    TERM(origin),
    TERM(unit),
    TERM(side),
    TERM(other),
    TERM(other_origin),
    TERM(other_unit),
    TERM(other_side),
    TERM(fastest),
    TERM(pairs),
    TERM(ladder),
    TERM(grid),
    TERM(tensors),
    TERM(centred),
    TERM(normalized),
    TERM(backward),
    {"w", .offset = offsetof(pe_waves, claimed.frequency), .listed = true, STATE},
    {0}};

/* ---- the stage ---- */

/* Numbers of the stage and, behind them, frequencies: of the claim and of a mistake. */
static bool make_room(pe_waves *t)
{
    const size_t n = PE_GRID_AXES * t->rows;
    t->claimed.coordinate = calloc(2 * (n + t->pairs), sizeof(double));
    t->axis = calloc(t->pairs, sizeof *t->axis);
    if (t->claimed.coordinate == NULL || t->axis == NULL)
        return false;
    t->claimed.frequency = t->claimed.coordinate + n;
    t->made.coordinate = t->claimed.frequency + t->pairs;
    t->made.frequency = t->made.coordinate + n;
    return true;
}

/* Behind a mistake of waves, what that has made is claimed. */
static bool take_first(pe_waves *t, const pe_waves *first)
{
    *t = *first;
    t->claimed.coordinate = NULL;
    t->axis = NULL;
    if (!make_room(t))
        return false;
    const size_t n = PE_GRID_AXES * t->rows + t->pairs;
    memcpy(t->claimed.coordinate, first->made.coordinate, n * sizeof(double));
    memcpy(t->axis, first->axis, t->pairs * sizeof *t->axis);
    t->claimed.clamp = first->made.clamp;
    t->claimed.angles = first->made.angles;
    t->claimed.waves = first->made.waves;
    return true;
}

static pe_status measure(pe_sequence *p, pe_problem *why)
{
    const pe_sequence *first = p->of->first;
    const bool behind = first != NULL && first->by->stage == &pe_slip_waves;
    if (!pe_slip_is_of(pe_numbers_resource(p->of),
                       "rope/grid sinusoidal/grid sinusoidal/timing sinusoidal/relative") ||
        (p->of->before != NULL && !behind))
        return PE_OK;
    pe_waves *t = calloc(1, sizeof *t);
    p->state = t;
    if (t == NULL || (behind && !take_first(t, first->state)))
        return pe_fail_memory(why);
    if (!behind) {
        if (!set_shape(p))
            return PE_OK;
        if (!make_room(t))
            return pe_fail_memory(why);
        find_layout(p);
        read_frequencies(p);
        plan_angles(p);
        find_units(t);
        if (!finds_claim(p))
            return PE_OK;
    }
    name_table(t);
    p->n = PE_GRID_AXES * t->rows;
    p->claimed = t->claimed.coordinate;
    return PE_OK;
}

static void release(pe_sequence *p)
{
    pe_waves *t = p->state;
    if (t != NULL) {
        free(t->claimed.coordinate);
        free(t->axis);
    }
    free(t);
}

/* ---- what a mistake makes ---- */

/* A row may read its numbers off the claim with another clamp, and rounds to types of its own. */
static void begin(pe_sequence *p)
{
    pe_waves *t = p->state;
    t->by = NULL;
    name_coordinate(p, 0);
    t->made.clamp = t->claimed.clamp;
    t->made.angles = t->claimed.angles;
    t->made.waves = t->claimed.waves;
}

/* What the mistake that was read makes of both. */
static void make(const pe_sequence *p)
{
    pe_equation e;
    pe_waves *t = p->state;
    const char *also = p->by->also != NULL ? p->by->also : "w";
    const bool read = pe_equation_read(also, pe_sequence_terms, p->terms, p->values, p, &e);
    for (size_t i = 0; i < p->n; i++) {
        name_coordinate(p, i);
        t->made.coordinate[i] = pe_sequence_at(p, i);
    }
    for (size_t i = 0; i < t->pairs; i++) {
        t->names.fastest = t->unit[t->axis[i]];
        t->made.frequency[i] = read ? pe_equation_at(&e, p, (double)i) : nan("");
    }
    pe_numbers_spend(p->of, p->n + t->pairs);
    t->by = p->by;
}

static double at(const pe_sequence *p, size_t e, double claimed PE_UNUSED, double *error)
{
    const pe_waves *t = p->state;
    if (t->by == NULL)
        make(p);
    return number_at(p, &t->made, e, error);
}

/* How many times as fast as claimed each pair turns from row 0 to the next one along its axis. */
static void tell(const pe_sequence *p)
{
    const pe_waves *t = p->state;
    enum { MOST = 64 };
    double ratio[MOST];
    size_t n = 0;
    for (; n < t->pairs && n < MOST; n++) {
        const size_t next = t->axis[n] == PE_ACROSS ? t->next : t->below;
        ratio[n] =
            pe_waves_turn(p, p->of->got, next, n) / pe_waves_turn(p, p->of->claimed, next, n);
    }
    pe_numbers_list(p->of, "turn_ratios", ratio, n);
}

const pe_slip_stage pe_slip_waves = {
    .terms = terms, .measure = measure, .release = release, .begin = begin, .tell = tell, .at = at};
