/* SPDX-License-Identifier: MIT */
/* allowance.c - how far float32 arithmetic may be off, for tables that are no pairs of one axis. */
#include "verify/compare/allowance.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/yield.h"
#include "plan/plan.h"
#include "plan/resource.h"
#include "verify/compare/equation.h"
#include "verify/upload/geometry.h"

#define ROUNDING 0x1p-24 /* of float32 */
#define TURN     6.283185307179586

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

/* ---- elements ---- */

/* One element: its value, where it stands in its tensor, and what is known of it. */
typedef struct element {
    const pe_guess *guess;
    double x, row, column, columns;
    double position;     /* of the row */
    double gain;         /* of cosines and sines: the plan's first scalar */
    double across, down; /* of the row's patch: angles of a frequency of 1 */
    double known;        /* see families */
} element;

static double roundings(const void *of, double i PE_UNUSED)
{
    const element *at = of;
    return pe_allowance_roundings(&at->guess->values, at->x, (size_t)(at->row + at->column));
}

/* A stretch is w over the scaled w, and has the roundings of both. */
static double stretch_roundings(const void *of, double i PE_UNUSED)
{
    const element *at = of;
    const pe_values *values = &at->guess->values;
    const double pair = at->row + at->column;
    const double w = pow(pe_values_real(values, "rope_theta"),
                         -2 * pair / (double)pe_values_int(values, "head_dim"));
    return pe_allowance_roundings(values, w, (size_t)pair) +
           pe_allowance_roundings(values, w / at->x, (size_t)pair);
}

#define MEMBER(NAME) .offset = offsetof(element, NAME)

static const pe_term terms[] = {{.name = "x", MEMBER(x)},
                                {.name = "r", MEMBER(row)},
                                {.name = "c", MEMBER(column)},
                                {.name = "columns", MEMBER(columns)},
                                {.name = "p", MEMBER(position)},
                                {.name = "gain", MEMBER(gain)},
                                {.name = "across", MEMBER(across)},
                                {.name = "down", MEMBER(down)},
                                {.name = "known", MEMBER(known)},
                                {.name = "roundings", .at = roundings},
                                {.name = "stretch_roundings", .at = stretch_roundings},
                                {0}};

/* ---- what is known of all elements ---- */

/* The sum over all pairs for an offset of 1. */
static double decay_per_offset(const pe_values *values)
{
    const double width = (double)pe_values_int(values, "rotary_dim");
    double sum = 0;
    for (size_t i = 0; 2 * (double)i < width; i++) {
        const double w = pow(pe_values_real(values, "rope_theta"), -2 * (double)i / width);
        sum += pe_allowance_roundings(values, w, i) * w;
    }
    return 2 * sum / width;
}

/* Of coordinates as large as the source, weights, which are 2.25 in all, and sums of up to 16
 * products. */
static double interpolation_bound(const pe_values *values)
{
    const pe_array *table = pe_values_tensor(values, "table");
    const pe_value *grid = pe_values_find(values, "source_grid"); /* absent: derived by the plan */
    const double side =
        grid->present ? fmax(grid->list[0], grid->list[1]) : (double)table->shape.dim[0];
    double most = 0;
    for (size_t e = 0; e < table->elements; e++)
        most = fmax(most, fabs(pe_upload_number(table, e)));
    return 2.25 * (32 + 4 * side) * most;
}

/* ---- the families ---- */

/* Columns of a grid that belong to one axis, and the waves of a column: i of so many. */
#define AXIS "(combine.add ? columns : floor(columns/2))"
#define I    "(layout.interleaved ? floor(c % " AXIS "/2) : c % " AXIS " % floor(" AXIS "/2))"
#define N    "(floor(" AXIS "/2) - freq_shift)"

/* The sides of the image: those of the grid, where there is no padding. */
#define WIDE "(finite(valid_width) ? valid_width : width)"
#define HIGH "(finite(valid_height) ? valid_height : height)"
#define X    "((r - extra_tokens) % width)"
#define Y    "floor((r - extra_tokens)/width)"
/* The angle of a patch's coordinate where the frequency is 1; DETR does not count padding. */
#define COORDINATE(ALONG, SIDE, LINE, END)                                                         \
    "((" LINE " >= " END " ? -1 : min(" ALONG ", " SIDE " - 1)) + offset)*"                        \
    "(normalize == 1 ? (finite(scale) ? scale : 2*pi)/"                                            \
    "((" LINE " >= " END " ? 0 : " SIDE ") + (finite(eps) ? eps : 1e-6)) : "                       \
    "finite(base_size) ? base_size/" SIDE " : 1)/interpolation_scale"

