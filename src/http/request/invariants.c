/* SPDX-License-Identifier: MIT */
/* invariants.c - what should never happen, looked for while nothing else does. */
#include "http/request/invariants.h"

#define LEAST_SECONDS 1.0
#define CPU_SHARE     0.25

pe_broken pe_invariants_judge(pe_invariants *invariants, const pe_sight *sight)
{
    const pe_sight before = invariants->before;
    const double seconds = sight->now - before.now;
    pe_broken broken = {0};
    if (seconds < LEAST_SECONDS)
        return broken;
    invariants->before = *sight;
    if (before.active > 0 || sight->active > 0 || before.events != sight->events)
        return broken;
    broken.idle = sight->cpu - before.cpu > CPU_SHARE * seconds;
    broken.memory = invariants->kept > 0 && sight->other > invariants->kept + PE_KEPT_BYTES;
    if (invariants->kept == 0 || broken.memory)
        invariants->kept = sight->other > 0 ? sight->other : 1;
    return broken;
}
