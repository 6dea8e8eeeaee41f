/* SPDX-License-Identifier: MIT */
/* reply.c - builds and queues every answer, with the header fields that all have in common. */
#include "http/reply/reply.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "api/problem_json.h"

#define RETRY_AFTER_SECONDS "1"

/* What the library's response and its dozen header fields weigh beside our own. */
#define RESPONSE_BYTES 3072

/* From this size on malloc may take whole pages from the system. */
#define MAPPED_BYTES 131072
#define PAGE_BYTES   4096

static const char exposed[] = "ETag, X-Request-Id, X-Tensor-Shape, X-Tensor-Dtype, Server-Timing, "
                              "Content-Location, Content-Encoding, Content-Range, Accept-Ranges, "
                              "Repr-Digest, Retry-After, Allow, Accept-Post";

static void add(struct MHD_Response *response, const char *name, const char *value)
{
    if (value != NULL && *value != '\0')
        MHD_add_response_header(response, name, value);
}

static void add_all(struct MHD_Response *response, const pe_field *fields)
{
    for (; fields != NULL && fields->name != NULL; fields++)
        add(response, fields->name, fields->value);
}

static void add_cors(const pe_service *service, struct MHD_Response *response)
{
    const char *origin = service->settings->cors_origin;
    if (*origin == '\0')
        return;
    add(response, "Access-Control-Allow-Origin", origin);
    add(response, "Access-Control-Expose-Headers", exposed);
}

static void add_facts(struct MHD_Response *response, const pe_metadata *metadata)
{
    const pe_field fields[] = {
        {"Content-Type", metadata->media_type},
        {"ETag", metadata->etag},
        {"Content-Location", metadata->location},
        {"Vary", "Accept, Accept-Encoding"},
        {"Content-Encoding", metadata->coding},
        {"Accept-Ranges", metadata->ranges ? "bytes" : NULL},
        {"X-Tensor-Shape", metadata->shape},
        {"X-Tensor-Dtype", *metadata->shape != '\0' ? metadata->dtype : NULL},
        {0},
    };
    add_all(response, fields);
}

static const char *cache_control(pe_method method, const pe_metadata *metadata)
{
    if (*metadata->etag == '\0')
        return "no-store";
    if (method == PE_METHOD_POST)
        return NULL;
    return metadata->lasts ? "public, max-age=31536000, immutable" : "public, no-cache";
}

/* ---- answers ---- */

static void free_data(void *data)
{
    free(data);
}

pe_status pe_stored_response_make(pe_service *service, char *data, size_t bytes,
                                  pe_metadata *metadata, pe_stored_response **out, pe_problem *why)
{
    pe_stored_response *answer = calloc(1, sizeof *answer);
    struct MHD_Response *shared =
        answer == NULL
            ? NULL
            : MHD_create_response_from_buffer_with_free_callback_cls(bytes, data, free_data, data);
    if (shared == NULL) {
        free(data);
        free(answer);
        return pe_fail_memory(why);
    }
    add_cors(service, shared);
    add_facts(shared, metadata);
    add(shared, "Cache-Control", cache_control(PE_METHOD_GET, metadata));
    add(shared, "Server-Timing", "cache;desc=hit");
    answer->data = data;
    answer->bytes = bytes;
    answer->metadata = *metadata;
    answer->shared = shared;
    metadata->location = NULL;
    *out = answer;
    return PE_OK;
}

size_t pe_stored_response_weight(size_t bytes, const pe_metadata *metadata)
{
    const size_t rounding = bytes >= MAPPED_BYTES ? PAGE_BYTES : PE_CACHE_BLOCK_BYTES;
    const size_t location = metadata->location != NULL ? strlen(metadata->location) : 0;
    const size_t digest = PE_DIGEST_BYTES + PE_CACHE_BLOCK_BYTES;
    return sizeof(pe_stored_response) + bytes + rounding + 2 * location + digest + RESPONSE_BYTES;
}

void pe_stored_response_free(void *value)
{
    pe_stored_response *answer = value;
    MHD_destroy_response(answer->shared); /* frees data when the last connection has sent it */
    free(answer->metadata.location);
    free(atomic_load(&answer->digest));
    free(answer);
}

/* ---- replies ---- */

/* The last step of every reply that is built for one request. response may be NULL: no memory. */
static void decide(pe_request *request, unsigned http_status, struct MHD_Response *response)
{
    if (response == NULL)
        return;
    add_cors(request->service, response);
    add(response, "X-Request-Id", pe_request_id(request));
    if (atomic_load(&request->service->draining))
        add(response, "Connection", "close");
    pe_reply_drop(request);
    request->reply = (pe_reply){.http_status = http_status, .response = response};
}

