/* SPDX-License-Identifier: MIT */
/* service.h - what all requests of one server share. */
#ifndef PE_HTTP_REQUEST_SERVICE_H
#define PE_HTTP_REQUEST_SERVICE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/query.h"
#include "base/buffer.h"
#include "base/process.h"
#include "config/settings.h"
#include "plan/price.h"
#include "sandbox/sandbox.h"

#define PE_STATUS_ONE(name, http, code, title, about) +1
enum { PE_STATUSES = 0 PE_STATUS_MAP(PE_STATUS_ONE) };
#undef PE_STATUS_ONE

/** Upper bounds of the buckets, in nanoseconds; the last bucket has none. */
#define PE_HISTOGRAM_BOUNDS 17
extern const int64_t pe_histogram_bounds[PE_HISTOGRAM_BOUNDS];

typedef struct pe_histogram {
    atomic_uint_fast64_t bucket[PE_HISTOGRAM_BOUNDS + 1]; /* of each alone, not cumulative */
    atomic_uint_fast64_t nanoseconds;                     /* the sum */
} pe_histogram;

static inline void pe_histogram_add(pe_histogram *histogram, int64_t nanoseconds)
{
    size_t b = 0;
    while (b < PE_HISTOGRAM_BOUNDS && nanoseconds > pe_histogram_bounds[b])
        b++;
    atomic_fetch_add_explicit(&histogram->bucket[b], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&histogram->nanoseconds, (uint64_t)nanoseconds, memory_order_relaxed);
}

/** What /metrics counts. Any thread adds; nothing depends on the order of the additions. */
typedef struct pe_counters {
    atomic_uint_fast64_t streams, refused, timeouts;
    atomic_uint_fast64_t problems[PE_STATUSES]; /* that were replied, by their status */
    atomic_uint_fast64_t abandoned;    /* whose clients had left before the work was begun */
    atomic_uint_fast64_t stream_bytes; /* made for streams, whether or not they were taken */
    atomic_uint_fast64_t blocks_by_io, blocks_by_workers; /* of streams */
    atomic_uint_fast64_t connections;                     /* ever */
    atomic_uint_fast64_t dropped;                         /* connections, to make room for others */
    atomic_uint_fast64_t work;         /* units, by the price of what was begun (plan/price.h) */
    atomic_uint_fast64_t overruns;     /* computations that took far more than their price */
    atomic_int_fast64_t longest;       /* nanoseconds of a worker between two looks at its clock */
    atomic_uint_fast64_t spins, leaks; /* while nothing was asked */
    atomic_uint_fast64_t digests;      /* made, not taken from the cache */
    atomic_uint_fast64_t warm_hits;    /* answered from the response cache as they were sent */
    pe_histogram waits;                /* for a worker */
    pe_histogram work_on_requests, work_on_blocks; /* by workers: each turn; each block */
} pe_counters;

/**
 * pe_server_start makes it before the first connection and frees it after the last. The pointers
 * do not change in between.
 */
typedef struct pe_service {
    const pe_config *config;     /* the caller's of pe_server_start; outlives the server */
    const pe_settings *settings; /* its, within memory_max */
    pe_limits limits;
    pe_read_limits read_limits;
    size_t max_pixels; /* of a figure */
    bool
        logs_warnings; /* the one client is a command: formats without room for them have the log */
    struct pe_tables *tables;
    struct pe_response_cache *responses;
    struct pe_pool *pool;
    struct pe_watchdog *watchdog;
    struct pe_drain *drain;
    struct pe_acceptor *acceptor;
    _Atomic(struct pe_tls_identity *) identity; /* that TLS shows now */
    bool tls;                                   /* else connections are plain */
    struct MHD_Daemon *admin;                   /* that serves operators, or NULL */
    struct pe_cache *documents;
    struct pe_clients *clients;
    struct { /* what a reload replaces */
        pthread_mutex_t lock;
        struct pe_keys *keys; /* NULL: everybody is served */
        pe_buffer settings;   /* as operators see them; empty: those of the start */
    } reloaded;
    atomic_bool guarded; /* there are keys or rates */
    pe_sandbox sandbox;
    pe_counters counters;
    struct pe_tally *tally;                                      /* of requests that have ended */
    void (*name_route)(unsigned number, char *out, size_t room); /* pe_route_template */
    pe_process process;
    atomic_uint_fast64_t edition; /* of what answers depend on beside the request; counts reloads */
    atomic_bool warming, draining;
    atomic_size_t body_bytes;       /* held by requests that are arriving or waiting */
    atomic_size_t large_body_bytes; /* of these, by routes that take more than max_body_bytes */
    size_t body_bytes_max;
    atomic_size_t large_blocks; /* bytes of streams' large blocks */
} pe_service;

/** Add to a counter, and read one. */
static inline void pe_count_add(atomic_uint_fast64_t *counter, uint64_t n)
{
    atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}
static inline void pe_service_count(atomic_uint_fast64_t *counter)
{
    pe_count_add(counter, 1);
}
static inline uint64_t pe_count_of(const atomic_uint_fast64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

#endif
