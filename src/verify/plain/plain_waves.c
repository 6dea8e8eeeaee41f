/* SPDX-License-Identifier: MIT */
/* plain_waves.c - the stage of waves by place: coordinates of rows, and frequencies of pairs. */
#include "verify/plain/plain_waves.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/yield.h"
#include "plan/resource.h"

#define TURN 6.283185307179586

/* Roundings of an angle on the float32 path, and of a wave: allowance.h. */
#define ANGLE_ERROR (24 * 0x1p-24)
#define WAVE_ERROR  (4 * 0x1p-24)

/* A sine or cosine, in units of work. */
#define WAVE_WORK 4

typedef enum wave { SINE, COSINE, ANGLE, PLACE, ZERO } wave;

/* Where an element belongs; of a place `pair` is the axis. */
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
    if (t->of == PE_IDS_OF_TOKENS)
        return (place){e % t->rows, e / t->rows, PLACE};
    if (t->of == PE_PAIRS_OF_AXES)
        return (place){e / t->pairs, e % t->pairs, ANGLE};
    if (e < t->extra * t->columns)
        return (place){.wave = ZERO};
    if (t->is.tensors == 0)
        return place_in_row(t, e / t->columns - t->extra, e % t->columns);
    const size_t u = pe_upload_view_tensor(view, e);
    e -= view->tensor_at[u];
    const wave is = wave_of(view->claim->uploads[u].name);
    if (is == PLACE)
        return (place){e / PE_GRID_AXES, e % PE_GRID_AXES == 0 ? PE_DOWN : PE_ACROSS, is};
    return (place){e / t->pairs, e % t->pairs, is};
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

/* To the narrow type; near a boundary of rounding float32 arithmetic may fall to either side. */
static double keep(const pe_narrow_type *narrow, double x, double *error)
{
    if (narrow == NULL)
        return x;
    *error = pe_narrow_type_round(narrow, x + *error) - pe_narrow_type_round(narrow, x - *error);
    return pe_narrow_type_round(narrow, x);
}

/* How far an angle may be off that was read as `angle`, and is `turn` radians away. A small angle of
 * a table is as precise as its sine. */
static double slack(const pe_sequence *p, double angle, double turn)
{
    const double u = p->of->roundoff;
    const double of_elements = p->of->view->rotated ? 4 * u : 2 * u * fmin(1, fabs(angle));
    return of_elements + 5e-7 * (1 + fabs(turn));
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
    if (t->of == PE_PAIRS_OF_AXES) { /* whole turns are those of the upload */
        *error = slack(p, p->of->got[e], made);
        return p->of->got[e] + remainder(made - p->of->got[e], TURN);
    }
    *error = ANGLE_ERROR * fabs(made);
    const double angle = keep(by->angles, made, error);
    *error += WAVE_ERROR;
    if (at.wave == ANGLE)
        return angle;
    return keep(by->waves, at.wave == SINE ? sin(angle) : cos(angle), error);
}

/* The last rows tell most. */
static bool gives_claim(const pe_sequence *p)
{
    const pe_waves *t = p->state;
    size_t e = p->of->elements;
    for (bool same = true; e > 0 && same && !pe_yield_must_end(); e -= same) {
        double error;
        pe_yield_look(WAVE_WORK);
        const double x = number_at(p, &t->claimed, e - 1, &error);
        same = fabs(p->of->claimed[e - 1] - x) <= error + 0x1p-40 * fmax(fabs(x), 1);
    }
    pe_numbers_spend(p->of, WAVE_WORK * (p->of->elements - e));
    return e == 0;
}

/* ---- what is read off the upload ---- */

