/* SPDX-License-Identifier: MIT */
/* model_types.h - what each model type's class does, and what its configuration may leave out. */
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
    PE_SCHEME_RESOURCE, /* the row names a resource, and says what of its parameters */
    PE_SCHEME_UNKNOWN   /* nothing tells, or no resource here does it */
} pe_scheme;

/**
 * The row of a model type in config/model_types.json, which the caller releases; NULL: it is not
 * known. config/models/README.md says what the members of a row mean: keys of a configuration, at
 * the default of the class, and what no key says. A member that is absent: nothing that differs
 * from Llama.
 * Errors  OVERLOADED (memory).
 */
pe_status pe_model_type_find(const char *name, json_t **row, pe_problem *why) PE_MUST_CHECK;
/** The scheme of its encoding; and of an encoding by its name: any that is none is a resource's. */
pe_scheme pe_model_type_scheme_named(const char *encoding);
pe_scheme pe_model_type_scheme(const json_t *row);

/** A member of a row, which may be NULL: false, 0 or NULL where it is absent. */
bool pe_type_is(const json_t *row, const char *member);
double pe_type_number(const json_t *row, const char *member);
const char *pe_type_text(const json_t *row, const char *member);
/** Is the text in the list, which may be NULL, of a row or a configuration? */
bool pe_type_lists(const json_t *list, const char *text);

#endif
