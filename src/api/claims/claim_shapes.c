/* SPDX-License-Identifier: MIT */
/* claim_shapes.c - what the names, shapes and numbers of tensors tell, where a claim does not. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/claims/claim_reader.h"
#include "api/claims/tensor_rows.h"
#include "api/value_reading.h"
#include "encodings/registry.h"
#include "verify/upload/geometry.h"

/* ---- what was given ---- */

/* Parameters that tensors may tell. */
static const char positions[] = "positions", head_dim[] = "head_dim", pairing[] = "pairing",
                  cache_layout[] = "cache_layout", d_model[] = "d_model", num_heads[] = "num_heads",
                  query_length[] = "query_length", key_length[] = "key_length",
                  rotary_dim[] = "rotary_dim";

/* Others that say the same. */
static const struct {
    const char *name, *gives;
} implied[] = {
    {"partial_rotary_factor", rotary_dim},
    {"distances", query_length},
    {"distances", key_length},
    {"model", head_dim},
    {"model", pairing},
    {"model", d_model},
    {"model", num_heads},
};

static bool is_given(const pe_claim_reader *reader, const char *name)
{
    const pe_value *value = pe_values_find(&reader->query->values, name);
    return (reader->layers != NULL && strcmp(name, "model") == 0) ||
           (value != NULL && (value->present || value->given || value->refused));
}

static bool was_given(const pe_claim_reader *reader, const char *name)
{
    bool given = is_given(reader, name);
    for (size_t i = 0; i < PE_LEN(implied) && !given; i++)
        given = strcmp(implied[i].gives, name) == 0 && is_given(reader, implied[i].name);
    return given;
}

/* A size that is known; 0: it is not. */
static size_t size_of(const pe_claim_reader *reader, const char *name)
{
    const pe_value *value = pe_values_find(&reader->query->values, name);
    return value != NULL && value->present && value->integer > 0 ? (size_t)value->integer : 0;
}

static bool has_layout(const pe_claim_reader *reader, const char *name)
{
    const pe_value *layout = pe_values_find(&reader->query->values, cache_layout);
    return layout != NULL && layout->present &&
           strcmp(layout->param->choices[layout->choice], name) == 0;
}

/* A value that nobody gave. */
static void add(pe_claim_reader *reader, const char *name, const char *text)
{
    pe_query *query = reader->query;
    pe_value *value = pe_values_find(&query->values, name);
    if (reader->status != PE_OK || is_given(reader, name))
        return;
    if (value == NULL) {
        reader->status = pe_query_fail_unknown(query, query->from_json, name, name,
                                               pe_slice_of(text), reader->refused);
        return;
    }
    const pe_value_reading to = {
        .param = value->param, .value = value, .place = name, .limits = reader->limits};
    reader->status = pe_value_parse(&to, pe_slice_of(text), false, reader->refused);
    value->refused = reader->status != PE_OK;
}

static void add_choice(pe_claim_reader *reader, const char *name, const char *choice,
                       const char *reason)
{
    if (was_given(reader, name))
        return;
    add(reader, name, choice);
    pe_claim_report(&reader->claim.reported, "%s=%s, %s", name, choice, reason);
}

/* Of positions so many, from 0 on. */
static void add_size(pe_claim_reader *reader, const char *name, size_t size)
{
    char text[32];
    snprintf(text, sizeof text, "%s%zu", name == positions ? "0:" : "", size);
    if (size > 0)
        add_choice(reader, name, text, name == positions ? "one for each row" : "from the shape");
}

/* What was given of the claimed table, as far as another one has it: inverse frequencies have no
 * positions. */
static void move_values(pe_claim_reader *reader, const pe_resource *resource)
{
    pe_query made, *query = reader->query;
    reader->status = pe_query_begin(resource, &made, reader->refused);
    if (reader->status != PE_OK)
        return;
    for (size_t i = 0; i < query->values.n; i++) {
        pe_value *from = &query->values.value[i];
        pe_value *to = pe_values_find(&made.values, from->param->name);
        if (to == NULL || !is_given(reader, from->param->name))
            continue;
        const pe_param *param = to->param;
        *to = *from;
        to->param = param;
        *from = (pe_value){.param = from->param};
    }
    pe_values_free(&query->values);
    query->values = made.values;
    query->resource = resource;
}

/* ---- rotary tables ---- */

