/* SPDX-License-Identifier: MIT */
/* claim_reader.c - claims from what was said of a list of tensors, whatever they came in. */
#include "api/claims/claim_reader.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/nearest.h"
#include "encodings/registry.h"
#include "files/tree.h"
#include "models/catalogue/catalogue.h"
#include "plan/plan.h"

/* ---- what is claimed ---- */

/* What people call a table, and what they call slopes. */
static const struct {
    const char *name, *table, *slopes;
} encodings[] = {
    {"rope", "rope/table", NULL},
    {"sinusoidal", "sinusoidal", NULL},
    {"alibi", "alibi/bias", "alibi/slopes"},
    {"rope/xpos", "rope/xpos/table", NULL},
    {"rope/rotate", "rope/table", NULL},
    {"rotary", "rope/table", NULL},
};

/* Set the table that an encoding's name means; `slopes`: the claim holds slopes. */
static pe_status set_resource(pe_claim *claim, const char *encoding, bool slopes, pe_problem *why)
{
    const char *name = encoding, *names[PE_LEN(encodings) + 128];
    size_t n = 0;
    if (encoding[0] == '\0')
        return pe_fail(why, PE_MISSING_PARAMETER, "encoding",
                       "encoding is required: rope, sinusoidal, alibi, or one that GET /v1 lists "
                       "as claimable");
    for (size_t e = 0; e < PE_LEN(encodings); e++) {
        names[n++] = encodings[e].name;
        if (strcasecmp(encodings[e].name, encoding) == 0)
            name = slopes && encodings[e].slopes != NULL ? encodings[e].slopes : encodings[e].table;
    }
    const pe_resource *resource = encoding[0] != '/' ? pe_registry_find(name) : NULL;
    if (resource != NULL && pe_resource_is_claimable(resource)) {
        claim->resource = resource;
        return PE_OK;
    }
    if (strncmp(encoding, "learned/", 8) == 0)
        return pe_fail(why, PE_INVALID_PARAMETER, "encoding",
                       "encoding must be learned, with the name of a table of this server, or "
                       "learned/interpolate, with a table of yours among its parameters; got "
                       "\"%.40s\"",
                       encoding);
    if (resource != NULL)
        return pe_fail(why, PE_INVALID_PARAMETER, "encoding",
                       "encoding must be what GET /v1 lists as claimable: %.40s is computed from "
                       "other tensors than its parameters; claim the table that it uses",
                       encoding);
    for (size_t r = 0; pe_registry[r] != NULL && n < PE_LEN(names); r++)
        if (pe_resource_is_claimable(pe_registry[r]))
            names[n++] = pe_registry[r]->name;
    const char *near = pe_nearest_name(encoding, names, n);
    return pe_fail(why, PE_INVALID_PARAMETER, "encoding",
                   "encoding must be rope, sinusoidal, alibi, or one that GET /v1 lists as "
                   "claimable (rope/table); got \"%.40s\"%s%s%s",
                   encoding, near != NULL ? ", did you mean " : "", near != NULL ? near : "",
                   near != NULL ? "?" : "");
}

/* Take the values of a query, which is freed, and whether it names the arithmetic.
 * Errors  INVALID_PARAMETER: it wants another answer than a report. */
static pe_status take_query(pe_claim *claim, pe_query *query, pe_problem *why)
{
    pe_status status = PE_OK;
    if (query->format != NULL && strcmp(query->format->name, "json") != 0)
        status =
            pe_fail(why, PE_INVALID_PARAMETER, "format",
                    "format must be json: the answer is a report; got \"%s\"", query->format->name);
    else if (query->output[PE_OUTPUT_ENCODING].choice != 0)
        status = pe_fail(why, PE_INVALID_PARAMETER, "encoding_format",
                         "encoding_format must be float: the answer is a report; got \"base64\"");
    else if (query->output[PE_OUTPUT_TENSOR].present)
        status = pe_fail(why, PE_INVALID_PARAMETER, "tensor",
                         "tensor must be left out: the answer is a report");
    const pe_value *numerics = pe_values_find(&query->values, "numerics");
    claim->any_numerics = numerics == NULL || !numerics->given;
    claim->values = query->values;
    query->values = (pe_values){0};
    /* Values are planned many times: the claim itself has their tensors. */
    for (size_t i = 0, n = 0; i < claim->values.n; i++) {
        pe_array *tensor = &claim->values.value[i].tensor;
        if (tensor->data == NULL || tensor->borrowed)
            continue;
        assert(n < PE_LEN(claim->tensors));
        claim->tensors[n++] = *tensor;
        tensor->borrowed = true;
    }
    pe_query_free(query);
    return status;
}

