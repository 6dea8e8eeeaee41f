/* SPDX-License-Identifier: MIT */
/* allowance.c - how far float32 arithmetic may be off, for tables that are no pairs of one axis. */
#include "verify/compare/allowance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plan/plan.h"
#include "plan/resource.h"
#include "verify/upload/geometry.h"

#define ROUNDING 0x1p-24 /* of float32 */
#define STEPS    24      /* on the way to an angle */

#define TURN 6.283185307179586

/* (dw/dv) (v/w) where llama3 smooths, else 1. The frequency v that was smoothed is the root of
 * v (rest + slope v) = w. */
static double smoothing(const pe_values *values, double w)
{
    if (strcmp(pe_geometry_choice_text(values, "rope_type"), "llama3") != 0)
        return 1;
    const double low = pe_values_real(values, "low_freq_factor");
    const double band = pe_values_real(values, "high_freq_factor") - low;
    const double part = 1 / pe_values_real(values, "factor");
    const double turns = (double)pe_values_int(values, "original_max_position_embeddings") / TURN;
    const double slope = (1 - part) * turns / band, rest = part - (1 - part) * low / band;
    const double v = (sqrt(rest * rest + 4 * slope * w) - rest) / (2 * slope);
    return turns * v > low && turns * v < low + band ? 1 + slope * v * v / w : 1;
}

double pe_allowance_roundings(const pe_values *values, double w, size_t i)
{
    const double n = 10 + fmax(fmin(14, 2 * fabs(log(w))), 3 * (double)i);
    return w == 1 ? 2 : n * smoothing(values, w);
}

/* Parameters of the claim that a run of elements has asked for, by the addresses of their names: to
 * find them anew for each element took four fifths of the time. */
typedef struct lookups {
    size_t n;
    struct {
        const char *name;
        const pe_value *value;
    } of[24];
} lookups;

/* One element: where it stands in its tensor, and what is known of the claim. */
typedef struct element {
    const pe_guess *guess;
    const pe_plan *plan;
    lookups *asked;
    size_t tensor, row, column;
    double x; /* its value */
    double
        known; /* of this element, in the tensor that `lookup` names; or of its column, or of all */
    double amplitude, across, down; /* of the row's patch: angles of a frequency of 1 */
    bool added, width_first;
} element;

static const pe_value *find(const element *at, const char *name)
{
    lookups *asked = at->asked;
    for (size_t k = 0; k < asked->n; k++)
        if (asked->of[k].name == name)
            return asked->of[k].value;
    const pe_value *value = pe_values_find(&at->guess->values, name);
    if (asked->n < PE_LEN(asked->of)) {
        asked->of[asked->n].name = name;
        asked->of[asked->n++].value = value;
    }
    return value;
}

static bool is_present(const element *at, const char *name)
{
    const pe_value *value = find(at, name);
    return value != NULL && value->present;
}

static bool is_choice(const element *at, const char *name, const char *choice)
{
    const pe_value *value = find(at, name);
    return is_present(at, name) && strcmp(value->param->choices[value->choice], choice) == 0;
}

static double real(const element *at, const char *name)
{
    return find(at, name)->real;
}

/* Of a parameter without a default of its own. */
static double real_or(const element *at, const char *name, double fallback)
{
    return is_present(at, name) ? real(at, name) : fallback;
}

static double integer(const element *at, const char *name)
{
    return (double)find(at, name)->integer;
}

/* The row's, of one axis. */
static double position(const element *at)
{
    return pe_positions_at(&find(at, "positions")->positions, at->row);
}

/* A (24 v |angle| + 4 v) */
static double wave(double amplitude, double angle)
{
    return fabs(amplitude) * (STEPS * ROUNDING * fabs(angle) + 4 * ROUNDING);
}

/* base^(-i/n) */
static double frequency(double base, double i, double n)
{
    return n > 0 ? pow(base, -i / n) : 1;
}

