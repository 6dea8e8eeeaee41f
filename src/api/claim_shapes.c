/* SPDX-License-Identifier: MIT */
/* claim_shapes.c - what the names, shapes and numbers of tensors tell, where a claim does not. */
#include "api/claim_shapes.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/turns.h"
#include "encodings/registry.h"

/* ---- what was given ---- */

enum { POSITIONS, HEAD_DIM, CACHE_LAYOUT, PAIRING, D_MODEL, NUM_HEADS, QUERIES, KEYS, ROTARY };
static const struct {
    const char *name;
    unsigned gives; /* bits */
} watched[] = {
    {"positions", 1U << POSITIONS},
    {"head_dim", 1U << HEAD_DIM},
    {"model", 1U << HEAD_DIM | 1U << PAIRING | 1U << D_MODEL | 1U << NUM_HEADS},
    {"cache_layout", 1U << CACHE_LAYOUT},
    {"pairing", 1U << PAIRING},
    {"d_model", 1U << D_MODEL},
    {"num_heads", 1U << NUM_HEADS},
    {"query_length", 1U << QUERIES},
    {"key_length", 1U << KEYS},
    {"rotary_dim", 1U << ROTARY},
    {"partial_rotary_factor", 1U << ROTARY},
    {"distances", 1U << QUERIES | 1U << KEYS},
};

void pe_claim_shapes_saw(pe_claim_shapes *shapes, const char *name, pe_slice value)
{
    char text[24];
    const size_t quoted = value.bytes > 0 && value.text[0] == '"';
    snprintf(text, sizeof text, "%.*s", (int)(value.bytes < 20 ? value.bytes : 20), value.text);
    for (size_t w = 0; w < PE_LEN(watched); w++)
        if (strcmp(name, watched[w].name) == 0)
            shapes->given |= watched[w].gives;
    const size_t size = (size_t)strtoull(text + quoted, NULL, 10);
    if (strcmp(name, "head_dim") == 0)
        shapes->head_dim = size;
    if (strcmp(name, "num_heads") == 0)
        shapes->num_heads = size;
    if (strcmp(name, "query_length") == 0)
        shapes->query_length = size;
    const bool layout = strcmp(name, "cache_layout") == 0;
    shapes->onnx |= layout && strncmp(text + quoted, "onnx", 4) == 0;
    shapes->hf |= layout && strncmp(text + quoted, "hf", 2) == 0;
}

static bool was_given(const pe_claim_shapes *shapes, unsigned which)
{
    return (shapes->given & 1U << which) != 0;
}

/* A line, unless another group has said it. */
static void say(pe_claim_shapes *shapes, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void say(pe_claim_shapes *shapes, const char *format, ...)
{
    char line[2 * PE_STORED_NAME_BYTES + 64];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line - 1, format, arguments);
    va_end(arguments);
    const size_t bytes = strlen(line);
    line[bytes] = '\n';
    line[bytes + 1] = '\0';
    if (strstr(pe_buffer_text(&shapes->said), line) == NULL)
        pe_buffer_str(&shapes->said, line);
}

static void add(pe_claim_shapes *shapes, const char *name, bool is_text, const char *value)
{
    if (shapes->n_added == PE_LEN(shapes->added))
        return;
    pe_claim_added *to = &shapes->added[shapes->n_added++];
    *to = (pe_claim_added){.name = name, .is_text = is_text};
    snprintf(to->value, sizeof to->value, "%s", value);
}

static void add_size(pe_claim_shapes *shapes, unsigned which, const char *name, size_t size)
{
    char text[24];
    if (was_given(shapes, which) || size == 0)
        return;
    snprintf(text, sizeof text, "%zu", size);
    add(shapes, name, false, text);
    say(shapes, "%s=%zu, from the shape", name, size);
}

static void add_positions(pe_claim_shapes *shapes, size_t rows)
{
    char text[32];
    if (was_given(shapes, POSITIONS) || rows == 0)
        return;
    snprintf(text, sizeof text, "0:%zu", rows);
    add(shapes, "positions", true, text);
    say(shapes, "positions=0:%zu, one for each row", rows);
}

static void add_choice(pe_claim_shapes *shapes, unsigned which, const char *name,
                       const char *choice, const char *reason)
{
    if (was_given(shapes, which))
        return;
    add(shapes, name, true, choice);
    say(shapes, "%s=%s, %s", name, choice, reason);
}

