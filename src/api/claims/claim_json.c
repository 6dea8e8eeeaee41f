/* SPDX-License-Identifier: MIT */
/* claim_json.c - a claim from a JSON object. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/claims/claim_reader.h"
#include "api/json_read.h"
#include "base/nearest.h"
#include "encodings/registry.h"
#include "plan/common_params.h"
#include "plan/plan.h"
#include "text/scan.h"

/* More members than any resource has. Whether others are misspelled is left to the resource, which
 * looks at few: a body may have millions. */
#define LOOKED_UP_MAX 128

/* Members that hold numbers, and the object of parameters, beside those of claim_reader.h. */
enum {
    TABLE,
    DATA, /* the same */
    BIAS,
    SLOPES,
    COS, /* to INV_FREQ: tensors of a table by their names, which may stand beside each other */
    SIN,
    INV_FREQ,
    INPUTS, /* from here on: vectors before and after rotation, each two a claim of their own */
    ROTATED,
    Q,
    Q_ROTATED,
    Q_EMBED,
    K,
    K_ROTATED,
    K_EMBED,
    PARAMETERS,
    MEMBERS
};
static const char *const names[MEMBERS] = {
    "table",   "data", "bias",      "slopes",  "cos", "sin",       "inv_freq", "inputs",
    "rotated", "q",    "q_rotated", "q_embed", "k",   "k_rotated", "k_embed",  "parameters"};

typedef struct reading {
    pe_claim_reader r; /* the first member: it is cast back */
    pe_slice member[MEMBERS];
    pe_slice model, dtype; /* as they were written, at any place */
    size_t looked_up;      /* members, for what they may have meant */
    pe_buffer nested;      /* owned: the members of parameters */
} reading;

/* ---- members ---- */

/* A member for the resource to read. */
static void pass_on(reading *b, const char *key, pe_slice json, pe_buffer *to)
{
    if (strcmp(key, "dtype") == 0)
        b->dtype = json;
    if (strcmp(key, "model") == 0)
        b->model = json;
    pe_buffer_json_string(to, key);
    pe_buffer_str(to, ":");
    pe_buffer_add(to, json.text, json.bytes);
    pe_buffer_str(to, ",");
}

/* Resources take a model's name beside their nested object only. */
static pe_status nested_member(void *state, const char *key, pe_slice json,
                               pe_problem *why PE_UNUSED)
{
    reading *b = state;
    const bool named = strcmp(key, "model") == 0 || strcmp(key, "layer_type") == 0;
    pass_on(b, key, json, named ? &b->r.rest : &b->nested);
    return PE_OK;
}

/* What others call a member, or the nearest. */
static const char *member_meant(const char *key)
{
    static const char *const called[][2] = {
        {"actual", "table"}, {"tol", "tolerance"}, {"atol", "tolerance"}, {"rtol", "tolerance"}};
    const char *all[PE_LEN(pe_claim_own_names) + MEMBERS];
    for (size_t i = 0; i < PE_LEN(called); i++)
        if (strcmp(key, called[i][0]) == 0)
            return called[i][1];
    memcpy(all, pe_claim_own_names, sizeof pe_claim_own_names);
    memcpy(all + PE_LEN(pe_claim_own_names), names, sizeof names);
    return pe_nearest_name(key, all, PE_LEN(all));
}

/* A parameter of any claim is passed on: the encoding, which may come later, knows its own. */
static bool is_parameter(const char *key)
{
    for (size_t r = 0; pe_registry[r] != NULL; r++)
        if (pe_params_find(pe_registry[r]->param_sets, key) != NULL)
            return true;
    return false;
}

static pe_status keep_member(reading *b, const char *key, pe_slice json, pe_problem *why)
{
    for (size_t m = 0; m < MEMBERS; m++)
        if (strcmp(key, names[m]) == 0)
            return pe_query_keep(&b->member[m], key, json, why);
    for (size_t o = 0; o < PE_CLAIM_OWN; o++)
        if (strcmp(key, pe_claim_own_names[o]) == 0)
            return pe_query_keep(&b->r.own[o], key, json, why);
    const bool looked_up = b->looked_up++ < LOOKED_UP_MAX && !is_parameter(key);
    const char *near = looked_up ? member_meant(key) : NULL;
    if (near != NULL)
        return pe_fail(why, PE_UNKNOWN_PARAMETER, key, "unknown parameter %.64s, did you mean %s?",
                       key, near);
    pass_on(b, key, json, &b->r.rest);
    return PE_OK;
}

