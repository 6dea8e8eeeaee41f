/* SPDX-License-Identifier: MIT */
/* plain_distances.h - the stage of distances: biases and indices that follow from query and key. */
#ifndef PE_VERIFY_PLAIN_PLAIN_DISTANCES_H
#define PE_VERIFY_PLAIN_PLAIN_DISTANCES_H

#include <math.h>

#include "verify/plain/plain_slips.h"

/** A distance of the claim, of any query and key: an equation. */
#define PE_DISTANCE(QUERY, KEY)                                                                    \
    "bias == 0 ? (" KEY ") - (" QUERY ") : by_key ? -(" KEY ") : causal && (" KEY ") > (" QUERY    \
    ") ? none : abs((" QUERY ") - (" KEY "))"

typedef enum pe_index_family { PE_OF_BIAS, PE_OF_SHAW, PE_OF_T5, PE_OF_DEBERTA } pe_index_family;
typedef double pe_to_whole(double x);

/**
 * The index of d = key - query. Of T5 n is |d| or, of one direction, max(-d, 0): n < exact is bucket
 * n, the last one is `top`, and behind the query `ahead` more. Of Shaw d is limited, multiplied by
 * `sign`, and `plus` added; DeBERTa takes -d, adds `plus` and limits the sum to low and high.
 */
typedef struct pe_buckets {
    double left, right, sign, plus, low, high;
    double exact, buckets, max_distance, ahead, top;
    bool both, zero_ahead;
    bool whole; /* the logarithm is that of the distance itself, not of its part of exact */
    pe_to_whole *ends;
} pe_buckets;

typedef struct pe_distance_stage {
    pe_index_family family;
    size_t queries, keys;
    double first; /* position of query 0 */
    bool causal, by_key;
    struct {
        double queries, keys, bias, causal, by_key; /* the same, as equations name them */
    } names;
    double mask, claimed_mask;
    const pe_positions *listed; /* or NULL */
    pe_buckets claimed, f;
    double *numbers; /* claimed: [queries][keys] owned */
    double loud;     /* the claimed distance where it is largest ... */
    size_t at;       /* ... and where that is */
} pe_distance_stage;

/** The index of a distance; where it lies on an edge but for rounding, that of the upload: `got`. */
double pe_distance_index(const pe_distance_stage *s, double d, double got);

/** Are they biases, not indices? */
bool pe_distance_is_bias(const pe_sequence *p);

#endif
