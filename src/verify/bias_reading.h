/* SPDX-License-Identifier: MIT */
/* bias_reading.h - a linear bias taken apart: slopes of heads, distances, and what masks. */
#ifndef PE_VERIFY_BIAS_READING_H
#define PE_VERIFY_BIAS_READING_H

#include "verify/numbers.h"

/** How the claim counts distances; the last is that of slopes alone. */
typedef enum pe_bias_form {
    PE_BIAS_SYMMETRIC,
    PE_BIAS_CAUSAL,
    PE_BIAS_KEY,
    PE_BIAS_SLOPES
} pe_bias_form;

/** bias[head, query, key] = -slope[head] distance(query, key). Keys count from 0, queries from
 * `first`. */
typedef struct pe_bias {
    const pe_numbers *of;
    pe_bias_form form;
    size_t heads, queries, keys;
    double first;
    size_t loudest;  /* the head whose elements are largest */
    double *claimed; /* [heads] owned: slopes; NAN: no distance tells it */
    double *read;    /* [heads] owned: those of the upload, by some rule of distances */
    double *made;    /* [heads] owned: those of some rule of slopes */
    double *spare;   /* [heads] owned: for a second rule */
    double *undone;  /* [heads] owned: read slopes before a rule that undoes itself */
    double *number;  /* [pe_bias_rules_n] owned: of each rule of distances; NAN: it does not hold */
    double a, b;     /* {a} and {b} of that rule */
    double mask;     /* what stands where a rule has no distance; claimed_mask: in the claim */
    double claimed_mask;
} pe_bias;

/** A rule of distances, with a number that it reads off the upload. */
typedef struct pe_bias_rule {
    pe_fault fault;                      /* an empty name: the claimed one */
    double (*read)(const pe_bias *bias); /* {a}; NULL: it needs none. NAN: it is no such bias */
    /** The distance; NAN: the key is masked. */
    double (*at)(const pe_bias *bias, double query, double key, double a);
} pe_bias_rule;

extern const pe_bias_rule pe_bias_rules[];
extern const size_t pe_bias_rules_n;

pe_status pe_bias_make(const pe_numbers *plain, pe_bias *out, pe_problem *why) PE_MUST_CHECK;
void pe_bias_free(pe_bias *bias);

/** Is every element of the upload -slope distance by this rule, whatever the slopes are? Then they
 * are read, and the mask. */
bool pe_bias_follows(pe_bias *bias, const pe_bias_rule *rule, double a);

/** How many elements of a head tell its slope. */
size_t pe_bias_evidence(const pe_bias *bias, const pe_bias_rule *rule, double a);

#endif
