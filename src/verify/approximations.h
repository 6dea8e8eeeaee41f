/* SPDX-License-Identifier: MIT */
/* approximations.h - tables of pairs that are nearly what is claimed: how their errors come. */
#ifndef PE_VERIFY_APPROXIMATIONS_H
#define PE_VERIFY_APPROXIMATIONS_H

#include "verify/attempts.h"

/** Quantized elements, other reductions of angles, tables of sines. */
pe_try pe_approximations_try;
/** Errors that grow from row to row. Frequencies that are a little wrong make such errors, too: to be
 * tried once values and pairs of faults were. */
pe_try pe_approximations_growing;
/** Nothing but how large the errors are, where they are small. */
pe_try pe_approximations_any;

#endif
