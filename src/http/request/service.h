/* SPDX-License-Identifier: MIT */
/* service.h - what all requests of one server share. */
#ifndef PE_HTTP_REQUEST_SERVICE_H
#define PE_HTTP_REQUEST_SERVICE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "api/query.h"
#include "config/settings.h"
#include "http/pages/pages.h"
#include "http/work/pool.h"
#include "http/answer/response_cache.h"
#include "http/connection/watchdog.h"
#include "tables/tables.h"

/** What /metrics counts. Any thread adds; nothing depends on their order. */
typedef struct pe_counters {
    atomic_uint_fast64_t requests, by_class[6]; /* by_class[4]: answers with a 4xx status */
    atomic_uint_fast64_t warm_hits, streams, refused, timeouts;
    atomic_uint_fast64_t abandoned;    /* whose clients had left before the work was begun */
    atomic_uint_fast64_t stream_bytes; /* made for streams, whether or not they were taken */
    atomic_uint_fast64_t blocks_by_io, blocks_by_workers; /* of streams */
    atomic_uint_fast64_t connections;                     /* ever */
    atomic_uint_fast64_t digests;                         /* made, not taken from what is kept */
} pe_counters;

/**
 * Made by pe_server_start before the first connection, freed after the last; the pointers do not
 * change in between.
 */
typedef struct pe_service {
    const pe_settings *settings; /* the caller's of pe_server_start; outlives the server */
    pe_limits limits;
    pe_read_limits read_limits;
    pe_tables *tables;
    pe_response_cache *warm;
    pe_pool *pool;
    pe_watchdog *watchdog;
    pe_pages *pages;
    pe_counters counters;
    atomic_bool warming, draining;
    atomic_size_t body_bytes; /* held by requests that are arriving or waiting */
    size_t body_bytes_max;
    atomic_size_t large_blocks; /* bytes of streams' large blocks */
} pe_service;

/** Nanoseconds of a clock that only goes forward. */
int64_t pe_clock(void);

#endif
