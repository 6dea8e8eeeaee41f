/* SPDX-License-Identifier: MIT */
/* wave_causes.c - tables of sines and cosines by place: which coordinates, frequencies, columns. */
#include "verify/wave_causes.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Roundings of an angle on the float32 path, and of a wave: allowance.h. */
#define ANGLE_ERROR (24 * 0x1p-24)
#define WAVE_ERROR  (4 * 0x1p-24)

/* A sine or cosine, in units of work. */
#define WAVE_WORK 4

enum { ACROSS, DOWN, AXES };

typedef enum wave { SINE, COSINE, ANGLE, PLACE } wave;

/* Where an element belongs. */
typedef struct place {
    size_t row, pair;
    wave wave;
} place;

/* What an element is of: wave(frequency[pair] coordinate), of the pair's axis. */
typedef struct table {
    const pe_numbers *of;
    size_t rows, pairs, width, height; /* a line is `width` wide */
    bool tensors;                      /* cosines, sines and angles apart; else a row has both */
    bool forward;                      /* coordinates rise from row to row */
    size_t blocks;                     /* of sines, then cosines, in a row */
    double first;                      /* coordinate of row 0, on all axes */
    double *frequency;                 /* [pairs] owned */
    size_t *axis;                      /* [pairs] owned */
} table;

/* Another table: each number says how it differs. */
typedef struct change {
    const table *of;
    double shift, times, power, clamp;  /* of coordinates; of frequencies, w^power */
    double width;                       /* of a line, in which rows are counted */
    bool by_columns, backward;          /* rows go down first; from the last to the first */
    bool mirrored, upside_down;         /* lines run from right to left, from below */
    bool late, running;                 /* a row of zeros comes first; both axes count rows */
    bool exchanged, absolute, negative; /* axes; coordinates */
    size_t only;                        /* the axis whose coordinates all pairs have; AXES: none */
    bool interleaved, cosine_first, mixed, sine_negative;
    pe_numbers_cause causes[2];
} change;

/* ---- columns ---- */

/* Of a row of `blocks` parts, each sines and cosines. */
static place place_in_row(const change *c, size_t row, size_t column)
{
    const table *t = c->of;
    const size_t each = 2 * t->pairs / t->blocks, half = each / 2, at = column % each;
    const bool second = c->interleaved ? at % 2 != 0 : at >= half;
    return (place){.row = row,
                   .pair = column / each * half + (c->interleaved ? at / 2 : at % half),
                   .wave = second != c->cosine_first ? COSINE : SINE};
}

static wave wave_of(const char *name)
{
    return strcmp(name, "cos") == 0       ? COSINE
           : strcmp(name, "sin") == 0     ? SINE
           : strcmp(name, "row_col") == 0 ? PLACE
                                          : ANGLE;
}

static place place_of(const change *c, size_t e)
{
    const table *t = c->of;
    const pe_upload_view *view = t->of->view;
    if (!t->tensors)
        return place_in_row(c, e / (2 * t->pairs), e % (2 * t->pairs));
    size_t u = 0;
    while (e >= view->tensor_at[u + 1])
        u++;
    e -= view->tensor_at[u];
    const wave is = wave_of(view->claim->uploads[u].name);
    if (is == PLACE)
        return (place){.row = e / AXES, .pair = e % AXES == 0 ? DOWN : ACROSS, .wave = is};
    const size_t column = e % t->pairs;
    return (place){.row = e / t->pairs,
                   .pair = c->mixed ? column % 2 * (t->pairs / 2) + column / 2 : column,
                   .wave = is >= ANGLE || !c->cosine_first ? is
                           : is == SINE                    ? COSINE
                                                           : SINE};
}

/* ---- numbers ---- */

