/* SPDX-License-Identifier: MIT */
/* healthcheck.c - `posenc healthcheck`: does the server that these settings describe answer? */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "cli/cli.h"
#include "http/connection/sockets.h"

#define TIMEOUT_MS 2000

struct endpoint {
    union {
        struct sockaddr any;
        struct sockaddr_storage internet;
        struct sockaddr_un path;
    } address;
    socklen_t bytes;
};

/* Where to reach a server that listens at a place: one that listens everywhere is on the loopback.
 * A name means its IPv4 address, as it does where the server listens. */
static bool resolve(const pe_socket_place *place, struct endpoint *out)
{
    static const int families[] = {AF_INET, AF_INET6};
    const char *host = place->name;
    out->bytes = sizeof out->address.path;
    if (place->port < 0)
        return pe_socket_path_address(host, &out->address.path);
    const bool everywhere = strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0;
    const char *at = !everywhere ? host : host[0] == ':' ? "::1" : "127.0.0.1";
    char service[12];
    snprintf(service, sizeof service, "%d", place->port);
    for (size_t f = 0; f < PE_LEN(families); f++) {
        const struct addrinfo hints = {
            .ai_family = families[f], .ai_flags = AI_NUMERICSERV, .ai_socktype = SOCK_STREAM};
        struct addrinfo *found = NULL;
        const bool known = getaddrinfo(at, service, &hints, &found) == 0 &&
                           found->ai_addrlen <= sizeof out->address;
        if (known) {
            memcpy(&out->address, found->ai_addr, found->ai_addrlen);
            out->bytes = found->ai_addrlen;
        }
        if (found != NULL)
            freeaddrinfo(found);
        if (known)
            return true;
    }
    return false;
}

/* Wait until fd is ready for `events` or the deadline passes (ETIMEDOUT). */
static bool await(int fd, short events, int64_t deadline_ms)
{
    struct pollfd poll_fd = {.fd = fd, .events = events};
    for (;;) {
        const int64_t left = deadline_ms - pe_clock() / PE_NANOSECONDS_PER_MS;
        const int ready = left > 0 ? poll(&poll_fd, 1, (int)left) : 0;
        if (ready > 0)
            return true;
        if (ready == 0) {
            errno = ETIMEDOUT;
            return false;
        }
        if (errno != EINTR)
            return false;
    }
}

static bool connect_by(int fd, const struct endpoint *to, int64_t deadline_ms)
{
    if (connect(fd, &to->address.any, to->bytes) == 0)
        return true;
    int error = 0;
    socklen_t bytes = sizeof error;
    if (errno != EINPROGRESS || !await(fd, POLLOUT, deadline_ms) ||
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &bytes) != 0)
        return false;
    errno = error;
    return error == 0;
}

/* Read until the first line is whole, or `bytes` are full. */
static bool receive_line(int fd, char *line, size_t bytes, int64_t deadline_ms)
{
    size_t used = 0;
    while (used + 1 < bytes && memchr(line, '\n', used) == NULL) {
        if (!await(fd, POLLIN, deadline_ms))
            return false;
        const ssize_t got = recv(fd, line + used, bytes - 1 - used, 0);
        if (got < 0)
            return false;
        if (got == 0)
            break;
        used += (size_t)got;
    }
    line[used] = '\0';
    line[strcspn(line, "\r\n")] = '\0';
    return true;
}

/* GET /healthz; the status line goes to `line`. */
static bool query(int fd, const struct endpoint *to, const pe_socket_place *place, char *line,
                  size_t bytes)
{
    const int64_t deadline_ms = pe_clock() / PE_NANOSECONDS_PER_MS + TIMEOUT_MS;
    const char *host = place->port < 0 ? "localhost" : place->name;
    const bool v6 = strchr(host, ':') != NULL;
    char request[512];
    snprintf(request, sizeof request,
             "GET /healthz HTTP/1.1\r\nHost: %s%s%s\r\nUser-Agent: posenc-healthcheck\r\n"
             "Connection: close\r\n\r\n",
             v6 ? "[" : "", host, v6 ? "]" : "");
    /* It is far below what an empty socket buffer takes at once. */
    return connect_by(fd, to, deadline_ms) && await(fd, POLLOUT, deadline_ms) &&
           send(fd, request, strlen(request), MSG_NOSIGNAL) == (ssize_t)strlen(request) &&
           receive_line(fd, line, bytes, deadline_ms);
}

