/* SPDX-License-Identifier: MIT */
/* pool.c - threads that compute, and the bounded queues before them. */
#include "http/workers/pool.h"

#include <pthread.h>
#include <stdlib.h>

/* After this many light jobs in a row a heavy one gets its turn. */
#define LIGHT_IN_A_ROW 16

/* First in, first out. */
typedef struct job_queue {
    pe_job *first, **last; /* last points at the NULL that ends the list */
} job_queue;

/* The lock guards everything below it. It is held neither while a job runs nor
 * with another lock. */
struct pe_pool {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    job_queue light, heavy;
    size_t waiting, heavy_waiting, heavy_max;
    unsigned in_a_row;
    bool ending;
    size_t threads;
    pthread_t thread[];
};

static void append(job_queue *queue, pe_job *job)
{
    job->next = NULL;
    *queue->last = job;
    queue->last = &job->next;
}

static pe_job *take(job_queue *queue)
{
    pe_job *job = queue->first;
    queue->first = job->next;
    if (queue->first == NULL)
        queue->last = &queue->first;
    return job;
}

/* The next job, or NULL when the pool ends. Called and returning with the lock held. */
static pe_job *next_job(pe_pool *pool, bool light_only)
{
    while (light_only ? pool->light.first == NULL : pool->waiting == 0) {
        if (pool->ending)
            return NULL;
        pthread_cond_wait(&pool->changed, &pool->lock);
    }
    bool light = pool->light.first != NULL &&
                 (light_only || pool->heavy.first == NULL || pool->in_a_row < LIGHT_IN_A_ROW);
    pool->waiting--;
    pool->heavy_waiting -= !light;
    pool->in_a_row = light ? pool->in_a_row + 1 : 0;
    return take(light ? &pool->light : &pool->heavy);
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

pe_status pe_pool_make(size_t threads, size_t queue_max, pe_pool **out, pe_problem *why)
{
    pe_pool *pool = calloc(1, sizeof *pool + (threads + 1) * sizeof pool->thread[0]);
    if (pool == NULL)
        return pe_fail_memory(why);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->changed, NULL);
    pool->light.last = &pool->light.first;
    pool->heavy.last = &pool->heavy.first;
    pool->heavy_max = queue_max;
    for (; pool->threads < threads + 1; pool->threads++) {
        if (pthread_create(&pool->thread[pool->threads], NULL,
                           pool->threads == 0 ? work_on_light : work_on_all, pool) != 0) {
            pe_pool_free(pool);
            return pe_fail(why, PE_INTERNAL, "workers", "could not start %zu threads", threads);
        }
    }
    *out = pool;
    return PE_OK;
}

/* Called with the lock held. */
static bool refuses(const pe_pool *pool, pe_job_kind kind)
{
    return pool->ending || (kind == PE_JOB_HEAVY && pool->heavy_waiting >= pool->heavy_max);
}

bool pe_pool_refuses(pe_pool *pool, pe_job_kind kind)
{
    pthread_mutex_lock(&pool->lock);
    const bool refused = refuses(pool, kind);
    pthread_mutex_unlock(&pool->lock);
    return refused;
}

bool pe_pool_submit(pe_pool *pool, pe_job *job, pe_job_kind kind)
{
    pthread_mutex_lock(&pool->lock);
    const bool refused = refuses(pool, kind);
    if (!refused) {
        append(kind == PE_JOB_LIGHT ? &pool->light : &pool->heavy, job);
        pool->waiting++;
        pool->heavy_waiting += kind != PE_JOB_LIGHT;
        pthread_cond_broadcast(&pool->changed); /* a signal might wake one that may not take it */
    }
    pthread_mutex_unlock(&pool->lock);
    return !refused;
}

size_t pe_pool_waiting(pe_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    size_t waiting = pool->waiting;
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
