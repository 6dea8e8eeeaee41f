/* SPDX-License-Identifier: MIT */
/* answer.c - the handler of the representation resources. */
#include "http/answer/answer.h"

#include <stdio.h>
#include <stdlib.h>

#include "http/answer/coder.h"
#include "http/answer/body_stream.h"
#include "http/answer/stored_response.h"
#include "http/request/posted.h"
#include "http/answer/rendered.h"
#include "http/work/thread.h"

/* Where much work begins, a millisecond or more: this many body bytes to parse, this many elements
 * to plan (by the rows' plan_work), to compute and print. Elements of a transform may each be a
 * long sum. */
#define HEAVY_BODY_BYTES         32768
#define HEAVY_ELEMENTS           65536
#define HEAVY_CODED_ELEMENTS     8192
#define HEAVY_TRANSFORM_ELEMENTS 4096

/* What is not kept is rendered whole up to this size, so that its length is known. Where that is
 * known anyway, or readers hold so much that the cache has no room, less is rendered: what a reader
 * of a stream would hold, too. */
#define WHOLE_BYTES 1048576
#define SMALL_BYTES 65536

/* The share of its size that an answer may keep to be coded; and how much smaller one coding makes
 * it than another that is as welcome, and quicker, to be preferred. */
#define WORTH_CODING 0.8
#define MUCH_SMALLER 0.75

/* ---- from decided to answered ---- */

static void timing_of_miss(const pe_representation *representation, char *out, size_t room)
{
    snprintf(out, room, "cache;desc=miss, compute;dur=%.3f, encode;dur=%.3f",
             representation->compute * 1e3, representation->encode * 1e3);
}

static void front_of(const pe_request *request, pe_request_key *out)
{
    pe_request_key_make(request->target, request->header[PE_HEADER_ACCEPT],
                        request->header[PE_HEADER_ACCEPT_ENCODING], out);
}

/* Remember what the raw request means, so that the next one need not be read. */
static void learn(const pe_request *request, const pe_representation *representation,
                  pe_coding coding)
{
    pe_request_key front;
    if (request->method == PE_METHOD_POST)
        return;
    front_of(request, &front);
    pe_stored_response_remember(representation, &front, coding);
}

/* What is asked for costs, in elements of a plain table: a part its share of the whole. */
static uint64_t work_of(const pe_request *request, const pe_representation *representation)
{
    if (request->range.kind != PE_RANGE_PART)
        return representation->work;
    const double share = (double)request->range.bytes / (double)representation->length;
    return (uint64_t)(share * (double)representation->work);
}

/* Offsets of a Range are those of the uncoded bytes, so who asks for one gets these. */
static pe_coding coding_of(const pe_request *request)
{
    return request->range.kind == PE_RANGE_PART
               ? PE_CODING_IDENTITY
               : pe_coding_choose(request->header[PE_HEADER_ACCEPT_ENCODING]);
}

/* False when the cache has no room for the answer. */
static bool answer_through_cache(pe_request *request, pe_representation *representation)
{
    pe_problem why;
    pe_cache_entry *entry;
    int hit = 0;
    pe_coding coding = coding_of(request);
    if (pe_stored_response_get(representation, &coding, &entry, &hit, &why) != PE_OK) {
        pe_reply_problem(request, &why);
        return true;
    }
    if (entry == NULL)
        return false;
    learn(request, representation, coding);
    char timing[96];
    timing_of_miss(representation, timing, sizeof timing);
    pe_reply_entry(request, entry, hit ? NULL : timing);
    return true;
}

/* Replace the rendered bytes by coded ones where the client likes that and it is worth it. */
static pe_status code_rendered(pe_request *request, pe_representation *representation, char **data,
                               size_t *bytes, pe_problem *why)
{
    pe_coding coding = coding_of(request);
    char *coded;
    size_t coded_bytes;
    pe_status status = pe_coding_apply(coding, *data, *bytes, &coded, &coded_bytes, why);
    if (status != PE_OK || coded == NULL)
        return status;
    free(*data);
    *data = coded;
    *bytes = coded_bytes;
    return pe_representation_set_coding(representation, coding, false, why);
}

static void answer_rendered(pe_request *request, pe_representation *representation)
{
    pe_problem why;
    char *data, timing[96];
    size_t bytes;
    pe_status status =
        pe_representation_render(representation, &request->range, &data, &bytes, &why);
    if (status == PE_OK) {
        status = code_rendered(request, representation, &data, &bytes, &why);
        if (status != PE_OK)
            free(data);
    }
    if (status != PE_OK) {
        pe_reply_problem(request, &why);
        return;
    }
    timing_of_miss(representation, timing, sizeof timing);
    pe_reply_rendered(request, data, bytes, &representation->metadata, timing);
}

