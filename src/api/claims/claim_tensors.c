/* SPDX-License-Identifier: MIT */
/* claim_tensors.c - the tensors of a claim, of members of a JSON object or in a body, as one list. */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/claims/claim_reader.h"
#include "api/claims/tensor_rows.h"
#include "api/json_read.h"
#include "base/nearest.h"
#include "encodings/registry.h"
#include "plan/resource.h"
#include "text/scan.h"

/* ---- members of a JSON object ---- */

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

bool pe_claim_json_is_member(const char *key)
{
    return pe_nearest_is_name(key, names, PE_LEN(names));
}

pe_status pe_claim_json_keep(pe_claim_reader *r, const char *key, pe_slice json, pe_problem *why)
{
    r->has_slopes |= strcmp(key, names[SLOPES]) == 0;
    for (size_t m = 0; m < PE_LEN(names); m++)
        if (strcmp(key, names[m]) == 0)
            return pe_query_keep(m < MEMBERS ? &r->member[m] : &r->config, key, json, why);
    /* A parameter of any claim is passed on: the encoding, which may come later, knows its own. */
    bool looked_up = r->looked_up++ < LOOKED_UP_MAX;
    for (size_t i = 0; pe_registry[i] != NULL && looked_up; i++)
        looked_up = pe_params_find(pe_registry[i]->param_sets, key) == NULL;
    const char *near = looked_up ? member_meant(key) : NULL;
    return near == NULL ? PE_OK
                        : pe_fail(why, PE_UNKNOWN_PARAMETER, key,
                                  "unknown parameter %.64s, did you mean %s?", key, near);
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
        pe_claim_report(&r->claim.reported, "data is taken for table");
    return m <= DATA && json.text[0] == '{'
               ? pe_json_members_walk(json, r->limits->max_depth - 1, table_member, r, why)
               : add_tensor(r, names[m], json, names[m], why);
}

/* Vectors by these names are a claim of their own, if the body has them. */
static pe_status add_vectors(pe_claim_reader *r, size_t inputs, size_t rotated, pe_problem *why)
{
    const bool before = r->member[inputs].text != NULL, after = r->member[rotated].text != NULL;
    const size_t has = before ? inputs : rotated, lacks = before ? rotated : inputs;
    if (!before && !after)
        return PE_OK;
    r->n_groups = r->tensors.n > 0 ? r->n_groups : 0;
    if (!before || !after)
        return pe_fail(why, PE_MISSING_PARAMETER, names[lacks], "%s is required with %s: the %s",
                       names[lacks], names[has],
                       before ? "same vectors, rotated" : "vectors before rotation");
    r->groups[r->n_groups++] = (pe_claim_group){.first = r->tensors.n, .n = 2, .vectors = true};
    PE_TRY(add_member(r, inputs, why));
    return add_member(r, rotated, why);
}

static pe_status make_room(pe_claim_reader *r, size_t tensors, pe_problem *why)
{
    r->tensors = (pe_stored_list){calloc(tensors, sizeof(pe_stored)), tensors, 0};
    return r->tensors.tensor != NULL ? PE_OK : pe_fail_memory(why);
}

pe_status pe_claim_tensors_of_json(pe_claim_reader *r, pe_problem *why)
{
    size_t holder = MEMBERS;
    if (r->body != NULL)
        return PE_OK;
    PE_TRY(make_room(r, PE_UPLOADS_MAX, why));
    r->n_groups = 1;
    for (size_t m = 0; m < MEMBERS; m++) {
        if (r->member[m].text == NULL)
            continue;
        if (holder < COS || (holder < INPUTS && m >= INPUTS))
            return pe_fail(why, PE_INVALID_PARAMETER, names[m],
                           "%s does not go with %s: verify one at a time", names[m], names[holder]);
        holder = holder == MEMBERS ? m : holder;
        PE_TRY(m < INPUTS ? add_member(r, m, why) : PE_OK);
    }
    if (holder == MEMBERS)
        return pe_fail(why, PE_MISSING_PARAMETER, "table",
                       "table is required: the numbers to verify (or cos and sin, inv_freq, bias, "
                       "slopes, inputs and rotated, or q and q_rotated)");
    PE_TRY(add_vectors(r, INPUTS, ROTATED, why));
    for (size_t of = Q; of <= K; of += K - Q) { /* "embed" is another name of "rotated" */
        const size_t rotated = of + 1, embed = of + 2;
        const bool is_embed = r->member[rotated].text == NULL && r->member[embed].text != NULL;
        PE_TRY(add_vectors(r, of, is_embed ? embed : rotated, why));
    }
    if (holder < INPUTS)
        r->groups[0] = pe_claim_group_of_all(&r->tensors);
    return PE_OK;
}

