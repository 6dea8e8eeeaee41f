/* SPDX-License-Identifier: MIT */
/* cpu.c - which sets of instructions the CPU has, and the system saves the registers of. */
#include "base/cpu.h"

#include <stdbool.h>

#if defined(__x86_64__)
#include <cpuid.h>

size_t pe_cpu_level(void)
{
    unsigned a, b, c, d, c1;
    __builtin_cpu_init();
    /* The part of x86-64-v3 that not every compiler's __builtin_cpu_supports knows by name. */
    const bool named = __get_cpuid(1, &a, &b, &c1, &d) && (c1 & bit_F16C) && (c1 & bit_MOVBE) &&
                       __get_cpuid(0x80000001, &a, &b, &c, &d) && (c & bit_LZCNT);
    if (!named || !__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ||
        !__builtin_cpu_supports("bmi") || !__builtin_cpu_supports("bmi2"))
        return 0;
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
        !__builtin_cpu_supports("avx512cd") || !__builtin_cpu_supports("avx512dq") ||
        !__builtin_cpu_supports("avx512vl"))
        return 1;
    return __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2") ? 3 : 2;
}
#else
size_t pe_cpu_level(void)
{
    return 0;
}
#endif
