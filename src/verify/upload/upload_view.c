/* SPDX-License-Identifier: MIT */
/* upload_view.c - an upload as rows of doubles, and where each belongs. */
#include "verify/upload/upload_view.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plan/plan.h"
#include "plan/price.h"
#include "plan/resource.h"

/* ---- narrow types ---- */

const pe_narrow_type pe_narrow_types[PE_GRAINS] = {
    [PE_NARROW_BFLOAT16] = {"bfloat16", 8, -133, 0},
    [PE_NARROW_FLOAT16] = {"float16", 11, -24, 0},
    [PE_NARROW_TF32] = {"TF32", 11, -136, 0},
    [PE_NARROW_E4M3] = {"float8 (e4m3)", 4, -9, 0},
    [PE_NARROW_E5M2] = {"float8 (e5m2)", 3, -16, 0},
    [PE_NARROW_INT8] = {"int8", 7, 0, 127},
    [PE_NARROW_INT4] = {"int4", 3, 0, 7},
    [PE_NARROW_SCALED_E4M3] = {"float8 (e4m3)", 4, -9, 448},
    [PE_NARROW_FNUZ_E4M3] = {"float8 (e4m3)", 4, -10, 240}};

const pe_narrow_type pe_narrow_types_of_dtypes[PE_DTYPES] = {
    [PE_FLOAT32] = {"float32", 24, -149, 0},
    [PE_FLOAT64] = {"float64", 53, -1074, 0},
    [PE_FLOAT16] = {"float16", 11, -24, 0},
    [PE_BFLOAT16] = {"bfloat16", 8, -133, 0},
    [PE_INT32] = {"int32", 31, 0, 0}};

double pe_narrow_type_round(const pe_narrow_type *narrow, double x)
{
    const double ulp = pe_narrow_type_ulp(narrow, x);
    return isfinite(x) ? ulp * nearbyint(x / ulp) : x;
}

/* ---- numbers ---- */

size_t pe_upload_view_tensor(const pe_upload_view *view, size_t at)
{
    size_t t = 0;
    while (t + 1 < view->n_tensors && at >= view->tensor_at[t + 1])
        t++;
    return t;
}

/* Where a column of a row stands: the element, in *tensor. */
static size_t element_at(const pe_upload_view *view, size_t row, size_t column, size_t *tensor)
{
    const size_t at = view->layout != NULL ? column : row * view->width + column;
    const size_t t = *tensor = pe_upload_view_tensor(view, at);
    const size_t above =
        view->layout != NULL ? row * (view->tensor_at[t + 1] - view->tensor_at[t]) : 0;
    return above + at - view->tensor_at[t];
}

double pe_upload_view_load(const pe_upload_view *view, bool inputs, size_t row, size_t column)
{
    size_t t;
    const size_t e = element_at(view, row, column, &t);
    const pe_array *array = inputs ? &view->claim->inputs : &view->claim->uploads[t].array;
    return pe_upload_number(array, e);
}

void pe_upload_view_take(const pe_upload_view *view, bool inputs, size_t row, double *out)
{
    const double *held = inputs ? view->inputs : view->got;
    const size_t all = pe_upload_view_row_width(view, row);
    if (held != NULL) {
        memcpy(out, held + row * view->width, all * sizeof *out);
        return;
    }
    for (size_t c = 0, n; c < all; c += n) {
        size_t t;
        const size_t e = element_at(view, row, c, &t);
        const pe_array *array = inputs ? &view->claim->inputs : &view->claim->uploads[t].array;
        const size_t bytes = pe_dtype_bytes(array->dtype);
        n = view->layout != NULL ? view->tensor_at[t + 1] - view->tensor_at[t]
                                 : array->elements - e;
        n = n < all - c ? n : all - c;
        for (size_t k = 0; k < n; k++)
            out[c + k] = pe_dtype_load(array->dtype, (const char *)array->data + (e + k) * bytes);
    }
}

static pe_status make_doubles(size_t n, double **out, pe_problem *why)
{
    *out = malloc((n == 0 ? 1 : n) * sizeof **out);
    return *out == NULL ? pe_fail_memory(why) : PE_OK;
}

pe_status pe_upload_view_make_rows(pe_upload_view *view, pe_problem *why)
{
    view->elements = view->rows * view->width;
    view->got = view->inputs = NULL;
    if (view->elements > PE_VIEW_HELD && (view->axes == 1 || view->rotated))
        return PE_OK;
    PE_TRY(make_doubles(view->elements, &view->got, why));
    return view->rotated ? make_doubles(view->elements, &view->inputs, why) : PE_OK;
}

