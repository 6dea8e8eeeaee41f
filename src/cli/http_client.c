/* SPDX-License-Identifier: MIT */
/* http_client.c - one request of HTTP/1.1 over a socket that is connected, and its answer. */
#include "cli/http_client.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/clock.h"

/* ---- a line on a terminal that says how long a command has worked, and how far it is ---- */

#define WIDTH    60
#define QUIET_NS (PE_NANOSECONDS_PER_SECOND / 2) /* work that is shorter shows nothing */
#define EVERY_NS (PE_NANOSECONDS_PER_SECOND / 5)
#define MEGABYTE 1e6

static struct {
    bool on;
    int64_t began, shown; /* 0: not yet */
    const char *verb;
    uint64_t done, all;
} progress = {.verb = ""};

void pe_progress_line_begin(void)
{
    const char *terminal = getenv("TERM");
    progress.began = pe_clock();
    progress.on = isatty(STDERR_FILENO) != 0 && (terminal == NULL || strcmp(terminal, "dumb") != 0);
}

static void count(const char *verb, uint64_t done, uint64_t all)
{
    progress.verb = verb;
    progress.done = done;
    progress.all = all;
}

static void show(void)
{
    char text[WIDTH + 1];
    const int64_t now = pe_clock();
    if (!progress.on || now - progress.began < QUIET_NS || now - progress.shown < EVERY_NS)
        return;
    const char *colour = getenv("NO_COLOR");
    const bool dim = colour == NULL || *colour == '\0';
    int n = snprintf(text, sizeof text, "%lld s",
                     (long long)((now - progress.began) / PE_NANOSECONDS_PER_SECOND));
    if (progress.done > 0)
        n += snprintf(text + n, sizeof text - (size_t)n, ", %.1f MB %s",
                      (double)progress.done / MEGABYTE, progress.verb);
    if (progress.all > 0)
        snprintf(text + n, sizeof text - (size_t)n, " of %.1f", (double)progress.all / MEGABYTE);
    fprintf(stderr, "%s\r%-*s%s", dim ? "\033[2m" : "", WIDTH, text, dim ? "\033[m" : "");
    progress.shown = now;
}

void pe_progress_line_end(void)
{
    static const char blank[] =
        "\r                                                            \r"; /* of WIDTH */
    if (progress.shown != 0 && write(STDERR_FILENO, blank, sizeof blank - 1) < 0)
        progress.shown = 0;
    progress.on = false;
    progress.shown = 0;
}

/* ---- waiting ---- */

#define TICK_MS 200 /* a wait is shown so often */

/* Until the socket is ready for one of `events`; false, with errno, where the deadline (0: none)
 * passes or it cannot be. */
static bool await(const pe_client *client, short *events)
{
    struct pollfd poll_fd = {.fd = client->fd, .events = *events};
    for (;;) {
        const int64_t now = pe_clock() / PE_NANOSECONDS_PER_MS;
        const int ready = poll(&poll_fd, 1, TICK_MS);
        *events = poll_fd.revents;
        show();
        if (ready > 0)
            return true;
        if (ready < 0 && errno != EINTR)
            return false;
        if (client->deadline_ms != 0 && now >= client->deadline_ms) {
            errno = ETIMEDOUT;
            return false;
        }
    }
}

/* ---- the request ---- */

/* *sent: all of it; an answer that comes before tells why the rest is not wanted. */
static pe_status send_all(const pe_client *client, pe_slice text, bool *sent, pe_problem *why)
{
    size_t at = 0;
    while (at < text.bytes && *sent) {
        short events = POLLOUT | POLLIN;
        if (!await(client, &events))
            return pe_fail(why, PE_INTERNAL, "", "%s", strerror(errno));
        *sent = (events & POLLIN) == 0;
        const ssize_t n =
            *sent ? send(client->fd, text.text + at, text.bytes - at, MSG_NOSIGNAL) : 0;
        if (n < 0 && errno == EPIPE)
            *sent = false;
        else if (n < 0 && errno != EAGAIN && errno != EINTR)
            return pe_fail(why, PE_INTERNAL, "", "%s", strerror(errno));
        at += n > 0 ? (size_t)n : 0;
        count("sent", at, text.bytes);
    }
    return PE_OK;
}

