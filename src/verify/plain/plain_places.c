/* SPDX-License-Identifier: MIT */
/* plain_places.c - the stages of places: which slice along an axis stands where, and which axis. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plan/resource.h"
#include "verify/plain/plain_slips.h"

static const pe_shape *shape_of(const pe_numbers *of)
{
    return &of->view->claim->uploads[0].array.shape;
}

/* What an axis counts, as figures have it: the names are those of the last axes. */
static void say_axis(pe_sequence *p, size_t axis)
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

/* Of more slices nobody looks where each stands. */
#define SLICES_MAX 1024

static pe_status measure(pe_sequence *p, pe_problem *why)
{
    const size_t n = shape_of(p->of)->dim[p->variant];
    p->n = n < 2 ? 0 : n;
    if (p->n == 0 || p->n > SLICES_MAX || p->of->view->n_tensors > 1)
        return PE_OK;
    p->owned = calloc(2 * n, sizeof(double));
    return p->owned != NULL ? PE_OK : pe_fail_memory(why);
}

/* How many elements a slice has behind the axis. */
static size_t inner_of(const pe_sequence *p, const pe_shape *shape)
{
    size_t inner = 1;
    for (size_t d = p->variant + 1; d < shape->ndim; d++)
        inner *= shape->dim[d];
    return inner;
}

/* Does slice j of the claim stand at place i of the upload? */
static bool is_slice(const pe_sequence *p, size_t i, size_t j)
{
    const size_t inner = inner_of(p, shape_of(p->of));
    for (size_t first = 0; first < p->of->elements; first += p->n * inner)
        for (size_t e = first; e < first + inner; e++)
            if (!pe_numbers_is_near(p->of, p->of->got[e + i * inner],
                                    p->of->claimed[e + j * inner]))
                return false;
    return true;
}

/* Slices in another order, each one somewhere. */
static bool solve_order(pe_sequence *p)
{
    enum { SHOWN = 6 };
    size_t moved = 0;
    double *from = p->owned, *taken;
    if (from == NULL || p->of->lookup != NULL || p->of->elements / p->n < 4)
        return false;
    taken = from + p->n;
    for (size_t i = 0; i < p->n; i++) {
        size_t j = 0;
        while (j < p->n && (taken[j] != 0 || !is_slice(p, i, j)))
            j++;
        pe_numbers_spend(p->of, j + p->of->elements / p->n);
        if (j == p->n)
            return false;
        taken[j] = 1;
        from[i] = (double)j;
        if (j != i && moved++ < SHOWN)
            pe_slip_say(p, "%s%zu has those of %zu", moved > 1 ? ", " : ": ", i, j);
    }
    p->a = (double)p->variant;
    return moved > 0;
}

static double place_found(const pe_sequence *p, size_t i)
{
    return ((const double *)p->owned)[i];
}

/* Rows say at which place of the claim stands what is at place i. */
static double at(const pe_sequence *p, size_t e, double claimed, double *error PE_UNUSED)
{
    const pe_upload_view *view = p->of->view;
    const size_t u = pe_upload_view_tensor(view, e), first = view->tensor_at[u];
    const pe_shape *shape = &view->claim->uploads[u].array.shape;
    const size_t inner = inner_of(p, shape);
    if (p->variant >= shape->ndim || shape->dim[p->variant] != p->n)
        return claimed;
    const size_t within = e - first, i = within / inner % p->n;
    const double from = pe_sequence_at(p, i);
    return isnan(from) ? from : p->of->claimed[first + within - i * inner + (size_t)from * inner];
}

static double axis_of(const void *of, double i PE_UNUSED)
{
    return (double)((const pe_sequence *)of)->variant;
}

/* Counted from the last one. */
static double last_of(const void *of, double i PE_UNUSED)
{
    const pe_sequence *p = of;
    return (double)(axes_of(p->of) - 1 - p->variant);
}

static const pe_term terms[] = {
    {.name = "axis", .at = axis_of}, {.name = "behind", .at = last_of}, {0}};

const pe_slip_stage pe_slip_places = {
    .terms = terms, .variants = axes_of, .measure = measure, .at = at};

/* ---- two axes, or all of them ---- */

static size_t pairs_of_axes(const pe_numbers *of)
{
    const size_t n = axes_of(of);
    return of->view->n_tensors == 1 ? n * n : 0;
}

static pe_status measure_axes(pe_sequence *p, pe_problem *why PE_UNUSED)
{
    const size_t n = axes_of(p->of), one = p->variant / n, other = p->variant % n;
    p->n = one < other || p->variant == 0 ? p->of->elements : 0;
    return PE_OK;
}

static double at_axes(const pe_sequence *p, size_t e, double claimed PE_UNUSED,
                      double *error PE_UNUSED)
{
    return pe_sequence_at(p, e);
}