/* What there is room for is read from the tensors. */
static void hold(pe_upload_view *view)
{
    pe_upload_view tensors = *view;
    tensors.got = tensors.inputs = NULL;
    for (size_t row = 0; row < view->rows && view->got != NULL; row++)
        pe_upload_view_take(&tensors, false, row, view->got + row * view->width);
    for (size_t row = 0; row < view->rows && view->inputs != NULL; row++)
        pe_upload_view_take(&tensors, true, row, view->inputs + row * view->width);
}

pe_status pe_upload_view_hold(pe_upload_view *view, pe_problem *why)
{
    if (view->layout != NULL || view->got != NULL)
        return PE_OK;
    PE_TRY(make_doubles(view->elements, &view->got, why));
    hold(view);
    return PE_OK;
}

static pe_status fail_elements(size_t elements, const char *of, size_t most, const char *remedy,
                               pe_problem *why)
{
    pe_fail(why, PE_TOO_MANY_ELEMENTS, "table",
            "the upload holds %zu elements%s at most %zu are verified at once%s", elements, of,
            most, remedy);
    why->max_elements = most;
    why->requested_elements = elements;
    return PE_TOO_MANY_ELEMENTS;
}

/* ---- the three kinds ---- */

static pe_status lay_out_table(pe_upload_view *view, const pe_plan *plan, pe_problem *why)
{
    const pe_claim *claim = view->claim;
    const size_t tokens = pe_values_find(&claim->values, "positions")->positions.count / view->axes;
    view->tokens = view->batch_tokens = view->rows = tokens;
    for (size_t t = 0; t < claim->n_uploads; t++) {
        const pe_array *array = &claim->uploads[t].array;
        const bool flat = plan->tensors[t].shape.dim[0] != tokens;
        if (!pe_upload_names_same_sizes(&plan->tensors[t].shape, &array->shape, !flat))
            return pe_upload_names_fail_shape(claim->uploads[t].name, &plan->tensors[t].shape,
                                              &array->shape, "", why);
        view->tensor_at[t] = view->width;
        view->width += array->elements / tokens;
        view->width_differs |= array->elements != plan->tensors[t].elements;
    }
    view->tensor_at[claim->n_uploads] = view->width;
    return PE_OK;
}

/* Rows of class and register tokens are a few. */
#define EXTRA_MOST 16

/* Does a grid have a few rows more or fewer, and else the claimed shape but for axes of one? */
static bool has_other_rows(const pe_claim *claim, const pe_shape *wanted, const pe_array *is)
{
    const size_t *end = is->shape.dim + is->shape.ndim;
    return strstr(claim->resource->name, "/grid") != NULL && wanted->ndim == 2 &&
           is->shape.ndim >= 2 && end[-1] == wanted->dim[1] && end[-2] * end[-1] == is->elements &&
           end[-2] <= wanted->dim[0] + EXTRA_MOST && wanted->dim[0] <= end[-2] + EXTRA_MOST;
}

/* The first two axes as one: heads of all items of a batch, one behind the other. */
static bool joins_first_axes(const pe_shape *wanted, const pe_shape *is)
{
    return is->ndim + 1 == wanted->ndim && is->dim[0] == wanted->dim[0] * wanted->dim[1] &&
           memcmp(is->dim + 1, wanted->dim + 2, (is->ndim - 1) * sizeof is->dim[0]) == 0;
}

static pe_status lay_out_plain(pe_upload_view *view, const pe_plan *plan, pe_problem *why)
{
    const pe_claim *claim = view->claim;
    for (size_t t = 0; t < claim->n_uploads; t++) {
        const pe_shape *wanted = &plan->tensors[view->plan_tensor[t]].shape;
        const pe_shape *shape = &claim->uploads[t].array.shape;
        const bool same = pe_upload_names_same_sizes(wanted, shape, false) ||
                          (wanted->ndim == 4 && joins_first_axes(wanted, shape));
        const bool folded = shape->ndim == 3 && wanted->ndim == 3 && claim->n_uploads == 1 &&
                            (shape->dim[1] == 1 || wanted->dim[1] == 1) &&
                            shape->dim[0] == wanted->dim[0] && shape->dim[2] == wanted->dim[2];
        const bool rows = !same && has_other_rows(claim, wanted, &claim->uploads[t].array);
        const bool extra = rows && pe_values_find(&claim->values, "extra_tokens") != NULL;
        const bool wide =
            !same && shape->ndim > 0 && shape->ndim == wanted->ndim &&
            view->n_tensors == claim->n_uploads &&
            memcmp(shape->dim, wanted->dim, (shape->ndim - 1) * sizeof *shape->dim) == 0;
        const bool more = rows && shape->dim[shape->ndim - 2] > wanted->dim[0];
        if (!same && !folded && !extra && !wide)
            return pe_upload_names_fail_shape(
                claim->uploads[t].name, wanted, shape,
                more ? ": class and register tokens have no rows here" : "", why);
        view->width_differs |=
            !same && (extra || wide || wanted->dim[1] != 1); /* one row stands for all */
        view->tensor_at[t] = view->elements;
        view->elements += claim->uploads[t].array.elements;
    }
    if (view->elements > PE_PLAIN_MAX)
        return fail_elements(view->elements, "; without pairs", PE_PLAIN_MAX, "", why);
    view->tensor_at[claim->n_uploads] = view->elements;
    view->width = PE_PLAIN_ROW;
    view->rows = (view->elements + PE_PLAIN_ROW - 1) / PE_PLAIN_ROW;
    view->tokens = view->batch_tokens = view->rows;
    return view->elements > PE_VIEW_HELD && view->n_tensors == 1 ? PE_OK
                                                                 : pe_upload_view_hold(view, why);
}

