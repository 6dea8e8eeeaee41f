/* SPDX-License-Identifier: MIT */
/* progress.h - does the other end of a connection keep up a least rate? */
#ifndef PE_HTTP_CONNECTION_PROGRESS_H
#define PE_HTTP_CONNECTION_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

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

/** Ask the system. False where it does not tell: a unix socket, whose other end is on this machine.
 * sends: the client sends; else it reads. */
bool pe_progress_look(int socket, bool sends, pe_progress_sample *out);

#endif
