/* SPDX-License-Identifier: MIT */
/* clock.h - the time that only goes forward. */
#ifndef PE_BASE_CLOCK_H
#define PE_BASE_CLOCK_H

#include <stdint.h>

#define PE_NANOSECONDS_PER_SECOND 1000000000
#define PE_NANOSECONDS_PER_MS     1000000

/** Nanoseconds of a clock that only goes forward. */
int64_t pe_clock(void);

/** Nanoseconds that the calling thread itself has computed. */
int64_t pe_clock_of_thread(void);

#endif
