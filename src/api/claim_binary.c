/* SPDX-License-Identifier: MIT */
/* claim_binary.c - a claim from tensors in a binary body and its query string. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/claim.h"
#include "api/claim_groups.h"
#include "api/claim_shapes.h"
#include "api/meant_name.h"
#include "api/tensor_rows.h"
#include "text/scan.h"

/* Parameters that are not the resource's. */
enum { ENCODING, TOLERANCE, SEQ_AXIS, LAYER_TYPE, OWN };

/* Bytes of a model's name. */
#define MODEL_BYTES 128

static const char *const own_names[OWN] = {[ENCODING] = "encoding",
                                           [TOLERANCE] = "tolerance",
                                           [SEQ_AXIS] = "seq_axis",
                                           [LAYER_TYPE] = "layer_type"};

/* Tensors of a body: a state dict has many. */
#define TENSORS_MAX ((size_t)4096)

/* A claim of which the query string and the body are read in turn. */
typedef struct reading {
    pe_claim *claim;
    const pe_binary_body *body;
    const pe_read_limits *limits;
    char own[OWN][64];
    char model[MODEL_BYTES]; /* "" where none is named */
    bool seen[OWN];
    bool has_positions, has_head_dim, has_dtype;
    pe_buffer rest; /* the resource's part of the query string, '&' after each parameter */
    const pe_resource *claimed;
    pe_claim_shapes shapes;
    pe_stored_list tensors; /* owned */
    size_t n_groups;
    pe_claim_group groups[PE_CLAIM_GROUPS_MAX];
} reading;

/* Names of encodings need decoding for the slash alone. False: there is no room. */
static bool copy_value(pe_slice value, char *out, size_t room)
{
    size_t n = 0;
    for (size_t i = 0; i < value.bytes; i++) {
        if (n + 1 == room)
            return false;
        const bool slash = value.bytes - i >= 3 && (memcmp(value.text + i, "%2F", 3) == 0 ||
                                                    memcmp(value.text + i, "%2f", 3) == 0);
        out[n++] = slash ? '/' : value.text[i];
        i += slash ? 2 : 0;
    }
    out[n] = '\0';
    return true;
}

static pe_status keep_own(reading *r, size_t which, pe_slice value, pe_problem *why)
{
    const char *name = own_names[which];
    if (r->seen[which])
        return pe_query_fail_repeated(name, name, why);
    r->seen[which] = true;
    if (!copy_value(value, r->own[which], sizeof r->own[which]))
        return pe_fail(why, PE_MALFORMED_REQUEST, name, "%s must have at most %zu characters", name,
                       sizeof r->own[which] - 1);
    return PE_OK;
}

/* What is given need not be inferred. */
static void saw(reading *r, const char *name, pe_slice text)
{
    pe_claim_shapes_saw(&r->shapes, name, text);
    r->has_positions |= strcmp(name, "positions") == 0;
    r->has_head_dim |= strcmp(name, "head_dim") == 0 || strcmp(name, "model") == 0;
    r->has_dtype |= strcmp(name, "dtype") == 0;
}

/* A parameter of the claim, or one that the resource will read. */
static pe_status keep_pair(reading *r, pe_slice pair, pe_problem *why)
{
    const char *equals = memchr(pair.text, '=', pair.bytes);
    const pe_slice name = {pair.text, equals != NULL ? (size_t)(equals - pair.text) : pair.bytes};
    const size_t value = equals != NULL ? name.bytes + 1 : pair.bytes;
    for (size_t o = 0; o < OWN; o++)
        if (pe_slice_is(name, own_names[o]))
            return keep_own(r, o, (pe_slice){pair.text + value, pair.bytes - value}, why);
    char shown[32];
    snprintf(shown, sizeof shown, "%.*s", (int)(name.bytes < 31 ? name.bytes : 31), name.text);
    const pe_slice text = {pair.text + value, pair.bytes - value};
    const char *meant;
    saw(r, shown, text);
    for (size_t k = 0; (meant = pe_meant_name_of_any(shown, k)) != NULL; k++)
        saw(r, meant, text);
    if (pe_slice_is(name, "model"))
        (void)copy_value((pe_slice){pair.text + value, pair.bytes - value}, r->model,
                         sizeof r->model);
    pe_buffer_add(&r->rest, pair.text, pair.bytes);
    pe_buffer_str(&r->rest, "&");
    return PE_OK;
}

