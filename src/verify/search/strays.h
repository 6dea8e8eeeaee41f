/* SPDX-License-Identifier: MIT */
/* strays.h - guesses that explain all of an upload but a part. */
#ifndef PE_VERIFY_SEARCH_STRAYS_H
#define PE_VERIFY_SEARCH_STRAYS_H

#include "verify/search/attempts.h"

/** A guess that explains all but few rows, few columns or few elements becomes a finding. */
pe_try pe_strays_try;
/** The same where all that is left is NaN or infinite. */
pe_try pe_strays_not_finite;

/** Are more elements off than those of a few cells? Otherwise layouts and tensors are as claimed. */
bool pe_strays_are_many(const pe_search *s);

/** The same of strays that were counted: the report gets a finding where they are few. */
pe_status pe_strays_tell(pe_report *report, const pe_guess *guess, const pe_strays *strays,
                         bool of_pairs, pe_problem *why) PE_MUST_CHECK;

/** Is it a name of such a finding? */
bool pe_strays_is_fault(const char *name);

#endif
