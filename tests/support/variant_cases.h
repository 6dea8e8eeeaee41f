/* SPDX-License-Identifier: MIT */
/* variant_cases.h - cases that tell which variants a test ran, and skip themselves where some are
 * missing. */
#ifndef PE_TESTS_SUPPORT_VARIANT_CASES_H
#define PE_TESTS_SUPPORT_VARIANT_CASES_H

/**
 * Cases of a group that runs all variants of kernels, or of number text, that this CPU has: they
 * print which, and count as skipped when this processor's instruction set has others.
 */
void every_variant_of_kernels_ran(void **state);
void every_variant_of_text_ran(void **state);

#endif
