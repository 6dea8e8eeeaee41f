/* SPDX-License-Identifier: MIT */
/* verify.h - is a table what it claims to be, and if not, which known mistake made it? */
#ifndef PE_VERIFY_VERIFY_H
#define PE_VERIFY_VERIFY_H

#include <stdbool.h>
#include <stddef.h>

#include "plan/plan.h"

/** One tensor of the upload, under the name of the resource's tensor. */
typedef struct pe_upload {
    char name[64];
    pe_array array;
} pe_upload;

#define PE_UPLOADS_MAX PE_MAX_TENSORS

/** What a client says its numbers are. */
typedef struct pe_claim {
    const pe_resource *resource; /* a table of the registry */
    pe_values values;            /* of the resource's rows; dtype: of the upload */
    /** Nobody said which arithmetic: correctly rounded and float32 are both right. */
    bool any_numerics;
    double tolerance; /* absolute, takes the place of the rule; negative: the rule */
    size_t n_uploads;
    pe_upload uploads[PE_UPLOADS_MAX]; /* owned */
    /** Vectors that uploads[0] holds rotated; elements 0: the upload is a table. Owned. */
    pe_array inputs;
    int64_t seq_axis; /* the token axis of inputs, negative from the end */
} pe_claim;

void pe_verify_claim_free(pe_claim *claim);

/** Bounds of one verification. */
typedef struct pe_verify_limits {
    size_t max_elements; /* of an upload */
    size_t max_work;     /* elements computed while looking for faults */
    /** Asked between guesses: true, from then on, ends the search. NULL: nobody gives up. */
    bool (*given_up)(void *context);
    void *context;
} pe_verify_limits;

/** Distances between upload and claim. */
typedef struct pe_errors {
    size_t elements;
    double max_abs, max_ulp, rms;
    bool has_phase;
    double max_phase; /* radians, 0 to pi */
} pe_errors;

/** Pairs [first, last], fastest first, or units of the leading axis where there are no pairs. */
typedef struct pe_band {
    size_t first, last;
    pe_errors errors;
} pe_band;

#define PE_BANDS_MAX 8

/** The first element, row by row, that is not what was claimed. */
typedef struct pe_bad {
    bool any;
    const char *tensor; /* of the claim's uploads */
    size_t ndim, index[PE_MAX_DIMS];
    bool has_pair;
    double position;
    size_t pair;
    double expected, got;
} pe_bad;

#define PE_FAULTS_MAX   2
#define PE_FINDINGS_MAX 8

/** A set of faults under which the upload is clean. */
typedef struct pe_finding {
    size_t rank; /* from 1; findings that no number of the upload tells apart share one */
    size_t n_faults;
    const char *faults[PE_FAULTS_MAX];
    bool exact;       /* explained as exact numbers, not only as the float32 path's */
    size_t undecided; /* elements of which float32 arithmetic tells nothing; 0 of exact ones */
    char *rule;       /* owned: sentences */
    char *parameters; /* owned: JSON of the values that give the upload */
    pe_errors errors; /* what remains */
} pe_finding;

typedef struct pe_report {
    bool matches;
    const char *numerics; /* the arithmetic that explains a match: exact, float32; else NULL */
    size_t undecided;     /* of a match by float32: elements of which that tells nothing */
    const char *bands_of; /* "pairs", or "rows" */
    pe_errors errors;
    pe_bad first_bad;
    size_t n_bands;
    pe_band bands[PE_BANDS_MAX];
    size_t n_findings;
    pe_finding findings[PE_FINDINGS_MAX];
    size_t hypotheses; /* tried */
    bool pairs_tried;  /* of faults */
    size_t sampled;   /* positions that faults were looked for in; 0: all. Findings hold for all. */
    bool complete;    /* false: max_work, or who gave up, ended the search */
    char *parameters; /* owned: canonical JSON of the claim */
} pe_report;

void pe_verify_report_free(pe_report *report);

/**
 * Hold an upload against its claim.
 *
 * Rule      Clean means that every element is what a sound implementation may hold. With x the
 *           claimed value and T the dtype:
 *             exact    |got - x| <= ulp_T(x)/2 + ulp_W(x)/2, W the next wider type (float64 of
 *                      float32 and float64, else float32): rounded once, or twice on the way;
 *             float32  |got - x| <= A (24 2^-24 |p| w + 2^-22) + ulp_T(x)/2, p the position, w the
 *                      frequency: the reference path rounds the exponent (ln(1e12)/2 < 13.9 units
 *                      of 2^-24 in the frequency), the base, the power (an ulp: 2), its reciprocal,
 *                      up to 4 steps of scaling, the position and the angle: 24 with what is left
 *                      of 1; then sine, amplitude and their product, each an ulp of 1.
 *           A pair of float32, both of whose numbers are in the upload and not both exact, is on
 * its circle all the same, for its sine and cosine are of one angle, however far off: | |(c, s)| -
 * A | <= sqrt(2) (2^-22 A + ulp_T(A)/2), the last two terms of each. Where A (...) is A or more,
 * float32 tells nothing of an element: it is undecided, unless exact. Allowances that are not
 * finite allow nothing but the claimed double itself. Rotated vectors (a, b): these with A times
 * |a| + |b|, and 3 u_T A (|a| + |b|) for tables, products and sums kept in T, u_T its unit
 * roundoff; the circle's radius is A |(a, b)|. Errors    INVALID_PARAMETER, MISSING_PARAMETER
 * (uploads that do not fit the claim: named "table/cos"), TOO_MANY_ELEMENTS, those of the
 * resource's plan.   Threads  any.
 */
pe_status pe_verify(pe_claim *claim, struct pe_tables *tables, const pe_limits *limits,
                    const pe_verify_limits *bounds, pe_report *out, pe_problem *why) PE_MUST_CHECK;

#endif
