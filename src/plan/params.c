/* SPDX-License-Identifier: MIT */
/* params.c - the rows of several sets. */
#include "plan/params.h"

#include <string.h>

const pe_param *pe_params_at(const pe_param_set *const *sets, size_t i)
{
    for (size_t s = 0; s < PE_PARAM_SETS_MAX && sets[s] != NULL; i -= sets[s++]->n)
        if (i < sets[s]->n)
            return &sets[s]->rows[i];
    return NULL;
}

size_t pe_params_count(const pe_param_set *const *sets)
{
    size_t n = 0;
    for (size_t s = 0; s < PE_PARAM_SETS_MAX && sets[s] != NULL; s++)
        n += sets[s]->n;
    return n;
}

const pe_param *pe_params_find(const pe_param_set *const *sets, const char *name)
{
    const pe_param *param;
    for (size_t i = 0; (param = pe_params_at(sets, i)) != NULL; i++)
        if (strcmp(param->name, name) == 0)
            return param;
    return NULL;
}

const char *pe_param_alias(const pe_param *param, const char *name)
{
    for (size_t i = 0; param->aliases != NULL && param->aliases[i] != NULL; i++)
        if (strcmp(param->aliases[i], name) == 0)
            return param->aliases[i];
    return NULL;
}