/* Which frequency column c of `width` has, of a table of sines and cosines. */
static size_t wave_of(size_t c, size_t width, bool interleaved)
{
    return interleaved ? c / 2 : c % (width / 2 + (width < 2));
}

/* ---- sinusoids ---- */

static double timing_error(const element *at)
{
    const size_t width = at->plan->tensors[0].unit, n = width / 2;
    const double least = real(at, "min_timescale"), most = real(at, "max_timescale");
    const double i = (double)wave_of(at->column, 2 * n, false);
    const double unit = frequency(most / least, i, (double)n - 1);
    const bool code = is_choice(at, "variant", "tensor2tensor");
    const double w = code ? unit * least : unit / least;
    return wave(real(at, "amplitude"), (integer(at, "start_index") + (double)at->row) * w);
}

static double relative_error(const element *at)
{
    const size_t width = at->plan->tensors[1].unit;
    const bool interleaved = is_choice(at, "variant", "conformer");
    const double i = (double)wave_of(at->column, width, interleaved);
    const double w = frequency(real(at, "base"), 2 * i, (double)width);
    return at->tensor == 0 ? 0 : wave(real(at, "amplitude"), at->known * w);
}

/* Row i of blocks is a rotation; of the matrix two rows are, zero but for these. */
static double offset_error(const element *at)
{
    const size_t i = is_choice(at, "form", "matrix") ? at->row / 2 : at->row;
    const double w = frequency(real(at, "base"), 2 * (double)i, integer(at, "d_model"));
    return at->x == 0 ? 0 : wave(1, integer(at, "offset") * w);
}

/* A patch by its places along an axis and across it; which sides are those of the axis. */
typedef struct patch {
    bool wide; /* the axis is that of the columns */
    size_t along, line;
} patch;

/* The side of the image; the grid's, where there is no padding. */
static size_t valid_side(const element *at, bool wide)
{
    const char *valid = wide ? "valid_width" : "valid_height";
    const bool given = is_present(at, valid);
    return (size_t)integer(at, given ? valid : wide ? "width" : "height");
}

/* The angle of a patch's coordinate where the frequency is 1; of padding, as DETR counts patches. */
static double coordinate_of(const element *at, patch of)
{
    const size_t n = valid_side(at, of.wide);
    const bool masked = of.line >= valid_side(at, !of.wide);
    const double place = masked ? -1 : (double)(of.along < n ? of.along : n - 1);
    const double measure = is_present(at, "base_size") ? integer(at, "base_size") / (double)n : 1;
    const double full = real_or(at, "scale", TURN), eps = real_or(at, "eps", 1e-6);
    const double unit =
        find(at, "normalize")->truth ? full / ((masked ? 0 : (double)n) + eps) : measure;
    return (place + real(at, "offset")) * unit / real(at, "interpolation_scale");
}

static void take_patch(element *at)
{
    const size_t extra = (size_t)integer(at, "extra_tokens"), width = (size_t)integer(at, "width");
    const bool none = at->row < extra;
    const size_t x = none ? 0 : (at->row - extra) % width, y = none ? 0 : (at->row - extra) / width;
    at->amplitude = none ? 0 : real(at, "amplitude");
    at->across = coordinate_of(at, (patch){true, x, y});
    at->down = coordinate_of(at, (patch){false, y, x});
    at->added = is_choice(at, "combine", "add");
    at->width_first = is_choice(at, "axis_order", "wh");
}

/* Each axis has half of the columns, unless both are added. */
static void patch_frequencies(const element *at, size_t columns, double *out)
{
    const size_t width = is_choice(at, "combine", "add") ? columns : columns / 2;
    const bool interleaved = is_choice(at, "layout", "interleaved");
    const size_t waves = width / 2;
    const double n = (double)waves - real(at, "freq_shift");
    for (size_t c = 0; c < columns; c++)
        out[c] = frequency(real(at, "base"), (double)wave_of(c % width, width, interleaved), n);
}