static double coordinate(const change *c, size_t row, size_t axis)
{
    const table *t = c->of;
    if (c->late && row == 0)
        return 0;
    const size_t at = c->backward ? t->rows - 1 - row : row - (c->late ? 1 : 0);
    const double line = c->by_columns ? (double)t->height : c->width, r = (double)at;
    const bool across = (c->only < AXES ? c->only
                         : c->exchanged ? (axis == ACROSS ? DOWN : ACROSS)
                                        : axis) == ACROSS;
    const double at_line = fmod(r, line), at_row = floor(r / line);
    const double along = c->mirrored ? line - 1 - at_line : at_line;
    const double lines = c->upside_down ? (double)t->rows / line - 1 - at_row : at_row;
    const double steps = c->running ? r : across != c->by_columns ? along : lines;
    double x = (t->first + (t->forward ? steps : -steps) + c->shift) * c->times;
    x = c->absolute ? fabs(x) : c->negative ? -x : x;
    return fmax(-c->clamp, fmin(c->clamp, x));
}

static double number_at(const change *c, size_t e, double *error)
{
    const place at = place_of(c, e);
    *error = 0;
    if (at.wave == PLACE)
        return coordinate(c, at.row, at.pair);
    const double w = c->of->frequency[at.pair];
    const double angle =
        coordinate(c, at.row, c->of->axis[at.pair]) * (c->power == 1 ? w : pow(w, c->power));
    *error = ANGLE_ERROR * fabs(angle) + WAVE_ERROR;
    if (at.wave == ANGLE)
        return angle;
    const double sign = at.wave == SINE && c->sine_negative ? -1 : 1;
    return sign * (at.wave == SINE ? sin(angle) : cos(angle));
}

/* The last rows tell most. */
static bool follows(const change *c, const double *numbers, double roundoff)
{
    double error;
    size_t e = c->of->of->elements;
    bool same = true;
    while (e > 0 && same) {
        const double x = number_at(c, --e, &error);
        same = fabs(numbers[e] - x) <= error + (2 * roundoff + 0x1p-40) * fmax(fabs(x), 1);
    }
    pe_numbers_spend(c->of->of, WAVE_WORK * (c->of->of->elements - e));
    return same;
}

/* ---- the claim as a table ---- */

static change claimed_table(const table *t)
{
    return (change){.of = t,
                    .times = 1,
                    .power = 1,
                    .clamp = HUGE_VAL,
                    .width = (double)t->width,
                    .only = AXES};
}

/* Sine and cosine of a pair of a row. */
typedef struct sample {
    double sine, cosine;
} sample;

static sample sample_at(const table *t, const double *numbers, size_t row, size_t pair)
{
    const pe_upload_view *view = t->of->view;
    if (!t->tensors) {
        const size_t half = t->pairs / t->blocks;
        const double *at = numbers + row * 2 * t->pairs + pair / half * 2 * half + pair % half;
        return (sample){at[0], at[half]};
    }
    sample out = {0, 1};
    for (size_t u = 0; u < view->n_tensors; u++) {
        const wave is = wave_of(view->claim->uploads[u].name);
        const double x = numbers[view->tensor_at[u] + row * t->pairs + pair];
        if (is < ANGLE)
            *(is == SINE ? &out.sine : &out.cosine) = x;
    }
    return out;
}

