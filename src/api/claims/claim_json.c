/* SPDX-License-Identifier: MIT */
/* claim_json.c - a claim from a JSON object. */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/claims/claim_reader.h"
#include "api/json_read.h"
#include "base/nearest.h"
#include "encodings/registry.h"
#include "plan/plan.h"
#include "text/scan.h"

/* More members than any resource has. Whether others are misspelled is left to the resource, which
 * looks at few: a body may have millions. */
#define LOOKED_UP_MAX 128

/* Members that hold numbers. */
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
    MEMBERS
};
static_assert(MEMBERS == PE_CLAIM_MEMBERS, "the reader has a place for each");
static const char *const names[] = {
    "table",   "data", "bias",      "slopes",  "cos", "sin",       "inv_freq", "inputs",
    "rotated", "q",    "q_rotated", "q_embed", "k",   "k_rotated", "k_embed",  "config"};

/* ---- members ---- */

/* What others call a member, or the nearest. */
static const char *member_meant(const char *key)
{
    static const char *const called[][2] = {
        {"actual", "table"}, {"tol", "tolerance"}, {"atol", "tolerance"}, {"rtol", "tolerance"}};
    const char *all[5 + PE_LEN(names)] = {"encoding", "layer_type", "tolerance", "seq_axis",
                                          "parameters"};
    for (size_t i = 0; i < PE_LEN(called); i++)
        if (strcmp(key, called[i][0]) == 0)
            return called[i][1];
    memcpy(all + 5, names, sizeof names);
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

bool pe_claim_json_is_member(const char *key)
{
    return pe_nearest_is_name(key, names, PE_LEN(names));
}

pe_status pe_claim_json_keep(pe_claim_reader *r, const char *key, pe_slice json, pe_problem *why)
{
    for (size_t m = 0; m < PE_LEN(names); m++)
        if (strcmp(key, names[m]) == 0)
            return pe_query_keep(m < MEMBERS ? &r->member[m] : &r->config, key, json, why);
    const bool looked_up = r->looked_up++ < LOOKED_UP_MAX && !is_parameter(key);
    const char *near = looked_up ? member_meant(key) : NULL;
    return near == NULL ? PE_OK
                        : pe_fail(why, PE_UNKNOWN_PARAMETER, key,
                                  "unknown parameter %.64s, did you mean %s?", key, near);
}

static pe_status read_resource(pe_claim_reader *r, pe_problem *why)
{
    const pe_status status = pe_claim_reader_config(r, why);
    return status == PE_OK
               ? pe_claim_set_resource(&r->claim, r->encoding, r->member[SLOPES].text != NULL, why)
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
    const pe_slice table = r->member[r->member[DATA].text != NULL ? DATA : TABLE];
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

static pe_status add_tensor(pe_claim_reader *r, const char *name, pe_slice json, const char *place,
                            pe_problem *why)
{
    pe_stored_list *list = &r->tensors;
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
static pe_status add_member(pe_claim_reader *r, size_t m, pe_problem *why)
{
    const pe_slice json = r->member[m];
    if (m == DATA)
        pe_claim_report(&r->shapes.reported, "data is taken for table");
    return m <= DATA && json.text[0] == '{'
               ? pe_json_members_walk(json, r->limits->max_depth - 1, table_member, r, why)
               : add_tensor(r, names[m], json, names[m], why);
}

/* Vectors by these names are a claim of their own, if the body has them. */
static pe_status add_vectors(pe_claim_reader *r, size_t inputs, size_t rotated, pe_problem *why)
{
    const bool before = r->member[inputs].text != NULL, after = r->member[rotated].text != NULL;
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
    PE_TRY(add_member(r, inputs, why));
    return add_member(r, rotated, why);
}

/* The members that hold the numbers. Parameters are read where they are missing, too. */
static pe_status find_tensors(pe_claim_reader *r, pe_problem *why)
{
    size_t holder = MEMBERS;
    pe_status status = pe_claim_reader_make_room(r, PE_UPLOADS_MAX, why);
    r->n_groups = 1;
    for (size_t m = 0; m < MEMBERS && status == PE_OK; m++) {
        if (r->member[m].text == NULL)
            continue;
        if (holder < COS || (holder < INPUTS && m >= INPUTS))
            return pe_fail(why, PE_INVALID_PARAMETER, names[m],
                           "%s does not go with %s: verify one at a time", names[m], names[holder]);
        holder = holder == MEMBERS ? m : holder;
        status = m < INPUTS ? add_member(r, m, why) : PE_OK;
    }
    const size_t q = r->member[Q_ROTATED].text == NULL && r->member[Q_EMBED].text != NULL;
    const size_t k = r->member[K_ROTATED].text == NULL && r->member[K_EMBED].text != NULL;
    if (holder == MEMBERS)
        return pe_fail(why, PE_MISSING_PARAMETER, "table",
                       "table is required: the numbers to verify (or cos and sin, inv_freq, bias, "
                       "slopes, inputs and rotated, or q and q_rotated)");
    if (status == PE_OK)
        status = add_vectors(r, INPUTS, ROTATED, why);
    if (status == PE_OK)
        status = add_vectors(r, Q, Q_ROTATED + q, why);
    if (status == PE_OK)
        status = add_vectors(r, K, K_ROTATED + k, why);
    if (status == PE_OK && holder < INPUTS)
        r->groups[0].n = r->tensors.n;
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
    static pe_claim_step *const steps[] = {read_resource, find_tensors, pe_claim_reader_check_axis,
                                           pe_claim_reader_groups};
    pe_claim_reader r = {.claim = PE_CLAIM_EMPTY, .limits = limits, .json = json, .why = why};
    pe_claim_reader_do(&r, pe_claim_reader_own);
    const bool broken = r.failed != PE_OK && why->where[0] == '\0'; /* whatever its members are */
    for (size_t i = 0; i < PE_LEN(steps) && !broken; i++)
        pe_claim_reader_do(&r, steps[i]);
    plan_refused(&r);
    return pe_claim_reader_finish(&r, out, why);
}
