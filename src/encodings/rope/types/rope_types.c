/* SPDX-License-Identifier: MIT */
/* rope_types.c - the table of rope types, and the numbers that their frequencies depend on. */
#include "encodings/rope/types/rope_types.h"

#include <stdlib.h>
#include <string.h>

const pe_rope_type pe_rope_default = {.name = "default"};

#define TYPE(name, how, work) &pe_rope_##name,
#define NAME(name, how, work) #name,

const pe_rope_type *const pe_rope_types[] = {PE_ROPE_TYPE_MAP(TYPE) NULL};
const char *const pe_rope_type_names[] = {PE_ROPE_TYPE_MAP(NAME) NULL};

/* ---- formulas ---- */

#define KEY_NAME(key, name) [PE_ROPE_##key] = (name),
static const char *const key_names[PE_ROPE_KEYS] = {PE_ROPE_KEY_MAP(KEY_NAME)};

const char *pe_rope_key_name(pe_rope_key key)
{
    return key_names[key];
}

pe_status pe_rope_keys_check(const pe_values *values, const pe_rope_formula *formula,
                             pe_rope_key greater, pe_rope_key lesser, pe_problem *why)
{
    const char *name = pe_rope_key_name(greater);
    return formula->key[greater] >= formula->key[lesser]
               ? PE_OK
               : pe_values_invalid(values, name, why, "%s must be at least %s, %.17g, got %.17g",
                                   name, pe_rope_key_name(lesser), formula->key[lesser],
                                   formula->key[greater]);
}

pe_rope_key pe_rope_key_find(const char *name)
{
    pe_rope_key key = 0;
    while (key < PE_ROPE_KEYS && strcmp(key_names[key], name) != 0)
        key++;
    return key;
}

pe_rope_formula *pe_rope_formula_make(const struct pe_rope_type *type, double theta, size_t dim,
                                      size_t n_list, size_t *bytes)
{
    *bytes = sizeof(pe_rope_formula) + n_list * sizeof(double);
    pe_rope_formula *formula = calloc(1, *bytes);
    if (formula == NULL)
        return NULL;
    formula->type = type;
    formula->theta = theta;
    formula->dim = (double)dim;
    formula->turning = dim / 2;
    return formula;
}