/* Whom to ask: this command speaks no TLS, so that a server of TLS is asked at its listener for
 * operators; one that listens at several places, at the first. */
static pe_status choose(const pe_settings *settings, pe_socket_place *out, pe_problem *why)
{
    const bool tls = *settings->tls_certificate != '\0';
    const char *place = tls                      ? settings->admin_listen
                        : settings->listen.n > 0 ? settings->listen.item[0]
                                                 : NULL;
    out->port = (int)settings->port;
    snprintf(out->name, sizeof out->name, "%s", settings->host);
    if (tls && *place == '\0')
        return pe_fail(why, PE_INVALID_PARAMETER, "admin_listen",
                       "with TLS the server is asked at admin_listen, which is empty");
    if (place != NULL && pe_socket_place_read(place, out, why) != PE_OK)
        return why->status;
    if (out->port == 0)
        return pe_fail(why, PE_INVALID_PARAMETER, place == NULL ? "port" : "listen",
                       "port 0 is any free one, which only the server's log tells: set port to one "
                       "that the server shall take, or give it, as in posenc healthcheck --port "
                       "8080");
    return PE_OK;
}

static pe_status check(const pe_settings *settings, pe_problem *why)
{
    struct endpoint to;
    char line[128] = "";
    pe_socket_place place;
    PE_TRY(choose(settings, &place, why));
    if (!resolve(&place, &to))
        return pe_fail(why, PE_INVALID_PARAMETER, place.port < 0 ? "listen" : "host",
                       "the server's place must be an address, a name or a path, got %s",
                       place.name);
    const int fd = socket(to.address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const bool answered = fd >= 0 && query(fd, &to, &place, line, sizeof line);
    const int error = errno;
    if (fd >= 0)
        close(fd);
    if (!answered)
        return place.port < 0 ? pe_fail(why, PE_INTERNAL, "", "no answer from %s: %s", place.name,
                                        strerror(error))
                              : pe_fail(why, PE_INTERNAL, "", "no answer from %s port %d: %s",
                                        place.name, place.port, strerror(error));
    /* "HTTP/1.1 200 OK" */
    const char *code = strchr(line, ' ');
    if (strncmp(line, "HTTP/1.", 7) != 0 || code == NULL || strncmp(code, " 200", 4) != 0)
        return pe_fail(why, PE_INTERNAL, "", "GET /healthz was answered with \"%s\"", line);
    return PE_OK;
}

/* In a container the first process is the server, or starts it. Its flags say where it listens. */
#define FIRST_PROCESS   "/proc/1/cmdline"
#define FLAGS_BYTES_MAX 8192
#define FLAGS_MAX       256

/* The flags of `posenc serve` in a command line, whose arguments end with NULs. */
static int read_flags(char *text, char **flags)
{
    int n = -1; /* not there yet */
    bool program = false;
    const int fd = open(FIRST_PROCESS, O_RDONLY | O_CLOEXEC);
    const ssize_t got = fd < 0 ? 0 : read(fd, text, FLAGS_BYTES_MAX);
    const char *end = text + (got > 0 ? got : 0);
    if (fd >= 0)
        close(fd);
    text[got > 0 ? got : 0] = '\0';
    for (char *at = text; at < end && n < FLAGS_MAX; at += strlen(at) + 1) {
        const char *slash = strrchr(at, '/');
        if (n >= 0)
            flags[n++] = at;
        else if (program && strcmp(at, "serve") == 0)
            n = 0;
        program = strcmp(slash != NULL ? slash + 1 : at, "posenc") == 0;
    }
    return n < 0 ? 0 : n;
}

int pe_cli_healthcheck(int n_arguments, char **arguments)
{
    pe_config *config = NULL;
    pe_problem why;
    char text[FLAGS_BYTES_MAX + 1], *flags[FLAGS_MAX];
    const int n_flags = n_arguments == 0 ? read_flags(text, flags) : 0;
    pe_status status = n_flags > 0 ? pe_cli_configure(n_flags, flags, &config, &why)
                                   : pe_cli_configure(n_arguments, arguments, &config, &why);
    if (status == PE_OK)
        status = check(pe_config_settings(config), &why);
    pe_config_free(config);
    if (status == PE_OK)
        return PE_EXIT_OK;
    (void)pe_cli_fail("unhealthy", &why);
    return PE_EXIT_FAILED; /* the one failure that container engines understand */
}
