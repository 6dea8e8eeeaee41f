/* SPDX-License-Identifier: MIT */
/* resize_causes.c - a table at another resolution: how patches were taken, and in which order. */
#include "verify/plain/resize_causes.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "verify/upload/geometry.h"

enum { DOWN, ACROSS, AXES };

/* Where patch i of an axis is in the patches of the table. */
typedef enum places { CENTRES, CORNERS, STARTS, OFFSET, ITSELF } places;
/* What of them it takes. */
typedef enum kernel { CUBIC, LINEAR, NEAREST, NEAREST_EXACT } kernel;

/* How a table is resized. */
typedef struct resizing {
    size_t from[AXES], to[AXES];   /* patches */
    bool from_columns, to_columns; /* they count down the columns */
    places places;
    kernel kernel;
    double cubic; /* Keys's a */
    bool antialias, zeros, extra_last;
    bool sequence; /* they are no rows and columns */
} resizing;

/* ---- one axis ---- */

/* Patches that one is made of. */
typedef struct axis {
    size_t room, *n, *at; /* [to], [to, room] */
    double *weight;       /* [to, room] */
} axis;

static double place_of(const resizing *r, double i, double from, double to)
{
    switch (r->places) {
    case CORNERS:
        return to > 1 ? i * (from - 1) / (to - 1) : 0;
    case STARTS:
        return i * from / to;
    case OFFSET:
        return (i + 0.5) * from / (to + 0.1) - 0.5;
    case ITSELF:
        return i;
    case CENTRES:
    default:
        return (i + 0.5) * from / to - 0.5;
    }
}

static double weight_at(const resizing *r, double x)
{
    const double a = r->cubic;
    if (r->kernel == LINEAR)
        return fmax(1 - x, 0);
    return x >= 2   ? 0
           : x <= 1 ? ((a + 2) * x - (a + 3)) * x * x + 1
                    : ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
}

/* The one patch that is taken, rounded as PyTorch does. */
static double nearest_of(const resizing *r, size_t i, size_t from, size_t to)
{
    const float scale = r->places == ITSELF ? 1 : (float)from / (float)to;
    const float at = ((float)i + (r->kernel == NEAREST ? 0.0F : 0.5F)) * scale;
    return fmin(floor((double)at), (double)from - 1);
}

static void add_tap(axis *a, size_t i, double at, double weight)
{
    const size_t k = i * a->room + a->n[i]++;
    a->at[k] = (size_t)at;
    a->weight[k] = weight;
}

/* An antialiased patch takes no others, and those beyond the edges are left out; without that, the
 * edge or 0 stands for them. */
static void put_taps(const resizing *r, size_t i, size_t from, size_t to, axis *a)
{
    const double last = (double)from - 1, place = place_of(r, (double)i, (double)from, (double)to);
    const double wide = r->antialias ? fmax((double)from / (double)to, 1) : 1;
    const double reach = wide * (r->kernel == LINEAR ? 1 : 2);
    double sum = 0;
    const int64_t end = (int64_t)floor(place + reach);
    for (int64_t at = (int64_t)ceil(place - reach); at <= end; at++) {
        const double j = (double)at, w = weight_at(r, fabs(j - place) / wide);
        if (w == 0 || ((r->antialias || r->zeros) && (j < 0 || j > last)))
            continue;
        add_tap(a, i, fmax(0, fmin(last, j)), w);
        sum += w;
    }
    for (size_t k = 0; k < a->n[i] && r->antialias; k++)
        a->weight[i * a->room + k] /= sum;
}

static bool make_axis(const resizing *r, size_t d, axis *out)
{
    const size_t from = r->from[d], to = r->to[d];
    out->room = 6 + (r->antialias ? 4 * (from / to + 1) : 0);
    out->n = calloc(to, sizeof *out->n);
    out->at = malloc(to * out->room * sizeof *out->at);
    out->weight = malloc(to * out->room * sizeof *out->weight);
    if (out->n == NULL || out->at == NULL || out->weight == NULL)
        return false;
    for (size_t i = 0; i < to; i++)
        if (r->kernel == NEAREST || r->kernel == NEAREST_EXACT)
            add_tap(out, i, nearest_of(r, i, from, to), 1);
        else
            put_taps(r, i, from, to, out);
    return true;
}

static void free_axis(axis *a)
{
    free(a->n);
    free(a->at);
    free(a->weight);
}

/* ---- the claim ---- */

typedef struct table {
    const pe_numbers *of;
    const pe_array *rows;
    size_t extra, width;
    double most; /* the largest element */
    resizing how;
    axis axis[AXES];
} table;

static double element(const table *t, size_t row, size_t column)
{
    return pe_dtype_load(t->rows->dtype,
                         (const char *)t->rows->data +
                             (row * t->width + column) * pe_dtype_bytes(t->rows->dtype));
}

static bool is_true(const table *t, const char *name)
{
    return pe_values_bool(&t->of->claim->values, name);
}

