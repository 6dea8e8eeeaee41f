/* SPDX-License-Identifier: MIT */
/* reply.c - decides the reply to a request, and queues it. */
#include "http/reply/reply.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "api/documents.h"
#include "api/query.h"
#include "base/array.h"
#include "cache/cache.h"
#include "formats/format.h"
#include "http/request/admission.h"

#define RETRY_AFTER_SECONDS "1"

/* ---- what clients with keys and rates get ---- */

/* What one may have by a key, a cache may not give to those who have none (RFC 9111, 3.5: "public"
 * would let it). */
static void make_private(struct MHD_Response *response)
{
    static const char name[] = "Cache-Control", everybody[] = "public";
    char value[64];
    const char *found = MHD_get_response_header(response, name);
    if (found == NULL || strncmp(found, everybody, sizeof everybody - 1) != 0)
        return;
    snprintf(value, sizeof value, "private%s", found + sizeof everybody - 1);
    MHD_del_response_header(response, name, found);
    pe_header_fields_add(response, name, value);
}

/* ---- replies ---- */

/* The last step of every reply with a response of its own, which is taken: fields that all replies
 * have. NULL: no memory. */
static pe_outcome decide(pe_request *request, unsigned http_status, struct MHD_Response *response)
{
    if (response == NULL)
        return PE_REPLIED;
    if (request->watch->place != PE_PLACE_OPERATOR) /* web pages have no business there */
        pe_header_fields_add_public(request->service, response);
    pe_header_fields_add(response, "X-Request-Id", pe_request_id(request));
    if (atomic_load(&request->service->draining))
        pe_header_fields_add(response, "Connection", "close");
    if (request->client.limited) {
        pe_buffer policy = {0}, left = {0};
        pe_admission_write_limits(request, &policy, &left);
        pe_header_fields_add(response, "RateLimit-Policy", pe_buffer_text(&policy));
        pe_header_fields_add(response, "RateLimit", pe_buffer_text(&left));
        pe_buffer_free(&policy);
        pe_buffer_free(&left);
    }
    if (request->client.keyed != NULL)
        make_private(response);
    pe_reply_drop(request);
    request->reply = (pe_reply){.http_status = http_status, .response = response};
    return PE_REPLIED;
}

struct MHD_Response *pe_response_of(pe_buffer *content)
{
    struct MHD_Response *response = MHD_create_response_from_buffer_with_free_callback_cls(
        content->bytes, content->data, free, content->data);
    if (response == NULL)
        free(content->data);
    *content = (pe_buffer){0};
    return response;
}

static pe_outcome decide_bytes(pe_request *request, unsigned http_status, size_t bytes,
                               struct MHD_Response *response, const pe_field *fields)
{
    request->reply_bytes = bytes;
    pe_header_fields_add_all(response, fields);
    return decide(request, http_status, response);
}

/* The reply of a buffer, whose bytes are taken. */
static pe_outcome decide_content(pe_request *request, unsigned http_status, pe_buffer *content,
                                 const pe_field *fields)
{
    const size_t bytes = content->bytes;
    return decide_bytes(request, http_status, bytes, pe_response_of(content), fields);
}

/* A terminal's prompt is to be on a line of its own. */
static void end_line(pe_buffer *content)
{
    if (content->bytes > 0 && content->data[content->bytes - 1] != '\n')
        pe_buffer_str(content, "\n");
}

#define PROBLEM_TYPE "application/problem+json"

/* Where a picture was asked for, the picture of the problem's sentence; NULL: none was, or who asks
 * names the media type of problems. */
static const char *draw_problem(const pe_request *request, const pe_problem *problem,
                                pe_buffer *out)
{
    pe_problem none;
    const pe_format *format = NULL;
    pe_figure_options options;
    const char *accept = request->header[PE_HEADER_ACCEPT];
    pe_buffer sentence = {0};
    const pe_status status = problem->status;
    /* A refusal that has to cost nothing, or for which memory is short. */
    const bool brief = pe_status_is_ours(status) || status == PE_RATE_LIMITED ||
                       status == PE_UNAUTHORIZED || status == PE_FORBIDDEN;
    if (request->resource == NULL || request->method == PE_METHOD_POST ||
        (accept != NULL && strstr(accept, PROBLEM_TYPE) != NULL) || brief ||
        !pe_query_figure_peek(request->query, &format, &options))
        return NULL;
    if (format == NULL && pe_format_negotiate(accept, NULL, NULL, &format, &none) != PE_OK)
        return NULL;
    if (!format->is_figure)
        return NULL;
    for (const char *c = problem->detail; *c != '\0'; c++) /* letters of pictures, and sound XML */
        pe_buffer_add(&sentence, *c >= ' ' && *c <= '~' ? c : "?", 1);
    format->sentence(&options, pe_status_title(status), pe_buffer_text(&sentence), out);
    pe_buffer_free(&sentence);
    if (out->failed)
        pe_buffer_free(out);
    return out->bytes > 0 ? format->media_type : NULL;
}

