/* SPDX-License-Identifier: MIT */
/* drain.c - the end of connections whose clients may still send. */
#include "http/connection/drain.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/process.h"

/* Sockets that are drained at once. */
#define AT_ONCE 512

/* Bytes dropped of one before the others have their turn. */
#define STEP 1048576

typedef struct draining {
    int64_t until;
    uint64_t left; /* bytes */
} draining;

/* The lock guards `coming`; the rest is the thread's. */
struct pe_drain {
    pe_drain_limits limits;
    pthread_mutex_t lock;
    int coming[AT_ONCE];
    size_t n_coming;
    bool ending;
    draining one[AT_ONCE];
    struct pollfd ready[AT_ONCE + 1]; /* ready[i] is of one[i]; ready[n] is an eventfd */
    size_t n;
    int wake;
    pthread_t thread;
};

/* Take over those who are coming. False when all is to end. */
static bool welcome(pe_drain *drain)
{
    const int64_t until = pe_clock() + drain->limits.time;
    pthread_mutex_lock(&drain->lock);
    for (; drain->n_coming > 0 && drain->n < AT_ONCE; drain->n++) {
        const int fd = drain->coming[--drain->n_coming];
        drain->ready[drain->n] = (struct pollfd){.fd = fd, .events = POLLIN};
        drain->one[drain->n] = (draining){until, drain->limits.bytes};
    }
    const bool goes_on = !drain->ending;
    pthread_mutex_unlock(&drain->lock);
    return goes_on;
}

/* Drop what is there. False when it is over: the client has ended its side, or sends too much. */
static bool drop(int fd, draining *one)
{
    static char nowhere[65536]; /* nobody reads it */
    uint64_t dropped = 0;
    ssize_t got = 1;
    while (got > 0 && dropped < STEP) {
        got = recvfrom(fd, nowhere, sizeof nowhere, MSG_DONTWAIT | MSG_TRUNC, NULL, NULL);
        dropped += got > 0 ? (uint64_t)got : 0;
    }
    const bool sends = got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
    if (!sends || dropped >= one->left)
        return false;
    one->left -= dropped;
    return true;
}

static void let_go(pe_drain *drain, size_t i)
{
    close(drain->ready[i].fd);
    drain->n--;
    drain->ready[i] = drain->ready[drain->n];
    drain->one[i] = drain->one[drain->n];
}

/* Sleep until one of them sends, has had its time, or another comes. */
static void *drain_all(void *context)
{
    pe_drain *drain = context;
    eventfd_t count;
    while (welcome(drain)) {
        int64_t now = pe_clock(), until = INT64_MAX;
        for (size_t i = 0; i < drain->n; i++)
            until = drain->one[i].until < until ? drain->one[i].until : until;
        const int64_t left = until <= now ? 0 : (until - now) / PE_NANOSECONDS_PER_MS + 1;
        drain->ready[drain->n] = (struct pollfd){.fd = drain->wake, .events = POLLIN};
        poll(drain->ready, drain->n + 1, drain->n == 0 ? -1 : (int)left);
        if (drain->ready[drain->n].revents != 0)
            (void)eventfd_read(drain->wake, &count);
        now = pe_clock();
        for (size_t i = drain->n; i-- > 0;) {
            const bool sends =
                drain->ready[i].revents == 0 || drop(drain->ready[i].fd, &drain->one[i]);
            if (!sends || now >= drain->one[i].until)
                let_go(drain, i);
        }
    }
    while (drain->n > 0)
        let_go(drain, 0);
    while (drain->n_coming > 0) /* nobody sends any more: the server is at its end */
        close(drain->coming[--drain->n_coming]);
    return NULL;
}

pe_status pe_drain_make(const pe_drain_limits *limits, pe_drain **out, pe_problem *why)
{
    pe_drain *drain = calloc(1, sizeof *drain);
    if (drain == NULL)
        return pe_fail_memory(why);
    drain->limits = *limits;
    drain->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    pthread_mutex_init(&drain->lock, NULL);
    const int error =
        drain->wake < 0 ? errno : pthread_create(&drain->thread, NULL, drain_all, drain);
    if (error == 0) {
        *out = drain;
        return PE_OK;
    }
    if (drain->wake >= 0)
        close(drain->wake);
    pthread_mutex_destroy(&drain->lock);
    free(drain);
    return pe_process_fail_thread("refused bodies", error, why);
}

void pe_drain_free(pe_drain *drain)
{
    if (drain == NULL)
        return;
    pthread_mutex_lock(&drain->lock);
    drain->ending = true;
    pthread_mutex_unlock(&drain->lock);
    (void)eventfd_write(drain->wake, 1);
    pthread_join(drain->thread, NULL);
    close(drain->wake);
    pthread_mutex_destroy(&drain->lock);
    free(drain);
}

void pe_drain_take(pe_drain *drain, int socket)
{
    shutdown(socket, SHUT_WR);
    pthread_mutex_lock(&drain->lock);
    const bool taken = drain->n_coming < AT_ONCE;
    if (taken)
        drain->coming[drain->n_coming++] = socket;
    pthread_mutex_unlock(&drain->lock);
    if (taken)
        (void)eventfd_write(drain->wake, 1);
    else
        close(socket);
}
