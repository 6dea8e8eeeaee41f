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

static const pe_param window_params[] = {
    PE_PARAM("query_length", INT, .axis = true, .optional = true, .min = 1,
             .max = PE_RELATIVE_LENGTH_MAX, .fallback_text = "required without distances",
             .unit = "tokens", .help = "The number of queries. They are at the last key positions.",
             .example = "16"),
    PE_RELATIVE_KEY_LENGTH("query_length"),
    PE_PARAM("distances", POSITIONS, .aliases = PE_NAMES("offsets"), .optional = true,
             .integers_only = true, .fallback_text = "those of the queries and keys",
             .unit = "tokens",
             .help = "Relative positions whose buckets are wanted, in place of query_length: key - "
                     "query, of deberta query - key. The answer is [distances].",
             .example = "-8:9"),
};

static const pe_param own[] = {
    PE_PARAM("variant", CHOICE, .choices = variants,
             .help = "The model whose buckets are meant. t5: buckets of key - query; all distances "
                     "from max_distance on share the last one. mpnet, wavlm: the same, in both "
                     "directions. deberta: signed buckets of query - key, logarithmic without end.",
             .example = "t5"),
    PE_PARAM("att_span", INT, .optional = true, .min = 1, .max = 1073741823, .unit = "buckets",
             .help = "For DeBERTa: the answer has rows of its 2 att_span embeddings instead of "
                     "buckets. A row is bucket + att_span, limited to 0 and 2 att_span - 1.",
             .example = "256"),
};

typedef struct state {
    pe_relative table; /* of lengths; not of distances */
    pe_positions distances;
    bool of_key; /* distances are query - key */
    pe_buckets buckets;
    int32_t span; /* 0: buckets are wanted, not rows of embeddings */
} state;
_Static_assert(offsetof(state, table) == 0, "the window's state begins with it");

/* The row of 2 span embeddings that a bucket has. */
static int32_t row_of(int32_t bucket, int32_t span)
{
    const int32_t row = bucket + span;
    return row < 0 ? 0 : row > 2 * span - 1 ? 2 * span - 1 : row;
}

static void run(const void *of, size_t layer PE_UNUSED, int64_t relative, size_t n,
                unsigned char *out)
{
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

static pe_status fill_distances(const pe_plan *plan, const pe_region *region, void *out,
                                pe_problem *why PE_UNUSED)
{
    const state *s = plan->state;
    int32_t *to = out;
    for (size_t u = region->first; u < region->first + region->units; u++) {
        int64_t same;
        const int64_t distance = (int64_t)pe_positions_at(&s->distances, u);
        const int32_t bucket =
            pe_t5_buckets_at(&s->buckets, s->of_key ? -distance : distance, &same);
        *to++ = s->span != 0 ? row_of(bucket, s->span) : bucket;
    }
    return PE_OK;
}

/* ---- the plan ---- */

static pe_status plan_distances(const pe_values *values, pe_plan *out, int64_t *farthest,
                                pe_problem *why)
{
    const pe_positions *distances = pe_values_positions(values, "distances");
    /* Lengths of queries and keys do not go with distances. *farthest: the largest distance. */
    static const char *const others[] = {"query_length", "key_length"};
    double least, most;
    for (size_t i = 0; i < PE_LEN(others); i++)
        if (pe_values_present(values, others[i]))
            return pe_fail(why, PE_INVALID_PARAMETER, others[i],
                           "%s does not go with distances, which name each one", others[i]);
    pe_positions_bounds(pe_values_positions(values, "distances"), &least, &most);
    const double far = most > -least ? most : -least;
    if (far >= PE_RELATIVE_LENGTH_MAX)
        return pe_fail(why, PE_INVALID_PARAMETER, "distances",
                       "distances must lie strictly between -2^40 and 2^40, got %.0f",
                       most > -least ? most : least);
    *farthest = (int64_t)far;
    PE_TRY(pe_plan_add_tensor(out, "buckets", PE_INT32, &distances->shape, 1, why));
    PE_TRY(pe_plan_begin(out, sizeof(state), fill_distances, why));
    state *s = out->state;
    s->of_key = pe_values_choice(values, "variant") == PE_T5_VARIANT_DEBERTA;
    return pe_plan_positions(out, values, "distances", &s->distances, why);
}

static pe_status plan_buckets(pe_values *values, pe_plan *out, pe_problem *why)
{
    int64_t farthest = 0;
    pe_problem mistake;
    const size_t variant = pe_values_choice(values, "variant");
    pe_status status = PE_OK;
    if (variant != PE_T5_VARIANT_DEBERTA && pe_values_present(values, "att_span"))
        status =
            pe_fail(why, PE_INVALID_PARAMETER, "att_span",
                    "att_span is read by variant=deberta only, variant is %s", variants[variant]);
    status = PE_ALSO(status, pe_t5_variant_read(values, variant, &mistake));
    const pe_relative_window window = {
        .tensor = "buckets", .dtype = PE_INT32, .run = run, .state_bytes = sizeof(state)};
    if (pe_values_present(values, "distances")) {
        status = PE_ALSO(status, plan_distances(values, out, &farthest, &mistake));
    } else if (!pe_values_present(values, "query_length")) {
        status = PE_ALSO(status, pe_fail(&mistake, PE_MISSING_PARAMETER, "query_length",
                                         "query_length is required, or distances: "
                                         "query_length=16 or distances=-8:9"));
    } else {
        const pe_status lengths = pe_relative_lengths(values, &mistake);
        status = PE_ALSO(status, lengths);
        if (lengths == PE_OK) {
            farthest = pe_values_int(values, "key_length") - 1;
            status = PE_ALSO(status, pe_relative_plan(&window, values, out, &mistake));
        }
    }
    PE_TRY(status);
    state *s = out->state;
    s->span =
        pe_values_present(values, "att_span") ? (int32_t)pe_values_int(values, "att_span") : 0;
    return pe_t5_variant_plan(values, variant, farthest, &s->buckets, out, why);
}

/**
 * Shapes    [query_length, key_length] or [distances], int32.
 * Accuracy  that of real arithmetic; a warning tells where upstream's float32 logarithms miss an
 *           edge, which they do not at the usual settings.
 */
const pe_resource pe_t5_buckets = {
    PE_NAMED("t5", "/buckets"),
    .kind = PE_TABLE,
    .summary = "The bucket of every relative position.",
    .formula = PE_T5_FORMULA "; deberta: d = query - key, m = floor(num_buckets/2): |d| <= m ? d : "
                             "sign(d) (m + ceil((m - 1) ln(|d|/m) / ln((max_distance - 1)/m)))",
    .labels = PE_LABELS({.axes = "query, key", .value = "bucket"}),
    .source = PE_T5_SOURCE "; deberta: He et al. 2021, arXiv:2006.03654, make_log_bucket_position "
                           "there; " PE_T5_OTHERS_SOURCE,
    .param_sets = {PE_PARAMS(window_params), &pe_params_model, &pe_t5_bucket_params, PE_PARAMS(own),
                   &pe_params_output_int32},
    .plan = plan_buckets,
};
