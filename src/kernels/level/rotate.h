/* SPDX-License-Identifier: MIT */
/* rotate.h - what turning wide and 16-bit channels shares. */
#ifndef PE_KERNELS_LEVEL_ROTATE_H
#define PE_KERNELS_LEVEL_ROTATE_H

#include "kernels/level/lanes.h"

/** Where the vectors are: `count` of them, of 2*pairs channels, `row` bytes apart. */
typedef struct pe_vectors {
    size_t pairs, count, row;
    const char *x;
    char *out;
} pe_vectors;

/** First and second channels of a vector whose pairs are (i, i + pairs). */
typedef struct pe_halves {
    const char *a, *b;
    char *a_out, *b_out;
} pe_halves;

/** Those of vector r, from byte k of each half on. */
PE_INLINE pe_halves pe_halves_of(const pe_vectors *v, size_t half, size_t r, size_t k)
{
    const char *x = v->x + r * v->row + k;
    char *out = v->out + r * v->row + k;
    return (pe_halves){x, x + half, out, out + half};
}

/** (b, a) of every pair (a, b) of lanes. */
PE_INLINE pe_vd pe_swap_pairs(pe_vd x)
{
#if PE_LANES == 8
    return __builtin_shufflevector(x, x, 1, 0, 3, 2, 5, 4, 7, 6);
#elif PE_LANES == 4
    return __builtin_shufflevector(x, x, 1, 0, 3, 2);
#else
    return __builtin_shufflevector(x, x, 1, 0);
#endif
}

/** pe_kernels.rotate for float16 and bfloat16. */
void PE_LEVEL_NAME(pe_rotate_narrow)(pe_dtype dtype, pe_pairing pairing, const pe_vectors *v,
                                     const double *cos, const double *sin);

#endif