/* ---- names ---- */

enum family { NONE, TABLE, FUSED, COMPLEX, FLAT, ANGLES, VECTORS, QUERY, KEY, LADDER };

/*
 * What buffers and tensors are called:
 * cos_cached, sin_cached, inv_freq, q_embed   huggingface/transformers modeling_llama.py
 * cos_sin_cache                               vllm-project/vllm rotary_embedding/base.py
 * freqs_cis                                   facebookresearch/llama llama/model.py
 * freqs_cos, freqs_sin                        karpathy/llama2.c model.py
 * cos_cache, sin_cache                        microsoft/onnxruntime RotaryEmbedding
 * rotary_cos_sin                              NVIDIA/TensorRT-LLM attention plugin
 */
static const struct {
    const char *name;
    enum family family;
    const char *plan; /* the name that plans have */
} kinds[] = {
    {"cos", TABLE, "cos"},
    {"sin", TABLE, "sin"},
    {"cos_cached", TABLE, "cos"},
    {"sin_cached", TABLE, "sin"},
    {"cos_cache", TABLE, "cos"},
    {"sin_cache", TABLE, "sin"},
    {"freqs_cos", TABLE, "cos"},
    {"freqs_sin", TABLE, "sin"},
    {"cos_sin", FUSED, "cos_sin"},
    {"cos_sin_cache", FUSED, "cos_sin"},
    {"freqs_cis", COMPLEX, "freqs_cis"},
    {"rotary_cos_sin", FLAT, "rotary_cos_sin"},
    {"inv_freq", LADDER, "inv_freq"},
    {"freqs", ANGLES, "angles"},
    {"angles", ANGLES, "angles"},
    {"inputs", VECTORS, "inputs"},
    {"rotated", VECTORS, "rotated"},
    {"q", QUERY, "inputs"},
    {"q_rotated", QUERY, "rotated"},
    {"q_embed", QUERY, "rotated"},
    {"k", KEY, "inputs"},
    {"k_rotated", KEY, "rotated"},
    {"k_embed", KEY, "rotated"},
};

/* Modules put theirs before a name: "model.rotary_emb.inv_freq", "_cos_cached". */
static const char *last_part(const char *name)
{
    const char *dot = strrchr(name, '.');
    const char *part = dot != NULL ? dot + 1 : name;
    return *part == '_' ? part + 1 : part;
}

static size_t kind_of(const pe_stored *tensor)
{
    size_t k = 0;
    while (k < PE_LEN(kinds) && strcmp(kinds[k].name, last_part(tensor->name)) != 0)
        k++;
    return tensor->dtype == PE_DTYPES ? PE_LEN(kinds) : k;
}

static enum family family_of(const pe_stored *tensor)
{
    const size_t k = kind_of(tensor);
    return k < PE_LEN(kinds) ? kinds[k].family : NONE;
}

static bool is_table(const pe_resource *resource)
{
    return strcmp(resource->name, "rope/table") == 0;
}

/* ---- groups ---- */

static bool holds(const pe_stored_list *list, const pe_claim_group *group, const char *plan)
{
    for (size_t t = group->first; t < group->first + group->n; t++)
        if (strcmp(kinds[kind_of(&list->tensor[t])].plan, plan) == 0)
            return true;
    return false;
}

static void move(pe_stored_list *list, size_t from, size_t to)
{
    const pe_stored moved = list->tensor[from];
    memmove(&list->tensor[to + 1], &list->tensor[to], (from - to) * sizeof moved);
    list->tensor[to] = moved;
}

/* The tensors of one family from `first` on, one of each name. */
static pe_claim_group gather(pe_stored_list *list, size_t first, enum family family)
{
    pe_claim_group group = {.first = first,
                            .vectors = family == VECTORS || family == QUERY || family == KEY};
    for (size_t t = first; t < list->n; t++) {
        const size_t k = kind_of(&list->tensor[t]);
        if (k < PE_LEN(kinds) && kinds[k].family == family && !holds(list, &group, kinds[k].plan)) {
            move(list, t, first + group.n);
            group.n++;
        }
    }
    return group;
}

