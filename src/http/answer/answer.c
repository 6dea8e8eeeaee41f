/* SPDX-License-Identifier: MIT */
/* answer.c - how requests for numbers are answered, from the raw request to a decided reply. */
#include "http/answer/answer.h"

#include <stdio.h>
#include <stdlib.h>

#include "http/reply/coding.h"
#include "http/answer/representation.h"
#include "http/answer/response_cache.h"
#include "http/reply/reply.h"
#include "http/request/admission.h"
#include "http/request/body.h"
#include "http/request/parameters.h"
#include "plan/resource.h"

/* Where parsing a body takes about a millisecond. */
#define HEAVY_BODY_BYTES 32768

/* What is not stored is rendered whole up to PE_WHOLE_BYTES. Where its length is known anyway, or
 * readers hold so much that the cache has no room, less is rendered: what a reader of a stream
 * would hold, too. */
#define SMALL_BYTES 65536

/* A stream is coded when that leaves at most this share of its bytes. A coding that is as welcome
 * as another, but slower, is preferred when it leaves at most this share of the other's. */
#define WORTH_CODING 0.8
#define MUCH_SMALLER 0.75

static bool is_part(const pe_request *request)
{
    return request->range.kind == PE_RANGE_PART;
}

/* Offsets of a Range are those of the uncoded bytes, so who asks for one gets these. */
static pe_coding coding_of(const pe_request *request)
{
    return is_part(request) ? PE_CODING_IDENTITY : request->codings.best;
}

/* ---- the parameters ---- */

/* Bytes of a body that are read for a unit of work. */
#define BYTES_READ 4

/* What is read is paid, whatever it holds. What costs too much to be planned is refused with the
 * mistakes that it was read with. */
static pe_outcome read_parameters(pe_request *request, pe_problem *why)
{
    const uint64_t reading = request->body.bytes / BYTES_READ; /* of JSON; of binary it is less */
    pe_request_parameters parameters;
    const pe_body_types types =
        request->resource->kind == PE_TRANSFORM ? PE_BODY_TENSORS : PE_BODY_JSON;
    if (request->body.bytes > HEAVY_BODY_BYTES && !pe_request_has_turn(request, PE_JOB_HEAVY))
        return pe_request_defer(request, PE_JOB_HEAVY, pe_answer_resource);
    PE_TRY(pe_admission_charge(request, reading, why));
    pe_admission_spend(request, reading);
    PE_TRY(pe_parameters_find(request, types, &parameters, why));
    PE_TRY(pe_representation_make(request->service, &parameters, &request->representation, why));
    const pe_representation *representation = request->representation;
    if (representation->body.data == NULL)
        pe_body_release(request); /* it has become values */
    request->price = pe_price_estimate(&representation->query.values);
    if (pe_price_check(request->price.planning, request->service->limits.max_work, why) != PE_OK) {
        if (representation->query.mistakes != NULL)
            *why = *representation->query.mistakes;
        return why->status;
    }
    const pe_status status = pe_admission_charge(request, pe_price_sum(&request->price), why);
    request->price.reading = reading;
    return status;
}

/* ---- the plan ---- */

/* Tensors hardly shrink: clients that ask for a coding by habit get their bytes sooner without. */
static pe_status choose_codings(pe_request *request, pe_problem *why)
{
    const pe_format *format = request->representation->rendering.format;
    const bool plain = !format->is_text && !request->service->settings->code_binary;
    pe_accept_encoding_read(request->header[PE_HEADER_ACCEPT_ENCODING], plain, &request->codings);
    if (!request->codings.none)
        return PE_OK;
    return pe_fail(why, PE_NOT_ACCEPTABLE, "",
                   plain ? "Accept-Encoding excludes identity, and there is no other coding of %s"
                         : "Accept-Encoding takes none of identity, gzip and zstd for %s",
                   format->name);
}

/* Who asks for header fields, for a part, or for what is stored may want no more than the plan. */
static bool may_be_little(const pe_request *request)
{
    pe_request_key key;
    if (request->method == PE_METHOD_HEAD || request->header[PE_HEADER_IF_NONE_MATCH] != NULL ||
        request->header[PE_HEADER_RANGE] != NULL)
        return true;
    if (request->method == PE_METHOD_POST)
        return false;
    pe_response_cache_key_of_target(request->edition, request->target, &key);
    pe_cache_entry *entry = pe_response_cache_find(request->service->responses, &key);
    pe_cache_entry_unref(entry);
    return entry != NULL;
}

