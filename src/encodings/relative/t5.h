/* SPDX-License-Identifier: MIT */
/* t5.h - what the resources of bucketed relative positions share: the buckets. */
#ifndef PE_ENCODINGS_RELATIVE_T5_H
#define PE_ENCODINGS_RELATIVE_T5_H

#include <stdbool.h>

#include "encodings/relative/relative.h"

#define PE_T5_BUCKETS_MAX 65536

#define PE_T5_FORMULA                                                                              \
    "n = |key - query|, B = num_buckets (bidirectional: half of it, which keys after the query "   \
    "add), E = floor(B/2): n < E ? n : min(B - 1, E + floor((B - E) ln(n/E) / "                    \
    "ln(max_distance/E))); one direction: n = max(query - key, 0)"
#define PE_T5_SOURCE                                                                               \
    "Raffel et al. 2020, arXiv:1910.10683, section 2.1; T5Attention._relative_position_bucket of " \
    "huggingface/transformers@b4b5244c9c7cdb80d0aaafdb8f35244612788532"
#define PE_T5_OTHERS_SOURCE                                                                        \
    "mpnet: Song et al. 2020, arXiv:2004.09297, MPNetEncoder.relative_position_bucket of "         \
    "huggingface/transformers@00099b9f15ad8bea330364709453fc49cbba90e5; wavlm: Chen et al. 2022, " \
    "arXiv:2110.13900, WavLMAttention._relative_positions_bucket of "                              \
    "huggingface/transformers@008f5c8c29be84d4721dc6d1e0fcd72300580be4"

extern const pe_param_set pe_t5_bucket_params; /* num_buckets, max_distance, bidirectional */

/** Whose buckets. All but the last have biases. */
enum { PE_T5_VARIANT_T5, PE_T5_VARIANT_MPNET, PE_T5_VARIANT_WAVLM, PE_T5_VARIANT_DEBERTA };

/**
 * How distances fall into buckets: distance n < exact is bucket n; n >= exact is bucket `base` +
 * how many edges are <= n. Immutable once made.
 */
typedef struct pe_buckets {
    int64_t exact, base;
    int64_t *edge; /* ascending, the plan's; those up to the farthest distance asked for */
    size_t edges;
    bool both;     /* keys after the query count by distance too; else they share bucket 0 */
    bool negate;   /* and their buckets are negative (DeBERTa) ... */
    int64_t after; /* ... or this much higher */
} pe_buckets;

/**
 * Into the state of a plan, from num_buckets, max_distance, bidirectional and the variant, all
 * read, for distances up to `farthest`.
 *
 * Accuracy  edges are those of real arithmetic: decided with 192 bits where that is enough, else by
 *           comparing integer powers.
 * Errors    INVALID_PARAMETER: no bucket is exact, or max_distance is not beyond the exact ones, or
 *           there would be more than PE_T5_BUCKETS_MAX edges. OVERLOADED (memory).
 */
pe_status pe_t5_buckets_plan(const pe_values *values, size_t variant, int64_t farthest,
                             pe_plan *plan, pe_buckets *out, pe_problem *why) PE_MUST_CHECK;

/**
 * The bucket of a relative position (key - query); *same: it is that of relative, relative + 1, ...
 * (so many of them, at least 1).
 */
int32_t pe_t5_buckets_at(const pe_buckets *buckets, int64_t relative, int64_t *same);

/**
 * num_buckets and max_distance of the variant where absent (they become part of the canonical
 * form).
 * Errors  INVALID_PARAMETER: bidirectional=false of a variant that looks both ways.
 */
pe_status pe_t5_variant_read(pe_values *values, size_t variant, pe_problem *why) PE_MUST_CHECK;

/**
 * The buckets, and a warning where the published code computes others than the formula has: its
 * float32 logarithms, taken as correctly rounded, may miss an edge (the first 1024 are compared),
 * and it may not read its configuration.
 *
 * Source  the same functions as PE_T5_SOURCE, PE_T5_OTHERS_SOURCE and DeBERTa's.
 * Errors  pe_t5_buckets_plan's.
 */
pe_status pe_t5_variant_plan(const pe_values *values, size_t variant, int64_t farthest,
                             pe_buckets *buckets, pe_plan *plan, pe_problem *why) PE_MUST_CHECK;

#endif