/* Of an upload of one tensor the angle itself; NAN: the upload has both waves. */
static double lone_angle(const table *t, const double *numbers, size_t row, size_t pair)
{
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

/* By how much a pair turns from row 0 to another. */
static double turn(const table *t, const double *numbers, size_t row, size_t pair)
{
    const double alone = lone_angle(t, numbers, row, pair) - lone_angle(t, numbers, 0, pair);
    if (!isnan(alone))
        return alone;
    const sample a = sample_at(t, numbers, 0, pair), b = sample_at(t, numbers, row, pair);
    return atan2(b.sine * a.cosine - b.cosine * a.sine, b.cosine * a.cosine + b.sine * a.sine);
}

/* Frequencies are read off the claimed numbers, and hold where they give all of them again. */
static void read_frequencies(table *t)
{
    for (size_t i = 0; i < t->pairs; i++) {
        const double across = t->width > 1 ? turn(t, t->of->claimed, 1, i) : 0;
        const double down = t->height > 1 ? turn(t, t->of->claimed, t->width, i) : 0;
        t->axis[i] = fabs(across) >= fabs(down) ? (size_t)ACROSS : (size_t)DOWN;
        t->frequency[i] = fabs(t->axis[i] == ACROSS ? across : down);
    }
}

/* Of patches the resource tells the angles, whichever tensors were uploaded. */
static void read_angles(table *t, const pe_plan *plan)
{
    pe_problem why;
    size_t k = 0;
    while (k < plan->n_tensors && strcmp(plan->tensors[k].name, "angles") != 0)
        k++;
    if (k == plan->n_tensors || plan->tensors[k].unit != t->pairs)
        return;
    double *row = calloc(t->pairs, sizeof *row);
    for (size_t axis = ACROSS; axis < AXES && row != NULL; axis++) {
        const size_t next = axis == ACROSS ? 1 : t->width;
        const pe_region region = pe_plan_units(plan, k, next, 1);
        if ((axis == ACROSS ? t->width : t->height) < 2 ||
            plan->fill(plan, &region, row, &why) != PE_OK)
            continue;
        for (size_t i = 0; i < t->pairs; i++)
            if (row[i] != 0) {
                t->axis[i] = axis;
                t->frequency[i] = fabs(row[i]);
            }
    }
    free(row);
}

static void plan_angles(table *t)
{
    pe_problem why;
    pe_values values;
    pe_plan plan = {0};
    if (!t->tensors || pe_values_copy(&t->of->claim->values, &values, &why) != PE_OK)
        return;
    (void)pe_guess_set_choice(&values, "dtype", "float64");
    if (pe_guess_plan(t->of->claim, &values, &plan, &why) == PE_OK)
        read_angles(t, &plan);
    pe_plan_free(&plan);
    pe_values_free(&values);
}

static double int_of(const table *t, const char *name)
{
    const pe_value *value = pe_values_find(&t->of->claim->values, name);
    return value != NULL && value->present ? (double)value->integer : 0;
}

/* Frequencies from turns are as exact as sines of small angles are; coordinates may begin anywhere
 * that some value of the claim names. */
static bool finds_claim(table *t)
{
    const double firsts[] = {0, 1, int_of(t, "start_index"), int_of(t, "key_length"),
                             int_of(t, "key_length") - 1};
    for (size_t f = 0; f < PE_LEN(firsts); f++) {
        t->first = firsts[f];
        const change claim = claimed_table(t);
        if (follows(&claim, t->of->claimed, 0))
            return true;
    }
    return false;
}

static bool set_shape(table *t)
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
    t->pairs = t->tensors ? columns : columns / 2;
    t->rows = view->claim->uploads[main].array.elements / columns;
    t->width = grid ? (size_t)int_of(t, "width") : t->rows;
    t->height = t->width > 0 ? t->rows / t->width : 0;
    for (size_t u = 0; u < view->n_tensors; u++)
        if (view->claim->uploads[u].array.elements != t->rows * columns &&
            !(t->tensors && wave_of(view->claim->uploads[u].name) == PLACE))
            return false;
    return t->rows > 1 && t->pairs > 0 && t->height * t->width == t->rows &&
           (t->tensors || columns % 2 == 0) && t->pairs % t->blocks == 0;
}

/* ---- the rows ---- */

/* Tables in which a row makes sense. */
typedef enum scope { ANYWHERE, IN_GRIDS, IN_ROWS, IN_TENSORS, BACKWARD } scope;

typedef struct row {
    pe_fault fault;
    bool (*make)(const struct row *of, change *c, double *a, double *b);
    size_t flag; /* of a change: where it is, for set_flag */
    scope where;
} row;