static pe_status keep_or_note(void *state, const char *key, pe_slice json,
                              pe_problem *why PE_UNUSED)
{
    reading *b = state;
    pe_problem mistake;
    pe_claim_reader_note(&b->r, keep_member(b, key, json, &mistake), &mistake);
    return PE_OK;
}

static pe_status check_parameters(const reading *b, pe_problem *why)
{
    if (b->member[PARAMETERS].text[0] != '{')
        return pe_fail(why, PE_INVALID_PARAMETER, "parameters", "parameters must be an object");
    return b->r.own[PE_CLAIM_CONFIG].text == NULL
               ? PE_OK
               : pe_fail(why, PE_INVALID_PARAMETER, "config",
                         "config takes the place of parameters; put positions beside config, and "
                         "leave parameters out");
}

/* Fails where the body itself is broken, whatever its members are. */
static pe_status read_members(reading *b, pe_slice text, pe_problem *why)
{
    pe_problem mistake;
    const size_t depth = b->r.limits->max_depth;
    pe_status status = pe_json_members_walk(text, depth, keep_or_note, b, why);
    const pe_slice *own = b->r.own;
    if (own[PE_CLAIM_CONFIG].text == NULL && own[PE_CLAIM_LAYER_TYPE].text != NULL)
        pass_on(b, "layer_type", own[PE_CLAIM_LAYER_TYPE], &b->r.rest); /* of a model by name */
    if (status != PE_OK || b->member[PARAMETERS].text == NULL)
        return status;
    status = check_parameters(b, &mistake);
    pe_claim_reader_note(&b->r, status, &mistake);
    return status != PE_OK
               ? PE_OK
               : pe_json_members_walk(b->member[PARAMETERS], depth - 1, nested_member, b, why);
}

