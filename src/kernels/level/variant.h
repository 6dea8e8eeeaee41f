/* SPDX-License-Identifier: MIT */
/* variant.h - what every file of level/ shares: its level, and the names its functions get. */
#ifndef PE_KERNELS_LEVEL_VARIANT_H
#define PE_KERNELS_LEVEL_VARIANT_H

#include "kernels/kernels.h"

/*
 * The files of this folder are compiled once per instruction-set level, each time with
 * -DPE_LEVEL=<level>, -DPE_LEVEL_<level>=1 and that level's -march. Their functions are called
 * PE_LEVEL_NAME(f), so that f_baseline, f_v3 and f_v4 stand side by side in one library.
 */
#ifndef PE_LEVEL
#error "compile with -DPE_LEVEL=baseline, v3 or v4 (the Makefile does)"
#endif

#define PE_LEVEL_PASTE2(f, level) f##_##level
#define PE_LEVEL_PASTE(f, level)  PE_LEVEL_PASTE2(f, level)
#define PE_LEVEL_NAME(f)          PE_LEVEL_PASTE(f, PE_LEVEL)
#define PE_LEVEL_TEXT2(level)     #level
#define PE_LEVEL_TEXT(level)      PE_LEVEL_TEXT2(level)

/* A level built without its instructions would be slow and never found out; the baseline built with
 * them would crash elsewhere. */
#if defined(PE_LEVEL_v4)
#if !defined(__AVX512F__) || !defined(__AVX512BW__) || !defined(__AVX512CD__) ||                   \
    !defined(__AVX512DQ__) || !defined(__AVX512VL__)
#error "level v4 needs -march=x86-64-v4"
#endif
#elif defined(PE_LEVEL_v3)
#if !defined(__AVX2__) || !defined(__FMA__) || !defined(__F16C__) || defined(__AVX512F__)
#error "level v3 needs -march=x86-64-v3"
#endif
#elif defined(PE_LEVEL_baseline)
#if defined(__x86_64__) && defined(__SSE3__)
#error "level baseline needs -march=x86-64"
#endif
#else
#error "unknown PE_LEVEL"
#endif

/** 1 where fma() is one instruction. Only results that cannot depend on it may use it. */
#if defined(__FMA__) || defined(__aarch64__)
#define PE_LEVEL_FMA 1
#else
#define PE_LEVEL_FMA 0
#endif

/* The functions of this level's pe_kernels; kernels.h documents them. */
bool PE_LEVEL_NAME(pe_waves)(const pe_run *run, const pe_wave_layout *layout, pe_dtype dtype,
                             void *out, uint64_t *doubtful);
void PE_LEVEL_NAME(pe_waves_offsets)(const pe_offsets *wanted, double *out);
void PE_LEVEL_NAME(pe_convert_widen)(pe_dtype dtype, const void *in, size_t n, double *out);
void PE_LEVEL_NAME(pe_convert_narrow)(pe_dtype dtype, const double *in, size_t n, void *out);
void PE_LEVEL_NAME(pe_rotate)(pe_dtype dtype, pe_pairing pairing, size_t pairs, const double *cos,
                              const double *sin, size_t count, size_t stride, const void *x,
                              void *out);
void PE_LEVEL_NAME(pe_add)(pe_dtype dtype, const void *x, const double *y, size_t n, void *out);
size_t PE_LEVEL_NAME(pe_ramp)(pe_dtype dtype, double hi, double lo, int64_t first, int64_t step,
                              size_t n, void *out, uint32_t *doubtful);

extern const pe_kernels PE_LEVEL_NAME(pe_kernels);

#endif
