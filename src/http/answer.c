/* SPDX-License-Identifier: MIT */
/* answer.c - the handler of the numeric resources. */
#include "http/answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "http/feed.h"
#include "http/numeric.h"
#include "http/thread.h"

/* What takes longer than about a millisecond is left to a worker: this many body bytes to parse,
 * this many elements to compute and print. Elements of a transform may each be a long sum. */
#define HEAVY_BODY_BYTES         32768
#define HEAVY_ELEMENTS           65536
#define HEAVY_TRANSFORM_ELEMENTS 4096

/* A transform's answer up to this size is rendered whole, so that its length is known. */
#define WHOLE_BYTES 1048576

static const char *const json_only = "application/json";
static const char *const json_and_binary =
    "application/json, application/x-npy, application/octet-stream";

/* ---- what the body is ---- */

/* The media type without parameters, lower case; "" when it does not fit. */
static void media_type(const char *content_type, char *out, size_t room)
{
    size_t bytes = strcspn(content_type, "; \t");
    if (bytes >= room)
        bytes = 0;
    for (size_t i = 0; i < bytes; i++)
        out[i] =
            (char)(content_type[i] | (content_type[i] >= 'A' && content_type[i] <= 'Z' ? 32 : 0));
    out[bytes] = '\0';
}

/* One of the types that the resource reads, as a constant, or NULL. */
static const char *known_type(const pe_request *request)
{
    static const char *const types[] = {"application/json", "application/x-npy",
                                        "application/octet-stream"};
    const char *header = request->header[PE_HEADER_CONTENT_TYPE];
    size_t n = request->resource->kind == PE_TRANSFORM ? PE_LEN(types) : 1;
    char given[64];
    media_type(header != NULL ? header : "", given, sizeof given);
    for (size_t i = 0; i < n; i++)
        if (strcmp(given, types[i]) == 0)
            return types[i];
    return NULL;
}

static pe_status unsupported(const pe_request *request, pe_problem *why, const char *what,
                             const char *got)
{
    const char *accepts = request->resource->kind == PE_TRANSFORM ? json_and_binary : json_only;
    pe_fail(why, PE_UNSUPPORTED_MEDIA_TYPE, "", "%s must be one of %s, got %.100s", what, accepts,
            got != NULL ? got : "none");
    snprintf(why->allow, sizeof why->allow, "%s", accepts);
    return why->status;
}

static pe_status read_post(pe_request *request, pe_wanted *wanted, pe_problem *why)
{
    const char *coding = request->header[PE_HEADER_CONTENT_ENCODING];
    if (coding != NULL && strcasecmp(coding, "identity") != 0)
        return unsupported(request, why, "a body without Content-Encoding; Content-Type", coding);
    wanted->media_type = known_type(request);
    if (wanted->media_type == NULL)
        return unsupported(request, why, "Content-Type", request->header[PE_HEADER_CONTENT_TYPE]);
    request->json_body = strcmp(wanted->media_type, json_only) == 0;
    if (request->json_body && request->query_bytes > 0)
        return pe_fail(why, PE_MALFORMED_REQUEST, "",
                       "parameters belong either in the JSON body or in the query, not in both");
    wanted->body = &request->body;
    wanted->shape = request->header[PE_HEADER_X_TENSOR_SHAPE];
    wanted->dtype = request->header[PE_HEADER_X_TENSOR_DTYPE];
    return PE_OK;
}

/* ---- from decided to answered ---- */

static void fail(pe_request *request, const pe_problem *why)
{
    pe_reply_problem(request, why);
}

static void timing_of_miss(const pe_numeric *numeric, char *out, size_t room)
{
    snprintf(out, room, "cache;desc=miss, compute;dur=%.3f, encode;dur=%.3f",
             numeric->compute * 1e3, numeric->encode * 1e3);
}

static void front_of(const pe_request *request, pe_front *out)
{
    pe_front_make(request->target, request->header[PE_HEADER_ACCEPT],
                  request->header[PE_HEADER_ACCEPT_ENCODING], out);
}