/* A browser that finds nothing is shown a page; NULL: it is none. */
static const char *write_page(const pe_request *request, const pe_problem *problem, pe_buffer *out)
{
    const char *title = pe_status_title(problem->status);
    if (problem->status != PE_NOT_FOUND || request->watch->place == PE_PLACE_OPERATOR ||
        !pe_format_prefers(request->header[PE_HEADER_ACCEPT], "text/html", "application/json"))
        return NULL;
    pe_buffer_format(out,
                     "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><meta "
                     "name=\"viewport\" content=\"width=device-width\"><title>%s</title>\n"
                     "<h1>%s</h1>\n<p>",
                     title, title);
    for (const char *c = problem->detail; *c != '\0'; c++)
        pe_buffer_format(out, *c == '<' || *c == '&' ? "&#%d;" : "%c", *c);
    pe_buffer_str(out, "</p>\n<p><a href=\"/\">posenc</a>: <a href=\"/docs\">all paths and their "
                       "parameters</a></p>\n");
    return "text/html; charset=utf-8";
}

/* What the header of a reply says of its problem. */
typedef struct problem_header {
    char wait[24];
    pe_field fields[10];
} problem_header;

/* range: Content-Range, where the range is the problem. */
static const pe_field *tell_problem(const pe_problem *problem, const char *type, const char *range,
                                    problem_header *out)
{
    const pe_status status = problem->status;
    const char *wait = status == PE_OVERLOADED ? RETRY_AFTER_SECONDS : out->wait;
    const bool again = status == PE_OVERLOADED || status == PE_RATE_LIMITED;
    snprintf(out->wait, sizeof out->wait, "%" PRIu64, problem->retry_after);
    const pe_field fields[PE_LEN(out->fields)] = {
        {"Content-Type", type},
        {"X-Content-Type-Options", "nosniff"},
        {"Content-Security-Policy", pe_header_fields_policy(type)},
        {"Cache-Control", "no-store"},
        {"Allow", status == PE_METHOD_NOT_ALLOWED ? problem->allow : NULL},
        {"Accept-Post", status == PE_UNSUPPORTED_MEDIA_TYPE ? problem->allow : NULL},
        {"WWW-Authenticate", status == PE_UNAUTHORIZED ? problem->allow : NULL},
        {"Retry-After", again ? wait : NULL},
        {"Content-Range", status == PE_RANGE_NOT_SATISFIABLE ? range : NULL},
    };
    memcpy(out->fields, fields, sizeof fields);
    return out->fields;
}

void pe_reply_problem(pe_request *request, const pe_problem *problem)
{
    problem_header header = {0};
    pe_buffer content = {0};
    pe_service_count(&request->service->counters.problems[problem->status]);
    const char *type = draw_problem(request, problem, &content);
    if (type == NULL)
        type = write_page(request, problem, &content);
    const pe_field *fields =
        tell_problem(problem, type != NULL ? type : PROBLEM_TYPE, request->range.text, &header);
    if (type == NULL) {
        pe_problem_json(problem, request->path, pe_request_id(request), request->json_body,
                        &content);
        end_line(&content);
    }
    if (content.failed)
        pe_buffer_free(&content);
    else
        decide_content(request, (unsigned)pe_status_http(problem->status), &content, fields);
}

/* ---- past the library ---- */

static void write_fields(const pe_field *fields, pe_buffer *out)
{
    for (; fields->name != NULL; fields++)
        if (fields->value != NULL && *fields->value != '\0')
            pe_buffer_format(out, "%s: %s\r\n", fields->name, fields->value);
}