/* Two sides; without a list those of a square. */
static void read_grid(const table *t, const char *name, size_t *out)
{
    const pe_values *values = &t->of->claim->values;
    const pe_value *grid = pe_values_find(values, name);
    const int64_t extra =
        pe_values_present(values, "extra_tokens") ? pe_values_int(values, "extra_tokens") : 0;
    const double side = floor(sqrt((double)t->rows->shape.dim[0] - (double)extra));
    for (size_t d = 0; d < AXES; d++)
        out[d] = grid->present ? (size_t)grid->list[d * (grid->list_length - 1)] : (size_t)side;
}

/* False: they are not the sizes of table and upload. */
static bool fits(const table *t)
{
    const size_t *from = t->how.from, *to = t->how.to, rows = t->rows->shape.dim[0];
    return from[DOWN] > 0 && from[ACROSS] > 0 && from[DOWN] * from[ACROSS] <= rows &&
           (to[DOWN] * to[ACROSS] + t->extra) * t->width == t->of->elements;
}

static void read_claim(const pe_numbers *plain, table *out)
{
    const pe_values *values = &plain->claim->values;
    *out = (table){.of = plain, .rows = &pe_values_find(values, "table")->tensor};
    resizing *how = &out->how;
    out->width = out->rows->shape.dim[1];
    read_grid(out, "source_grid", how->from);
    read_grid(out, "target_grid", how->to);
    out->extra = out->rows->shape.dim[0] - how->from[DOWN] * how->from[ACROSS];
    how->antialias = is_true(out, "antialias");
    how->kernel = strcmp(pe_geometry_choice_text(values, "mode"), "bilinear") == 0 ? LINEAR : CUBIC;
    how->zeros = strcmp(pe_geometry_choice_text(values, "padding_mode"), "zeros") == 0;
    how->places = is_true(out, "align_corners") ? CORNERS : CENTRES;
    how->cubic = how->antialias ? -0.5 : -0.75;
    for (size_t e = 0; e < out->rows->elements; e++)
        out->most = fmax(out->most, fabs(element(out, 0, e)));
}

/* ---- what rows change ---- */

typedef enum what {
    KERNEL,
    NEXT_KERNEL, /* that a value of the claim says: it is tried beside others alone, as corners */
    CUBIC_A,
    PLACES,
    OTHER_CORNERS,
    TO_COLUMNS,
    FROM_COLUMNS,
    EXCHANGE_TO,
    EXCHANGE_FROM,
    CROP,
    SEQUENCE,
    LINE,
    EXTRA_LAST
} what;

/* A mistake; value: a kernel or a place. */
typedef struct row {
    pe_fault fault;
    what what;
} row;

static bool exchange(size_t *sides)
{
    const size_t down = sides[DOWN];
    sides[DOWN] = sides[ACROSS];
    sides[ACROSS] = down;
    return down != sides[DOWN];
}

/* More patches than any grid of images has are no sequence. */
#define LONGEST 65536

static bool to_sequence(resizing *r)
{
    size_t *const sides[] = {r->from, r->to};
    for (size_t k = 0; k < PE_LEN(sides); k++) {
        sides[k][ACROSS] *= sides[k][DOWN];
        sides[k][DOWN] = 1;
    }
    r->sequence = true;
    return !r->antialias && r->places != ITSELF && r->to[ACROSS] <= LONGEST;
}

static bool to_kernel(resizing *r, kernel to)
{
    const bool other = r->kernel != to;
    r->kernel = to;
    return other;
}

/* False: it makes no sense. */
static bool change(const row *by, resizing *r)
{
    switch (by->what) {
    case KERNEL:
    case NEXT_KERNEL:
        return to_kernel(r, (kernel)by->fault.value);
    case CUBIC_A:
        r->cubic = r->antialias ? -0.75 : -0.5;
        return r->kernel == CUBIC;
    case PLACES:
        r->places = (places)by->fault.value;
        return true;
    case OTHER_CORNERS:
        r->places = r->places == CORNERS ? CENTRES : CORNERS;
        return !r->antialias;
    case TO_COLUMNS:
        return r->to_columns = true;
    case FROM_COLUMNS:
        return r->from_columns = true;
    case EXCHANGE_TO:
        return exchange(r->to);
    case EXCHANGE_FROM:
        return exchange(r->from);
    case CROP:
        r->kernel = NEAREST;
        r->places = ITSELF;
        return !r->sequence && r->to[DOWN] <= r->from[DOWN] && r->to[ACROSS] <= r->from[ACROSS];
    case LINE:
        return to_kernel(r, LINEAR) && to_sequence(r);
    case SEQUENCE:
        return to_sequence(r);
    case EXTRA_LAST:
    default:
        return r->extra_last = true;
    }
}

