/* SPDX-License-Identifier: MIT */
/* model_types.h - how each model type turns its pairs, and what its configuration may leave out. */
#ifndef PE_MODELS_MODEL_TYPES_H
#define PE_MODELS_MODEL_TYPES_H

#include <stdbool.h>

typedef enum pe_scheme {
    PE_SCHEME_ROPE,
    PE_SCHEME_ALIBI,
    PE_SCHEME_T5,
    PE_SCHEME_DEBERTA, /* T5's resources, with variant deberta */
    PE_SCHEME_SINUSOIDAL,
    PE_SCHEME_LEARNED,
    PE_SCHEME_NONE
} pe_scheme;

/** A row of the table. Zero: nothing that differs from Llama. */
typedef struct pe_model_type {
    const char *name; /* model_type */
    pe_scheme scheme;
    bool interleaved;
    double theta, local_theta; /* rope_theta; that of sliding layers, where it differs */
    const char *dictionary;    /* rope_parameters, where the configuration has none */
    double partial;            /* partial_rotary_factor */
    int head_dim;              /* of the class, whatever hidden_size is */
    int full_head_dim;         /* of layers of full attention, where they have their own */
    bool last_full;            /* the last layer is of full attention, whatever the pattern */
    int fallback_head_dim;     /* head_dim of the class's own hidden_size and heads */
    int rotary_dim;
    int pattern;              /* every n-th layer, counted from 1, is full attention */
    int every;                /* every n-th layer, counted from 0, is full attention */
    int attention_every;      /* every n-th layer, counted from 1, has attention at all */
    int nope_every;           /* every n-th layer, counted from 1, does not rotate */
    const char *cross_layers; /* cross_attention_layers, where the configuration has none */
    bool unscaled_local;      /* layers of sliding attention take no scaling */
    bool nope_full;           /* layers of full attention do not rotate */
    bool rope_if_mem_rope;    /* rotates if use_mem_rope is true, else has no positions */
    bool sinusoidal_if_key;   /* sinusoidal if sinusoidal_pos_embds is true, else learned */
    const char *variant;      /* T5: an encoder alone, with buckets of its own */
    const char *mrope_layout; /* of sections, where they have any; NULL: sections */
    bool temperature;         /* queries of layers that do not rotate grow with their position */
    int merge;                /* spatial_merge_size of the vision tower's class */
    double per_second;        /* tokens_per_second of it */
    int buckets, max_distance;
    const char *layout; /* sinusoidal */
    int freq_shift;     /* sinusoidal */
} pe_model_type;

/** The row of a model type; NULL when it is not known. */
const pe_model_type *pe_model_type_find(const char *name);

#endif
