/* SPDX-License-Identifier: MIT */
/* compare.h - rope types planned for one model and one length, and what engines have to be told for
 * them. */
#ifndef PE_COMPARE_COMPARE_H
#define PE_COMPARE_COMPARE_H

#include <jansson.h>

#include "encodings/rope/rope.h"
#include "models/model.h"
#include "plan/plan.h"

/** The trained and the wanted context length; factor is what types stretch by. */
typedef struct pe_rope_lengths {
    double trained, target, factor;
} pe_rope_lengths;

/** The model of the catalogue that is asked about. */
typedef struct pe_compared_model {
    json_t *tree;    /* of its file, owned */
    pe_model *model; /* owned; NULL: the request names none */
    const pe_model_layers *layers;
    const pe_rope_type *type;
    bool latent;           /* attention: engines scale its logits by keys of yarn */
    double trained, reach; /* the context length without its own scaling and with it; 0: unknown */
    /** What its publisher says of a longer context; NULL: nothing. */
    const pe_rope_type *advised;
    double advised_factor, advised_length;
} pe_compared_model;

/** Read the model and the layers that values name.
 * Errors  INVALID_PARAMETER: there are none; OVERLOADED (memory). */
pe_status pe_compared_model_read(const pe_values *values, pe_compared_model *out,
                                 pe_problem *why) PE_MUST_CHECK;
void pe_compared_model_free(pe_compared_model *own);
/** Warn where its publisher's numbers are not those that the request would lead to, and where no
 * setting gives it a longer context. */
void pe_compared_model_warn(const pe_compared_model *own, const pe_rope_lengths *lengths,
                            pe_plan *plan);

/** A type as /v1/rope/frequencies would answer it. */
typedef struct pe_rope_candidate {
    const char *name;         /* the type's, or "published" */
    const pe_rope_type *type; /* NULL until it is read: the model's own */
    pe_values values;         /* of the rows of rope/frequencies: what to ask it for */
    pe_rope rope;
    pe_shared_wave wave;
    double base, attention_factor; /* correctly rounded */
} pe_rope_candidate;

/**
 * Read the candidate's type, which is set, from the values of rope/compare, with those keys that it
 * reads. The model's own type has the model's keys, and no other factor where that reaches the
 * target. Without a type: the model's configuration as it is. Zeroed when it fails.
 * Errors  those of rope/frequencies, at the places of rope/compare; OVERLOADED (memory).
 */
pe_status pe_rope_candidate_read(const pe_values *values, const pe_rope_lengths *lengths,
                                 const pe_compared_model *own, pe_tables *tables,
                                 pe_rope_candidate *candidate, pe_problem *why) PE_MUST_CHECK;
void pe_rope_candidate_free(pe_rope_candidate *candidate);

/** Where a patch of a configuration goes. */
typedef enum pe_patch_kind {
    PE_PATCH_V5,  /* a merge patch, RFC 7396, in the keys of transformers 5 */
    PE_PATCH_V4,  /* and 4 */
    PE_PATCH_VLLM /* what vLLM puts over the configuration of transformers 5 */
} pe_patch_kind;

/**
 * The length (NULL: as it is) and parameters as a patch of the model's configuration, which keeps
 * what the dictionary there says of other things. Without a model: of an empty one. NULL: memory is
 * short, or *lack says why there is none.
 */
json_t *pe_config_patch_make(const pe_compared_model *own, pe_patch_kind kind, json_t *length,
                             json_t *parameters, const char **lack);
/** As people write it, with spaces. */
void pe_config_patch_print(const json_t *value, pe_buffer *out);

/**
 * The rows of config/engines.json: programs, and their settings for each type. A setting is a text,
 * or a length and a dictionary of parameters. Values in angle brackets are numbers of the type;
 * what is in square brackets, and a member, is left out where its number need not be said. unless
 * and notes are by conditions that engine_setting.c knows; "" always holds. A program's unless
 * holds for all its rows.
 */
#define PE_ENGINES_MAX 8
typedef struct pe_engines {
    json_t *tree;   /* owned */
    json_t *layers; /* by where their scaling stands: a text of their names, owned */
    size_t n_sources;
    pe_engine_setting_source source[PE_ENGINES_MAX];
} pe_engines;

pe_status pe_engines_read(pe_engines *out, pe_problem *why) PE_MUST_CHECK;
void pe_engines_free(pe_engines *engines);
/** Add what each engine has to be told for the candidate. The plan borrows texts of `engines`.
 * Errors  OVERLOADED (memory). */
pe_status pe_engines_tell(pe_engines *engines, const pe_rope_candidate *candidate,
                          const pe_rope_lengths *lengths, const pe_compared_model *own,
                          pe_plan *plan, pe_problem *why) PE_MUST_CHECK;

#endif