/* ---- what was said ---- */

static const char *const dtypes[] = {"float32", "float64", "float16", "bfloat16", "int32", NULL};

/* The rows of claims: those that the resource reads, too, and those that it does not know. */
enum { MODEL, LAYER_TYPE, DTYPE, ENCODING, TOLERANCE, SEQ_AXIS, ROWS };
static const pe_param rows[ROWS] = {
    [MODEL] = PE_PARAM("model", TEXT, .max = 127),
    [LAYER_TYPE] = PE_PARAM("layer_type", TEXT, .max = 63),
    [DTYPE] = PE_PARAM("dtype", CHOICE, .choices = dtypes),
    [ENCODING] = PE_PARAM("encoding", TEXT, .max = 63),
    [TOLERANCE] = PE_PARAM("tolerance", REAL, .min = 0, .max = HUGE_VAL),
    [SEQ_AXIS] = PE_PARAM("seq_axis", INT, .min = -PE_MAX_DIMS, .max = PE_MAX_DIMS - 1),
};
static const pe_param_set own_set = {rows, ROWS};
static const pe_resource own = {
    .path = "/v1/verify", .param_sets = {&own_set}, .nested = "parameters"};

static size_t row_of(const char *name)
{
    const pe_param *row = pe_params_find(own.param_sets, name);
    return row != NULL ? (size_t)(row - rows) : ROWS;
}

static pe_status keep_other(void *state, const char *name, pe_slice text, bool inside, bool *theirs,
                            pe_problem *why)
{
    pe_claim_reader *r = state;
    const size_t row = row_of(name);
    const bool parameters = r->body == NULL && !inside && strcmp(name, own.nested) == 0;
    *theirs = row >= (inside ? ENCODING : ROWS) && !parameters;
    r->has_parameters |= parameters;
    if (row > MODEL && row < ROWS && r->body != NULL && text.bytes > 63)
        return pe_fail(why, PE_MALFORMED_REQUEST, name, "%s must have at most 63 characters", name);
    return *theirs && !inside && r->body == NULL ? pe_claim_json_keep(r, name, text, why) : PE_OK;
}

/* A type of layers of a configuration is none of a model of the catalogue. */
static pe_status skip_own(void *state, const char *name, pe_slice text PE_UNUSED, bool inside,
                          bool *theirs, pe_problem *why PE_UNUSED)
{
    const pe_claim_reader *r = state;
    const size_t row = row_of(name);
    *theirs =
        !inside && ((row >= ENCODING && row < ROWS) || (row == LAYER_TYPE && r->layers != NULL) ||
                    (r->body == NULL && pe_claim_json_is_member(name)));
    return PE_OK;
}

/* Read what of the request is the query's. */
static pe_status read_query(pe_claim_reader *r, pe_query *query, pe_query_other *other,
                            pe_problem *why)
{
    const pe_resource *resource = query->resource;
    pe_resource with_parameters = *resource;
    with_parameters.nested = own.nested;
    query->other = other;
    query->other_state = r;
    query->resource = &with_parameters;
    pe_status status =
        r->more == NULL ? PE_OK : pe_query_read(query, pe_slice_of(r->more), false, r->limits, why);
    if (status == PE_OK)
        status = pe_query_read(query, r->body != NULL ? r->body->string : r->json, r->body == NULL,
                               r->limits, why);
    query->resource = resource;
    return status;
}

static void take_text(const pe_value *value, char *out, size_t room)
{
    snprintf(out, room, "%s", value->text != NULL ? value->text : "");
}

static pe_status read_own(pe_claim_reader *r, pe_problem *why)
{
    pe_query query;
    pe_problem mistake;
    PE_TRY(pe_query_begin(&own, &query, why));
    pe_status status = read_query(r, &query, keep_other, why);
    const pe_value *value = query.values.value;
    take_text(&value[ENCODING], r->encoding, sizeof r->encoding);
    take_text(&value[LAYER_TYPE], r->layer_type, sizeof r->layer_type);
    take_text(&value[MODEL], r->model, sizeof r->model);
    r->has_axis = value[SEQ_AXIS].given;
    if (value[SEQ_AXIS].present)
        r->claim.seq_axis = value[SEQ_AXIS].integer;
    if (value[TOLERANCE].present)
        r->claim.tolerance = value[TOLERANCE].real;
    pe_query_free(&query);
    r->is_broken = r->body == NULL && status != PE_OK && why->where[0] == '\0';
    if (r->body != NULL)
        r->config = r->body->config;
    else if (r->has_parameters && r->config.text != NULL)
        status = PE_ALSO(
            status, pe_fail(&mistake, PE_INVALID_PARAMETER, "config",
                            "config takes the place of parameters; put positions beside config, "
                            "and leave parameters out"));
    return status;
}

