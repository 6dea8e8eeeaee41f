/* SPDX-License-Identifier: MIT */
/* raw_reply.c - a problem written to the socket past the library. */
#include "http/reply/raw_reply.h"

#include <sys/socket.h>

#include "api/problem_json.h"
#include "base/buffer.h"
#include "http/reply/header_fields.h"

/* The header of a reply whose content is so long. */
static void write_header(const pe_service *service, pe_status status, size_t bytes, const char *id,
                         pe_buffer *out)
{
    const char *origin = service->settings->cors_origin;
    pe_buffer_format(out,
                     "HTTP/1.1 %d %s\r\nContent-Type: application/problem+json\r\n"
                     "Content-Length: %zu\r\nConnection: close\r\nCache-Control: no-store\r\n"
                     "X-Request-Id: %s\r\n",
                     pe_status_http(status), pe_status_title(status), bytes, id);
    if (*origin != '\0')
        pe_buffer_format(out,
                         "Access-Control-Allow-Origin: %s\r\n"
                         "Access-Control-Expose-Headers: %s\r\n",
                         origin, pe_header_fields_exposed);
    pe_buffer_str(out, "\r\n");
}

void pe_raw_reply(pe_service *service, int socket, const pe_problem *problem, const char *instance,
                  const char *id)
{
    pe_buffer content = {0}, message = {0};
    char made[PE_REQUEST_ID_BYTES];
    if (id == NULL) {
        pe_request_id_make(made);
        id = made;
    }
    pe_service_count_problem(service, problem->status);
    pe_problem_json(problem, instance, id, false, &content);
    write_header(service, problem->status, content.bytes, id, &message);
    pe_buffer_add(&message, content.data, content.bytes);
    if (!content.failed && !message.failed)
        /* Whether it arrives is the network's affair; the connection ends either way. */
        (void)!send(socket, message.data, message.bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
    pe_buffer_free(&content);
    pe_buffer_free(&message);
}
