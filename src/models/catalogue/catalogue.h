/* SPDX-License-Identifier: MIT */
/* catalogue.h - the models that the program knows: config/models/, held by the program itself. */
#ifndef PE_MODELS_CATALOGUE_CATALOGUE_H
#define PE_MODELS_CATALOGUE_CATALOGUE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/slice.h"
#include "models/model.h"

/** A file of config/models/, as it was when the program was built. */
typedef struct pe_catalogue_file {
    const char *name; /* "llama-3.1-8b" */
    const char *text; /* JSON: name, title, organization, config, sources; ends with a zero byte */
    size_t bytes;
} pe_catalogue_file;

/** All of them, in order of name. */
const pe_catalogue_file *pe_catalogue_files(size_t *n);

/**
 * The file of that name, or of a spelling of it: names and titles of the catalogue are folded alike.
 * Errors  INVALID_PARAMETER at `model`: there is none; suggests some. OVERLOADED (memory).
 */
pe_status pe_catalogue_find(const char *name, const pe_catalogue_file **out,
                            pe_problem *why) PE_MUST_CHECK;

/** The file as a tree, and its model resolved; either may be NULL. Errors  OVERLOADED
 * (memory), INTERNAL (a file that is no model, which the tests rule out). */
pe_status pe_catalogue_read(const pe_catalogue_file *file, json_t **tree, pe_model **model,
                            pe_problem *why) PE_MUST_CHECK;

/** Longer spellings of a name are none. */
#define PE_MODEL_NAME_BYTES 192

#define PE_MODEL_SEARCH_RANKS 5

/**
 * 0 is best: each word, with spaces between them, begins the title or the name. A word that begins
 * another word of them, or the organization, counts less, and one that is within a word still less.
 * PE_MODEL_SEARCH_RANKS: one of the words is nowhere.
 */
size_t pe_model_search_rank(pe_slice words, const char *const titles[2], const char *organization);

#endif