/* known: the frequency of the column */
static double patch_error(const element *at)
{
    if (at->amplitude == 0)
        return 0;
    if (at->added)
        return wave(at->amplitude, at->across * at->known) +
               wave(at->amplitude, at->down * at->known) + 2 * ROUNDING;
    const bool wide = (2 * at->column < at->plan->tensors[0].unit) == at->width_first;
    return wave(at->amplitude, (wide ? at->across : at->down) * at->known);
}

/* ---- rotations ---- */

/* known: the element's angle */
static double grid_error(const element *at)
{
    const char *name = at->plan->tensors[at->tensor].name;
    if (strcmp(name, "angles") == 0)
        return STEPS * ROUNDING * fabs(at->x);
    return strcmp(name, "row_col") == 0 ? 0 : wave(1, at->known);
}

static double frequency_error(const element *at)
{
    return pe_allowance_roundings(&at->guess->values, at->x, at->row + at->column) * ROUNDING *
           fabs(at->x);
}

/* A wavelength has the roundings of its frequency. A stretch has those of two, w and w / x. */
static double scaled_error(const element *at)
{
    const double width = integer(at, "head_dim"), i = (double)at->row + (double)at->column;
    const double w = frequency(real(at, "rope_theta"), 2 * i, width);
    if (strcmp(at->plan->tensors[at->tensor].name, "stretch") != 0)
        return frequency_error(at);
    const pe_values *values = &at->guess->values;
    return (pe_allowance_roundings(values, w, (size_t)i) +
            pe_allowance_roundings(values, w / at->x, (size_t)i)) *
           ROUNDING * fabs(at->x);
}

/* The sum over all pairs for an offset of 1: the same for all elements. */
static double decay_per_offset(const element *at)
{
    const double width = integer(at, "rotary_dim");
    double sum = 0;
    for (size_t i = 0; 2 * (double)i < width; i++) {
        const double w = frequency(real(at, "rope_theta"), 2 * (double)i, width);
        sum += pe_allowance_roundings(&at->guess->values, w, i) * ROUNDING * w;
    }
    return 2 * sum / width;
}

/* known: decay_per_offset */
static double decay_error(const element *at)
{
    const pe_positions *offsets = &find(at, "offsets")->positions;
    return at->known * fabs(pe_positions_at(offsets, at->row)) + 4 * ROUNDING;
}

/* Of angles the bound is that of unscaled frequencies, which no type of scaling exceeds by much. */
static double xpos_error(const element *at)
{
    const double p = position(at);
    if (strcmp(at->plan->tensors[at->tensor].name, "scale") != 0)
        return wave(at->plan->scalars[0].value,
                    p * frequency(real(at, "rope_theta"), 2 * (double)at->column,
                                  integer(at, "rotary_dim")));
    const double exponent = (p - real(at, "center")) / real(at, "scale_base");
    return at->x * (STEPS * fabs(log(at->x)) + 4 * fabs(exponent) + 4) * ROUNDING;
}

/* Cosines or sines alone, of one axis. known: the error of the column's angle at position 1 */
static double table_error(const element *at)
{
    return fabs(at->plan->scalars[0].value) * (at->known * fabs(position(at)) + 4 * ROUNDING);
}

/* ---- biases ---- */

/* How many times the base of the slopes is multiplied by itself at most: the published rule for
 * other head counts than powers of two takes odd powers up to twice the greatest power below. */
static double slope_powers(const element *at)
{
    const double heads = integer(at, "num_heads"), whole = exp2(floor(log2(heads)));
    const bool press = is_choice(at, "variant", "press");
    return press && whole < heads ? 2 * whole : heads;
}

/* known: slope_powers */
static double slope_error(const element *at)
{
    return (at->known + 3) * ROUNDING * fabs(at->x);
}

/* ---- interpolation ---- */

/* Of all elements: of coordinates as large as the source, weights, which are 2.25 in all, and sums
 * of up to 16 products. */