static pe_status read_string(reading *r, pe_problem *why)
{
    const pe_slice string = r->body->string;
    pe_status status = PE_OK;
    pe_problem mistake;
    for (size_t at = 0; at < string.bytes;) {
        const char *text = string.text + at, *end = memchr(text, '&', string.bytes - at);
        const size_t bytes = end != NULL ? (size_t)(end - text) : string.bytes - at;
        const pe_slice pair = {text, bytes};
        status = pe_problem_collect(status, keep_pair(r, pair, &mistake), &mistake, why);
        at += bytes + 1;
    }
    return status;
}

static pe_status own_number(const reading *r, size_t which, double low, double *out,
                            pe_problem *why)
{
    size_t used = 0;
    const char *text = r->own[which], *name = own_names[which];
    if (!r->seen[which])
        return PE_OK;
    if (pe_scan_number(text, strlen(text), out, &used) != PE_SCAN_OK || used != strlen(text))
        return pe_fail(why, PE_MALFORMED_REQUEST, name, "%s must be a number, got \"%.40s\"", name,
                       text);
    if (*out < low)
        return pe_fail(why, PE_INVALID_PARAMETER, name, "%s must be at least %g, got %.17g", name,
                       low, *out);
    return PE_OK;
}

static pe_status read_tolerance(reading *r, pe_problem *why)
{
    return own_number(r, TOLERANCE, 0, &r->claim->tolerance, why);
}

static pe_status read_axis(reading *r, pe_problem *why)
{
    double axis = -2;
    const pe_status status = own_number(r, SEQ_AXIS, -PE_MAX_DIMS, &axis, why);
    return status == PE_OK ? pe_claim_set_axis(r->claim, axis, why) : status;
}

/* ---- tensors ---- */

/* Files of NumPy, each a tensor with the name of its part. */
static pe_status read_parts(reading *r, pe_problem *why)
{
    const pe_binary_body *body = r->body;
    pe_stored_list *list = &r->tensors;
    for (; list->n < body->n_parts; list->n++) {
        pe_stored *tensor = &list->tensor[list->n];
        const pe_binary_part *from = &body->part[list->n];
        const pe_status status = pe_npy_file_read(from->data, r->limits->max_elements, tensor, why);
        if (status != PE_OK)
            return status;
        snprintf(tensor->name, sizeof tensor->name, "%s", from->name);
    }
    return PE_OK;
}

static pe_status fail_begun(pe_problem *why)
{
    return pe_fail(why, PE_INVALID_PARAMETER, "table", "the table is read when all of it is there");
}

static bool is_rows(const pe_stored *tensor, pe_tensor_rows *rows)
{
    return tensor->dtype != PE_DTYPES && tensor->shape.ndim >= 2 &&
           pe_tensor_rows_read(tensor, 1, rows) && rows->n >= 2 &&
           rows->width >= (tensor->shape.ndim == 2 ? 2 : 3) && /* two may be a complex number */
           !tensor->fortran && !tensor->swapped && !tensor->wide && !tensor->is_complex;
}

/* Tensors of rows, of which two rows are there, or are waited for: one tensor, or cosines and
 * sines. */
static pe_status begin_rows(reading *r, const pe_binary_body *body, pe_problem *why)
{
    const pe_stored *tensor = r->tensors.tensor;
    const pe_status status = pe_binary_body_read(body, r->limits->max_elements, &r->tensors, why);
    if (status != PE_OK)
        return status;
    size_t needed = r->tensors.n > 0 ? 0 : SIZE_MAX;
    for (size_t t = 0; t < r->tensors.n; t++) {
        const size_t first = (size_t)(tensor[t].data - (const unsigned char *)body->data);
        pe_tensor_rows rows;
        if (!is_rows(&tensor[t], &rows) ||
            (r->tensors.n > 1 && !pe_claim_are_cosines_and_sines(&r->tensors)))
            return fail_begun(why);
        const size_t two = first + 2 * rows.width * pe_stored_size(&tensor[t]);
        needed = two > needed ? two : needed;
    }
    if (needed <= body->bytes)
        return PE_OK;
    if (needed - body->bytes < body->awaited)
        *body->needed = needed;
    return fail_begun(why);
}

