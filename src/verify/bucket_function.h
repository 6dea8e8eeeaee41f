/* SPDX-License-Identifier: MIT */
/* bucket_function.h - functions of key - query that give indices: the claimed one, and others. */
#ifndef PE_VERIFY_BUCKET_FUNCTION_H
#define PE_VERIFY_BUCKET_FUNCTION_H

#include "verify/bucket_reading.h"

/** Whose indices they are. */
typedef enum pe_bucket_family {
    PE_BUCKETS_T5,
    PE_BUCKETS_DEBERTA,
    PE_BUCKETS_SHAW
} pe_bucket_family;

/** How logarithms become whole. */
typedef enum pe_bucket_ends { PE_ROUND_DOWN, PE_ROUND_NEAREST, PE_ROUND_UP } pe_bucket_ends;

/**
 * d = sign (key - query) + shift is limited to -left and right; its index, and `plus`, to low and
 * high. Of T5 n is |d| or, of one direction, max(-d, 0). n < exact is bucket n; the last one is
 * `top`, and behind the query `ahead` more.
 */
typedef struct pe_bucket_function {
    const pe_indices *x;
    pe_bucket_family family;
    double sign, shift, left, right, plus, low, high;
    double absolute;     /* 1 or -1: d is so many times its absolute value; 0: it has its sign */
    bool wraps, dropped; /* beyond the limits d begins anew, or the index is 0 */
    double rows;         /* indices below 0 count from so many back; 0: they stay */
    bool both, zero_ahead;
    bool half;  /* logarithms of float16 */
    bool whole; /* logarithms of the distance itself, not of its part of exact */
    double num_buckets, buckets, exact, max_distance, ahead, top;
    pe_bucket_ends ends;
    double by;   /* number of the row that changes it */
    double a, b; /* numbers of its sentence */
    bool fitted; /* nobody is known to take them */
} pe_bucket_function;

/** That of the claim. x is borrowed. */
pe_bucket_function pe_bucket_function_claimed(const pe_indices *x);

/** Another num_buckets, and what follows from it and from `both`. */
void pe_bucket_function_resize(pe_bucket_function *f, double num_buckets);

/** The index of key - query. Where roundings tell no index for sure, the upload's is right: got. */
double pe_bucket_function_at(const pe_bucket_function *f, double relative, double got);

/** Is every index of x as f has it? */
bool pe_bucket_function_follows(const pe_bucket_function *f);

/** What it costs to compute one, in units. */
#define PE_BUCKET_FUNCTION_WORK 8

#endif