/* Planning can take long: a new set of frequencies at hundreds of bits. Much work waits, or is
 * refused, with the plan still to be made: who offers more than the workers can do gets the refusal
 * at the price of reading the parameters. */
static pe_outcome plan(pe_request *request, pe_problem *why)
{
    pe_representation *representation = request->representation;
    if (!pe_request_has_turn(request, PE_JOB_LIGHT)) { /* as one of either kind has */
        uint64_t work = pe_price_sum(&request->price) - request->price.reading;
        if (work > PE_HEAVY_WORK && may_be_little(request))
            work = request->price.planning;
        return pe_request_defer(request, work > PE_HEAVY_WORK ? PE_JOB_HEAVY : PE_JOB_LIGHT,
                                pe_answer_resource);
    }
    const pe_status status =
        pe_representation_plan(representation, request->header[PE_HEADER_ACCEPT], why);
    if (representation->planned)
        pe_admission_spend(request, request->price.planning);
    else if (request->resource->kind == PE_TRANSFORM && representation->query.mistakes == NULL)
        pe_admission_spend(request, request->price.computing); /* its elements were looked at */
    else if (status == PE_TOO_MUCH_WORK) /* for more than parameters tell: frequencies were made */
        pe_admission_spend(request, request->meter.units);
    return status == PE_OK ? choose_codings(request, why) : status;
}

/* ---- conditions and ranges ---- */

/* Does If-None-Match name the representation, uncoded or in a coding that the client takes? */
static pe_outcome reply_not_modified(pe_request *request, pe_problem *why PE_UNUSED)
{
    const char *tags = request->header[PE_HEADER_IF_NONE_MATCH];
    pe_representation *representation = request->representation;
    pe_metadata metadata = representation->metadata;
    const bool coded = request->codings.best != PE_CODING_IDENTITY;
    if (tags == NULL || *metadata.etag == '\0' || request->method == PE_METHOD_POST)
        return PE_CONTINUE;
    /* Which coding * means, the content decides: 304 is for pe_reply_representation then. */
    if (coded && request->header[PE_HEADER_RANGE] == NULL && pe_etag_matches(tags, ""))
        return PE_CONTINUE;
    bool named = pe_etag_matches(tags, metadata.etag);
    for (pe_coding coding = PE_CODING_GZIP; coded && !named && coding < PE_CODINGS; coding++) {
        pe_representation_set_coding(representation, coding, &metadata);
        named = pe_accept_encoding_takes(&request->codings, coding) &&
                pe_etag_matches(tags, metadata.etag);
    }
    return named ? pe_reply_not_modified(request, &metadata) : PE_CONTINUE;
}

/* Range is for GET, and for what has a tag and a length. */
static pe_outcome choose_range(pe_request *request, pe_problem *why)
{
    const pe_representation *representation = request->representation;
    if (request->method == PE_METHOD_GET && representation->metadata.ranges)
        pe_range_read(request->header[PE_HEADER_RANGE], request->header[PE_HEADER_IF_RANGE],
                      representation->metadata.etag, representation->length, &request->range);
    if (request->range.kind != PE_RANGE_NOWHERE)
        return PE_CONTINUE;
    return pe_fail(why, PE_RANGE_NOT_SATISFIABLE, "", "the representation is %llu bytes long",
                   (unsigned long long)representation->length);
}

/* ---- what was rendered before ---- */

/* May one response, which all share, be the reply: is there nothing in it of this request alone? */
static bool may_share(const pe_request *request, const pe_stored_response *stored)
{
    return request->header[PE_HEADER_X_REQUEST_ID] == NULL && !request->guarded &&
           request->method != PE_METHOD_POST && !is_part(request) && !request->wants_digest &&
           request->header[PE_HEADER_IF_NONE_MATCH] == NULL &&
           !atomic_load(&request->service->draining) &&
           pe_reply_fits_location(request, &stored->metadata);
}

