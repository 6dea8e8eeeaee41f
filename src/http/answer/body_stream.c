/* SPDX-License-Identifier: MIT */
/* body_stream.c - content that is made while the client takes it. */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/budget.h"
#include "base/clock.h"
#include "base/log.h"
#include "http/answer/answer.h"
#include "http/reply/coding.h"
#include "http/answer/pace.h"
#include "http/answer/representation.h"
#include "http/reply/reply.h"
#include "http/request/admission.h"
#include "http/workers/pool.h"

/* Text that a worker makes at once, of which there is then one block. What it did not take is given
 * back. */
#define TEXT_BYTES 81920

/* What the thread that sends makes at once in the end, where there is room. Large blocks spare
 * system calls and packets, three to four tenths of what a byte costs that is cheap to make, but
 * stalled readers hold theirs, so few streams have them. */
#define LARGE_BYTES ((size_t)262144)

/* What a worker's block counts for when clients take turns: about as much as it may take. */
#define BLOCK_WORK ((uint64_t)262144)

/*
 * Either the I/O thread or a worker has the stream, never both: the worker between a suspend and
 * its resume, which order their memory. Before the first block nobody knows how long they take, so
 * it is made where the request was planned, by a worker.
 */
typedef struct pe_body_stream {
    pe_service *service;
    pe_request *request;  /* there while the stream is read */
    uint64_t price;       /* of all that the stream makes */
    int64_t here;         /* nanoseconds that the thread that sends took */
    uint64_t bytes, made; /* without a coder; bytes: UINT64_MAX, not known */
    uint64_t work;        /* of all numbers */
    pe_representation *representation;
    pe_coder *coder;      /* of the representation's stream; NULL: the bytes go out as they are */
    bool made_by_workers; /* all blocks */
    bool begun;           /* the answer: its first block has been made */
    bool ended;           /* the stream has, or has failed */
    size_t large;         /* bytes taken from the room for large blocks */
    pe_pace pace;
    pe_status status;
    pe_buffer block; /* not sent yet: from `at` on */
    size_t at;
    pe_job job;
} pe_body_stream;

static void release(void *context)
{
    pe_body_stream *body = context;
    atomic_fetch_sub_explicit(&body->service->large_blocks, body->large, memory_order_relaxed);
    pe_coder_free(body->coder);
    pe_representation_free(body->representation);
    pe_buffer_free(&body->block);
    free(body);
}

/* What a client that leaves now has not had made. */
static uint64_t unspent_of(const pe_body_stream *body)
{
    const bool known = body->bytes != UINT64_MAX;
    const uint64_t all = known ? body->bytes : body->work;
    const uint64_t left =
        known ? body->bytes - body->made : pe_stream_work_left(body->representation->stream);
    if (body->ended || all == 0)
        return 0;
    return (uint64_t)((double)left / (double)all * (double)body->price);
}

/* What fails before the first byte is the problem of the reply; later the stream is cut, and the
 * log alone has the reason, and that not if its client has left. */
static void note(pe_body_stream *body, pe_status status, size_t got, const pe_problem *why)
{
    body->status = status;
    body->made += got;
    body->ended = status != PE_OK || (got == 0 && !pe_stream_reduces(body->representation->stream));
    if (status != PE_OK && body->begun && body->request->meter.ended != PE_OVERLOADED)
        PE_LOG(PE_LOG_ERROR, "stream", PE_TEXT("detail", why->detail));
    if (status == PE_OK)
        pe_count_add(&body->service->counters.stream_bytes, got);
}

/* Make the next block and hold it: coded, of bytes of a known length or, where there is less text
 * than there is room for, as it is. */
