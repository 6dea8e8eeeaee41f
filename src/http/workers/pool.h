/* SPDX-License-Identifier: MIT */
/* pool.h - threads that compute, and the bounded queues before them. */
#ifndef PE_HTTP_WORKERS_POOL_H
#define PE_HTTP_WORKERS_POOL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "http/workers/fair_queue.h"

/** Of one client: jobs that wait, by the queue that they wait in. All zeros at first. */
typedef struct pe_client_queues {
    pe_client_queue light, heavy;
} pe_client_queues;

typedef enum pe_job_kind {
    /** Planning a request that is not wide, and answering it when that is little work. Goes before
     * others. Never refused: there are no more of them than connections. */
    PE_JOB_LIGHT,
    /** Known to be much work: refused when queue_max wait, some of them of the same client, or when
     * as many of that client as one may have. */
    PE_JOB_HEAVY,
    /** A block of an answer that is being sent. Never refused, as a light one. */
    PE_JOB_BLOCK
} pe_job_kind;

typedef struct pe_pool pe_pool;

typedef struct pe_pool_limits {
    size_t threads;    /* that take all jobs; one more takes light ones only */
    size_t queue_max;  /* heavy jobs and blocks that wait */
    size_t client_max; /* of these, one client's */
} pe_pool_limits;

/** Threads in all, with those that wait for their turn. */
size_t pe_pool_threads(size_t threads);

pe_status pe_pool_make(const pe_pool_limits *limits, pe_pool **out, pe_problem *why) PE_MUST_CHECK;

/** The client's queues stay until the job is run; NULL: nobody's in particular. False when the job
 * is refused, or the pool is ending.   Threads  any. */
bool pe_pool_submit(pe_pool *pool, pe_client_queues *client, pe_job *job,
                    pe_job_kind kind) PE_MUST_CHECK;

/** Would such a job be refused now? */
bool pe_pool_refuses(pe_pool *pool, const pe_client_queues *client, pe_job_kind kind);

/** Jobs that wait now. */
size_t pe_pool_waiting(pe_pool *pool);

/** Runs what is queued, then ends the threads. From now on every job is refused. */
void pe_pool_end(pe_pool *pool);

/** Ends the pool first when nobody has. No other thread uses it any more. Accepts NULL. */
void pe_pool_free(pe_pool *pool);

/** Have this thread release, when it ends, what MPFR keeps for each thread (constants and memory).
 * Workers and I/O threads do.   Cheap and harmless to call again. */
void pe_thread_computes(void);

#endif
