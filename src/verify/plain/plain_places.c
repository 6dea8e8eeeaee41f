/* SPDX-License-Identifier: MIT */
/* plain_places.c - the stages of places: which slice along an axis stands where, and which axis. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "verify/plain/plain_lines.h"
#include "verify/plain/plain_slips.h"

static const pe_shape *shape_of(const pe_numbers *of)
{
    return &of->view->claim->uploads[0].array.shape;
}

/* What an axis counts, as figures have it: the names are those of the last axes. */
static void say_axis(pe_slip *p, size_t axis)
{
    const pe_claim *claim = p->of->view->claim;
    const pe_labels *of = claim->resource->labels;
    while (of != NULL && of->tensor != NULL && strcmp(of->tensor, claim->uploads[0].name) != 0)
        of++;
    const char *at = of != NULL ? of->axes : NULL;
    size_t unnamed = shape_of(p->of)->ndim;
    for (const char *name = at; name != NULL && unnamed > 0; name = strchr(name + 1, ','))
        unnamed--;
    for (size_t d = unnamed; d < axis && at != NULL; d++)
        at = strchr(at, ',') + 2;
    if (at != NULL && axis >= unnamed)
        pe_slip_say(p, "; axis %zu: %.*s", axis, (int)strcspn(at, ","), at);
}

/* ---- along one axis ---- */

static size_t axes_of(const pe_numbers *of)
{
    return shape_of(of)->ndim;
}

typedef struct places {
    pe_lines lines;
    bool found; /* which slice each slice of the upload is */
    double *numbers;
} places;

static void release(pe_slip *p)
{
    places *state = p->state;
    if (state != NULL) {
        pe_lines_free(&state->lines);
        free(state->numbers);
    }
    free(state);
}

static pe_status find_slices(const pe_slip *p, places *state, pe_problem *why)
{
    const pe_shape *shape = shape_of(p->of);
    size_t outer = 1;
    for (size_t d = 0; d < p->variant; d++)
        outer *= shape->dim[d];
    pe_status status = pe_lines_make(p->of, outer, p->n, &state->lines, why);
    if (status == PE_OK && p->of->view->n_tensors == 1 && p->of->elements / p->n >= 4)
        status = pe_lines_find(&state->lines, false, 0, &state->found, why);
    return status;
}

/* made: [n], and the claimed places behind it. */
static pe_status measure(pe_slip *p, pe_problem *why)
{
    places *state = calloc(1, sizeof *state);
    p->state = state;
    p->n = shape_of(p->of)->dim[p->variant];
    if (p->n < 2)
        p->n = 0;
    if (state == NULL || (state->numbers = calloc(2 * p->n + 1, sizeof(double))) == NULL)
        return pe_fail_memory(why);
    p->made = state->numbers;
    p->claimed = p->made + p->n;
    for (size_t i = 0; i < p->n; i++)
        state->numbers[p->n + i] = (double)i;
    return p->n > 0 ? find_slices(p, state, why) : PE_OK;
}

static double at(const pe_slip *p, size_t e, double claimed, double *error)
{
    const pe_upload_view *view = p->of->view;
    const size_t u = pe_upload_view_tensor(view, e), first = view->tensor_at[u];
    const pe_shape *shape = &view->claim->uploads[u].array.shape;
    size_t inner = 1;
    (void)error;
    for (size_t d = p->variant + 1; d < shape->ndim; d++)
        inner *= shape->dim[d];
    if (p->variant >= shape->ndim || shape->dim[p->variant] != p->n)
        return claimed;
    const size_t within = e - first, i = within / inner % p->n;
    return p->of->claimed[first + within - i * inner + (size_t)p->made[i] * inner];
}

const pe_slip_stage pe_slip_places = {
    .variants = axes_of, .measure = measure, .release = release, .at = at};

/* ---- two axes, or all of them ---- */

static size_t pairs_of_axes(const pe_numbers *of)
{
    const size_t n = axes_of(of);
    return of->view->n_tensors == 1 ? n * n : 0;
}

static pe_status measure_axes(pe_slip *p, pe_problem *why)
{
    const size_t n = axes_of(p->of), one = p->variant / n, other = p->variant % n;
    (void)why;
    p->n = one < other || p->variant == 0 ? p->of->elements : 0;
    return PE_OK;
}

static double at_axes(const pe_slip *p, size_t e, double claimed, double *error)
{
    (void)claimed;
    (void)error;
    return p->by->op(p, e);
}

const pe_slip_stage pe_slip_axes = {
    .variants = pairs_of_axes, .measure = measure_axes, .at = at_axes};

