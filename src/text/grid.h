/* SPDX-License-Identifier: MIT */
/* grid.h - the arithmetic by which blocks of narrow floats become decimal digits. */
#ifndef PE_TEXT_GRID_H
#define PE_TEXT_GRID_H

#include <stdint.h>

#include "base/array.h"

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

/*
 * The same from 10 up: by binade from 2^3 on, up to 2^29. The power of ten falls with each; where
 * it would reach 0, numbers are whole, and have all of their digits.
 */
typedef struct pe_large_grid {
    uint8_t places; /* before the point, of numbers below the bound */
    uint8_t power[PE_BFLOAT16 + 1];
    float bound; /* the power of ten in the binade, or above it */
} pe_large_grid;

#define PE_LARGE_FIRST 3
#define PE_LARGE_BELOW 1e9F

static const pe_large_grid pe_large_grids[27] = {
    {1, {7, 0, 3, 2}, 1e1F}, {2, {6, 0, 2, 1}, 1e2F}, {2, {6, 0, 2, 1}, 1e2F},
    {2, {6, 0, 2, 1}, 1e2F}, {3, {5, 0, 1, 0}, 1e3F}, {3, {5, 0, 1, 0}, 1e3F},
    {3, {5, 0, 1, 0}, 1e3F}, {4, {4, 0, 0, 0}, 1e4F}, {4, {4, 0, 0, 0}, 1e4F},
    {4, {4, 0, 0, 0}, 1e4F}, {4, {4, 0, 0, 0}, 1e4F}, {5, {3, 0, 0, 0}, 1e5F},
    {5, {3, 0, 0, 0}, 1e5F}, {5, {3, 0, 0, 0}, 1e5F}, {6, {2, 0, 0, 0}, 1e6F},
    {6, {2, 0, 0, 0}, 1e6F}, {6, {2, 0, 0, 0}, 1e6F}, {7, {1, 0, 0, 0}, 1e7F},
    {7, {1, 0, 0, 0}, 1e7F}, {7, {1, 0, 0, 0}, 1e7F}, {7, {0, 0, 0, 0}, 1e7F},
    {8, {0, 0, 0, 0}, 1e8F}, {8, {0, 0, 0, 0}, 1e8F}, {8, {0, 0, 0, 0}, 1e8F},
    {9, {0, 0, 0, 0}, 1e9F}, {9, {0, 0, 0, 0}, 1e9F}, {9, {0, 0, 0, 0}, 1e9F},
};

/** The smallest float not below 1e-4. */
#define PE_FLOAT_1E_4 0x1.a36e3p-14F

#endif