static void set_name(pe_stored *tensor, const char *name)
{
    snprintf(tensor->name, sizeof tensor->name, "%s", name);
}

/* The least share among cosines and sines: only what is in both is their layout. */
static double least_share(const pe_stored_list *list, bool halves)
{
    double least = (double)NAN;
    for (size_t t = 0; t < list->n; t++) {
        pe_tensor_rows r;
        const double one = pe_tensor_rows_read(&list->tensor[t], 1, &r)
                               ? pe_tensor_rows_share(&r, halves, pe_tensor_are_equal)
                               : (double)NAN;
        least = one < least || isnan(least) ? one : least;
    }
    return least;
}

/* Does each number stand twice in a row, in which order? The numbers tell; where they do not, the
 * width of a head. Rows of half of it are of pairs, whatever is in them. */
static void read_doubled(pe_claim_reader *reader, const pe_stored_list *list,
                         const pe_tensor_rows *r)
{
    const double halves = least_share(list, true), neighbours = least_share(list, false);
    const bool as_pairs =
        size_of(reader, head_dim) == 2 * r->width && !was_given(reader, rotary_dim);
    const bool by_halves = halves > 0.5, by_neighbours = neighbours > 0.5;
    const bool doubled = (by_halves || by_neighbours) && !as_pairs;
    const bool decided = by_halves != by_neighbours;
    if (isnan(halves) && !was_given(reader, cache_layout))
        pe_claim_report(&reader->claim.reported, "the numbers do not tell the layout");
    if (doubled || r->width == size_of(reader, head_dim)) {
        add_choice(reader, cache_layout, "hf",
                   doubled ? "each number stands twice in a row" : "rows are head_dim wide");
        if (decided)
            add_choice(reader, pairing, by_halves ? "half" : "interleaved",
                       by_halves ? "the halves of a row are equal" : "neighbours are equal");
        else if (!was_given(reader, pairing))
            pe_claim_report(&reader->claim.reported,
                            "the numbers do not tell whether pairing is half or "
                            "interleaved");
    }
    add_size(reader, head_dim, doubled || has_layout(reader, "hf") ? r->width : 2 * r->width);
}

/* Layouts of one tensor: what they call it, and why it is one. */
static const struct {
    pe_claim_family family;
    const char *layout, *name, *reason;
} fused[] = {
    {PE_FAMILY_FUSED, "vllm", "cos_sin", "cosines then sines in a row"},
    {PE_FAMILY_COMPLEX, "meta", "freqs_cis", "a cosine and a sine as a complex number"},
    {PE_FAMILY_FLAT, "trtllm", "rotary_cos_sin", "one row of all"},
};

/* A tensor without a name, or called as nothing is here: the layout that was given, or its numbers
 * tell what it is. */
static void name_lone(pe_claim_reader *reader, pe_stored *tensor)
{
    pe_tensor_rows r;
    const char *name = "cos";
    for (size_t f = 0; f < PE_LEN(fused); f++)
        if (has_layout(reader, fused[f].layout)) {
            set_name(tensor, fused[f].name);
            return;
        }
    if (tensor->is_complex || (tensor->shape.ndim == 3 && tensor->shape.dim[2] == 2)) {
        name = "freqs_cis";
    } else if (pe_tensor_is_inv_freq(tensor)) {
        name = "inv_freq";
    } else if (!pe_tensor_rows_read(tensor, 1, &r)) {
        return;
    } else if (pe_tensor_rows_count(&r)) {
        name = "angles";
    } else if (pe_tensor_rows_share(&r, true, pe_tensor_are_a_pair) > 0.5 &&
               !(pe_tensor_rows_share(&r, true, pe_tensor_are_equal) > 0.5)) {
        name = "cos_sin";
    } else if (fabs(pe_tensor_rows_at(&r, 0, r.width - 1)) < 0.5) {
        name = "sin"; /* the slowest pair is at the start of its circle */
    }
    set_name(tensor, name);
    reader->claim.guessed = strcmp(name, "cos") == 0 || strcmp(name, "sin") == 0;
    pe_claim_report(&reader->claim.reported, "the table is read as %s, from its %s", name,
                    tensor->shape.ndim == 2 ? "numbers" : "shape");
}

static bool are_columns(size_t width, size_t n)
{
    return width != 0 && (n == width || 2 * n == width);
}

