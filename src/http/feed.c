/* SPDX-License-Identifier: MIT */
/* feed.c - a numeric answer that is produced while the client takes it. */
#include "http/feed.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "http/coder.h"
#include "http/rendered.h"
#include "http/thread.h"

/* What a worker makes at once. */
#define BLOCK_BYTES 32768

/* A block that takes longer than this is made by a worker: a millisecond of others' time. */
#define SLOW_NANOSECONDS 1000000

/*
 * Either the I/O thread or a worker has the feed, never both: the worker between a suspend and its
 * resume, which order their memory.
 */
typedef struct pe_feed {
    pe_service *service;
    struct MHD_Connection *connection;
    pe_numeric *numeric;
    pe_stream *stream;
    pe_coder *coder; /* of the stream; NULL: it goes out as it is */
    bool slow;       /* the last block was */
    bool ended;      /* the stream has, or has failed */
    pe_status status;
    char *block; /* made by a worker, not sent yet: [at, at + have) */
    size_t at, have;
    pe_job job;
} pe_feed;

static void release(void *context)
{
    pe_feed *feed = context;
    pe_coder_free(feed->coder);
    pe_stream_free(feed->stream);
    pe_numeric_free(feed->numeric);
    free(feed->block);
    free(feed);
}

/* The next bytes of the stream, timed. */
static size_t produce(pe_feed *feed, char *out, size_t bytes)
{
    pe_problem why;
    size_t got = 0;
    pe_thread_computes();
    int64_t start = pe_clock();
    feed->status = feed->coder != NULL ? pe_coder_read(feed->coder, out, bytes, &got, &why)
                                       : pe_stream_read(feed->stream, out, bytes, &got, &why);
    if (feed->status != PE_OK) {
        pe_log(PE_LOG_ERROR, "stream",
               (pe_log_member[]){{PE_LOG_TEXT, "detail", .text = why.detail}, {0}});
        got = 0;
    }
    feed->slow = pe_clock() - start > SLOW_NANOSECONDS;
    feed->ended = got == 0;
    atomic_fetch_add_explicit(&feed->service->counters.stream_bytes, got, memory_order_relaxed);
    return got;
}

static void produce_in_worker(void *context)
{
    pe_feed *feed = context;
    feed->at = 0;
    feed->have = produce(feed, feed->block, BLOCK_BYTES);
    MHD_resume_connection(feed->connection);
}

/* Hand the next block to a worker; false when none will take it. */
static bool hand_over(pe_feed *feed)
{
    feed->block = malloc(BLOCK_BYTES);
    if (feed->block == NULL)
        return false;
    MHD_suspend_connection(feed->connection);
    feed->job = (pe_job){.run = produce_in_worker, .context = feed};
    if (pe_pool_submit(feed->service->pool, &feed->job, PE_JOB_BLOCK))
        return true;
    MHD_resume_connection(feed->connection);
    free(feed->block);
    feed->block = NULL;
    return false;
}

static ssize_t read_block(void *context, uint64_t position, char *out, size_t bytes)
{
    (void)position;
    pe_feed *feed = context;
    size_t got = feed->have < bytes ? feed->have : bytes;
    if (got > 0) {
        memcpy(out, feed->block + feed->at, got);
        feed->at += got;
        feed->have -= got;
        if (feed->have == 0) { /* whoever stalls now holds the library's block alone */
            free(feed->block);
            feed->block = NULL;
        }
        return (ssize_t)got;
    }
    if (!feed->ended && feed->slow && hand_over(feed))
        return 0; /* called again once resumed */
    if (!feed->ended)
        got = produce(feed, out, bytes);
    if (got > 0)
        return (ssize_t)got;
    return feed->status == PE_OK ? MHD_CONTENT_READER_END_OF_STREAM
                                 : MHD_CONTENT_READER_END_WITH_ERROR;
}

/* The stream of the answer or of the part asked for, and its coder. */
static pe_status start(pe_feed *feed, const pe_range *range, pe_coding coding, pe_problem *why)
{
    pe_numeric *numeric = feed->numeric;
    pe_status status = pe_stream_make(&numeric->plan, &numeric->rendering, &feed->stream, why);
    if (status == PE_OK && range->kind == PE_RANGE_PART) {
        status = pe_stream_seek(feed->stream, range->first, why);
        pe_stream_limit(feed->stream, range->first + range->bytes);
    }
    if (status == PE_OK && coding != PE_CODING_IDENTITY) {
        status = pe_coder_make(coding, feed->stream, &feed->coder, why);
        if (status == PE_OK)
            status = pe_numeric_set_coding(numeric, coding, true, why);
    }
    return status;
}

void pe_feed_reply(pe_request *request, pe_numeric *numeric, pe_coding coding)
{
    pe_problem why;
    const pe_range *range = &request->range;
    pe_feed *feed = calloc(1, sizeof *feed);
    if (feed == NULL) {
        pe_fail_memory(&why);
        pe_reply_problem(request, &why);
        pe_numeric_free(numeric);
        return;
    }
    feed->service = request->service;
    feed->connection = request->connection;
    feed->numeric = numeric;
    if (start(feed, range, coding, &why) != PE_OK) {
        pe_reply_problem(request, &why);
        release(feed);
        return;
    }
    /* Nobody knows yet how long a transform's block takes; coding one surely takes long. */
    feed->slow = numeric->resource->kind == PE_TRANSFORM || feed->coder != NULL;
    const uint64_t bytes = feed->coder != NULL            ? UINT64_MAX
                           : range->kind == PE_RANGE_PART ? range->bytes
                                                          : numeric->length;
    atomic_fetch_add_explicit(&request->service->counters.streams, 1, memory_order_relaxed);
    pe_reply_stream(request, bytes, read_block, release, feed, &numeric->facts, "cache;desc=miss");
}
