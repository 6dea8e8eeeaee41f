/* SPDX-License-Identifier: MIT */
/* watchdog.c - absolute deadlines of connections, and their end when the server drains. */
#include "http/connection/watchdog.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "base/clock.h"
#include "base/process.h"

#define TICK_MIN   10000000  /* ns */
#define TICK_MAX   250000000 /* ns */
#define REAP_EVERY 500000000 /* ns */

/* Sockets looked at without letting go of the lock, and the time for others until the next. */
#define REAP_AT_ONCE 64
#define REAP_PAUSE   50000 /* ns */

/* In the drain, how long the header of a request may take. */
#define HEADER_MS 500

/* Found by one look at all connections, to be dropped one after the other. */
#define NOMINEES 64

/* Connections that have been dropped and not yet closed, at most. */
#define DROPPED_MAX 256

/* Who has been silent for long; NULL in the place of one that has been removed. */
typedef struct nominee {
    pe_watch *watch;
    uint_fast64_t state; /* when it was nominated: if it has changed, there was no silence */
    uint64_t order;      /* the least goes first */
} nominee;

/* Those to be dropped, the first one last. */
typedef struct nominees {
    nominee of[NOMINEES];
    size_t n;
} nominees;

/*
 * The lock guards the list, the counts, the labels and draining, and keeps sockets open while they
 * are looked at or shut down: a connection is removed before the library closes its socket. No
 * other lock is taken with it.
 */
struct pe_watchdog {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pe_watch *first; /* the youngest */
    size_t count[PE_PLACES], dropped[PE_PLACES];
    nominees silent[PE_PLACES];
    pe_watch *reaping; /* the next one that is looked at; NULL: none is */
    atomic_bool draining;
    bool ending;
    pe_deadlines deadlines;
    int64_t tick, reaped_at;
    pthread_t thread;
};

/* ---- phase and deadline in one word ---- */

#define PHASE_BITS 3
#define NEVER      (UINT64_MAX >> PHASE_BITS)

static uint_fast64_t state_of(pe_phase phase, uint64_t deadline)
{
    return deadline << PHASE_BITS | (uint64_t)phase;
}

static pe_phase phase_in(uint_fast64_t state)
{
    return (pe_phase)(state & ((1U << PHASE_BITS) - 1));
}

static pe_phase phase_of(const pe_watch *watch)
{
    return phase_in(atomic_load(&watch->state));
}

/* The phases in which a late request may be owed a reply, since no answer is on its way. */
static bool is_owed(pe_phase phase)
{
    return phase == PE_PHASE_FRESH || phase == PE_PHASE_HEADER || phase == PE_PHASE_RECEIVING;
}

/* Called with the lock held. */
static size_t count_all(const pe_watchdog *watchdog)
{
    size_t n = 0;
    for (unsigned place = 0; place < PE_PLACES; place++)
        n += watchdog->count[place];
    return n;
}

/* Whatever the phase was, the connection ends now. */
static void shut(pe_watch *watch)
{
    atomic_store(&watch->state, state_of(PE_PHASE_LEAVING, NEVER));
    shutdown(watch->socket, SHUT_RDWR);
}

/* ---- deadlines ---- */

/* A request that did not arrive gets a 408 by the connection's own thread, which sees the end of its
 * reading; unless it has gone on meanwhile. Called with the lock held. */
static void note_late(const pe_watchdog *watchdog, pe_watch *watch, int64_t now)
{
    uint_fast64_t seen = atomic_load(&watch->state);
    const pe_phase phase = phase_in(seen);
    if ((uint64_t)now < seen >> PHASE_BITS)
        return;
    const uint64_t until = (uint64_t)(now + watchdog->deadlines.of[PE_PHASE_LEAVING]);
    const uint_fast64_t leaving = state_of(PE_PHASE_LEAVING, is_owed(phase) ? until : NEVER);
    if (!atomic_compare_exchange_strong(&watch->state, &seen, leaving))
        return;
    watch->unheard |= phase == PE_PHASE_FRESH || phase == PE_PHASE_HEADER;
    shutdown(watch->socket, is_owed(phase) ? SHUT_RD : SHUT_RDWR);
}

/* ---- clients that only hold, and those that have left ---- */

/* A client that is too slow has come to its deadline. */
static void judge(const pe_watchdog *watchdog, pe_watch *watch)
{
    pe_progress_sample sample = {.now = pe_clock()};
    uint_fast64_t seen = atomic_load(&watch->state);
    const bool sends = phase_in(seen) == PE_PHASE_RECEIVING;
    if ((!sends && phase_in(seen) != PE_PHASE_SENDING) ||
        !pe_progress_look(watch->socket, &watch->passed, sends, &sample))
        return;
    if (seen != watch->judged)
        watch->progress = (pe_progress){0};
    watch->judged = seen;
    const pe_progress_rules *rules =
        sends ? &watchdog->deadlines.sender : &watchdog->deadlines.reader;
    if (pe_progress_is_slow(&watch->progress, rules, &sample))
        atomic_compare_exchange_strong(&watch->state, &seen, state_of(phase_in(seen), 0));
}