/* Of the family that the tensors belong to. */
static void read_family(pe_claim_reader *reader, pe_claim_family family, const pe_stored_list *list,
                        const pe_tensor_rows *r)
{
    const size_t elements = r->tensor->elements;
    /* Transposed; where a part of a head is rotated, its width is not head_dim's. */
    if (family == PE_FAMILY_TABLE && !was_given(reader, rotary_dim) &&
        are_columns(size_of(reader, head_dim), r->n) &&
        !are_columns(size_of(reader, head_dim), r->width)) {
        pe_stored columns = *r->tensor;
        const pe_tensor_rows turned = {&columns, r->width, r->n};
        columns.shape = (pe_shape){2, {r->width, r->n}};
        columns.fortran = !columns.fortran;
        read_doubled(reader, &(pe_stored_list){&columns, 1, 1}, &turned);
        add_size(reader, positions, r->width);
        return;
    }
    for (size_t f = 0; f < PE_LEN(fused); f++)
        if (family == fused[f].family)
            add_choice(reader, cache_layout, fused[f].layout, fused[f].reason);
    if (family == PE_FAMILY_FUSED || family == PE_FAMILY_COMPLEX)
        add_size(reader, head_dim, r->width);
    if (family == PE_FAMILY_TABLE || family == PE_FAMILY_ANGLES)
        read_doubled(reader, list, r);
    if (family == PE_FAMILY_FLAT && size_of(reader, head_dim) > 0)
        add_size(reader, positions, elements / size_of(reader, head_dim));
    else if (family != PE_FAMILY_FLAT)
        add_size(reader, positions, r->n);
    reader->angles = family == PE_FAMILY_ANGLES;
    if (reader->angles)
        pe_claim_report(&reader->claim.reported, "angles are compared by their cosines and sines");
}

/* ---- rotated vectors ---- */

/* Vectors that are looked at, at most. */
#define VECTORS 64

/* The squared length of two numbers. */
static double length_of(const pe_stored *tensor, size_t a, size_t b)
{
    const double x = pe_stored_number(tensor, a), y = pe_stored_number(tensor, b);
    return x * x + y * y;
}

/* How far the lengths of pairs are from `scale` of those before rotation. */
static double length_misses(const pe_stored *in, const pe_stored *out, bool halves, double scale)
{
    const size_t d = in->shape.dim[in->shape.ndim - 1], n = in->elements / d;
    const size_t looks = n < VECTORS ? n : VECTORS;
    double misses = 0;
    for (size_t k = 0; k < looks * (d / 2); k++) {
        const size_t vector = k / (d / 2) * n / looks * d, i = k % (d / 2);
        const size_t a = vector + (halves ? i : 2 * i), b = halves ? a + d / 2 : a + 1;
        misses += fabs(length_of(out, a, b) - scale * length_of(in, a, b));
    }
    return misses;
}

/* A rotation keeps the lengths of its pairs, up to one factor for all: that of the first vectors'
 * lengths. */
static void read_vectors(pe_claim_reader *reader, const pe_stored_list *list)
{
    const pe_stored *in = &list->tensor[0], *out = &list->tensor[1];
    if (list->n != 2 || was_given(reader, pairing) || was_given(reader, rotary_dim) ||
        memcmp(&in->shape, &out->shape, sizeof in->shape) != 0 || in->elements == 0 ||
        in->shape.ndim < 2 || in->shape.dim[in->shape.ndim - 1] % 2 != 0 || in->there != 0 ||
        out->there != 0)
        return;
    const double all = length_misses(out, in, false, 0), turned = length_misses(in, out, false, 0);
    const double halves = length_misses(in, out, true, turned / all);
    const double neighbours = length_misses(in, out, false, turned / all);
    if (halves < neighbours / 16)
        add_choice(reader, pairing, "half", "pairs of halves keep their lengths");
    else if (neighbours < halves / 16)
        add_choice(reader, pairing, "interleaved", "neighbours keep their lengths");
}