static bool is_within(const table *t, scope where)
{
    return where == ANYWHERE || (where == IN_GRIDS && t->height > 1 && t->width > 1) ||
           (where == IN_ROWS && !t->tensors) ||
           (where == IN_TENSORS && t->tensors && t->pairs % 2 == 0) ||
           (where == BACKWARD && !t->forward);
}

static bool set_flag(const row *of, change *c, double *a, double *b)
{
    (void)a;
    (void)b;
    *(bool *)((char *)c + of->flag) = true;
    return is_within(c->of, of->where);
}

static bool take_axis(const row *of, change *c, double *a, double *b)
{
    (void)a;
    (void)b;
    c->only = (size_t)of->fault.value;
    return c->of->height > 1;
}

static bool set_width(const row *of, change *c, double *a, double *b)
{
    *b = c->width;
    *a = c->width = of->fault.and_value != 0 ? of->fault.and_value
                    : of->fault.value != 0   ? *b + of->fault.value
                                             : (double)c->of->height;
    return c->of->height > 1 && *a > 0 && *a != *b;
}

static bool shift(const row *of, change *c, double *a, double *b)
{
    (void)b;
    *a = c->shift = of->fault.value;
    return true;
}

static bool drop_first(const row *of, change *c, double *a, double *b)
{
    (void)of;
    (void)b;
    *a = c->of->first;
    c->shift = -*a;
    return *a != 0 && c->of->forward;
}

static bool scale(const row *of, change *c, double *a, double *b)
{
    (void)b;
    *a = c->times = of->fault.value;
    return true;
}

static bool divide(const row *of, change *c, double *a, double *b)
{
    (void)b;
    *a =
        (of->fault.and_value == 0 ? (double)c->of->width : (double)c->of->height) + of->fault.value;
    c->times = 1 / *a;
    return *a > 1;
}

/* The phase of a pair in row 0. */
static double start_of(const table *t, size_t pair)
{
    const double alone = lone_angle(t, t->of->got, 0, pair);
    const sample at = sample_at(t, t->of->got, 0, pair);
    return isnan(alone) ? atan2(at.sine, at.cosine) : alone;
}

/* Coordinates are a (x + b), read off the pair whose turns are told best. */
static bool read_linear(const row *of, change *c, double *a, double *b)
{
    const table *t = c->of;
    size_t middle = 0;
    (void)of;
    for (size_t i = 0; i < t->pairs; i++)
        if (fabs(log(8 * t->frequency[i])) < fabs(log(8 * t->frequency[middle])))
            middle = i;
    const size_t next = t->axis[middle] == ACROSS ? 1 : t->width;
    const double w = t->frequency[middle], k = turn(t, t->of->got, next, middle) / w;
    c->times = *a = pe_numbers_tidy(k * 840) / 840;
    const double by = start_of(t, middle) / (w * *a) - t->first;
    c->shift = *b = round(by * 840) / 840;
    return isfinite(*a) && isfinite(*b) && *a != 0 && (*a != 1 || *b != 0) && t->forward;
}

/* At the row from which on rows differ from each other. */
static bool clamp(const row *of, change *c, double *a, double *b)
{
    const table *t = c->of;
    size_t r = 1;
    (void)of;
    (void)b;
    while (r < t->rows && fabs(sample_at(t, t->of->got, r, 0).sine -
                               sample_at(t, t->of->got, 0, 0).sine) <= 4 * t->of->roundoff)
        r++;
    *a = c->clamp = fabs(coordinate(c, r - 1, ACROSS));
    return r > 1 && r < t->rows && !t->forward;
}

/* The power of all frequencies, from the pair whose claimed frequency is nearest to 1/8. */
static double read_power(const table *t)
{
    size_t middle = 0;
    for (size_t i = 0; i < t->pairs; i++)
        if (fabs(log(8 * t->frequency[i])) < fabs(log(8 * t->frequency[middle])))
            middle = i;
    /* axes may be exchanged, too */
    const double across = t->width > 1 ? fabs(turn(t, t->of->got, 1, middle)) : 0;
    const double down = t->height > 1 ? fabs(turn(t, t->of->got, t->width, middle)) : 0;
    return log(fmax(across, down)) / log(t->frequency[middle]);
}