/*
 * A client's end that arrives together with its last bytes is one event to epoll, after which the
 * library takes a short read for the end of it: such a connection would stay until its deadline.
 * Whoever has left twice in a row, with no answer on its way, is gone: the client has ended its
 * side, and all that it sent has been read.
 *
 * Looks at some connections. Called with the lock held. */
static void reap_some(pe_watchdog *watchdog)
{
    char next;
    pe_watch *watch;
    for (int n = 0; n < REAP_AT_ONCE && (watch = watchdog->reaping) != NULL; n++) {
        watchdog->reaping = watch->next;
        const pe_phase phase = phase_of(watch);
        const bool left =
            phase != PE_PHASE_WORKING && phase != PE_PHASE_SENDING &&
            recvfrom(watch->socket, &next, 1, MSG_PEEK | MSG_DONTWAIT, NULL, NULL) == 0;
        if (left && watch->left)
            shut(watch);
        watch->left = left;
        judge(watchdog, watch);
    }
}

/* ---- the thread ---- */

/* Wait for a change or `nanoseconds`. Called with the lock held. */
static void wait(pe_watchdog *watchdog, int64_t nanoseconds)
{
    int64_t until = pe_clock() + nanoseconds;
    struct timespec at = {.tv_sec = until / PE_NANOSECONDS_PER_SECOND,
                          .tv_nsec = until % PE_NANOSECONDS_PER_SECOND};
    pthread_cond_timedwait(&watchdog->changed, &watchdog->lock, &at);
}

static void *watch_all(void *context)
{
    pe_watchdog *watchdog = context;
    pthread_mutex_lock(&watchdog->lock);
    while (!watchdog->ending) {
        const int64_t now = pe_clock();
        for (pe_watch *watch = watchdog->first; watch != NULL; watch = watch->next)
            note_late(watchdog, watch, now);
        if (now - watchdog->reaped_at >= REAP_EVERY) {
            const struct timespec pause = {.tv_nsec = REAP_PAUSE};
            watchdog->reaping = watchdog->first;
            for (reap_some(watchdog); watchdog->reaping != NULL && !watchdog->ending;
                 reap_some(watchdog)) {
                pthread_mutex_unlock(&watchdog->lock);
                nanosleep(&pause, NULL); /* or those who wait for the lock would not get it */
                pthread_mutex_lock(&watchdog->lock);
            }
            watchdog->reaped_at = now;
        }
        if (!watchdog->ending)
            wait(watchdog, watchdog->tick);
    }
    pthread_mutex_unlock(&watchdog->lock);
    return NULL;
}

pe_status pe_watchdog_make(const pe_deadlines *deadlines, pe_watchdog **out, pe_problem *why)
{
    pe_watchdog *watchdog = calloc(1, sizeof *watchdog);
    if (watchdog == NULL)
        return pe_fail_memory(why);
    watchdog->deadlines = *deadlines;
    /* Fine enough that the shortest deadline is kept to a tenth. */
    int64_t least = TICK_MAX * INT64_C(10);
    for (int phase = 0; phase < PE_PHASES; phase++)
        if (phase != PE_PHASE_WORKING && deadlines->of[phase] < least)
            least = deadlines->of[phase];
    watchdog->tick = least < TICK_MIN * INT64_C(10) ? TICK_MIN : least / 10;
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&watchdog->lock, NULL);
    pthread_cond_init(&watchdog->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    const int error = pthread_create(&watchdog->thread, NULL, watch_all, watchdog);
    if (error != 0) {
        pthread_cond_destroy(&watchdog->changed);
        pthread_mutex_destroy(&watchdog->lock);
        free(watchdog);
        return pe_process_fail_thread("deadlines", error, why);
    }
    *out = watchdog;
    return PE_OK;
}

void pe_watchdog_free(pe_watchdog *watchdog)
{
    if (watchdog == NULL)
        return;
    pthread_mutex_lock(&watchdog->lock);
    watchdog->ending = true;
    pthread_cond_broadcast(&watchdog->changed);
    pthread_mutex_unlock(&watchdog->lock);
    pthread_join(watchdog->thread, NULL);
    pthread_cond_destroy(&watchdog->changed);
    pthread_mutex_destroy(&watchdog->lock);
    free(watchdog);
}

