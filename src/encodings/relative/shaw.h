/* SPDX-License-Identifier: MIT */
/* shaw.h - what the resources of clipped relative positions share: the clipping. */
#ifndef PE_ENCODINGS_RELATIVE_SHAW_H
#define PE_ENCODINGS_RELATIVE_SHAW_H

#include "encodings/relative/relative.h"

/** Sums of two of them, and one more, are int32. */
#define PE_SHAW_CLIP_MAX 1073741823.0 /* 2^30 - 1 */

#define PE_SHAW_FORMULA "max(-left_max, min(right_max, key - query)) + left_max"
#define PE_SHAW_SOURCE  "Shaw et al. 2018, arXiv:1803.02155, equations 3 and 4"

/** max_relative_position, left_max, right_max. By rows: what is absent follows from the number of
 * relative embeddings. */
extern const pe_param_set pe_shaw_clip_by_rows_params;
extern const pe_param_set pe_shaw_embeddings_params;

typedef struct pe_shaw_clip {
    int64_t left, right;
} pe_shaw_clip;

/**
 * From max_relative_position, or left_max and right_max, beside relative_embeddings, whose rows
 * must be left + right + 1. Both spellings get one canonical form: the second. Without either an
 * odd number of rows is split evenly.
 * Errors  MISSING_PARAMETER; INVALID_PARAMETER: both spellings are given; another number of rows,
 *         or more than 65536 channels.
 */
pe_status pe_shaw_read_embeddings(pe_values *values, pe_shaw_clip *out,
                                  pe_problem *why) PE_MUST_CHECK;

/**
 * n keys from `relative` on: `before` of them have index 0, then `inside` have first, first + 1,
 * ... and the others have left + right.
 */
typedef struct pe_shaw_zones {
    size_t before, inside, behind;
    size_t first;
} pe_shaw_zones;

pe_shaw_zones pe_shaw_zones_of(const pe_shaw_clip *clip, int64_t relative, size_t n);

#endif