static pe_status send_request(const pe_client *client, const pe_client_request *request,
                              pe_problem *why)
{
    pe_buffer head = {0};
    bool sent = true;
    uint64_t bytes = 0;
    for (size_t p = 0; p < request->n_parts; p++)
        bytes += request->parts[p].bytes;
    pe_buffer_format(&head,
                     "%s %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: posenc\r\nConnection: close\r\n",
                     request->n_parts > 0 ? "POST" : "GET", request->target, request->host);
    pe_buffer_format(&head, "Accept: %s, application/problem+json\r\n",
                     request->accept != NULL ? request->accept : "*/*");
    if (request->type != NULL)
        pe_buffer_format(&head, "Content-Type: %s\r\n", request->type);
    if (request->n_parts > 0)
        pe_buffer_format(&head, "Content-Length: %llu\r\n", (unsigned long long)bytes);
    pe_buffer_str(&head, "\r\n");
    pe_status status =
        head.failed ? pe_fail_memory(why) : send_all(client, pe_buffer_slice(&head), &sent, why);
    for (size_t p = 0; p < request->n_parts && status == PE_OK; p++)
        status = send_all(client, request->parts[p], &sent, why);
    pe_buffer_free(&head);
    return status;
}

/* ---- the answer ---- */

/* More bytes, where all that came are read. */
static pe_status fill(pe_client *client, pe_problem *why)
{
    while (client->at == client->end) {
        short events = POLLIN;
        if (!await(client, &events))
            return pe_fail(why, PE_INTERNAL, "", "%s", strerror(errno));
        const ssize_t n = recv(client->fd, client->held, sizeof client->held, 0);
        if (n == 0)
            return pe_fail(why, PE_INTERNAL, "", "the connection ended before the answer did");
        if (n < 0 && errno != EAGAIN && errno != EINTR)
            return pe_fail(why, PE_INTERNAL, "", "%s", strerror(errno));
        client->at = 0;
        client->end = n > 0 ? (size_t)n : 0;
    }
    return PE_OK;
}

/* A line of the header or of a chunk, without its end; what has no room is left out. */
static pe_status take_line(pe_client *client, char *out, size_t room, pe_problem *why)
{
    size_t n = 0;
    for (char c = '\0'; c != '\n';) {
        PE_TRY(fill(client, why));
        c = client->held[client->at++];
        if (n + 1 < room)
            out[n++] = c;
    }
    out[n] = '\0';
    out[strcspn(out, "\r\n")] = '\0';
    return PE_OK;
}

static void take_field(pe_client *client, char *line)
{
    char *value = line + strcspn(line, ":");
    if (*value == ':')
        *value++ = '\0';
    value += strspn(value, " \t");
    if (strcasecmp(line, "Content-Length") == 0)
        client->all = client->left = strtoull(value, NULL, 10);
    else if (strcasecmp(line, "Transfer-Encoding") == 0)
        client->chunked = strcasecmp(value, "chunked") == 0;
    else if (strcasecmp(line, "Content-Type") == 0)
        snprintf(client->type, sizeof client->type, "%.*s", (int)strcspn(value, "; "), value);
}

pe_status pe_client_ask(pe_client *client, const pe_client_request *request, pe_problem *why)
{
    char field[256];
    PE_TRY(send_request(client, request, why));
    PE_TRY(take_line(client, client->line, sizeof client->line, why));
    const char *code = strchr(client->line, ' ');
    if (strncmp(client->line, "HTTP/1.", 7) != 0 || code == NULL)
        return pe_fail(why, PE_INTERNAL, "", "the answer is no HTTP");
    client->status = (int)strtol(code, NULL, 10);
    do {
        PE_TRY(take_line(client, field, sizeof field, why));
        take_field(client, field);
    } while (*field != '\0');
    client->ended = !client->chunked && client->left == 0;
    return PE_OK;
}

pe_status pe_client_read(pe_client *client, char *out, size_t room, size_t *got, pe_problem *why)
{
    char line[64];
    *got = 0;
    if (!client->ended && client->left == 0) { /* the next chunk; behind the last one the trailer */
        if (client->done > 0)                  /* the end of the chunk before */
            PE_TRY(take_line(client, line, sizeof line, why));
        PE_TRY(take_line(client, line, sizeof line, why));
        client->left = strtoull(line, NULL, 16);
        client->ended = client->left == 0;
    }
    if (client->ended)
        return PE_OK;
    PE_TRY(fill(client, why));
    const size_t most = client->left < room ? (size_t)client->left : room;
    const size_t held = client->end - client->at;
    *got = held < most ? held : most;
    memcpy(out, client->held + client->at, *got);
    client->at += *got;
    client->left -= *got;
    client->done += *got;
    count("received", client->done, client->all);
    client->ended = !client->chunked && client->left == 0;
    return PE_OK;
}
