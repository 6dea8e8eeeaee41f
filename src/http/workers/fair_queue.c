/* SPDX-License-Identifier: MIT */
/* fair_queue.c - jobs that wait, so that each client gets its share of the work. */
#include "http/workers/fair_queue.h"

/* Units of work of one turn, some tenths of a millisecond; and the most that a job counts for: what
 * is dearer ends early and goes on as blocks. */
#define TURN      ((uint64_t)65536)
#define PRICE_MAX (256 * TURN)

static uint64_t price_of(const pe_job *job)
{
    return job->price < PRICE_MAX ? job->price : PRICE_MAX;
}

/* ---- the ring ---- */

/* Behind all others. */
static void enter(pe_fair_queue *queue, pe_lane *lane)
{
    lane->credit = 0;
    lane->next = lane;
    if (queue->last != NULL) {
        lane->next = queue->last->next;
        queue->last->next = lane;
    }
    queue->last = lane;
}

/* The lane whose turn it is. What it has not used is not kept for another time. */
static void leave(pe_fair_queue *queue, pe_lane *lane)
{
    queue->last->next = lane->next;
    if (queue->last == lane)
        queue->last = NULL;
}

/* ---- the interface ---- */

void pe_fair_queue_add(pe_fair_queue *queue, pe_lane *lane, pe_job *job)
{
    job->next = NULL;
    if (lane->waiting == 0) {
        enter(queue, lane);
        lane->first = job;
    } else {
        lane->last->next = job;
    }
    lane->last = job;
    lane->waiting++;
    queue->waiting++;
}

pe_job *pe_fair_queue_take(pe_fair_queue *queue)
{
    pe_lane *lane = queue->last->next;
    for (; lane->credit < price_of(lane->first); lane = lane->next) {
        lane->credit += TURN;
        queue->last = lane;
    }
    pe_job *job = lane->first;
    lane->credit -= price_of(job);
    lane->first = job->next;
    lane->waiting--;
    queue->waiting--;
    if (lane->waiting == 0)
        leave(queue, lane);
    return job;
}
