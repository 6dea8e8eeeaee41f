/* SPDX-License-Identifier: MIT */
/* progress.c - does the other end of a connection keep up a least rate, and is it still there? */
#include "http/connection/progress.h"

#include <linux/sockios.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/clock.h"

bool pe_progress_is_slow(pe_progress *progress, const pe_progress_rules *rules,
                         const pe_progress_sample *sample)
{
    if (progress->window_at == 0 || !sample->waits) {
        *progress = (pe_progress){.moved_at = sample->now,
                                  .window_at = sample->now,
                                  .moved = sample->bytes,
                                  .window_bytes = sample->bytes};
        return false;
    }
    if (sample->bytes != progress->moved) {
        progress->moved = sample->bytes;
        progress->moved_at = sample->now;
    }
    if (rules->silence > 0 && sample->now - progress->moved_at >= rules->silence)
        return true;
    /* The rate is judged at the end of a window; then the next one begins. */
    const int64_t time = sample->now - progress->window_at;
    if (rules->rate_min == 0 || time < rules->window)
        return false;
    const double seconds = (double)time / PE_NANOSECONDS_PER_SECOND;
    const uint64_t bytes = sample->bytes - progress->window_bytes;
    progress->window_at = sample->now;
    progress->window_bytes = sample->bytes;
    return (double)bytes < (double)rules->rate_min * seconds;
}

uint64_t pe_progress_carried(int socket, const pe_progress_passed *passed, bool sent)
{
    const uint64_t given = atomic_load_explicit(&passed->given, memory_order_relaxed);
    int queued = 0, domain = AF_UNIX;
    socklen_t bytes = sizeof domain;
    if (!sent && getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &domain, &bytes) == 0 &&
        domain != AF_UNIX)
        ioctl(socket, SIOCOUTQ, &queued);
    return given - (uint64_t)queued;
}

/* Of a unix socket a queue has more bytes than were written: differences count, not the number. */
bool pe_progress_look(int socket, const pe_progress_passed *passed, bool sends,
                      pe_progress_sample *out)
{
    int queued = 0;
    if (ioctl(socket, sends ? SIOCINQ : SIOCOUTQ, &queued) != 0)
        return false;
    out->bytes =
        sends ? atomic_load_explicit(&passed->taken, memory_order_relaxed)
              : atomic_load_explicit(&passed->given, memory_order_relaxed) - (uint64_t)queued;
    out->waits = sends ? queued == 0 : queued > 0; /* what we have not read is our affair */
    return true;
}

/* ---- is there still a client that waits for its answer? ---- */

/* Far clients need longer to tell that they have gone: then the work is done for nobody. */
#define WAIT_MS 1

static int events(int socket, int wait_ms)
{
    struct pollfd at = {.fd = socket, .events = wait_ms == 0 ? POLLRDHUP : 0};
    return poll(&at, 1, wait_ms) > 0 ? at.revents : 0;
}

bool pe_client_alive(int socket, bool interim)
{
    static const char proceed[] = "HTTP/1.1 100 Continue\r\n\r\n";
    const int seen = events(socket, 0);
    if ((seen & (POLLERR | POLLHUP)) != 0)
        return false;
    if ((seen & POLLRDHUP) == 0 || !interim)
        return true;
    if (send(socket, proceed, strlen(proceed), MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
        return false;
    return (events(socket, WAIT_MS) & (POLLERR | POLLHUP)) == 0;
}
