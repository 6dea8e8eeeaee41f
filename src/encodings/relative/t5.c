/* SPDX-License-Identifier: MIT */
/* t5.c - buckets of relative positions, as T5 and those after it count them. */
#include "encodings/relative/t5.h"

#include <stddef.h>
#include <stdlib.h>

#include "encodings/registry.h"

static const char *const variants[] = {[PE_T5_VARIANT_T5] = "t5",
                                       [PE_T5_VARIANT_MPNET] = "mpnet",
                                       [PE_T5_VARIANT_WAVLM] = "wavlm",
                                       [PE_T5_VARIANT_DEBERTA] = "deberta",
                                       NULL};

static const pe_param own[] = {
    {.name = "variant",
     .kind = PE_KIND_CHOICE,
     .choices = variants,
     .help = "The model whose buckets are meant. t5: buckets of key - query; all distances from "
             "max_distance on share the last one. mpnet, wavlm: the same, in both directions. "
             "deberta: signed buckets of query - key, logarithmic without end.",
     .example = "t5"},
    {.name = "att_span",
     .kind = PE_KIND_INT,
     .optional = true,
     .min = 1,
     .max = 1073741823,
     .unit = "buckets",
     .help = "For DeBERTa: the answer has rows of its 2 att_span embeddings instead of buckets. A "
             "row is bucket + att_span, limited to 0 and 2 att_span - 1.",
     .example = "256"},
};

typedef struct state {
    pe_relative table;
    pe_buckets buckets;
    int32_t span; /* 0: buckets are wanted, not rows of embeddings */
} state;
_Static_assert(offsetof(state, table) == 0, "the window's state begins with it");

static void free_state(void *of)
{
    state *s = of;
    pe_t5_buckets_free(&s->buckets);
    free(s);
}

/* The row of 2 span embeddings that a bucket has. */
static int32_t row_of(int32_t bucket, int32_t span)
{
    const int32_t row = bucket + span;
    return row < 0 ? 0 : row > 2 * span - 1 ? 2 * span - 1 : row;
}

static void run(const void *of, size_t layer, int64_t relative, size_t n, unsigned char *out)
{
    (void)layer;
    const state *s = of;
    int32_t *to = (int32_t *)(void *)out; /* out is aligned, and so is every element */
    for (int64_t left = (int64_t)n, same; left > 0; left -= same, relative += same) {
        const int32_t bucket = pe_t5_buckets_at(&s->buckets, relative, &same);
        const int32_t element = s->span != 0 ? row_of(bucket, s->span) : bucket;
        same = same < left ? same : left;
        for (int64_t i = 0; i < same; i++)
            *to++ = element;
    }
}

static pe_status check_span(const pe_values *values, size_t variant, pe_problem *why)
{
    if (variant == PE_T5_VARIANT_DEBERTA || !pe_values_present(values, "att_span"))
        return PE_OK;
    return pe_fail(why, PE_INVALID_PARAMETER, "att_span",
                   "att_span is read by variant=deberta only, variant is %s", variants[variant]);
}

static pe_status check(pe_values *values, size_t variant, pe_problem *why)
{
    pe_status status = pe_relative_lengths(values, why);
    if (status != PE_OK)
        return status;
    status = check_span(values, variant, why);
    return status != PE_OK ? status : pe_t5_variant_read(values, variant, why);
}

static pe_status plan_buckets(pe_values *values, struct pe_tables *tables, const pe_limits *limits,
                              pe_plan *out, pe_problem *why)
{
    (void)tables;
    const size_t variant = pe_values_choice(values, "variant");
    pe_status status = check(values, variant, why);
    if (status != PE_OK)
        return status;
    const pe_relative_window window = {.tensor = "buckets",
                                       .dtype = PE_INT32,
                                       .run = run,
                                       .state_bytes = sizeof(state),
                                       .free_state = free_state};
    status = pe_relative_plan(&window, values, limits, out, why);
    if (status != PE_OK)
        return status;
    state *s = out->state;
    s->span =
        pe_values_present(values, "att_span") ? (int32_t)pe_values_int(values, "att_span") : 0;
    return pe_t5_variant_plan(values, variant, pe_values_int(values, "key_length") - 1, &s->buckets,
                              out, why);
}

/**
 * The bucket of every query and key.
 *
 * Source    Raffel et al. 2020, arXiv:1910.10683, section 2.1; He et al. 2021, arXiv:2006.03654.
 * Shapes    [query_length, key_length], int32.
 * Accuracy  that of real arithmetic; a warning tells where upstream's float32 logarithms miss an
 *           edge, which they do not at the usual settings.
 */
const pe_resource pe_t5_buckets = {
    .path = "/v1/t5/buckets",
    .encoding = "t5",
    .name = "t5/buckets",
    .kind = PE_TABLE,
    .summary = "The bucket of every relative position.",
    .formula = PE_T5_FORMULA
    "; deberta: d = query - key, m = floor(num_buckets/2): |d| <= m ? d : sign(d) (m + "
    "ceil((m - 1) ln(|d|/m) / ln((max_distance - 1)/m)))",
    .labels = PE_LABELS({.axes = "query, key", .value = "bucket"}),
    .source = PE_T5_SOURCE "; deberta: He et al. 2021, arXiv:2006.03654, make_log_bucket_position "
                           "there; " PE_T5_OTHERS_SOURCE,
    .param_sets = {&pe_relative_window_params, &pe_params_model, &pe_t5_bucket_params,
                   PE_PARAMS(own), &pe_params_output_int32},
    .plan = plan_buckets,
};