static bool as_welcome(const pe_request *request, pe_coding coding, pe_coding other)
{
    return pe_coding_as_welcome(request->header[PE_HEADER_ACCEPT_ENCODING], coding, other);
}

/* That of a stream: gzip finds rows again that zstd, where it streams, has forgotten. */
static pe_status choose_coding(const pe_request *request, const pe_representation *representation,
                               pe_coding *out, pe_problem *why)
{
    double share, other;
    pe_coding best = coding_of(request);
    pe_status status =
        pe_coder_share(best, &representation->plan, &representation->rendering, &share, why);
    if (status == PE_OK && best == PE_CODING_ZSTD && as_welcome(request, best, PE_CODING_GZIP)) {
        status = pe_coder_share(PE_CODING_GZIP, &representation->plan, &representation->rendering,
                                &other, why);
        if (status == PE_OK && other < MUCH_SMALLER * share) {
            best = PE_CODING_GZIP;
            share = other;
        }
    }
    *out = share <= WORTH_CODING ? best : PE_CODING_IDENTITY;
    return status;
}

/* True when the stream has taken representation. */
static bool answer_streamed(pe_request *request, pe_representation *representation)
{
    pe_problem why;
    pe_coding coding;
    if (choose_coding(request, representation, &coding, &why) != PE_OK) {
        pe_reply_problem(request, &why);
        return false;
    }
    pe_body_stream_reply(request, representation, coding);
    return true;
}

/* Decide how the bytes come about; true when a stream has taken representation. */
static bool choose_producer(pe_request *request, pe_representation *representation)
{
    const bool part = request->range.kind == PE_RANGE_PART;
    const bool cacheable = !part && pe_stored_response_fits(representation);
    const uint64_t bytes = part ? request->range.bytes : representation->length_max;
    const uint64_t most = part || cacheable ? SMALL_BYTES : WHOLE_BYTES;
    if (cacheable && answer_through_cache(request, representation))
        return false;
    if (bytes > most || work_of(request, representation) > PE_WHOLE_WORK)
        return answer_streamed(request, representation);
    answer_rendered(request, representation);
    return false;
}

static bool produce(pe_request *request)
{
    pe_representation *representation = request->representation;
    request->representation = NULL;
    pe_thread_computes();
    if (!choose_producer(request, representation))
        pe_representation_free(representation);
    return true;
}

/* ---- from asked to decided ---- */

/* Does If-None-Match name the answer, in the coding that it would have or uncoded? *metadata gets
 * the tag that it names. */
static bool not_modified(const pe_request *request, const pe_representation *representation,
                         pe_metadata *metadata)
{
    const char *tags = request->header[PE_HEADER_IF_NONE_MATCH];
    if (tags == NULL || *metadata->etag == '\0' || request->method == PE_METHOD_POST)
        return false;
    if (pe_etag_matches(tags, metadata->etag))
        return true;
    const pe_coding chosen = coding_of(request);
    for (int coding = PE_CODING_GZIP; coding < PE_CODINGS; coding++)
        for (int in_blocks = 0; in_blocks < 2 && chosen != PE_CODING_IDENTITY; in_blocks++)
            if (as_welcome(request, chosen, (pe_coding)coding) &&
                pe_representation_coded_tag(representation, (pe_coding)coding, in_blocks,
                                            metadata->etag) &&
                pe_etag_matches(tags, metadata->etag))
                return true;
    return false;
}

/* Range is for GET, and for what has a tag and a length. */
static pe_status choose_range(pe_request *request, const pe_representation *representation,
                              pe_problem *why)
{
    if (request->method == PE_METHOD_GET && representation->metadata.ranges)
        pe_range_read(request->header[PE_HEADER_RANGE], request->header[PE_HEADER_IF_RANGE],
                      representation->metadata.etag, representation->length, &request->range);
    if (request->range.kind != PE_RANGE_NOWHERE)
        return PE_OK;
    return pe_fail(why, PE_RANGE_NOT_SATISFIABLE, "", "the representation is %llu bytes long",
                   (unsigned long long)representation->length);
}

/* Answer from what is kept, if it is. A part is taken from the whole; it is not what makes one. */
static bool answer_kept(pe_request *request, const pe_representation *representation)
{
    pe_coding coding = coding_of(request);
    pe_cache_entry *entry = pe_stored_response_find(representation, &coding);
    if (entry == NULL)
        return false;
    if (request->range.kind == PE_RANGE_WHOLE)
        learn(request, representation, coding);
    pe_reply_entry(request, entry, NULL);
    return true;
}

