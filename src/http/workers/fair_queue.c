/* SPDX-License-Identifier: MIT */
/* fair_queue.c - jobs that wait, so that each client gets its share of the work. */
#include "http/workers/fair_queue.h"

#include <stdbool.h>

#include "base/turns.h"

/* Units of work of one turn in the ring, some tenths of a millisecond. A job counts for no more
 * than it does before it comes round. */
#define TURN ((uint64_t)65536)

static uint64_t price_of(const pe_job *job)
{
    return job->price < PE_TURN_WORK ? job->price : PE_TURN_WORK;
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

/* What it has not used is not kept for another time. */
static void leave(pe_fair_queue *queue, const pe_lane *lane)
{
    pe_lane *before = queue->last; /* of the lane whose turn it is */
    while (before->next != lane)
        before = before->next;
    before->next = lane->next;
    if (queue->last == lane)
        queue->last = before != lane ? before : NULL;
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

void pe_fair_queue_add_first(pe_fair_queue *queue, pe_lane *lane, pe_job *job)
{
    pe_job *first = lane->first, *last = lane->last;
    const bool alone = lane->waiting == 0;
    pe_fair_queue_add(queue, lane, job);
    if (alone)
        return;
    last->next = NULL;
    lane->last = last;
    job->next = first;
    lane->first = job;
}

/* One job less. */
static void subtract(pe_fair_queue *queue, pe_lane *lane)
{
    lane->waiting--;
    queue->waiting--;
    if (lane->waiting == 0)
        leave(queue, lane);
}

void pe_fair_queue_remove(pe_fair_queue *queue, pe_lane *lane, const pe_job *job)
{
    pe_job **at = &lane->first;
    pe_job *before = NULL;
    for (; *at != job; at = &(*at)->next)
        before = *at;
    *at = job->next;
    if (lane->last == job)
        lane->last = before;
    subtract(queue, lane);
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
    subtract(queue, lane);
    return job;
}
