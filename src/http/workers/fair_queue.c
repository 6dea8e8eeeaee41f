/* SPDX-License-Identifier: MIT */
/* fair_queue.c - jobs that wait, so that each client gets its share of the work. */
#include "http/workers/fair_queue.h"

#include <stdbool.h>

#include "base/yield.h"

/* Units of work of one turn in the ring, some tenths of a millisecond. A job counts for no more
 * than it does before it comes round. */
#define TURN ((uint64_t)65536)

static uint64_t price_of(const pe_job *job)
{
    return job->price < PE_YIELD_WORK ? job->price : PE_YIELD_WORK;
}

void pe_fair_queue_add(pe_fair_queue *queue, pe_client_queue *client, pe_job *job)
{
    job->next = NULL;
    if (client->waiting == 0) { /* into the ring, behind all others */
        client->credit = 0;
        client->next = queue->last != NULL ? queue->last->next : client;
        if (queue->last != NULL)
            queue->last->next = client;
        queue->last = client;
        client->first = job;
    } else {
        client->last->next = job;
    }
    client->last = job;
    client->waiting++;
    queue->waiting++;
}

void pe_fair_queue_add_first(pe_fair_queue *queue, pe_client_queue *client, pe_job *job)
{
    pe_job *first = client->first, *last = client->last;
    const bool alone = client->waiting == 0;
    pe_fair_queue_add(queue, client, job);
    if (alone)
        return;
    last->next = NULL;
    client->last = last;
    job->next = first;
    client->first = job;
}

/* One job less. Who has none leaves the ring; what it has not used is not kept for another time. */
static void subtract(pe_fair_queue *queue, pe_client_queue *client)
{
    pe_client_queue *before = queue->last; /* of the client whose turn it is */
    client->waiting--;
    queue->waiting--;
    if (client->waiting > 0)
        return;
    while (before->next != client)
        before = before->next;
    before->next = client->next;
    if (queue->last == client)
        queue->last = before != client ? before : NULL;
}

void pe_fair_queue_remove(pe_fair_queue *queue, pe_client_queue *client, const pe_job *job)
{
    pe_job **at = &client->first;
    pe_job *before = NULL;
    for (; *at != job; at = &(*at)->next)
        before = *at;
    *at = job->next;
    if (client->last == job)
        client->last = before;
    subtract(queue, client);
}

pe_job *pe_fair_queue_take(pe_fair_queue *queue)
{
    pe_client_queue *client = queue->last->next;
    for (; client->credit < price_of(client->first); client = client->next) {
        client->credit += TURN;
        queue->last = client;
    }
    pe_job *job = client->first;
    client->credit -= price_of(job);
    client->first = job->next;
    subtract(queue, client);
    return job;
}
