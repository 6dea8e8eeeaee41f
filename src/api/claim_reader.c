/* SPDX-License-Identifier: MIT */
/* claim_reader.c - claims from what was said of a list of tensors, whatever they came in. */
#include "api/claim_reader.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/suggestion.h"
#include "encodings/registry.h"
#include "text/scan.h"

const char *const pe_claim_own_names[PE_CLAIM_OWN] = {[PE_CLAIM_ENCODING] = "encoding",
                                                      [PE_CLAIM_LAYER_TYPE] = "layer_type",
                                                      [PE_CLAIM_TOLERANCE] = "tolerance",
                                                      [PE_CLAIM_SEQ_AXIS] = "seq_axis",
                                                      [PE_CLAIM_CONFIG] = "config"};

void pe_claim_reader_note(pe_claim_reader *r, pe_status status, const pe_problem *mistake)
{
    r->failed = pe_problem_collect(r->failed, status, mistake, r->why);
}

void pe_claim_reader_do(pe_claim_reader *r, pe_claim_step *step)
{
    pe_problem mistake;
    if (!pe_status_is_ours(r->failed))
        pe_claim_reader_note(r, step(r, &mistake), &mistake);
}

pe_status pe_claim_reader_make_room(pe_claim_reader *r, size_t tensors, pe_problem *why)
{
    r->tensors = (pe_stored_list){calloc(tensors, sizeof(pe_stored)), tensors, 0};
    return r->tensors.tensor != NULL ? PE_OK : pe_fail_memory(why);
}

/* ---- what was said ---- */

static void saw_as(pe_claim_reader *r, const char *name, pe_slice value)
{
    pe_claim_shapes_saw(&r->shapes, name, value);
    r->has_positions |= strcmp(name, "positions") == 0;
    r->has_head_dim |= strcmp(name, "head_dim") == 0 || strcmp(name, "model") == 0;
    r->has_dtype |= strcmp(name, "dtype") == 0;
    r->has_seq_len |= strcmp(name, "seq_len") == 0;
}

void pe_claim_reader_saw(pe_claim_reader *r, const char *name, pe_slice value)
{
    const char *meant;
    saw_as(r, name, value);
    for (size_t k = 0; (meant = pe_suggestion_of_any(name, k)) != NULL; k++)
        saw_as(r, meant, value);
}

/* A parameter as the source would have it. */
static void add(const pe_claim_reader *r, pe_buffer *rest, const char *name, const char *value,
                bool is_text)
{
    pe_buffer_format(rest,
                     r->body != NULL ? "%s=%s&"
                     : is_text       ? "\"%s\":\"%s\","
                                     : "\"%s\":%s,",
                     name, value);
}

static pe_status read_number(const pe_claim_reader *r, size_t which, double low, double *out,
                             pe_problem *why)
{
    size_t used = 0;
    const pe_slice text = r->own[which];
    const char *name = pe_claim_own_names[which];
    if (text.text == NULL)
        return PE_OK;
    const bool is_number =
        pe_scan_number(text.text, text.bytes, out, &used) == PE_SCAN_OK && used == text.bytes;
    if (is_number && *out >= low)
        return PE_OK;
    return pe_fail(why, r->body == NULL || is_number ? PE_INVALID_PARAMETER : PE_MALFORMED_REQUEST,
                   name, "%s must be a number%s, got %.*s", name, low == 0 ? " of at least 0" : "",
                   PE_SHOWN(text));
}

pe_status pe_claim_reader_tolerance(pe_claim_reader *r, pe_problem *why)
{
    return read_number(r, PE_CLAIM_TOLERANCE, 0, &r->claim.tolerance, why);
}

pe_status pe_claim_reader_axis(pe_claim_reader *r, pe_problem *why)
{
    double axis = -2;
    const pe_status status = read_number(r, PE_CLAIM_SEQ_AXIS, -PE_MAX_DIMS, &axis, why);
    return status == PE_OK ? pe_claim_set_axis(&r->claim, axis, why) : status;
}

/* ---- a configuration, or a model ---- */

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
static void merge(const pe_values *values, pe_buffer *rest)
{
    pe_buffer both = {0}, configured = {0};
    pe_values_query(values, &configured);
    pe_slice left = pe_buffer_slice(&configured);
    while (left.bytes > 0) {
        const pe_slice pair = pe_slice_next(&left, '&');
        if (!is_given(pe_buffer_slice(rest), pair))
            pe_buffer_format(&both, "%.*s&", (int)pair.bytes, pair.text);
    }
    pe_buffer_add(&both, pe_buffer_slice(rest).text, rest->bytes);
    both.failed |= rest->failed || configured.failed;
    pe_buffer_free(rest);
    pe_buffer_free(&configured);
    *rest = both;
}

