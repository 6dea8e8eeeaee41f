/* SPDX-License-Identifier: MIT */
/* softmax.h - attention probabilities of scores. */
#ifndef PE_EXACT_SOFTMAX_H
#define PE_EXACT_SOFTMAX_H

#include "exact/pair.h"
#include "exact/fixed128.h"

/** What an element costs, in elements of a plain table (pe_tensor.work). */
#define PE_SOFTMAX_WORK 24

/** Most scores of a row: its probabilities are made at once, in some milliseconds. */
#define PE_SOFTMAX_MAX 65536

/**
 * e^-t for t >= 0; m == 0 where t > 1100, far below what any dtype holds.
 *
 * Source    Taylor series of e^-r, r = t - n ln(2), in fixed point.
 * Accuracy  2^-104 relative, beyond the error of t itself. err is not kept.
 */
pe_fixed128 pe_softmax_exp(pe_pair t);

/**
 * out[j] = e^score_j / sum_k e^score_k, each rounded once to dtype.
 *
 * Shapes    score: [n], 1 <= n <= PE_SOFTMAX_MAX, magnitudes below 2^960; hi = -infinity: masked,
 *           its probability is 0, and so are all where all are. weight: [n], scratch. out: [n] dtype.
 * Accuracy  relative error below 2^-100 (1 + largest magnitude of a score) before the rounding.
 *           Sums in integers from first to last: the same bits on every CPU.
 */
void pe_softmax(const pe_pair *score, size_t n, pe_dtype dtype, pe_fixed128 *weight, void *out);

/** The same as pairs, not rounded to a type: out [n]. */
void pe_softmax_pairs(const pe_pair *score, size_t n, pe_fixed128 *weight, pe_pair *out);

#endif
