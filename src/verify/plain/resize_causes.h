/* SPDX-License-Identifier: MIT */
/* resize_causes.h - a table at another resolution: how patches were taken, and in which order. */
#ifndef PE_VERIFY_PLAIN_RESIZE_CAUSES_H
#define PE_VERIFY_PLAIN_RESIZE_CAUSES_H

#include "verify/search/numbers.h"

/** Of learned/interpolate. */
pe_status pe_resize_causes_find(const pe_numbers *plain, pe_problem *why) PE_MUST_CHECK;

#endif