static bool is_same(const pe_stored *a, const pe_stored *b)
{
    return a->dtype == b->dtype && a->bytes == b->bytes && memcmp(a->data, b->data, a->bytes) == 0;
}

/* One of the first `used` tensors that has the name of another module's. */
static const pe_stored *twin_of(const pe_stored_list *list, size_t used, const pe_stored *tensor)
{
    for (size_t t = 0; t < used; t++)
        if (strcmp(last_part(list->tensor[t].name), last_part(tensor->name)) == 0)
            return &list->tensor[t];
    return NULL;
}

/* The tensors behind the groups: copies of those, others of their names, and what is ignored. */
static void say_rest(pe_claim_shapes *shapes, const pe_stored_list *list, size_t used)
{
    enum { MOST = 8 };
    size_t copies = 0, ignored = 0;
    for (size_t t = used; t < list->n; t++) {
        const pe_stored *tensor = &list->tensor[t], *twin = twin_of(list, used, tensor);
        if (twin != NULL && is_same(tensor, twin)) {
            copies++;
        } else if (ignored++ < MOST) {
            say(shapes, "%s was not read%s%s", tensor->name,
                twin != NULL ? ": it differs from " : "", twin != NULL ? twin->name : "");
        }
    }
    if (ignored > MOST)
        say(shapes, "%zu more tensors were not read", ignored - MOST);
    if (copies > 0)
        say(shapes, "%zu more tensors are copies of those that were read", copies);
}

size_t pe_claim_shapes_sort(pe_claim_shapes *shapes, const pe_resource *resource,
                            pe_stored_list *tensors, pe_claim_group groups[PE_CLAIM_GROUPS_MAX])
{
    static const enum family order[] = {VECTORS, QUERY, KEY,    TABLE, FUSED,
                                        COMPLEX, FLAT,  ANGLES, LADDER};
    size_t n = 0, used = 0;
    for (size_t f = 0; f < PE_LEN(order) && n < PE_CLAIM_GROUPS_MAX && is_table(resource); f++) {
        groups[n] = gather(tensors, used, order[f]);
        used += groups[n].n;
        n += groups[n].n > 0;
    }
    if (n > 0) {
        say_rest(shapes, tensors, used);
        return n;
    }
    groups[0] = (pe_claim_group){.n = tensors->n};
    for (size_t t = 0; t < tensors->n; t++)
        groups[0].vectors |= strcmp(tensors->tensor[t].name, "inputs") == 0 ||
                             strcmp(tensors->tensor[t].name, "rotated") == 0;
    return 1;
}

/* ---- rows and columns ---- */

/* A tensor as rows: axes of one element aside, it has two. */
typedef struct rows {
    const pe_stored *tensor;
    size_t n, width;
} rows;

static bool read_rows(const pe_stored *tensor, size_t last_axes, rows *out)
{
    const pe_shape *shape = &tensor->shape;
    *out = (rows){tensor, 1, 1};
    if (shape->ndim < last_axes || tensor->elements == 0)
        return false;
    for (size_t d = 0; d < shape->ndim; d++) {
        if (d + last_axes >= shape->ndim)
            out->width *= shape->dim[d];
        else if (shape->dim[d] != 1 && out->n != 1)
            return false;
        else
            out->n *= shape->dim[d];
    }
    return true;
}

static double at(const rows *r, size_t row, size_t column)
{
    const size_t e = r->tensor->fortran ? row + r->n * column : row * r->width + column;
    return pe_dtype_load(r->tensor->dtype, r->tensor->data + e * pe_dtype_bytes(r->tensor->dtype));
}

/* Rows that are looked at. */
#define LOOKED_AT 32

static size_t looked_at(const rows *r, size_t k)
{
    return r->n <= LOOKED_AT ? k : k * (r->n - 1) / (LOOKED_AT - 1);
}

static size_t looks(const rows *r)
{
    return r->n < LOOKED_AT ? r->n : LOOKED_AT;
}

/* The largest number that is looked at: of a cosine, or nearly so, the amplitude. */
static double amplitude_of(const rows *r)
{
    double most = 0;
    for (size_t k = 0; k < looks(r); k++)
        for (size_t c = 0; c < r->width; c++) {
            const double x = fabs(at(r, looked_at(r, k), c));
            most = isfinite(x) && x > most ? x : most;
        }
    return most;
}