/* ---- a configuration, or a model ---- */

/* What was not said otherwise is what a configuration says of its layers of this type.
 * Errors  those of pe_model_resolve and pe_model_choose; INVALID_PARAMETER at config. */
static pe_status take_config(pe_claim_reader *r, pe_slice json, pe_problem *why)
{
    json_t *config = NULL;
    const char *layer_type = r->layer_type[0] != '\0' ? r->layer_type : NULL;
    while (json.bytes > 0 && memchr(" \t\r\n", json.text[0], 4) != NULL)
        json = (pe_slice){json.text + 1, json.bytes - 1};
    if (json.bytes == 0 || json.text[0] != '{')
        return pe_fail(why, PE_INVALID_PARAMETER, "config", "config must be an object");
    PE_TRY(pe_tree_load(json, JSON_REJECT_DUPLICATES, "config", &config, why));
    const pe_status status = pe_model_resolve(config, &r->configured, why);
    json_decref(config);
    PE_TRY(status);
    PE_TRY(pe_model_choose(r->configured, layer_type, &r->layers, why));
    if (r->layers->resource == NULL)
        return pe_fail(why, PE_INVALID_PARAMETER, "config",
                       "config must describe layers that encode positions by a formula, got %s",
                       r->configured->encoding);
    if (r->encoding[0] == '\0')
        snprintf(r->encoding, sizeof r->encoding, "%s", r->configured->encoding);
    return PE_OK;
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
        pe_buffer_str(&r->claim.reported,
                      "config in the metadata was not read, for encoding is given\n");
    } else if (status == PE_OK && text != NULL) {
        status = take_config(r, pe_slice_of(text), why);
        pe_buffer_str(&r->claim.reported, "the parameters are those of config in the metadata\n");
    }
    free(text);
    return status;
}

/* What a configuration, or a model of the catalogue, says of the encoding and its parameters. */
static pe_status read_config(pe_claim_reader *r, pe_problem *why)
{
    if (r->config.text != NULL)
        return take_config(r, r->config, why);
    if (r->model[0] != '\0') {
        /* The encoding of a model of the catalogue, as set_resource takes it. A name that is
         * none is told with the parameters, where there is an encoding. */
        const pe_catalogue_file *file;
        pe_status status = pe_catalogue_find(r->model, &file, why);
        if (status == PE_OK)
            status = pe_catalogue_read(file, NULL, &r->configured, why);
        if (r->encoding[0] == '\0' && status == PE_OK)
            snprintf(r->encoding, sizeof r->encoding, "%s", r->configured->encoding);
        else if (r->encoding[0] == '\0' || pe_status_is_ours(status))
            return status;
    }
    return r->body != NULL && r->tensors.n > 0 &&
                   strcmp(r->body->media_type, "application/vnd.safetensors") == 0
               ? take_metadata(r, why)
               : PE_OK;
}

/* Slopes are named so, or are one vector in a body. */
static pe_status read_resource(pe_claim_reader *r, pe_problem *why)
{
    const pe_stored_list *all = &r->tensors;
    const bool slopes =
        r->has_slopes || pe_claim_groups_find(all, "slopes") != NULL ||
        (all->n == 1 && all->tensor[0].shape.ndim == 1 && all->tensor[0].elements > 1);
    if (r->encoding[0] == '\0' && r->config.text != NULL)
        return PE_OK; /* it is refused: what it does not tell is no second mistake */
    PE_TRY(set_resource(&r->claim, r->encoding, slopes, why));
    if (r->body != NULL && r->body->awaited > 0 &&
        strcmp(r->claim.resource->name, "rope/grid") == 0) /* all its numbers tell what it is */
        return pe_claim_groups_fail_begun(why);
    if (all->n > 0)
        r->n_groups = pe_claim_groups_sort(&r->claim, &r->tensors, r->groups);
    return PE_OK;
}

/* ---- a group of tensors ---- */