static double interpolation_bound(const element *at)
{
    const pe_array *table = &find(at, "table")->tensor;
    const pe_value *grid = find(at, "source_grid"); /* absent: derived by the plan */
    const double side =
        grid->present ? fmax(grid->list[0], grid->list[1]) : (double)table->shape.dim[0];
    const size_t bytes = pe_dtype_bytes(table->dtype);
    double most = 0;
    for (size_t e = 0; e < table->elements; e++)
        most = fmax(most, fabs(pe_dtype_load(table->dtype, (const char *)table->data + e * bytes)));
    return 2.25 * (32 + 4 * side) * ROUNDING * most;
}

/* known: interpolation_bound */
static double interpolation_error(const element *at)
{
    return at->known;
}

/* ---- the families ---- */

#define WAVES    "24 roundings of 2^-24 of the angle and 4 of the wave"
#define PRODUCT  "a product kept in the type, and "
#define SLOPES   PRODUCT "a rounding of 2^-24 for each power of the base and 3 more"
#define RATIONAL "10 to 24 roundings of 2^-24 of "

static const struct family {
    const char *resource;
    double (*error)(const element *at);  /* of float32 arithmetic */
    const char *words;                   /* what it is made of */
    bool products;                       /* numbers may be kept in the upload's type on the way */
    const char *lookup;                  /* the tensor that tells `known`; NULL: none is needed */
    double (*of_all)(const element *at); /* instead: what it is for all elements */
    void (*of_columns)(const element *at, size_t columns, double *out); /* or for each column */
    void (*of_row)(element *at);                                        /* before those of a row */
} families[] = {
    {"sinusoidal/timing", timing_error, WAVES, .lookup = NULL},
    {"sinusoidal/relative", relative_error, WAVES, .lookup = "distances"},
    {"sinusoidal/grid", patch_error, WAVES, .of_columns = patch_frequencies, .of_row = take_patch},
    {"sinusoidal/offset", offset_error, PRODUCT WAVES, true, .lookup = NULL},
    {"rope/grid", grid_error, WAVES, .lookup = "angles"},
    {"rope/table", table_error,
     "2 to 24 roundings of 2^-24 of the angle, as of its pair, and 4 of the wave", .lookup = NULL},
    {"rope/xpos/table", xpos_error, WAVES, .lookup = NULL},
    {"rope/frequencies", frequency_error,
     RATIONAL "the frequency: exponent, power, reciprocal, scaling", .lookup = NULL},
    {"rope/scaled-base", scaled_error, PRODUCT RATIONAL "each frequency", true, .lookup = NULL},
    {"rope/decay", decay_error,
     "the mean over all pairs of the roundings of their angles, and 4 of 2^-24",
     .of_all = decay_per_offset},
    {"alibi/slopes", slope_error, SLOPES, true, .of_all = slope_powers},
    {"alibi/bias", slope_error, SLOPES, true, .of_all = slope_powers},
    {"alibi/padded-bias", slope_error, SLOPES, true, .of_all = slope_powers},
    {"learned/interpolate", interpolation_error, NULL, .of_all = interpolation_bound},
};

static const struct family *find_family(const pe_resource *resource)
{
    for (size_t f = 0; f < PE_LEN(families); f++)
        if (strcmp(families[f].resource, resource->name) == 0)
            return &families[f];
    return NULL;
}

const char *pe_allowance_words(const pe_resource *resource)
{
    const struct family *family = find_family(resource);
    return family != NULL && family->words != NULL
               ? family->words
               : "a product kept in the type: 2 (1 + u) u of the number";
}

/* ---- a run ---- */

static size_t find_tensor(const pe_plan *plan, const char *name)
{
    size_t t = 0;
    while (strcmp(plan->tensors[t].name, name) != 0)
        t++;
    return t;
}

