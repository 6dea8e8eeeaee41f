/* SPDX-License-Identifier: MIT */
/* rope_types.h - the rope types: published scalings of the frequencies. */
#ifndef PE_ENCODINGS_ROPE_TYPES_ROPE_TYPES_H
#define PE_ENCODINGS_ROPE_TYPES_ROPE_TYPES_H

#include <mpfr.h>

#include "encodings/rope/types/rope_formula.h"
#include "exact/wave.h"
#include "plan/price.h"

/**
 * The table of types, in the order of rope_type's choices. To add one: its pe_rope_type in a file
 * of this folder, its line here, what clients read of it in the two texts below, and a row in
 * verify/mistakes/faults.c. A key that no other type reads gets a line in rope_formula.h and a row in
 * rope_params.c.
 *
 * compared: rope/compare offers it. proportional and ltx are left out: their models rotate other
 * pairs. Then what a channel costs more than by default, in units of work (plan/price.h), as
 * measured.
 */
#define PE_ROPE_TYPE_MAP(X)                                                                        \
    X(default, compared, 0)                                                                        \
    X(linear, compared, 0)                                                                         \
    X(ntk, compared, 0)                                                                            \
    X(dynamic, compared, 0)                                                                        \
    X(yarn, compared, 48)                                                                          \
    X(longrope, compared, 256)                                                                     \
    X(llama3, compared, 512)                                                                       \
    X(proportional, left_out, 0)                                                                   \
    X(ntk_alpha, compared, 0)                                                                      \
    X(ntk_fixed, compared, 144)                                                                    \
    X(ntk_mixed, compared, 256)                                                                    \
    X(ntk_by_parts, compared, 512)                                                                 \
    X(part_ntk, compared, 288)                                                                     \
    X(ltx, left_out, 288)

#define PE_ROPE_TYPES_HELP                                                                         \
    "How the frequencies are scaled for contexts that are longer than in training. Let s be "      \
    "factor, d be rotary_dim, b be rope_theta and theta a frequency. linear: theta/s. ntk: the "   \
    "base is b s^(d/(d-2)). ntk_alpha: the same with alpha for s. dynamic: the same with 1 + s "   \
    "(seq_len - max)/max for s. ntk_fixed: (b s)^(-2i/d) / s^(2/d). ntk_mixed: theta / exp(a "     \
    "(i+1)^mixed_b). yarn and part_ntk: a ramp over the pairs. llama3 and ntk_by_parts: by the "   \
    "turns of a pair over the original context. longrope: lists of divisors. proportional: only "  \
    "a share of the pairs rotates. ltx: from pi/2 up to b pi/2, the next one after a pair of "     \
    "each axis of mrope_section, which mrope_interleaved lets alternate."

/** Where the rotation and its types of scaling come from. */
#define PE_ROPE_SOURCE                                                                             \
    "Su et al. 2021, arXiv:2104.09864, equations 15 and 34; linear: Chen et al. 2023, "            \
    "arXiv:2306.15595; ntk: bloc97 2023; dynamic: emozilla 2023; yarn: Peng et al. 2023, "         \
    "arXiv:2309.00071; longrope: Ding et al. 2024, arXiv:2402.13753; llama3: Llama 3.1 2024; "     \
    "freq_factors: ggml-org/ggml at d99724f2; all as in huggingface/transformers "                 \
    "src/transformers/modeling_rope_utils.py at b4b5244c9c7cdb80d0aaafdb8f35244612788532; "        \
    "ntk_alpha, ntk_fixed, ntk_mixed: vllm-project/vllm at cf027b86; ntk_by_parts: Peng et al. "   \
    "2023, definition 2; part_ntk: bloc97 in jquesnelle/yarn at 995db5b5; "                        \
    "ltx: LTX2AudioVideoRotaryPosEmbed of huggingface/diffusers 0.42.1"

/** A key that has a default of its own with this type. */
typedef struct pe_rope_key_default {
    pe_rope_key key;
    double value;
} pe_rope_key_default;

/**
 * A rope type. Callbacks take a pe_rope_formula; those in MPFR write at out's precision p with
 * relative error below 2^(8-p).
 */
