/* SPDX-License-Identifier: MIT */
/* variants.c - which kernel variants this CPU can run, and the one in use. */
#include "kernels/kernels.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/cpu.h"

extern const pe_kernels pe_kernels_baseline;

#if defined(__x86_64__)
extern const pe_kernels pe_kernels_v3, pe_kernels_v4;

/* Row l: what a CPU of level l runs, each level including the ones below. */
static const pe_kernels *const levels[][4] = {
    {&pe_kernels_baseline, NULL},
    {&pe_kernels_baseline, &pe_kernels_v3, NULL},
    {&pe_kernels_baseline, &pe_kernels_v3, &pe_kernels_v4, NULL},
};
#else
static const pe_kernels *const levels[][2] = {{&pe_kernels_baseline, NULL}};
#endif

#define LEVEL_MAX (PE_LEN(levels) - 1)

static size_t cpu_level(void)
{
    const size_t level = pe_cpu_level();
    return level > LEVEL_MAX ? LEVEL_MAX : level;
}

static _Atomic(const pe_kernels *) chosen;

static const pe_kernels *best(void)
{
    return levels[cpu_level()][cpu_level()];
}

const pe_kernels *pe_kernels_get(void)
{
    const pe_kernels *kernels = atomic_load_explicit(&chosen, memory_order_relaxed);
    if (kernels == NULL) {
        kernels = best();
        atomic_store_explicit(&chosen, kernels, memory_order_relaxed);
    }
    return kernels;
}

const pe_kernels *const *pe_kernels_all(void)
{
    return levels[cpu_level()];
}

static pe_status fail_unknown(const char *name, pe_problem *why)
{
    char known[64] = "auto";
    size_t used = strlen(known);
    for (const pe_kernels *const *k = levels[LEVEL_MAX]; *k != NULL && used < sizeof known; k++)
        used += (size_t)snprintf(known + used, sizeof known - used, ", %s", (*k)->name);
    return pe_fail(why, PE_INVALID_PARAMETER, "kernels", "kernels must be one of %s, got %.32s",
                   known, name);
}

pe_status pe_kernels_select(const char *name, pe_problem *why)
{
    const pe_kernels *found = strcmp(name, "auto") == 0 ? best() : NULL;
    const pe_kernels *const *all = levels[LEVEL_MAX];
    for (size_t i = 0; found == NULL && all[i] != NULL; i++) {
        if (strcmp(name, all[i]->name) != 0)
            continue;
        if (i > cpu_level())
            return pe_fail(why, PE_INVALID_PARAMETER, "kernels",
                           "this CPU cannot run the %s kernels, at best %s", name, best()->name);
        found = all[i];
    }
    if (found == NULL)
        return fail_unknown(name, why);
    atomic_store_explicit(&chosen, found, memory_order_relaxed);
    return PE_OK;
}
