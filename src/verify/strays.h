/* SPDX-License-Identifier: MIT */
/* strays.h - guesses that explain all of an upload but a part. */
#ifndef PE_VERIFY_STRAYS_H
#define PE_VERIFY_STRAYS_H

#include "verify/attempts.h"

/** A guess that explains all but few rows, few columns or few elements becomes a finding. */
pe_try pe_strays_try;

#endif
