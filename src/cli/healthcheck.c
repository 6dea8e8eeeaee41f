/* SPDX-License-Identifier: MIT */
/* healthcheck.c - `posenc healthcheck`: does the server that these settings describe answer? */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/cli.h"
#include "cli/http_client.h"
#include "http/connection/sockets.h"

#define TIMEOUT_MS 2000

/* Where to reach a server that listens at a place: one that listens everywhere is on the loopback.
 * A name means its IPv4 address, as it does where the server listens. */
static bool resolve(const pe_socket_place *place, struct sockaddr_storage *out, socklen_t *bytes)
{
    const char *host = place->name;
    *bytes = sizeof(struct sockaddr_un);
    if (place->port < 0)
        return pe_socket_path_address(host, (struct sockaddr_un *)out);
    const bool everywhere = strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0;
    const char *at = !everywhere ? host : host[0] == ':' ? "::1" : "127.0.0.1";
    const struct addrinfo hints = {.ai_flags = AI_NUMERICSERV, .ai_socktype = SOCK_STREAM};
    struct addrinfo *all = NULL, *found;
    char service[12];
    snprintf(service, sizeof service, "%d", place->port);
    if (getaddrinfo(at, service, &hints, &all) != 0)
        return false;
    for (found = all; found->ai_family != AF_INET && found->ai_next != NULL;)
        found = found->ai_next;
    found = found->ai_family == AF_INET ? found : all;
    *bytes = found->ai_addrlen;
    memcpy(out, found->ai_addr, found->ai_addrlen);
    freeaddrinfo(all);
    return true;
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

/* GET /healthz. To connect is to send, for the system's timeout. */
static pe_status check(const pe_settings *settings, pe_problem *why)
{
    pe_socket_place place;
    struct sockaddr_storage to;
    socklen_t bytes;
    PE_TRY(choose(settings, &place, why));
    if (!resolve(&place, &to, &bytes))
        return pe_fail(why, PE_INVALID_PARAMETER, place.port < 0 ? "listen" : "host",
                       "the server's place must be an address, a name or a path, got %s",
                       place.name);
    char host[sizeof place.name + 2], port[20] = "";
    const char *name = place.port < 0 ? "localhost" : place.name;
    snprintf(host, sizeof host, strchr(name, ':') != NULL ? "[%s]" : "%s", name);
    if (place.port >= 0)
        snprintf(port, sizeof port, " port %d", place.port);
    const int fd = socket(to.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const struct timeval most = {.tv_sec = TIMEOUT_MS / 1000};
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
    const pe_client_request request = {.target = "/healthz", .host = host};
    pe_client client = {.fd = fd, .deadline_ms = pe_clock() / PE_NANOSECONDS_PER_MS + TIMEOUT_MS};
    pe_problem cause;
    pe_status status;
    if (fd >= 0 && connect(fd, (struct sockaddr *)&to, bytes) == 0)
        status = pe_client_ask(&client, &request, &cause);
    else
        status = pe_fail(&cause, PE_INTERNAL, "", "%s",
                         strerror(errno == EINPROGRESS || errno == EAGAIN ? ETIMEDOUT : errno));
    if (fd >= 0)
        close(fd);
    if (status != PE_OK)
        return pe_fail(why, PE_INTERNAL, "", "no answer from %s%s: %.200s", place.name, port,
                       cause.detail);
    return client.status == 200 ? PE_OK
                                : pe_fail(why, PE_INTERNAL, "",
                                          "GET /healthz was answered with \"%s\"", client.line);
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
