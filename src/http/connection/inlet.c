/* SPDX-License-Identifier: MIT */
/* inlet.c - every byte that a client sends passes here before the library reads it. */
#include "http/connection/inlet.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"

/* ---- which inlet a socket has ---- */

/* By descriptor, since recv() knows nothing else. A place is entered and read by its connection's
 * thread. The system gives memory to those parts of the table that are used. */
#define PLACES (1 << 20)

static _Atomic(pe_inlet *) places[PLACES];

/* Of connections without memory: not one byte reaches the library. */
static pe_inlet nobody = {.lost = true};

static pe_inlet *find(int socket)
{
    return socket < 0 || socket >= PLACES
               ? NULL
               : atomic_load_explicit(&places[socket], memory_order_acquire);
}

static bool enter(int socket, pe_inlet *inlet)
{
    if (socket >= PLACES)
        return false;
    atomic_store_explicit(&places[socket], inlet, memory_order_release);
    return true;
}

bool pe_inlet_open(pe_inlet *inlet)
{
    return enter(inlet->socket, inlet);
}

void pe_inlet_shut(int socket)
{
    if (!enter(socket, &nobody))
        (void)shutdown(socket, SHUT_RDWR);
}

void pe_inlet_forget(int socket)
{
    (void)enter(socket, NULL);
}

static void let_go(pe_inlet *inlet)
{
    free(inlet->held.data);
    inlet->held = (pe_arrived){0};
}

void pe_inlet_close(pe_inlet *inlet)
{
    pe_inlet_forget(inlet->socket);
    let_go(inlet);
}

/* ---- what is held ---- */

/* Bytes of `held` that passed go to the library. */
static size_t take(pe_inlet *inlet, char *out, size_t room)
{
    pe_arrived *held = &inlet->held;
    const size_t bytes = held->passed < room ? held->passed : room;
    if (bytes == 0 || held->data == NULL)
        return 0;
    memcpy(out, held->data, bytes);
    memmove(held->data, held->data + bytes, held->bytes - bytes);
    held->passed -= bytes;
    held->bytes -= bytes;
    if (held->bytes == 0)
        let_go(inlet);
    return bytes;
}

/* Hold what has arrived and not passed. Without room for it the connection ends once those before
 * have been answered: nothing more is read, and no reply is sent to bytes that are gone. */
static bool hold(pe_inlet *inlet, const pe_arrived *arrived)
{
    const size_t bytes = arrived->bytes - arrived->passed;
    if (bytes == 0)
        return true;
    inlet->held.data = malloc(inlet->held_max);
    inlet->lost = inlet->held.data == NULL;
    if (inlet->lost) {
        inlet->status = PE_OK;
        return false;
    }
    memcpy(inlet->held.data, arrived->data + arrived->passed, bytes);
    inlet->held.bytes = bytes;
    return true;
}

/* ---- plain or coded ---- */

/* GnuTLS comes back after each record that brings nothing whole, also when others wait behind it in
 * the socket, of which no event would tell. */
static bool waits_behind(pe_inlet *inlet, ssize_t result)
{
    const bool more = result == GNUTLS_E_AGAIN && inlet->pulled > 0;
    inlet->pulled = 0;
    return more || result == GNUTLS_E_INTERRUPTED;
}

/* What the library gets instead of bytes. */
static ssize_t end_with(const pe_inlet *inlet, int reason)
{
    if (inlet->session != NULL)
        return reason == EAGAIN ? GNUTLS_E_AGAIN : GNUTLS_E_PULL_ERROR;
    errno = reason;
    return -1;
}

/* ---- one look at the socket ---- */

typedef struct look {
    char *out; /* the library's */
    size_t room, given;
    ssize_t got;
    bool more; /* there may be */
} look;

/* Read where the library wants it or, behind what is held, there. Sets l->got and l->more. */
static void receive_some(pe_inlet *inlet, look *l)
{
    pe_arrived *held = &inlet->held;
    const bool straight = held->data == NULL;
    char *at = straight ? l->out + l->given : held->data + held->bytes;
    const size_t room = straight ? l->room - l->given : inlet->held_max - held->bytes;
    l->more = false;
    if (inlet->session == NULL) {
        l->got = recvfrom(inlet->socket, at, room, 0, NULL, NULL);
        pe_progress_pass(&inlet->watch->passed.taken, l->got);
    } else {
        unsigned char number[8]; /* of the record */
        do
            l->got = gnutls_record_recv_seq(inlet->session, at, room, number);
        while (waits_behind(inlet, l->got));
    }
    if (l->got <= 0)
        return;
    pe_arrived straightly = {.data = at, .bytes = (size_t)l->got};
    if (!straight)
        held->bytes += (size_t)l->got;
    inlet->status = pe_framing_read(&inlet->framing, &inlet->limits, straight ? &straightly : held);
    l->given += straightly.passed;
    if (straight && !hold(inlet, &straightly))
        l->got = end_with(inlet, ECONNRESET);
    else if (inlet->session == NULL)
        l->more = l->got == (ssize_t)room;
    else /* a record is as long as its sender likes; after one the library looks again by itself, but
          * not after none */
        l->more = l->given == 0 && held->passed == 0;
}

