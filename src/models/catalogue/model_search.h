/* SPDX-License-Identifier: MIT */
/* model_search.h - how well a model answers the words of a search. */
#ifndef PE_MODELS_CATALOGUE_MODEL_SEARCH_H
#define PE_MODELS_CATALOGUE_MODEL_SEARCH_H

#include <stddef.h>

#include "base/slice.h"

#define PE_MODEL_SEARCH_RANKS 5

/**
 * 0 is best: each word, with spaces between them, begins the title or the name. A word that begins
 * another word of them, or the organization, counts less, and one that is within a word still less.
 * PE_MODEL_SEARCH_RANKS: one of the words is nowhere.
 */
size_t pe_model_search_rank(pe_slice words, const char *const titles[2], const char *organization);

#endif