void pe_reply_raw(pe_service *service, int socket, gnutls_session_t session,
                  const pe_problem *problem, pe_request *request, bool head)
{
    char made[PE_REQUEST_ID_BYTES];
    problem_header header = {0};
    pe_buffer content = {0}, message = {0};
    const char *origin = service->settings->cors_origin;
    pe_service_count(&service->counters.problems[problem->status]);
    if (request == NULL)
        pe_request_id_make(made);
    const char *id = request != NULL ? pe_request_id(request) : made;
    pe_problem_json(problem, request != NULL ? request->path : "", id, false, &content);
    pe_buffer_format(&message, "HTTP/1.1 %d %s\r\nContent-Length: %zu\r\nConnection: close\r\n",
                     pe_status_http(problem->status), pe_status_title(problem->status),
                     content.bytes);
    write_fields(tell_problem(problem, PROBLEM_TYPE, NULL, &header), &message);
    write_fields(PE_FIELDS({"X-Request-Id", id}, {"Access-Control-Allow-Origin", origin},
                           {"Access-Control-Expose-Headers",
                            *origin != '\0' ? pe_header_fields_exposed : NULL}),
                 &message);
    pe_buffer_str(&message, "\r\n");
    if (!head)
        pe_buffer_add(&message, content.data, content.bytes);
    /* Whether it arrives is the network's affair; the connection ends either way. */
    if (!content.failed && !message.failed && session != NULL) {
        (void)gnutls_record_send(session, message.data, message.bytes);
        (void)gnutls_bye(session, GNUTLS_SHUT_WR);
    } else if (!content.failed && !message.failed) {
        (void)!send(socket, message.data, message.bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
    shutdown(socket, SHUT_WR);
    pe_buffer_free(&content);
    pe_buffer_free(&message);
}

/* ---- documents ---- */

pe_outcome pe_reply_content(pe_request *request, pe_status status, pe_buffer *content,
                            const pe_field *fields, pe_problem *why)
{
    if (status == PE_OK && content->failed)
        status = pe_fail_memory(why);
    if (status == PE_OK)
        return decide_content(request, MHD_HTTP_OK, content, fields);
    pe_buffer_free(content);
    return status;
}

pe_outcome pe_reply_json(pe_request *request, pe_status status, pe_buffer *content,
                         const char *cache_control, pe_problem *why)
{
    end_line(content);
    return pe_reply_content(
        request, status, content,
        PE_FIELDS({"Content-Type", "application/json"}, {"Cache-Control", cache_control}), why);
}

static void release_entry(void *entry)
{
    pe_cache_entry_unref(entry);
}

struct MHD_Response *pe_response_held(const void *data, size_t bytes, pe_cache_entry *entry)
{
    /* The library's argument lacks a const that its documentation promises. */
    struct MHD_Response *response = MHD_create_response_from_buffer_with_free_callback_cls(
        bytes, (void *)(uintptr_t)data, release_entry, entry);
    if (response == NULL)
        pe_cache_entry_unref(entry);
    return response;
}

pe_outcome pe_reply_held(pe_request *request, const void *data, size_t bytes, pe_cache_entry *entry,
                         const pe_field *fields)
{
    return decide_bytes(request, MHD_HTTP_OK, bytes, pe_response_held(data, bytes, entry), fields);
}

pe_outcome pe_reply_empty(pe_request *request, unsigned http_status, const pe_field *fields)
{
    return decide_bytes(request, http_status, 0, pe_response_held(NULL, 0, NULL), fields);
}

/* ---- replies whose content is numbers ---- */

bool pe_reply_fits_location(const pe_request *request, const pe_metadata *metadata)
{
    return metadata->location == NULL || strlen(metadata->location) <= request->location_room;
}

/* What If-None-Match: * names is known here only, since content decides the coding. */
pe_outcome pe_reply_representation(pe_request *request, struct MHD_Response *response,
                                   const pe_metadata *metadata, const char *timing)
{
    if (response == NULL)
        return PE_REPLIED;
    const char *tags = request->header[PE_HEADER_IF_NONE_MATCH];
    if (tags != NULL && request->method != PE_METHOD_POST &&
        pe_etag_matches(tags, metadata->etag)) {
        pe_reply_not_modified(request, metadata);
        MHD_destroy_response(response);
        return PE_REPLIED;
    }
    const bool part = request->range.kind == PE_RANGE_PART;
    pe_metadata fitting = *metadata;
    if (!pe_reply_fits_location(request, metadata))
        fitting.location = NULL;
    pe_header_fields_add_metadata(response, request->method, &fitting);
    pe_header_fields_add(response, "Server-Timing", timing);
    pe_header_fields_add(response, "Content-Range", part ? request->range.text : NULL);
    return decide(request, part ? MHD_HTTP_PARTIAL_CONTENT : MHD_HTTP_OK, response);
}

pe_outcome pe_reply_not_modified(pe_request *request, const pe_metadata *metadata)
{
    const pe_field fields[] = {
        {"ETag", metadata->etag},
        {"Content-Location", pe_reply_fits_location(request, metadata) ? metadata->location : NULL},
        {"Vary", "Accept, Accept-Encoding"},
        {"Cache-Control", pe_header_fields_cache_control(request->method, metadata)},
        {0},
    };
    return pe_reply_empty(request, MHD_HTTP_NOT_MODIFIED, fields);
}

/* ---- its end ---- */

enum MHD_Result pe_reply_send(pe_request *request)
{
    pe_reply *reply = &request->reply;
    if (reply->response == NULL)
        return MHD_NO;
    enum MHD_Result queued =
        MHD_queue_response(request->connection, reply->http_status, reply->response);
    if (reply->entry == NULL)
        MHD_destroy_response(reply->response); /* the library holds it now */
    reply->response = NULL;
    return queued;
}

void pe_reply_drop(pe_request *request)
{
    pe_reply *reply = &request->reply;
    if (reply->entry != NULL)
        pe_cache_entry_unref(reply->entry);
    else if (reply->response != NULL)
        MHD_destroy_response(reply->response);
    *reply = (pe_reply){.http_status = reply->http_status};
}
