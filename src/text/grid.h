/* SPDX-License-Identifier: MIT */
/* grid.h - the arithmetic by which blocks of narrow floats become decimal digits. */
#ifndef PE_TEXT_GRID_H
#define PE_TEXT_GRID_H

#include <stdint.h>

#include "base/array.h"

/*
 * Zero and magnitudes m in [1e-4, 10), powers of two below 1 left out (their interval is narrower
 * below), fall into five classes by their decade, class 0 being [1, 10). Scaled by scale[class], a
 * power of ten, y = m * scale lies in [10^(D-1), 10^D), where D digits always identify a number of
 * the type: 9 for float32, 5 for float16, 4 for bfloat16. y is exact: the significand's 24 bits and
 * the 28 of 5^12 fit in 53. So is half a spacing of the type, h = half * 2^exponent(m) * scale,
 * which is at least 1.9. The multiples of 1, 10 and 100 nearest to y are the candidates, of which
 * the last that is closer to y than h is the shortest decimal. That needs h < 50, lest there be a
 * multiple of 1000 besides; as h would be 58 for a float32 between 2^-10 and 0.001, these are
 * counted to class 3, where they have eight digits and a zero before them. No candidate is ever
 * exactly h away. Tests run through every value of the three types.
 */
typedef struct pe_grid {
    double scale[5];
    double half; /* a power of two */
    double lift; /* 10^(9 - D): all go on with nine digits */
} pe_grid;

static const pe_grid pe_grids[PE_DTYPES] = {
    [PE_FLOAT32] = {{1e8, 1e9, 1e10, 1e11, 1e12}, 0x1p-24, 1},
    [PE_FLOAT16] = {{1e4, 1e5, 1e6, 1e7, 1e8}, 0x1p-11, 1e4},
    [PE_BFLOAT16] = {{1e3, 1e4, 1e5, 1e6, 1e7}, 0x1p-8, 1e5},
};

/** The smallest floats not below 1e-4, 0.01 and 0.1, and where class 4 ends. */
#define PE_FLOAT_1E_4    0x1.a36e3p-14F
#define PE_FLOAT_CLASS_4 0x1p-10F
#define PE_FLOAT_1E_2    0x1.47ae16p-7F
#define PE_FLOAT_1E_1    0x1.99999ap-4F

#endif
