/* SPDX-License-Identifier: MIT */
/* rope.h - what the rope resources share: their parameters, the types of
 * scaling, frequency sets. */
#ifndef PE_ENCODINGS_ROPE_ROPE_H
#define PE_ENCODINGS_ROPE_ROPE_H

#include <mpfr.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/kernels.h"
#include "plan/plan.h"
#include "tables/tables.h"

/** Numbers that only some types read, under their Hugging Face names. */
typedef enum pe_rope_key {
    PE_ROPE_FACTOR,
    PE_ROPE_MAX_POSITIONS, /* max_position_embeddings: accepted with every type */
    PE_ROPE_SEQ_LEN,       /* defaults to max_position_embeddings */
    PE_ROPE_ORIGINAL,      /* original_max_position_embeddings; the same default */
    PE_ROPE_ATTENTION_FACTOR,
    PE_ROPE_BETA_FAST,
    PE_ROPE_BETA_SLOW,
    PE_ROPE_MSCALE,
    PE_ROPE_MSCALE_ALL_DIM,
    PE_ROPE_TRUNCATE, /* 0 or 1 */
    PE_ROPE_LOW_FREQ_FACTOR,
    PE_ROPE_HIGH_FREQ_FACTOR,
    PE_ROPE_SHORT_FACTOR, /* lists: their numbers go to the formula's list */
    PE_ROPE_LONG_FACTOR,
    PE_ROPE_ALPHA,
    PE_ROPE_MIXED_B,
    PE_ROPE_EXTRAPOLATION_FACTOR,
    PE_ROPE_NTK_FACTOR,
    PE_ROPE_ATTN_FACTOR,
    PE_ROPE_KEYS
} pe_rope_key;

#define PE_ROPE_BIT(key) (1U << (key))

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
    double low, high;   /* of a type: bounds found when it was checked */
    double low2, high2; /* of its second ramp */
    uint64_t n_list, n_freq_factors;
    double list[]; /* [n_list] divisors of the type, then [n_freq_factors] */
} pe_rope_formula;

/** A key that has a default of its own with this type. */
typedef struct pe_rope_key_default {
    pe_rope_key key;
    double value;
} pe_rope_key_default;

/**
 * A row of the table of rope types. Callbacks take a pe_rope_formula; those in MPFR write at out's
 * precision p with relative error below 2^(8-p).
 */
typedef struct pe_rope_type {
    const char *name;      /* "linear" */
    unsigned reads, needs; /* keys, as bits 1 << pe_rope_key */
    pe_rope_key_default defaults[4];
    size_t n_defaults;
    bool whole_head;        /* rotary_dim is head_dim; the share tells which pairs turn */
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
    /** Scalars of rope/frequencies that only this type has; NULL: none. */
    void (*facts)(const pe_rope_formula *formula, pe_plan *plan);
} pe_rope_type;

extern const pe_rope_type *const pe_rope_types[]; /* NULL-terminated, default first */
extern const char *const pe_rope_type_names[];    /* the same order: choices of rope_type */
extern const pe_rope_type pe_rope_default, pe_rope_linear, pe_rope_ntk, pe_rope_dynamic,
    pe_rope_yarn, pe_rope_longrope, pe_rope_llama3, pe_rope_proportional, pe_rope_ntk_alpha,
    pe_rope_ntk_fixed, pe_rope_ntk_mixed, pe_rope_ntk_by_parts, pe_rope_part_ntk;

/** A request's rotation, checked. */
typedef struct pe_rope {
    size_t head_dim, rotary_dim, pairs; /* rotary_dim == 2 * pairs <= head_dim */
    pe_pairing pairing;
    bool float32;
    pe_rope_formula *formula; /* owned */
    size_t formula_bytes;
    struct pe_rope_axes *axes; /* owned; NULL: a token has one position */
    bool uneven;               /* the axes do not have the pairs that mrope_section says */
} pe_rope;

/**
 * Check the shared parameters against each other, fill in what they imply (rotary_dim,
 * partial_rotary_factor, seq_len: part of the canonical form) and read them. head_dim is present.
 * Errors  INVALID_PARAMETER, MISSING_PARAMETER (a key the type needs).
 */
pe_status pe_rope_read(pe_values *values, pe_rope *out, pe_problem *why) PE_MUST_CHECK;
void pe_rope_free(pe_rope *rope);

/** A formula of `type` with no keys yet and room for n_list numbers; all pairs turn. NULL when
 * memory ran out. */
pe_rope_formula *pe_rope_formula_make(const pe_rope_type *type, double theta, size_t dim,
                                      size_t n_list, size_t *bytes);

static inline bool pe_rope_has(const pe_rope_formula *formula, pe_rope_key key)
{
    return (formula->given >> key & 1) != 0;
}

/** What multiplies sines and cosines. */
typedef enum pe_rope_amplitude {
    PE_ROPE_PLAIN,    /* 1 */
    PE_ROPE_ATTENDED, /* the attention factor A */
    PE_ROPE_SQUARED,  /* A^2: both sides of a score */
    PE_ROPE_UNDONE    /* 1/A */
} pe_rope_amplitude;

/** The frequency set of a rotation, and that of its unscaled frequencies (type default). */
pe_status pe_rope_wave(const pe_rope *rope, pe_tables *tables, pe_rope_amplitude amplitude,
                       pe_shared_wave *out, pe_problem *why) PE_MUST_CHECK;
pe_status pe_rope_wave_unscaled(const pe_rope *rope, pe_tables *tables, pe_shared_wave *out,
                                pe_problem *why) PE_MUST_CHECK;

/** A, correctly rounded to float64. */
double pe_rope_wave_attention_factor(const pe_rope *rope);

#endif