bool pe_claim_is_nameless(const char *name)
{
    return strcmp(name, "data") == 0 || strcmp(name, "table") == 0 || strcmp(name, "bias") == 0 ||
           strcmp(name, "slopes") == 0;
}

static pe_status take_tensor(const pe_claim_reader *r, pe_claim *claim, pe_stored *from, bool lone,
                             pe_dtype dtype, pe_problem *why)
{
    const bool inputs = strcmp(from->name, "inputs") == 0;
    pe_upload *upload = &claim->uploads[claim->n_uploads];
    bool taken = inputs && claim->inputs.data != NULL; /* q and k are both inputs */
    for (size_t u = 0; u < claim->n_uploads; u++)
        taken |= strcmp(claim->uploads[u].name, from->name) == 0;
    if (taken)
        return pe_fail(why, PE_INVALID_PARAMETER, from->name,
                       "two tensors of the body are %.64s: verify one at a time", from->name);
    if (!inputs && claim->n_uploads == PE_UPLOADS_MAX)
        return pe_fail(why, PE_INVALID_PARAMETER, "table", "the body has more than %d tensors",
                       PE_UPLOADS_MAX);
    pe_array *out = inputs ? &claim->inputs : &upload->array;
    if (r->body == NULL) { /* numbers of JSON are the claim's from here on */
        *out = (pe_array){.dtype = from->dtype,
                          .shape = from->shape,
                          .elements = from->elements,
                          .data = (void *)(uintptr_t)from->data};
        from->data = NULL;
    } else if (from->dtype == PE_DTYPES) {
        return pe_fail(
            why, PE_INVALID_PARAMETER, "",
            "the element type of tensor%s%s must be one of F32, F64, F16, BF16, I32, I64, C64",
            from->name[0] != '\0' ? " " : "", from->name);
    } else if (dtype == PE_INT32 && from->dtype != PE_INT32) {
        return pe_fail(why, PE_INVALID_PARAMETER, "dtype",
                       "dtype is int32, so the body's numbers must be int32, got %s",
                       pe_dtype_name(from->dtype));
    } else if (!pe_stored_borrow(from, dtype, out)) {
        PE_TRY(pe_stored_array(from, dtype, out, why));
    }
    if (inputs)
        return PE_OK;
    snprintf(upload->name, sizeof upload->name, "%.63s",
             lone && pe_claim_is_nameless(from->name) ? "" : from->name);
    claim->n_uploads++;
    return PE_OK;
}

/* The numbers of JSON, and what the tensors tell. */
static pe_status read_tensors(pe_claim_reader *r, const pe_claim_group *group, pe_claim *claim,
                              pe_stored_list *list, pe_query *query, pe_problem *why)
{
    pe_status status = PE_OK;
    char first[PE_STORED_NAME_BYTES];
    pe_dtype dtype = pe_values_dtype(&query->values);
    if (group->vectors && r->body == NULL && dtype == PE_INT32)
        dtype = PE_FLOAT32;
    for (size_t t = 0; t < list->n && status == PE_OK && r->body == NULL; t++)
        status = pe_claim_json_scan(r, dtype, &list->tensor[t], why);
    snprintf(first, sizeof first, "%s",
             r->body == NULL && list->n > 0 ? list->tensor[0].name : "inputs");
    claim->of_keys = group->vectors && pe_claim_family_of(&list->tensor[0]) == PE_FAMILY_KEY;
    if (group->vectors)
        (void)pe_claim_groups_name(list);
    r->query = query;
    if (status == PE_OK && list->n > 0)
        status = pe_claim_shapes_read(r, list, group->vectors ? first : NULL, why);
    claim->resource = query->resource;
    return status;
}

