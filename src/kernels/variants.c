/* SPDX-License-Identifier: MIT */
/* variants.c - which kernel variants this CPU can run, and the one in use. */
#include "kernels/kernels.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

extern const pe_kernels pe_kernels_baseline;

#if defined(__x86_64__)
#include <cpuid.h>

extern const pe_kernels pe_kernels_v3, pe_kernels_v4;

/* Row l: what a CPU of level l runs, each level including the ones below. */
static const pe_kernels *const levels[][4] = {
    {&pe_kernels_baseline, NULL},
    {&pe_kernels_baseline, &pe_kernels_v3, NULL},
    {&pe_kernels_baseline, &pe_kernels_v3, &pe_kernels_v4, NULL},
};

/* The part of x86-64-v3 that not every compiler's __builtin_cpu_supports knows by name. */
static bool has_f16c_movbe_lzcnt(void)
{
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_F16C) || !(c & bit_MOVBE))
        return false;
    return __get_cpuid(0x80000001, &a, &b, &c, &d) && (c & bit_LZCNT);
}

/* The builtin also asks whether the system saves the wide registers. */
static bool has_v3(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
           has_f16c_movbe_lzcnt();
}

static bool has_v4(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}

static size_t cpu_level(void)
{
    return !has_v3() ? 0 : !has_v4() ? 1 : 2;
}
#else
static const pe_kernels *const levels[][2] = {{&pe_kernels_baseline, NULL}};

static size_t cpu_level(void)
{
    return 0;
}
#endif

#define LEVEL_MAX (PE_LEN(levels) - 1)

static _Atomic(const pe_kernels *) chosen;

static const pe_kernels *best(void)
{
    const size_t level = cpu_level();
    return levels[level][level];
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
    for (size_t i = 0; found == NULL && i <= LEVEL_MAX; i++) {
        if (strcmp(name, levels[LEVEL_MAX][i]->name) != 0)
            continue;
        if (i > cpu_level())
            return pe_fail(why, PE_INVALID_PARAMETER, "kernels",
                           "this CPU cannot run the %s kernels, at best %s", name, best()->name);
        found = levels[LEVEL_MAX][i];
    }
    if (found == NULL)
        return fail_unknown(name, why);
    atomic_store_explicit(&chosen, found, memory_order_relaxed);
    return PE_OK;
}
