/* SPDX-License-Identifier: MIT */
/* t5_bias.c - attention biases of T5 and those after it: the weights of buckets, looked up. */
#include <stddef.h>
#include <stdlib.h>

#include "encodings/registry.h"
#include "encodings/relative/t5.h"

/* DeBERTa's buckets index vectors, not biases. */
static const char *const variants[] = {[PE_T5_VARIANT_T5] = "t5",
                                       [PE_T5_VARIANT_MPNET] = "mpnet",
                                       [PE_T5_VARIANT_WAVLM] = "wavlm",
                                       NULL};

static const pe_param weights_params[] = {
    PE_PARAM("weights", TENSOR, .aliases = PE_NAMES("relative_embeddings", "table"),
             .required = true, .min_dims = 2, .max_dims = 2,
             .help = "A bias for each bucket and head, [num_buckets, heads].",
             .example = "[[0],[-1],[-2],[-3],[-4],[-5],[-6],[-7],[-8],[-9],[-10],[-11],[-12],[-13],"
                        "[-14],[-15],[0],[-1],[-2],[-3],[-4],[-5],[-6],[-7],[-8],[-9],[-10],[-11],["
                        "-12],[-13],[-14],[-15]]"),
};

static const pe_param variant_params[] = {
    PE_PARAM("variant", CHOICE, .choices = variants,
             .help = "The model whose buckets are meant. mpnet and wavlm have both directions. "
                     "DeBERTa has no such biases.",
             .example = "t5"),
};

typedef struct state {
    pe_relative table;
    pe_buckets buckets;
    pe_array weights; /* [num_buckets, heads] */
} state;
_Static_assert(offsetof(state, table) == 0, "the window's state begins with it");

static void run(const void *of, size_t head, int64_t relative, size_t n, unsigned char *out)
{
    const state *s = of;
    const size_t heads = s->weights.shape.dim[1], bytes = s->table.bytes;
    const unsigned char *weights = s->weights.data;
    for (int64_t left = (int64_t)n, same; left > 0; left -= same, relative += same) {
        const size_t bucket = (size_t)pe_t5_buckets_at(&s->buckets, relative, &same);
        same = same < left ? same : left;
        pe_relative_repeat(weights + (bucket * heads + head) * bytes, bytes, (size_t)same, out);
        out += (size_t)same * bytes;
    }
}

static pe_status plan_bias(pe_values *values, pe_plan *out, pe_problem *why)
{
    const pe_array *weights = pe_values_tensor(values, "weights");
    const size_t variant = pe_values_choice(values, "variant");
    pe_problem mistake;
    pe_status status = pe_relative_lengths(values, why);
    status = PE_ALSO(status, pe_t5_variant_read(values, variant, &mistake));
    const size_t buckets = pe_values_size(values, "num_buckets"), rows = weights->shape.dim[0];
    if (rows != buckets)
        status = PE_ALSO(status, pe_fail(&mistake, PE_INVALID_PARAMETER, "weights",
                                         "weights must have a row for each of the num_buckets = "
                                         "%zu buckets, got %zu rows",
                                         buckets, rows));
    PE_TRY(status);
    const pe_relative_window window = {.tensor = "bias",
                                       .dtype = weights->dtype,
                                       .layers = weights->shape.dim[1],
                                       .run = run,
                                       .state_bytes = sizeof(state)};
    PE_TRY(pe_relative_plan(&window, values, out, why));
    state *s = out->state;
    pe_plan_take(out, values, "weights", &s->weights);
    return pe_t5_variant_plan(values, variant, pe_values_int(values, "key_length") - 1, &s->buckets,
                              out, why);
}

/** Shapes  weights: [num_buckets, heads] -> [heads, query_length, key_length], copied bit for bit. */
const pe_resource pe_t5_bias = {
    PE_NAMED("t5", "/bias"),
    .kind = PE_TRANSFORM,
    .claimed_otherwise = true,
    .summary = "The biases that T5 adds to attention scores: a weight for each bucket and head.",
    .formula = "bias[h, i, j] = weights[bucket(i, j), h]; " PE_T5_FORMULA,
    .labels = PE_LABELS({.axes = "head, query, key", .value = "bias"}),
    .source = PE_T5_SOURCE "; " PE_T5_OTHERS_SOURCE,
    .param_sets = {PE_PARAMS(weights_params), &pe_relative_window_params, &pe_params_model,
                   &pe_t5_bucket_params, PE_PARAMS(variant_params), &pe_params_output_exact},
    .plan = plan_bias,
};
