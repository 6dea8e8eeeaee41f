/* SPDX-License-Identifier: MIT */
/* sockets.c - sockets that listen: opened here, or passed by whoever started the program. */
#include "http/connection/sockets.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/array.h"

/* The first descriptor that is passed (sd_listen_fds(3)). */
#define FIRST_PASSED 3

#define UNIX_PREFIX "unix:"

/* ---- an address and a port ---- */

static int listen_at(const struct sockaddr *address, socklen_t bytes)
{
    const int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    const int yes = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(fd, address, bytes) == 0 && listen(fd, SOMAXCONN) == 0)
        return fd;
    const int reason = errno;
    close(fd);
    errno = reason;
    return -1;
}

/* Its address as text: the host and the port, or the path. */
static bool describe(pe_socket *socket)
{
    struct sockaddr_storage address = {0};
    socklen_t bytes = sizeof address;
    char port[NI_MAXSERV];
    socket->port = -1;
    if (getsockname(socket->fd, (struct sockaddr *)&address, &bytes) != 0)
        return false;
    if (address.ss_family == AF_UNIX) {
        const struct sockaddr_un *local = (const struct sockaddr_un *)&address;
        memcpy(socket->name, local->sun_path, sizeof socket->name - 1);
        return true;
    }
    if (getnameinfo((struct sockaddr *)&address, bytes, socket->name, sizeof socket->name, port,
                    sizeof port, NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return false;
    socket->port = (int)strtol(port, NULL, 10);
    return true;
}

pe_status pe_socket_open(const char *host, int port, pe_socket *out, pe_problem *why)
{
    const struct addrinfo hints = {.ai_flags = AI_NUMERICSERV | AI_PASSIVE,
                                   .ai_socktype = SOCK_STREAM};
    struct addrinfo *addresses;
    char service[8];
    snprintf(service, sizeof service, "%d", port);
    const int wrong = getaddrinfo(host, service, &hints, &addresses);
    if (wrong != 0)
        return pe_fail(why, PE_INVALID_PARAMETER, "host",
                       "host must be an IPv4 or IPv6 address, or a name of one, got %s (%s)", host,
                       gai_strerror(wrong));
    /* At the first address that can be listened at, of IPv4 if there is one: a name may have
     * several. */
    static const int families[] = {AF_INET, AF_INET6};
    *out = (pe_socket){.fd = -1};
    for (size_t f = 0; f < PE_LEN(families); f++)
        for (const struct addrinfo *at = addresses; at != NULL && out->fd < 0; at = at->ai_next)
            if (at->ai_family == families[f])
                out->fd = listen_at(at->ai_addr, at->ai_addrlen);
    freeaddrinfo(addresses);
    if (out->fd < 0 || !describe(out))
        return pe_fail(why, PE_INVALID_PARAMETER, "port", "could not listen on %s port %s: %s",
                       host, service, strerror(errno));
    return PE_OK;
}

/* ---- a unix socket ---- */

/* Is this the file of a socket on which nobody listens? */
static bool is_stale(const struct sockaddr_un *address)
{
    struct stat file;
    if (lstat(address->sun_path, &file) != 0 || !S_ISSOCK(file.st_mode))
        return false;
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return false;
    const bool refused = connect(fd, (const struct sockaddr *)address, sizeof *address) != 0 &&
                         errno == ECONNREFUSED;
    close(fd);
    return refused;
}

bool pe_socket_path_address(const char *path, struct sockaddr_un *out)
{
    *out = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (*path != '/' || strlen(path) >= sizeof out->sun_path)
        return false;
    memcpy(out->sun_path, path, strlen(path));
    return true;
}

/* ---- a place ---- */

pe_status pe_socket_place_read(const char *text, pe_socket_place *out, pe_problem *why)
{
    const size_t prefix = strlen(UNIX_PREFIX);
    const char *colon = strrchr(text, ':'), *port = colon != NULL ? colon + 1 : "";
    if (strncmp(text, UNIX_PREFIX, prefix) == 0) {
        out->port = -1;
        snprintf(out->name, sizeof out->name, "%s", text + prefix);
        return PE_OK;
    }
    const bool number = *port != '\0' && strlen(port) <= 5 &&
                        port[strspn(port, "0123456789")] == '\0' && strtol(port, NULL, 10) <= 65535;
    const bool bracketed = number && *text == '[' && colon > text + 1 && colon[-1] == ']';
    const char *host = text + bracketed;
    const size_t bytes = number ? (size_t)(colon - bracketed - host) : 0;
    if (bytes > 0 && bytes < sizeof out->name && (bracketed || memchr(host, ':', bytes) == NULL)) {
        out->port = (int)strtol(port, NULL, 10);
        snprintf(out->name, sizeof out->name, "%.*s", (int)bytes, host);
        return PE_OK;
    }
    return pe_fail(why, PE_INVALID_PARAMETER, "listen",
                   "listen must be unix:/path, host:port or [host]:port, got %.200s", text);
}

pe_status pe_socket_open_place(const char *place, pe_socket *out, pe_problem *why)
{
    pe_socket_place at;
    PE_TRY(pe_socket_place_read(place, &at, why));
    if (at.port >= 0)
        return pe_socket_open(at.name, at.port, out, why);
    struct sockaddr_un address;
    if (!pe_socket_path_address(at.name, &address))
        return pe_fail(why, PE_INVALID_PARAMETER, "listen",
                       "the path of a unix socket must begin with / and have at most %zu bytes, "
                       "got %.200s",
                       sizeof address.sun_path - 1, at.name);
    const struct sockaddr *any = (const struct sockaddr *)&address;
    *out = (pe_socket){.fd = listen_at(any, sizeof address), .port = -1};
    if (out->fd < 0 && errno == EADDRINUSE) {
        if (is_stale(&address) && unlink(at.name) == 0)
            out->fd = listen_at(any, sizeof address);
        else
            errno = EADDRINUSE;
    }
    if (out->fd < 0)
        return pe_fail(why, PE_INVALID_PARAMETER, "listen", "could not listen on %s: %s", at.name,
                       strerror(errno));
    snprintf(out->name, sizeof out->name, "%.*s", (int)sizeof out->name - 1, at.name);
    lstat(at.name, &out->file);
    return PE_OK;
}

/* ---- sockets that were passed ---- */

/* As many as the environment announces to this process. */
pe_status pe_socket_take_passed(pe_socket *out, size_t n_max, size_t *n, pe_problem *why)
{
    const char *pid = getenv("LISTEN_PID"), *number = getenv("LISTEN_FDS");
    const bool ours = pid != NULL && number != NULL && strtol(pid, NULL, 10) == (long)getpid();
    const long count = ours ? strtol(number, NULL, 10) : 0;
    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDS");
    unsetenv("LISTEN_FDNAMES");
    *n = 0;
    if (count > 0 && (unsigned long)count > n_max)
        return pe_fail(why, PE_INVALID_PARAMETER, "LISTEN_FDS",
                       "LISTEN_FDS must be at most %zu, got %ld", n_max, count);
    for (; (long)*n < count; ++*n) {
        const int fd = FIRST_PASSED + (int)*n;
        int on = 0, type = 0;
        socklen_t bytes = sizeof on;
        out[*n] = (pe_socket){.fd = fd, .passed = true};
        if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &on, &bytes) != 0 || !on ||
            getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &bytes) != 0 || type != SOCK_STREAM ||
            !describe(&out[*n]))
            return pe_fail(why, PE_INVALID_PARAMETER, "LISTEN_FDS",
                           "descriptor %d of LISTEN_FDS must be a listening stream socket", fd);
        fcntl(fd, F_SETFD, FD_CLOEXEC);
        fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    }
    return PE_OK;
}