/* Some keep a frequency for each channel of a row to multiply with. */
static void read_inv_freq(pe_claim_reader *reader, pe_stored *tensor)
{
    pe_tensor_rows r;
    const bool is_row = tensor->elements >= 4 &&
                        size_of(reader, head_dim) != 2 * tensor->elements &&
                        pe_tensor_rows_read(tensor, 1, &r) && r.n == 1;
    const size_t run = is_row && pe_tensor_rows_are_doubled(&r, 1)             ? 1
                       : is_row && pe_tensor_rows_are_doubled(&r, r.width / 2) ? r.width / 2
                                                                               : 0;
    if (run > 0) {
        pe_tensor_halve(tensor, &r, run);
        pe_claim_report(&reader->claim.reported, "each number of %s stands twice: %s",
                        tensor->name[0] != '\0' ? tensor->name : "the table",
                        run == 1 ? "neighbours are equal" : "its halves are equal");
    }
    add_size(reader, head_dim, 2 * tensor->elements);
}

static void read_rope(pe_claim_reader *reader, pe_stored_list *list)
{
    pe_tensor_rows r;
    if (list->n == 1 && pe_claim_family_of(&list->tensor[0]) == PE_FAMILY_NONE)
        name_lone(reader, &list->tensor[0]);
    const pe_claim_family family = pe_claim_groups_name(list);
    if (family == PE_FAMILY_INV_FREQ) {
        move_values(reader, pe_registry_find("rope/frequencies"));
        read_inv_freq(reader, &list->tensor[0]);
        return;
    }
    if (family == PE_FAMILY_VECTORS)
        read_vectors(reader, list);
    else if (family != PE_FAMILY_NONE &&
             pe_tensor_rows_read(&list->tensor[0], family == PE_FAMILY_COMPLEX ? 2 : 1, &r))
        read_family(reader, family, list, &r);
    for (size_t t = 0; t < list->n && has_layout(reader, "onnx") && family == PE_FAMILY_TABLE; t++)
        set_name(&list->tensor[t],
                 strcmp(list->tensor[t].name, "cos") == 0 ? "cos_cache" : "sin_cache");
}

/* ---- rotary tables of patches ---- */

/* Does each tensor of a row for each patch have each number twice, in runs of so many? */
static bool are_doubled(const pe_stored_list *list, size_t width, size_t run)
{
    bool all = run > 0;
    pe_tensor_rows r;
    for (size_t t = 0; t < list->n && all; t++)
        all = strcmp(list->tensor[t].name, "row_col") == 0 ||
              (!list->tensor[t].fortran && pe_tensor_rows_read(&list->tensor[t], 1, &r) &&
               r.width == width && pe_tensor_rows_are_doubled(&r, run));
    return all;
}

/* Models keep a column for each channel. Where the numbers stand twice as the claim has it, those
 * of pairs are compared; else whole rows are. Cosines of many patches are not equal by chance. */
static void read_columns(pe_claim_reader *reader, pe_stored_list *list, size_t width)
{
    const size_t pairs = width / 2;
    const struct {
        size_t run;
        const char *reason;
    } ways[] = {{pairs, "the halves of a row are equal"},
                {1, "neighbours are equal"},
                {pairs / 2, "the quarters of a row are equal by twos"}};
    size_t w = 0;
    if (was_given(reader, cache_layout) || width % 4 != 0 ||
        (size_of(reader, head_dim) != 0 && width != size_of(reader, head_dim)))
        return;
    const size_t run = reader->query->resource->run(&reader->query->values, pairs);
    if (are_doubled(list, width, run)) {
        pe_tensor_rows r;
        for (size_t t = 0; t < list->n; t++) {
            pe_stored *tensor = &list->tensor[t];
            if (strcmp(tensor->name, "row_col") == 0 || !pe_tensor_rows_read(tensor, 1, &r))
                continue;
            pe_tensor_halve(tensor, &r, run);
            pe_claim_report(&reader->claim.reported, "each number of %s stands twice in a row",
                            tensor->name);
        }
        return;
    }
    while (w < PE_LEN(ways) && !are_doubled(list, width, ways[w].run))
        w++;
    if (w < PE_LEN(ways) || width == size_of(reader, head_dim))
        add_choice(reader, cache_layout, "hf",
                   w < PE_LEN(ways) ? ways[w].reason : "rows are head_dim wide");
}