static pe_status lay_out_vectors(pe_upload_view *view, pe_problem *why)
{
    const pe_claim *claim = view->claim;
    const pe_shape *in = &claim->inputs.shape, *out = &claim->uploads[0].array.shape;
    const int64_t ndim = (int64_t)in->ndim;
    const int64_t at = claim->seq_axis < 0 ? claim->seq_axis + ndim : claim->seq_axis;
    const size_t axis = (size_t)at, head_dim = pe_values_size(&claim->values, "head_dim");
    assert(in->ndim >= 2 && at >= 0 && at < ndim - 1); /* claims are read so */
    if (in->ndim != out->ndim || memcmp(in->dim, out->dim, in->ndim * sizeof in->dim[0]) != 0)
        return pe_fail(why, PE_INVALID_PARAMETER, "rotated",
                       "inputs and rotated must have the same shape");
    view->width = in->dim[in->ndim - 1];
    if (view->width != head_dim)
        return pe_fail(why, PE_INVALID_PARAMETER, "inputs",
                       "the last axis of inputs must have head_dim = %zu channels, got %zu",
                       head_dim, view->width);
    /* How many rows each token has, and which they are. */
    size_t leading = 1;
    for (size_t d = 0; d < axis; d++)
        leading *= in->dim[d];
    for (size_t d = axis + 1; d + 1 < in->ndim; d++)
        view->inner *= in->dim[d];
    view->batch_tokens = in->dim[axis];
    view->heads = view->inner > 1 ? view->inner : axis > 0 ? in->dim[axis - 1] : 1;
    view->tokens = pe_values_positions(&claim->values, "positions")->count / view->axes;
    view->outer = leading / view->items;
    view->rows = leading * view->batch_tokens * view->inner;
    view->tensor_at[1] = view->width;
    const bool fits = view->tokens == view->items * view->batch_tokens;
    if (view->items > 1 && (!fits || axis == 0 || view->items != in->dim[0]))
        return pe_fail(why, PE_INVALID_PARAMETER, "positions",
                       "positions must be [%zu], or one such row for each item of the batch, "
                       "inputs' first axis; got [%zu, %zu]",
                       view->batch_tokens, view->items, view->tokens / view->items);
    if (!fits)
        return pe_fail(why, PE_INVALID_PARAMETER, "positions",
                       "positions must give one for each of the %zu tokens of inputs, got %zu",
                       view->batch_tokens, view->tokens);
    /* Vectors must be finite before they are rotated; in a table NaN and infinities are findings. */
    for (size_t e = 0; e < claim->inputs.elements; e++)
        if (!isfinite(pe_upload_view_load(view, true, e / view->width, e % view->width)))
            return pe_fail(why, PE_INVALID_PARAMETER, "table/inputs",
                           "element %zu of inputs is not a finite number", e);
    return PE_OK;
}

/* ---- the view ---- */

/* Does the upload hold pairs? Then their layout and geometry are set. */
static bool has_pairs(pe_upload_view *view)
{
    const pe_claim *claim = view->claim;
    const pe_value *positions = pe_values_find(&claim->values, "positions");
    view->layout = pe_geometry_pair_layout(claim->resource);
    if (view->layout == NULL || positions == NULL || !positions->present ||
        (!view->rotated && positions->positions.shape.ndim > 2))
        return false;
    if (positions->positions.shape.ndim == 2)
        view->axes = positions->positions.shape.dim[0];
    if (!view->rotated)
        return view->layout->geometry(&claim->values, &view->geometry);
    pe_geometry_of_vectors(&claim->values, &view->geometry);
    return true;
}

