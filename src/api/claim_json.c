/* SPDX-License-Identifier: MIT */
/* claim_json.c - a claim from a JSON object. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/claim.h"
#include "api/value_reading.h"
#include "files/tree.h"
#include "models/model.h"
#include "text/scan.h"

/* Arrays with nulls are read as trees, up to this size; larger ones belong in a binary body. */
#define TREE_MAX 4194304

/* Members that are no parameters of the resource. */
enum {
    ENCODING,
    CONFIG,
    LAYER_TYPE,
    TOLERANCE,
    SEQ_AXIS,
    TABLE,
    BIAS,
    SLOPES,
    INPUTS,
    ROTATED,
    MEMBERS
};

static const char *const member_names[MEMBERS] = {
    [ENCODING] = "encoding",   [CONFIG] = "config",     [LAYER_TYPE] = "layer_type",
    [TOLERANCE] = "tolerance", [SEQ_AXIS] = "seq_axis", [TABLE] = "table",
    [BIAS] = "bias",           [SLOPES] = "slopes",     [INPUTS] = "inputs",
    [ROTATED] = "rotated"};

/* The members of the body: ours, and those of the resource, which are read as its
 * own bodies are. */
typedef struct body {
    const pe_read_limits *limits;
    pe_claim *claim;
    pe_slice member[MEMBERS], parameters;
    pe_buffer rest, nested; /* the others, and those in parameters; comma after each */
    pe_slice dtype;         /* as written, at either place */
    bool has_positions, has_head_dim;
    pe_dtype element; /* of tensors */
} body;

/* ---- members ---- */

/* What has to be known before the resource reads its parameters. */
static void peek(body *b, const char *key, pe_slice json)
{
    if (strcmp(key, "dtype") == 0)
        b->dtype = json;
    b->has_positions |= strcmp(key, "positions") == 0;
    b->has_head_dim |= strcmp(key, "head_dim") == 0 || strcmp(key, "model") == 0;
}

/* A member for the resource to read. */
static void pass_on(body *b, const char *key, pe_slice json, pe_buffer *to)
{
    peek(b, key, json);
    pe_buffer_json_string(to, key);
    pe_buffer_str(to, ":");
    pe_buffer_add(to, json.text, json.bytes);
    pe_buffer_str(to, ",");
}

/* Resources take a model's name beside their nested object only. */
static pe_status nested_member(void *state, const char *key, pe_slice json, pe_problem *why)
{
    body *b = state;
    const bool named = strcmp(key, "model") == 0 || strcmp(key, "layer_type") == 0;
    (void)why;
    pass_on(b, key, json, named ? &b->rest : &b->nested);
    return PE_OK;
}

static pe_status note(pe_slice *slice, const char *name, pe_slice json, pe_problem *why)
{
    if (slice->text != NULL)
        return pe_query_fail_repeated(name, name, why);
    *slice = json;
    return PE_OK;
}

static pe_status note_member(void *state, const char *key, pe_slice json, pe_problem *why)
{
    body *b = state;
    for (size_t m = 0; m < MEMBERS; m++)
        if (strcmp(key, member_names[m]) == 0)
            return note(&b->member[m], key, json, why);
    if (strcmp(key, "parameters") == 0)
        return note(&b->parameters, key, json, why);
    const char *near = pe_nearest_name(key, member_names, MEMBERS);
    if (near != NULL)
        return pe_fail(why, PE_UNKNOWN_PARAMETER, key, "unknown parameter %.64s, did you mean %s?",
                       key, near);
    pass_on(b, key, json, &b->rest);
    return PE_OK;
}

static pe_status read_members(body *b, pe_slice text, pe_problem *why)
{
    pe_status status = pe_json_members_walk(text, b->limits->max_depth, note_member, b, why);
    if (b->member[CONFIG].text == NULL && b->member[LAYER_TYPE].text != NULL)
        pass_on(b, member_names[LAYER_TYPE], b->member[LAYER_TYPE],
                &b->rest); /* of a model by name */
    if (status != PE_OK || b->parameters.text == NULL)
        return status;
    if (b->parameters.text[0] != '{')
        return pe_fail(why, PE_INVALID_PARAMETER, "parameters", "parameters must be an object");
    if (b->member[CONFIG].text != NULL)
        return pe_fail(why, PE_INVALID_PARAMETER, "config",
                       "config stands in the place of parameters: give one of them");
    return pe_json_members_walk(b->parameters, b->limits->max_depth - 1, nested_member, b, why);
}

