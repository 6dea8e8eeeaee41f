/* SPDX-License-Identifier: MIT */
/* blocks.c - many numbers as text: by the best variant that the CPU runs, or the chosen one. */
#include "text/blocks.h"

#include <stdatomic.h>
#include <string.h>

#include "base/cpu.h"
#include "text/number.h"

extern const pe_blocks pe_blocks_baseline;

#if defined(__x86_64__)
extern const pe_blocks pe_blocks_v3, pe_blocks_v4, pe_blocks_vbmi2;

/* Row l: what a CPU of level l runs, each level including the ones below. */
static const pe_blocks *const levels[][5] = {
    {&pe_blocks_baseline},
    {&pe_blocks_baseline, &pe_blocks_v3},
    {&pe_blocks_baseline, &pe_blocks_v3, &pe_blocks_v4},
    {&pe_blocks_baseline, &pe_blocks_v3, &pe_blocks_v4, &pe_blocks_vbmi2},
};
#else
static const pe_blocks *const levels[][2] = {{&pe_blocks_baseline}};
#endif

static _Atomic(const pe_blocks *) chosen;

const pe_blocks *pe_blocks_get(void)
{
    const pe_blocks *blocks = atomic_load_explicit(&chosen, memory_order_relaxed);
    if (blocks == NULL) {
        const size_t level = pe_cpu_level();
        blocks = levels[level][level];
        atomic_store_explicit(&chosen, blocks, memory_order_relaxed);
    }
    return blocks;
}

const pe_blocks *const *pe_blocks_all(void)
{
    return levels[pe_cpu_level()];
}

bool pe_blocks_select(const char *name)
{
    const pe_blocks *found = NULL;
    for (const pe_blocks *const *v = pe_blocks_all(); *v != NULL; v++)
        if (strcmp(name, "auto") == 0 || strcmp(name, (*v)->name) == 0)
            found = *v; /* auto: the last and best */
    if (found != NULL)
        atomic_store_explicit(&chosen, found, memory_order_relaxed);
    return found != NULL;
}

/* Fewer than this are sooner written one by one: a variant takes as long for a part of a block as for
 * a whole one, as measured (0.5 microseconds; doubles: 1.7). Integers always are. */
static const size_t few[PE_DTYPES] = {[PE_FLOAT32] = 12,
                                      [PE_FLOAT64] = 24,
                                      [PE_FLOAT16] = 12,
                                      [PE_BFLOAT16] = 12,
                                      [PE_INT32] = SIZE_MAX};

size_t pe_blocks_print(pe_dtype dtype, const void *data, size_t n, char separator, char *out)
{
    const char *at = data;
    char *const start = out;
    const size_t step = pe_dtype_bytes(dtype);
    if (n == 0)
        return 0;
    if (n >= few[dtype] && dtype == PE_FLOAT64)
        return (size_t)(pe_blocks_get()->print_doubles(data, n, separator, out) - start) - 1;
    if (n >= few[dtype])
        return (size_t)(pe_blocks_get()->print(dtype, data, n, separator, out) - start) - 1;
    for (size_t i = 0; i < n; i++) {
        out += pe_number_print(dtype, pe_dtype_load(dtype, at + i * step), out);
        *out++ = separator;
    }
    return (size_t)(out - 1 - start);
}

/* A block that is not full takes its whole time. */
size_t pe_blocks_work(pe_dtype dtype, size_t n)
{
    if (dtype == PE_INT32)
        return 1;
    if (n < few[dtype])
        return 8;
    return dtype == PE_FLOAT64 ? 2 + 130 / n : 80 / n;
}