/* Its Repr-Digest. Several threads may make it at once; one of them publishes it. NULL: memory is
 * short. */
static const char *digest_of(pe_service *service, pe_stored_response *stored)
{
    char *published = atomic_load_explicit(&stored->digest, memory_order_acquire);
    if (published != NULL)
        return published;
    char *made = malloc(PE_DIGEST_BYTES);
    if (made == NULL)
        return NULL;
    pe_digest_make(stored->data, stored->bytes, made);
    pe_service_count(&service->counters.digests);
    if (atomic_compare_exchange_strong(&stored->digest, &published, made))
        return made;
    free(made);
    return published;
}

/* 200 or 206 with a stored response, whose entry is taken. timing: of a miss; NULL for a hit. */
static pe_outcome reply_stored(pe_request *request, pe_cache_entry *entry, const char *timing)
{
    pe_stored_response *stored = pe_cache_entry_value(entry);
    const size_t first = is_part(request) ? (size_t)request->range.first : 0;
    const size_t bytes = is_part(request) ? (size_t)request->range.bytes : stored->bytes;
    request->reply_bytes = bytes;
    request->cache_hit = timing == NULL;
    request->cache_missed = timing != NULL;
    if (timing == NULL && may_share(request, stored)) {
        pe_reply_drop(request);
        request->reply = (pe_reply){MHD_HTTP_OK, stored->shared, entry};
        return PE_REPLIED;
    }
    struct MHD_Response *response = pe_response_held(stored->data + first, bytes, entry);
    if (response == NULL)
        return PE_REPLIED;
    if (request->wants_digest)
        pe_header_fields_add(response, "Repr-Digest", digest_of(request->service, stored));
    return pe_reply_representation(request, response, &stored->metadata,
                                   timing != NULL ? timing : "cache;desc=hit");
}

/* Remember what the raw request means, so that the next one need not be read. */
static void remember(const pe_request *request)
{
    if (request->method != PE_METHOD_POST)
        pe_cached_response_remember(request->representation, coding_of(request), request->edition,
                                    request->target, request->header[PE_HEADER_ACCEPT],
                                    request->header[PE_HEADER_ACCEPT_ENCODING]);
}

/* A part is taken from the whole; it is not what makes one. */
static pe_outcome reply_from_cache(pe_request *request, pe_problem *why PE_UNUSED)
{
    pe_cache_entry *entry = pe_cached_response_find(request->representation, coding_of(request));
    if (entry == NULL)
        return PE_CONTINUE;
    if (request->range.kind == PE_RANGE_WHOLE)
        remember(request);
    return reply_stored(request, entry, NULL);
}

/* ---- its price ---- */

/* Decided before anything is made. What is asked for costs: of a part, which is never coded, its
 * share of the whole. A coding that would cost too much is left out where the client takes the bytes
 * as they are. */
static pe_outcome check_price(pe_request *request, pe_problem *why)
{
    const uint64_t most = request->service->limits.max_work;
    const pe_representation *representation = request->representation;
    const pe_coding_way way = !representation->in_pieces             ? PE_CODING_WHOLE
                              : representation->length == UINT64_MAX ? PE_CODING_STREAMED_TEXT
                                                                     : PE_CODING_STREAMED_PACKED;
    const double share =
        is_part(request) ? (double)request->range.bytes / (double)representation->length : 1;
    request->price.computing = (uint64_t)(share * (double)representation->work);
    request->price.coding = pe_coding_work(coding_of(request), way, representation->length_usual);
    if (pe_price_sum(&request->price) > most && request->codings.weight[PE_CODING_IDENTITY] != 0) {
        request->codings.best = PE_CODING_IDENTITY;
        request->price.coding = 0;
    }
    return pe_price_check(pe_price_sum(&request->price), most, why);
}

/* What is still to be done: the plan has been made. */
static uint64_t work_left(const pe_request *request)
{
    pe_price price = request->price;
    price.reading = price.planning = 0;
    return pe_price_sum(&price);
}

/* ---- what is not rendered ---- */

/*
 * A HEAD of much work, or of which the plan tells all: nothing is made that is not sent. What the
 * plan tells goes out as with GET. The coding, and with it tag and length, is only known once the
 * content is made, so where one may be chosen these fields are left out (RFC 9110, 9.3.2).
 */
