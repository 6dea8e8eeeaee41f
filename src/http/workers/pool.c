/* SPDX-License-Identifier: MIT */
/* pool.c - threads that compute, and the bounded queues before them. */
#include "http/workers/pool.h"

#include <mpfr.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/process.h"
#include "base/yield.h"

/* ---- what a thread keeps ---- */

/* The library's I/O threads have no hook at their end other than a key's destructor. The key lives
 * as long as the program. */
static pthread_key_t at_end;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void release(void *unused PE_UNUSED)
{
    mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
}

static void make_key(void)
{
    pthread_key_create(&at_end, release);
}

void pe_thread_computes(void)
{
    pthread_once(&once, make_key);
    if (pthread_getspecific(at_end) == NULL)
        pthread_setspecific(at_end, &at_end);
}

/* After this many light jobs in a row a heavy one gets its turn. */
#define LIGHT_IN_A_ROW 16

/* Threads beside those that work: each lets one job wait for its next turn. Where all do, a job goes
 * on instead of waiting. */
#define SPARES 4

#define STACK_BYTES ((size_t)2 << 20)

typedef struct worker {
    pe_pool *pool;
    pthread_t thread;
    pthread_cond_t wake;
    struct worker *below; /* in the stack of those without a job */
    bool called;          /* out of it */
    bool light_only;
    pe_client_queue *client; /* of its job */
    pe_job turn;             /* the rest of the job, which waits there for its turn */
    bool waits_turn;         /* there */
    bool starves;            /* waits for another thread, and none was without a job */
    pe_yield_ways ways;
} worker;

/*
 * Of the threads, `threads` of the limits have a job and go on with it; each has a place. A job
 * that has had its turn gives its place to another thread, and waits for its next turn on its own
 * stack. So does one that waits for what another thread makes. Where no thread is without a job to
 * take the place, all that wait for a turn go on, or the one that is waited for might not.
 *
 * The lock guards everything below it. It is held neither while a job runs nor with another lock.
 */
struct pe_pool {
    pthread_mutex_t lock;
    pe_fair_queue light, heavy;
    pe_client_queues nobody; /* jobs of no client */
    pe_pool_limits limits;
    unsigned in_a_row;
    bool ending;
    size_t busy;    /* places that are taken */
    size_t away;    /* threads that wait for a turn or for another thread, or have ended */
    size_t starved; /* of these */
    worker *idle;   /* the last one to be so is called first: its caches are warm */
    worker *idle_light;
    size_t threads;
    worker worker[];
};

/* ---- threads without a job ---- */

size_t pe_pool_threads(size_t threads)
{
    return threads + SPARES + 1;
}

static void call(worker **stack)
{
    worker *one = *stack;
    if (one == NULL)
        return;
    *stack = one->below;
    one->called = true;
    pthread_cond_signal(&one->wake);
}

/* Somebody may take what waits. Called with the lock held. */
static void call_for_job(pe_pool *pool)
{
    const bool place = pool->busy < pool->limits.threads && pool->idle != NULL;
    if (place && pool->light.waiting + pool->heavy.waiting > 0)
        call(&pool->idle);
    else if (pool->light.waiting > 0)
        call(&pool->idle_light);
}

static void call_all(pe_pool *pool)
{
    while (pool->idle != NULL)
        call(&pool->idle);
    call(&pool->idle_light);
}

/* ---- turns ---- */

/* Is a thread without a job, or about to be? Called with the lock held. */
static bool has_free(const pe_pool *pool)
{
    return pool->busy + pool->away < pe_pool_threads(pool->limits.threads) - 1;
}

/* Called with the lock held. */
static void wait_for_next_turn(worker *self)
{
    pe_pool *pool = self->pool;
    self->turn = (pe_job){.context = self, .price = PE_YIELD_WORK};
    self->waits_turn = true;
    pe_fair_queue_add_first(&pool->heavy, self->client, &self->turn);
    pool->busy--;
    pool->away++;
    call_for_job(pool);
    while (self->waits_turn && pool->starved == 0)
        pthread_cond_wait(&self->wake, &pool->lock);
    if (!self->waits_turn)
        return; /* whoever took the turn has given its place */
    self->waits_turn = false;
    pe_fair_queue_remove(&pool->heavy, self->client, &self->turn);
    pool->away--;
    pool->busy++;
}

/* Others, if there are any, have the next turn. */
static void wait_turn(void *context)
{
    worker *self = context;
    pe_pool *pool = self->pool;
    pthread_mutex_lock(&pool->lock);
    if (pool->light.waiting + pool->heavy.waiting > 0 && has_free(pool) && pool->starved == 0)
        wait_for_next_turn(self);
    pthread_mutex_unlock(&pool->lock);
}

static void leave(void *context)
{
    worker *self = context;
    pe_pool *pool = self->pool;
    pthread_mutex_lock(&pool->lock);
    pool->busy--;
    pool->away++;
    call_for_job(pool);
    self->starves = !has_free(pool);
    pool->starved += self->starves;
    for (size_t i = 0; i < pool->threads && self->starves; i++)
        if (pool->worker[i].waits_turn)
            pthread_cond_signal(&pool->worker[i].wake);
    pthread_mutex_unlock(&pool->lock);
}

static void enter(void *context)
{
    worker *self = context;
    pe_pool *pool = self->pool;
    pthread_mutex_lock(&pool->lock);
    pool->busy++; /* perhaps more than there are, for a while */
    pool->away--;
    pool->starved -= self->starves;
    pthread_mutex_unlock(&pool->lock);
}

