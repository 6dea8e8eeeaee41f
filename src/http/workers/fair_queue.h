/* SPDX-License-Identifier: MIT */
/* fair_queue.h - jobs that wait, so that each client gets its share of the work. */
#ifndef PE_HTTP_WORKERS_FAIR_QUEUE_H
#define PE_HTTP_WORKERS_FAIR_QUEUE_H

#include <stddef.h>
#include <stdint.h>

/** The jobs of one client that wait, first in, first out. All zeros: there are none. */
typedef struct pe_client_queue {
    struct pe_job *first, *last;
    struct pe_client_queue *next; /* in the ring of those with jobs */
    size_t waiting;
    uint64_t credit; /* units of work that it may have done now */
} pe_client_queue;

/** A piece of work, held by whoever submits it until run has been called. */
typedef struct pe_job {
    void (*run)(void *context);
    void *context;
    uint64_t price;          /* in units of work (plan/price.h) */
    pe_client_queue *client; /* the pool's: where its turns wait */
    struct pe_job *next;
} pe_job;

/**
 * Deficit round robin over the clients that have jobs: whoever's turn comes gets credit for so much
 * work, and what its jobs cost is taken off. So clients with jobs get equal parts of the work,
 * whatever number of jobs they have and whatever these cost; one that has waited for nothing before
 * waits for one turn of each of the others. All zeros: nothing waits.
 *
 * Source   Shreedhar and Varghese 1995, "Efficient fair queueing using deficit round robin".
 * Threads  one at a time.
 */
typedef struct pe_fair_queue {
    pe_client_queue *last; /* of the ring; the next one has its turn */
    size_t waiting;
} pe_fair_queue;

/** The client's queue stays where it is until its last job has been taken. */
void pe_fair_queue_add(pe_fair_queue *queue, pe_client_queue *client, pe_job *job);

/** Before all jobs of its client: what has been begun goes before what has not. */
void pe_fair_queue_add_first(pe_fair_queue *queue, pe_client_queue *client, pe_job *job);

/** A job that waits there waits no more. */
void pe_fair_queue_remove(pe_fair_queue *queue, pe_client_queue *client, const pe_job *job);

/** The next job; there is one. */
pe_job *pe_fair_queue_take(pe_fair_queue *queue);

#endif