static pe_status read_tensors(reading *r, pe_problem *why)
{
    pe_binary_body body = *r->body;
    body.takes_complex = true;
    if (body.n_parts > 1)
        return read_parts(r, why);
    if (body.awaited > 0)
        return begin_rows(r, &body, why);
    return pe_binary_body_read(&body, r->limits->max_elements, &r->tensors, why);
}

/* The steps that follow a refusal find no tensor: they would make room for numbers, or read some,
 * that are not there. */
static pe_status read_body(reading *r, pe_problem *why)
{
    r->tensors = (pe_stored_list){calloc(TENSORS_MAX, sizeof(pe_stored)), TENSORS_MAX, 0};
    if (r->tensors.tensor == NULL)
        return pe_fail_memory(why);
    const pe_status status = read_tensors(r, why);
    if (status != PE_OK)
        r->tensors.n = 0;
    return status;
}

static const pe_stored *find(const pe_stored_list *list, const char *name)
{
    for (size_t t = 0; t < list->n; t++)
        if (strcmp(list->tensor[t].name, name) == 0)
            return &list->tensor[t];
    return NULL;
}

/* The element type of the numbers: indices beside them are integers whatever the others are. */
static pe_dtype dtype_of(const pe_stored_list *list)
{
    for (size_t t = 0; t < list->n; t++)
        if (list->tensor[t].dtype != PE_INT32)
            return list->tensor[t].dtype;
    return PE_INT32;
}

static pe_status check_axis(reading *r, pe_problem *why)
{
    bool vectors = false;
    for (size_t g = 0; g < r->n_groups; g++)
        vectors |= r->groups[g].vectors;
    return !r->seen[SEQ_AXIS] || vectors || r->claim->resource == NULL
               ? PE_OK
               : pe_fail(why, PE_INVALID_PARAMETER, "seq_axis",
                         "seq_axis is an axis of inputs, which are not given");
}

/* Vectors come as inputs and rotated, and tell what the query string may leave out. */
static pe_status read_vectors(const reading *r, const pe_claim *claim, const pe_stored_list *list,
                              pe_buffer *rest, pe_problem *why)
{
    const pe_stored *inputs = find(list, "inputs"), *rotated = find(list, "rotated");
    if (inputs == NULL || rotated == NULL || list->n != 2)
        return pe_fail(why, PE_MISSING_PARAMETER, inputs == NULL ? "inputs" : "rotated",
                       "rotated vectors must come as two tensors, inputs and rotated");
    const pe_shape *shape = &inputs->shape;
    const int64_t axis = pe_claim_axis(claim, shape);
    if (inputs->elements == 0 || shape->ndim < 2 || axis < 0 || axis + 1 >= (int64_t)shape->ndim)
        return pe_fail(why, PE_INVALID_PARAMETER, "inputs",
                       "inputs must have channels along the last axis and tokens along another");
    if (!r->has_head_dim)
        pe_buffer_format(rest, "head_dim=%zu&", shape->dim[shape->ndim - 1]);
    if (!r->has_positions && claim->resource->turned == NULL)
        pe_buffer_format(rest, "positions=0:%zu&", shape->dim[axis]);
    return PE_OK;
}

/* The lone tensor of a table goes by these names, too. */
static bool is_nameless(const char *name)
{
    return strcmp(name, "data") == 0 || strcmp(name, "table") == 0 || strcmp(name, "bias") == 0 ||
           strcmp(name, "slopes") == 0;
}

static pe_status check_type(const pe_stored *from, pe_dtype dtype, pe_problem *why)
{
    if (from->dtype == PE_DTYPES)
        return pe_fail(
            why, PE_INVALID_PARAMETER, "",
            "the element type of tensor%s%s must be one of F32, F64, F16, BF16, I32, I64, C64",
            from->name[0] != '\0' ? " " : "", from->name);
    if (dtype == PE_INT32 && from->dtype != PE_INT32)
        return pe_fail(why, PE_INVALID_PARAMETER, "dtype",
                       "dtype is int32, so the body's numbers must be int32, got %s",
                       pe_dtype_name(from->dtype));
    return PE_OK;
}

/* Several names mean one tensor: q and k are both inputs. */
static bool was_taken(const pe_claim *claim, const char *name)
{
    bool taken = claim->inputs.data != NULL && strcmp(name, "inputs") == 0;
    for (size_t u = 0; u < claim->n_uploads; u++)
        taken |= strcmp(claim->uploads[u].name, name) == 0;
    return taken;
}

