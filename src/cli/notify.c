/* SPDX-License-Identifier: MIT */
/* notify.c - tell the service manager how far the program is. */
#include "cli/notify.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"

/* Opened once, since the sandbox allows no socket later; -1: nobody asked. */
static int manager = -1;

void pe_notify_open(void)
{
    const char *name = getenv("NOTIFY_SOCKET");
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    const size_t bytes = name == NULL ? 0 : strlen(name);
    if (bytes < 2 || bytes >= sizeof to.sun_path || (*name != '/' && *name != '@'))
        return;
    memcpy(to.sun_path, name, bytes);
    if (*name == '@')
        to.sun_path[0] = '\0';
    const socklen_t taken = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + bytes);
    manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (manager < 0 || connect(manager, (struct sockaddr *)&to, taken) == 0)
        return;
    close(manager);
    manager = -1;
}

void pe_notify(const char *state)
{
    if (manager >= 0)
        send(manager, state, strlen(state), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void pe_notify_ready(void)
{
    pe_notify("READY=1");
}

void pe_notify_reloading(void)
{
    char state[64];
    snprintf(state, sizeof state, "RELOADING=1\nMONOTONIC_USEC=%lld",
             (long long)(pe_clock() / 1000));
    pe_notify(state);
}
