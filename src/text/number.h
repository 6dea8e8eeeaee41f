/* SPDX-License-Identifier: MIT */
/* number.h - a number as its shortest text. */
#ifndef PE_TEXT_NUMBER_H
#define PE_TEXT_NUMBER_H

#include <stddef.h>

#include "base/dtype.h"

/** No number of any dtype prints longer than this. */
#define PE_NUMBER_TEXT_MAX 32

/** Bytes of a number of the type as text, with its separator: at most; and usual ones, as those of
 * sines and cosines are. */
size_t pe_number_text_most(pe_dtype dtype);
size_t pe_number_text_usual(pe_dtype dtype);

/**
 * Write the shortest JSON number that reads back to the same value of `dtype`; of the shortest, the
 * nearest to the value. Fixed notation for 1e-6 <= |v| < 1e21 (as ECMAScript's Number::toString,
 * which is what browsers print: 0.000001, 1e-7, 123456789012345680000, 1e21 as "1e+21"), exponent
 * form else. Integral values print without ".0", those below 2^53 with all their digits (the
 * float32 123456792, not 123456790). -0 prints "-0". `value` must be a value of dtype, finite;
 * infinities and NaN print `null`.
 *
 * Returns how many bytes the text has (no NUL). `out` has room for PE_NUMBER_TEXT_MAX, of which
 * those behind the text may be written too.
 */
size_t pe_number_print(pe_dtype dtype, double value, char *out);

#endif