static void make_block(pe_body_stream *body, pe_problem *why)
{
    char room[TEXT_BYTES];
    pe_stream *stream = body->representation->stream;
    const size_t text = pe_stream_facts_of(stream)->room;
    const size_t most = body->representation->length != UINT64_MAX ? PE_BLOCK_BYTES
                        : text < TEXT_BYTES                        ? text
                                                                   : TEXT_BYTES;
    size_t got = 0;
    pe_budget_go_on(body->begun);
    pe_status status = body->coder != NULL ? pe_coder_read(body->coder, &body->block, why)
                                           : pe_stream_read(stream, room, most, &got, why);
    if (status == PE_OK && got > 0) {
        pe_buffer_add(&body->block, room, got);
        status = body->block.failed ? pe_fail_memory(why) : PE_OK;
    }
    if (status != PE_OK)
        pe_buffer_free(&body->block);
    pe_budget_go_on(false);
    note(body, status, body->block.bytes, why);
}

/* In a worker, whose own time is taken: what others do on the machine makes no block slow. */
static void make_measured(pe_body_stream *body, pe_problem *why)
{
    const int64_t start = pe_clock_of_thread();
    make_block(body, why);
    const int64_t took = pe_clock_of_thread() - start;
    pe_pace_worker(&body->pace, took);
    pe_histogram_add(&body->service->counters.work_on_blocks, took);
    pe_service_count(&body->service->counters.blocks_by_workers);
}

static void make_in_worker(void *context)
{
    pe_problem why;
    pe_body_stream *body = context;
    pe_meter_begin(&body->request->meter);
    make_measured(body, &why);
    pe_admission_pause(body->request);
    MHD_resume_connection(body->request->connection);
}

/* What is held of a block. */
static size_t take(pe_body_stream *body, char *out, size_t bytes)
{
    const size_t left = body->block.bytes - body->at, got = left < bytes ? left : bytes;
    if (got > 0)
        memcpy(out, body->block.data + body->at, got);
    body->at += got;
    if (got == left) { /* whoever stalls now holds the library's block alone */
        pe_buffer_free(&body->block);
        body->at = 0;
    }
    return got;
}

/* The next block, here and now, for the sender. The clock costs no call, but goes on while others
 * have the core. Threads that send have no meter. So what takes them longer than all of it should is
 * left to workers, who have. */
static size_t make_here(pe_body_stream *body, char *out, size_t bytes)
{
    pe_problem why;
    size_t got = 0;
    const int64_t start = pe_clock(), allowed = body->request->meter.nanoseconds_max;
    const size_t most = bytes < body->pace.most ? bytes : body->pace.most;
    pe_budget_go_on(true);
    const pe_status status = pe_stream_read(body->representation->stream, out, most, &got, &why);
    pe_budget_go_on(false);
    note(body, status, got, &why);
    const int64_t took = pe_clock() - start;
    pe_pace_sender(&body->pace, took);
    body->here += took;
    body->made_by_workers = allowed > 0 && body->here > allowed;
    pe_service_count(&body->service->counters.blocks_by_io);
    return status == PE_OK ? got : 0;
}

/* At its end comes that of what has been read, or of the connection: a part must not pass for the
 * whole. The library marks a failed one as closed, but may wait for its socket before it closes it
 * (0.9.75). */