/* 1, 0, or -1: tells nothing */
typedef int test(double a, double b, double amplitude);

/* Of pairs of columns, in halves or neighbours, the part that passes a test; NAN: none tells. */
static double share(const rows *r, bool halves, test *of)
{
    size_t told = 0, held = 0;
    const double most = amplitude_of(r);
    for (size_t k = 0; k < looks(r); k++)
        for (size_t i = 0; i < r->width / 2; i++) {
            const size_t row = looked_at(r, k);
            const int is = halves ? of(at(r, row, i), at(r, row, i + r->width / 2), most)
                                  : of(at(r, row, 2 * i), at(r, row, 2 * i + 1), most);
            told += is >= 0;
            held += is > 0;
        }
    return told == 0 || r->width % 2 != 0 ? (double)NAN : (double)held / (double)told;
}

/* Sines near 0, and cosines near their amplitude, are equal in any table. */
static int are_equal(double a, double b, double amplitude)
{
    if (!isfinite(a) || !isfinite(b) || fabs(a) <= 1e-3 * amplitude || fabs(a) > 0.99 * amplitude)
        return -1;
    return fabs(a - b) <= 1e-4 * fabs(a);
}

/* A pair on the circle. */
static int are_a_pair(double a, double b, double amplitude)
{
    if (!isfinite(a) || !isfinite(b))
        return -1;
    return fabs(hypot(a, b) - amplitude) < 0.02 * amplitude;
}

/* Column 0 counts: angles of the fastest pair. */
static bool counts(const rows *r)
{
    const double first = at(r, 0, 0), step = r->n > 1 ? at(r, 1, 0) - first : 0;
    if (r->n < 3 || !isfinite(first) || step == 0)
        return false;
    for (size_t k = 0; k < looks(r); k++) {
        const double row = (double)looked_at(r, k), wanted = first + step * row;
        if (fabs(at(r, looked_at(r, k), 0) - wanted) > 1e-2 * fabs(wanted) + 1e-3)
            return false;
    }
    return true;
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
        rows r;
        const double one =
            read_rows(&list->tensor[t], 1, &r) ? share(&r, halves, are_equal) : (double)NAN;
        least = one < least || isnan(least) ? one : least;
    }
    return least;
}

/* Does each number stand twice in a row, in which order? The numbers tell; where they do not, the
 * width of a head. Rows of half of it are of pairs, whatever is in them. */
static void read_doubled(pe_claim_shapes *shapes, const pe_stored_list *list, const rows *r)
{
    const double halves = least_share(list, true), neighbours = least_share(list, false);
    const bool as_pairs = shapes->head_dim == 2 * r->width && !was_given(shapes, ROTARY);
    const bool by_halves = halves > 0.5, by_neighbours = neighbours > 0.5;
    const bool doubled = (by_halves || by_neighbours) && !as_pairs;
    const bool told = by_halves != by_neighbours;
    if (isnan(halves) && !was_given(shapes, CACHE_LAYOUT))
        say(shapes, "the numbers do not tell the layout");
    if (doubled || r->width == shapes->head_dim) {
        add_choice(shapes, CACHE_LAYOUT, "cache_layout", "hf",
                   doubled ? "each number stands twice in a row" : "rows are head_dim wide");
        if (told)
            add_choice(shapes, PAIRING, "pairing", by_halves ? "half" : "interleaved",
                       by_halves ? "the halves of a row are equal" : "neighbours are equal");
        else if (!was_given(shapes, PAIRING))
            say(shapes, "the numbers do not tell whether pairing is half or "
                        "interleaved");
    }
    add_size(shapes, HEAD_DIM, "head_dim", doubled || shapes->hf ? r->width : 2 * r->width);
}

static void read_pairs(pe_claim_shapes *shapes, const rows *r, const char *layout,
                       const char *reason)
{
    add_choice(shapes, CACHE_LAYOUT, "cache_layout", layout, reason);
    add_size(shapes, HEAD_DIM, "head_dim", r->width);
}

