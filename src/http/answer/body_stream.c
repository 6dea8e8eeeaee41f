/* SPDX-License-Identifier: MIT */
/* body_stream.c - a representation answer that is produced while the client takes it. */
#include "http/answer/body_stream.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "http/answer/coder.h"
#include "http/answer/pace.h"
#include "http/answer/rendered.h"
#include "http/work/thread.h"

/* Text that a worker makes at once, of which there is then one block. What it did not take is given
 * back. */
#define TEXT_BYTES 81920

/* What the thread that sends makes at once in the end, where there is room. Large blocks spare
 * system calls and packets, three to four tenths of what a byte costs that is cheap to make, but
 * stalled readers hold theirs, so few streams have them. */
#define LARGE_BYTES ((size_t)262144)

/*
 * Either the I/O thread or a worker has the feed, never both: the worker between a suspend and its
 * resume, which order their memory. Before the first block nobody knows how long they take, so it
 * is made where the request was planned, by a worker.
 */
typedef struct pe_body_stream {
    pe_service *service;
    struct MHD_Connection *connection;
    pe_representation *representation;
    pe_stream *stream;
    pe_coder *coder; /* of the stream; NULL: it goes out as it is */
    bool dear;       /* workers make all blocks */
    bool ended;      /* the stream has, or has failed */
    size_t large;    /* bytes taken from the room for large blocks */
    pe_pace pace;
    pe_status status;
    char *block; /* not sent yet: [at, at + have) */
    size_t at, have;
    pe_job job;
} pe_body_stream;

static void release(void *context)
{
    pe_body_stream *feed = context;
    atomic_fetch_sub_explicit(&feed->service->large_blocks, feed->large, memory_order_relaxed);
    pe_coder_free(feed->coder);
    pe_stream_free(feed->stream);
    pe_representation_free(feed->representation);
    free(feed->block);
    free(feed);
}

static void note(pe_body_stream *feed, pe_status status, size_t got, const pe_problem *why)
{
    feed->status = status;
    feed->ended = status != PE_OK || got == 0;
    if (status != PE_OK)
        pe_log(PE_LOG_ERROR, "stream",
               (pe_log_member[]){{PE_LOG_TEXT, "detail", .text = why->detail}, {0}});
    else
        atomic_fetch_add_explicit(&feed->service->counters.stream_bytes, got, memory_order_relaxed);
}

/* A block of the stream as it is: bytes of a known length, or text, of which there is less than
 * there is room for. */
static pe_status make_plain(pe_body_stream *feed, size_t *got, pe_problem *why)
{
    char room[TEXT_BYTES];
    const size_t text = pe_stream_room(feed->stream);
    const size_t most = feed->representation->length != UINT64_MAX ? PE_BLOCK_BYTES
                        : text < TEXT_BYTES                        ? text
                                                                   : TEXT_BYTES;
    pe_status status = pe_stream_read(feed->stream, room, most, got, why);
    if (status != PE_OK || *got == 0)
        return status;
    feed->block = malloc(*got);
    if (feed->block == NULL)
        return pe_fail_memory(why);
    memcpy(feed->block, room, *got);
    return PE_OK;
}

/* Make the next block and hold it. */
static void make_block(pe_body_stream *feed)
{
    pe_problem why;
    size_t got = 0;
    pe_thread_computes();
    const pe_status status = feed->coder != NULL
                                 ? pe_coder_read(feed->coder, &feed->block, &got, &why)
                                 : make_plain(feed, &got, &why);
    note(feed, status, got, &why);
    feed->at = 0;
    feed->have = status == PE_OK ? got : 0;
}

static int64_t thread_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* In a worker, whose own time is taken: what others do on the machine makes no block slow. */
static void make_measured(pe_body_stream *feed)
{
    const int64_t start = thread_clock();
    make_block(feed);
    pe_pace_worker(&feed->pace, thread_clock() - start);
    atomic_fetch_add_explicit(&feed->service->counters.blocks_by_workers, 1, memory_order_relaxed);
}

static void make_in_worker(void *context)
{
    pe_body_stream *feed = context;
    make_measured(feed);
    MHD_resume_connection(feed->connection);
}

/* Hand the next block to a worker; false when none will take it. */
static bool hand_over(pe_body_stream *feed)
{
    MHD_suspend_connection(feed->connection);
    feed->job = (pe_job){.run = make_in_worker, .context = feed};
    if (pe_pool_submit(feed->service->pool, &feed->job, PE_JOB_BLOCK))
        return true;
    MHD_resume_connection(feed->connection);
    return false;
}

