/* SPDX-License-Identifier: MIT */
/* pool.c - threads that compute, and the bounded queue before them. */
#include "http/pool.h"

#include <pthread.h>
#include <stdlib.h>

/* The lock guards everything below it. It is held neither while a job runs nor with another lock.
 */
struct pe_pool {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pe_job *first, **last; /* the queue; last points at the NULL that ends it */
    size_t waiting, waiting_max;
    bool ending;
    size_t threads;
    pthread_t thread[];
};

/* The next job, or NULL when the pool ends. Called and returning with the lock held. */
static pe_job *next_job(pe_pool *pool)
{
    while (pool->first == NULL && !pool->ending)
        pthread_cond_wait(&pool->changed, &pool->lock);
    pe_job *job = pool->first;
    if (job != NULL) {
        pool->first = job->next;
        if (pool->first == NULL)
            pool->last = &pool->first;
        pool->waiting--;
    }
    return job;
}

static void *work(void *context)
{
    pe_pool *pool = context;
    pthread_mutex_lock(&pool->lock);
    for (pe_job *job; (job = next_job(pool)) != NULL;) {
        pthread_mutex_unlock(&pool->lock);
        job->run(job->context);
        pthread_mutex_lock(&pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

pe_status pe_pool_make(size_t threads, size_t queue_max, pe_pool **out, pe_problem *why)
{
    pe_pool *pool = calloc(1, sizeof *pool + threads * sizeof pool->thread[0]);
    if (pool == NULL)
        return pe_fail_memory(why);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->changed, NULL);
    pool->last = &pool->first;
    pool->waiting_max = queue_max;
    for (; pool->threads < threads; pool->threads++) {
        if (pthread_create(&pool->thread[pool->threads], NULL, work, pool) != 0) {
            pe_pool_free(pool);
            return pe_fail(why, PE_INTERNAL, "workers", "could not start %zu threads", threads);
        }
    }
    *out = pool;
    return PE_OK;
}

bool pe_pool_submit(pe_pool *pool, pe_job *job)
{
    pthread_mutex_lock(&pool->lock);
    bool room = pool->waiting < pool->waiting_max && !pool->ending;
    if (room) {
        job->next = NULL;
        *pool->last = job;
        pool->last = &job->next;
        pool->waiting++;
        pthread_cond_signal(&pool->changed);
    }
    pthread_mutex_unlock(&pool->lock);
    return room;
}

size_t pe_pool_waiting(pe_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    size_t waiting = pool->waiting;
    pthread_mutex_unlock(&pool->lock);
    return waiting;
}

void pe_pool_free(pe_pool *pool)
{
    if (pool == NULL)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->ending = true;
    pthread_cond_broadcast(&pool->changed);
    pthread_mutex_unlock(&pool->lock);
    for (size_t i = 0; i < pool->threads; i++)
        pthread_join(pool->thread[i], NULL);
    pthread_cond_destroy(&pool->changed);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}