static pe_status read_text(const body *b, size_t member, char *out, size_t room, pe_problem *why)
{
    const pe_slice json = b->member[member];
    const char *name = member_names[member];
    char *text = NULL;
    out[0] = '\0';
    if (json.text == NULL)
        return PE_OK;
    if (json.text[0] != '"')
        return pe_fail(why, PE_INVALID_PARAMETER, name, "%s must be a string", name);
    const pe_status status = pe_json_string_decode(json, name, &text, why);
    if (status == PE_OK)
        snprintf(out, room, "%s", text);
    free(text);
    return status;
}

/* ---- numbers ---- */

static pe_status read_number(const body *b, size_t member, double low, double *out, pe_problem *why)
{
    const pe_slice json = b->member[member];
    const char *name = member_names[member];
    size_t used = 0;
    if (json.text == NULL)
        return PE_OK;
    if (pe_scan_number(json.text, json.bytes, out, &used) != PE_SCAN_OK || used != json.bytes ||
        *out < low)
        return pe_fail(why, PE_INVALID_PARAMETER, name, "%s must be a number%s, got %.*s", name,
                       low == 0 ? " of at least 0" : "", PE_SLICE_SHOWN(json));
    return PE_OK;
}

static pe_status read_axis(const body *b, pe_problem *why)
{
    double axis = -2;
    const pe_status status = read_number(b, SEQ_AXIS, -PE_MAX_DIMS, &axis, why);
    if (status != PE_OK)
        return status;
    if (axis != floor(axis) || axis >= PE_MAX_DIMS)
        return pe_fail(why, PE_INVALID_PARAMETER, "seq_axis",
                       "seq_axis must be an integer from -8 to 7, got %.17g", axis);
    b->claim->seq_axis = (int64_t)axis;
    return PE_OK;
}

/* null among numbers is a masked bias: -inf. */
typedef struct flat {
    pe_array *array;
    size_t at;
    const char *place;
} flat;

static bool tree_shape(const json_t *tree, pe_shape *out)
{
    *out = (pe_shape){0};
    for (; json_is_array(tree); tree = json_array_get(tree, 0)) {
        if (out->ndim == PE_MAX_DIMS || json_array_size(tree) == 0)
            return false;
        out->dim[out->ndim++] = json_array_size(tree);
    }
    return out->ndim > 0;
}

static bool flatten(const json_t *tree, size_t axis, flat *to)
{
    const pe_array *array = to->array;
    if (axis < array->shape.ndim) {
        if (!json_is_array(tree) || json_array_size(tree) != array->shape.dim[axis])
            return false;
        for (size_t i = 0; i < json_array_size(tree); i++)
            if (!flatten(json_array_get(tree, i), axis + 1, to))
                return false;
        return true;
    }
    if (!json_is_number(tree) && !json_is_null(tree))
        return false;
    pe_dtype_store(array->dtype, json_is_null(tree) ? -HUGE_VAL : json_number_value(tree),
                   (char *)array->data + to->at++ * pe_dtype_bytes(array->dtype));
    return true;
}

static pe_status read_masked(const body *b, pe_slice json, const char *place, pe_array *out,
                             pe_problem *why)
{
    json_t *tree = NULL;
    pe_shape shape;
    if (json.bytes > TREE_MAX)
        return pe_fail(why, PE_INVALID_PARAMETER, place,
                       "a masked bias of more than 4 MiB belongs in a binary body, with -inf");
    pe_status status = pe_tree_load(json.text, json.bytes, 0, place, &tree, why);
    if (status != PE_OK)
        return status;
    if (!tree_shape(tree, &shape))
        status = pe_fail(why, PE_INVALID_PARAMETER, place, "%s must be an array of numbers", place);
    if (status == PE_OK)
        status = pe_array_make(b->element, &shape, out, why);
    if (status == PE_OK && !flatten(tree, 0, &(flat){out, 0, place})) {
        pe_array_free(out);
        status = pe_fail(why, PE_INVALID_PARAMETER, place,
                         "%s must be rectangular, of numbers and (where masked) null", place);
    }
    json_decref(tree);
    return status;
}

static pe_status read_array(const body *b, pe_slice json, const char *place, pe_array *out,
                            pe_problem *why)
{
    size_t used = 0;
    if (json.text[0] != '[')
        return pe_fail(why, PE_INVALID_PARAMETER, place, "%s must be an array of numbers", place);
    if (b->claim->resource->null_is_masked && memmem(json.text, json.bytes, "null", 4) != NULL)
        return read_masked(b, json, place, out, why);
    const pe_scan_wanted wanted = {place, b->element, b->limits->max_elements};
    const pe_status status = pe_scan_numbers(json, &wanted, out, &used, why);
    if (status == PE_OK && used != json.bytes) {
        pe_array_free(out);
        return pe_fail(why, PE_MALFORMED_REQUEST, place,
                       "%s is not a JSON array: its brackets do not match", place);
    }
    return status;
}

