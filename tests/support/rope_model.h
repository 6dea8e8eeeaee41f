/* SPDX-License-Identifier: MIT */
/* rope_model.h - an independent model of every rope type, straight from its formula in MPFR. */
#ifndef PE_TESTS_SUPPORT_ROPE_MODEL_H
#define PE_TESTS_SUPPORT_ROPE_MODEL_H

#include <jansson.h>
#include <mpfr.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * A request is the JSON object that a POST to a rope table takes; what it leaves out has its
 * default. Everything is computed with SLOW_BITS.
 */

/** rotary_dim/2. */
size_t rope_model_pairs(const json_t *request);

/** theta_i, and the attention factor. */
void rope_model_theta(const json_t *request, size_t i, mpfr_ptr out);
void rope_model_attention(const json_t *request, mpfr_ptr out);

/** The attention factor times cos or sin of position * theta_i. */
void rope_model_wave(const json_t *request, size_t i, double position, bool cosine, mpfr_ptr out);

#endif