static ssize_t read_block(void *context, uint64_t position PE_UNUSED, char *out, size_t bytes)
{
    pe_body_stream *body = context;
    pe_problem why;
    size_t got = take(body, out, bytes);
    if (got == 0 && !body->ended && (body->made_by_workers || body->pace.owed > 0)) {
        MHD_suspend_connection(body->request->connection);
        body->job = (pe_job){.run = make_in_worker, .context = body, .price = BLOCK_WORK};
        if (pe_pool_submit(body->service->pool, pe_admission_queues(body->request), &body->job,
                           PE_JOB_BLOCK))
            return 0; /* called again once resumed */
        MHD_resume_connection(body->request->connection);
        make_block(body, &why); /* the pool has ended, and soon the server */
        got = take(body, out, bytes);
    } else if (got == 0 && !body->ended) {
        got = make_here(body, out, bytes);
    }
    body->request->bytes_streamed += got;
    body->request->client.unspent = unspent_of(body);
    if (got > 0)
        return (ssize_t)got;
    if (body->status == PE_OK)
        return MHD_CONTENT_READER_END_OF_STREAM;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(body->request->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (info != NULL)
        (void)shutdown(info->connect_fd, SHUT_RDWR);
    return MHD_CONTENT_READER_END_WITH_ERROR;
}

/* Takes the request's representation, with its stream at the first byte that is asked for. */
static pe_status set_up(pe_request *request, pe_coding coding, pe_body_stream *body,
                        pe_problem *why)
{
    const pe_range *range = &request->range;
    body->service = request->service;
    body->request = request;
    body->price = request->price.computing + request->price.coding;
    pe_representation *representation = body->representation = request->representation;
    request->representation = NULL;
    PE_TRY(pe_representation_seek(representation, range, why));
    if (coding != PE_CODING_IDENTITY) {
        PE_TRY(pe_coder_make(coding, representation->stream, &body->coder, why));
        pe_representation_set_coding(representation, coding, &representation->metadata);
    }
    body->bytes = body->coder != NULL            ? UINT64_MAX
                  : range->kind == PE_RANGE_PART ? range->bytes
                                                 : representation->length;
    body->work = pe_stream_work_left(representation->stream);
    body->pace = (pe_pace){.most = PE_BLOCK_BYTES, .large = PE_BLOCK_BYTES};
    body->made_by_workers =
        body->coder != NULL || pe_stream_facts_of(representation->stream)->expensive;
    return PE_OK;
}

/* Take room for a large block, if there is any and the content is worth it. */
static void take_large(pe_body_stream *body)
{
    pe_service *service = body->service;
    if (body->made_by_workers || body->bytes == UINT64_MAX || body->bytes < 4 * LARGE_BYTES)
        return;
    const size_t held =
        atomic_fetch_add_explicit(&service->large_blocks, LARGE_BYTES, memory_order_relaxed);
    if (held + LARGE_BYTES <= (size_t)service->settings->stream_blocks_bytes)
        body->large = body->pace.large = LARGE_BYTES;
    else
        atomic_fetch_sub_explicit(&service->large_blocks, LARGE_BYTES, memory_order_relaxed);
}

/* HEAD of a length that is not known goes out without one, on a connection that ends: where it
 * sends chunks, the library would send the last one, which a HEAD response does not have. */
static pe_outcome reply(pe_request *request, pe_body_stream *body, pe_problem *why)
{
    const bool known = body->bytes != UINT64_MAX;
    const uint64_t bytes = known ? body->bytes : MHD_SIZE_UNKNOWN;
    /* Chunks are made in the connection's memory: the block would be held for nothing. */
    const size_t block = known || !request->takes_interim ? body->pace.large : 1;
    struct MHD_Response *response =
        MHD_create_response_from_callback(bytes, block, read_block, body, release);
    if (response == NULL && block > PE_BLOCK_BYTES)
        response =
            MHD_create_response_from_callback(bytes, PE_BLOCK_BYTES, read_block, body, release);
    if (response == NULL) {
        release(body);
        return pe_fail_memory(why);
    }
    request->reply_bytes = body->bytes;
    request->cache_missed = true;
    if (request->method == PE_METHOD_HEAD && !known)
        MHD_set_response_options(response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
    return pe_reply_representation(request, response, &body->representation->metadata,
                                   "cache;desc=miss");
}

/* Without the memory for its first block an answer is not begun. */
pe_outcome pe_body_stream_reply(pe_request *request, pe_coding coding, pe_problem *why)
{
    pe_body_stream *body = calloc(1, sizeof *body);
    if (body == NULL)
        return pe_fail_memory(why);
    pe_status status = set_up(request, coding, body, why);
    if (status == PE_OK && request->method != PE_METHOD_HEAD) {
        take_large(body);
        do /* the numbers of a figure are before its first byte */
            make_measured(body, why);
        while (!body->ended && body->block.bytes == 0);
        body->begun = true;
        status = body->status;
    }
    if (status != PE_OK) {
        release(body);
        return status;
    }
    body->request->client.unspent = unspent_of(body);
    pe_service_count(&request->service->counters.streams);
    return reply(request, body, why);
}