void pe_watchdog_add(pe_watchdog *watchdog, pe_watch *watch, int socket)
{
    watch->socket = socket;
    watch->left = watch->dropped = watch->unheard = false;
    watch->judged = 0;
    atomic_store(&watch->state, 0);
    (void)pe_watchdog_enter(watchdog, watch, PE_PHASE_FRESH, pe_clock());
    pthread_mutex_lock(&watchdog->lock);
    watch->previous = NULL;
    watch->next = watchdog->first;
    if (watch->next != NULL)
        watch->next->previous = watch;
    watchdog->first = watch;
    watchdog->count[watch->place]++;
    pthread_mutex_unlock(&watchdog->lock);
}

void pe_watchdog_remove(pe_watchdog *watchdog, pe_watch *watch)
{
    pthread_mutex_lock(&watchdog->lock);
    if (watch->previous != NULL)
        watch->previous->next = watch->next;
    else
        watchdog->first = watch->next;
    if (watch->next != NULL)
        watch->next->previous = watch->previous;
    if (watchdog->reaping == watch)
        watchdog->reaping = watch->next;
    nominees *silent = &watchdog->silent[watch->place];
    for (size_t i = 0; i < silent->n; i++)
        if (silent->of[i].watch == watch)
            silent->of[i].watch = NULL;
    watchdog->dropped[watch->place] -= watch->dropped;
    watchdog->count[watch->place]--;
    if (count_all(watchdog) == 0)
        pthread_cond_broadcast(&watchdog->changed);
    pthread_mutex_unlock(&watchdog->lock);
}

bool pe_watchdog_enter(pe_watchdog *watchdog, pe_watch *watch, pe_phase phase, int64_t since)
{
    const uint64_t until =
        phase == PE_PHASE_WORKING ? NEVER : (uint64_t)(since + watchdog->deadlines.of[phase]);
    uint_fast64_t seen = atomic_load_explicit(&watch->state, memory_order_relaxed);
    do
        if (phase_in(seen) == PE_PHASE_LEAVING)
            return false;
    while (!atomic_compare_exchange_weak(&watch->state, &seen, state_of(phase, until)));
    /* Sequentially consistent with `draining`: either the drain sees the idle connection or the
     * connection sees the drain. */
    if (phase == PE_PHASE_IDLE && atomic_load(&watchdog->draining))
        shutdown(watch->socket, SHUT_RD);
    return true;
}

bool pe_watchdog_leave(pe_watchdog *watchdog, pe_watch *watch)
{
    const pe_phase phase = phase_of(watch);
    return phase != PE_PHASE_WORKING && phase != PE_PHASE_SENDING &&
           pe_watchdog_enter(watchdog, watch, PE_PHASE_LEAVING, pe_clock());
}

bool pe_watchdog_is_leaving(const pe_watch *watch)
{
    return phase_in(atomic_load_explicit(&watch->state, memory_order_relaxed)) == PE_PHASE_LEAVING;
}

bool pe_watchdog_owes_reply(const pe_watch *watch)
{
    return atomic_load_explicit(&watch->state, memory_order_relaxed) >> PHASE_BITS != NEVER;
}

void pe_watchdog_label(pe_watchdog *watchdog, pe_watch *watch, const char *method,
                       const char *target, int64_t started)
{
    pthread_mutex_lock(&watchdog->lock);
    snprintf(watch->label, sizeof watch->label, "%s %s", method, target);
    atomic_store(&watch->started, started);
    pthread_mutex_unlock(&watchdog->lock);
}

/* ---- room for others ---- */

/* Those of them that go first, sorted by insertion. Whoever is LEAVING goes before all others. Those
 * between requests do not go before those that have never made one: who only holds would outlast
 * them. Called with the lock held. */
static void nominate_all(pe_watchdog *watchdog, pe_place place)
{
    nominees *silent = &watchdog->silent[place];
    for (pe_watch *watch = watchdog->first; watch != NULL; watch = watch->next) {
        const uint_fast64_t state = atomic_load(&watch->state);
        const pe_phase phase = phase_in(state);
        const uint64_t until = state >> PHASE_BITS;
        const uint64_t since = until - (uint64_t)watchdog->deadlines.of[phase];
        const nominee one = {watch, state, since + (phase == PE_PHASE_LEAVING ? 0 : NEVER)};
        const bool busy =
            phase == PE_PHASE_RECEIVING || phase == PE_PHASE_WORKING || phase == PE_PHASE_SENDING;
        if (watch->place != place || busy || until == NEVER || watch->dropped ||
            (silent->n == NOMINEES && one.order >= silent->of[0].order))
            continue;
        if (silent->n == NOMINEES)
            memmove(silent->of, silent->of + 1, --silent->n * sizeof one);
        size_t at = silent->n++;
        for (; at > 0 && silent->of[at - 1].order < one.order; at--)
            silent->of[at] = silent->of[at - 1];
        silent->of[at] = one;
    }
}