/* One axis has all: do the numbers fall from 1, the first of them by one ratio? */
static bool is_ladder(const pe_stored *tensor)
{
    rows r;
    if (tensor->shape.ndim == 1)
        return true;
    if (!read_rows(tensor, 1, &r) || (r.n > 1 && r.width > 1) || tensor->elements < 3)
        return false;
    double before = 1, last = 1;
    for (size_t e = 0; e < tensor->elements; e++) {
        const double x = r.n > 1 ? at(&r, e, 0) : at(&r, 0, e);
        if (!(x > 0) || (e == 0 ? fabs(x - 1) > 1e-2 : x >= last) ||
            (e == 2 && fabs(last * last - before * x) > 2e-2 * last * last))
            return false;
        before = last;
        last = x;
    }
    return true;
}

/* A tensor without a name, or called as nothing is here: its numbers tell what it is. */
static void name_lone(pe_claim_shapes *shapes, pe_stored *tensor)
{
    rows r;
    const char *name = "cos";
    if (tensor->is_complex || (tensor->shape.ndim == 3 && tensor->shape.dim[2] == 2)) {
        name = "freqs_cis";
    } else if (is_ladder(tensor)) {
        name = "inv_freq";
    } else if (!read_rows(tensor, 1, &r)) {
        return;
    } else if (counts(&r)) {
        name = "angles";
    } else if (share(&r, true, are_a_pair) > 0.5 && !(share(&r, true, are_equal) > 0.5)) {
        name = "cos_sin";
    } else if (fabs(at(&r, 0, r.width - 1)) < 0.5) {
        name = "sin"; /* the slowest pair is at the start of its circle */
    }
    set_name(tensor, name);
    say(shapes, "the table is read as %s, from its %s", name,
        tensor->shape.ndim == 2 ? "numbers" : "shape");
}

/* Of the family that the tensors belong to. */
static void read_family(pe_claim_shapes *shapes, enum family family, const pe_stored_list *list,
                        const rows *r)
{
    const size_t elements = r->tensor->elements;
    if (family == FUSED)
        read_pairs(shapes, r, "vllm", "cosines then sines in a row");
    if (family == COMPLEX)
        read_pairs(shapes, r, "meta", "a cosine and a sine as a complex number");
    if (family == FLAT)
        add_choice(shapes, CACHE_LAYOUT, "cache_layout", "trtllm", "one row of all");
    if (family == TABLE || family == ANGLES)
        read_doubled(shapes, list, r);
    if (family == FLAT && shapes->head_dim > 0)
        add_positions(shapes, elements / shapes->head_dim);
    else if (family != FLAT)
        add_positions(shapes, r->n);
    shapes->angles = family == ANGLES;
    if (shapes->angles)
        say(shapes, "angles are compared by their cosines and sines");
}

static enum family name_as_planned(pe_stored_list *list)
{
    for (size_t t = 0; t < list->n; t++)
        if (kind_of(&list->tensor[t]) < PE_LEN(kinds))
            set_name(&list->tensor[t], kinds[kind_of(&list->tensor[t])].plan);
    return family_of(&list->tensor[0]);
}

static void read_rope(pe_claim_shapes *shapes, const pe_resource **resource, pe_stored_list *list)
{
    rows r;
    if (list->n == 1 && family_of(&list->tensor[0]) == NONE && !was_given(shapes, CACHE_LAYOUT))
        name_lone(shapes, &list->tensor[0]);
    const enum family family = name_as_planned(list);
    if (family == LADDER) {
        *resource = pe_registry_find("rope/frequencies");
        add_size(shapes, HEAD_DIM, "head_dim", 2 * list->tensor[0].elements);
        return;
    }
    if (family != NONE && family != VECTORS &&
        read_rows(&list->tensor[0], family == COMPLEX ? 2 : 1, &r))
        read_family(shapes, family, list, &r);
    for (size_t t = 0; t < list->n && shapes->onnx && family == TABLE; t++)
        set_name(&list->tensor[t],
                 strcmp(list->tensor[t].name, "cos") == 0 ? "cos_cache" : "sin_cache");
}

/* ---- rotary tables of patches ---- */

/* Does each number stand twice in a row, bit for bit: one half after the other, or neighbours? */
static bool is_doubled(const rows *r, bool halves)
{
    for (size_t k = 0; k < r->n; k++) {
        pe_turn_spend(r->width);
        for (size_t i = 0; i < r->width / 2; i++) {
            const double a = halves ? at(r, k, i) : at(r, k, 2 * i);
            const double b = halves ? at(r, k, i + r->width / 2) : at(r, k, 2 * i + 1);
            if (!(a == b))
                return false;
        }
    }
    return r->width % 2 == 0;
}

