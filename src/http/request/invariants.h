/* SPDX-License-Identifier: MIT */
/* invariants.h - what should never happen, looked for while nothing else does. */
#ifndef PE_HTTP_REQUEST_INVARIANTS_H
#define PE_HTTP_REQUEST_INVARIANTS_H

#include <stdbool.h>
#include <stdint.h>

/** What the server holds and has done at one moment. */
typedef struct pe_sight {
    double now, cpu; /* seconds: of a clock; that the process has computed */
    uint64_t events; /* connections, requests and reloads, ever */
    uint64_t active; /* requests under way; the warm-up is one */
    uint64_t other;  /* bytes allocated that belong to no cache, body or connection */
} pe_sight;

typedef struct pe_invariants {
    pe_sight before;
    uint64_t kept; /* the most of `other` that was no violation; 0: not known yet */
} pe_invariants;

typedef struct pe_broken {
    bool idle;   /* nothing was asked, and a quarter of a core was taken */
    bool memory; /* nothing is under way, and PE_KEPT_BYTES more are held than before */
} pe_broken;

/** Rows of clients and of counters, buffers that threads keep. */
#define PE_KEPT_BYTES ((uint64_t)16777216)

/** Which of them are broken between two sights in which nothing was under way, and no event between
 * them. Each 16 MiB are told once. Of sights closer than a second, the later is left out. */
pe_broken pe_invariants_judge(pe_invariants *invariants, const pe_sight *sight);

#endif