/* A configuration says what was not said otherwise. It knows of no sequence: what came counts. */
static pe_status take_config(pe_claim_reader *r, pe_slice json, pe_problem *why)
{
    pe_model *model;
    const pe_model_layers *layers;
    pe_claim_shapes_saw(&r->shapes, "model", json);
    const pe_status status = pe_claim_read_config(json, r->layer_type, &model, &layers, why);
    if (status == PE_OK) {
        pe_value *own = pe_values_find(&layers->values, "seq_len");
        r->has_head_dim = true;
        if (own != NULL && r->has_seq_len)
            own->present = false;
        if (r->body == NULL)
            pe_values_json(&layers->values, &r->configured);
        else
            merge(&layers->values, &r->rest);
        if (r->encoding[0] == '\0')
            snprintf(r->encoding, sizeof r->encoding, "%s", model->encoding);
    }
    pe_model_free(model);
    return status == PE_OK && r->rest.failed ? pe_fail_memory(why) : status;
}

/* A file of tensors may hold the configuration of its model. */
static pe_status take_metadata(pe_claim_reader *r, pe_problem *why)
{
    char *text = NULL;
    const pe_slice file = {r->body->data, r->body->bytes};
    pe_status status = pe_safetensors_file_metadata(file, "config", &text, why);
    if (status == PE_OK && text == NULL)
        status = pe_safetensors_file_metadata(file, "config.json", &text, why);
    if (status == PE_OK && text != NULL && r->encoding[0] != '\0') {
        pe_buffer_str(&r->shapes.said,
                      "config in the metadata was not read, for encoding is given\n");
    } else if (status == PE_OK && text != NULL) {
        status = take_config(r, pe_slice_of(text), why);
        pe_buffer_str(&r->shapes.said, "the parameters are those of config in the metadata\n");
    }
    free(text);
    return status;
}

pe_status pe_claim_reader_config(pe_claim_reader *r, pe_problem *why)
{
    if (r->own[PE_CLAIM_CONFIG].text != NULL)
        return take_config(r, r->own[PE_CLAIM_CONFIG], why);
    if (r->model[0] != '\0' && r->encoding[0] == '\0') {
        const pe_status status =
            pe_claim_encoding_of_model(r->model, r->encoding, sizeof r->encoding, why);
        if (status != PE_OK)
            return status;
    }
    if (r->body == NULL)
        return PE_OK;
    if (r->layer_type[0] != '\0' && r->encoding[0] != '\0')
        add(r, &r->rest, "layer_type", r->layer_type, true); /* of a model by name */
    return r->tensors.n > 0 && strcmp(r->body->media_type, "application/vnd.safetensors") == 0
               ? take_metadata(r, why)
               : PE_OK;
}

/* ---- a group of tensors ---- */

/* What was given of the claimed table, as far as another one has it: inverse frequencies have no
 * positions. */
static pe_status copy_rest(const pe_claim_reader *r, const pe_resource *resource, pe_buffer *rest,
                           pe_problem *why)
{
    pe_values values;
    pe_slice left = pe_buffer_slice(&r->rest);
    if (r->body == NULL || resource == r->claimed) {
        pe_buffer_add(rest, left.text, left.bytes);
        return PE_OK;
    }
    const pe_status status = pe_values_make(resource->param_sets, &values, why);
    if (status != PE_OK)
        return status;
    while (left.bytes > 0) {
        const pe_slice pair = pe_slice_next(&left, '&');
        pe_slice name = pair;
        char text[64];
        name = pe_slice_next(&name, '=');
        snprintf(text, sizeof text, "%.*s", (int)(name.bytes < 63 ? name.bytes : 63), name.text);
        if (pe_values_called(&values, text) != NULL)
            pe_buffer_format(rest, "%.*s&", (int)pair.bytes, pair.text);
    }
    pe_values_free(&values);
    return PE_OK;
}

/* Vectors tell what may be left out. */
static pe_status read_vectors(const pe_claim_reader *r, const pe_claim *claim,
                              const pe_stored_list *list, const char *name, pe_buffer *rest,
                              pe_problem *why)
{
    char text[32];
    const pe_stored *inputs = pe_claim_groups_find(list, "inputs");
    if (inputs == NULL || pe_claim_groups_find(list, "rotated") == NULL || list->n != 2)
        return pe_fail(why, PE_MISSING_PARAMETER, inputs == NULL ? "inputs" : "rotated",
                       "rotated vectors must come as two tensors, inputs and rotated");
    const pe_shape *shape = &inputs->shape;
    const int64_t axis = pe_claim_axis(claim, shape);
    if (inputs->elements == 0 || shape->ndim < 2)
        return pe_fail(why, PE_INVALID_PARAMETER, name,
                       "%s must have channels along the last axis and tokens along another", name);
    if (axis < 0 || axis + 1 >= (int64_t)shape->ndim)
        return pe_fail(why, PE_INVALID_PARAMETER, "seq_axis",
                       "seq_axis must name an axis of %s before the last, got %lld", name,
                       (long long)claim->seq_axis);
    snprintf(text, sizeof text, "%zu", shape->dim[shape->ndim - 1]);
    if (!r->has_head_dim)
        add(r, rest, "head_dim", text, false);
    snprintf(text, sizeof text, "0:%zu", shape->dim[axis]);
    if (!r->has_positions && claim->resource->turned == NULL)
        add(r, rest, "positions", text, true);
    return PE_OK;
}

