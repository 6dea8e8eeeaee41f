/* SPDX-License-Identifier: MIT */
/* access_log.c - one line per request. */
#include "http/access_log.h"

#include <inttypes.h>
#include <netinet/in.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "http/clients/keys.h"
#include "http/connection/client_address.h"
#include "http/request/admission.h"

/* What a line tells beside the request. */
typedef struct access_line {
    char client[INET6_ADDRSTRLEN];
    unsigned status; /* 0: the client has left before there was one */
    uint64_t bytes;
    bool aborted;
    double ms;
} access_line;

/* ---- bytes ---- */

static uint64_t carried(const pe_request *request, bool sent)
{
    return pe_progress_carried(request->watch->socket, &request->watch->passed, sent);
}

void pe_access_log_begin(pe_request *request)
{
    if (request->service->settings->access_log)
        request->sent_before = carried(request, true);
}

/* The body of an answer that was sent whole and whose length was known; else what has been
 * acknowledged of it, header included. */
static uint64_t bytes_of(const pe_request *request, bool aborted)
{
    const bool known = request->reply_bytes != UINT64_MAX;
    if (!aborted && request->method == PE_METHOD_HEAD)
        return 0;
    if (!aborted && known)
        return request->reply_bytes;
    if (request->stage != PE_STAGE_ANSWERED)
        return 0;
    const uint64_t sent = carried(request, !aborted);
    return sent > request->sent_before ? sent - request->sent_before : 0;
}

/* ---- fields ---- */

/* Of W3C Trace Context: version "00", trace id, parent id and flags. */
static bool is_traceparent(const char *text)
{
    static const char hex[] = "0123456789abcdef";
    return text != NULL && strlen(text) == 55 && strncmp(text, "00-", 3) == 0 &&
           strspn(text + 3, hex) == 32 && text[35] == '-' && strspn(text + 36, hex) == 16 &&
           text[52] == '-' && strspn(text + 53, hex) == 2 && strspn(text + 3, "0") < 32 &&
           strspn(text + 36, "0") < 16;
}

/* NULL: there is none. */
static const char *field(const pe_request *request, const char *name)
{
    return request->connection == NULL
               ? NULL
               : MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

unsigned pe_access_log_status(const pe_request *request)
{
    const bool late = pe_watchdog_is_leaving(request->watch);
    if (request->reply.http_status == 0 && late)
        return (unsigned)pe_status_http(PE_TIMEOUT);
    return request->reply.http_status;
}

/* ---- formats ---- */

/* A quoted field: quotes, backslashes and what is not printable ASCII become \xhh. */
static void add_quoted(pe_buffer *out, const char *text)
{
    pe_buffer_str(out, " \"");
    for (const char *c = text != NULL ? text : "-"; *c != '\0'; c++) {
        if (*c < ' ' || *c > '~' || *c == '"' || *c == '\\')
            pe_buffer_format(out, "\\x%02x", (unsigned char)*c);
        else
            pe_buffer_add(out, c, 1);
    }
    pe_buffer_str(out, "\"");
}

static void add_request_line(pe_buffer *out, const pe_request *request)
{
    pe_buffer line = {0};
    if (*request->method_text == '\0' && *request->target == '\0') {
        add_quoted(out, NULL); /* none has arrived */
        return;
    }
    pe_buffer_format(&line, "%s %s HTTP/%s", request->method_text, request->target,
                     request->takes_interim ? "1.1" : "1.0");
    add_quoted(out, pe_buffer_text(&line));
    pe_buffer_free(&line);
}

#define TEXT_IF(member, value)                                                                     \
    {                                                                                              \
        (value) != NULL ? PE_LOG_TEXT : PE_LOG_NONE, member, .text = (value)                       \
    }

static void log_line(const pe_request *request, const access_line *line)
{
    const char *key = request->client.key != NULL ? request->client.key->name : NULL;
    if (strcmp(request->service->settings->access_log_format, "combined") == 0) {
        /* The combined format of Apache and nginx. */
        char when[64];
        struct tm utc;
        const time_t now = time(NULL);
        pe_buffer text = {0};
        gmtime_r(&now, &utc);
        strftime(when, sizeof when, "%d/%b/%Y:%H:%M:%S +0000", &utc);
        pe_buffer_format(&text, "%s - %s [%s]", line->client, key != NULL ? key : "-", when);
        add_request_line(&text, request);
        pe_buffer_format(&text, " %03u %" PRIu64, line->status, line->bytes);
        add_quoted(&text, field(request, "Referer"));
        add_quoted(&text, field(request, "User-Agent"));
        pe_buffer_str(&text, "\n");
        pe_log_access_line(&text);
        pe_buffer_free(&text);
    } else {
        const char *parent = field(request, "traceparent");
        const char *cache = request->cache_missed ? "miss" : request->cache_hit ? "hit" : NULL;
        parent = is_traceparent(parent) ? parent : NULL;
        pe_log_access(
            (pe_log_member[]){PE_TEXT("client", line->client),
                              TEXT_IF("key", key),
                              PE_TEXT("method", request->method_text),
                              PE_TEXT("target", request->target),
                              PE_NUMBER("status", line->status),
                              {PE_LOG_REAL, "ms", .real = line->ms},
                              PE_TEXT("request_id", request->id),
                              TEXT_IF("traceparent", parent),
                              PE_NUMBER("bytes", line->bytes),
                              {line->aborted ? PE_LOG_TRUE : PE_LOG_NONE, "aborted", .text = NULL},
                              TEXT_IF("cache", cache),
                              {0}});
    }
}

void pe_access_log_end(const pe_request *request, enum MHD_RequestTerminationCode code)
{
    if (!request->service->settings->access_log)
        return;
    const bool aborted = code != MHD_REQUEST_TERMINATED_COMPLETED_OK;
    access_line line = {
        .status = pe_access_log_status(request),
        .aborted = aborted,
        .bytes = bytes_of(request, aborted),
        .ms = (double)(pe_clock() - request->started) / PE_NANOSECONDS_PER_MS,
    };
    const pe_client_address client = pe_admission_client(request);
    pe_client_address_text(&client, line.client);
    log_line(request, &line);
}

void pe_access_log_unheard(pe_service *service, const pe_client_address *client, unsigned status)
{
    char nothing[] = "";
    const pe_request none = {.service = service, .target = nothing};
    access_line line = {.status = status};
    if (!service->settings->access_log)
        return;
    pe_client_address_text(client, line.client);
    log_line(&none, &line);
}
