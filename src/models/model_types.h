/* SPDX-License-Identifier: MIT */
/* model_types.h - how each model type turns its pairs, and what its configuration may leave out. */
#ifndef PE_MODELS_MODEL_TYPES_H
#define PE_MODELS_MODEL_TYPES_H

#include <jansson.h>
#include <stdbool.h>

#include "base/status.h"

typedef enum pe_scheme {
    PE_SCHEME_ROPE,
    PE_SCHEME_ALIBI,
    PE_SCHEME_T5,
    PE_SCHEME_DEBERTA, /* T5's resources, with variant deberta */
    PE_SCHEME_SINUSOIDAL,
    PE_SCHEME_SINCOS_GRID, /* sines of the rows and columns of patches */
    PE_SCHEME_LEARNED,
    PE_SCHEME_GRID, /* patches, by row and column */
    PE_SCHEME_NONE,
    PE_SCHEME_UNKNOWN /* nothing tells, or no resource here does it */
} pe_scheme;

/**
 * A row of config/model_types.json, whose members have these names. Zero: nothing that differs from
 * Llama. Texts and trees are those of `row`.
 */
typedef struct pe_model_type {
    const char *name;     /* model_type; NULL: not known */
    const char *encoding; /* the scheme's name */
    const char *why;      /* of an encoding that is unknown: what the class does instead */
    const char *note;     /* what to say of its layers */
    bool interleaved;
    bool backwards;            /* pairs turn by minus the angle */
    const char *theta_key;     /* the base stands here alone, outside of a dictionary */
    double theta, local_theta; /* rope_theta; that of sliding layers, where it differs */
    bool theta_alone;          /* ... and local_theta counts only where there is no dictionary */
    bool theta_over;           /* rope_theta counts over that in the class's rope_parameters */
    const char *dictionary;    /* the only one that is read; "": none is. NULL: either */
    const json_t *rope_parameters; /* where the configuration has none, or null */
    double partial;                /* partial_rotary_factor */
    const char *partial_key;       /* it stands here alone, outside of a dictionary; "": nowhere */
    bool fixed_part;               /* it follows from the widths of heads, whatever is given */
    bool latent_head;              /* head_dim of the class is that of qk_nope and qk_rope */
    bool whole_head;               /* partial_rotary_factor is not read by rope_type default */
    bool typed;                    /* its class has layer_types, though no other member says so */
    bool by_type;                  /* rope_parameters that are not by type of layers are ignored;
                                      types that are missing there have the class's base */
    bool yarn_is_longrope;
    double original;            /* original_max_position_embeddings, over that in the dictionary */
    bool longrope_mscale;       /* short_mscale and long_mscale are the attention factor */
    bool learned_decoder;       /* the decoder's positions are learned */
    double head_dim;            /* of the class, whatever hidden_size is */
    double full_head_dim;       /* of layers of full attention, where they have their own */
    bool first_full, last_full; /* that layer is of full attention, whatever the pattern */
    double fallback_head_dim;   /* head_dim of the class's own hidden_size and heads */
    double widen; /* heads have so many times hidden_size / heads channels, whatever is given */
    double rotary_dim;
    double pattern;              /* every n-th layer, counted from 1, is full attention */
    double every;                /* every n-th layer, counted from 0, is full attention */
    double phase;                /* ... which is added to its number first */
    bool from_last;              /* ... counted back from the last layer */
    double attention_every;      /* every n-th layer, counted from 1, has attention at all */
    double nope_every;           /* every n-th layer, counted from 1, does not rotate */
    const json_t *cross_layers;  /* cross_attention_layers, where the configuration has none */
    const json_t *block_types;   /* of layers, in turn, where the configuration has none */
    const json_t *nope_types;    /* types of layers that do not rotate */
    bool unscaled_local;         /* layers of sliding attention take no scaling */
    bool scaled_local;           /* ... take it though they have a base of their own */
    bool nope_full;              /* layers of full attention do not rotate */
    const char *rope_if;         /* a key: rotates if it is true, "rotary" or "rope" */
    bool sinusoidal_if_key;      /* sinusoidal if sinusoidal_pos_embds is true, else learned */
    bool divided_bias;           /* ALiBi is added before scores are divided by sqrt(head_dim) */
    const char *variant;         /* T5: an encoder alone, with buckets of its own */
    const char *mrope_layout;    /* of sections, where they have any; NULL: sections */
    const json_t *mrope_section; /* of its class; "halves": of the pairs, for two axes */
    const json_t *axes;          /* axes_dims of its class, or the name of a rule of axes.c */
    const char *axes_key;        /* where a configuration gives them */
    const json_t *axis_order, *axes_theta, *axes_scale; /* of its class */
    const char *axes_scale_key;
    const json_t *labels;   /* what its dictionary calls types of layers; "*": others */
    bool tail;              /* the last channels of a head rotate */
    bool temperature;       /* queries of layers that do not rotate grow with their position */
    double merge;           /* spatial_merge_size of the vision tower's class */
    double temporal_merge;  /* temporal_merge_size of it */
    const char *after_grid; /* where positions go on after its grids; NULL: past the highest */
    bool frames_apart;      /* frames of a video stand apart, with text between them */
    double per_second;      /* tokens_per_second of it, or position_id_per_seconds around it */
    double per_chunk;       /* seconds_per_chunk around it, where its class reads that */
    bool unrounded;         /* times of frames are not rounded */
    bool plain_images;      /* in it, a language model's positions on several axes are no grid's */
    double buckets, max_distance;
    double softmax_scale;     /* of the class, whatever head_dim is */
    const char *layout;       /* sinusoidal */
    double freq_shift;        /* sinusoidal */
    const json_t *rows;       /* learned: the key of the number of rows, or the number */
    const char *width_key;    /* learned: where it is another than hidden_size */
    double offset;            /* learned: the row of position 0; as many rows are added */
    double class_rows;        /* learned, of patches: rows for tokens that are no patch */
    const char *convention;   /* grid */
    const char *grid_pairing; /* grid: where it is not the convention's */
    double width, heads;      /* grid: of the class; head_dim is their quotient */
    bool wide_embed;          /* grid: the width is embed_dim, not hidden_size */
    bool padded;              /* learned: positions count from pad_token_id + 1 */
} pe_model_type;

/**
 * The row of a model type; its name is NULL when it is not known. *row is what the strings of *out
 * belong to: the caller releases it.
 * Errors  OVERLOADED (memory).
 */
pe_status pe_model_type_find(const char *name, pe_model_type *out, json_t **row,
                             pe_problem *why) PE_MUST_CHECK;
/** The scheme of its encoding. */
pe_scheme pe_model_type_scheme(const pe_model_type *type);

#endif
