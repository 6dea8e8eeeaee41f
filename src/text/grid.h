/* SPDX-License-Identifier: MIT */
/* grid.h - how blocks_vbmi2.c finds the decimal digits of what tables hold, in doubles. */
#ifndef PE_TEXT_GRID_H
#define PE_TEXT_GRID_H

#include <stdint.h>

#include "base/dtype.h"

/*
 * Zero and magnitudes m in [1e-4, 10), powers of two below 1 left out (their interval is narrower
 * below), fall into six classes of adjoining binades. In each, one power of ten, scale[class],
 * makes half a spacing of the type, h = half * 2^exponent(m) * scale, lie between 0.5 and 5 (never
 * on either). So of y = m * scale the nearest integer always identifies m, and at most one multiple
 * of ten does; if one does, it is the shortest decimal (zeros at its end are dropped), else the
 * nearest integer is. All this is exact in double: y has the significand's 24 bits and at most the
 * 28 of 5^12, and no candidate is ever just h away. All go on as nine digits, d.dddddddd in classes
 * 0 and 1, 0.ddddddddd in class 2, with one more zero after the point in each further class; the
 * first digit may be 0. Tests run through every value of the three types.
 */
typedef struct pe_grid {
    float bound[5]; /* class i + 1 is below bound[i] */
    double scale[6];
    double half;       /* a power of two */
    double first_lift; /* to nine digits in class 0 */
    double lift;       /* and in the others */
} pe_grid;

static const pe_grid pe_grids[PE_DTYPES] = {
    [PE_FLOAT32] = {{1, 0x1p-3F, 0x1p-6F, 0x1p-10F, 0x1p-13F},
                    {1e7, 1e8, 1e9, 1e10, 1e11, 1e12},
                    0x1p-24,
                    10,
                    1},
    [PE_FLOAT16] = {{2, 0x1p-3F, 0x1p-6F, 0x1p-9F, 0x1p-13F},
                    {1e3, 1e4, 1e5, 1e6, 1e7, 1e8},
                    0x1p-11,
                    1e5,
                    1e4},
    [PE_BFLOAT16] = {{2, 0x1p-2F, 0x1p-6F, 0x1p-9F, 0x1p-12F},
                     {1e2, 1e3, 1e4, 1e5, 1e6, 1e7},
                     0x1p-8,
                     1e6,
                     1e5},
};

/** The smallest float not below 1e-4. */
#define PE_FLOAT_1E_4 0x1.a36e3p-14F

#endif