static void read_patches(pe_claim_reader *reader, pe_stored_list *list)
{
    pe_tensor_rows r;
    const pe_claim_family family = pe_claim_family_of(&list->tensor[0]);
    if (family == PE_FAMILY_VECTORS || family == PE_FAMILY_QUERY || family == PE_FAMILY_KEY) {
        (void)pe_claim_groups_name(list); /* they tell their head_dim elsewhere */
        return;
    }
    pe_stored *first = &list->tensor[0];
    if ((list->n > 1 && family == PE_FAMILY_NONE) || !pe_tensor_rows_read(first, 1, &r))
        return;
    if (family == PE_FAMILY_NONE) {
        /* Angles are larger than 1 somewhere; cosines begin with 1. */
        set_name(first, pe_tensor_rows_amplitude(&r) > 1.01 ? "angles"
                        : pe_tensor_rows_at(&r, 0, 0) > 0.5 ? "cos"
                                                            : "sin");
        pe_claim_report(&reader->claim.reported, "the table is read as %s, from its numbers",
                        first->name);
    }
    read_columns(reader, list, r.width);
    (void)pe_tensor_rows_read(first, 1, &r);
    add_size(reader, head_dim, has_layout(reader, "hf") ? r.width : 2 * r.width);
}

/* ---- other tables: parameters that are sizes ---- */

static const struct {
    const char *resource;
    size_t axes; /* axes of one element in front are left out */
    const char *name[3];
} sizes[] = {
    {"sinusoidal", 2, {positions, d_model}},
    {"alibi/slopes", 1, {num_heads}},
    {"alibi/bias", 3, {num_heads, query_length, key_length}},
    {"t5/buckets", 2, {query_length, key_length}},
};

static void read_sizes(pe_claim_reader *reader, const char *resource, pe_stored *tensor, bool lone)
{
    size_t of[3] = {0}, s = 0;
    pe_tensor_rows rows = {0};
    const pe_shape *shape = &tensor->shape;
    while (s < PE_LEN(sizes) && strcmp(sizes[s].resource, resource) != 0)
        s++;
    if (s == PE_LEN(sizes) || shape->ndim < sizes[s].axes)
        return;
    const size_t axes = sizes[s].axes;
    /* The last axes: those before them have one element, or for two axes one between them. */
    const bool is_rows = axes == 2 && pe_tensor_rows_read(tensor, 1, &rows);
    for (size_t d = 0; d + axes < shape->ndim && !is_rows; d++)
        if (shape->dim[d] != 1)
            return;
    for (size_t a = 0; a < axes; a++)
        of[a] = shape->dim[shape->ndim - axes + a];
    of[0] = is_rows ? rows.n : of[0];
    /* Of a table of one tensor any name is its name. */
    if (lone && tensor->name[0] != '\0') {
        if (!pe_claim_is_nameless(tensor->name))
            pe_claim_report(&reader->claim.reported, "%s is read as the table", tensor->name);
        tensor->name[0] = '\0';
    }
    if (axes == 2 && size_of(reader, d_model) == of[0] && size_of(reader, d_model) != of[1]) {
        of[0] = of[1]; /* transposed */
        of[1] = size_of(reader, d_model);
    }
    /* Where some axis has another size than was given, axes stand in another order, and tell
     * nothing. */
    for (size_t a = 0; a < axes; a++) {
        const char *name = sizes[s].name[a];
        const size_t given = name == num_heads || name == query_length ? size_of(reader, name) : 0;
        if (given != 0 && of[a] != given && of[a] != 1)
            return;
    }
    for (size_t a = 0; a < axes; a++)
        add_size(reader, sizes[s].name[a], of[a]);
}

/* A batch whose items are the same, as where a table is expanded, stands for one of them, unless each
 * has positions of its own. */
static void take_item(pe_claim_reader *reader, pe_stored *tensor)
{
    pe_shape *shape = &tensor->shape;
    const size_t n = shape->dim[0], each = n > 0 ? tensor->bytes / n : 0;
    const pe_value *given = pe_values_find(&reader->query->values, positions);
    if (shape->ndim != 3 || n < 2 || shape->dim[1] < 2 || tensor->there != 0 || tensor->fortran ||
        (given->present && given->positions.count == n * shape->dim[1]) ||
        memcmp(tensor->data, (const char *)tensor->data + each, tensor->bytes - each) != 0)
        return;
    pe_claim_report(&reader->claim.reported,
                    "the %zu items of %s are the same, and compared as one", n,
                    tensor->name[0] != '\0' ? tensor->name : "the batch");
    shape->dim[0] = 1;
    tensor->elements /= n;
    tensor->bytes = each;
}