static bool is_heavy(const pe_request *request, const pe_representation *representation)
{
    const bool coded = coding_of(request) != PE_CODING_IDENTITY;
    const size_t most = representation->resource->kind == PE_TRANSFORM ? HEAVY_TRANSFORM_ELEMENTS
                        : coded                                        ? HEAVY_CODED_ELEMENTS
                                                                       : HEAVY_ELEMENTS;
    return work_of(request, representation) > most;
}

/* Read the parameters into request->representation. */
static pe_status ask(pe_request *request, pe_problem *why)
{
    pe_request_parameters wanted = {
        .resource = request->resource,
        .name = request->path_name,
        .name_bytes = request->path_name_bytes,
        .query = request->query,
        .query_bytes = request->query_bytes,
    };
    if (request->method == PE_METHOD_POST) {
        pe_status status =
            pe_posted_read(request, request->resource->kind == PE_TRANSFORM, &wanted, why);
        if (status != PE_OK)
            return status;
    }
    return pe_representation_make(request->service, &wanted, &request->representation, why);
}

/* Plan what has been asked, and answer it unless that is much work; the reply is decided, or the
 * work is left to be done. */
static pe_status decide(pe_request *request, bool *left, pe_problem *why)
{
    pe_representation *representation = request->representation;
    pe_status status =
        pe_representation_plan(representation, request->header[PE_HEADER_ACCEPT], why);
    *left = false;
    if (status != PE_OK)
        return status;
    pe_metadata metadata = representation->metadata;
    if (not_modified(request, representation, &metadata)) {
        pe_reply_not_modified(request, &metadata);
        return PE_OK;
    }
    status = pe_representation_measure(representation, why);
    if (status == PE_OK)
        status = choose_range(request, representation, why);
    if (status == PE_OK)
        *left = !answer_kept(request, representation);
    return status;
}

/* False when there is nothing left to do: the reply is decided. */
static bool plan(pe_request *request)
{
    pe_problem why;
    bool left;
    const pe_status status = decide(request, &left, &why);
    if (status != PE_OK)
        pe_reply_problem(request, &why);
    if (status == PE_OK && left)
        return true;
    pe_representation_free(request->representation);
    request->representation = NULL;
    return false;
}

static bool plan_lightly(pe_request *request)
{
    if (!plan(request))
        return true;
    if (!is_heavy(request, request->representation))
        return produce(request);
    pe_request_defer(request, PE_JOB_HEAVY, produce);
    return false;
}

/* What has had its turn as a heavy job does not wait for another. */
static bool plan_and_produce(pe_request *request)
{
    return plan(request) ? produce(request) : true;
}

static bool ask_and_plan(pe_request *request)
{
    pe_problem why;
    if (ask(request, &why) == PE_OK)
        return plan_and_produce(request);
    pe_reply_problem(request, &why);
    return true;
}

/* Small requests are read at once, so that mistakes cost little. Planning can take long (a new set
 * of frequencies at hundreds of bits) and is left to a worker, as a heavy job where it is wide. */
void pe_answer_resource(pe_request *request)
{
    pe_problem why;
    if (request->body.bytes > HEAVY_BODY_BYTES)
        pe_request_defer(request, PE_JOB_HEAVY, ask_and_plan);
    else if (ask(request, &why) != PE_OK)
        pe_reply_problem(request, &why);
    else if (pe_values_plan_work(&request->representation->ask.values) > HEAVY_ELEMENTS)
        pe_request_defer(request, PE_JOB_HEAVY, plan_and_produce);
    else
        pe_request_defer(request, PE_JOB_LIGHT, plan_lightly);
}

bool pe_answer_from_cache(pe_request *request)
{
    request->wants_digest = pe_digest_wanted(request->header[PE_HEADER_WANT_REPR_DIGEST]);
    if ((request->method & (PE_METHOD_GET | PE_METHOD_HEAD)) == 0 ||
        request->header[PE_HEADER_RANGE] != NULL)
        return false;
    pe_request_key front;
    front_of(request, &front);
    pe_cache_entry *entry = pe_response_cache_find(request->service->warm, &front);
    if (entry == NULL)
        return false;
    const char *tags = request->header[PE_HEADER_IF_NONE_MATCH];
    const pe_stored_response *kept = pe_cache_entry_value(entry);
    const bool to_hash = request->wants_digest && atomic_load(&kept->digest) == NULL;
    if (tags == NULL && !to_hash) {
        pe_reply_entry(request, entry, NULL);
    } else if (tags != NULL && pe_etag_matches(tags, kept->metadata.etag)) {
        pe_reply_not_modified(request, &kept->metadata);
        pe_cache_entry_unref(entry);
    } else {
        pe_cache_entry_unref(entry); /* another coding may be named, or the whole is to be hashed */
        return false;
    }
    atomic_fetch_add_explicit(&request->service->counters.warm_hits, 1, memory_order_relaxed);
    return true;
}