static struct MHD_Response *of_buffer(pe_buffer *content)
{
    struct MHD_Response *response = MHD_create_response_from_buffer_with_free_callback_cls(
        content->bytes, content->data, free_data, content->data);
    if (response == NULL)
        pe_buffer_free(content);
    *content = (pe_buffer){0};
    return response;
}

void pe_reply_problem(pe_request *request, const pe_problem *problem)
{
    pe_buffer content = {0};
    pe_problem_json(problem, request->path, pe_request_id(request), request->json_body, &content);
    if (content.failed) {
        pe_buffer_free(&content);
        return;
    }
    request->answer_bytes = content.bytes;
    const pe_field fields[] = {
        {"Content-Type", "application/problem+json"},
        {"Cache-Control", "no-store"},
        {"Allow", problem->status == PE_METHOD_NOT_ALLOWED ? problem->allow : NULL},
        {"Accept-Post", problem->status == PE_UNSUPPORTED_MEDIA_TYPE ? problem->allow : NULL},
        {"Retry-After", problem->status == PE_OVERLOADED ? RETRY_AFTER_SECONDS : NULL},
        {"Content-Range", problem->status == PE_RANGE_NOT_SATISFIABLE ? request->range.text : NULL},
        {0},
    };
    struct MHD_Response *response = of_buffer(&content);
    if (response != NULL)
        add_all(response, fields);
    decide(request, (unsigned)pe_status_http(problem->status), response);
}

static void reply_no_memory(pe_request *request)
{
    pe_problem why;
    pe_fail_memory(&why);
    pe_reply_problem(request, &why);
}

void pe_reply_content(pe_request *request, unsigned http_status, pe_buffer *content,
                      const pe_field *fields)
{
    if (content->failed) {
        pe_buffer_free(content);
        reply_no_memory(request);
        return;
    }
    request->answer_bytes = content->bytes;
    struct MHD_Response *response = of_buffer(content);
    if (response != NULL)
        add_all(response, fields);
    decide(request, http_status, response);
}

void pe_reply_constant(pe_request *request, const void *data, size_t bytes, const pe_field *fields)
{
    /* The library's argument lacks a const that its documentation promises. */
    struct MHD_Response *response =
        MHD_create_response_from_buffer(bytes, (void *)(uintptr_t)data, MHD_RESPMEM_PERSISTENT);
    request->answer_bytes = bytes;
    if (response != NULL)
        add_all(response, fields);
    decide(request, MHD_HTTP_OK, response);
}

void pe_reply_empty(pe_request *request, unsigned http_status, const pe_field *fields)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    request->answer_bytes = 0;
    if (response != NULL)
        add_all(response, fields);
    decide(request, http_status, response);
}

/* The library writes the answer's header beside the request's, and ends the connection unanswered
 * where it does not fit: then the address is left out. */
static bool fits_location(const pe_request *request, const pe_metadata *metadata)
{
    return metadata->location == NULL || strlen(metadata->location) <= request->header_room;
}

static void decide_facts(pe_request *request, struct MHD_Response *response,
                         const pe_metadata *metadata, const char *timing)
{
    bool part = request->range.kind == PE_RANGE_PART;
    if (response != NULL) {
        pe_metadata fitting = *metadata;
        if (!fits_location(request, metadata))
            fitting.location = NULL;
        add_facts(response, &fitting);
        add(response, "Cache-Control", cache_control(request->method, metadata));
        add(response, "Server-Timing", timing);
        add(response, "Content-Range", part ? request->range.text : NULL);
    }
    decide(request, part ? MHD_HTTP_PARTIAL_CONTENT : MHD_HTTP_OK, response);
}

/* ---- digests: of the whole representation, as are all its fields ---- */

static void make_digest(pe_service *service, const char *data, size_t bytes,
                        char out[PE_DIGEST_BYTES])
{
    pe_digest_make(data, bytes, out);
    atomic_fetch_add_explicit(&service->counters.digests, 1, memory_order_relaxed);
}

/* That of a kept answer. Several may make it at once; one publishes it. NULL: memory is short. */
static const char *kept_digest(pe_service *service, pe_stored_response *answer)
{
    char *kept = atomic_load_explicit(&answer->digest, memory_order_acquire);
    if (kept != NULL)
        return kept;
    char *made = malloc(PE_DIGEST_BYTES);
    if (made == NULL)
        return NULL;
    make_digest(service, answer->data, answer->bytes, made);
    if (atomic_compare_exchange_strong(&answer->digest, &kept, made))
        return made;
    free(made);
    return kept;
}

static void release_entry(void *entry)
{
    pe_cache_entry_unref(entry);
}

