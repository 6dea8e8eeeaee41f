/* SPDX-License-Identifier: MIT */
/* linger.c - the end of connections whose clients may still send. */
#include "http/connection/linger.h"

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

/* Sockets that linger at once. */
#define AT_ONCE 512

/* Bytes dropped of one before the others have their turn. */
#define STEP 1048576

typedef struct lingering {
    int64_t until;
    uint64_t left; /* bytes */
} lingering;

/* The lock guards `coming`; the rest is the thread's. */
struct pe_linger {
    pe_linger_limits limits;
    pthread_mutex_t lock;
    int coming[AT_ONCE];
    size_t n_coming;
    bool ending;
    lingering one[AT_ONCE];
    struct pollfd ready[AT_ONCE + 1]; /* ready[i] is of one[i]; ready[n] is an eventfd */
    size_t n;
    int wake;
    pthread_t thread;
};

/* Take over those who are coming. False when all is to end. */
static bool welcome(pe_linger *linger)
{
    const int64_t until = pe_clock() + linger->limits.time;
    pthread_mutex_lock(&linger->lock);
    for (; linger->n_coming > 0 && linger->n < AT_ONCE; linger->n++) {
        const int fd = linger->coming[--linger->n_coming];
        linger->ready[linger->n] = (struct pollfd){.fd = fd, .events = POLLIN};
        linger->one[linger->n] = (lingering){until, linger->limits.bytes};
    }
    const bool goes_on = !linger->ending;
    pthread_mutex_unlock(&linger->lock);
    return goes_on;
}

/* Drop what is there. False when it is over: the client has ended its side, or sends too much. */
static bool drop(int fd, lingering *one)
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

static void let_go(pe_linger *linger, size_t i)
{
    close(linger->ready[i].fd);
    linger->n--;
    linger->ready[i] = linger->ready[linger->n];
    linger->one[i] = linger->one[linger->n];
}

/* Sleep until one of them sends, has lingered long enough, or another comes. */
static void *linger_all(void *context)
{
    pe_linger *linger = context;
    eventfd_t count;
    while (welcome(linger)) {
        int64_t now = pe_clock(), until = INT64_MAX;
        for (size_t i = 0; i < linger->n; i++)
            until = linger->one[i].until < until ? linger->one[i].until : until;
        const int64_t left = until <= now ? 0 : (until - now) / PE_NANOSECONDS_PER_MS + 1;
        linger->ready[linger->n] = (struct pollfd){.fd = linger->wake, .events = POLLIN};
        poll(linger->ready, linger->n + 1, linger->n == 0 ? -1 : (int)left);
        if (linger->ready[linger->n].revents != 0)
            (void)eventfd_read(linger->wake, &count);
        now = pe_clock();
        for (size_t i = linger->n; i-- > 0;) {
            const bool sends =
                linger->ready[i].revents == 0 || drop(linger->ready[i].fd, &linger->one[i]);
            if (!sends || now >= linger->one[i].until)
                let_go(linger, i);
        }
    }
    while (linger->n > 0)
        let_go(linger, 0);
    while (linger->n_coming > 0) /* nobody sends any more: the server is at its end */
        close(linger->coming[--linger->n_coming]);
    return NULL;
}

pe_status pe_linger_make(const pe_linger_limits *limits, pe_linger **out, pe_problem *why)
{
    pe_linger *linger = calloc(1, sizeof *linger);
    if (linger == NULL)
        return pe_fail_memory(why);
    linger->limits = *limits;
    linger->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    pthread_mutex_init(&linger->lock, NULL);
    const int error =
        linger->wake < 0 ? errno : pthread_create(&linger->thread, NULL, linger_all, linger);
    if (error == 0) {
        *out = linger;
        return PE_OK;
    }
    if (linger->wake >= 0)
        close(linger->wake);
    pthread_mutex_destroy(&linger->lock);
    free(linger);
    return pe_process_fail_thread("refused bodies", error, why);
}

void pe_linger_free(pe_linger *linger)
{
    if (linger == NULL)
        return;
    pthread_mutex_lock(&linger->lock);
    linger->ending = true;
    pthread_mutex_unlock(&linger->lock);
    (void)eventfd_write(linger->wake, 1);
    pthread_join(linger->thread, NULL);
    close(linger->wake);
    pthread_mutex_destroy(&linger->lock);
    free(linger);
}

void pe_linger_take(pe_linger *linger, int socket)
{
    shutdown(socket, SHUT_WR);
    pthread_mutex_lock(&linger->lock);
    const bool taken = linger->n_coming < AT_ONCE;
    if (taken)
        linger->coming[linger->n_coming++] = socket;
    pthread_mutex_unlock(&linger->lock);
    if (taken)
        (void)eventfd_write(linger->wake, 1);
    else
        close(socket);
}
