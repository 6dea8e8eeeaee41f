/* SPDX-License-Identifier: MIT */
/* raw_reply.c - a problem written to the socket past the library. */
#include "http/reply/raw_reply.h"

#include <sys/socket.h>

#include "api/documents.h"
#include "base/buffer.h"
#include "http/reply/header_fields.h"

/* The header of a reply whose content is so long. */
static void write_header(const pe_service *service, pe_status status, size_t bytes, const char *id,
                         pe_buffer *out)
{
    const char *origin = service->settings->cors_origin;
    pe_buffer_format(
        out,
        "HTTP/1.1 %d %s\r\nContent-Type: application/problem+json\r\n"
        "X-Content-Type-Options: nosniff\r\n"
        "Content-Security-Policy: default-src 'none'\r\nContent-Length: %zu\r\nConnection: "
        "close\r\nCache-Control: no-store\r\n"
        "X-Request-Id: %s\r\n%s",
        pe_status_http(status), pe_status_title(status), bytes, id,
        status == PE_OVERLOADED ? "Retry-After: 1\r\n" : "");
    if (*origin != '\0')
        pe_buffer_format(out,
                         "Access-Control-Allow-Origin: %s\r\n"
                         "Access-Control-Expose-Headers: %s\r\n",
                         origin, pe_header_fields_exposed);
    pe_buffer_str(out, "\r\n");
}

void pe_raw_reply(pe_service *service, pe_raw_way way, const pe_problem *problem,
                  const pe_raw_request *request)
{
    pe_buffer content = {0}, message = {0};
    pe_service_count(&service->counters.problems[problem->status]);
    pe_problem_json(problem, request->instance, request->id, false, &content);
    write_header(service, problem->status, content.bytes, request->id, &message);
    if (!request->head)
        pe_buffer_add(&message, content.data, content.bytes);
    if (!content.failed && !message.failed) {
        /* Whether it arrives is the network's affair; the connection ends either way. */
        if (way.session != NULL) {
            (void)gnutls_record_send(way.session, message.data, message.bytes);
            (void)gnutls_bye(way.session, GNUTLS_SHUT_WR);
        } else {
            (void)!send(way.socket, message.data, message.bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
        }
    }
    shutdown(way.socket, SHUT_WR);
    pe_buffer_free(&content);
    pe_buffer_free(&message);
}

void pe_raw_reply_to_unknown(pe_service *service, pe_raw_way way, const pe_problem *problem)
{
    char id[PE_REQUEST_ID_BYTES];
    pe_request_id_make(id);
    pe_raw_reply(service, way, problem, &(pe_raw_request){.instance = "", .id = id});
}

void pe_raw_reply_late(pe_service *service, pe_raw_way way)
{
    pe_problem why;
    const pe_settings *settings = service->settings;
    pe_service_count(&service->counters.timeouts);
    pe_fail(&why, PE_TIMEOUT, "",
            "the request did not arrive in time: header_deadline_ms is %lld, request_deadline_ms "
            "%lld, and min_rate_bytes %lld a second",
            (long long)settings->header_deadline_ms, (long long)settings->request_deadline_ms,
            (long long)settings->min_rate_bytes);
    pe_raw_reply_to_unknown(service, way, &why);
}