/* NULL when none is left who has been silent since. Called with the lock held. */
static pe_watch *next_nominee(nominees *silent)
{
    while (silent->n > 0) {
        const nominee *next = &silent->of[--silent->n];
        if (next->watch != NULL && atomic_load(&next->watch->state) == next->state)
            return next->watch;
    }
    return NULL;
}

/* It ends by the end of its reading, as in the drain: what has arrived is answered. */
bool pe_watchdog_drop_silent(pe_watchdog *watchdog, pe_place place)
{
    pe_watch *watch = NULL;
    pthread_mutex_lock(&watchdog->lock);
    if (watchdog->dropped[place] < DROPPED_MAX &&
        (watch = next_nominee(&watchdog->silent[place])) == NULL) {
        nominate_all(watchdog, place);
        watch = next_nominee(&watchdog->silent[place]);
    }
    if (watch != NULL) {
        watch->dropped = true;
        watchdog->dropped[place]++;
        shutdown(watch->socket, SHUT_RD);
    }
    pthread_mutex_unlock(&watchdog->lock);
    return watch != NULL;
}

/* ---- the drain ---- */

/* What has arrived is read, and answered; after that the library finds the end and closes. Called
 * with the lock held. */
static void end_reading(const pe_watchdog *watchdog, bool headers)
{
    for (const pe_watch *watch = watchdog->first; watch != NULL; watch = watch->next) {
        const pe_phase phase = phase_of(watch);
        const bool begins = phase == PE_PHASE_FRESH || phase == PE_PHASE_HEADER;
        if (phase == PE_PHASE_IDLE || (headers && begins))
            shutdown(watch->socket, SHUT_RD);
    }
}

/* Until no connection is open. Called with the lock held. */
static void wait_for_none(pe_watchdog *watchdog, int64_t until)
{
    for (int64_t left; count_all(watchdog) > 0 && (left = until - pe_clock()) > 0;)
        wait(watchdog, left);
}

void pe_watchdog_drain(pe_watchdog *watchdog, int64_t timeout_ms)
{
    const int64_t begun = pe_clock();
    const int64_t until = begun + timeout_ms * PE_NANOSECONDS_PER_MS;
    const int64_t headers_until = begun + HEADER_MS * PE_NANOSECONDS_PER_MS;
    pthread_mutex_lock(&watchdog->lock);
    atomic_store(&watchdog->draining, true);
    end_reading(watchdog, false);
    wait_for_none(watchdog, headers_until < until ? headers_until : until);
    end_reading(watchdog, true);
    wait_for_none(watchdog, until);
    for (pe_watch *watch = watchdog->first; watch != NULL; watch = watch->next)
        shut(watch);
    pthread_mutex_unlock(&watchdog->lock);
}

size_t pe_watchdog_count(pe_watchdog *watchdog)
{
    pthread_mutex_lock(&watchdog->lock);
    const size_t count = count_all(watchdog);
    pthread_mutex_unlock(&watchdog->lock);
    return count;
}

size_t pe_watchdog_count_of(pe_watchdog *watchdog, pe_place place)
{
    pthread_mutex_lock(&watchdog->lock);
    const size_t count = watchdog->count[place] - watchdog->dropped[place];
    pthread_mutex_unlock(&watchdog->lock);
    return count;
}

size_t pe_watchdog_active(pe_watchdog *watchdog)
{
    size_t n = 0;
    pthread_mutex_lock(&watchdog->lock);
    for (const pe_watch *watch = watchdog->first; watch != NULL; watch = watch->next)
        n += phase_of(watch) != PE_PHASE_FRESH && phase_of(watch) != PE_PHASE_IDLE;
    pthread_mutex_unlock(&watchdog->lock);
    return n;
}

size_t pe_watchdog_look(pe_watchdog *watchdog, pe_watched *out, size_t n_max)
{
    size_t n = 0;
    pthread_mutex_lock(&watchdog->lock);
    for (pe_watch *watch = watchdog->first; watch != NULL && n < n_max; watch = watch->next) {
        const pe_phase phase = phase_of(watch);
        if (phase == PE_PHASE_IDLE)
            continue;
        pe_watched *one = &out[n++];
        *one = (pe_watched){.phase = phase, .place = watch->place};
        if (phase != PE_PHASE_HEADER) /* whose label is that of the request before */
            one->started = atomic_load(&watch->started);
        if (one->started != 0)
            memcpy(one->label, watch->label, sizeof one->label);
    }
    pthread_mutex_unlock(&watchdog->lock);
    return n;
}
