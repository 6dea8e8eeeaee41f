/* SPDX-License-Identifier: MIT */
/* reserve.h - memory that MPFR computes with when there is no other. */
#ifndef PE_EXACT_RESERVE_H
#define PE_EXACT_RESERVE_H

#include <stddef.h>

#include "base/status.h"

/**
 * From now on GMP and MPFR, which end the program when an allocation fails, are given memory that
 * was set aside for so many threads that compute at once. It suffices: they never hold more than
 * their numbers under way, some 13 KB a thread (measured over all tests), and 64 KB are set aside.
 * Whoever computes finds out at the next allocation of its own. What is set aside once stays, since
 * threads keep constants of MPFR's.
 *
 * Errors  OVERLOADED (memory).   Threads  before others compute.
 */
pe_status pe_reserve_make(size_t threads, pe_problem *why) PE_MUST_CHECK;

#endif