static pe_status take_tensor(pe_claim *claim, const pe_stored *from, bool lone, pe_dtype dtype,
                             pe_problem *why)
{
    const bool inputs = strcmp(from->name, "inputs") == 0;
    if (was_taken(claim, from->name))
        return pe_fail(why, PE_INVALID_PARAMETER, from->name,
                       "two tensors of the body are %.64s: verify one at a time", from->name);
    if (!inputs && claim->n_uploads == PE_UPLOADS_MAX)
        return pe_fail(why, PE_INVALID_PARAMETER, "table", "the body has more than %d tensors",
                       PE_UPLOADS_MAX);
    pe_status status = check_type(from, dtype, why);
    if (status != PE_OK)
        return status;
    pe_upload *upload = &claim->uploads[claim->n_uploads];
    pe_array *array = inputs ? &claim->inputs : &upload->array;
    status = pe_stored_array(from, dtype, array, why);
    if (status != PE_OK || inputs)
        return status;
    snprintf(upload->name, sizeof upload->name, "%.63s",
             lone && is_nameless(from->name) ? "" : from->name);
    claim->n_uploads++;
    return PE_OK;
}

/* ---- the claim ---- */

/* Is the parameter of a pair among those of a query string, each with an '&' behind it? */
static bool is_given(pe_slice string, pe_slice pair)
{
    const pe_slice name = pe_slice_next(&pair, '=');
    while (string.bytes > 0) {
        pe_slice given = pe_slice_next(&string, '&');
        const pe_slice other = pe_slice_next(&given, '=');
        if (other.bytes == name.bytes && memcmp(other.text, name.text, name.bytes) == 0)
            return true;
    }
    return false;
}

/* Values of a configuration but those that the query string gives, which come behind them. */
static void merge(const pe_buffer *configured, pe_buffer *rest)
{
    pe_buffer both = {0};
    pe_slice left = pe_buffer_slice(configured);
    while (left.bytes > 0) {
        const pe_slice pair = pe_slice_next(&left, '&');
        if (!is_given(pe_buffer_slice(rest), pair))
            pe_buffer_format(&both, "%.*s&", (int)pair.bytes, pair.text);
    }
    pe_buffer_add(&both, pe_buffer_slice(rest).text, rest->bytes);
    both.failed |= rest->failed || configured->failed;
    pe_buffer_free(rest);
    *rest = both;
}

/* A configuration says what the query string does not. */
static pe_status take_config(reading *r, pe_slice json, pe_problem *why)
{
    pe_model *model;
    const pe_model_layers *layers;
    pe_buffer configured = {0};
    pe_claim_shapes_saw(&r->shapes, "model", json);
    const pe_status status = pe_claim_read_config(json, r->own[LAYER_TYPE], &model, &layers, why);
    if (status == PE_OK) {
        r->has_head_dim = true;
        pe_values_query(&layers->values, &configured);
        merge(&configured, &r->rest);
        pe_buffer_free(&configured);
        if (!r->seen[ENCODING])
            snprintf(r->own[ENCODING], sizeof r->own[ENCODING], "%s", model->encoding);
    }
    pe_model_free(model);
    return status == PE_OK && r->rest.failed ? pe_fail_memory(why) : status;
}

/* Where no encoding is named, that of the model; or a file may hold the configuration of its
 * model. */
static pe_status read_config(reading *r, pe_problem *why)
{
    char *text = NULL;
    const pe_binary_body *body = r->body;
    if (body->config.text != NULL)
        return take_config(r, body->config, why);
    if (r->model[0] != '\0' && !r->seen[ENCODING]) {
        const pe_status status =
            pe_claim_encoding_of_model(r->model, r->own[ENCODING], sizeof r->own[ENCODING], why);
        r->seen[ENCODING] = status == PE_OK;
        if (status != PE_OK)
            return status;
    }
    if (r->seen[LAYER_TYPE] && r->seen[ENCODING])
        pe_buffer_format(&r->rest, "layer_type=%s&", r->own[LAYER_TYPE]); /* of a model by name */
    if (r->tensors.n == 0 || strcmp(body->media_type, "application/vnd.safetensors") != 0)
        return PE_OK;
    const pe_slice file = {body->data, body->bytes};
    pe_status status = pe_safetensors_file_metadata(file, "config", &text, why);
    if (status == PE_OK && text == NULL)
        status = pe_safetensors_file_metadata(file, "config.json", &text, why);
    if (status == PE_OK && text != NULL && r->seen[ENCODING]) {
        pe_buffer_str(&r->shapes.said,
                      "config in the metadata was not read, for encoding is given\n");
    } else if (status == PE_OK && text != NULL) {
        status = take_config(r, pe_slice_of(text), why);
        pe_buffer_str(&r->shapes.said, "the parameters are those of config in the metadata\n");
    }
    free(text);
    return status;
}

