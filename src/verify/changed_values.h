/* SPDX-License-Identifier: MIT */
/* changed_values.h - plain numbers with two mistakes: a change of a value, and what is behind it. */
#ifndef PE_VERIFY_CHANGED_VALUES_H
#define PE_VERIFY_CHANGED_VALUES_H

#include "verify/explain.h"

/** Of a small upload: causes of scales, formulas and places behind each change of a value and each
 * fault; then a second change behind those that come nearest. */
pe_try pe_changed_values_try;

#endif
