/* SPDX-License-Identifier: MIT */
/* approximations.h - tables of pairs that are nearly what is claimed: how their errors come. */
#ifndef PE_VERIFY_APPROXIMATIONS_H
#define PE_VERIFY_APPROXIMATIONS_H

#include "verify/attempts.h"

/** Quantized elements, other reductions of angles, tables of sines, errors that grow by rows. */
pe_try pe_approximations_try;
/** Nothing but how large the errors are, where they are small. */
pe_try pe_approximations_any;

#endif
