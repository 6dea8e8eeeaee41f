/* SPDX-License-Identifier: MIT */
/* t5.c - buckets of relative positions, as T5 and DeBERTa count them. */
#include "encodings/t5.h"

#include <stdlib.h>

#include "encodings/registry.h"

static const char *const variants[] = {
    [PE_T5_VARIANT_T5] = "t5", [PE_T5_VARIANT_DEBERTA] = "deberta", NULL};

static const pe_param params[] = {
    PE_RELATIVE_QUERY_LENGTH,
    PE_RELATIVE_KEY_LENGTH("query_length"),
    PE_T5_NUM_BUCKETS,
    PE_T5_MAX_DISTANCE,
    PE_T5_BIDIRECTIONAL,
    {.name = "variant",
     .kind = PE_KIND_CHOICE,
     .choices = variants,
     .help = "t5: buckets of key - query, the last one for all from max_distance on; deberta: "
             "signed, of query - key, logarithmic without end.",
     .example = "t5"},
    PE_RELATIVE_DTYPE,
    PE_PARAM_NUMERICS_EXACT,
};

typedef struct state {
    pe_relative table;
    pe_buckets buckets;
} state;

static void free_state(void *of)
{
    state *s = of;
    pe_buckets_free(&s->buckets);
    free(s);
}

static void run(const void *of, size_t layer, int64_t relative, size_t n, unsigned char *out)
{
    (void)layer;
    const state *s = of;
    int32_t *to = (int32_t *)(void *)out; /* out is aligned, and so is every element */
    for (int64_t left = (int64_t)n, same; left > 0; left -= same, relative += same) {
        const int32_t bucket = pe_bucket_of(&s->buckets, relative, &same);
        same = same < left ? same : left;
        for (int64_t i = 0; i < same; i++)
            *to++ = bucket;
    }
}

static pe_status fill(const pe_plan *plan, size_t t, size_t first, size_t units, void *out,
                      pe_problem *why)
{
    (void)t;
    (void)why;
    const state *s = plan->state;
    pe_relative_fill(&s->table, s, first, units, out);
    return PE_OK;
}

static pe_status plan_buckets(pe_values *values, struct pe_tables *tables, const pe_limits *limits,
                              pe_plan *out, pe_problem *why)
{
    (void)tables;
    const int64_t queries = pe_values_int(values, "query_length");
    pe_status status = pe_relative_lengths(values, queries, "query_length", why);
    if (status != PE_OK)
        return status;
    const size_t keys = (size_t)pe_values_int(values, "key_length");
    const pe_shape shape = {2, {(size_t)queries, keys}};
    status = pe_plan_add_tensor(out, limits, "buckets", PE_INT32, &shape, 1, why);
    if (status != PE_OK)
        return status;
    state *s = calloc(1, sizeof *s);
    if (s == NULL)
        return pe_fail_memory(why);
    out->state = s;
    out->free_state = free_state;
    out->fill = fill;
    s->table = pe_relative_make((size_t)queries, keys, sizeof(int32_t));
    s->table.run = run;
    return pe_buckets_make(values, pe_values_choice(values, "variant"), keys, &s->buckets, why);
}

/**
 * The bucket of every query and key.
 *
 * Source    Raffel et al. 2020, arXiv:1910.10683, section 2.1; He et al. 2021, arXiv:2006.03654.
 * Shapes    [query_length, key_length], int32.
 * Accuracy  that of real arithmetic; upstream's float32 logarithm may miss an edge by one.
 */
const pe_resource pe_t5_buckets = {
    .path = "/v1/t5/buckets",
    .encoding = "t5",
    .name = "t5/buckets",
    .kind = PE_TABLE,
    .summary = "The buckets into which relative positions fall.",
    .formula = PE_T5_FORMULA
    "; deberta: d = query - key, m = floor(num_buckets/2): |d| <= m ? d : sign(d) (m + "
    "ceil((m - 1) ln(|d|/m) / ln((max_distance - 1)/m)))",
    .source = PE_T5_SOURCE "; deberta: He et al. 2021, arXiv:2006.03654, make_log_bucket_position "
                           "there",
    .params = params,
    .n_params = PE_LEN(params),
    .plan = plan_buckets,
};
