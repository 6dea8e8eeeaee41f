/* SPDX-License-Identifier: MIT */
/* power.h - powers and pi for MPFR, in fewer steps than its own. */
#ifndef PE_BASE_POWER_H
#define PE_BASE_POWER_H

#include <mpfr.h>

/** x to the power of num / den, in place and at x's precision; x > 0 and den > 0. It is off by less
 * than an ulp where x is exact. Whole numbers take roots, and no logarithm. */
void pe_power_raise(mpfr_ptr x, double num, double den);

/** pi at the precision of out, off by less than an ulp. */
void pe_power_pi(mpfr_ptr out);

#endif
