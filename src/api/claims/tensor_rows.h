/* SPDX-License-Identifier: MIT */
/* tensor_rows.h - what the numbers of a tensor show, without knowing what they are for. */
#ifndef PE_API_CLAIMS_TENSOR_ROWS_H
#define PE_API_CLAIMS_TENSOR_ROWS_H

#include "files/stored.h"

/** A tensor as rows: those of the items of a batch stand one behind the other. */
typedef struct pe_tensor_rows {
    const pe_stored *tensor;
    size_t n, width;
} pe_tensor_rows;

/** The last_axes axes are the columns. False: there are fewer, or there is nothing. */
bool pe_tensor_rows_read(const pe_stored *tensor, size_t last_axes, pe_tensor_rows *out);

double pe_tensor_rows_at(const pe_tensor_rows *r, size_t row, size_t column);

/** The largest number of a row; of the rows that are looked at the one with a quarter above it. Of
 * cosines, or nearly so, it is the amplitude. A few rows may hold anything. */
double pe_tensor_rows_amplitude(const pe_tensor_rows *r);

/** What two numbers are, beside the amplitude: 1, 0, or -1: they tell nothing. */
typedef int pe_tensor_test(double a, double b, double amplitude);
pe_tensor_test pe_tensor_are_equal, pe_tensor_are_a_pair;

/** Of pairs of columns, in halves or neighbours, the part that passes a test; NAN: none tells. */
double pe_tensor_rows_share(const pe_tensor_rows *r, bool halves, pe_tensor_test *test);

/** Column 0 counts: angles of the fastest pair. */
bool pe_tensor_rows_count(const pe_tensor_rows *r);

/** One axis has all numbers, and they fall from 1, the first of them by one ratio. */
bool pe_tensor_is_inv_freq(const pe_stored *tensor);

/** Each number stands twice in a row, bit for bit: each run of so many again behind itself. */
bool pe_tensor_rows_are_doubled(const pe_tensor_rows *r, size_t run);
/** Keep one of the two, in the place of the numbers. */
void pe_tensor_halve(pe_stored *tensor, const pe_tensor_rows *r, size_t run);

#endif