void pe_reply_entry(pe_request *request, pe_cache_entry *entry, const char *timing)
{
    pe_stored_response *answer = pe_cache_entry_value(entry);
    bool part = request->range.kind == PE_RANGE_PART;
    size_t first = part ? (size_t)request->range.first : 0;
    size_t bytes = part ? (size_t)request->range.bytes : answer->bytes;
    request->answer_bytes = bytes;
    bool anybody = timing == NULL && !request->id_sent && request->method != PE_METHOD_POST &&
                   !part && !request->wants_digest && !atomic_load(&request->service->draining) &&
                   fits_location(request, &answer->metadata);
    if (anybody) {
        pe_reply_drop(request);
        request->reply = (pe_reply){MHD_HTTP_OK, answer->shared, entry};
        return;
    }
    struct MHD_Response *response = MHD_create_response_from_buffer_with_free_callback_cls(
        bytes, answer->data + first, release_entry, entry);
    if (response != NULL && request->wants_digest)
        add(response, "Repr-Digest", kept_digest(request->service, answer));
    decide_facts(request, response, &answer->metadata, timing != NULL ? timing : "cache;desc=hit");
    if (response == NULL)
        pe_cache_entry_unref(entry);
}

void pe_reply_rendered(pe_request *request, char *data, size_t bytes, const pe_metadata *metadata,
                       const char *timing)
{
    char digest[PE_DIGEST_BYTES];
    request->answer_bytes = bytes;
    struct MHD_Response *response =
        MHD_create_response_from_buffer_with_free_callback_cls(bytes, data, free_data, data);
    if (response == NULL) {
        free(data);
    } else if (request->wants_digest && request->range.kind == PE_RANGE_WHOLE) {
        make_digest(request->service, data, bytes, digest);
        add(response, "Repr-Digest", digest);
    }
    decide_facts(request, response, metadata, timing);
}

/*
 * HEAD of a length that is not known goes out without one, on a connection that ends: told to send
 * chunks, the library would send the last one, which a HEAD answer does not have.
 */
void pe_reply_stream(pe_request *request, const pe_body_source *pull, const pe_metadata *metadata,
                     const char *timing)
{
    bool known = pull->bytes != UINT64_MAX;
    /* Chunks are made in the connection's memory: the block would be held for nothing. */
    const size_t block = known || !request->takes_interim ? pull->block : 1;
    struct MHD_Response *response = MHD_create_response_from_callback(
        known ? pull->bytes : MHD_SIZE_UNKNOWN, block, pull->read, pull->context, pull->free);
    request->answer_bytes = pull->bytes;
    if (response == NULL)
        pull->free(pull->context);
    else if (request->method == PE_METHOD_HEAD && !known)
        MHD_set_response_options(response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
    decide_facts(request, response, metadata, timing);
}

void pe_reply_not_modified(pe_request *request, const pe_metadata *metadata)
{
    const pe_field fields[] = {
        {"ETag", metadata->etag},
        {"Content-Location", fits_location(request, metadata) ? metadata->location : NULL},
        {"Vary", "Accept, Accept-Encoding"},
        {"Cache-Control", cache_control(request->method, metadata)},
        {0},
    };
    pe_reply_empty(request, MHD_HTTP_NOT_MODIFIED, fields);
}

static void count_answer(pe_service *service, unsigned http_status)
{
    atomic_fetch_add_explicit(&service->counters.by_class[http_status / 100 % 6], 1,
                              memory_order_relaxed);
}

enum MHD_Result pe_reply_send(pe_request *request)
{
    pe_reply *reply = &request->reply;
    if (reply->response == NULL)
        return MHD_NO;
    count_answer(request->service, reply->http_status);
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

/* ---- past the library ---- */

void pe_raw_reply(pe_service *service, int socket, const pe_problem *problem, const char *instance,
                  const char *id)
{
    pe_buffer content = {0}, message = {0};
    char made[PE_ID_BYTES];
    if (id == NULL) {
        pe_id_make(made);
        id = made;
    }
    count_answer(service, (unsigned)pe_status_http(problem->status));
    pe_problem_json(problem, instance, id, false, &content);
    pe_buffer_format(&message,
                     "HTTP/1.1 %d %s\r\nContent-Type: application/problem+json\r\n"
                     "Content-Length: %zu\r\nConnection: close\r\nCache-Control: no-store\r\n"
                     "X-Request-Id: %s\r\n",
                     pe_status_http(problem->status), pe_status_title(problem->status),
                     content.bytes, id);
    if (*service->settings->cors_origin != '\0')
        pe_buffer_format(&message,
                         "Access-Control-Allow-Origin: %s\r\n"
                         "Access-Control-Expose-Headers: %s\r\n",
                         service->settings->cors_origin, exposed);
    pe_buffer_str(&message, "\r\n");
    pe_buffer_add(&message, content.data, content.bytes);
    if (!content.failed && !message.failed)
        /* Whether it arrives is the network's affair; the connection ends either way. */
        (void)!send(socket, message.data, message.bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
    pe_buffer_free(&content);
    pe_buffer_free(&message);
}
