/* SPDX-License-Identifier: MIT */
/* drain.c - the end of connections whose clients may still send. */
#include "http/connection/drain.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/process.h"

/* Sockets that are drained at once. */
#define AT_ONCE 1024

/* Bytes dropped of one before the others have their turn. */
#define STEP 1048576

typedef struct draining {
    int64_t until;
    uint64_t left; /* bytes */
} draining;

/* Sockets come through a pipe, whose end is the thread's. The rest is the thread's alone. */
struct pe_drain {
    pe_drain_limits limits;
    int pipe[2];
    draining one[AT_ONCE];
    struct pollfd ready[AT_ONCE + 1]; /* ready[i] is of one[i]; ready[n] is the pipe */
    size_t n;
    pthread_t thread;
};

/* Take over those who have come, as long as there is room. False when all is to end. */
static bool welcome(pe_drain *drain)
{
    const int64_t until = pe_clock() + drain->limits.time;
    ssize_t got;
    for (int fd; (got = read(drain->pipe[0], &fd, sizeof fd)) > 0;) {
        if (drain->n == AT_ONCE) {
            close(fd);
            continue;
        }
        drain->ready[drain->n] = (struct pollfd){.fd = fd, .events = POLLIN};
        drain->one[drain->n++] = (draining){until, drain->limits.bytes};
    }
    return got < 0;
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
    while (welcome(drain)) {
        int64_t now = pe_clock(), until = INT64_MAX;
        for (size_t i = 0; i < drain->n; i++)
            until = drain->one[i].until < until ? drain->one[i].until : until;
        const int64_t left = until <= now ? 0 : (until - now) / PE_NANOSECONDS_PER_MS + 1;
        drain->ready[drain->n] = (struct pollfd){.fd = drain->pipe[0], .events = POLLIN};
        poll(drain->ready, drain->n + 1, drain->n == 0 ? -1 : (int)left);
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
    close(drain->pipe[0]);
    return NULL;
}

pe_status pe_drain_make(const pe_drain_limits *limits, pe_drain **out, pe_problem *why)
{
    pe_drain *drain = calloc(1, sizeof *drain);
    if (drain == NULL)
        return pe_fail_memory(why);
    drain->limits = *limits;
    const bool piped = pipe2(drain->pipe, O_CLOEXEC | O_NONBLOCK) == 0;
    const int error = piped ? pthread_create(&drain->thread, NULL, drain_all, drain) : errno;
    if (error == 0) {
        *out = drain;
        return PE_OK;
    }
    for (int end = 0; piped && end < 2; end++)
        close(drain->pipe[end]);
    free(drain);
    return pe_process_fail_thread("refused bodies", error, why);
}

void pe_drain_free(pe_drain *drain)
{
    if (drain == NULL)
        return;
    close(drain->pipe[1]); /* which is all that the thread waits for */
    pthread_join(drain->thread, NULL);
    free(drain);
}

void pe_drain_take(pe_drain *drain, int socket)
{
    shutdown(socket, SHUT_WR);
    if (write(drain->pipe[1], &socket, sizeof socket) != sizeof socket)
        close(socket);
}
