/* SPDX-License-Identifier: MIT */
/* lookup_reading.h - learned biases, whose rows tell by which index each was looked up. */
#ifndef PE_VERIFY_PLAIN_LOOKUP_READING_H
#define PE_VERIFY_PLAIN_LOOKUP_READING_H

#include "verify/search/numbers.h"

/** Of biases do `next` with their indices, which causes of indices read as an upload of their own;
 * of others, and where a bias is no row of the table, nothing. */
pe_status pe_lookup_read(const pe_numbers *plain,
                         pe_status (*next)(const pe_numbers *indices, pe_problem *why),
                         pe_problem *why) PE_MUST_CHECK;
/** The same behind a change of the table, where nothing is found without one. */
pe_status pe_lookup_read_changed(const pe_numbers *plain,
                                 pe_status (*next)(const pe_numbers *indices, pe_problem *why),
                                 pe_problem *why) PE_MUST_CHECK;

#endif
