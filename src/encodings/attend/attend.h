/* SPDX-License-Identifier: MIT */
/* attend.h - attention under a scheme of positions: its queries, its keys, what adds to scores. */
#ifndef PE_ENCODINGS_ATTEND_ATTEND_H
#define PE_ENCODINGS_ATTEND_ATTEND_H

#include "encodings/attention/attention.h"
#include "encodings/relative/alibi.h"
#include "encodings/relative/t5.h"

/** The state of the plan. Queries, keys and values are rows of doubles, those of all heads one
 * after the other. */
typedef struct pe_attend {
    pe_attention attention; /* first: pe_attention_fill reads it */
    const struct pe_attend_scheme *scheme;
    size_t queries, keys; /* of a head */
    size_t heads;         /* the innermost of the leading axes; 1 where there is none */
    pe_pair scale;
    bool causal;
    pe_array q, k, v; /* v: no data where there are no values */
    pe_array mask;    /* numbers 0 and 1; no data where there is none */
    size_t mask_rows; /* rows of it: 1, those of a head, or those of all heads */
    double *query_at; /* [queries] */
    double *key_at;   /* [keys] */
    pe_pair slope;    /* alibi: of every head, where it was given; else 0 and */
    pe_alibi_heads alibi;
    pe_buckets buckets; /* t5: and [num_buckets, heads] doubles */
    pe_array weights;
} pe_attend;

/** A way to tell positions to attention. */
typedef struct pe_attend_scheme {
    const char *name;
    const pe_param_set *sets[7]; /* the parameters that it alone reads, NULL-terminated */
    /** Check its parameters, and make what it needs in the state. The queries and keys are there.
     * NULL: there is nothing to do. */
    pe_status (*prepare)(pe_plan *plan, pe_values *values, pe_problem *why);
    /** What is added to the score of a query and a key of a head. NULL: nothing. */
    pe_pair (*bias)(const pe_attend *of, size_t head, double query, double key);
} pe_attend_scheme;

extern const char *const pe_attend_scheme_names[];
extern const pe_attend_scheme *const pe_attend_schemes[]; /* in the order of the names */

/** The scheme of a request. Parameters that only others read become absent.
 * Errors  INVALID_PARAMETER: one of those was given. */
pe_status pe_attend_scheme_read(pe_values *values, const pe_attend_scheme **out,
                                pe_problem *why) PE_MUST_CHECK;

/** Parameters of single schemes, beside those of their families. */
extern const pe_param_set pe_attend_alibi_params, pe_attend_t5_params, pe_attend_variant_params;

#endif
