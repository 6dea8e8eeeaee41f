/* SPDX-License-Identifier: MIT */
/* rope_formula.c - the numbers that the frequencies of a rotation depend on. */
#include "encodings/rope/types/rope_formula.h"

#include <stdlib.h>
#include <string.h>

#define NAME(key, name) [PE_ROPE_##key] = (name),
static const char *const key_names[PE_ROPE_KEYS] = {PE_ROPE_KEY_MAP(NAME)};

const char *pe_rope_key_name(pe_rope_key key)
{
    return key_names[key];
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
