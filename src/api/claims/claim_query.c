/* SPDX-License-Identifier: MIT */
/* claim_query.c - a claim from tensors in a binary body and its query string. */
#include <stdio.h>
#include <string.h>

#include "api/claims/claim_reader.h"
#include "api/claims/tensor_rows.h"
#include "plan/resource.h"

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

static bool is_rows(const pe_stored *tensor, pe_tensor_rows *rows)
{
    return tensor->dtype != PE_DTYPES && tensor->shape.ndim >= 2 &&
           pe_tensor_rows_read(tensor, 1, rows) && rows->n >= 2 &&
           rows->width >= (tensor->shape.ndim == 2 ? 2 : 3) && /* two may be a complex number */
           !tensor->fortran && !tensor->swapped && !tensor->wide && !tensor->is_complex;
}

/* Of what is still arriving: tensors of rows, of which two rows are there, or are waited for: one
 * tensor, or cosines and sines. */
static pe_status check_rows(const pe_claim_reader *r, pe_problem *why)
{
    const pe_binary_body *body = r->body;
    const pe_stored *tensor = r->tensors.tensor;
    size_t needed = r->tensors.n > 0 ? 0 : SIZE_MAX;
    for (size_t t = 0; t < r->tensors.n; t++) {
        const size_t first = (size_t)(tensor[t].data - (const unsigned char *)body->data);
        pe_tensor_rows rows;
        if (!is_rows(&tensor[t], &rows) ||
            (r->tensors.n > 1 && !pe_claim_are_cosines_and_sines(&r->tensors)))
            return pe_claim_groups_fail_begun(why);
        const size_t two = first + 2 * rows.width * pe_stored_size(&tensor[t]);
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
static pe_status read_body(pe_claim_reader *r, pe_problem *why)
{
    pe_binary_body body = *r->body;
    body.takes_complex = true;
    body.unpacked = &r->unpacked;
    PE_TRY(pe_claim_reader_make_room(r, TENSORS_MAX, why));
    pe_status status = body.n_parts > 1
                           ? read_parts(r, why)
                           : pe_binary_body_read(&body, r->limits->max_elements, &r->tensors, why);
    if (status == PE_OK && body.n_parts <= 1 && body.awaited > 0)
        status = check_rows(r, why);
    r->tensors.n = status == PE_OK ? r->tensors.n : 0;
    return status;
}

static pe_status read_resource(pe_claim_reader *r, pe_problem *why)
{
    pe_claim *claim = &r->claim;
    const pe_stored_list *all = &r->tensors; /* slopes are named so, or are one vector */
    const bool slopes =
        pe_claim_groups_find(all, "slopes") != NULL ||
        (all->n == 1 && all->tensor[0].shape.ndim == 1 && all->tensor[0].elements > 1);
    if (r->encoding[0] == '\0' && r->config.text != NULL)
        return PE_OK; /* it is refused: what it does not tell is no second mistake */
    const pe_status status = pe_claim_set_resource(claim, r->encoding, slopes, why);
    if (status == PE_OK && r->body->awaited > 0 &&
        strcmp(claim->resource->name, "rope/grid") == 0) /* all its numbers tell what it is */
        return pe_claim_groups_fail_begun(why);
    if (status == PE_OK && r->tensors.n > 0)
        r->n_groups = pe_claim_groups_sort(&r->shapes.reported, &r->shapes.doubts, claim->resource,
                                           &r->tensors, r->groups);
    return status;
}

pe_status pe_claim_binary_parse(const pe_binary_body *body, const pe_read_limits *limits,
                                pe_claim *out, pe_problem *why)
{
    static pe_claim_step *const steps[] = {
        pe_claim_reader_own,        read_body,
        pe_claim_reader_config,     read_resource,
        pe_claim_reader_check_axis, pe_claim_reader_groups,
    };
    pe_claim_reader r = {.claim = PE_CLAIM_EMPTY, .limits = limits, .body = body, .why = why};
    for (size_t i = 0; i < PE_LEN(steps); i++)
        pe_claim_reader_do(&r, steps[i]);
    return pe_claim_reader_finish(&r, out, why);
}
