/* SPDX-License-Identifier: MIT */
/* clock.c - the time that only goes forward. */
#include "base/clock.h"

#include <time.h>

static int64_t nanoseconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * PE_NANOSECONDS_PER_SECOND + now.tv_nsec;
}

int64_t pe_clock(void)
{
    return nanoseconds(CLOCK_MONOTONIC);
}

int64_t pe_clock_of_thread(void)
{
    return nanoseconds(CLOCK_THREAD_CPUTIME_ID);
}