/* Sine, cosine and angle of a pair of a row; NAN: it was not sent. */
static void find_waves(const pe_sequence *p, const double *numbers, size_t row, size_t pair,
                       double *out)
{
    const pe_waves *t = p->state;
    const pe_upload_view *view = p->of->view;
    for (size_t u = 0; u < view->n_tensors && t->is.tensors != 0; u++) {
        const wave is = wave_of(view->claim->uploads[u].name);
        if (is < PLACE)
            out[is] = numbers[view->tensor_at[u] + row * t->pairs + pair];
    }
    if (t->is.tensors != 0)
        return;
    const size_t half = t->pairs / t->blocks, at = pair % half;
    const double *block = numbers + (t->extra + row) * t->columns + pair / half * 2 * half;
    out[t->cosine_first ? COSINE : SINE] = block[t->interleaved ? 2 * at : at];
    out[t->cosine_first ? SINE : COSINE] = block[t->interleaved ? 2 * at + 1 : at + half];
}

/* *turns: an angle that was sent as such, with its whole turns. */
static double angle_of(const pe_sequence *p, const double *numbers, size_t row, size_t pair,
                       bool *turns)
{
    const pe_waves *t = p->state;
    double is[] = {nan(""), nan(""), nan("")};
    *turns = false;
    if (t->of == PE_PAIRS_OF_AXES)
        return numbers[row * t->pairs + pair];
    find_waves(p, numbers, row, pair, is);
    *turns = !isnan(is[ANGLE]);
    return *turns              ? is[ANGLE]
           : isnan(is[COSINE]) ? asin(is[SINE])
           : isnan(is[SINE])   ? acos(is[COSINE])
                               : atan2(is[SINE], is[COSINE]);
}

double pe_waves_angle(const pe_sequence *p, const double *numbers, size_t row, size_t pair)
{
    bool turns;
    return angle_of(p, numbers, row, pair, &turns);
}

static double turn_of(const pe_sequence *p, const double *numbers, size_t row, size_t pair)
{
    bool turns;
    const double angle =
        angle_of(p, numbers, row, pair, &turns) - angle_of(p, numbers, 0, pair, &turns);
    return turns ? angle : remainder(angle, TURN);
}

bool pe_waves_follow(const pe_sequence *p, size_t pair, size_t axis, double w)
{
    const pe_waves *t = p->state;
    const double *x = p->claimed + axis * t->rows;
    const size_t low = (size_t)t->low[axis];
    const double start = pe_waves_angle(p, p->of->got, low, pair);
    size_t r = 0;
    for (bool same = true; r < t->rows && same; r += same) {
        const double angle = pe_waves_angle(p, p->of->got, r, pair);
        const double off = remainder(angle - start - w * (x[r] - x[low]), TURN);
        same = fabs(off) <= slack(p, angle, w * x[r]) + slack(p, start, 0);
    }
    pe_numbers_spend(p->of, r);
    return r == t->rows;
}

/* The simplest fraction within the error, or the number itself. */
static double tidy(double number, double error)
{
    for (int parts = 1; parts <= 12; parts++) {
        const double near = round(number * parts) / parts;
        if (fabs(number - near) <= error)
            return near;
    }
    return number;
}

/* Positions are near enough to be told from whole numbers apart. */
#define ERROR_MAX 0.3

/* From the slowest pair, which has made no whole turn from the claimed coordinate on, to the fastest
 * one, which tells how far off it may be. */
static double read_coordinate(const pe_sequence *p, size_t i)
{
    const pe_waves *t = p->state;
    const size_t axis = i / t->rows, row = i % t->rows;
    double at = coordinate_of(t, &t->claimed, row, axis), error = ERROR_MAX;
    for (size_t pair = t->pairs; pair-- > 0;) {
        const double w = t->claimed.frequency[pair];
        if (t->axis[pair] != axis || w == 0)
            continue;
        const double angle = pe_waves_angle(p, p->of->got, row, pair);
        at += remainder(angle - w * at, TURN) / w;
        error = fmin(slack(p, angle, w * at) / w, ERROR_MAX);
    }
    pe_numbers_spend(p->of, t->pairs);
    return tidy(at, error);
}

double pe_waves_seen(const void *of, double i)
{
    const pe_sequence *p = of;
    const pe_waves *t = p->state;
    if (!(i >= 0 && i < (double)p->n))
        return nan("");
    double *seen = &t->seen[(size_t)i];
    if (isinf(*seen))
        *seen = read_coordinate(p, (size_t)i);
    return *seen;
}