/* The greatest power of two that is no more than the heads. */
#define WHOLE "exp2(floor(log2(num_heads)))"

#define WAVES    "24 roundings of 2^-24 of the angle and 4 of the wave"
#define PRODUCT  "a product kept in the type, and "
#define RATIONAL "10 to 24 roundings of 2^-24 of "

/* The base of the slopes is multiplied by itself so often at most: the published rule for other head
 * counts than powers of two takes odd powers up to twice the greatest power below. */
#define SLOPES(RESOURCE)                                                                           \
    {                                                                                              \
        RESOURCE,                                                                                  \
            .error =                                                                               \
                "((variant.press && " WHOLE " < num_heads ? 2*" WHOLE " : num_heads) + 3)*abs(x)", \
            .words = PRODUCT "a rounding of 2^-24 for each power of the base and 3 more",          \
            .products = true                                                                       \
    }

static const struct family {
    const char *resource, *tensor; /* NULL: any other one */
    const char *error;             /* of float32 arithmetic, in units of 2^-24 */
    const char *words;             /* what it is made of */
    bool products;                 /* numbers may be kept in the upload's type on the way */
    const char *across, *down;     /* of a row */
    /* `known`: of a column; or the element beside, of that tensor; or of all elements. */
    const char *of_column, *beside;
    double (*of_all)(const pe_values *values);
} families[] = {
    {"sinusoidal/timing",
     .error = "abs(amplitude)*(24*abs((start_index + r)*(variant.tensor2tensor ? "
              "known*min_timescale : known/min_timescale)) + 4)",
     .words = WAVES,
     .of_column = "columns > 3 ? (max_timescale/min_timescale)^"
                  "(-(c % floor(columns/2))/(floor(columns/2) - 1)) : 1"},
    {"sinusoidal/relative", "distances", .error = "0", .words = WAVES},
    {"sinusoidal/relative",
     .error = "abs(amplitude)*(24*abs(known*base^(-2*(variant.conformer ? floor(c/2) : "
              "c % floor(columns/2))/columns)) + 4)",
     .beside = "distances"},
    {"sinusoidal/grid",
     .error = "r < extra_tokens || amplitude == 0 ? 0 : combine.add ? "
              "abs(amplitude)*(24*abs(across*known) + 4) + "
              "abs(amplitude)*(24*abs(down*known) + 4) + 2 : abs(amplitude)*"
              "(24*abs(((2*c < columns) == axis_order.wh ? across : down)*known) + 4)",
     .words = WAVES, .across = COORDINATE(X, WIDE, Y, HIGH), .down = COORDINATE(Y, HIGH, X, WIDE),
     .of_column = N " > 0 ? base^(-" I "/" N ") : 1"},
    /* Row i of blocks is a rotation; of the matrix two rows are, zero but for these. */
    {"sinusoidal/offset",
     .error = "x == 0 ? 0 : 24*abs(offset*base^(-2*(form.matrix ? floor(r/2) : r)/d_model)) + 4",
     .words = PRODUCT WAVES, .products = true},
    {"rope/grid", "angles", .error = "24*abs(x)", .words = WAVES},
    {"rope/grid", "row_col", .error = "0"},
    {"rope/grid", .error = "24*abs(known) + 4", .beside = "angles"},
    /* Cosines or sines alone, of one axis. known: of the column's angle at position 1 */
    {"rope/table", .error = "abs(gain)*(known*abs(p) + 4)",
     .words = "2 to 24 roundings of 2^-24 of the angle, as of its pair, and 4 of the wave"},
    /* Of angles the bound is that of unscaled frequencies, which no scaling exceeds by much. */
    {"rope/xpos/table", "scale", .error = "x*(24*abs(ln(x)) + 4*abs((p - center)/scale_base) + 4)",
     .words = WAVES},
    {"rope/xpos/table", .error = "abs(gain)*(24*abs(p*rope_theta^(-2*c/rotary_dim)) + 4)"},
    {"rope/frequencies", .error = "roundings*abs(x)",
     .words = RATIONAL "the frequency: exponent, power, reciprocal, scaling"},
    {"rope/scaled-base", "stretch", .error = "stretch_roundings*abs(x)",
     .words = PRODUCT RATIONAL "each frequency", .products = true},
    {"rope/scaled-base", .error = "roundings*abs(x)", .products = true},
    {"rope/decay", .error = "known*abs(p) + 4",
     .words = "the mean over all pairs of the roundings of their angles, and 4 of 2^-24",
     .of_all = decay_per_offset},
    SLOPES("alibi/slopes"),
    SLOPES("alibi/bias"),
    SLOPES("alibi/padded-bias"),
    {"learned/interpolate", .error = "known", .of_all = interpolation_bound},
};

