/* SPDX-License-Identifier: MIT */
/* client_alive.c - is there still a client that waits for its answer? */
#include "http/connection/client_alive.h"

#include <poll.h>
#include <string.h>
#include <sys/socket.h>

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