static void answer_from_cache(pe_request *request, pe_numeric *numeric)
{
    pe_problem why;
    pe_entry *entry;
    int hit = 0;
    if (pe_numeric_entry(numeric, &entry, &hit, &why) != PE_OK) {
        fail(request, &why);
        return;
    }
    if (request->method != PE_METHOD_POST) {
        pe_front front;
        front_of(request, &front);
        pe_warm_learn(request->service->warm, &front, numeric->key.data, numeric->key.bytes);
    }
    char timing[96];
    timing_of_miss(numeric, timing, sizeof timing);
    pe_reply_entry(request, entry, hit ? NULL : timing);
}

static void answer_whole(pe_request *request, pe_numeric *numeric)
{
    pe_problem why;
    char *data, timing[96];
    size_t bytes;
    if (pe_numeric_render(numeric, &data, &bytes, &why) != PE_OK) {
        fail(request, &why);
        return;
    }
    timing_of_miss(numeric, timing, sizeof timing);
    pe_reply_rendered(request, data, bytes, &numeric->facts, timing);
}

/* Upper bound of the answer's bytes, or UINT64_MAX with *why filled. */
static uint64_t length_max(const pe_numeric *numeric, pe_problem *why)
{
    pe_stream *stream;
    if (pe_stream_make(&numeric->plan, &numeric->rendering, &stream, why) != PE_OK)
        return UINT64_MAX;
    uint64_t length = pe_stream_length_max(stream);
    pe_stream_free(stream);
    return length;
}

static void produce(pe_request *request)
{
    pe_thread_computes();
    pe_problem why = {0};
    pe_numeric *numeric = request->numeric;
    request->numeric = NULL;
    uint64_t length = length_max(numeric, &why);
    if (why.status != PE_OK) {
        fail(request, &why);
    } else if (pe_numeric_cacheable(numeric, length)) {
        answer_from_cache(request, numeric);
    } else if (length <= WHOLE_BYTES) {
        answer_whole(request, numeric);
    } else {
        pe_feed_reply(request, numeric);
        return; /* the stream has taken it */
    }
    pe_numeric_free(numeric);
}

/* ---- from asked to decided ---- */

static bool not_modified(const pe_request *request, const pe_facts *facts)
{
    const char *tags = request->header[PE_HEADER_IF_NONE_MATCH];
    return tags != NULL && *facts->etag != '\0' && request->method != PE_METHOD_POST &&
           pe_etag_matches(tags, facts->etag);
}

/* A stream is made while it is sent; all else here and now. */
static bool is_heavy(const pe_numeric *numeric)
{
    size_t most =
        numeric->ask.resource->kind == PE_TRANSFORM ? HEAVY_TRANSFORM_ELEMENTS : HEAVY_ELEMENTS;
    return numeric->elements > most;
}

static void answer(pe_request *request)
{
    pe_problem why;
    pe_wanted wanted = {
        .resource = request->resource,
        .query = request->query,
        .query_bytes = request->query_bytes,
        .accept = request->header[PE_HEADER_ACCEPT],
    };
    if (request->method == PE_METHOD_POST && read_post(request, &wanted, &why) != PE_OK) {
        fail(request, &why);
        return;
    }
    if (pe_numeric_decide(request->service, &wanted, &request->numeric, &why) != PE_OK) {
        fail(request, &why);
        return;
    }
    if (not_modified(request, &request->numeric->facts)) {
        pe_reply_not_modified(request, &request->numeric->facts);
        pe_numeric_free(request->numeric);
        request->numeric = NULL;
    } else if (request->stage != PE_STAGE_WORKING && is_heavy(request->numeric)) {
        pe_request_defer(request, produce);
    } else {
        produce(request);
    }
}

void pe_answer_numeric(pe_request *request)
{
    if (request->body.bytes > HEAVY_BODY_BYTES)
        pe_request_defer(request, answer);
    else
        answer(request);
}

bool pe_answer_warm(pe_request *request)
{
    if ((request->method & (PE_METHOD_GET | PE_METHOD_HEAD)) == 0)
        return false;
    pe_front front;
    front_of(request, &front);
    pe_entry *entry = pe_warm_find(request->service->warm, &front);
    if (entry == NULL)
        return false;
    atomic_fetch_add_explicit(&request->service->counters.warm_hits, 1, memory_order_relaxed);
    const pe_answer *kept = pe_entry_value(entry);
    if (not_modified(request, &kept->facts)) {
        pe_reply_not_modified(request, &kept->facts);
        pe_entry_unref(entry);
    } else {
        pe_reply_entry(request, entry, NULL);
    }
    return true;
}
