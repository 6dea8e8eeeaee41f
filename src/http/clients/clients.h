/* SPDX-License-Identifier: MIT */
/* clients.h - who the server's clients are, and what each uses now: a table of bounded size. */
#ifndef PE_HTTP_CLIENTS_CLIENTS_H
#define PE_HTTP_CLIENTS_CLIENTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "http/workers/pool.h"

/** What one client may have; a full bucket holds what a window brings. */
typedef struct pe_rate {
    uint64_t per_second; /* 0: as much as it likes */
    int64_t window;      /* nanoseconds */
} pe_rate;

/** A bucket is the time at which it will be full again. All zeros: it is full. */
typedef struct pe_token_bucket {
    atomic_int_fast64_t full_at;
} pe_token_bucket;

/** A network, or a key by its hash. No byte of it is padding. */
typedef struct pe_client_id {
    uint8_t bytes[16];
    uint8_t keyed; /* 1: a key */
} pe_client_id;

/** What a client uses now. Whoever holds it uses the members; they are not locked. */
typedef struct pe_client {
    pe_token_bucket requests, work;
    atomic_size_t body_bytes; /* of bodies that are held */
    pe_client_queues queues;
    struct {              /* the table's */
        pe_client_id id;  /* of whom, once `known` */
        bool known;       /* the place has been given */
        unsigned holders; /* 0: the place may be given to another */
        unsigned open;    /* connections that are open */
        unsigned coming;  /* that were let in and are not open yet */
        int64_t used;     /* last let go, or let in */
    } own;
} pe_client;

typedef struct pe_clients pe_clients;

/** For about `clients_max` clients. */
pe_status pe_clients_make(size_t clients_max, pe_clients **out, pe_problem *why) PE_MUST_CHECK;

/** Every client has been let go. Accepts NULL. */
void pe_clients_free(pe_clients *clients);

/*
 * Nothing below allocates, waits or calls the system.   Threads  any.
 */

/**
 * The client of this name, for pe_clients_release; connection: and it has one more that is open. A
 * new one takes the place of one that nobody holds: of several, the one whose buckets are full
 * first. Where there is none, all who come share one client.
 */
pe_client *pe_clients_hold(pe_clients *clients, const pe_client_id *id, bool connection);
/** Accepts NULL. */
void pe_clients_release(pe_clients *clients, pe_client *client, bool connection);

/** May this client have one connection more, with at most `open_max` open? It then counts as
 * coming, until it opens or a second has passed. */
bool pe_clients_let_in(pe_clients *clients, const pe_client_id *id, unsigned open_max);

/**
 * Take tokens. More than a full bucket holds may be taken from a full one; the bucket owes the
 * rest, and nothing is taken until it has come in. False when there are too few: *wait gets the
 * nanoseconds until there will be enough.
 *
 * Source   ITU-T I.371, the generic cell rate algorithm.
 * Threads  any.
 */
bool pe_token_bucket_take(pe_token_bucket *bucket, const pe_rate *rate, uint64_t tokens,
                          int64_t now, int64_t *wait);

/** Take tokens whether there are enough or not; less than 0: give some back. */
void pe_token_bucket_settle(pe_token_bucket *bucket, const pe_rate *rate, int64_t tokens);

/** Of a bucket. */
typedef struct pe_tokens {
    uint64_t quota; /* of a full one, at least one */
    uint64_t left;  /* whole ones in it */
    int64_t wait;   /* nanoseconds until there is one */
} pe_tokens;

pe_tokens pe_token_bucket_look(pe_token_bucket *bucket, const pe_rate *rate, int64_t now);

#endif