static bool set_root(const row *of, change *c, double *a, double *b)
{
    (void)a;
    (void)b;
    c->power = of->fault.value;
    return true;
}

/* Exponents i/n for i/(n - 1), and the like: the number of frequencies of a block is n. */
static bool set_denominator(const row *of, change *c, double *a, double *b)
{
    const double n = (double)c->of->pairs / (double)c->of->blocks;
    *b = n - 1;
    *a = n + of->fault.value;
    c->power = *b / *a;
    return *b > 0 && *a > 0 &&
           strcmp(c->of->of->view->claim->resource->name, "sinusoidal/timing") == 0;
}

static const char *base_name(const table *t)
{
    static const char *const names[] = {"rope_theta", "base"};
    for (size_t n = 0; n < PE_LEN(names); n++)
        if (pe_values_find(&t->of->claim->values, names[n]) != NULL)
            return names[n];
    return NULL;
}

/* w = base^-e for all e: another base is a power of w. */
static bool set_base(const row *of, change *c, double *a, double *b)
{
    const char *name = base_name(c->of);
    (void)of;
    if (name == NULL || !pe_values_present(&c->of->of->claim->values, name))
        return false;
    *b = pe_values_real(&c->of->of->claim->values, name);
    const double read = pow(*b, read_power(c->of)), digits = pow(10, floor(log10(read)) - 1);
    *a = round(read / digits) * digits;
    c->power = log(*a) / log(*b);
    return isfinite(c->power) && c->power > 0 && *a != *b;
}

#define ORDER  "let patches count along the rows of the image: k = row width + column"
#define COUNT  "count coordinates as the claim does: check the offset of the first"
#define SCALE  "pass coordinates as they are: do not normalize them"
#define LADDER "check the base and the denominator of the exponents"