/* ---- the rows ---- */

static bool solve_axis(pe_slip *p)
{
    const double extra = p->variant == 0 ? pe_slip_number(p, "extra_tokens") : 0;
    const bool alike = p->of->lookup == NULL && !(extra > 0);
    p->a = (double)p->variant;
    say_axis(p, p->variant);
    return alike;
}

static bool solve_last_axis(pe_slip *p)
{
    return p->variant + 1 == axes_of(p->of);
}

static bool solve_first_axis(pe_slip *p)
{
    return p->variant == 0;
}

/* Slices in another order, each one somewhere; or (value) some that stand there twice. */
static bool solve_order(pe_slip *p)
{
    enum { MOST = 6 };
    const places *state = p->state;
    size_t moved = 0;
    bool each = state->found;
    const bool other = p->a != 0;
    for (size_t i = 0; i < p->n && state->found; i++) {
        size_t times = 0;
        for (size_t j = 0; j < p->n; j++)
            times += state->lines.from[j] == i;
        each &= times == 1;
        if (state->lines.from[i] != i && moved++ < MOST)
            pe_slip_say(p, "%s%zu has those of %zu", moved > 1 ? ", " : ": ", i,
                        state->lines.from[i]);
    }
    p->a = (double)p->variant;
    p->fitted = other && 2 * moved > p->n + 1;
    return p->of->lookup == NULL && state->found && each != other;
}

static double found(const pe_slip *p, size_t i)
{
    const places *state = p->state;
    return (double)state->lines.from[i];
}

/* ---- rows of a grid of patches, behind extra ones ---- */

typedef struct grid {
    size_t height, width, extra, merge, frame; /* patches of a frame */
} grid;

static size_t whole(const pe_slip *p, const char *name, size_t otherwise)
{
    const double x = pe_slip_number(p, name);
    return isnan(x) ? otherwise : (size_t)x;
}

static grid grid_of(const pe_slip *p)
{
    grid g = {.height = whole(p, "height", 1),
              .extra = whole(p, "extra_tokens", 0),
              .merge = whole(p, "spatial_merge_size", 1)};
    g.width = whole(p, "width", g.height);
    g.frame = g.height * g.width;
    return g;
}

static bool solve_grid(pe_slip *p)
{
    const grid g = grid_of(p);
    return p->variant == 0 && g.height > 1 && g.width > 1 && g.merge == 1;
}

static bool solve_blocks(pe_slip *p)
{
    return p->variant == 0 && grid_of(p).merge > 1;
}

static bool solve_extra(pe_slip *p)
{
    const size_t extra = grid_of(p).extra;
    p->b = (double)extra;
    return p->variant == 0 && extra > 0 && extra < p->n;
}

/* The place of a patch that is counted down the columns. */
static double transposed(const pe_slip *p, size_t i)
{
    const grid g = grid_of(p);
    if (i < g.extra)
        return (double)i;
    const size_t patch = (i - g.extra) % g.frame, first = i - patch;
    const size_t at = first + patch % g.height * g.width + patch / g.height;
    return (double)at;
}

static double backward(const pe_slip *p, size_t i)
{
    const grid g = grid_of(p);
    return i < g.extra ? (double)i : (double)(p->n - 1 - (i - g.extra));
}

/* Blocks of patches that come column by column. */
static double blocks_transposed(const pe_slip *p, size_t i)
{
    const grid g = grid_of(p);
    const size_t each = g.merge * g.merge, down = g.height / g.merge, across = g.width / g.merge;
    const size_t block = i % g.frame / each;
    const size_t at = i - block * each + (block % down * across + block / down) * each;
    return (double)at;
}

/* ---- columns of sines and cosines ---- */

static double interleaved(const pe_slip *p, size_t i)
{
    return p->n % 2 == 0 ? p->claimed[i % 2 * (p->n / 2) + i / 2] : nan("");
}

static double in_halves(const pe_slip *p, size_t i)
{
    const size_t half = p->n / 2;
    return p->n % 2 == 0 ? p->claimed[i < half ? 2 * i : 2 * (i - half) + 1] : nan("");
}

/* Sines of both axes, then the cosines of both. */
static double joined(const pe_slip *p, size_t i)
{
    static const size_t from[] = {0, 2, 1, 3};
    const size_t quarter = p->n / 4;
    return p->n % 4 == 0 ? p->claimed[from[i / quarter] * quarter + i % quarter] : nan("");
}

/* ---- elements as the memory has them ---- */

