/* SPDX-License-Identifier: MIT */
/* clients.c - who the server's clients are, and what each uses now: a table of bounded size. */
#include "http/clients/clients.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cache/hash.h"

/* Places of a set: an id has one of these places or none. */
#define PLACES 8

/* Sets i, i + STRIPES, ... have one lock. */
#define STRIPES 64

/* What was let in and has not opened by then was lost by the library. */
#define COMING_MAX PE_NANOSECONDS_PER_SECOND

/* A lock guards what is the table's own in the places of its sets. No other lock is taken with
 * it. */
struct pe_clients {
    pthread_mutex_t lock[STRIPES];
    pe_hash_seed seed; /* so that nobody can choose who shares a set */
    size_t sets;       /* a power of two */
    pe_client rest;    /* of the clients that have no place; of no set, never let go */
    pe_client *place;  /* sets * PLACES */
};

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* ---- places ---- */

static size_t set_of(const pe_clients *clients, const pe_client_id *id)
{
    return pe_hash(&clients->seed, id, sizeof *id) & (clients->sets - 1);
}

/* The client of this id, perhaps new. A new one takes the place of one that nobody holds: of
 * several, the one of which nothing that it has done matters any more first. Called with the set's
 * lock held. */
static pe_client *find(pe_clients *clients, size_t set, const pe_client_id *id)
{
    pe_client *free = NULL;
    int64_t first = 0;
    for (pe_client *at = clients->place + set * PLACES, *end = at + PLACES; at < end; at++) {
        const pe_client_id *own = &at->own.id;
        if (at->own.known && own->keyed == id->keyed &&
            memcmp(own->bytes, id->bytes, sizeof own->bytes) == 0)
            return at;
        const int64_t requests = atomic_load(&at->requests.full_at);
        const int64_t forgotten =
            most(at->own.used, most(requests, atomic_load(&at->work.full_at)));
        if (at->own.holders > 0 || (free != NULL && forgotten >= first))
            continue;
        free = at;
        first = forgotten;
    }
    if (free == NULL)
        return &clients->rest;
    memset(free, 0, sizeof *free);
    free->own.id = *id;
    free->own.known = true;
    return free;
}

/* ---- the table ---- */

pe_status pe_clients_make(size_t clients_max, pe_clients **out, pe_problem *why)
{
    pe_clients *clients = calloc(1, sizeof *clients);
    if (clients == NULL)
        return pe_fail_memory(why);
    for (size_t i = 0; i < STRIPES; i++)
        pthread_mutex_init(&clients->lock[i], NULL);
    clients->sets = 1;
    while (clients->sets * PLACES < clients_max)
        clients->sets *= 2;
    /* Pages of places that are never given are never touched. */
    clients->place = calloc(clients->sets * PLACES, sizeof *clients->place);
    clients->seed = pe_hash_seed_make();
    if (clients->place == NULL) {
        pe_clients_free(clients);
        return pe_fail_memory(why);
    }
    *out = clients;
    return PE_OK;
}

void pe_clients_free(pe_clients *clients)
{
    if (clients == NULL)
        return;
    for (size_t i = 0; i < STRIPES; i++)
        pthread_mutex_destroy(&clients->lock[i]);
    free(clients->place);
    free(clients);
}

/* ---- clients ---- */

static pthread_mutex_t *lock_set(pe_clients *clients, size_t set)
{
    pthread_mutex_t *lock = &clients->lock[set % STRIPES];
    pthread_mutex_lock(lock);
    return lock;
}

pe_client *pe_clients_hold(pe_clients *clients, const pe_client_id *id, bool connection)
{
    const size_t set = set_of(clients, id);
    pthread_mutex_t *lock = lock_set(clients, set);
    pe_client *client = find(clients, set, id);
    if (client != &clients->rest) {
        client->own.holders++;
        client->own.open += connection;
        client->own.coming -= connection && client->own.coming > 0;
    }
    pthread_mutex_unlock(lock);
    return client;
}

/* Nothing of those who share a place is the table's to keep. */
void pe_clients_release(pe_clients *clients, pe_client *client, bool connection)
{
    if (client == NULL || client == &clients->rest)
        return;
    pthread_mutex_t *lock = lock_set(clients, (size_t)(client - clients->place) / PLACES);
    client->own.open -= connection;
    client->own.holders--;
    client->own.used = pe_clock();
    pthread_mutex_unlock(lock);
}

bool pe_clients_let_in(pe_clients *clients, const pe_client_id *id, unsigned open_max)
{
    const int64_t now = pe_clock();
    const size_t set = set_of(clients, id);
    pthread_mutex_t *lock = lock_set(clients, set);
    pe_client *client = find(clients, set, id);
    bool in = true; /* who has no place is not counted */
    if (client != &clients->rest) {
        if (now - client->own.used > COMING_MAX)
            client->own.coming = 0;
        in = client->own.open + client->own.coming < open_max;
        client->own.coming += in;
        client->own.used = now;
    }
    pthread_mutex_unlock(lock);
    return in;
}

/* ---- token buckets ---- */

/* A debt of more than a hundred years stays that. */
#define TIME_MAX (INT64_C(1) << 61)

/* The time that brings so many tokens. */
static int64_t time_of(const pe_rate *rate, double tokens)
{
    const double time = tokens * (double)PE_NANOSECONDS_PER_SECOND / (double)rate->per_second;
    return time < (double)TIME_MAX ? (int64_t)time : TIME_MAX;
}

/* A rate so low that a window brings less than one token holds one all the same. */
static int64_t room_of(const pe_rate *rate)
{
    return most(rate->window, time_of(rate, 1));
}

bool pe_token_bucket_take(pe_token_bucket *bucket, const pe_rate *rate, uint64_t tokens,
                          int64_t now, int64_t *wait)
{
    if (rate->per_second == 0)
        return true;
    const int64_t cost = time_of(rate, (double)tokens), room = room_of(rate);
    int_fast64_t seen = atomic_load(&bucket->full_at);
    int64_t from;
    do {
        from = most(seen, now);
        *wait = from + least(cost, room) - room - now;
        if (*wait > 0)
            return false;
    } while (!atomic_compare_exchange_weak(&bucket->full_at, &seen, least(from + cost, TIME_MAX)));
    return true;
}

void pe_token_bucket_settle(pe_token_bucket *bucket, const pe_rate *rate, int64_t tokens)
{
    if (rate->per_second == 0 || tokens == 0)
        return;
    const int64_t cost = time_of(rate, tokens < 0 ? -(double)tokens : (double)tokens);
    const int64_t now = pe_clock();
    int_fast64_t seen = atomic_load(&bucket->full_at);
    int_fast64_t then;
    do
        then = tokens < 0 ? seen - cost : least(most(seen, now) + cost, TIME_MAX);
    while (!atomic_compare_exchange_weak(&bucket->full_at, &seen, then));
}

pe_tokens pe_token_bucket_look(pe_token_bucket *bucket, const pe_rate *rate, int64_t now)
{
    const int64_t full_at = atomic_load(&bucket->full_at), room = room_of(rate);
    const int64_t left = room - most(full_at - now, 0);
    const double second = (double)PE_NANOSECONDS_PER_SECOND, each = (double)rate->per_second;
    const double quota = (double)rate->window * each / second;
    return (pe_tokens){.quota = quota < 1 ? 1 : (uint64_t)quota,
                       .left = left <= 0 ? 0 : (uint64_t)((double)left * each / second),
                       .wait = most(full_at + least(time_of(rate, 1), room) - room - now, 0)};
}