/* ---- what becomes of it ---- */

/* All requests before the refused one have been answered; one whose body is refused, the library
 * has begun. */
static bool may_refuse(const pe_inlet *inlet)
{
    const bool in_header = inlet->framing.part == PE_FRAMING_HEADER;
    return (in_header ? inlet->answered : inlet->begun) == inlet->framing.requests;
}

bool pe_inlet_is_refused(const pe_inlet *inlet)
{
    return inlet->status != PE_OK && inlet->framing.part != PE_FRAMING_HEADER && may_refuse(inlet);
}

/* The watchdog has made the connection LEAVING. Always false. */
static bool tell_late(pe_inlet *inlet)
{
    const bool owed = !inlet->told && pe_watchdog_owes_reply(inlet->watch);
    inlet->told = true;
    if (owed)
        inlet->late(inlet->context);
    return false;
}

bool pe_inlet_enter(pe_inlet *inlet, pe_phase phase, int64_t since)
{
    return pe_watchdog_enter(inlet->watchdog, inlet->watch, phase, since) || tell_late(inlet);
}

bool pe_inlet_leave(pe_inlet *inlet)
{
    if (!pe_watchdog_leave(inlet->watchdog, inlet->watch))
        return pe_watchdog_is_leaving(inlet->watch) && tell_late(inlet);
    inlet->told = true;
    return true;
}

/* A header has begun to arrive: the time for it runs. */
static void note_begin(pe_inlet *inlet)
{
    const bool waits = inlet->held.bytes > 0 && inlet->framing.part == PE_FRAMING_HEADER;
    if (!waits || inlet->began != 0 || !may_refuse(inlet))
        return;
    inlet->began = pe_clock();
    (void)pe_inlet_enter(inlet, PE_PHASE_HEADER, inlet->began);
}

static ssize_t receive(pe_inlet *inlet, char *out, size_t room)
{
    look l = {.out = out, .room = room, .got = 1, .more = true};
    if (inlet->lost)
        return end_with(inlet, ECONNRESET);
    if (pe_watchdog_is_leaving(inlet->watch))
        return tell_late(inlet); /* 0: the end */
    /* As much as the library wants, or there is: after a short look it waits for the next event, so
     * that nothing may be left in the socket then. */
    for (;;) {
        l.given += take(inlet, l.out + l.given, l.room - l.given);
        if (l.given == l.room || !l.more || l.got <= 0 || inlet->status != PE_OK)
            break;
        receive_some(inlet, &l);
    }
    if (inlet->status != PE_OK && may_refuse(inlet)) {
        inlet->refused(inlet->context);
        return end_with(inlet, ECONNRESET);
    }
    note_begin(inlet);
    if (l.given > 0)
        return (ssize_t)l.given;
    return l.got > 0 ? end_with(inlet, EAGAIN) : l.got;
}

/* ---- before all of it ---- */

/* What a proxy sends is looked at, and taken when it is whole. True when the client's own bytes come
 * next; else *result and errno as of recv. The end behind a part that was left in the socket is seen
 * by poll alone. */
static bool pass_proxy_header(pe_inlet *inlet, ssize_t *result)
{
    char begin[PE_PROXY_HEADER_MAX];
    struct pollfd at = {.fd = inlet->socket, .events = POLLRDHUP};
    pe_proxy_found found = PE_PROXY_PART;
    if (pe_watchdog_is_leaving(inlet->watch)) {
        *result = tell_late(inlet);
        return false;
    }
    *result = recvfrom(inlet->socket, begin, sizeof begin, MSG_PEEK, NULL, NULL);
    if (*result > 0)
        found = pe_proxy_header_read((pe_slice){begin, (size_t)*result}, &inlet->proxy);
    inlet->proxied = found == PE_PROXY_PART;
    if (found == PE_PROXY_WHOLE) {
        *result = recvfrom(inlet->socket, begin, inlet->proxy.bytes, 0, NULL, NULL);
        return true;
    }
    if (found == PE_PROXY_NONE) {
        inlet->status = PE_MALFORMED_REQUEST;
        inlet->framing.complaint = "a connection from trusted_proxies must begin with a header of "
                                   "the PROXY protocol, version 1 or 2, as proxy_protocol is set";
        inlet->refused(inlet->context);
    }
    if (*result <= 0)
        return false;
    const bool ended = found == PE_PROXY_PART && poll(&at, 1, 0) > 0;
    errno = found == PE_PROXY_NONE ? ECONNRESET : EAGAIN;
    *result = ended ? 0 : -1;
    return false;
}