static pe_status lay_out(pe_upload_view *view, const pe_plan *plan, pe_problem *why)
{
    if (view->layout == NULL)
        return lay_out_plain(view, plan, why);
    PE_TRY(view->rotated ? lay_out_vectors(view, why) : lay_out_table(view, plan, why));
    PE_TRY(pe_upload_view_make_rows(view, why));
    hold(view);
    return PE_OK;
}

/* Find the tensors of the plan in the uploads, and put their axes into its order. A table of pairs has
 * all of them. */
static pe_status match_uploads(pe_upload_view *view, pe_claim *claim, const pe_plan *plan,
                               pe_problem *why)
{
    if (!has_pairs(view) ||
        (!view->rotated && claim->n_uploads < plan->n_tensors && claim->uploads[0].name[0] != '\0'))
        view->layout = NULL; /* or cosines or sines alone */
    if (view->rotated)
        return PE_OK;
    PE_TRY(pe_upload_names_match(claim, plan, view->layout != NULL, view->plan_tensor, why));
    for (size_t u = 0; u < claim->n_uploads; u++) {
        const size_t of = view->layout != NULL ? u : view->plan_tensor[u];
        const pe_shape *wanted = &plan->tensors[of].shape;
        pe_array *is = &claim->uploads[u].array;
        if (!pe_upload_names_same_sizes(wanted, &is->shape, false))
            PE_TRY(pe_upload_shape_put_in_order(is, wanted, &view->permuted, why));
    }
    return PE_OK;
}

pe_status pe_upload_view_plan(pe_claim *claim, const pe_verify_context *context, pe_plan *out,
                              pe_problem *why)
{
    pe_value *dtype = pe_values_find(&claim->values, "dtype");
    const pe_value was = dtype != NULL ? *dtype : (pe_value){0};
    (void)pe_geometry_set_choice(&claim->values, "dtype", "float64");
    const pe_status status =
        pe_plan_make(claim->resource, &claim->values, context->tables, context->limits, out, why);
    if (dtype != NULL)
        *dtype = was;
    return status;
}

pe_status pe_upload_view_make(pe_claim *claim, const pe_verify_context *context,
                              pe_upload_view *out, pe_problem *why)
{
    pe_plan plan = {0};
    size_t elements = 0;
    *out = (pe_upload_view){.claim = claim,
                            .rotated = claim->inputs.elements > 0,
                            .outer = 1,
                            .inner = 1,
                            .heads = 1,
                            .items = 1,
                            .axes = 1,
                            .n_tensors = claim->n_uploads};
    pe_upload_shape_lift_scalars(claim);
    for (size_t u = 0; u < claim->n_uploads; u++)
        elements += claim->uploads[u].array.elements;
    if (elements > context->bounds->max_elements)
        return fail_elements(elements, ",", context->bounds->max_elements,
                             "; send some of the positions", why);
    if (elements == 0)
        return pe_fail(why, PE_MISSING_PARAMETER, "table",
                       "table is required: the numbers to verify");
    PE_TRY(pe_upload_shape_join_items(claim, why));
    out->items = claim->items > 0 ? claim->items : 1;
    pe_status status = pe_upload_view_plan(claim, context, &plan, why);
    if (status == PE_OK) {
        pe_upload_shape_drop_ones(claim);
        status = match_uploads(out, claim, &plan, why);
    }
    if (status == PE_OK)
        status = lay_out(out, &plan, why);
    pe_plan_free(&plan);
    if (status != PE_OK)
        pe_upload_view_free(out);
    return status;
}

void pe_upload_view_free(pe_upload_view *view)
{
    free(view->got);
    free(view->inputs);
    view->got = view->inputs = NULL;
}

/* ---- where things are ---- */

/* Both numbers of a pair of the row. */
static pe_wave pair_at(const pe_upload_view *view, bool inputs, const pe_geometry *at, size_t row,
                       size_t i)
{
    return (pe_wave){pe_upload_view_at(view, inputs, row, at->cos_at + i * at->stride),
                     pe_upload_view_at(view, inputs, row, at->sin_at + i * at->stride)};
}

/* How the pair `in` turned. */
static void add_turn(pe_wave of, pe_wave in, pe_wave *sum)
{
    sum->cosine += of.cosine * in.cosine + of.sine * in.sine;
    sum->sine += of.sine * in.cosine - of.cosine * in.sine;
}

