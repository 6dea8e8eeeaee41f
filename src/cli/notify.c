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

void pe_notify(const char *state)
{
    const char *name = getenv("NOTIFY_SOCKET");
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    const size_t bytes = name == NULL ? 0 : strlen(name);
    if (bytes < 2 || bytes >= sizeof to.sun_path || (*name != '/' && *name != '@'))
        return;
    memcpy(to.sun_path, name, bytes);
    if (*name == '@')
        to.sun_path[0] = '\0';
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    const socklen_t taken = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + bytes);
    sendto(fd, state, strlen(state), MSG_NOSIGNAL | MSG_DONTWAIT, (struct sockaddr *)&to, taken);
    close(fd);
}

void pe_notify_reloading(void)
{
    char state[64];
    snprintf(state, sizeof state, "RELOADING=1\nMONOTONIC_USEC=%lld",
             (long long)(pe_clock() / 1000));
    pe_notify(state);
}