/* The C library's recv, for the whole program. */
ssize_t recv(int socket, void *buffer, size_t bytes, int flags)
{
    ssize_t none;
    pe_inlet *inlet = flags == 0 ? find(socket) : NULL;
    if (inlet != NULL && inlet->proxied && !pass_proxy_header(inlet, &none))
        return none;
    if (inlet != NULL && inlet->session == NULL)
        return receive(inlet, buffer, bytes);
    const ssize_t got = recvfrom(socket, buffer, bytes, flags, NULL, NULL);
    if (inlet != NULL) {
        inlet->pulled = got;
        pe_progress_pass(&inlet->watch->passed.taken, got);
    }
    return got;
}

/* The C library's send and sendmsg, likewise: what has been given is counted. */
static ssize_t count_given(int socket, ssize_t bytes)
{
    pe_inlet *inlet = find(socket);
    if (inlet != NULL && inlet != &nobody)
        pe_progress_pass(&inlet->watch->passed.given, bytes);
    return bytes;
}

ssize_t send(int socket, const void *data, size_t bytes, int flags)
{
    return count_given(socket, sendto(socket, data, bytes, flags, NULL, 0));
}

ssize_t sendmsg(int socket, const struct msghdr *message, int flags)
{
    return count_given(socket, syscall(SYS_sendmsg, socket, message, flags));
}

/* ---- TLS ---- */

static pe_inlet *find_tls(gnutls_session_t session)
{
    pe_inlet *inlet = find(gnutls_transport_get_int(session));
    return inlet != NULL && inlet->session == session ? inlet : NULL;
}

/* GnuTLS's own. */
static int shake_hands(gnutls_session_t session)
{
    const union {
        void *found;
        int (*call)(gnutls_session_t session);
    } next = {dlsym(RTLD_NEXT, "gnutls_handshake")};
    return next.call != NULL ? next.call(session) : GNUTLS_E_INTERNAL_ERROR;
}

/* What a handshake sends is far less than the system takes at once. Where it does not, nothing
 * would tell when to go on: the library waits for bytes to read. */
static int go_on_with_handshake(pe_inlet *inlet)
{
    int result;
    do
        result = shake_hands(inlet->session);
    while (waits_behind(inlet, result));
    inlet->secure = result == GNUTLS_E_SUCCESS;
    const bool sends = gnutls_record_get_direction(inlet->session) == 1;
    return result == GNUTLS_E_AGAIN && sends ? GNUTLS_E_PUSH_ERROR : result;
}

/*
 * The program's own, which the library calls. While a handshake waits the library would call again
 * and again: only a recv that finds nothing makes it wait for the next event. So it hears that
 * the handshake is done, and the handshake is a part of reading.
 */
int gnutls_handshake(gnutls_session_t session)
{
    return find_tls(session) != NULL ? GNUTLS_E_SUCCESS : shake_hands(session);
}

/* GnuTLS's recv, likewise. */
ssize_t gnutls_record_recv(gnutls_session_t session, void *data, size_t bytes)
{
    unsigned char number[8]; /* of the record */
    pe_inlet *inlet = find_tls(session);
    if (inlet == NULL)
        return gnutls_record_recv_seq(session, data, bytes, number);
    const int wrong = inlet->secure ? GNUTLS_E_SUCCESS : go_on_with_handshake(inlet);
    return wrong == GNUTLS_E_SUCCESS ? receive(inlet, data, bytes) : wrong;
}

/* ---- the interface ---- */

void pe_inlet_answered(pe_inlet *inlet)
{
    inlet->answered++;
    if (inlet->status != PE_OK && may_refuse(inlet))
        inlet->refused(inlet->context);
    else
        note_begin(inlet);
}

int64_t pe_inlet_began(pe_inlet *inlet)
{
    const int64_t began = inlet->began != 0 ? inlet->began : pe_clock();
    inlet->began = 0;
    inlet->begun++;
    return began;
}

const char *pe_inlet_text(pe_inlet *inlet, pe_framing_text text)
{
    if (text.bytes == 0)
        return "";
    char *at = inlet->held.data + inlet->held.passed + text.at;
    at[text.bytes] = '\0'; /* for a space or the line's end */
    return at;
}