static const row rows[] = {
    {{"axes_exchanged",
      "rows and columns are exchanged: each axis has the coordinates of the other",
      .remedy = "give the pairs of rows the row, those of columns the column"},
     .make = set_flag,
     .flag = offsetof(change, exchanged),
     .where = IN_GRIDS},
    {{"mesh_transposed",
      "patches count down the columns: the mesh grid is transposed, the order of axes exchanged",
      .remedy = ORDER},
     .make = set_flag,
     .flag = offsetof(change, by_columns),
     .where = IN_GRIDS},
    {{"one_axis", "all pairs have the coordinate of one axis, the column: the row is missing",
      .value = ACROSS, .remedy = "give each axis its own coordinate"},
     .make = take_axis},
    {{"one_axis", "all pairs have the coordinate of one axis, the row: the column is missing",
      .value = DOWN, .remedy = "give each axis its own coordinate"},
     .make = take_axis},
    {{"grid_width", "the grid was {a} wide, not {b}: its width was taken from the height",
      .value = 0, .remedy = "divide the number of a patch by the width"},
     .make = set_width},
    {{"grid_width", "the grid was {a} wide, not {b}", .value = 1,
      .remedy = "divide the number of a patch by the width"},
     .make = set_width},
    {{"grid_width", "the grid was {a} wide, not {b}", .value = -1,
      .remedy = "divide the number of a patch by the width"},
     .make = set_width},
    {{"grid_width", "the grid was {a} wide, not {b}: patches count along one axis, as text does",
      .and_value = 1, .remedy = "divide the number of a patch by the width"},
     .make = set_width},
    {{"rows_reversed", "rows are in reverse order: the last one comes first",
      .remedy = "do not reverse the rows"},
     .make = set_flag,
     .flag = offsetof(change, backward),
     .where = ANYWHERE},
    {{"coordinates_negative", "the sign of the coordinates is the inverse one: angles are negative",
      .remedy = "take the distance as query - key; check the sign of the sine"},
     .make = set_flag,
     .flag = offsetof(change, negative),
     .where = ANYWHERE},
    {{"sine_negative", "sines have the opposite sign", .remedy = "do not negate the sine"},
     .make = set_flag,
     .flag = offsetof(change, sine_negative),
     .where = ANYWHERE},
    {{"coordinates_absolute", "distances are absolute values: their sign is lost",
      .remedy = "keep the sign of the distance"},
     .make = set_flag,
     .flag = offsetof(change, absolute),
     .where = BACKWARD},
    {{"coordinates_shifted", "coordinates are shifted by {a}: they count from 1", .value = 1,
      .remedy = COUNT},
     .make = shift},
    {{"coordinates_shifted", "coordinates are shifted by {a}: one too small", .value = -1,
      .remedy = COUNT},
     .make = shift},
    {{"coordinates_shifted", "coordinates are shifted by {a}: they are those of centres",
      .value = 0.5, .remedy = COUNT},
     .make = shift},
    {{"columns_mirrored",
      "patches of each row are in reverse order: columns run from right to left", .remedy = ORDER},
     .make = set_flag,
     .flag = offsetof(change, mirrored),
     .where = IN_GRIDS},
    {{"rows_mirrored", "rows of patches are in reverse order, from below: axes are flipped",
      .remedy = ORDER},
     .make = set_flag,
     .flag = offsetof(change, upside_down),
     .where = IN_GRIDS},
    {{"row_first", "rows are shifted by one: a row of position 0, as of a class token, comes first",
      .remedy = "leave the class token out of the grid"},
     .make = set_flag,
     .flag = offsetof(change, late),
     .where = IN_GRIDS},
    {{"one_axis", "both axes count patches one after the other, as consecutive text does (1-D)",
      .remedy = "give each axis its own coordinate"},
     .make = set_flag,
     .flag = offsetof(change, running),
     .where = IN_GRIDS},
    {{"start_ignored", "positions are shifted: they start at 0, not at {a}", .remedy = COUNT},
     .make = drop_first},
    {{"coordinates_scaled", "coordinates are scaled: each was multiplied by {a}", .value = 2,
      .remedy = SCALE},
     .make = scale},
    {{"coordinates_scaled", "coordinates are scaled: each was multiplied by {a}", .value = 0.5,
      .remedy = SCALE},
     .make = scale},
    {{"coordinates_scaled", "coordinates are normalized: each was divided by the width, {a}",
      .remedy = SCALE},
     .make = divide},
    {{"coordinates_scaled", "coordinates are normalized: each was divided by the height, {a}",
      .and_value = 1, .remedy = SCALE},
     .make = divide},
    {{"coordinates_scaled", "coordinates are normalized: each was divided by the width - 1, {a}",
      .value = -1, .remedy = SCALE},
     .make = divide},
    {{"coordinates_scaled", "coordinates are normalized: each was divided by the height - 1, {a}",
      .value = -1, .and_value = 1, .remedy = SCALE},
     .make = divide},
    {{"coordinates_linear",
      "coordinates are scaled and shifted: each is {a} times the claimed one plus {b}, normalized",
      .remedy = SCALE},
     .make = read_linear},
    {{"coordinates_clamped", "distances were clamped at {a}",
      .remedy = "do not clip distances, or claim that"},
     .make = clamp},
    {{"waves_interleaved", "the layout is interleaved: sines and cosines alternate",
      .remedy = "put all sines before all cosines"},
     .make = set_flag,
     .flag = offsetof(change, interleaved),
     .where = IN_ROWS},
    {{"cos_sin_exchanged", "cosines and sines were exchanged: cosines come first in the layout",
      .remedy = "put the sines first"},
     .make = set_flag,
     .flag = offsetof(change, cosine_first),
     .where = ANYWHERE},
    {{"axes_interleaved", "pairs of rows and columns alternate: the axes are interleaved",
      .remedy = "put the pairs of rows before those of columns"},
     .make = set_flag,
     .flag = offsetof(change, mixed),
     .where = IN_TENSORS},
    {{"exponents_halved",
      "frequencies are the square root of the claimed ones: exponents were halved, as if divided "
      "by twice the dimension",
      .value = 0.5, .remedy = LADDER},
     .make = set_root},
    {{"exponents_doubled", "frequencies were squared: exponents are twice the claimed ones",
      .value = 2, .remedy = LADDER},
     .make = set_root},
    {{"freq_shift", "exponents were divided by {a}, not by {b}: the denominator was n, not n - 1",
      .value = 0, .remedy = LADDER},
     .make = set_denominator},
    {{"freq_shift",
      "exponents were divided by {a}, not by {b}: the denominator was n - 2, not n - 1",
      .value = -2, .remedy = LADDER},
     .make = set_denominator},
    {{"base_other", "the base of the frequencies (theta) was {a}, not {b}", .remedy = LADDER},
     .make = set_base},
};

