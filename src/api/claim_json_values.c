/* SPDX-License-Identifier: MIT */
/* claim_json_values.c - the tensors and vectors of a claim in JSON, and what they tell of it. */
#include "api/claim_json_values.h"

#include <stdio.h>
#include <string.h>

#include "api/claim_array.h"
#include "api/json_members.h"

const char *const pe_claim_member_names[PE_CLAIM_MEMBERS] = {[PE_CLAIM_ENCODING] = "encoding",
                                                             [PE_CLAIM_CONFIG] = "config",
                                                             [PE_CLAIM_LAYER_TYPE] = "layer_type",
                                                             [PE_CLAIM_TOLERANCE] = "tolerance",
                                                             [PE_CLAIM_SEQ_AXIS] = "seq_axis",
                                                             [PE_CLAIM_TABLE] = "table",
                                                             [PE_CLAIM_BIAS] = "bias",
                                                             [PE_CLAIM_SLOPES] = "slopes",
                                                             [PE_CLAIM_INPUTS] = "inputs",
                                                             [PE_CLAIM_ROTATED] = "rotated",
                                                             [PE_CLAIM_Q] = "q",
                                                             [PE_CLAIM_Q_ROTATED] = "q_rotated",
                                                             [PE_CLAIM_Q_EMBED] = "q_embed",
                                                             [PE_CLAIM_K] = "k",
                                                             [PE_CLAIM_K_ROTATED] = "k_rotated",
                                                             [PE_CLAIM_K_EMBED] = "k_embed",
                                                             [PE_CLAIM_PARAMETERS] = "parameters"};

/* ---- tensors ---- */

static pe_status read_array(const pe_claim_body *b, pe_slice json, const char *place, pe_array *out,
                            pe_problem *why)
{
    const pe_scan_wanted wanted = {place, b->element, b->limits->max_elements};
    return pe_claim_array_read(json, &wanted, b->claim->resource->null_is_masked, out, why);
}

static pe_status add_upload(pe_claim_body *b, const char *name, const char *place, pe_slice json,
                            pe_problem *why)
{
    pe_claim *claim = b->claim;
    if (claim->n_uploads == PE_UPLOADS_MAX)
        return pe_fail(why, PE_INVALID_PARAMETER, "table", "table has more than %d tensors",
                       PE_UPLOADS_MAX);
    for (size_t u = 0; u < claim->n_uploads; u++)
        if (strcmp(claim->uploads[u].name, name) == 0)
            return pe_query_fail_repeated(place, name, why);
    pe_upload *upload = &claim->uploads[claim->n_uploads];
    const pe_status status = read_array(b, json, place, &upload->array, why);
    if (status != PE_OK)
        return status;
    snprintf(upload->name, sizeof upload->name, "%s", name);
    claim->n_uploads++;
    return PE_OK;
}

static pe_status table_member(void *state, const char *key, pe_slice json, pe_problem *why)
{
    char place[80];
    snprintf(place, sizeof place, "table/%.64s", key);
    return add_upload(state, key, place, json, why);
}

pe_status pe_claim_values_read_tensors(pe_claim_body *b, size_t holder, pe_problem *why)
{
    const pe_slice json = b->member[holder];
    if (holder == PE_CLAIM_TABLE && json.text[0] == '{')
        return pe_json_members_walk(json, b->limits->max_depth - 1, table_member, b, why);
    return add_upload(b, holder == b->rotated ? "rotated" : "", pe_claim_member_names[holder], json,
                      why);
}

/* ---- element type ---- */

/* dtype as it will be read; what is wrong with it is said then. */
static pe_dtype peeked_dtype(const pe_claim_body *b)
{
    pe_dtype dtype = PE_FLOAT32;
    const pe_slice json = b->dtype; /* with its quotes */
    if (json.bytes < 2 || !pe_dtype_find((pe_slice){json.text + 1, json.bytes - 2}, &dtype))
        return PE_FLOAT32;
    return dtype == PE_INT32 ? PE_FLOAT32 : dtype;
}

/* Is int32 the default, which the body has, or nothing else is there? */
static bool is_whole(const pe_claim_body *b, const char *const *dtypes)
{
    static const char told[] = "\"float32\"";
    return strcmp(dtypes[0], "int32") == 0 && (dtypes[1] == NULL || !pe_slice_is(b->dtype, told));
}

