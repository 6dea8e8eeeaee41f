/* SPDX-License-Identifier: MIT */
/* pool.h - threads that compute, and the bounded queues before them. */
#ifndef PE_HTTP_WORKERS_POOL_H
#define PE_HTTP_WORKERS_POOL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

/** A piece of work, held by whoever submits it until run has been called. */
typedef struct pe_job {
    void (*run)(void *context);
    void *context;
    struct pe_job *next;
} pe_job;

typedef enum pe_job_kind {
    /** Planning a request that is not wide, and answering it when that is little work. Goes before
     * others. Never refused: there are no more of them than connections. */
    PE_JOB_LIGHT,
    /** Known to be much work: refused when queue_max wait. */
    PE_JOB_HEAVY,
    /** A block of an answer that is being sent. Never refused, as a light one. */
    PE_JOB_BLOCK
} pe_job_kind;

typedef struct pe_pool pe_pool;

/** `threads` that take all jobs, and one more that takes light ones only. */
pe_status pe_pool_make(size_t threads, size_t queue_max, pe_pool **out,
                       pe_problem *why) PE_MUST_CHECK;

/** False when the job is refused, or the pool is ending.   Threads  any. */
bool pe_pool_submit(pe_pool *pool, pe_job *job, pe_job_kind kind) PE_MUST_CHECK;

/** Would such a job be refused now? */
bool pe_pool_refuses(pe_pool *pool, pe_job_kind kind);

/** Jobs that wait now. */
size_t pe_pool_waiting(pe_pool *pool);

/** Runs what is queued, then ends the threads. From now on every job is refused. */
void pe_pool_end(pe_pool *pool);

/** Ends the pool first when nobody has. No other thread uses it any more. Accepts NULL. */
void pe_pool_free(pe_pool *pool);

#endif