static const row rows[] = {
    {{.name = PE_NAME(mode), .value = NEAREST}, KERNEL},
    {{.name = PE_NAME(mode),
      .rule = "the mode was nearest-exact: each patch is a copy of one",
      .value = NEAREST_EXACT},
     KERNEL},
    {{.name = PE_NAME(cubic_kernel)}, CUBIC_A},
    {{.name = PE_NAME(half_pixel), .value = STARTS}, PLACES},
    {{.name = PE_NAME(scale_factor), .value = OFFSET}, PLACES},
    {{.name = PE_NAME(mode), .rule = "the mode was bilinear, not bicubic", .value = LINEAR},
     NEXT_KERNEL},
    {{.name = PE_NAME(mode), .rule = "the mode was bicubic, not bilinear", .value = CUBIC},
     NEXT_KERNEL},
    {{.name = PE_NAME(align_corners)}, OTHER_CORNERS},
    {{.name = PE_NAME(patch_order)}, TO_COLUMNS},
    {{.name = PE_NAME(patch_order),
      .rule = "patches of the table were read down the columns: the source grid was transposed"},
     FROM_COLUMNS},
    {{.name = PE_NAME(target_grid)}, EXCHANGE_TO},
    {{.name = PE_NAME(source_grid)}, EXCHANGE_FROM},
    {{.name = PE_NAME(cropped)}, CROP},
    {{.name = PE_NAME(resized_as_sequence)}, SEQUENCE},
    {{.name = PE_NAME(resized_as_sequence),
      .rule = "patches were resized as one sequence, not as rows and columns: linear, 1-d "
              "interpolation"},
     LINE},
    {{.name = PE_NAME(extra_last)}, EXTRA_LAST},
};

/* ---- explaining ---- */

static double at_law(const void *context, size_t e, double claimed, double *error)
{
    const table *t = context;
    const resizing *how = &t->how;
    assert(t->width > 0);
    const size_t column = e % t->width, extra = t->extra, all = t->of->elements / t->width;
    const size_t place = e / t->width + (how->extra_last ? extra : 0); /* all: row 0 */
    (void)error;
    (void)claimed;
    assert(all > 0);
    if (place < extra || place >= all)
        return element(t, place % all, column);
    const size_t patch = place - extra, side = how->to[how->to_columns ? DOWN : ACROSS];
    assert(side > 0);
    const size_t first = patch / side, then = patch % side;
    const size_t y = how->to_columns ? then : first, x = how->to_columns ? first : then;
    const axis *down = &t->axis[DOWN], *across = &t->axis[ACROSS];
    double sum = 0;
    for (size_t j = y * down->room; j < y * down->room + down->n[y]; j++)
        for (size_t k = x * across->room; k < x * across->room + across->n[x]; k++) {
            const size_t at = how->from_columns ? across->at[k] * how->from[DOWN] + down->at[j]
                                                : down->at[j] * how->from[ACROSS] + across->at[k];
            sum += down->weight[j] * across->weight[k] * element(t, extra + at, column);
        }
    return sum;
}

/* Units of work of a patch of an axis, and of an element. */
enum { TAPS = 16 };

static bool follows(const table *t)
{
    const pe_numbers *of = t->of;
    size_t e = 0;
    bool same = true, differs = false; /* what is as claimed explains nothing */
    for (; e < of->elements && same; e++) {
        const double x = at_law(t, e, of->claimed[e], NULL);
        same = fabs(of->got[e] - x) <= 4 * of->roundoff * fabs(x) + 0x1p-16 * t->most;
        differs |= fabs(of->claimed[e] - x) > 0x1p-16 * t->most;
    }
    pe_numbers_spend(of, TAPS * e);
    return same && differs;
}

/* Of two rows the second may be NULL. */
static pe_status try_rows(const table *claim, const row *one, const row *other, pe_problem *why)
{
    table t = *claim;
    const pe_numbers_cause causes[] = {{.fault = &one->fault},
                                       {.fault = other != NULL ? &other->fault : NULL}};
    if (!change(one, &t.how) || (other != NULL && !change(other, &t.how)))
        return PE_OK;
    pe_status status = PE_OK;
    pe_numbers_spend(t.of, TAPS * (t.how.to[DOWN] + t.how.to[ACROSS]));
    if (!make_axis(&t.how, DOWN, &t.axis[DOWN]) || !make_axis(&t.how, ACROSS, &t.axis[ACROSS]))
        status = pe_fail_memory(why);
    else if (follows(&t))
        status =
            pe_numbers_try(t.of, causes, PE_LEN(causes), &(pe_numbers_law){at_law, &t, 1}, why);
    free_axis(&t.axis[DOWN]);
    free_axis(&t.axis[ACROSS]);
    return status;
}

pe_status pe_resize_causes_find(const pe_numbers *plain, pe_problem *why)
{
    table claim;
    pe_status status = PE_OK;
    read_claim(plain, &claim);
    if (!fits(&claim))
        return PE_OK;
    for (size_t r = 0; r < PE_LEN(rows) && status == PE_OK && pe_numbers_goes_on(plain); r++)
        if (rows[r].what != NEXT_KERNEL && rows[r].what != OTHER_CORNERS)
            status = try_rows(&claim, &rows[r], NULL, why);
    for (size_t r = 0; r < PE_LEN(rows); r++)
        for (size_t other = r + 1; other < PE_LEN(rows) && status == PE_OK; other++)
            if (pe_numbers_goes_on(plain) && !pe_attempts_found(plain->search))
                status = try_rows(&claim, &rows[r], &rows[other], why);
    return status;
}