/* Of this tensor (NULL: of the first row). */
static const struct family *find_family(const pe_resource *resource, const char *tensor)
{
    for (const struct family *f = families; f < families + PE_LEN(families); f++)
        if (strcmp(f->resource, resource->name) == 0 &&
            (tensor == NULL || f->tensor == NULL || strcmp(f->tensor, tensor) == 0))
            return f;
    return NULL;
}

const char *pe_allowance_words(const pe_resource *resource)
{
    const struct family *family = find_family(resource, NULL);
    return family != NULL && family->words != NULL
               ? family->words
               : "a product kept in the type: 2 (1 + u) u of the number";
}

/* ---- a run ---- */

static void read_equation(const char *text, const pe_values *values, pe_equation *out)
{
    const bool read = text != NULL && pe_equation_read(text, terms, NULL, values, NULL, out);
    assert(read || text == NULL);
    out->n = read ? out->n : 0;
}

/* Row `row` of a tensor, as doubles; nothing where it has no such row. */
static pe_status look_up(const pe_plan *plan, size_t tensor, size_t row, double *out,
                         pe_problem *why)
{
    const pe_tensor *of = &plan->tensors[tensor];
    const size_t bytes = pe_dtype_bytes(of->dtype);
    const pe_region region = pe_plan_units(plan, tensor, row, 1);
    if (row >= of->units)
        return PE_OK;
    const pe_status status = pe_plan_make_region(plan, &region, out, why);
    for (size_t c = of->unit; c-- > 0 && status == PE_OK;)
        out[c] = pe_dtype_load(of->dtype, (const char *)out + c * bytes);
    return status;
}

static pe_status fill_errors(const struct family *family, const pe_guess *guess,
                             const pe_plan *plan, const pe_allowance_run *run, double *float32,
                             pe_problem *why)
{
    pe_equation error, across, down, of_column;
    const pe_values *values = &guess->values;
    const size_t unit = plan->tensors[run->tensor].unit;
    const pe_value *listed = pe_values_find(values, "positions");
    const pe_value *positions = listed != NULL ? listed : pe_values_find(values, "offsets");
    size_t beside = 0;
    while (family->beside != NULL && strcmp(plan->tensors[beside].name, family->beside) != 0)
        beside++;
    const size_t width = family->beside != NULL ? plan->tensors[beside].unit : unit;
    double *known = calloc(width, sizeof *known);
    pe_status status = known != NULL ? PE_OK : pe_fail_memory(why);
    element at = {.guess = guess, .columns = (double)unit};
    if (plan->n_scalars > 0)
        at.gain = plan->scalars[0].value;
    if (family->of_all != NULL && isnan(*run->of_all))
        *run->of_all = family->of_all(values);
    read_equation(family->error, values, &error);
    read_equation(family->across, values, &across);
    read_equation(family->down, values, &down);
    read_equation(family->of_column, values, &of_column);
    pe_yield_spend(run->n * pe_equation_work(&error));
    for (size_t e = 0, row = SIZE_MAX; e < run->n && status == PE_OK; e++) {
        const size_t now = (run->first + e) / unit, c = (run->first + e) % unit;
        at.row = (double)now;
        at.column = (double)c;
        at.x = run->value[e];
        if (now != row && family->beside != NULL)
            status = look_up(plan, beside, now, known, why);
        if (now != row && positions != NULL && positions->present)
            at.position = pe_positions_at(&positions->positions, now);
        if (now != row && family->across != NULL) {
            at.across = pe_equation_at(&across, &at, 0);
            at.down = pe_equation_at(&down, &at, 0);
        }
        if (e < unit && family->of_column != NULL)
            known[c] = pe_equation_at(&of_column, &at, 0);
        row = now;
        at.known = run->per_position != NULL ? run->per_position[c % run->columns]
                   : family->of_all != NULL  ? *run->of_all
                                             : known[c % width];
        float32[e] += isfinite(at.x) ? ROUNDING * pe_equation_at(&error, &at, 0) : 0;
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
    const char *name = plan->tensors[run->tensor].name;
    const struct family *family = find_family(guess->claim->resource, name);
    const double u = pe_guess_roundoff(guess);
    const double product = family == NULL || family->products ? 2 * (1 + u) * u : 0;
    const bool waves = strcmp(name, "scale") != 0;
    for (size_t e = 0; e < run->n; e++) {
        const double size = isfinite(run->value[e]) ? fabs(run->value[e]) : 0;
        exact[e] = float32[e] =
            product * size + derived_off(guess->claim, waves, run->first + e, size);
    }
    return family == NULL ? PE_OK : fill_errors(family, guess, plan, run, float32, why);
}