/* The element type of the numbers: indices beside them are integers whatever the others are. */
static pe_dtype dtype_of(const pe_stored_list *list)
{
    for (size_t t = 0; t < list->n; t++)
        if (list->tensor[t].dtype != PE_INT32)
            return list->tensor[t].dtype;
    return PE_INT32;
}

/* What the tensors tell beside what was given. */
static pe_status read_shapes(pe_claim_reader *r, pe_claim *claim, pe_stored_list *list,
                             pe_buffer *rest, pe_problem *why)
{
    pe_claim_shapes *shapes = &r->shapes;
    shapes->n_added = 0;
    pe_claim_shapes_read(shapes, &claim->resource, list);
    const pe_status status = copy_rest(r, claim->resource, rest, why);
    for (size_t a = 0; a < shapes->n_added; a++)
        add(r, rest, shapes->added[a].name, shapes->added[a].value, shapes->added[a].is_text);
    const pe_dtype of_body = dtype_of(list);
    if (r->body != NULL && !r->has_dtype && of_body != PE_INT32 && of_body != PE_DTYPES)
        add(r, rest, "dtype", pe_dtype_name(of_body), true);
    return status;
}

/* The element type of the tensors follows. */
static pe_status query_values(pe_claim_reader *r, pe_claim *claim, const pe_buffer *rest,
                              pe_problem *why)
{
    pe_query query;
    const pe_slice all = {pe_buffer_slice(rest).text, rest->bytes > 0 ? rest->bytes - 1 : 0};
    const pe_status status = pe_query_string_parse(claim->resource, all, r->limits, &query, why);
    if (status != PE_OK)
        return status;
    r->element = pe_query_dtype(&query);
    return pe_claim_take_query(claim, &query, why);
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

/* Numbers of JSON are the claim's from here on. */
static pe_status take_numbers(const pe_claim_reader *r, pe_stored *from, pe_array *out,
                              pe_problem *why)
{
    if (r->body != NULL) {
        const pe_status status = check_type(from, r->element, why);
        if (status != PE_OK || pe_stored_borrow(from, r->element, out))
            return status;
        return pe_stored_array(from, r->element, out, why);
    }
    *out = (pe_array){.dtype = from->dtype,
                      .shape = from->shape,
                      .elements = from->elements,
                      .data = (void *)(uintptr_t)from->data};
    from->data = NULL;
    return PE_OK;
}

static pe_status take_tensor(const pe_claim_reader *r, pe_claim *claim, pe_stored *from, bool lone,
                             pe_problem *why)
{
    const bool inputs = strcmp(from->name, "inputs") == 0;
    if (was_taken(claim, from->name))
        return pe_fail(why, PE_INVALID_PARAMETER, from->name,
                       "two tensors of the body are %.64s: verify one at a time", from->name);
    if (!inputs && claim->n_uploads == PE_UPLOADS_MAX)
        return pe_fail(why, PE_INVALID_PARAMETER, "table", "the body has more than %d tensors",
                       PE_UPLOADS_MAX);
    pe_upload *upload = &claim->uploads[claim->n_uploads];
    const pe_status status = take_numbers(r, from, inputs ? &claim->inputs : &upload->array, why);
    if (status != PE_OK || inputs)
        return status;
    snprintf(upload->name, sizeof upload->name, "%.63s",
             lone && is_nameless(from->name) ? "" : from->name);
    claim->n_uploads++;
    return PE_OK;
}

static pe_status take_tensors(const pe_claim_reader *r, pe_claim *claim, pe_stored_list *list,
                              pe_problem *why)
{
    pe_status status = PE_OK;
    for (size_t t = 0; t < list->n && status == PE_OK; t++)
        status = take_tensor(r, claim, &list->tensor[t], list->n == 1, why);
    if (status == PE_OK && r->shapes.angles && r->body != NULL && r->body->awaited > 0)
        return pe_claim_groups_fail_begun(why);
    return status == PE_OK ? pe_claim_shapes_take_angles(&r->shapes, claim, why) : status;
}

/* What is claimed of the numbers, then the numbers: mistakes of both are told. */
static pe_status read_group(pe_claim_reader *r, const pe_claim_group *group, pe_claim *claim,
                            pe_stored_list *list, pe_buffer *rest, pe_problem *why)
{
    char first[PE_STORED_NAME_BYTES] = "inputs";
    pe_problem of_tensors, mistake;
    pe_status status = PE_OK, tensors = PE_OK;
    for (size_t t = 0; t < list->n && tensors == PE_OK && r->body == NULL; t++)
        tensors = pe_claim_json_scan(r, group->vectors && t == 0, &list->tensor[t], &of_tensors);
    if (r->body == NULL && group->vectors)
        snprintf(first, sizeof first, "%s", list->tensor[0].name);
    if (group->vectors)
        (void)pe_claim_groups_name(list);
    if (group->vectors && tensors == PE_OK)
        status = read_vectors(r, claim, list, first, rest, why);
    if (status != PE_OK)
        return status;
    status = tensors == PE_OK ? read_shapes(r, claim, list, rest, why)
                              : copy_rest(r, claim->resource, rest, why);
    if (status == PE_OK && rest->failed)
        status = pe_fail_memory(why);
    if (status == PE_OK)
        status = r->body != NULL ? query_values(r, claim, rest, why)
                                 : pe_claim_json_values(r, claim, rest, why);
    if (tensors != PE_OK)
        return pe_problem_collect(status, tensors, &of_tensors, why);
    if (status == PE_OK)
        status = pe_problem_collect(status, take_tensors(r, claim, list, &mistake), &mistake, why);
    return status;
}

/* One claim for each group of tensors; all have what was said. */
pe_status pe_claim_reader_groups(pe_claim_reader *r, pe_problem *why)
{
    pe_claim *claim = &r->claim;
    const pe_claim given = *claim;
    pe_status status = PE_OK;
    if (given.resource == NULL)
        return PE_OK; /* was told */
    r->claimed = given.resource;
    for (size_t g = 0; g < r->n_groups && status == PE_OK; g++) {
        pe_buffer rest = {0};
        pe_stored_list list = {r->tensors.tensor + r->groups[g].first, r->groups[g].n,
                               r->groups[g].n};
        if (g > 0) {
            claim->next = malloc(sizeof *claim->next);
            if (claim->next == NULL)
                return pe_fail_memory(why);
            claim = claim->next;
            *claim = given;
        }
        for (size_t t = 0; t < list.n && r->n_groups > 1; t++) {
            const size_t used = strlen(claim->sent);
            snprintf(claim->sent + used, sizeof claim->sent - used, "%s%s", t > 0 ? ", " : "",
                     list.tensor[t].name);
        }
        status = read_group(r, &r->groups[g], claim, &list, &rest, why);
        pe_buffer_free(&rest);
    }
    r->claim.guessed = r->shapes.guessed;
    r->claim.said = r->shapes.said;
    r->claim.doubts = r->shapes.doubts;
    r->shapes.said = r->shapes.doubts = (pe_buffer){0};
    return status == PE_OK && r->claim.said.failed ? pe_fail_memory(why) : status;
}

/* ---- the end ---- */

/* Vectors are compared as rope/table turns them: what is known of one axis or several holds. */
static pe_status turn_vectors(pe_claim *claim, pe_problem *why)
{
    pe_values values;
    if (claim->inputs.elements == 0 || claim->resource->turned == NULL)
        return PE_OK;
    const pe_status status = claim->resource->turned(&claim->values, &values, why);
    if (status != PE_OK)
        return status;
    pe_claim_say(&claim->said, "vectors rotated by %s are compared with rope/table and axes_dims",
                 claim->resource->name);
    pe_values_free(&claim->values);
    claim->values = values;
    claim->resource = &pe_rope_table;
    return PE_OK;
}

pe_status pe_claim_reader_finish(pe_claim_reader *r, pe_claim *out, pe_problem *why)
{
    pe_status status = r->failed;
    for (pe_claim *one = &r->claim; one != NULL && status == PE_OK; one = one->next)
        status = turn_vectors(one, why);
    for (size_t t = 0; t < r->tensors.n && r->body == NULL; t++)
        if (r->tensors.tensor[t].elements != SIZE_MAX) /* it was read, and perhaps not taken */
            free((void *)(uintptr_t)r->tensors.tensor[t].data);
    pe_buffer_free(&r->rest);
    pe_buffer_free(&r->configured);
    pe_buffer_free(&r->shapes.said);
    pe_buffer_free(&r->shapes.doubts);
    free(r->tensors.tensor);
    if (status == PE_OK)
        *out = r->claim;
    else
        pe_verify_claim_free(&r->claim);
    return status;
}
