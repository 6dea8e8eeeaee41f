/* SPDX-License-Identifier: MIT */
/* model.h - how a model encodes positions, resolved from its configuration. */
#ifndef PE_MODELS_MODEL_H
#define PE_MODELS_MODEL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "plan/values.h"

/** What became of a key of the configuration. */
typedef enum pe_model_key_status {
    PE_MODEL_KEY_USED,
    PE_MODEL_KEY_DEFAULTED, /* absent: the pointer says where it would stand */
    PE_MODEL_KEY_IGNORED
} pe_model_key_status;

typedef struct pe_model_key {
    char *pointer; /* RFC 6901, as a fragment: "#/rope_scaling/factor" */
    char *value;   /* JSON */
    pe_model_key_status status;
    const char *parameter; /* the row that it became, or helped to; NULL: none */
    char *note;            /* NULL: nothing to add */
} pe_model_key;

/**
 * Layers that encode positions alike. `values` has the rows of the encoding's resource
 * (pe_model_resource); those that the configuration decides are present and given, in the form that
 * every resource of the encoding accepts. Layers without any encoding of positions: resource is
 * NULL, values are empty.
 */
typedef struct pe_model_layers {
    char *layer_type;            /* "full_attention", "sliding_attention", "decoder", ... */
    const pe_resource *resource; /* "rope/table", "alibi/slopes", "t5/buckets", "sinusoidal" */
    size_t n, *index;            /* ascending; none where the configuration has no layer count */
    /** Where transformers 5 reads their scaling, in the configuration that came
     * ("text_config/rope_parameters/full_attention"); NULL: nowhere. */
    char *scaling;
    const char *taken_type; /* a rope_type that means another one there; NULL: none does */
    bool shared_scaling;    /* that in one rope_scaling for all layers is theirs, too */
    pe_values values;
} pe_model_layers;

/** What a model says to a resource that asks of other things than its layers' encoding. */
typedef struct pe_model_part {
    const pe_resource *resource; /* "rope/attention-scale", "rope/grid", ... */
    pe_values values;            /* of its rows */
} pe_model_part;

#define PE_MODEL_PARTS_MAX 10

/** A configuration beside the language model's: of a vision or audio tower, a talker, a decoder. */
typedef struct pe_model_tower {
    char *pointer;          /* "#/vision_config" */
    struct pe_model *model; /* without keys, warnings and towers: those are the whole's */
} pe_model_tower;

#define PE_MODEL_TOWERS_MAX 16

/** Immutable once made. */
typedef struct pe_model {
    const char
        *encoding; /* as pe_resource: "rope", "alibi", ...; "learned" and "none" without values */
    size_t n_kinds;
    pe_model_layers *kinds; /* [0] is what counts where nobody chooses: full attention */
    size_t n_layers;        /* 0: the configuration does not say */
    size_t n_parts;
    pe_model_part parts[PE_MODEL_PARTS_MAX];
    size_t n_towers;
    pe_model_tower towers[PE_MODEL_TOWERS_MAX];
    bool has_softmax_scale;
    double softmax_scale;           /* of attention logits */
    char softmax_scale_unknown[96]; /* why; "": it is known */
    size_t n_keys;
    pe_model_key *keys;
    size_t n_warnings;
    char **warnings;
} pe_model;

/**
 * What a Hugging Face config.json, in the spelling of transformers 4 or 5, says of positions. What
 * it leaves open is filled in as the model's own class in transformers does.
 *
 * Source  huggingface/transformers at b4b5244c9c7cdb80d0aaafdb8f35244612788532:
 *         src/transformers/modeling_rope_utils.py (RotaryEmbeddingConfigMixin) and the
 *         configuration_*.py and modeling_*.py of each model; config/model_types.json has them as rows.
 * Errors  INVALID_PARAMETER: a key of the wrong type or out of range (where: its path in config,
 *         "text_config/rope_scaling/factor"), an unknown rope_type. MISSING_PARAMETER: a key that
 *         nothing can stand for. OVERLOADED (memory).
 */
pe_status pe_model_resolve(const json_t *config, pe_model **out, pe_problem *why) PE_MUST_CHECK;
void pe_model_free(pe_model *model);

/**
 * The kind of a layer: layer_type's, or that of a layer counted from 0 ("7"); NULL: the default.
 * Errors  INVALID_PARAMETER at layer_type.
 */
pe_status pe_model_choose(const pe_model *model, const char *layer_type,
                          const pe_model_layers **out, pe_problem *why) PE_MUST_CHECK;

/** Of a resource that asks of other things than layers: what to say of a model that says nothing to
 * it ("scales no queries by their position"). NULL: the resource asks what layers say. */
const char *pe_model_part_lack(const pe_resource *resource);
/** What the model says to such a resource; NULL: nothing. */
const pe_values *pe_model_part_find(const pe_model *model, const pe_resource *resource);

/**
 * Give values, of a resource's rows, what a model's layers or part say (from), wherever the client
 * gave nothing. An explicit rope_type that is not the model's leaves all keys of the model's type
 * out; an explicit head_dim, rotary_dim, partial_rotary_factor or axes_dims leaves out what would
 * contradict it. Errors  OVERLOADED (memory).
 */
pe_status pe_model_fill(const pe_values *from, pe_values *values, pe_problem *why) PE_MUST_CHECK;

#endif