static size_t element_at(const pe_shape *shape, const size_t *index)
{
    size_t e = 0;
    for (size_t d = 0; d < shape->ndim; d++)
        e = e * shape->dim[d] + index[d];
    return e;
}

/* Of a tensor with the two axes exchanged. */
static double axes_exchanged(const pe_slip *p, size_t e)
{
    const pe_shape *shape = shape_of(p->of);
    const size_t one = p->variant / shape->ndim, other = p->variant % shape->ndim;
    size_t was[PE_MAX_DIMS];
    for (size_t d = shape->ndim; d-- > 0;) {
        const size_t from = d == one ? other : d == other ? one : d;
        was[from] = e % shape->dim[from];
        e /= shape->dim[from];
    }
    return p->of->claimed[element_at(shape, was)];
}

/* With axis 0 behind the others. */
static double first_axis_last(const pe_slip *p, size_t e)
{
    const size_t n = shape_of(p->of)->dim[0];
    return p->of->claimed[e % n * (p->of->elements / n) + e / n];
}

static bool solve_two(pe_slip *p)
{
    const size_t n = axes_of(p->of);
    const size_t first = p->variant / n;
    p->a = (double)first;
    p->b = (double)(p->variant % n);
    say_axis(p, first);
    say_axis(p, p->variant % n);
    return p->of->lookup == NULL && p->a < p->b;
}

static bool solve_first_last(pe_slip *p)
{
    return p->of->lookup == NULL && p->variant == 0 && axes_of(p->of) > 2;
}

#define ORDER   "keep the order along the axis that is claimed"
#define PLACES  &pe_slip_places, NULL, NULL, solve_axis
#define GRIDS   &pe_slip_places, "sinusoidal/grid rope/grid", NULL
#define COLUMNS &pe_slip_places, "sinusoidal/timing sinusoidal/relative", NULL, solve_last_axis
#define PAIRS   &pe_slip_places, "rope/grid", NULL, solve_last_axis

static const pe_plain_mistake rows[] = {
    PE_SLIP(axes_transposed, &pe_slip_axes, .solve = solve_two, .op = axes_exchanged),
    PE_SLIP(axes_transposed, &pe_slip_axes, .solve = solve_first_last, .op = first_axis_last,
            .fault.rule = "the tensor is transposed: axis 0 stands last in memory, which was "
                          "reshaped, not permuted",
            .fault.remedy = "permute the axes, and do not reshape (view) the memory"),
    PE_SLIP(axis_reversed, PLACES, pe_slip_reversed),
    PE_SLIP(axis_rolled, PLACES, pe_slip_rolled, .fault.and_value = -1),
    PE_SLIP(axis_rolled, PLACES, pe_slip_rolled,
            .fault.rule = "axis {a} is rolled: each place holds what belongs to the one behind it",
            .fault.and_value = 1),
    PE_SLIP(halves_exchanged, PLACES, pe_slip_halves,
            .fault.rule =
                "the halves of axis {a} are exchanged: it is rolled by half of its places",
            .fault.remedy = ORDER),
    PE_SLIP(extra_last, &pe_slip_places, .solve = solve_extra, .op = pe_slip_rolled),
    PE_SLIP(mesh_transposed, GRIDS, solve_grid, transposed),
    PE_SLIP(rows_reversed, GRIDS, solve_first_axis, backward),
    PE_SLIP(blocks_transposed, GRIDS, solve_blocks, blocks_transposed),
    PE_SLIP(waves_joined, &pe_slip_places, "sinusoidal/grid", NULL, solve_last_axis, joined),
    PE_SLIP(waves_interleaved, COLUMNS, interleaved),
    PE_SLIP(waves_in_halves, COLUMNS, in_halves),
    PE_SLIP(cos_sin_exchanged, COLUMNS, pe_slip_halves,
            .fault.rule = "cosines and sines were exchanged: cosines come first in the layout",
            .fault.remedy = "put the sines first"),
    PE_SLIP(axes_interleaved, PAIRS, interleaved),
    PE_SLIP(
        axes_exchanged, PAIRS, pe_slip_halves,
        .fault.rule =
            "the halves of the pairs are exchanged: each axis has the coordinates of the other"),
    PE_SLIP(places_other, &pe_slip_places, .solve = solve_order, .op = found),
    PE_SLIP(places_other, &pe_slip_places, .solve = solve_order, .op = found,
            .fault.rule = "places along axis {a} hold the numbers of others", .fault.value = 1,
            .fault.fitted = true),
};
const pe_plain_mistakes pe_mistakes_of_places = {rows, PE_LEN(rows)};
