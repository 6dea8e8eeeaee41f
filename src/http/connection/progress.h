/* SPDX-License-Identifier: MIT */
/* progress.h - does the other end of a connection keep up a least rate, and is it still there? */
#ifndef PE_HTTP_CONNECTION_PROGRESS_H
#define PE_HTTP_CONNECTION_PROGRESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct pe_progress_rules {
    int64_t silence;   /* nanoseconds in which no byte is acknowledged; 0: not judged */
    int64_t window;    /* nanoseconds */
    uint64_t rate_min; /* bytes a second, over a window; 0: not judged */
} pe_progress_rules;

/** What a socket says at a time. */
typedef struct pe_progress_sample {
    int64_t now;
    uint64_t bytes; /* acknowledged by a reader, or received from a sender, ever */
    bool waits;     /* the next byte is the client's affair */
} pe_progress_sample;

/** Starts zeroed, with each request that arrives and each answer that leaves. */
typedef struct pe_progress {
    int64_t moved_at, window_at;
    uint64_t moved, window_bytes;
} pe_progress;

/** Judge the next sample: true when the client has been silent or slow for too long. Time in which
 * it has nothing to acknowledge or has sent all does not count. */
bool pe_progress_is_slow(pe_progress *progress, const pe_progress_rules *rules,
                         const pe_progress_sample *sample);

/** Bytes of a connection, ever, as our own calls have passed them, coded or not: what has been given
 * is acknowledged when it is in no queue any more. The connection's thread writes, any reads. */
typedef struct pe_progress_passed {
    atomic_uint_fast64_t taken, given;
} pe_progress_passed;

/** A call has passed so many bytes, or failed. */
static inline void pe_progress_pass(atomic_uint_fast64_t *counter, ssize_t bytes)
{
    if (bytes > 0)
        atomic_store_explicit(counter,
                              atomic_load_explicit(counter, memory_order_relaxed) + (size_t)bytes,
                              memory_order_relaxed);
}

/** Bytes that the client's system has acknowledged, ever; with `sent` those on their way as
 * well. */
uint64_t pe_progress_carried(int socket, const pe_progress_passed *passed, bool sent);

/** Ask the system. False where it does not tell.   sends: the client sends; else it reads. What a
 * reader has taken of a unix socket counts by the blocks that were written, of 32 KiB at most. */
bool pe_progress_look(int socket, const pe_progress_passed *passed, bool sends,
                      pe_progress_sample *out);

/**
 * False when nobody can read an answer any more, as far as is known now.
 *
 * A client that has closed its connection looks like one that has ended its side and waits for the
 * answer, as netcat does; the difference shows once it is sent something, which the system of the
 * one that has gone answers with a reset. So who has ended its side is sent an interim answer, 100
 * (Continue), which clients of HTTP/1.1 can read whether they expect it or not (RFC 9110, 15.2).
 *
 * interim: the client speaks HTTP/1.1 and its request comes next. Others are taken to wait.
 * Waits a millisecond at most, for who has ended its side alone.
 * Threads  any, while the library leaves the socket alone.
 */
bool pe_client_alive(int socket, bool interim);

#endif