const pe_slip_stage pe_slip_axes = {
    .variants = pairs_of_axes, .measure = measure_axes, .at = at_axes};

/* ---- the rows ---- */

static bool solve_axis(pe_sequence *p)
{
    const double extra = p->variant == 0 ? pe_slip_number(p, "extra_tokens") : 0;
    const bool alike = p->of->lookup == NULL && !(extra > 0);
    p->a = (double)p->variant;
    say_axis(p, p->variant);
    return alike;
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
static double axes_exchanged(const pe_sequence *p, size_t e)
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
static double first_axis_last(const pe_sequence *p, size_t e)
{
    const size_t n = shape_of(p->of)->dim[0];
    return p->of->claimed[e % n * (p->of->elements / n) + e / n];
}

static bool solve_two(pe_sequence *p)
{
    const size_t n = axes_of(p->of);
    const size_t first = p->variant / n;
    p->a = (double)first;
    p->b = (double)(p->variant % n);
    say_axis(p, first);
    say_axis(p, p->variant % n);
    return p->of->lookup == NULL && p->a < p->b;
}

static bool solve_first_last(pe_sequence *p)
{
    return p->of->lookup == NULL && p->variant == 0 && axes_of(p->of) > 2;
}

#define PLACES  &pe_slip_places, NULL, NULL, .solve = solve_axis
#define GRIDS   &pe_slip_places, "sinusoidal/grid rope/grid", NULL
#define COLUMNS &pe_slip_places, "sinusoidal/timing sinusoidal/relative", NULL
#define PAIRS   &pe_slip_places, "rope/grid", NULL
#define EVEN    .where = "behind == 0 && n % 2 == 0"

/* Rows of a grid of patches stand behind extra ones; those that are merged by blocks. */
#define EXTRA  "max(extra_tokens, 0)"
#define PATCH  "((i - " EXTRA ") % (height*width))"
#define MERGE  "spatial_merge_size"
#define BLOCK  "floor(i % (height*width)/" MERGE "^2)"
#define LINES  "(height/" MERGE ")"
#define ACROSS "(width/" MERGE ")"

#define IN_TURN "i % 2*(n/2) + floor(i/2)"

static const pe_slip rows[] = {
    PE_SLIP(axes_transposed, &pe_slip_axes, .solve = solve_two, .make = axes_exchanged),
    PE_SLIP(axes_transposed_first, &pe_slip_axes, .solve = solve_first_last,
            .make = first_axis_last),
    PE_SLIP(axis_reversed, PLACES, .op = "n - 1 - i"),
    PE_SLIP(axis_rolled, PLACES, .op = "(i - 1) % n"),
    PE_SLIP(axis_rolled_back, PLACES, .op = "(i + 1) % n"),
    PE_SLIP(halves_exchanged_axis, PLACES, .where = "n % 2 == 0 && n > 2", .op = "(i + n/2) % n"),
    PE_SLIP(extra_last, &pe_slip_places,
            .where = "axis == 0 && extra_tokens > 0 && extra_tokens < n",
            .op = "(i + extra_tokens) % n"),
    PE_SLIP(mesh_transposed, GRIDS,
            .where = "axis == 0 && height > 1 && width > 1 && max(" MERGE ", 1) == 1",
            .op = "i < " EXTRA " ? i : i - " PATCH " + " PATCH " % height*width + floor(" PATCH
                  "/height)"),
    PE_SLIP(rows_reversed, GRIDS, .where = "axis == 0",
            .op = "i < " EXTRA " ? i : n - 1 - (i - " EXTRA ")"),
    PE_SLIP(blocks_transposed, GRIDS, .where = "axis == 0 && " MERGE " > 1",
            .op = "i - " BLOCK "*" MERGE "^2 + (" BLOCK " % " LINES "*" ACROSS " + floor(" BLOCK
                  "/" LINES "))*" MERGE "^2"),
    PE_SLIP(waves_joined, &pe_slip_places, "sinusoidal/grid", .where = "behind == 0 && n % 4 == 0",
            .op = "floor(4*i/n) == 1 ? i + n/4 : floor(4*i/n) == 2 ? i - n/4 : i"),
    PE_SLIP(waves_interleaved, COLUMNS, EVEN, .op = IN_TURN),
    PE_SLIP(waves_in_halves, COLUMNS, EVEN, .op = "i < n/2 ? 2*i : 2*(i - n/2) + 1"),
    PE_SLIP(cos_sin_exchanged_layout, COLUMNS, EVEN, .op = "(i + n/2) % n"),
    PE_SLIP(axes_interleaved, PAIRS, EVEN, .op = IN_TURN),
    PE_SLIP(axes_exchanged_pairs, PAIRS, EVEN, .op = "(i + n/2) % n"),
    PE_SLIP(places_other, &pe_slip_places, .solve = solve_order, .make = place_found),
};
const pe_slips pe_mistakes_of_places = {rows, PE_LEN(rows)};
