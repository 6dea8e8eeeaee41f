/* SPDX-License-Identifier: MIT */
/* acceptor.c - the thread that accepts connections and hands them to the library. */
#include "http/acceptor.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/process.h"
#include "http/access_log.h"
#include "http/clients/clients.h"
#include "http/connection/drain.h"
#include "http/connection/watchdog.h"
#include "http/reply/reply.h"
#include "http/request/admission.h"
#include "http/connection/client_address.h"

/* Accepted on one socket before the next one has its turn. */
#define AT_ONCE 64

/* Connections of operators, beside connections_max; and of those who are refused over TLS. */
#define OTHERS_MAX 64

/* While the system has no descriptor or memory for a connection, how long until the next try. */
#define RETRY_MS 100

/* At the end, the time that handshakes under way have to come to theirs. */
#define HANDSHAKE_MS 50

/* How long the library may take to open the connections that it was handed. */
#define HANDED_MS 1000

struct pe_acceptor {
    pe_service *service;
    pe_listener listener[PE_LISTENERS_MAX];
    size_t n;
    int wake;              /* an eventfd: a connection ended, or the server does */
    uint64_t handed;       /* to the library; it has opened service->counters.connections of them */
    atomic_bool exhausted; /* there was no descriptor or memory: it waits for a connection to end */
    bool reported;         /* that, since one came through */
    atomic_bool ending;
    pthread_t thread;
};

/* ---- one connection ---- */

/* Opened by the library, ever. */
static uint64_t opened(const pe_acceptor *acceptor)
{
    return pe_count_of(&acceptor->service->counters.connections);
}

/* Handed to the library, and not open yet. */
static uint64_t coming(const pe_acceptor *acceptor)
{
    const uint64_t open = opened(acceptor);
    return acceptor->handed > open ? acceptor->handed - open : 0;
}

/* Whoever has been silent for longest makes room. */
static bool drop_silent(const pe_acceptor *acceptor, pe_place place)
{
    const bool dropped = pe_watchdog_drop_silent(acceptor->service->watchdog, place);
    if (dropped)
        pe_service_count(&acceptor->service->counters.dropped);
    return dropped;
}

/* After one that could not be accepted. Where no descriptor or memory was left, that of another will
 * do; it is logged once, until a connection comes through. */
static bool may_accept_more(pe_acceptor *acceptor, pe_place place, int reason)
{
    if (reason == EMFILE || reason == ENFILE || reason == ENOBUFS || reason == ENOMEM) {
        if (!acceptor->reported)
            PE_LOG(PE_LOG_WARN, "accept_failed", PE_TEXT("detail", strerror(reason)));
        acceptor->reported = true;
        atomic_store(&acceptor->exhausted, true);
        (void)drop_silent(acceptor, place);
    }
    return reason == ECONNABORTED || reason == EINTR;
}

/* Operators have places of their own, whoever else is coming, and so have the refused. */
static bool has_place(const pe_acceptor *acceptor, pe_place place)
{
    const bool public = place == PE_PLACE_PUBLIC;
    const uint64_t more = public ? coming(acceptor) : 0;
    const uint64_t most =
        public ? (uint64_t)acceptor->service->settings->connections_max : OTHERS_MAX;
    return pe_watchdog_count_of(acceptor->service->watchdog, place) + more < most ||
           drop_silent(acceptor, place);
}

/* An address has so many places; behind a Unix socket and proxies that are trusted stand others. */
static bool has_too_many(const pe_acceptor *acceptor, const struct sockaddr *peer)
{
    pe_service *service = acceptor->service;
    const int64_t most = service->settings->connections_per_address;
    const pe_client_address address = pe_client_address_of_socket(peer);
    if (most == 0 || peer->sa_family == AF_UNIX ||
        pe_client_address_is_trusted(service->settings, &address))
        return false;
    const pe_client_id id = pe_admission_id(service->settings, &address);
    return !pe_clients_let_in(service->clients, &id, (unsigned)most);
}

/* Whoever finds no place gets a reply with the time to come again, where that can be done at once. */
static void turn_away(pe_acceptor *acceptor, int fd, const pe_accepted *accepted, bool plain)
{
    pe_service *service = acceptor->service;
    const pe_client_address client = pe_client_address_of_socket(&accepted->peer.any);
    pe_problem why;
    const pe_status status = pe_acceptor_fail(service->settings, accepted, &why);
    pe_service_count(&service->counters.refused);
    pe_access_log_unheard(service, &client, plain ? (unsigned)pe_status_http(status) : 0);
    if (!plain) {
        close(fd);
        return;
    }
    pe_reply_raw(service, fd, NULL, &why, NULL, false);
    pe_drain_take(service->drain, fd);
}

/* False when there is none to accept now. REFUSED is the place of one for which there is none. Over
 * TLS a handshake comes first. */