/* ---- what equations name ---- */

#define LIST(NAME, MEMBER) PE_STATE_LIST(NAME, pe_waves, MEMBER)

static const pe_term terms[] = {{.name = "y", .at = pe_waves_seen},
                                PE_STATE_TERM(PE_WAVES_NAMES, pe_waves, is),
                                LIST("w", claimed.frequency),
                                LIST("of", of_pair),
                                LIST("index", index),
                                LIST("count", count),
                                LIST("unit", unit),
                                LIST("side", side),
                                LIST("low", low),
                                LIST("high", high),
                                LIST("run", run),
                                LIST("image", image),
                                LIST("past", past),
                                {0}};

/* ---- the stage ---- */

pe_status pe_waves_make_room(pe_sequence *p, pe_problem *why)
{
    pe_waves *t = p->state;
    const size_t n = t->axes * t->rows, pairs = t->pairs;
    const size_t more = t->axes + 1; /* an equation may name what is behind the last axis */
    double *at = calloc(3 * n + 6 * pairs + 3 * t->rows + 4 * more, sizeof *at);
    if (at == NULL)
        return pe_fail_memory(why);
    p->owned = t->claimed.coordinate = at;
    t->claimed.frequency = at + n;
    t->made.coordinate = t->claimed.frequency + pairs;
    t->made.frequency = t->made.coordinate + n;
    t->seen = t->made.frequency + pairs;
    t->of_pair = t->seen + n;
    t->index = t->of_pair + pairs;
    t->count = t->index + pairs;
    t->run = t->count + pairs;
    t->image = t->run + t->rows;
    t->past = t->image + t->rows;
    t->unit = t->past + t->rows;
    t->side = t->unit + more;
    t->low = t->side + more;
    t->high = t->low + more;
    t->axis = (size_t *)(void *)(t->high + more);
    t->claimed.clamp = HUGE_VAL;
    return PE_OK;
}

/* ---- what a claim says of waves by place ---- */

/* Frequencies are read off the claimed numbers, and hold where they give all of them again. */
static void read_frequencies(const pe_sequence *p)
{
    pe_waves *t = p->state;
    while (t->next + 1 < t->rows && t->height == 1 && turn_of(p, p->of->claimed, t->next, 0) == 0)
        t->next++;
    for (size_t i = 0; i < t->pairs; i++) {
        const double across = t->width > 1 ? turn_of(p, p->of->claimed, t->next, i) : 0;
        const double down = t->height > 1 ? turn_of(p, p->of->claimed, t->below, i) : 0;
        t->axis[i] = fabs(across) >= fabs(down) ? (size_t)PE_ACROSS : (size_t)PE_DOWN;
        t->claimed.frequency[i] = fmax(fabs(across), fabs(down));
    }
}

/* 0: the claim has none. */
static double number_of(const pe_sequence *p, const char *name)
{
    return fmax(pe_slip_number(p, name), 0);
}

/* Beyond how many patches of an axis there is padding, or where distances end. */
static double end_of(const pe_sequence *p, const char *name)
{
    const double n = number_of(p, name);
    return n > 0 ? n : HUGE_VAL;
}

/* Of axes and pairs; the fastest frequency is 1 of patches, but for those whose coordinates are
 * centred. */
static void name_claim(const pe_sequence *p)
{
    pe_waves *t = p->state;
    const size_t half = t->pairs / 2;
    const double *w = t->claimed.frequency;
    const bool one = t->is.tensors != 0 && t->is.centred == 0;
    const bool shared = one && half > 0 && fabs(w[0] / w[half] - 1) > 1e-9;
    t->is.ladder = (double)(t->is.tensors != 0 && !shared ? half : t->pairs / t->blocks);
    t->is.grid = t->height > 1 && t->width > 1;
    t->is.timing = strcmp(p->of->resource, "sinusoidal/timing") == 0;
    t->side[PE_ACROSS] = (double)t->width;
    t->side[PE_DOWN] = (double)t->height;
    t->unit[PE_ACROSS] = t->unit[PE_DOWN] = one ? 1 : 0;
    for (size_t i = 0; i < t->pairs && !one; i++) {
        double *unit = &t->unit[t->axis[i]];
        *unit = fmax(*unit, w[i]);
    }
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
    for (size_t f = 0; f < (t->is.centred != 0 ? 1 : PE_LEN(firsts)); f++) {
        for (size_t i = 0; i < PE_GRID_AXES * t->rows; i++) {
            const size_t axis = i / t->rows;
            const double steps = pe_waves_steps(t, i % t->rows, axis, t->width, false);
            t->first[axis] = t->is.centred != 0 ? (1 - t->side[axis]) / 2 : firsts[f];
            t->claimed.coordinate[i] = t->first[axis] + (t->is.backward != 0 ? -steps : steps);
        }
        if (gives_claim(p))
            return true;
    }
    return false;
}

