/* SPDX-License-Identifier: MIT */
/* alibi_padded_bias.c - attention's linear biases of keys some of which are padding. */
#include <stdlib.h>
#include <string.h>

#include "encodings/relative/alibi.h"
#include "encodings/registry.h"
#include "plan/plan.h"

static const pe_param own[] = {
    PE_PARAM("attention_mask", TENSOR, .required = true, .integers_only = true, .as_float64 = true,
             .min_dims = 2, .max_dims = 2,
             .help = "The mask [batch, keys]. 1 is a key, 0 is padding.",
             .example = "[[1,1,1,0],[0,0,1,1]]"),
};

typedef struct state {
    pe_dtype dtype;
    pe_alibi_heads heads;
    size_t keys;
    uint32_t *position; /* [batch, keys], owned; of padding 0 */
} state;

static void put_run(const state *s, const pe_alibi_head *head, const uint32_t *position, size_t n,
                    unsigned char *out)
{
    const size_t bytes = pe_dtype_bytes(s->dtype);
    for (size_t done = 0, run; done < n; done += run, out += run * bytes) {
        /* How many positions go on as the next two do: all zero, or rising by one. */
        const uint32_t *at = position + done;
        const bool zero = at[0] == 0 && (done + 1 == n || at[1] == 0);
        for (run = 1; done + run < n && at[run] == at[run - 1] + (zero ? 0 : 1);)
            run++;
        if (zero)
            memset(out, 0, run * bytes);
        else
            pe_alibi_ramp(head, s->dtype, at[0], 1, run, out);
    }
}

static pe_status fill(const pe_plan *plan, const pe_region *region, void *out,
                      pe_problem *why PE_UNUSED)
{
    const state *s = plan->state;
    const size_t heads = s->heads.chosen.count;
    unsigned char *at = out;
    const size_t first = region->first, units = region->units;
    for (size_t done = 0, n; done < units; done += n) {
        const size_t row = (first + done) / s->keys, from = (first + done) % s->keys;
        n = units - done < s->keys - from ? units - done : s->keys - from;
        put_run(s, pe_alibi_heads_at(&s->heads, row % heads),
                s->position + row / heads * s->keys + from, n, at);
        at += n * pe_dtype_bytes(s->dtype);
    }
    return PE_OK;
}

/* ---- the plan ---- */

/* Unmasked keys count from 0 in each row; *most: the last of all. */
static pe_status count_keys(const pe_array *mask, pe_plan *plan, size_t *most, pe_problem *why)
{
    state *s = plan->state;
    const double *key = mask->data;
    s->keys = mask->shape.dim[1];
    s->position = malloc(mask->elements * sizeof s->position[0]);
    if (s->position == NULL)
        return pe_fail_memory(why);
    pe_plan_owns(plan, s->position, free);
    *most = 0;
    for (size_t i = 0, seen = 0; i < mask->elements; i++) {
        if (i % s->keys == 0)
            seen = 0;
        if (key[i] != 0 && key[i] != 1)
            return pe_fail(why, PE_INVALID_PARAMETER, "attention_mask",
                           "attention_mask must be 1 for a key and 0 for padding, got %.17g at "
                           "[%zu, %zu]",
                           key[i], i / s->keys, i % s->keys);
        s->position[i] = key[i] == 1 ? (uint32_t)seen++ : 0;
        *most = s->position[i] > *most ? s->position[i] : *most;
    }
    return PE_OK;
}

static pe_status plan_bias(pe_values *values, pe_plan *out, pe_problem *why)
{
    const pe_array *mask = pe_values_tensor(values, "attention_mask");
    const pe_dtype dtype = pe_values_dtype(values);
    size_t most = 0;
    PE_TRY(pe_alibi_heads_check(values, why));
    const pe_shape shape = {
        4,
        {mask->shape.dim[0], pe_values_positions(values, "heads")->count, 1, mask->shape.dim[1]}};
    PE_TRY(pe_plan_add_tensor(out, "bias", dtype, &shape, 1, why));
    PE_TRY(pe_plan_begin(out, sizeof(state), fill, why));
    state *s = out->state;
    s->dtype = dtype;
    PE_TRY(count_keys(mask, out, &most, why));
    PE_TRY(pe_alibi_heads_plan(values, out, &s->heads, why));
    return pe_alibi_heads_fit(&s->heads, dtype, most, "attention_mask", why);
}

/**
 * The form of /v1/alibi/bias that is called key, in batches padded on either side.
 *
 * Shapes    attention_mask: [batch, keys] -> [batch, heads, 1, keys].
 * Accuracy  correctly rounded.
 */
const pe_resource pe_alibi_padded_bias = {
    PE_NAMED("alibi", "/padded-bias"),
    .kind = PE_TRANSFORM,
    .claimed_otherwise = true,
    .summary = "The biases that ALiBi adds to the attention scores of a padded batch.",
    .formula = "m j', j' = 1 of attention_mask up to key j, less one; 0 where attention_mask is 0",
    .labels = PE_LABELS({.axes = "head, query, key", .value = "bias"}),
    .source = PE_ALIBI_SOURCE "; build_alibi_tensor of "
                              "huggingface/transformers@b4b5244c9c7cdb80d0aaafdb8f35244612788532",
    .param_sets = {PE_PARAMS(own), &pe_params_model, &pe_alibi_num_heads_params,
                   &pe_alibi_heads_params, &pe_alibi_slope_params, &pe_params_output_exact},
    .plan = plan_bias,
};
