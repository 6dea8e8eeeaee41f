/* SPDX-License-Identifier: MIT */
/* input.h - what other programs write of a model, in the keys of a config.json. Private to
 * models/. */
#ifndef PE_MODELS_INPUT_H
#define PE_MODELS_INPUT_H

#include <jansson.h>
#include <stdbool.h>

#include "base/size.h"
#include "models/model.h"

/** A configuration that has been put into other keys. */
typedef struct pe_input {
    const json_t *whole; /* what came */
    json_t *config;      /* NULL: that is a config.json */
    json_t *places;      /* of its keys: where each stands in what came */
    json_t *warnings;    /* texts */
    bool failed;         /* memory ran out */
} pe_input;

/**
 * Find out which program wrote the object, and put what it says into the keys of a config.json. Its
 * model type is a row of config/model_types.json: "gguf/llama", "diffusers/FluxTransformer2DModel".
 * Errors  INVALID_PARAMETER, OVERLOADED (memory).
 */
pe_status pe_input_read(const json_t *whole, pe_input *out, pe_problem *why) PE_MUST_CHECK;
void pe_input_free(pe_input *input);

/** Tell the keys of a model, and the place of a problem, where they stand in what came. What
 * came there is the value of each key that was read off it. Pointers have `within` bytes of a path
 * before the keys: those of a tower. */
pe_status pe_input_restore(const pe_input *input, size_t within, pe_model *model,
                           pe_problem *why) PE_MUST_CHECK;
void pe_input_restore_problem(const pe_input *input, pe_problem *why);

/* ---- for the readers ---- */

/** Set a key, or one of an object ("rope_scaling/factor"); the value is the input's from now on.
 * NULL: only its place is told. */
void pe_input_put(pe_input *input, const char *key, const char *place, json_t *value);
/** Take a member of what came under another name, where it is there and not null. */
void pe_input_take(pe_input *input, const json_t *whole, const char *place, const char *key);
void pe_input_warn(pe_input *input, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** model_type is PROGRAM/NAME; a name that no row can have is PROGRAM alone. */
void pe_input_name(pe_input *input, const char *program, const char *place, const json_t *name);

/** The readers: each fills *out where the object is one of its program's. */
bool pe_input_gguf(const json_t *whole, pe_input *out);
bool pe_input_diffusers(const json_t *whole, pe_input *out);
bool pe_input_params(const json_t *whole, pe_input *out);
bool pe_input_megatron(const json_t *whole, pe_input *out);
bool pe_input_timm(const json_t *whole, pe_input *out);

#endif