static pe_outcome reply_to_head(pe_request *request, pe_problem *why)
{
    pe_representation *representation = request->representation;
    const bool planned = representation->length != UINT64_MAX && !request->wants_digest &&
                         coding_of(request) == PE_CODING_IDENTITY;
    if (request->method != PE_METHOD_HEAD || (!planned && work_left(request) <= PE_HEAVY_WORK))
        return PE_CONTINUE;
    request->price.computing = request->price.coding = 0;
    if (coding_of(request) != PE_CODING_IDENTITY) {
        representation->length = UINT64_MAX;
        representation->metadata.ranges = false;
        representation->metadata.etag[0] = '\0';
    }
    return pe_body_stream_reply(request, PE_CODING_IDENTITY, why);
}

/* ---- what is rendered now ---- */

static void write_timing(const pe_representation *representation, char *out, size_t room)
{
    snprintf(out, room, "cache;desc=miss, compute;dur=%.3f, encode;dur=%.3f",
             representation->compute * 1e3, representation->encode * 1e3);
}

/* Where memory does not hold an answer it may hold a stream of it. */
static pe_outcome unless_memory(pe_status status)
{
    return status == PE_OVERLOADED && !pe_yield_must_end() ? PE_CONTINUE : status;
}

/* CONTINUE when the cache has no room for the response. */
static pe_outcome render_through_cache(pe_request *request, pe_problem *why)
{
    char timing[96];
    int hit;
    pe_cache_entry *entry = NULL;
    const pe_status status =
        pe_cached_response_get(request->representation, coding_of(request), &entry, &hit, why);
    if (status != PE_OK || entry == NULL)
        return unless_memory(status);
    remember(request);
    write_timing(request->representation, timing, sizeof timing);
    return reply_stored(request, entry, hit ? NULL : timing);
}

/* CONTINUE when there is no memory for the whole. */
static pe_outcome render_whole(pe_request *request, pe_problem *why)
{
    char timing[96], digest[PE_DIGEST_BYTES] = "";
    pe_buffer data;
    pe_metadata metadata = request->representation->metadata;
    const pe_status status = pe_representation_render(request->representation, &request->range,
                                                      coding_of(request), &data, &metadata, why);
    if (status != PE_OK)
        return unless_memory(status);
    if (request->wants_digest && !is_part(request)) { /* of the whole representation */
        pe_digest_make(data.data, data.bytes, digest);
        pe_service_count(&request->service->counters.digests);
    }
    request->reply_bytes = data.bytes;
    request->cache_missed = true;
    struct MHD_Response *response = pe_response_of(&data);
    pe_header_fields_add(response, "Repr-Digest", digest);
    write_timing(request->representation, timing, sizeof timing);
    return pe_reply_representation(request, response, &metadata, timing);
}

/* The coding that samples of what is coded in pieces are worth: gzip finds rows again that zstd,
 * which then has a small window, has forgotten. */
static pe_status choose_by_samples(pe_request *request, pe_problem *why)
{
    pe_accepted_codings *codings = &request->codings;
    const bool or_gzip =
        codings->best == PE_CODING_ZSTD && pe_accept_encoding_takes(codings, PE_CODING_GZIP);
    double share, other = 1;
    if (coding_of(request) == PE_CODING_IDENTITY || !request->representation->in_pieces)
        return PE_OK;
    PE_TRY(pe_representation_seek(request->representation, NULL, why));
    pe_stream *stream = request->representation->stream;
    PE_TRY(pe_coder_share(codings->best, stream, &share, why));
    if (or_gzip)
        PE_TRY(pe_coder_share(PE_CODING_GZIP, stream, &other, why));
    if (other < MUCH_SMALLER * share) {
        codings->best = PE_CODING_GZIP;
        share = other;
    }
    if (share > WORTH_CODING)
        codings->best = PE_CODING_IDENTITY;
    return PE_OK;
}