/* head_dim and positions of vectors. name: of their tensor, for problems. */
static pe_status read_tokens(pe_claim_reader *reader, const pe_stored_list *list, const char *name,
                             pe_problem *why)
{
    const int64_t seq_axis = reader->claim.seq_axis;
    char text[32];
    const pe_stored *inputs = pe_claim_groups_find(list, "inputs");
    if (inputs == NULL || pe_claim_groups_find(list, "rotated") == NULL || list->n != 2)
        return pe_fail(why, PE_MISSING_PARAMETER, inputs == NULL ? "inputs" : "rotated",
                       "rotated vectors must come as two tensors, inputs and rotated");
    const pe_shape *shape = &inputs->shape;
    const int64_t axis = seq_axis < 0 ? seq_axis + (int64_t)shape->ndim : seq_axis;
    if (inputs->elements == 0 || shape->ndim < 2)
        return pe_fail(why, PE_INVALID_PARAMETER, name,
                       "%s must have channels along the last axis and tokens along another", name);
    snprintf(text, sizeof text, "%zu", shape->dim[shape->ndim - 1]);
    if (!was_given(reader, head_dim))
        add(reader, head_dim, text);
    if (axis < 0 || axis + 1 >= (int64_t)shape->ndim)
        return pe_fail(why, PE_INVALID_PARAMETER, "seq_axis",
                       "seq_axis must name an axis of %s before the last, got %lld", name,
                       (long long)seq_axis);
    snprintf(text, sizeof text, "0:%zu", shape->dim[axis]);
    if (reader->query->resource->turned == NULL)
        add(reader, positions, text);
    return reader->status;
}

pe_status pe_claim_shapes_read(pe_claim_reader *reader, pe_stored_list *tensors,
                               const char *vectors, pe_problem *why)
{
    const pe_resource *resource = reader->query->resource;
    const bool is_table = strcmp(resource->name, "rope/table") == 0;
    reader->angles = false;
    reader->status = PE_OK;
    reader->refused = why;
    if (vectors != NULL)
        PE_TRY(read_tokens(reader, tensors, vectors, why));
    if (is_table || strcmp(resource->name, "sinusoidal") == 0)
        for (size_t t = 0; t < tensors->n; t++)
            take_item(reader, &tensors->tensor[t]);
    if (is_table)
        read_rope(reader, tensors);
    else if (resource->run != NULL)
        read_patches(reader, tensors);
    else if (strcmp(resource->name, "rope/frequencies") == 0)
        read_inv_freq(reader, &tensors->tensor[0]);
    else
        read_sizes(reader, resource->name, &tensors->tensor[0], tensors->n == 1);
    /* The element type of the numbers: indices beside them are integers whatever the others are. */
    pe_dtype dtype = PE_INT32;
    for (size_t t = 0; t < tensors->n && dtype == PE_INT32; t++)
        dtype = tensors->tensor[t].dtype;
    if (reader->body != NULL && strcmp(reader->body->media_type, "text/csv") != 0 &&
        dtype != PE_INT32 && dtype != PE_DTYPES &&
        pe_values_find(&reader->query->values, "dtype") != NULL)
        add(reader, "dtype", pe_dtype_name(dtype));
    return reader->status;
}

/* ---- angles ---- */

pe_status pe_claim_shapes_take_angles(pe_claim *claim, pe_problem *why)
{
    if (claim->n_uploads != 1)
        return PE_OK;
    pe_upload *cosines = &claim->uploads[0], *sines = &claim->uploads[1];
    pe_array angles = cosines->array;
    PE_TRY(pe_array_make(angles.dtype, &angles.shape, &sines->array, why));
    claim->n_uploads = 2;
    const pe_status status = pe_array_make(angles.dtype, &angles.shape, &cosines->array, why);
    if (status != PE_OK)
        cosines->array = (pe_array){0};
    for (size_t e = 0; e < angles.elements && status == PE_OK; e++) {
        pe_upload_set_number(&cosines->array, e, cos(pe_upload_number(&angles, e)));
        pe_upload_set_number(&sines->array, e, sin(pe_upload_number(&angles, e)));
    }
    snprintf(cosines->name, sizeof cosines->name, "cos");
    snprintf(sines->name, sizeof sines->name, "sin");
    /* Whether the attention factor is in angles: never. */
    const char *type = pe_geometry_choice_text(&claim->values, "rope_type");
    if (strcmp(type, "yarn") == 0 || strcmp(type, "longrope") == 0)
        pe_values_set_real(&claim->values, "attention_factor", 1);
    pe_array_free(&angles);
    return status;
}
