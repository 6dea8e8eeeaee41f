/* SPDX-License-Identifier: MIT */
/* pool.c - threads that compute, and the bounded queues before them. */
#include "http/workers/pool.h"

#include <pthread.h>
#include <stdlib.h>

/* After this many light jobs in a row a heavy one gets its turn. */
#define LIGHT_IN_A_ROW 16

/* The lock guards everything below it. It is held neither while a job runs nor
 * with another lock. */
struct pe_pool {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pe_fair_queue light, heavy;
    pe_lanes nobody; /* jobs of no client */
    pe_pool_limits limits;
    unsigned in_a_row;
    bool ending;
    size_t threads;
    pthread_t thread[];
};

/* The next job, or NULL when the pool ends. Called and returning with the lock held. */
static pe_job *next_job(pe_pool *pool, bool light_only)
{
    while (pool->light.waiting == 0 && (light_only || pool->heavy.waiting == 0)) {
        if (pool->ending)
            return NULL;
        pthread_cond_wait(&pool->changed, &pool->lock);
    }
    const bool light = pool->light.waiting > 0 &&
                       (light_only || pool->heavy.waiting == 0 || pool->in_a_row < LIGHT_IN_A_ROW);
    pool->in_a_row = light ? pool->in_a_row + 1 : 0;
    return pe_fair_queue_take(light ? &pool->light : &pool->heavy);
}

static void work(pe_pool *pool, bool light_only)
{
    pthread_mutex_lock(&pool->lock);
    for (pe_job *job; (job = next_job(pool, light_only)) != NULL;) {
        pthread_mutex_unlock(&pool->lock);
        job->run(job->context);
        pthread_mutex_lock(&pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
}

/* At the priority of the I/O threads: below it, workers got hardly a core while clients that were
 * refused came again at once. Those whose turns are short are scheduled soon anyway. */
static void *work_on_all(void *context)
{
    work(context, false);
    return NULL;
}

/* However long the others are at heavy jobs, one thread has time for the light ones. */
static void *work_on_light(void *context)
{
    work(context, true);
    return NULL;
}

pe_status pe_pool_make(const pe_pool_limits *limits, pe_pool **out, pe_problem *why)
{
    const size_t threads = limits->threads + 1;
    pe_pool *pool = calloc(1, sizeof *pool + threads * sizeof pool->thread[0]);
    if (pool == NULL)
        return pe_fail_memory(why);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->changed, NULL);
    pool->limits = *limits;
    for (; pool->threads < threads; pool->threads++) {
        if (pthread_create(&pool->thread[pool->threads], NULL,
                           pool->threads == 0 ? work_on_light : work_on_all, pool) != 0) {
            pe_pool_free(pool);
            return pe_fail(why, PE_INTERNAL, "workers", "could not start %zu threads", threads);
        }
    }
    *out = pool;
    return PE_OK;
}

/* Whoever has nothing that waits is never refused because of others: there are no more of these
 * than connections. Called with the lock held. */
static bool refuses(const pe_pool *pool, const pe_lane *lane, pe_job_kind kind)
{
    const pe_pool_limits *limits = &pool->limits;
    if (pool->ending || kind != PE_JOB_HEAVY)
        return pool->ending;
    return lane->waiting >= limits->client_max ||
           (pool->heavy.waiting >= limits->queue_max && lane->waiting > 0);
}

bool pe_pool_refuses(pe_pool *pool, const pe_lanes *client, pe_job_kind kind)
{
    const pe_lanes *lanes = client != NULL ? client : &pool->nobody;
    pthread_mutex_lock(&pool->lock);
    const bool refused = refuses(pool, &lanes->heavy, kind);
    pthread_mutex_unlock(&pool->lock);
    return refused;
}

bool pe_pool_submit(pe_pool *pool, pe_lanes *client, pe_job *job, pe_job_kind kind)
{
    pe_lanes *lanes = client != NULL ? client : &pool->nobody;
    const bool light = kind == PE_JOB_LIGHT;
    pthread_mutex_lock(&pool->lock);
    const bool refused = refuses(pool, &lanes->heavy, kind);
    if (!refused) {
        pe_fair_queue_add(light ? &pool->light : &pool->heavy,
                          light ? &lanes->light : &lanes->heavy, job);
        pthread_cond_broadcast(&pool->changed); /* a signal might wake one that may not take it */
    }
    pthread_mutex_unlock(&pool->lock);
    return !refused;
}

size_t pe_pool_waiting(pe_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    const size_t waiting = pool->light.waiting + pool->heavy.waiting;
    pthread_mutex_unlock(&pool->lock);
    return waiting;
}

void pe_pool_end(pe_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    pool->ending = true;
    pthread_cond_broadcast(&pool->changed);
    pthread_mutex_unlock(&pool->lock);
    for (; pool->threads > 0; pool->threads--)
        pthread_join(pool->thread[pool->threads - 1], NULL);
}

void pe_pool_free(pe_pool *pool)
{
    if (pool == NULL)
        return;
    pe_pool_end(pool);
    pthread_cond_destroy(&pool->changed);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}
