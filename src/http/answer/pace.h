/* SPDX-License-Identifier: MIT */
/* pace.h - how large the blocks of a stream are, and which threads make them: by their times. */
#ifndef PE_HTTP_ANSWER_PACE_H
#define PE_HTTP_ANSWER_PACE_H

#include <stddef.h>
#include <stdint.h>

/** What a worker makes at once, and a thread that sends at first. */
#define PE_BLOCK_BYTES ((size_t)32768)
/** Threads that send give at most about this to one block: others wait. */
#define PE_SLOW_NANOSECONDS 500000

/**
 * A thread that sends makes blocks of twice the size as long as they are quick, a quarter of what
 * is slow: so a large block was never slow when it was half as large. After a slow one it begins
 * anew, and a worker makes the first block, which tells whether even that is slow. Each slow block
 * of a worker doubles what workers owe, a quick one is one less.
 *
 * So an error costs a few small blocks, whether others had the core or the tables were cold.
 */
typedef struct pe_pace {
    size_t most;   /* that a thread that sends makes at once: PE_BLOCK_BYTES .. large */
    size_t large;  /* that it may ever make */
    unsigned owed; /* blocks that workers make before it does */
} pe_pace;

/** A thread that sends has made a block in this time. */
void pe_pace_sender(pe_pace *pace, int64_t nanoseconds);
/** A worker has made one of PE_BLOCK_BYTES. */
void pe_pace_worker(pe_pace *pace, int64_t nanoseconds);

#endif