static bool accept_one(pe_acceptor *acceptor, const pe_listener *from)
{
    pe_accepted accepted = {.place = from->place};
    struct sockaddr *peer = &accepted.peer.any;
    socklen_t bytes = sizeof accepted.peer;
    const bool public = from->place == PE_PLACE_PUBLIC;
    const bool plain = !acceptor->service->tls || !public;
    const int fd = accept4(from->socket.fd, peer, &bytes, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return may_accept_more(acceptor, from->place, errno);
    acceptor->reported = false;
    if (atomic_load(&acceptor->ending)) {
        pe_socket_take_hops(fd, 0);
    } else {
        accepted.address_full = public && has_too_many(acceptor, peer);
        if (accepted.address_full || !has_place(acceptor, from->place))
            accepted.place = PE_PLACE_REFUSED;
    }
    if (accepted.place == PE_PLACE_REFUSED && (plain || !has_place(acceptor, PE_PLACE_REFUSED)))
        turn_away(acceptor, fd, &accepted, plain);
    /* It copies the address, and closes the socket where it fails. */
    else if (MHD_add_connection(from->daemon, fd, peer, sizeof accepted) == MHD_YES)
        acceptor->handed++;
    return true;
}

/* ---- what the library keeps ---- */

const pe_accepted *pe_acceptor_accepted(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return (const pe_accepted *)(const void *)info->client_addr;
}

pe_status pe_acceptor_fail(const pe_settings *settings, const pe_accepted *accepted,
                           pe_problem *why)
{
    if (accepted->address_full)
        return pe_fail(why, PE_OVERLOADED, "",
                       "connections_per_address, which is %lld, are open from this address",
                       (long long)settings->connections_per_address);
    return pe_fail(why, PE_OVERLOADED, "", "connections_max, which is %lld, are busy",
                   (long long)settings->connections_max);
}

/* ---- the thread ---- */

/* At the end whoever has connected is served, whatever the limits are; and the library opens what
 * it was handed. */
static void *accept_all(void *context)
{
    pe_acceptor *acceptor = context;
    while (!atomic_load(&acceptor->ending)) {
        /* Wait for a connection or, without a descriptor for one, for the end of another. The
         * library opens what it is handed at once or, without memory, never: who has waited long is
         * forgotten. One that comes after all was forgotten too early. */
        struct pollfd ready[1 + PE_LISTENERS_MAX] = {{.fd = acceptor->wake, .events = POLLIN}};
        for (size_t i = 0; i < acceptor->n; i++)
            ready[1 + i] = (struct pollfd){.fd = acceptor->listener[i].socket.fd, .events = POLLIN};
        const bool waits = atomic_load(&acceptor->exhausted);
        const int patience = waits ? RETRY_MS : coming(acceptor) > 0 ? HANDED_MS : -1;
        const int n = poll(ready, waits ? 1 : 1 + acceptor->n, patience);
        const uint64_t open = opened(acceptor);
        if ((n == 0 && patience == HANDED_MS) || acceptor->handed < open)
            acceptor->handed = open;
        atomic_store(&acceptor->exhausted, false);
        eventfd_t count;
        if (ready[0].revents != 0)
            (void)eventfd_read(acceptor->wake, &count);
        for (size_t i = 0; i < acceptor->n; i++)
            for (int k = 0; ready[1 + i].revents != 0 && k < AT_ONCE; k++)
                if (!accept_one(acceptor, &acceptor->listener[i]))
                    break;
    }
    for (size_t i = 0; i < acceptor->n; i++)
        pe_socket_refuse(&acceptor->listener[i].socket);
    poll(NULL, 0, acceptor->n > 0 ? HANDSHAKE_MS : 0);
    for (size_t i = 0; i < acceptor->n; i++)
        while (accept_one(acceptor, &acceptor->listener[i]))
            ;
    const int64_t until = pe_clock() + HANDED_MS * PE_NANOSECONDS_PER_MS;
    while (opened(acceptor) < acceptor->handed && pe_clock() < until)
        poll(NULL, 0, 1);
    return NULL;
}

/* ---- the interface ---- */

pe_status pe_acceptor_start(pe_service *service, const pe_listener *listener, size_t n,
                            pe_acceptor **out, pe_problem *why)
{
    pe_acceptor *acceptor = calloc(1, sizeof *acceptor);
    if (acceptor == NULL)
        return pe_fail_memory(why);
    acceptor->service = service;
    acceptor->n = n;
    for (size_t i = 0; i < n; i++)
        acceptor->listener[i] = listener[i];
    acceptor->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    *out = acceptor; /* before there are connections, whose threads wake it */
    const int error =
        acceptor->wake < 0 ? errno : pthread_create(&acceptor->thread, NULL, accept_all, acceptor);
    if (error == 0)
        return PE_OK;
    *out = NULL;
    pe_acceptor_free(acceptor);
    return pe_process_fail_thread("new connections", error, why);
}

void pe_acceptor_wake(pe_acceptor *acceptor)
{
    if (atomic_load(&acceptor->exhausted))
        (void)eventfd_write(acceptor->wake, 1);
}

void pe_acceptor_end(pe_acceptor *acceptor)
{
    atomic_store(&acceptor->ending, true);
    (void)eventfd_write(acceptor->wake, 1);
    pthread_join(acceptor->thread, NULL);
}

void pe_acceptor_free(pe_acceptor *acceptor)
{
    if (acceptor == NULL)
        return;
    if (acceptor->wake >= 0)
        close(acceptor->wake);
    free(acceptor);
}
