/* SPDX-License-Identifier: MIT */
/* tally.h - requests that have ended, counted by route, method and status. */
#ifndef PE_HTTP_REQUEST_TALLY_H
#define PE_HTTP_REQUEST_TALLY_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "http/request/request.h"

/**
 * A series is a route with a method and a status, and is made when the first such request ends. So
 * there are no more of them than routes times methods times statuses, whatever clients send. It has
 * several cells: a thread counts in its own, and no two threads write to one line of memory.
 */
typedef struct pe_tally pe_tally;

/** What a series has counted, of all threads together. */
typedef struct pe_tally_sum {
    unsigned route; /* its number */
    pe_method method;
    unsigned status; /* 0: no reply */
    uint64_t bucket[PE_HISTOGRAM_BOUNDS + 1], nanoseconds, requests;
    uint64_t sent, received; /* bytes of bodies */
} pe_tally_sum;

/** Routes are numbered from 0 up to `routes`. */
pe_status pe_tally_make(unsigned routes, pe_tally **out, pe_problem *why) PE_MUST_CHECK;
/** Accepts NULL. */
void pe_tally_free(pe_tally *tally);

/** The request has ended now, with that status. A route or status that is not known counts as 0.
 * Where memory runs out, it is not counted.   Threads  any. */
void pe_tally_request(pe_tally *tally, const pe_request *request, unsigned status, int64_t now);

/** The next series in order of route, method and status; *at begins at 0. False: there is none. */
bool pe_tally_next(const pe_tally *tally, size_t *at, pe_tally_sum *out);

#endif