static size_t take(pe_body_stream *feed, char *out, size_t bytes)
{
    const size_t got = feed->have < bytes ? feed->have : bytes;
    if (got > 0)
        memcpy(out, feed->block + feed->at, got);
    feed->at += got;
    feed->have -= got;
    if (feed->have == 0) { /* whoever stalls now holds the library's block alone */
        free(feed->block);
        feed->block = NULL;
    }
    return got;
}

/* The next block, here and now, for the sender. The clock costs no call, but goes on while others
 * have the core. */
static size_t make_here(pe_body_stream *feed, char *out, size_t bytes)
{
    pe_problem why;
    size_t got = 0;
    pe_thread_computes();
    const int64_t start = pe_clock();
    const size_t most = bytes < feed->pace.most ? bytes : feed->pace.most;
    const pe_status status = pe_stream_read(feed->stream, out, most, &got, &why);
    note(feed, status, got, &why);
    pe_pace_sender(&feed->pace, pe_clock() - start);
    atomic_fetch_add_explicit(&feed->service->counters.blocks_by_io, 1, memory_order_relaxed);
    return status == PE_OK ? got : 0;
}

static ssize_t read_block(void *context, uint64_t position, char *out, size_t bytes)
{
    (void)position;
    pe_body_stream *feed = context;
    size_t got = take(feed, out, bytes);
    if (got == 0 && !feed->ended && (feed->dear || feed->pace.owed > 0)) {
        if (hand_over(feed))
            return 0;     /* called again once resumed */
        make_block(feed); /* the pool has ended, and soon the server */
        got = take(feed, out, bytes);
    } else if (got == 0 && !feed->ended) {
        got = make_here(feed, out, bytes);
    }
    if (got > 0)
        return (ssize_t)got;
    return feed->status == PE_OK ? MHD_CONTENT_READER_END_OF_STREAM
                                 : MHD_CONTENT_READER_END_WITH_ERROR;
}

/* The stream of the answer or of the part asked for, and its coder. */
static pe_status start(pe_body_stream *feed, const pe_range *range, pe_coding coding,
                       pe_problem *why)
{
    pe_representation *representation = feed->representation;
    pe_status status =
        pe_stream_make(&representation->plan, &representation->rendering, &feed->stream, why);
    if (status == PE_OK && range->kind == PE_RANGE_PART) {
        status = pe_stream_seek(feed->stream, range->first, why);
        pe_stream_limit(feed->stream, range->first + range->bytes);
    }
    if (status == PE_OK && coding != PE_CODING_IDENTITY) {
        status = pe_coder_make(coding, feed->stream, &feed->coder, why);
        if (status == PE_OK)
            status = pe_representation_set_coding(representation, coding, true, why);
    }
    return status;
}

/* Take room for a large block, if there is any and the answer is worth it. */
static void take_large(pe_body_stream *feed, uint64_t bytes)
{
    pe_service *service = feed->service;
    if (feed->dear || bytes == UINT64_MAX || bytes < 4 * LARGE_BYTES)
        return;
    const size_t held =
        atomic_fetch_add_explicit(&service->large_blocks, LARGE_BYTES, memory_order_relaxed);
    if (held + LARGE_BYTES <= (size_t)service->settings->stream_blocks_bytes)
        feed->large = feed->pace.large = LARGE_BYTES;
    else
        atomic_fetch_sub_explicit(&service->large_blocks, LARGE_BYTES, memory_order_relaxed);
}

void pe_body_stream_reply(pe_request *request, pe_representation *representation, pe_coding coding)
{
    pe_problem why;
    const pe_range *range = &request->range;
    pe_body_stream *feed = calloc(1, sizeof *feed);
    if (feed == NULL) {
        pe_fail_memory(&why);
        pe_reply_problem(request, &why);
        pe_representation_free(representation);
        return;
    }
    feed->service = request->service;
    feed->connection = request->connection;
    feed->representation = representation;
    if (start(feed, range, coding, &why) != PE_OK) {
        pe_reply_problem(request, &why);
        release(feed);
        return;
    }
    feed->pace = (pe_pace){.most = PE_BLOCK_BYTES, .large = PE_BLOCK_BYTES};
    feed->dear = feed->coder != NULL || pe_stream_expensive(feed->stream);
    const uint64_t bytes = feed->coder != NULL            ? UINT64_MAX
                           : range->kind == PE_RANGE_PART ? range->bytes
                                                          : representation->length;
    if (request->method != PE_METHOD_HEAD) {
        take_large(feed, bytes);
        make_measured(feed);
    }
    atomic_fetch_add_explicit(&request->service->counters.streams, 1, memory_order_relaxed);
    const pe_body_source pull = {bytes, feed->pace.large, read_block, release, feed};
    pe_reply_stream(request, &pull, &representation->metadata, "cache;desc=miss");
}