static pe_status read_text(pe_slice json, const char *name, char *out, size_t room, pe_problem *why)
{
    char *text = NULL;
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

static pe_status read_encoding(pe_claim_reader *r, pe_problem *why)
{
    return read_text(r->own[PE_CLAIM_ENCODING], "encoding", r->encoding, sizeof r->encoding, why);
}

/* ---- the encoding ---- */

/* Of no resource, dtype can be read alone. */
static pe_status check_dtype(pe_claim_reader *r, pe_problem *why)
{
    static const pe_resource any = {.path = "/v1/verify", .param_sets = {&pe_params_dtype}};
    const pe_slice dtype = ((const reading *)r)->dtype;
    pe_buffer text = {0};
    pe_query query;
    if (dtype.text == NULL || r->claim.resource != NULL)
        return PE_OK;
    pe_buffer_format(&text, "{\"dtype\":%.*s}", (int)dtype.bytes, dtype.text);
    const pe_status status =
        text.failed ? pe_fail_memory(why)
                    : pe_query_json_parse(&any, pe_buffer_slice(&text), r->limits, &query, why);
    pe_buffer_free(&text);
    if (status == PE_OK)
        pe_query_free(&query);
    return status;
}

static pe_status read_resource(pe_claim_reader *r, pe_problem *why)
{
    const reading *b = (const reading *)r; /* its first member */
    pe_status status = PE_OK;
    if (r->own[PE_CLAIM_CONFIG].text != NULL)
        status = read_text(r->own[PE_CLAIM_LAYER_TYPE], "layer_type", r->layer_type,
                           sizeof r->layer_type, why);
    else if (b->model.text != NULL && b->model.text[0] == '"')
        status = read_text(b->model, "model", r->model, sizeof r->model, why);
    if (status == PE_OK)
        status = pe_claim_reader_config(r, why);
    return status == PE_OK
               ? pe_claim_set_resource(&r->claim, r->encoding, b->member[SLOPES].text != NULL, why)
               : status;
}

/* ---- numbers ---- */

pe_status pe_claim_json_scan(const pe_claim_reader *r, pe_dtype dtype, pe_stored *tensor,
                             pe_problem *why)
{
    pe_array array;
    size_t used = 0;
    char place[80];
    const pe_slice json = {(const char *)tensor->data, tensor->bytes};
    const reading *b = (const reading *)r;
    const pe_slice table = b->member[b->member[DATA].text != NULL ? DATA : TABLE];
    const bool is_member = table.text != NULL && table.text[0] == '{';
    snprintf(place, sizeof place, "%s%.64s", is_member ? "table/" : "", tensor->name);
    const pe_scan_wanted wanted = {.name = place,
                                   .dtype = dtype,
                                   .max_elements = r->limits->max_elements,
                                   .takes_null = r->claim.resource->null_is_masked};
    if (json.text[0] != '[')
        return pe_fail(why, PE_INVALID_PARAMETER, place, "%s must be an array of numbers", place);
    PE_TRY(pe_scan_numbers(json, &wanted, &array, &used, why));
    if (used != json.bytes) {
        pe_array_free(&array);
        return pe_fail(why, PE_MALFORMED_REQUEST, place,
                       "%s is not a JSON array: its brackets do not match", place);
    }
    tensor->dtype = array.dtype;
    tensor->shape = array.shape;
    tensor->elements = array.elements;
    tensor->bytes = array.elements * pe_dtype_bytes(array.dtype);
    tensor->data = array.data;
    return PE_OK;
}

static pe_status add_tensor(reading *b, const char *name, pe_slice json, const char *place,
                            pe_problem *why)
{
    pe_stored_list *list = &b->r.tensors;
    if (list->n == list->room)
        return pe_fail(why, PE_INVALID_PARAMETER, "table", "table has more than %d tensors",
                       PE_UPLOADS_MAX);
    if (pe_claim_groups_find(list, name) != NULL)
        return pe_query_fail_repeated(place, name, why);
    pe_stored *tensor = &list->tensor[list->n++];
    *tensor = (pe_stored){.dtype = PE_FLOAT32, .elements = SIZE_MAX, .bytes = json.bytes};
    tensor->data = (const unsigned char *)json.text;
    snprintf(tensor->name, sizeof tensor->name, "%s", name);
    return PE_OK;
}

static pe_status table_member(void *state, const char *key, pe_slice json, pe_problem *why)
{
    char place[80];
    snprintf(place, sizeof place, "table/%.64s", key);
    return add_tensor(state, key, json, place, why);
}

/* The tensors of a member. */
static pe_status add_member(reading *b, size_t m, pe_problem *why)
{
    const pe_slice json = b->member[m];
    if (m == DATA)
        pe_claim_report(&b->r.shapes.reported, "data is taken for table");
    return m <= DATA && json.text[0] == '{'
               ? pe_json_members_walk(json, b->r.limits->max_depth - 1, table_member, b, why)
               : add_tensor(b, names[m], json, names[m], why);
}

/* Vectors by these names are a claim of their own, if the body has them. */
static pe_status add_vectors(reading *b, size_t inputs, size_t rotated, pe_problem *why)
{
    pe_claim_reader *r = &b->r;
    const bool before = b->member[inputs].text != NULL, after = b->member[rotated].text != NULL;
    if (!before && !after)
        return PE_OK;
    r->n_groups = r->tensors.n > 0 ? r->n_groups : 0;
    if (!after)
        return pe_fail(why, PE_MISSING_PARAMETER, names[rotated],
                       "%s is required with %s: the same vectors, rotated", names[rotated],
                       names[inputs]);
    if (!before)
        return pe_fail(why, PE_MISSING_PARAMETER, names[inputs],
                       "%s is required with %s: the vectors before rotation", names[inputs],
                       names[rotated]);
    r->groups[r->n_groups++] = (pe_claim_group){.first = r->tensors.n, .n = 2, .vectors = true};
    PE_TRY(add_member(b, inputs, why));
    return add_member(b, rotated, why);
}

/* The members that hold the numbers. Parameters are read where they are missing, too. */
static pe_status find_tensors(pe_claim_reader *r, pe_problem *why)
{
    reading *b = (reading *)r;
    size_t holder = MEMBERS;
    pe_status status = pe_claim_reader_make_room(r, PE_UPLOADS_MAX, why);
    r->n_groups = 1;
    for (size_t m = 0; m < PARAMETERS && status == PE_OK; m++) {
        if (b->member[m].text == NULL)
            continue;
        if (holder < COS || (holder < INPUTS && m >= INPUTS))
            return pe_fail(why, PE_INVALID_PARAMETER, names[m],
                           "%s does not go with %s: verify one at a time", names[m], names[holder]);
        holder = holder == MEMBERS ? m : holder;
        status = m < INPUTS ? add_member(b, m, why) : PE_OK;
    }
    const size_t q = b->member[Q_ROTATED].text == NULL && b->member[Q_EMBED].text != NULL;
    const size_t k = b->member[K_ROTATED].text == NULL && b->member[K_EMBED].text != NULL;
    if (holder == MEMBERS)
        return pe_fail(why, PE_MISSING_PARAMETER, "table",
                       "table is required: the numbers to verify (or cos and sin, inv_freq, bias, "
                       "slopes, inputs and rotated, or q and q_rotated)");
    if (status == PE_OK)
        status = add_vectors(b, INPUTS, ROTATED, why);
    if (status == PE_OK)
        status = add_vectors(b, Q, Q_ROTATED + q, why);
    if (status == PE_OK)
        status = add_vectors(b, K, K_ROTATED + k, why);
    if (status == PE_OK && holder < INPUTS)
        r->groups[0].n = r->tensors.n;
    return status;
}

/* ---- values ---- */

/* The resource's own body: its parameters as "parameters", and what stood beside them. */
pe_status pe_claim_json_read(const pe_claim_reader *r, pe_query *query, pe_problem *why)
{
    pe_buffer text = {0};
    const pe_resource *resource = query->resource;
    const pe_buffer *nested = &((const reading *)r)->nested;
    pe_resource with_parameters = *resource;
    with_parameters.nested = "parameters";
    pe_buffer_str(&text, "{");
    pe_buffer_add(&text, pe_buffer_slice(&r->rest).text, r->rest.bytes);
    pe_buffer_str(&text, "\"parameters\":{");
    pe_buffer_add(&text, pe_buffer_slice(nested).text, nested->bytes > 0 ? nested->bytes - 1 : 0);
    pe_buffer_str(&text, "}}");
    query->resource = &with_parameters;
    const pe_status status =
        text.failed || nested->failed
            ? pe_fail_memory(why)
            : pe_query_json_read(query, pe_buffer_slice(&text), r->limits, why);
    query->resource = resource;
    pe_buffer_free(&text);
    return status;
}

/* The mistakes of the parameters' plan, beside those that were told. */
static void plan_refused(pe_claim_reader *r)
{
    pe_problem all;
    pe_plan none = {0};
    const pe_read_limits *limits = r->limits;
    pe_query query = {.resource = r->claim.resource, .values = r->claim.values, .mistakes = r->why};
    if (r->failed == PE_OK || pe_status_is_ours(r->failed) || query.values.n == 0 ||
        limits->plan == NULL)
        return;
    r->failed = pe_query_plan(&query, limits->tables, limits->plan, &none, &all);
    *r->why = all;
}

pe_status pe_claim_json_parse(pe_slice json, const pe_read_limits *limits, pe_claim *out,
                              pe_problem *why)
{
    static pe_claim_step *const steps[] = {
        read_encoding, pe_claim_reader_axis,       pe_claim_reader_tolerance, read_resource,
        find_tensors,  pe_claim_reader_check_axis, pe_claim_reader_groups,    check_dtype,
    };
    pe_problem broken;
    reading b = {.r = {.claim = PE_CLAIM_EMPTY, .limits = limits, .why = why}};
    const pe_status status = read_members(&b, json, &broken);
    for (size_t i = 0; i < PE_LEN(steps) && status == PE_OK; i++)
        pe_claim_reader_do(&b.r, steps[i]);
    if (status == PE_OK) {
        plan_refused(&b.r);
    } else {
        b.r.failed = status;
        *why = broken;
    }
    pe_buffer_free(&b.nested);
    return pe_claim_reader_finish(&b.r, out, why);
}