typedef struct pe_rope_type {
    const char *name;      /* "linear" */
    unsigned reads, needs; /* keys, as bits 1 << pe_rope_key */
    pe_rope_key_default defaults[4];
    size_t n_defaults;
    pe_rope_key_default compared_with[2]; /* defaults of rope/compare alone */
    size_t n_compared_with;
    bool whole_head;        /* rotary_dim is head_dim; the share tells which pairs rotate */
    bool exact_only;        /* no reference computes it in float32 */
    unsigned min_dim;       /* least rotary_dim the formula has a value for; 0: any */
    const char *min_dim_is; /* why, for the client */
    /** What rows and keys cannot say; may set low and high. NULL: nothing. */
    pe_status (*check)(const pe_values *values, pe_rope_formula *formula, pe_problem *why);
    /** theta_i = scale(i, base^(-2i/d)); NULL: rope_theta; no scaling. */
    void (*base)(const void *formula, mpfr_ptr out);
    void (*scale)(const void *formula, size_t i, mpfr_ptr theta);
    /** The same scaling as the float32 reference does it, of inv = r(1 / r(base^e)). */
    float (*scale32)(const void *formula, size_t i, float inv);
    /** Multiplies cosines and sines: the attention factor. NULL: 1. */
    void (*amplitude)(const void *formula, mpfr_ptr out);
    /** numerics=float32: the base, and the attention factor, in the reference's steps, rounded to
     * float32 and to float64 each; NULL: those of real arithmetic. */
    float (*base32)(const pe_rope_formula *formula);
    double (*amplitude32)(const pe_rope_formula *formula);
    /** Add scalars of rope/frequencies that only this type has; NULL: none. */
    void (*add_scalars)(const pe_rope_formula *formula, pe_plan *plan);
    /** Warn where the published code does something else than it says, of any positions and of
     * these; NULL: nowhere. */
    void (*warn)(const pe_rope_formula *formula, pe_plan *plan);
    void (*warn_positions)(const pe_rope_formula *formula, const pe_positions *positions,
                           pe_plan *plan);
} pe_rope_type;

/** Why types that grow the base need four channels. */
#define PE_ROPE_NO_EXPONENT "its exponent d/(d - 2) has no value at d = 2"

#define PE_ROPE_TYPE_EXTERN(name, how, work) extern const pe_rope_type pe_rope_##name;
PE_ROPE_TYPE_MAP(PE_ROPE_TYPE_EXTERN)

extern const pe_rope_type *const pe_rope_types[]; /* NULL-terminated */
extern const char *const pe_rope_type_names[];    /* the same order: choices of rope_type */

/** One key must not be less than another.   Errors  INVALID_PARAMETER. */
pe_status pe_rope_keys_check(const pe_values *values, const pe_rope_formula *formula,
                             pe_rope_key greater, pe_rope_key lesser,
                             pe_problem *why) PE_MUST_CHECK;

/**
 * theta_i ((1 - s) / factor + s), s = clamp((turns - low) / (high - low), 0, 1), which is a step
 * for low = high: then no number of turns is either, since pi divides them.
 *
 *     turns = original theta^(-2i/d) / (2 pi)
 *
 * Source  Peng et al. 2023, arXiv:2309.00071, section 3.2, definition 2.
 */
void pe_rope_by_turns(const pe_rope_formula *formula, double low, double high, size_t i,
                      mpfr_ptr theta);

/** Turns over the original context between which the ramp rises; whole: its ends are rounded
 * outwards. */
typedef struct pe_rope_pair_ramp {
    double fast, slow;
    bool whole;
} pe_rope_pair_ramp;

/**
 * Between which pairs the ramp rises, for pairs that turn `fast` and `slow` times over the original
 * context:
 *
 *     dim(turns) = d ln(original / (2 pi turns)) / (2 ln theta)
 *     low = max(dim(fast), 0), high = min(dim(slow), d - 1), rounded outwards where `whole`
 *
 * Source  Peng et al. 2023, arXiv:2309.00071, as find_correction_range in jquesnelle/yarn at
 *         995db5b575e75230b3384d658f8b944c9662f775, scaled_rope/LlamaYaRNScaledRotaryEmbedding.py.
 */
void pe_rope_pair_ramp_ends(const pe_rope_formula *formula, const pe_rope_pair_ramp *ramp,
                            mpfr_ptr low, mpfr_ptr high);

/** The ends rounded to float64. */
void pe_rope_pair_ramp_round(const pe_rope_formula *formula, const pe_rope_pair_ramp *ramp,
                             double *low, double *high);

/** out = 1 + 0.1 mscale ln(factor), the attention factor of yarn. */
void pe_rope_yarn_stretch(double factor, double mscale, mpfr_ptr out);

/** Set out to 0 or 1 if pair i is beside a ramp whose rounded ends are low and high. */
bool pe_rope_pair_ramp_is_beside(size_t i, double low, double high, mpfr_ptr out);

/** out = clamp((i - low) / (high - low), 0, 1); high a thousandth more where they are equal. */
void pe_rope_pair_ramp_at(size_t i, mpfr_srcptr low, mpfr_srcptr high, mpfr_ptr out);

/** The same as the reference does it, each step rounded to float32, for whole ends. */
float pe_rope_pair_ramp32(size_t i, double low, double high);

/** The base must be above 1: the ramp divides by its logarithm. Errors  INVALID_PARAMETER. */
pe_status pe_rope_pair_ramp_check(const pe_values *values, const pe_rope_formula *formula,
                                  pe_problem *why) PE_MUST_CHECK;

#endif
