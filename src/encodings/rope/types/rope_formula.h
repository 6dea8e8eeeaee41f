/* SPDX-License-Identifier: MIT */
/* rope_formula.h - the numbers that the frequencies of a rotation depend on. */
#ifndef PE_ENCODINGS_ROPE_TYPES_ROPE_FORMULA_H
#define PE_ENCODINGS_ROPE_TYPES_ROPE_FORMULA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * Parameters that only some types read, under their Hugging Face names. max_position_embeddings is
 * accepted with every type; seq_len and original_max_position_embeddings default to it. The numbers
 * of short_factor and long_factor go to the formula's list.
 */
#define PE_ROPE_KEY_MAP(X)                                                                         \
    X(FACTOR, "factor")                                                                            \
    X(MAX_POSITIONS, "max_position_embeddings")                                                    \
    X(SEQ_LEN, "seq_len")                                                                          \
    X(ORIGINAL, "original_max_position_embeddings")                                                \
    X(ATTENTION_FACTOR, "attention_factor")                                                        \
    X(BETA_FAST, "beta_fast")                                                                      \
    X(BETA_SLOW, "beta_slow")                                                                      \
    X(MSCALE, "mscale")                                                                            \
    X(MSCALE_ALL_DIM, "mscale_all_dim")                                                            \
    X(TRUNCATE, "truncate") /* 0 or 1 */                                                           \
    X(LOW_FREQ_FACTOR, "low_freq_factor")                                                          \
    X(HIGH_FREQ_FACTOR, "high_freq_factor")                                                        \
    X(SHORT_FACTOR, "short_factor")                                                                \
    X(LONG_FACTOR, "long_factor")                                                                  \
    X(ALPHA, "alpha")                                                                              \
    X(MIXED_B, "mixed_b")                                                                          \
    X(EXTRAPOLATION_FACTOR, "extrapolation_factor")                                                \
    X(NTK_FACTOR, "ntk_factor")                                                                    \
    X(ATTN_FACTOR, "attn_factor")

#define PE_ROPE_KEY_ENUM(key, name) PE_ROPE_##key,
typedef enum pe_rope_key { PE_ROPE_KEY_MAP(PE_ROPE_KEY_ENUM) PE_ROPE_KEYS } pe_rope_key;

#define PE_ROPE_BIT(key) (1U << (key))

/** The Hugging Face name of a key. */
const char *pe_rope_key_name(pe_rope_key key);
/** The key of that name, PE_ROPE_KEYS when it is none. */
pe_rope_key pe_rope_key_find(const char *name);

/** Most axes: time, height, width, and the image of XD-RoPE. */
#define PE_ROPE_AXES_MAX 4

/** The frequencies of one axis: (theta s^(dim/(dim - 2)))^(-2j/dim) of pair first + j. */
typedef struct pe_rope_inv_freq {
    uint64_t first, dim; /* its first pair; channels, an even number */
    double theta, scale; /* s, at least 1 */
} pe_rope_inv_freq;

/**
 * Everything the frequencies depend on, as plain bytes: it is copied into frequency sets and is
 * part of their key, so what a type does not read stays zero.
 */
typedef struct pe_rope_formula {
    const struct pe_rope_type *type;
    double theta;     /* rope_theta */
    double dim;       /* d of the exponent 2i/d */
    uint64_t turning; /* pairs from here on have frequency 0 */
    uint64_t given;   /* keys that hold a value, as bits */
    double key[PE_ROPE_KEYS];
    double low, high;     /* of a type: bounds found when it was checked */
    double low2, high2;   /* of its second ramp */
    uint64_t float32;     /* 1: numerics=float32 */
    uint64_t n_inv_freqs; /* 0: one for all pairs, of theta and dim */
    pe_rope_inv_freq inv_freq[PE_ROPE_AXES_MAX];
    uint64_t n_list, n_freq_factors, n_alphas;
    double list[]; /* [n_list] divisors of the type, then [n_freq_factors], then [n_alphas]:
                    * logarithms of factors */
} pe_rope_formula;

/** A formula of `type` with no keys yet and room for n_list numbers; all pairs rotate. NULL when
 * memory ran out. */
pe_rope_formula *pe_rope_formula_make(const struct pe_rope_type *type, double theta, size_t dim,
                                      size_t n_list, size_t *bytes);

static inline bool pe_rope_has(const pe_rope_formula *formula, pe_rope_key key)
{
    return (formula->given >> key & 1) != 0;
}

/** Is the sequence longer than the original context? Then longrope's long_factor holds. */
static inline bool pe_rope_beyond(const pe_rope_formula *formula)
{
    return formula->key[PE_ROPE_SEQ_LEN] > formula->key[PE_ROPE_ORIGINAL];
}

#endif