/* ---- explaining ---- */

static double at_law(const void *context, size_t e, double claimed, double *error)
{
    (void)claimed;
    return number_at(context, e, error);
}

static bool make(change *c, size_t r, size_t at)
{
    pe_numbers_cause *cause = &c->causes[at];
    *cause = (pe_numbers_cause){.fault = &rows[r].fault};
    return rows[r].make(&rows[r], c, &cause->a, &cause->b);
}

static pe_status try_change(const change *c, size_t *found, pe_problem *why)
{
    const pe_numbers *plain = c->of->of;
    if (!follows(c, plain->got, plain->roundoff))
        return PE_OK;
    ++*found;
    return pe_numbers_try(plain, c->causes, PE_LEN(c->causes), &(pe_numbers_law){at_law, c, 0},
                          why);
}

/* One row, and where none explains the upload two. */
static pe_status explain(const table *t, pe_problem *why)
{
    size_t found = 0;
    pe_status status = PE_OK;
    for (size_t r = 0; r < PE_LEN(rows) && status == PE_OK && pe_numbers_goes_on(t->of); r++) {
        change one = claimed_table(t);
        if (make(&one, r, 0))
            status = try_change(&one, &found, why);
    }
    for (size_t r = 0; r < PE_LEN(rows) && found == 0 && status == PE_OK; r++)
        for (size_t s = r + 1; s < PE_LEN(rows) && status == PE_OK && pe_numbers_goes_on(t->of);
             s++) {
            change two = claimed_table(t);
            if (make(&two, r, 0) && make(&two, s, 1))
                status = try_change(&two, &found, why);
        }
    return status;
}

/* How many times as fast as claimed each pair turns from row 0 to the next one along its axis. */
static void tell(const table *t)
{
    enum { MOST = 64 };
    double ratio[MOST];
    size_t n = 0;
    for (; n < t->pairs && n < MOST; n++) {
        const size_t next = t->axis[n] == ACROSS ? 1 : t->width;
        ratio[n] = turn(t, t->of->got, next, n) / turn(t, t->of->claimed, next, n);
    }
    pe_numbers_list(t->of, "turn_ratios", ratio, n);
}

pe_status pe_wave_causes_find(const pe_numbers *plain, pe_problem *why)
{
    table t = {.of = plain};
    pe_status status = PE_OK;
    if (!set_shape(&t))
        return PE_OK;
    t.frequency = calloc(t.pairs, sizeof *t.frequency);
    t.axis = calloc(t.pairs, sizeof *t.axis);
    if (t.frequency == NULL || t.axis == NULL)
        status = pe_fail_memory(why);
    if (status == PE_OK)
        read_frequencies(&t);
    if (status == PE_OK)
        plan_angles(&t);
    if (status == PE_OK && finds_claim(&t)) {
        tell(&t);
        status = explain(&t, why);
    }
    free(t.frequency);
    free(t.axis);
    return status;
}