/* ---- jobs ---- */

static bool may_take(const worker *self)
{
    const pe_pool *pool = self->pool;
    if (self->light_only)
        return pool->light.waiting > 0;
    return pool->busy < pool->limits.threads && pool->light.waiting + pool->heavy.waiting > 0;
}

/* There is one. Called with the lock held. */
static pe_job *take(const worker *self)
{
    pe_pool *pool = self->pool;
    const bool light = pool->light.waiting > 0 && (self->light_only || pool->heavy.waiting == 0 ||
                                                   pool->in_a_row < LIGHT_IN_A_ROW);
    pool->in_a_row = light ? pool->in_a_row + 1 : 0;
    pool->busy += !self->light_only;
    pe_job *job = pe_fair_queue_take(light ? &pool->light : &pool->heavy);
    call_for_job(pool);
    return job;
}

/* The next job, or NULL when the pool ends. Called and returning with the lock held. */
static pe_job *next_job(worker *self)
{
    pe_pool *pool = self->pool;
    for (;;) {
        if (may_take(self)) {
            pe_job *job = take(self);
            if (job->run != NULL)
                return job;
            /* To the thread that waits for it, with the place. */
            worker *to = job->context;
            to->waits_turn = false;
            to->pool->away--;
            pthread_cond_signal(&to->wake);
        } else if (pool->ending && pool->light.waiting + pool->heavy.waiting == 0) {
            return NULL;
        } else {
            worker **stack = self->light_only ? &self->pool->idle_light : &self->pool->idle;
            self->called = false;
            self->below = *stack;
            *stack = self;
            while (!self->called)
                pthread_cond_wait(&self->wake, &self->pool->lock);
        }
    }
}

/* At the priority of the I/O threads: below it, workers got hardly a core while clients that were
 * refused came again at once. Those whose turns are short are scheduled soon anyway. */
static void *work(void *context)
{
    worker *self = context;
    pe_pool *pool = self->pool;
    pe_thread_computes();
    if (!self->light_only)
        (void)pe_yield_set(&self->ways);
    pthread_mutex_lock(&pool->lock);
    for (pe_job *job; (job = next_job(self)) != NULL;) {
        self->client = job->client;
        pthread_mutex_unlock(&pool->lock);
        pe_yield_begin();
        job->run(job->context);
        pthread_mutex_lock(&pool->lock);
        pool->busy -= !self->light_only;
    }
    pool->away += !self->light_only;
    call_all(pool);
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* Returns an error of errno(3), or 0. */
static int start(pe_pool *pool, worker *one)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_cond_init(&one->wake, NULL);
    one->pool = pool;
    one->light_only = one == pool->worker; /* however long the others are at heavy jobs */
    one->ways = (pe_yield_ways){wait_turn, leave, enter, one};
    const int error = pthread_create(&one->thread, &attributes, work, one);
    pthread_attr_destroy(&attributes);
    return error;
}

pe_status pe_pool_make(const pe_pool_limits *limits, pe_pool **out, pe_problem *why)
{
    const size_t threads = pe_pool_threads(limits->threads);
    pe_pool *pool = calloc(1, sizeof *pool + threads * sizeof pool->worker[0]);
    if (pool == NULL)
        return pe_fail_memory(why);
    pthread_mutex_init(&pool->lock, NULL);
    pool->limits = *limits;
    for (; pool->threads < threads; pool->threads++) {
        const int error = start(pool, &pool->worker[pool->threads]);
        if (error == 0)
            continue;
        pe_pool_free(pool);
        return pe_process_fail_thread("workers", error, why);
    }
    *out = pool;
    return PE_OK;
}

/* Whoever has nothing that waits is never refused because of others: there are no more of these
 * than connections. Called with the lock held. */
static bool refuses(const pe_pool *pool, const pe_client_queue *client, pe_job_kind kind)
{
    const pe_pool_limits *limits = &pool->limits;
    if (pool->ending || kind != PE_JOB_HEAVY)
        return pool->ending;
    return client->waiting >= limits->client_max ||
           (pool->heavy.waiting >= limits->queue_max && client->waiting > 0);
}

bool pe_pool_refuses(pe_pool *pool, const pe_client_queues *client, pe_job_kind kind)
{
    const pe_client_queues *queues = client != NULL ? client : &pool->nobody;
    pthread_mutex_lock(&pool->lock);
    const bool refused = refuses(pool, &queues->heavy, kind);
    pthread_mutex_unlock(&pool->lock);
    return refused;
}

bool pe_pool_submit(pe_pool *pool, pe_client_queues *client, pe_job *job, pe_job_kind kind)
{
    pe_client_queues *queues = client != NULL ? client : &pool->nobody;
    const bool light = kind == PE_JOB_LIGHT;
    pthread_mutex_lock(&pool->lock);
    const bool refused = refuses(pool, &queues->heavy, kind);
    if (!refused) {
        job->client = &queues->heavy;
        pe_fair_queue_add(light ? &pool->light : &pool->heavy,
                          light ? &queues->light : &queues->heavy, job);
        call_for_job(pool);
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
    call_all(pool);
    pthread_mutex_unlock(&pool->lock);
    for (; pool->threads > 0; pool->threads--)
        pthread_join(pool->worker[pool->threads - 1].thread, NULL);
}

void pe_pool_free(pe_pool *pool)
{
    if (pool == NULL)
        return;
    pe_pool_end(pool);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}