/* ---- a body ---- */

/* Tensors of a body: a state dict has many. */
#define TENSORS_MAX ((size_t)4096)

/* Files of NumPy, each a tensor with the name of its part, or of safetensors. */
static pe_status read_parts(pe_claim_reader *r, pe_problem *why)
{
    const pe_binary_body *body = r->body;
    const size_t most = r->limits->max_elements;
    for (const pe_binary_part *from = body->part; from < body->part + body->n_parts; from++) {
        const size_t n = r->tensors.n;
        pe_stored_list file = {r->tensors.tensor + n, r->tensors.room - n, 1};
        if (strcmp(body->media_type, "application/x-npy") != 0) {
            PE_TRY(pe_safetensors_file_read(from->data, most, &file, why));
        } else {
            PE_TRY(pe_npy_file_read(from->data, most, file.tensor, why));
            snprintf(file.tensor->name, sizeof file.tensor->name, "%s", from->name);
        }
        r->tensors.n += file.n;
    }
    return PE_OK;
}

/* Of what is still arriving: tensors of rows, of which two rows are there, or are waited for: one
 * tensor, or cosines and sines. */
static pe_status check_rows(const pe_claim_reader *r, pe_problem *why)
{
    const pe_binary_body *body = r->body;
    size_t needed = r->tensors.n > 0 ? 0 : SIZE_MAX;
    if (r->tensors.n > 1 && !pe_claim_are_cosines_and_sines(&r->tensors))
        return pe_claim_groups_fail_begun(why);
    for (const pe_stored *tensor = r->tensors.tensor; tensor < r->tensors.tensor + r->tensors.n;
         tensor++) {
        pe_tensor_rows rows;
        if (tensor->dtype == PE_DTYPES || tensor->shape.ndim < 2 ||
            !pe_tensor_rows_read(tensor, 1, &rows) || rows.n < 2 ||
            rows.width < (tensor->shape.ndim == 2 ? 2 : 3) || /* two may be a complex number */
            tensor->fortran || tensor->swapped || tensor->wide || tensor->is_complex)
            return pe_claim_groups_fail_begun(why);
        const size_t first = (size_t)(tensor->data - (const unsigned char *)body->data);
        const size_t two = first + 2 * rows.width * pe_stored_size(tensor);
        needed = two > needed ? two : needed;
    }
    if (needed <= body->bytes)
        return PE_OK;
    if (needed - body->bytes < body->awaited)
        *body->needed = needed;
    return pe_claim_groups_fail_begun(why);
}

/* The steps that follow a refusal find no tensor: they would make room for numbers, or read some,
 * that are not there. */
pe_status pe_claim_tensors_of_body(pe_claim_reader *r, pe_problem *why)
{
    if (r->body == NULL)
        return PE_OK;
    pe_binary_body body = *r->body;
    body.takes_complex = true;
    body.unpacked = &r->claim.unpacked;
    PE_TRY(make_room(r, TENSORS_MAX, why));
    pe_status status = body.n_parts > 1
                           ? read_parts(r, why)
                           : pe_binary_body_read(&body, r->limits->max_elements, &r->tensors, why);
    if (status == PE_OK && body.n_parts <= 1 && body.awaited > 0)
        status = check_rows(r, why);
    r->tensors.n = status == PE_OK ? r->tensors.n : 0;
    return status;
}