#define ALIGNED 8 /* of the widest element */

/* Move a run of bytes to an aligned place before it. How far it went. */
static size_t move_back(const unsigned char *data, size_t bytes)
{
    unsigned char *at = (unsigned char *)(uintptr_t)data; /* the body's, which may change */
    const size_t by = (uintptr_t)at % ALIGNED;
    if (by > 0)
        memmove(at - by, at, bytes);
    return by;
}

/* Headers of files have been read, and what is behind them is moved onto their ends: numbers that
 * stand at their places are not copied. */
static pe_status align_tensors(reading *r, pe_problem *why)
{
    const pe_binary_body *body = r->body;
    pe_stored *tensor = r->tensors.tensor;
    const size_t n = r->tensors.n;
    const unsigned char *file = body->data, *first = n > 0 ? tensor[0].data : NULL;
    (void)why;
    for (size_t t = 0; t < n; t++) {
        if (tensor[t].data == NULL || tensor[t].elements == 0)
            return PE_OK; /* refused, or not worth it */
        if (body->n_parts > 1)
            tensor[t].data -= move_back(tensor[t].data, tensor[t].bytes);
        first = tensor[t].data < first ? tensor[t].data : first;
    }
    if (n == 0 || body->n_parts > 1 || body->awaited > 0 || first < file + ALIGNED)
        return PE_OK; /* done, or not to be done, or there is no header */
    const size_t by = move_back(first, (size_t)(file + body->bytes - first));
    for (size_t t = 0; t < n; t++)
        tensor[t].data -= by;
    return PE_OK;
}

/* Are all numbers of a table looked at to find out what it is? */
static bool reads_all(const pe_resource *resource)
{
    return strcmp(resource->name, "rope/grid") == 0;
}

static pe_status read_resource(reading *r, pe_problem *why)
{
    const pe_status status =
        pe_claim_set_resource(r->claim, r->own[ENCODING], find(&r->tensors, "slopes") != NULL, why);
    if (status == PE_OK && r->body->awaited > 0 && reads_all(r->claim->resource))
        return fail_begun(why);
    if (status == PE_OK && r->tensors.n > 0)
        r->n_groups = pe_claim_groups_sort(&r->shapes.said, &r->shapes.doubts, r->claim->resource,
                                           &r->tensors, r->groups);
    return status;
}

/* What was given of the claimed table, as far as another one has it: inverse frequencies have no
 * positions. */
static pe_status copy_rest(const reading *r, const pe_resource *resource, pe_buffer *rest,
                           pe_problem *why)
{
    pe_values values;
    pe_slice left = pe_buffer_slice(&r->rest);
    const bool same = resource == r->claimed;
    const pe_status status = pe_values_make(resource->param_sets, &values, why);
    if (status != PE_OK)
        return status;
    while (left.bytes > 0) {
        const pe_slice pair = pe_slice_next(&left, '&');
        pe_slice name = pair;
        char text[64];
        name = pe_slice_next(&name, '=');
        snprintf(text, sizeof text, "%.*s", (int)(name.bytes < 63 ? name.bytes : 63), name.text);
        if (same || pe_values_called(&values, text) != NULL)
            pe_buffer_format(rest, "%.*s&", (int)pair.bytes, pair.text);
    }
    pe_values_free(&values);
    return PE_OK;
}

