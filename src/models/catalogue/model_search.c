/* SPDX-License-Identifier: MIT */
/* model_search.c - how well a model answers the words of a search. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "models/catalogue/catalogue.h"

/* Where a text has a word; a number that goes on is within. */
enum { BEGINNING, WORD, WITHIN, WITHIN_ORGANIZATION, NOWHERE };

static unsigned place_in(const char *text, const char *word)
{
    unsigned best = NOWHERE;
    const size_t bytes = strlen(word);
    for (const char *at = text; (at = strcasestr(at, word)) != NULL; at++) {
        const bool whole =
            !isdigit((unsigned char)word[bytes - 1]) || !isdigit((unsigned char)at[bytes]);
        const unsigned place = !whole                            ? WITHIN
                               : at == text                      ? BEGINNING
                               : !isalnum((unsigned char)at[-1]) ? WORD
                                                                 : WITHIN;
        best = place < best ? place : best;
    }
    return best;
}

/* As it is written, or as names are compared. */
static unsigned place_of(const char *text, const char *word)
{
    char its[PE_MODEL_NAME_BYTES], folded[PE_MODEL_NAME_BYTES];
    const unsigned written = place_in(text, word);
    if (!pe_model_name_fold(text, its) || !pe_model_name_fold(word, folded) || folded[0] == '\0')
        return written;
    const unsigned compared = place_in(its, folded);
    return compared < written ? compared : written;
}

size_t pe_model_search_rank(pe_slice words, const char *const titles[2], const char *organization)
{
    size_t sum = 0;
    while (words.bytes > 0) {
        char word[64];
        const pe_slice next = pe_slice_next(&words, ' ');
        if (next.bytes >= sizeof word)
            return PE_MODEL_SEARCH_RANKS;
        snprintf(word, sizeof word, "%.*s", (int)next.bytes, next.text);
        unsigned place = next.bytes > 0 ? place_of(organization, word) + 1 : BEGINNING;
        for (size_t t = 0; next.bytes > 0 && t < 2; t++) {
            const unsigned own = place_of(titles[t], word);
            place = own < place ? own : place;
        }
        if (place == NOWHERE)
            return PE_MODEL_SEARCH_RANKS;
        sum += place;
    }
    return sum < PE_MODEL_SEARCH_RANKS ? sum : PE_MODEL_SEARCH_RANKS - 1;
}
