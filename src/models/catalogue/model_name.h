/* SPDX-License-Identifier: MIT */
/* model_name.h - the spellings of a model's name that people type. */
#ifndef PE_MODELS_CATALOGUE_MODEL_NAME_H
#define PE_MODELS_CATALOGUE_MODEL_NAME_H

#include <stdbool.h>
#include <stddef.h>

/** Longer spellings are none. */
#define PE_MODEL_NAME_BYTES 192

/**
 * What a spelling has in common with all others of its model: small letters, without organisation,
 * tuning ("Instruct", "chat", "hf"), quantisation and marks between words. Both
 * "meta-llama/Llama-3.1-8B-Instruct" and "Llama-3.1-8B-Instruct-Q4_K_M.gguf" become "llama3.1-8b".
 * False: it is too long, and *out is "".
 */
bool pe_model_name_fold(const char *name, char out[PE_MODEL_NAME_BYTES]);

/** How many bytes two folded names share at their beginning; a number counts as a whole. */
size_t pe_model_name_shared(const char *one, const char *other);

/** Drop the marks between the numbers of a folded name: "llama3.1-8b" becomes "llama318b". */
void pe_model_name_strip(char *folded);

#endif