void pe_upload_view_add_wave(const pe_upload_view *view, const pe_geometry *at, size_t row,
                             const double *numbers, size_t i, pe_wave *sum)
{
    const pe_wave of = {numbers[at->cos_at + i * at->stride], numbers[at->sin_at + i * at->stride]};
    add_turn(of, view->rotated ? pair_at(view, true, at, row, i) : (pe_wave){1, 0}, sum);
}

pe_wave pe_upload_view_wave(const pe_upload_view *view, const pe_geometry *at, size_t token,
                            size_t i)
{
    pe_wave sum = {0, 0};
    double size = 0;
    if (!view->rotated)
        return pair_at(view, false, at, pe_upload_view_row(view, token, 0), i);
    for (size_t o = 0; o < pe_upload_view_token_rows(view); o++) {
        const size_t row = pe_upload_view_row(view, token, o);
        const pe_wave in = pair_at(view, true, at, row, i);
        add_turn(pair_at(view, false, at, row, i), in, &sum);
        size += in.cosine * in.cosine + in.sine * in.sine;
    }
    return size > 0 ? (pe_wave){sum.cosine / size, sum.sine / size} : sum;
}

bool pe_upload_view_is_sent(const pe_upload_view *view, size_t column)
{
    return column - view->unsent_at >= view->unsent_n;
}

size_t pe_upload_view_token_rows(const pe_upload_view *view)
{
    return view->outer * view->inner;
}

size_t pe_upload_view_row(const pe_upload_view *view, size_t token, size_t o)
{
    const size_t b = token / view->batch_tokens, i = token % view->batch_tokens;
    return ((b * view->outer + o / view->inner) * view->batch_tokens + i) * view->inner +
           o % view->inner;
}

size_t pe_upload_view_token(const pe_upload_view *view, size_t row)
{
    const size_t line = row / view->inner; /* (b*outer + o)*batch_tokens + i */
    const size_t b = line / view->batch_tokens / view->outer;
    return b * view->batch_tokens + line % view->batch_tokens;
}

size_t pe_upload_view_row_width(const pe_upload_view *view, size_t row)
{
    const size_t left = view->elements - row * view->width;
    return left < view->width ? left : view->width;
}

double pe_upload_view_position(const pe_upload_view *view, const pe_positions *positions,
                               size_t token)
{
    double farthest = 0;
    for (size_t a = 0; a < view->axes; a++) {
        const double p = pe_positions_at(positions, a * view->tokens + token);
        farthest = fabs(p) > fabs(farthest) ? p : farthest;
    }
    return farthest;
}

double pe_upload_view_roundoff(const pe_upload_view *view)
{
    const pe_dtype dtype = view->claim->uploads[0].array.dtype;
    return dtype == PE_INT32 ? 0 : pe_power_of_two(-pe_narrow_type_of_dtype(dtype)->bits);
}

size_t pe_upload_view_plan_work(const pe_upload_view *view)
{
    return 4096 + (view->layout != NULL ? 512 * view->geometry.pairs
                                        : pe_price_estimate(&view->claim->values).planning);
}

void pe_upload_view_place(const pe_upload *upload, size_t e, pe_bad *out)
{
    const pe_shape *shape = upload->sent.ndim > 0 ? &upload->sent : &upload->array.shape;
    out->tensor = upload->name;
    out->ndim = shape->ndim;
    for (size_t d = shape->ndim; d-- > 0;) {
        out->index[d] = e % shape->dim[d];
        e /= shape->dim[d];
    }
}

void pe_upload_view_index(const pe_upload_view *view, size_t row, size_t column, pe_bad *out)
{
    size_t t;
    const size_t e = element_at(view, row, column, &t);
    pe_upload_view_place(&view->claim->uploads[t], e, out);
}

/* ==== the life of claims ==== */

void pe_verify_claim_free(pe_claim *claim)
{
    pe_values_free(&claim->values);
    for (size_t t = 0; t < PE_LEN(claim->tensors); t++)
        pe_array_free(&claim->tensors[t]);
    for (size_t u = 0; u < claim->n_uploads; u++)
        pe_array_free(&claim->uploads[u].array);
    pe_array_free(&claim->inputs);
    pe_array_free(&claim->derived);
    pe_buffer_free(&claim->reported);
    pe_buffer_free(&claim->doubts);
    pe_buffer_free(&claim->unpacked);
    for (size_t o = 0; o < claim->n_others; o++)
        pe_values_free(&claim->others[o].values);
    free(claim->others);
    if (claim->next != NULL)
        pe_verify_claim_free(claim->next); /* as many as groups of tensors: few */
    free(claim->next);
    *claim = (pe_claim){0};
}