/* The row of another tensor that stands beside `row`; into doubles. */
static pe_status look_up(const pe_plan *plan, size_t tensor, size_t row, double *out,
                         pe_problem *why)
{
    const pe_tensor *of = &plan->tensors[tensor];
    const size_t bytes = pe_dtype_bytes(of->dtype);
    const pe_region region = pe_plan_units(plan, tensor, row, 1);
    const pe_status status = pe_plan_make_region(plan, &region, out, why);
    for (size_t c = of->unit; c-- > 0 && status == PE_OK;)
        out[c] = pe_dtype_load(of->dtype, (const char *)out + c * bytes);
    return status;
}

static pe_status fill_errors(const struct family *family, element *at, const pe_allowance_run *run,
                             double *float32, pe_problem *why)
{
    const pe_plan *plan = at->plan;
    const size_t unit = plan->tensors[run->tensor].unit;
    const size_t beside = family->lookup != NULL ? find_tensor(plan, family->lookup) : 0;
    const size_t width = family->lookup != NULL       ? plan->tensors[beside].unit
                         : family->of_columns != NULL ? unit
                                                      : 1;
    double *known = calloc(width, sizeof *known);
    pe_status status = known == NULL ? pe_fail_memory(why) : PE_OK;
    if (status == PE_OK && family->of_all != NULL)
        known[0] = *run->of_all = isnan(*run->of_all) ? family->of_all(at) : *run->of_all;
    if (status == PE_OK && family->of_columns != NULL)
        family->of_columns(at, width, known);
    for (size_t e = 0, row = SIZE_MAX; e < run->n && status == PE_OK; e++) {
        at->row = (run->first + e) / unit;
        at->column = (run->first + e) % unit;
        at->x = run->value[e];
        if (family->lookup != NULL && at->row != row && at->row < plan->tensors[beside].units)
            status = look_up(plan, beside, at->row, known, why);
        if (family->of_row != NULL && at->row != row)
            family->of_row(at);
        row = at->row;
        at->known = run->per_position != NULL ? run->per_position[at->column % run->columns]
                                              : known[width > 1 ? at->column % width : 0];
        float32[e] += isfinite(at->x) ? family->error(at) : 0;
    }
    free(known);
    return status;
}

/* What element e may be off that followed from vectors. Where a scale s is off by d, 1/s is off by
 * d/s^2. */
static double derived_off(const pe_claim *claim, bool waves, size_t e, double size)
{
    const double *off = claim->derived.data;
    const size_t n = claim->derived.elements / 2;
    if (n == 0 || waves)
        return n == 0 ? 0 : off[e];
    return fmax(claim->part_off * size, off[n + e] * (claim->of_keys ? size * size : 1));
}

pe_status pe_allowance_of_run(const pe_guess *guess, const pe_plan *plan,
                              const pe_allowance_run *run, double *exact, double *float32,
                              pe_problem *why)
{
    static const double roundoff[PE_DTYPES] = {[PE_FLOAT32] = 0x1p-24,
                                               [PE_FLOAT64] = 0x1p-53,
                                               [PE_FLOAT16] = 0x1p-11,
                                               [PE_BFLOAT16] = 0x1p-8};
    const struct family *family = find_family(guess->claim->resource);
    const pe_grain *stored = guess->distortion.stored;
    const double u =
        stored != NULL ? ldexp(1, -stored->bits) : roundoff[guess->claim->uploads[0].array.dtype];
    const double product = family == NULL || family->products ? 2 * (1 + u) * u : 0;
    lookups asked = {0};
    element at = {.guess = guess, .plan = plan, .asked = &asked, .tensor = run->tensor};
    const bool waves = strcmp(plan->tensors[run->tensor].name, "scale") != 0;
    for (size_t e = 0; e < run->n; e++) {
        const double size = isfinite(run->value[e]) ? fabs(run->value[e]) : 0;
        exact[e] = float32[e] =
            product * size + derived_off(guess->claim, waves, run->first + e, size);
    }
    return family == NULL ? PE_OK : fill_errors(family, &at, run, float32, why);
}