pe_dtype pe_claim_values_element(const pe_claim_body *b)
{
    const pe_param_set *const *sets = b->claim->resource->param_sets;
    for (size_t s = 0; sets[s] != NULL; s++)
        for (size_t r = 0; r < sets[s]->n; r++)
            if (strcmp(sets[s]->rows[r].name, "dtype") == 0)
                return is_whole(b, sets[s]->rows[r].choices) ? PE_INT32 : peeked_dtype(b);
    return PE_FLOAT64;
}

/* ---- what they tell ---- */

static pe_stored stored_of(const char *name, const pe_array *array)
{
    pe_stored tensor = {.dtype = array->dtype,
                        .shape = array->shape,
                        .elements = array->elements,
                        .data = array->data};
    snprintf(tensor.name, sizeof tensor.name, "%s", name);
    return tensor;
}

static void read_shapes_of_vectors(pe_claim_body *b)
{
    pe_claim *claim = b->claim;
    pe_stored tensor[] = {stored_of("inputs", &claim->inputs),
                          stored_of("rotated", &claim->uploads[0].array)};
    pe_stored_list list = {tensor, PE_LEN(tensor), PE_LEN(tensor)};
    if (claim->n_uploads == 1 && claim->inputs.elements > 0)
        pe_claim_shapes_read(&b->shapes, &claim->resource, &list);
}

static void read_shapes_of_tables(pe_claim_body *b)
{
    pe_claim *claim = b->claim;
    pe_stored tensor[PE_UPLOADS_MAX];
    pe_stored_list list = {tensor, PE_UPLOADS_MAX, claim->n_uploads};
    for (size_t u = 0; u < claim->n_uploads; u++)
        tensor[u] = stored_of(claim->uploads[u].name, &claim->uploads[u].array);
    pe_claim_shapes_read(&b->shapes, &claim->resource, &list);
    for (size_t u = 0; u < claim->n_uploads; u++) {
        pe_upload *upload = &claim->uploads[u];
        snprintf(upload->name, sizeof upload->name, "%.63s", tensor[u].name);
        upload->array.shape = tensor[u].shape;
        upload->array.elements = tensor[u].elements;
    }
}

pe_status pe_claim_values_read_shapes(pe_claim_body *b, size_t holder, pe_problem *why)
{
    pe_claim *claim = b->claim;
    pe_claim_shapes *shapes = &b->shapes;
    if (holder == b->rotated)
        read_shapes_of_vectors(b);
    else
        read_shapes_of_tables(b);
    for (size_t a = 0; a < shapes->n_added; a++) {
        const pe_claim_added *added = &shapes->added[a];
        pe_buffer_format(&b->rest, added->is_text ? "\"%s\":\"%s\"," : "\"%s\":%s,", added->name,
                         added->value);
    }
    claim->guessed = shapes->guessed;
    claim->said = shapes->said;
    shapes->said = (pe_buffer){0};
    return claim->said.failed ? pe_fail_memory(why) : PE_OK;
}

pe_status pe_claim_values_read_inputs(pe_claim_body *b, pe_problem *why)
{
    pe_claim *claim = b->claim;
    if (b->member[b->inputs].text == NULL || b->member[b->rotated].text == NULL)
        return PE_OK;
    const char *name = pe_claim_member_names[b->inputs];
    b->element = peeked_dtype(b);
    pe_status status = read_array(b, b->member[b->inputs], name, &claim->inputs, why);
    if (status != PE_OK)
        return status;
    const pe_shape *shape = &claim->inputs.shape;
    const int64_t axis = pe_claim_axis(claim, shape);
    if (claim->inputs.elements == 0 || shape->ndim < 2)
        return pe_fail(why, PE_INVALID_PARAMETER, name,
                       "%s must have channels along the last axis and tokens along another", name);
    if (axis < 0 || axis + 1 >= (int64_t)shape->ndim)
        return pe_fail(why, PE_INVALID_PARAMETER, "seq_axis",
                       "seq_axis must name an axis of %s before the last, got %lld", name,
                       (long long)claim->seq_axis);
    if (!b->has_head_dim && b->member[PE_CLAIM_CONFIG].text == NULL)
        pe_buffer_format(&b->rest, "\"head_dim\":%zu,", shape->dim[shape->ndim - 1]);
    if (!b->has_positions && claim->resource->turned == NULL)
        pe_buffer_format(&b->rest, "\"positions\":\"0:%zu\",", shape->dim[axis]);
    return PE_OK;
}