/* What is claimed of the numbers, then the numbers: mistakes of both are told. */
static pe_status read_group(pe_claim_reader *r, const pe_claim_group *group, pe_claim *claim,
                            pe_stored_list *list, pe_problem *why)
{
    pe_query query;
    pe_problem mistake;
    pe_read_limits limits = *r->limits;
    limits.keep_mistakes = r->body == NULL && limits.plan != NULL;
    PE_TRY(pe_query_begin(claim->resource, &query, why));
    pe_status status = read_query(r, &query, skip_own, why);
    if (r->layers != NULL && !pe_status_is_ours(status)) /* what was not said */
        status = PE_ALSO(status, pe_model_fill(&r->layers->values, &query.values, &mistake));
    size_t bytes = 0; /* of text */
    for (size_t t = 0; t < list->n && r->body == NULL; t++)
        bytes += list->tensor[t].bytes;
    const bool reads = status == PE_OK || (!pe_status_is_ours(status) && bytes <= PE_READ_LARGE);
    const pe_status tensors = reads ? read_tensors(r, group, claim, list, &query, &mistake) : PE_OK;
    query.resource = claim->resource;
    status = pe_query_finish(&query, status, &limits, &query, why);
    if (status != PE_OK)
        return PE_ALSO(status, tensors);
    if (query.mistakes != NULL)
        status = (*why = *query.mistakes).status;
    status = PE_ALSO(status, tensors);
    const pe_dtype dtype = pe_values_dtype(&query.values);
    PE_TRY(PE_ALSO(status, take_query(claim, &query, &mistake)));
    for (size_t t = 0; t < list->n; t++)
        PE_TRY(take_tensor(r, claim, &list->tensor[t], list->n == 1, dtype, why));
    if (r->angles && r->body != NULL && r->body->awaited > 0)
        return pe_claim_groups_fail_begun(why);
    return r->angles ? pe_claim_shapes_take_angles(claim, why) : PE_OK;
}

static pe_status check_axis(pe_claim_reader *r, pe_problem *why)
{
    bool vectors = false;
    for (size_t g = 0; g < r->n_groups; g++)
        vectors |= r->groups[g].vectors;
    return !r->has_axis || vectors || r->claim.resource == NULL
               ? PE_OK
               : pe_fail(why, PE_INVALID_PARAMETER, "seq_axis",
                         "seq_axis is an axis of inputs, which are not given");
}

/* One claim for each group of tensors; all have what was said. */
static pe_status read_groups(pe_claim_reader *r, pe_problem *why)
{
    pe_claim *claim = &r->claim;
    pe_claim given = *claim;
    given.reported = given.doubts = given.unpacked = (pe_buffer){0}; /* of the first alone */
    pe_status status = PE_OK;
    if (given.resource == NULL)
        return PE_OK; /* was told */
    for (size_t g = 0; g < r->n_groups && status == PE_OK; g++) {
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
        status = read_group(r, &r->groups[g], claim, &list, why);
    }
    return status == PE_OK && r->claim.reported.failed ? pe_fail_memory(why) : status;
}

/* ---- the end ---- */

/* The channels of each vector, in another order. */
static pe_status put_in_order(pe_array *vectors, const uint32_t *order, pe_problem *why)
{
    const size_t d = vectors->shape.dim[vectors->shape.ndim - 1];
    const size_t bytes = pe_dtype_bytes(vectors->dtype);
    unsigned char *row = malloc(d * bytes), *at = vectors->data;
    if (row == NULL)
        return pe_fail_memory(why);
    for (size_t v = 0; v < vectors->elements / d; v++, at += d * bytes) {
        memcpy(row, at, d * bytes);
        for (size_t c = 0; c < d; c++)
            memcpy(at + c * bytes, row + order[c] * bytes, bytes);
    }
    free(row);
    return PE_OK;
}

/* Vectors are compared as rope/table turns them: what is known of one axis or several holds. */
static pe_status turn_vectors(pe_claim *claim, pe_problem *why)
{
    pe_values values;
    uint32_t *order = NULL;
    if (claim->inputs.elements > 0 && claim->resource == &pe_rope_xpos_table)
        return pe_claim_xpos_turn(claim, why);
    if (claim->inputs.elements == 0 || claim->resource->turned == NULL)
        return PE_OK;
    pe_status status = claim->resource->turned(&claim->values, &values, &order, why);
    if (status != PE_OK) {
        free(order);
        return status;
    }
    pe_array *in = &claim->inputs, *out = &claim->uploads[0].array;
    const size_t d = (size_t)pe_values_int(&claim->values, "head_dim");
    size_t c = 0;
    while (c < d && order[c] == c)
        c++;
    if (c < d && in->shape.dim[in->shape.ndim - 1] == d &&
        out->shape.dim[out->shape.ndim - 1] == d) { /* or they are refused later */
        pe_claim_report(&claim->reported, "channels are compared in the order of their axes");
        status = put_in_order(in, order, why);
        if (status == PE_OK)
            status = put_in_order(out, order, why);
    }
    free(order);
    pe_claim_report(&claim->reported,
                    "vectors rotated by %s are compared with rope/table and axes_dims",
                    claim->resource->name);
    pe_values_free(&claim->values);
    claim->values = values;
    claim->resource = &pe_rope_table;
    return status;
}

