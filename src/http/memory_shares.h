/* SPDX-License-Identifier: MIT */
/* memory_shares.h - the budget for all memory, and what settings get of it. */
#ifndef PE_HTTP_MEMORY_SHARES_H
#define PE_HTTP_MEMORY_SHARES_H

#include "base/status.h"
#include "config/settings.h"

/**
 * Set memory_max, where it is 0, to half of what the system gives, and bound each setting of bytes
 * by its share of it. Logs the budget.   Errors  INVALID_PARAMETER: too little.
 */
pe_status pe_memory_shares_apply(pe_settings *settings, pe_problem *why) PE_MUST_CHECK;

#endif