static pe_status add_upload(body *b, const char *name, const char *place, pe_slice json,
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

/* ---- vectors ---- */

/* dtype as it will be read; what is wrong with it is said then. */
static pe_dtype peeked_dtype(const body *b)
{
    for (pe_dtype dtype = 0; b->dtype.text != NULL && dtype < PE_DTYPES; dtype++) {
        const char *name = pe_dtype_name(dtype);
        if (b->dtype.bytes == strlen(name) + 2 &&
            memcmp(b->dtype.text + 1, name, strlen(name)) == 0 && dtype != PE_INT32)
            return dtype;
    }
    return PE_FLOAT32;
}

/* Vectors tell their head_dim and how many positions there are. */
static pe_status read_inputs(body *b, pe_problem *why)
{
    pe_claim *claim = b->claim;
    if (b->member[INPUTS].text == NULL)
        return PE_OK;
    if (b->member[ROTATED].text == NULL)
        return pe_fail(why, PE_MISSING_PARAMETER, "rotated",
                       "rotated is required with inputs: the same vectors, rotated");
    b->element = peeked_dtype(b);
    pe_status status = read_array(b, b->member[INPUTS], "inputs", &claim->inputs, why);
    if (status != PE_OK)
        return status;
    const pe_shape *shape = &claim->inputs.shape;
    const int64_t axis =
        claim->seq_axis < 0 ? claim->seq_axis + (int64_t)shape->ndim : claim->seq_axis;
    if (claim->inputs.elements == 0 || shape->ndim < 2)
        return pe_fail(why, PE_INVALID_PARAMETER, "inputs",
                       "inputs must have channels along the last axis and tokens along another");
    if (axis < 0 || axis + 1 >= (int64_t)shape->ndim)
        return pe_fail(why, PE_INVALID_PARAMETER, "seq_axis",
                       "seq_axis must name an axis of inputs before the last, got %lld",
                       (long long)claim->seq_axis);
    if (!b->has_head_dim && b->member[CONFIG].text == NULL)
        pe_buffer_format(&b->rest, "\"head_dim\":%zu,", shape->dim[shape->ndim - 1]);
    if (!b->has_positions)
        pe_buffer_format(&b->rest, "\"positions\":\"0:%zu\",", shape->dim[axis]);
    return PE_OK;
}

/* ---- parameters ---- */

/* The parameters of a model's configuration, and the table they belong to. */
static pe_status read_config(body *b, const char *encoding, pe_buffer *parameters, pe_problem *why)
{
    json_t *config = NULL;
    pe_model *model = NULL;
    const pe_model_layers *layers = NULL;
    char layer_type[64];
    const pe_slice json = b->member[CONFIG];
    pe_status status = read_text(b, LAYER_TYPE, layer_type, sizeof layer_type, why);
    if (status == PE_OK && json.text[0] != '{')
        status = pe_fail(why, PE_INVALID_PARAMETER, "config", "config must be an object");
    if (status == PE_OK)
        status =
            pe_tree_load(json.text, json.bytes, JSON_REJECT_DUPLICATES, "config", &config, why);
    if (status == PE_OK)
        status = pe_model_resolve(config, &model, why);
    if (status == PE_OK)
        status = pe_model_choose(model, layer_type[0] != '\0' ? layer_type : NULL, &layers, why);
    if (status == PE_OK && layers->resource == NULL)
        status = pe_fail(why, PE_INVALID_PARAMETER, "config",
                         "these layers encode positions by no formula (%s)", model->encoding);
    if (status == PE_OK)
        status = pe_claim_resource(encoding[0] != '\0' ? encoding : model->encoding,
                                   b->member[SLOPES].text != NULL, &b->claim->resource, why);
    if (status == PE_OK)
        pe_values_json(&layers->values, parameters);
    pe_model_free(model);
    json_decref(config);
    return status;
}

static void put_nested(const pe_buffer *members, pe_buffer *out)
{
    pe_buffer_str(out, "{");
    if (members->bytes > 0)
        pe_buffer_add(out, members->data, members->bytes - 1); /* without the last comma */
    pe_buffer_str(out, "}");
}

/* The resource's own body: its parameters as "parameters", and what stood beside them. */
static pe_status read_values(body *b, const pe_buffer *parameters, pe_problem *why)
{
    pe_query query;
    pe_buffer text = {0};
    pe_resource resource = *b->claim->resource;
    resource.nested = "parameters";
    pe_buffer_str(&text, "{");
    if (b->rest.bytes > 0)
        pe_buffer_add(&text, b->rest.data, b->rest.bytes);
    pe_buffer_str(&text, "\"parameters\":");
    if (parameters->bytes > 0)
        pe_buffer_add(&text, parameters->data, parameters->bytes);
    else
        put_nested(&b->nested, &text);
    pe_buffer_str(&text, "}");
    pe_status status = text.failed || b->rest.failed || b->nested.failed || parameters->failed
                           ? pe_fail_memory(why)
                           : PE_OK;
    if (status == PE_OK)
        status = pe_query_json_parse(&resource, text.data, text.bytes, b->limits, &query, why);
    if (status == PE_OK) {
        b->element = pe_query_dtype(&query);
        status = pe_claim_take_query(b->claim, &query, why);
    }
    pe_buffer_free(&text);
    return status;
}

static pe_status read_claim(body *b, pe_problem *why)
{
    char encoding[64];
    pe_buffer parameters = {0};
    pe_status status = read_text(b, ENCODING, encoding, sizeof encoding, why);
    if (status == PE_OK)
        status = read_axis(b, why);
    if (status == PE_OK)
        status = read_number(b, TOLERANCE, 0, &b->claim->tolerance, why);
    if (status == PE_OK && b->member[CONFIG].text != NULL)
        status = read_config(b, encoding, &parameters, why);
    else if (status == PE_OK)
        status =
            pe_claim_resource(encoding, b->member[SLOPES].text != NULL, &b->claim->resource, why);
    if (status == PE_OK)
        status = read_inputs(b, why);
    if (status == PE_OK)
        status = read_values(b, &parameters, why);
    pe_buffer_free(&parameters);
    return status;
}

/* One of the members that hold the numbers. */
static pe_status read_tensors(body *b, pe_problem *why)
{
    static const size_t holders[] = {TABLE, BIAS, SLOPES, ROTATED};
    size_t found = MEMBERS;
    for (size_t h = 0; h < PE_LEN(holders); h++) {
        if (b->member[holders[h]].text == NULL)
            continue;
        if (found != MEMBERS)
            return pe_fail(why, PE_INVALID_PARAMETER, member_names[holders[h]],
                           "%s does not go with %s: verify one at a time", member_names[holders[h]],
                           member_names[found]);
        found = holders[h];
    }
    if (found == MEMBERS)
        return pe_fail(why, PE_MISSING_PARAMETER, "table",
                       "table is required: the numbers to verify (or bias, slopes, or inputs and "
                       "rotated)");
    if (found == ROTATED && b->member[INPUTS].text == NULL)
        return pe_fail(why, PE_MISSING_PARAMETER, "inputs",
                       "inputs is required with rotated: the vectors before rotation");
    if (found != ROTATED && b->member[INPUTS].text != NULL)
        return pe_fail(why, PE_INVALID_PARAMETER, "inputs", "inputs does not go with %s",
                       member_names[found]);
    if (found != ROTATED && b->member[SEQ_AXIS].text != NULL)
        return pe_fail(why, PE_INVALID_PARAMETER, "seq_axis",
                       "seq_axis is an axis of inputs and does not go with %s",
                       member_names[found]);
    const pe_slice json = b->member[found];
    if (found == TABLE && json.text[0] == '{')
        return pe_json_members_walk(json, b->limits->max_depth - 1, table_member, b, why);
    return add_upload(b, found == ROTATED ? "rotated" : "", member_names[found], json, why);
}

pe_status pe_claim_json_parse(const char *text, size_t bytes, const pe_read_limits *limits,
                              pe_claim *out, pe_problem *why)
{
    pe_claim claim = {.tolerance = -1, .seq_axis = -2};
    body b = {.limits = limits, .claim = &claim};
    pe_status status = read_members(&b, (pe_slice){text, bytes}, why);
    if (status == PE_OK)
        status = read_claim(&b, why);
    if (status == PE_OK)
        status = read_tensors(&b, why);
    pe_buffer_free(&b.rest);
    pe_buffer_free(&b.nested);
    if (status == PE_OK)
        *out = claim;
    else
        pe_verify_claim_free(&claim);
    return status;
}