/* The query string of one group: what was given, and what its tensors tell. */
static pe_status complete(reading *r, bool vectors, pe_claim *claim, pe_stored_list *list,
                          pe_buffer *rest, pe_problem *why)
{
    pe_claim_shapes *shapes = &r->shapes;
    const pe_resource *resource = claim->resource;
    shapes->n_added = 0;
    pe_claim_shapes_read(shapes, &resource, list);
    pe_status status = copy_rest(r, resource, rest, why);
    if (status != PE_OK)
        return status;
    for (size_t a = 0; a < shapes->n_added; a++)
        pe_buffer_format(rest, "%s=%s&", shapes->added[a].name, shapes->added[a].value);
    if (vectors)
        status = read_vectors(r, claim, list, rest, why);
    claim->resource = resource;
    const pe_dtype of_body = dtype_of(list);
    if (!r->has_dtype && of_body != PE_INT32 && of_body != PE_DTYPES)
        pe_buffer_format(rest, "dtype=%s&", pe_dtype_name(of_body));
    return status == PE_OK && rest->failed ? pe_fail_memory(why) : status;
}

/* The resource's parameters, and the tensors in the element type that they say. */
static pe_status read_values(const reading *r, pe_claim *claim, const pe_buffer *rest,
                             const pe_stored_list *list, pe_problem *why)
{
    pe_query query;
    const size_t bytes = rest->bytes > 0 ? rest->bytes - 1 : 0; /* without the last '&' */
    pe_status status = pe_query_string_parse(
        claim->resource, (pe_slice){pe_buffer_slice(rest).text, bytes}, r->limits, &query, why);
    if (status != PE_OK)
        return status;
    const pe_dtype dtype = pe_query_dtype(&query);
    status = pe_claim_take_query(claim, &query, why);
    for (size_t t = 0; t < list->n && status == PE_OK; t++)
        status = take_tensor(claim, &list->tensor[t], list->n == 1, dtype, why);
    if (status == PE_OK && r->shapes.angles && r->body->awaited > 0)
        return fail_begun(why);
    return status == PE_OK ? pe_claim_shapes_take_angles(&r->shapes, claim, why) : status;
}

static pe_status read_group(reading *r, const pe_claim_group *group, pe_claim *claim,
                            pe_problem *why)
{
    pe_buffer rest = {0};
    pe_stored_list list = {r->tensors.tensor + group->first, group->n, group->n};
    for (size_t t = 0; t < list.n && r->n_groups > 1; t++) {
        const size_t used = strlen(claim->sent);
        snprintf(claim->sent + used, sizeof claim->sent - used, "%s%s", t > 0 ? ", " : "",
                 list.tensor[t].name);
    }
    pe_status status = complete(r, group->vectors, claim, &list, &rest, why);
    if (status == PE_OK)
        status = read_values(r, claim, &rest, &list, why);
    pe_buffer_free(&rest);
    return status;
}

/* One claim for each group of tensors; all have what the query string says. */
static pe_status read_groups(reading *r, pe_problem *why)
{
    pe_claim *claim = r->claim;
    const pe_claim given = *claim;
    if (given.resource == NULL)
        return PE_OK; /* was told */
    r->claimed = given.resource;
    pe_status status = PE_OK;
    for (size_t g = 0; g < r->n_groups && status == PE_OK; g++) {
        if (g > 0) {
            claim->next = malloc(sizeof *claim->next);
            if (claim->next == NULL)
                return pe_fail_memory(why);
            claim = claim->next;
            *claim = given;
        }
        status = read_group(r, &r->groups[g], claim, why);
    }
    r->claim->guessed = r->shapes.guessed;
    r->claim->said = r->shapes.said;
    r->claim->doubts = r->shapes.doubts;
    r->shapes.said = r->shapes.doubts = (pe_buffer){0};
    return status;
}

pe_status pe_claim_binary_parse(const pe_binary_body *body, const pe_read_limits *limits,
                                pe_claim *out, pe_problem *why)
{
    static pe_status (*const steps[])(reading * r, pe_problem * why) = {
        read_string,   read_tolerance, read_axis,  read_body,   read_config,
        align_tensors, read_resource,  check_axis, read_groups,
    };
    pe_problem mistake;
    pe_claim claim = PE_CLAIM_EMPTY;
    reading r = {.claim = &claim, .body = body, .limits = limits};
    pe_status status = PE_OK;
    for (size_t i = 0; i < PE_LEN(steps) && !pe_status_is_ours(status); i++)
        status = pe_problem_collect(status, steps[i](&r, &mistake), &mistake, why);
    pe_buffer_free(&r.rest);
    pe_buffer_free(&r.shapes.said);
    pe_buffer_free(&r.shapes.doubts);
    free(r.tensors.tensor);
    return pe_claim_finish(&claim, status, out, why);
}