/* Through the cache when it is worth storing; else whole when it is small; else as a stream. */
static pe_outcome render(pe_request *request, pe_problem *why)
{
    const pe_representation *representation = request->representation;
    if (work_left(request) > PE_HEAVY_WORK && !pe_request_has_turn(request, PE_JOB_HEAVY))
        return pe_request_defer(request, PE_JOB_HEAVY, pe_answer_resource);
    pe_admission_spend(request, work_left(request));
    const bool cacheable = !is_part(request) && pe_cached_response_fits(representation);
    const uint64_t bytes = is_part(request) ? request->range.bytes : representation->length_max;
    PE_TRY(choose_by_samples(request, why));
    const bool coded = coding_of(request) != PE_CODING_IDENTITY;
    const uint64_t most = is_part(request) || cacheable ? SMALL_BYTES : PE_WHOLE_BYTES;
    pe_outcome outcome = cacheable ? render_through_cache(request, why) : PE_CONTINUE;
    const bool whole =
        coded ? !representation->in_pieces : bytes <= most && work_left(request) <= PE_WHOLE_WORK;
    if (outcome == PE_CONTINUE && whole)
        outcome = render_whole(request, why);
    if (outcome != PE_CONTINUE)
        return outcome;
    /* What is coded as a whole goes out as it is where there is no memory for the whole. */
    return pe_body_stream_reply(
        request, representation->in_pieces ? coding_of(request) : PE_CODING_IDENTITY, why);
}

/* ---- the story ---- */

/*
 * The steps of every request for numbers, in order, each done once. A step that is too much work
 * for the thread that has the request defers it: a worker goes on with the same step. Small
 * requests are read by the I/O thread, so that mistakes cost little.
 */
static pe_step *const story[] = {
    read_parameters,    /* query and body -> values of the resource's rows */
    plan,               /* values -> shape, cost, format, tag, length; a worker does it */
    reply_not_modified, /* If-None-Match names it: 304 */
    choose_range,       /* Range: a part of it, or 416 */
    reply_from_cache,   /* rendered before, for whatever spelling of the request */
    check_price,        /* its price, or 422: too much work */
    reply_to_head,      /* HEAD, planned or of much work: header fields alone */
    render,             /* rendered now: through the cache, whole, or as a stream */
};

pe_outcome pe_answer_resource(pe_request *request, pe_problem *why)
{
    pe_outcome outcome = PE_CONTINUE;
    while (outcome == PE_CONTINUE) {
        outcome = story[request->step](request, why);
        pe_admission_allow(request);
        request->step += outcome == PE_CONTINUE;
    }
    if (outcome != PE_DEFERRED) { /* the reply holds what it needs */
        pe_representation_free(request->representation);
        request->representation = NULL;
    }
    return outcome;
}

/* ---- the same request again ---- */

/* The stored response, or a 304 for it. Another coding may be named, or the whole is to be hashed:
 * then the story tells. */
pe_outcome pe_answer_from_cache(pe_request *request)
{
    pe_request_key raw;
    const char *tags = request->header[PE_HEADER_IF_NONE_MATCH];
    pe_outcome outcome = PE_CONTINUE;
    if ((request->method & (PE_METHOD_GET | PE_METHOD_HEAD)) == 0 ||
        request->header[PE_HEADER_RANGE] != NULL ||
        request->header[PE_HEADER_TRANSFER_ENCODING] != NULL)
        return PE_CONTINUE;
    pe_response_cache_key_make(request->edition, request->target, request->header[PE_HEADER_ACCEPT],
                               request->header[PE_HEADER_ACCEPT_ENCODING], &raw);
    pe_cache_entry *entry = pe_response_cache_find(request->service->responses, &raw);
    if (entry == NULL)
        return PE_CONTINUE;
    const pe_stored_response *stored = pe_cache_entry_value(entry);
    const bool to_hash = request->wants_digest && atomic_load(&stored->digest) == NULL;
    request->route_number = stored->metadata.route;
    if (tags == NULL && !to_hash) {
        outcome = reply_stored(request, entry, NULL);
    } else {
        if (tags != NULL && pe_etag_matches(tags, stored->metadata.etag))
            outcome = pe_reply_not_modified(request, &stored->metadata);
        pe_cache_entry_unref(entry);
    }
    if (outcome == PE_REPLIED)
        pe_service_count(&request->service->counters.warm_hits);
    return outcome;
}