/* Keep one of the two, in the place of the numbers. */
static void halve(pe_stored *tensor, const rows *r, bool halves)
{
    const size_t each = pe_dtype_bytes(tensor->dtype), half = r->width / 2;
    unsigned char *data = (unsigned char *)(uintptr_t)tensor->data; /* the body's, or the claim's */
    for (size_t k = 0; k < r->n; k++)
        for (size_t i = 0; i < half; i++)
            memmove(data + (k * half + i) * each,
                    data + (k * r->width + (halves ? i : 2 * i)) * each, each);
    tensor->shape.dim[tensor->shape.ndim - 1] = half;
    tensor->elements /= 2;
    tensor->bytes /= 2;
}

/* Models keep cos and sin of head_dim columns; the plan has one for each pair. Cosines of many
 * patches are not equal by chance. */
static void halve_doubled(pe_claim_shapes *shapes, pe_stored_list *list)
{
    rows r;
    bool halves = true;
    for (size_t t = 0; t < list->n; t++) {
        pe_stored *tensor = &list->tensor[t];
        if (strcmp(tensor->name, "row_col") == 0 || tensor->fortran || !read_rows(tensor, 1, &r) ||
            (shapes->head_dim != 0 && r.width != shapes->head_dim))
            continue;
        halves = is_doubled(&r, true);
        if (!halves && !is_doubled(&r, false))
            continue;
        halve(tensor, &r, halves);
        say(shapes, "each number of %s stands twice in a row", tensor->name);
    }
}

/* Angles are larger than 1 somewhere; cosines begin with 1. */
static void name_lone_of_patches(pe_claim_shapes *shapes, pe_stored *tensor)
{
    rows r;
    if (family_of(tensor) != NONE || !read_rows(tensor, 1, &r))
        return;
    const char *name = amplitude_of(&r) > 1.01 ? "angles" : at(&r, 0, 0) > 0.5 ? "cos" : "sin";
    set_name(tensor, name);
    say(shapes, "the table is read as %s, from its numbers", name);
}

static void read_patches(pe_claim_shapes *shapes, pe_stored_list *list)
{
    rows r;
    if (list->n == 1)
        name_lone_of_patches(shapes, &list->tensor[0]);
    halve_doubled(shapes, list);
    const pe_stored *first = &list->tensor[0];
    if (family_of(first) != NONE && read_rows(first, 1, &r))
        add_size(shapes, HEAD_DIM, "head_dim", 2 * r.width);
}

/* ---- other tables: parameters that are sizes ---- */

static const struct {
    const char *resource;
    size_t axes; /* axes of one element in front are left out */
    struct {
        unsigned which;
        const char *name; /* NULL: positions */
        size_t times;
    } axis[3];
} sizes[] = {
    {"sinusoidal", 2, {{POSITIONS, NULL, 1}, {D_MODEL, "d_model", 1}}},
    {"rope/frequencies", 1, {{HEAD_DIM, "head_dim", 2}}},
    {"alibi/slopes", 1, {{NUM_HEADS, "num_heads", 1}}},
    {"alibi/bias",
     3,
     {{NUM_HEADS, "num_heads", 1}, {QUERIES, "query_length", 1}, {KEYS, "key_length", 1}}},
    {"t5/buckets", 2, {{QUERIES, "query_length", 1}, {KEYS, "key_length", 1}}},
};

/* The last `axes` axes: those before them have one element, or for two axes one between them. */
static bool fit_axes(const pe_stored *tensor, size_t axes, size_t *out)
{
    rows r;
    const pe_shape *shape = &tensor->shape;
    if (axes == 2 && shape->ndim >= 2 && read_rows(tensor, 1, &r)) {
        out[0] = r.n;
        out[1] = r.width;
        return true;
    }
    for (size_t d = 0; d + axes < shape->ndim; d++)
        if (shape->dim[d] != 1)
            return false;
    for (size_t d = 0; d < axes && shape->ndim >= axes; d++)
        out[d] = shape->dim[shape->ndim - axes + d];
    return shape->ndim >= axes;
}

