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
    char prefix[80];     /* of the names that a program has in it: "llama.", "model/" */
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

/** Tell the keys of a model, or (there is none) the place of a problem, where they stand in what came.
 * What came there is the value of each key that was read off it. Pointers have `within` bytes of a
 * path before the keys: those of a tower. */
pe_status pe_input_restore(const pe_input *input, size_t within, pe_model *model,
                           pe_problem *why) PE_MUST_CHECK;

/* ---- for the readers ---- */

/** What came under a name, behind the prefix ("yarn/beta": in an object), or as on a command line
 * (--rotary-base); NULL where it is absent or null. */
const json_t *pe_input_member(const pe_input *input, const char *name);
double pe_input_number(const pe_input *input, const char *name, double otherwise);
/** Set a key, or one of an object ("rope_scaling/factor"); the value is the input's from now on.
 * NULL: only its place is told, unless another has been. */
void pe_input_put(pe_input *input, const char *key, const char *name, json_t *value);
/** Take a member under a key. */
void pe_input_take(pe_input *input, const char *name, const char *key);
/** Take what a table of config/renamings.json names: each row has a name and the key that it is; a
 * third item is the value, unless it is a number and another came. */
void pe_input_rename(pe_input *input, const char *table);
/** A table there, which stays. An input has been read before. */
const json_t *pe_input_table(const char *table);
/** The row of a table that begins with this name; NULL: there is none. */
const json_t *pe_input_row(const char *table, const char *name);
void pe_input_warn(pe_input *input, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** model_type is PROGRAM/TEXT; a text that no row can have is PROGRAM alone. */
void pe_input_type(pe_input *input, const char *program, const char *name, const char *text);

/** The readers: each fills *out where the object is one of its program's. */
#define PE_INPUT_READERS 5
extern bool (*const pe_input_readers[PE_INPUT_READERS])(pe_input *out);
bool pe_input_gguf(pe_input *out);

#endif
