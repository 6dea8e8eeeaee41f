/* SPDX-License-Identifier: MIT */
/* suggestion.h - which parameter an unknown name was meant to be. */
#ifndef PE_API_SUGGESTION_H
#define PE_API_SUGGESTION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/slice.h"
#include "plan/values.h"

#define PE_SUGGESTION_BYTES 160

/**
 * What to write instead: a name, several ("beta_fast, beta_slow"), or a name and its value
 * ("positions=0:N"; another value where the name was given as false; "height=2 and width=3" for
 * 2,3). Of n names that there are, the first `own` are those that others may call differently.
 * False: nothing is like it.
 */
bool pe_suggestion_find(const char *name, pe_slice value, const char *const *names, size_t own,
                        size_t n, char out[PE_SUGGESTION_BYTES]);

/** What a usual synonym of one meaning is taken for. */
typedef struct pe_suggested_value {
    pe_value *value;
    const char *alias; /* the synonym */
    const char *as;    /* its value: "half", or "0:N" for its text N; NULL: its text */
} pe_suggested_value;

/** A name that no row has, and its text. False: it is not taken, for nothing is called so, or it may
 * mean several. */
bool pe_suggestion_take(const pe_values *values, const char *name, pe_slice text,
                        pe_suggested_value *out);
/** The names that are taken so for a row of these sets; returns how many, `most` at the most. */
size_t pe_suggestion_aliases(const pe_param_set *const *sets, const pe_param *param,
                             const char **out, size_t most);
/** What to do instead of giving a parameter that others have; NULL where nothing is known. */
const char *pe_suggestion_advice(const char *name);

#endif