/* Their tables have one tensor, and any name is its name. */
static void unname(pe_claim_shapes *shapes, const char *resource, pe_stored *tensor)
{
    if (strcmp(resource, "rope/frequencies") == 0 || tensor->name[0] == '\0')
        return;
    if (strcmp(tensor->name, "table") != 0 && strcmp(tensor->name, "data") != 0 &&
        strcmp(tensor->name, "bias") != 0 && strcmp(tensor->name, "slopes") != 0)
        say(shapes, "%s is read as the table", tensor->name);
    tensor->name[0] = '\0';
}

/* Where a given size is another one, axes stand in another order, and tell nothing. */
static bool contradicts(const pe_claim_shapes *shapes, size_t row, const size_t *of)
{
    for (size_t a = 0; a < sizes[row].axes; a++) {
        const unsigned which = sizes[row].axis[a].which;
        const size_t given = which == NUM_HEADS ? shapes->num_heads
                             : which == QUERIES ? shapes->query_length
                                                : 0;
        if (sizes[row].axis[a].name != NULL && given != 0 && of[a] != given && of[a] != 1)
            return true;
    }
    return false;
}

static void read_sizes(pe_claim_shapes *shapes, const char *resource, pe_stored *tensor, bool lone)
{
    for (size_t s = 0; s < PE_LEN(sizes); s++) {
        size_t of[3] = {0};
        if (strcmp(sizes[s].resource, resource) != 0 || !fit_axes(tensor, sizes[s].axes, of))
            continue;
        if (lone)
            unname(shapes, resource, tensor);
        for (size_t a = 0; a < sizes[s].axes && !contradicts(shapes, s, of); a++)
            if (sizes[s].axis[a].name == NULL)
                add_positions(shapes, of[a]);
            else
                add_size(shapes, sizes[s].axis[a].which, sizes[s].axis[a].name,
                         of[a] * sizes[s].axis[a].times);
    }
}

void pe_claim_shapes_read(pe_claim_shapes *shapes, const pe_resource **resource,
                          pe_stored_list *tensors)
{
    if (tensors->n == 0)
        return;
    if (is_table(*resource))
        read_rope(shapes, resource, tensors);
    else if (strcmp((*resource)->name, "rope/grid") == 0)
        read_patches(shapes, tensors);
    else
        read_sizes(shapes, (*resource)->name, &tensors->tensor[0], tensors->n == 1);
}

/* ---- angles ---- */

/* Whether the attention factor is in angles: never. */
static void drop_attention_factor(pe_claim *claim)
{
    const pe_value *type = pe_values_find(&claim->values, "rope_type");
    const char *name = type != NULL && type->present ? type->param->choices[type->choice] : "";
    if (strcmp(name, "yarn") == 0 || strcmp(name, "longrope") == 0)
        pe_values_set_real(&claim->values, "attention_factor", 1);
}

pe_status pe_claim_shapes_take_angles(const pe_claim_shapes *shapes, pe_claim *claim,
                                      pe_problem *why)
{
    if (!shapes->angles || claim->n_uploads != 1)
        return PE_OK;
    pe_upload *cosines = &claim->uploads[0], *sines = &claim->uploads[1];
    const pe_array angles = cosines->array;
    const size_t bytes = pe_dtype_bytes(angles.dtype);
    pe_status status = pe_array_make(angles.dtype, &angles.shape, &sines->array, why);
    if (status != PE_OK)
        return status;
    claim->n_uploads = 2;
    status = pe_array_make(angles.dtype, &angles.shape, &cosines->array, why);
    if (status != PE_OK)
        cosines->array = (pe_array){0};
    for (size_t e = 0; e < angles.elements && status == PE_OK; e++) {
        const double x = pe_dtype_load(angles.dtype, (const char *)angles.data + e * bytes);
        pe_dtype_store(angles.dtype, cos(x), (char *)cosines->array.data + e * bytes);
        pe_dtype_store(angles.dtype, sin(x), (char *)sines->array.data + e * bytes);
    }
    snprintf(cosines->name, sizeof cosines->name, "cos");
    snprintf(sines->name, sizeof sines->name, "sin");
    drop_attention_factor(claim);
    pe_array_free(
        &(pe_array){angles.dtype, angles.shape, angles.elements, angles.data, angles.borrowed});
    return status;
}