/* Where the claim has a layout of rows. */
static void find_layout(const pe_sequence *p)
{
    pe_waves *t = p->state;
    const char *layout = pe_geometry_choice_text(p->values, "layout");
    const pe_value *normal = pe_values_find(p->values, "normalize");
    t->interleaved = strcmp(layout, "interleaved") == 0 || pe_slip_has(p, "variant", "conformer");
    t->cosine_first = strcmp(layout, "cos_sin") == 0;
    t->is.centred = pe_slip_has(p, "convention", "dinov3");
    t->is.normalized = t->is.centred != 0 || (normal != NULL && normal->present && normal->truth);
}

static bool is_of_coordinates(const pe_upload *upload)
{
    return strcmp(upload->name, "row_col") == 0;
}

static bool set_shape(const pe_sequence *p)
{
    pe_waves *t = p->state;
    const pe_upload_view *view = p->of->view;
    const char *name = view->claim->resource->name;
    const pe_upload *upload = view->claim->uploads, *main = upload;
    const bool grid = strstr(name, "/grid") != NULL, tensors = strcmp(name, "rope/grid") == 0;
    while (main + 1 < upload + view->n_tensors && is_of_coordinates(main))
        main++;
    const size_t columns = main->array.shape.dim[main->array.shape.ndim - 1];
    t->is.tensors = tensors;
    t->is.backward = strcmp(name, "sinusoidal/relative") == 0;
    t->blocks = grid && !tensors ? 2 : 1;
    t->columns = columns;
    t->axes = PE_GRID_AXES;
    t->pairs = tensors ? columns : columns / 2;
    t->extra = (size_t)number_of(p, "extra_tokens");
    t->rows = main->array.elements / columns - t->extra;
    t->width = grid ? (size_t)number_of(p, "width") : t->rows;
    t->height = grid ? (size_t)number_of(p, "height") : 1;
    t->valid[PE_ACROSS] = end_of(p, "valid_width");
    t->valid[PE_DOWN] = end_of(p, "valid_height");
    t->merge = tensors ? (size_t)fmax(number_of(p, "spatial_merge_size"), 1) : 1;
    t->next = 1;
    t->below = t->merge > 1 ? t->merge : t->width;
    for (size_t u = 0; u < view->n_tensors; u++)
        if (upload[u].array.elements != (t->extra + t->rows) * columns &&
            !(tensors && is_of_coordinates(&upload[u])))
            return false;
    return t->rows > 1 && t->pairs > 0 && t->height * t->width > 0 &&
           t->rows % (t->height * t->width) == 0 && t->width % t->merge == 0 &&
           (tensors || t->blocks == 1 || columns % 2 == 0) && t->pairs % t->blocks == 0;
}

static pe_status of_places(pe_sequence *p, pe_problem *why)
{
    pe_waves *t = p->state;
    if (!set_shape(p))
        return PE_OK;
    PE_TRY(pe_waves_make_room(p, why));
    t->claimed.clamp = end_of(p, "clamp_len");
    find_layout(p);
    read_frequencies(p);
    name_claim(p);
    p->n = finds_claim(p) ? t->axes * t->rows : 0;
    return PE_OK;
}

/* ---- measuring ---- */