/* What the same claim is of other layers: what was given stays, the rest is theirs. */
static pe_status take_layers(const pe_model *model, const pe_model_layers *layers,
                             const pe_claim *claim, pe_claim_layers *out, pe_problem *why)
{
    snprintf(out->name, sizeof out->name, "%s", layers->layer_type);
    PE_TRY(pe_values_copy(&claim->values, &out->values, why));
    for (size_t i = 0; i < out->values.n; i++) {
        pe_value *value = &out->values.value[i];
        bool is_theirs = value->param->optional && !value->given;
        for (size_t k = 0; k < model->n_kinds && !is_theirs && !value->given; k++) {
            const pe_value *of = pe_values_find(&model->kinds[k].values, value->param->name);
            is_theirs = of != NULL && of->present;
        }
        if (!is_theirs)
            continue;
        pe_value_clear(value);
        *value = (pe_value){.param = value->param};
    }
    const pe_status status = pe_model_fill(&layers->values, &out->values, why);
    return status == PE_OK ? pe_values_defaults(&out->values, why) : status;
}

/* An upload is held against all layers of its model. */
static pe_status take_others(const pe_claim_reader *r, pe_claim *claim, pe_problem *why)
{
    const pe_model *model = r->configured;
    if (model == NULL || model->n_kinds < 2 || model->kinds[0].resource != &pe_rope_table)
        return PE_OK;
    claim->others = calloc(model->n_kinds, sizeof *claim->others);
    if (claim->others == NULL)
        return pe_fail_memory(why);
    for (size_t k = 0; k < model->n_kinds; k++)
        if (model->kinds[k].resource == &pe_rope_table && &model->kinds[k] != r->layers)
            PE_TRY(take_layers(model, &model->kinds[k], claim, &claim->others[claim->n_others++],
                               why));
    return PE_OK;
}

/* Release what was read; the claim goes to *out, or is freed on failure. */
static pe_status finish(pe_claim_reader *r, pe_claim *out, pe_problem *why)
{
    pe_status status = r->failed;
    for (pe_claim *one = &r->claim; one != NULL && status == PE_OK; one = one->next) {
        status = turn_vectors(one, why);
        if (status == PE_OK)
            status = take_others(r, one, why);
    }
    for (size_t t = 0; t < r->tensors.n && r->body == NULL; t++)
        if (r->tensors.tensor[t].elements != SIZE_MAX) /* it was read, and perhaps not taken */
            free((void *)(uintptr_t)r->tensors.tensor[t].data);
    pe_model_free(r->configured);
    free(r->tensors.tensor);
    if (status == PE_OK)
        *out = r->claim;
    else
        pe_verify_claim_free(&r->claim);
    return status;
}

/* A mistake does not end the reading: steps that depend on it find nothing to do. */
static pe_status parse(pe_claim_reader *r, pe_claim *out, pe_problem *why)
{
    static pe_status (*const steps[])(pe_claim_reader * r, pe_problem * why) = {
        read_own,      pe_claim_tensors_of_body, read_config,
        read_resource, pe_claim_tensors_of_json, check_axis,
        read_groups,
    };
    const pe_limits *plan = r->limits->plan;
    pe_problem mistake;
    r->claim.tolerance = -1;
    r->claim.seq_axis = -2;
    for (size_t i = 0; i < PE_LEN(steps) && !pe_status_is_ours(r->failed) && !r->is_broken; i++)
        r->failed = PE_ALSO(r->failed, steps[i](r, &mistake));
    if (r->body == NULL && r->failed != PE_OK && !pe_status_is_ours(r->failed) &&
        r->claim.values.n > 0 && plan != NULL) { /* the mistakes of the parameters' plan, too */
        pe_plan none = {0};
        pe_query query = {
            .resource = r->claim.resource, .values = r->claim.values, .mistakes = why};
        r->failed = pe_query_plan(&query, r->limits->tables, plan, &none, &mistake);
        *why = mistake;
    }
    return finish(r, out, why);
}

pe_status pe_claim_json_parse(pe_slice json, const char *more, const pe_read_limits *limits,
                              pe_claim *out, pe_problem *why)
{
    return parse(&(pe_claim_reader){.limits = limits, .json = json, .more = more}, out, why);
}

pe_status pe_claim_binary_parse(const pe_binary_body *body, const pe_read_limits *limits,
                                pe_claim *out, pe_problem *why)
{
    return parse(&(pe_claim_reader){.limits = limits, .body = body}, out, why);
}