/* Connections have what the socket has that accepted them. */
void pe_socket_bound_unsent(const pe_socket *socket, int bytes)
{
    if (bytes > 0 && socket->port >= 0)
        setsockopt(socket->fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &bytes, sizeof bytes);
}

/* ---- the end ---- */

/* Unless it is another's meanwhile. */
static void remove_file(const pe_socket *socket)
{
    struct stat now;
    if (socket->port < 0 && !socket->passed && lstat(socket->name, &now) == 0 &&
        now.st_ino == socket->file.st_ino && now.st_dev == socket->file.st_dev)
        unlink(socket->name);
}

/* Packets come with as many hops left as their senders begin with, commonly 64 or 128. */
#define HOPS_MAX 255

/* Ignore packets with fewer hops left; those that end a handshake are not looked at. */
void pe_socket_take_hops(int fd, int least)
{
    setsockopt(fd, IPPROTO_IP, IP_MINTTL, &least, sizeof least);
    setsockopt(fd, IPPROTO_IPV6, IPV6_MINHOPCOUNT, &least, sizeof least);
}

/*
 * What the system has taken and nobody has accepted is reset when a socket closes. So first no
 * connection may begin: the filter drops each segment with SYN and without ACK, and passes those
 * that end a handshake. The 14th byte of a TCP header holds these flags. Some systems take filters
 * from administrators alone; there the number of hops does the same.
 */
void pe_socket_refuse(const pe_socket *socket)
{
    static const struct sock_filter drop_syn[] = {
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 13),          BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0x12),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x02, 0, 1), BPF_STMT(BPF_RET | BPF_K, 0),
        BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
    };
    const struct sock_fprog program = {.len = PE_LEN(drop_syn),
                                       .filter = (struct sock_filter *)(uintptr_t)drop_syn};
    remove_file(socket);
    if (socket->passed || socket->port < 0)
        return;
    if (setsockopt(socket->fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) != 0)
        pe_socket_take_hops(socket->fd, HOPS_MAX);
}

void pe_socket_close(pe_socket *socket)
{
    if (socket->fd < 0)
        return;
    remove_file(socket);
    close(socket->fd);
    socket->fd = -1;
}