static void count_pairs(const pe_waves *t)
{
    size_t n[PE_AXES_MAX] = {0};
    for (size_t i = 0; i < t->pairs; i++) {
        t->of_pair[i] = (double)t->axis[i];
        t->index[i] = (double)n[t->axis[i]]++;
    }
    for (size_t i = 0; i < t->pairs; i++)
        t->count[i] = (double)n[t->axis[i]];
}

/* Behind a mistake of waves, what that has made is claimed. */
static pe_status take_first(pe_sequence *p, const pe_waves *first, pe_problem *why)
{
    pe_waves *t = p->state;
    *t = *first;
    PE_TRY(pe_waves_make_room(p, why));
    const size_t n = t->axes * t->rows;
    memcpy(t->claimed.coordinate, first->made.coordinate, (n + t->pairs) * sizeof(double));
    memcpy(t->axis, first->axis, t->pairs * sizeof *t->axis);
    memcpy(t->run, first->run, (3 * t->rows + 2 * (t->axes + 1)) * sizeof(double));
    t->claimed.clamp = first->made.clamp;
    t->claimed.angles = first->made.angles;
    t->claimed.waves = first->made.waves;
    p->n = n;
    return PE_OK;
}

static void find_ends(const pe_waves *t)
{
    for (size_t axis = 0; axis < t->axes; axis++) {
        const double *x = t->claimed.coordinate + axis * t->rows;
        for (size_t row = 0; row < t->rows; row++) {
            t->low[axis] = x[row] < x[(size_t)t->low[axis]] ? (double)row : t->low[axis];
            t->high[axis] = x[row] > x[(size_t)t->high[axis]] ? (double)row : t->high[axis];
            t->seen[axis * t->rows + row] = HUGE_VAL;
        }
    }
}

static pe_status measure(pe_sequence *p, pe_problem *why)
{
    pe_waves *t = p->state;
    const pe_sequence *first = p->of->first;
    if (first != NULL && first->by->stage == &pe_slip_waves)
        PE_TRY(take_first(p, first->state, why));
    else if (first == NULL)
        PE_TRY(pe_faults_is_of(p->of->resource, PE_OF_TOKENS) ? pe_waves_of_tokens(p, why)
                                                              : of_places(p, why));
    if (p->n == 0)
        return PE_OK;
    count_pairs(t);
    find_ends(t);
    p->claimed = t->claimed.coordinate;
    if (t->of == PE_IDS_OF_TOKENS)
        memcpy(t->seen, p->of->got, p->n * sizeof *t->seen);
    t->is.axes = (double)t->axes;
    t->is.rows = (double)t->rows;
    t->is.pairs = (double)t->pairs;
    t->is.coarse = p->of->roundoff > 0x1p-12;
    return PE_OK;
}

/* ---- what a mistake makes ---- */

/* A row may read its numbers off the claim with another clamp, and round to types of its own. */
static void begin(pe_sequence *p)
{
    pe_waves *t = p->state;
    t->by = NULL;
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
    const bool read = pe_equation_read(also, p->terms, pe_sequence_terms, p->values, p, &e);
    for (size_t i = 0; i < p->n; i++) {
        t->made.coordinate[i] = pe_sequence_at(p, i);
        pe_yield_look(WAVE_WORK);
    }
    for (size_t i = 0; i < t->pairs; i++)
        t->made.frequency[i] = read ? pe_equation_at(&e, p, (double)i) : nan("");
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
    for (; n < t->pairs && n < MOST && t->of == PE_WAVES_BY_PLACE; n++) {
        const size_t next = t->axis[n] == PE_ACROSS ? t->next : t->below;
        ratio[n] = turn_of(p, p->of->got, next, n) / turn_of(p, p->of->claimed, next, n);
    }
    if (n > 0)
        pe_numbers_list(p->of, "turn_ratios", ratio, n);
}

const pe_slip_stage pe_slip_waves = {.of = PE_OF_PLACES " " PE_OF_TOKENS,
                                     .state = sizeof(pe_waves),
                                     .terms = terms,
                                     .measure = measure,
                                     .begin = begin,
                                     .tell = tell,
                                     .at = at,
                                     .apply = pe_waves_apply};
