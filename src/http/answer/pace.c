/* SPDX-License-Identifier: MIT */
/* pace.c - how large the blocks of a stream are, and which threads make them. */
#include "http/answer/pace.h"

/* Blocks that workers owe at most. */
#define OWED_MAX 64

void pe_pace_sender(pe_pace *pace, int64_t nanoseconds)
{
    if (nanoseconds > PE_SLOW_NANOSECONDS) {
        pace->most = PE_BLOCK_BYTES;
        pace->owed = 1;
    } else if (nanoseconds < PE_SLOW_NANOSECONDS / 4 && pace->most < pace->large) {
        pace->most *= 2;
    }
}

void pe_pace_worker(pe_pace *pace, int64_t nanoseconds)
{
    if (nanoseconds > PE_SLOW_NANOSECONDS)
        pace->owed = pace->owed < OWED_MAX / 2 ? 2 * pace->owed + 1 : OWED_MAX;
    else if (pace->owed > 0)
        pace->owed--;
}
