/* SPDX-License-Identifier: MIT */
/* token_bucket.h - so much of something in a time, and some of it at once. */
#ifndef PE_HTTP_CLIENTS_TOKEN_BUCKET_H
#define PE_HTTP_CLIENTS_TOKEN_BUCKET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/** What one client may have; a full bucket holds what a window brings. */
typedef struct pe_rate {
    uint64_t per_second; /* 0: as much as it likes */
    int64_t window;      /* nanoseconds */
} pe_rate;

/** A bucket is the time at which it will be full again. All zeros: it is full. */
typedef struct pe_token_bucket {
    atomic_int_fast64_t full_at;
} pe_token_bucket;

/**
 * Take tokens. More than a full bucket holds may be taken from a full one; the bucket owes the
 * rest, and nothing is taken until it has come in. False when there are too few: *wait gets the
 * nanoseconds until there will be enough.
 *
 * Source   ITU-T I.371, the generic cell rate algorithm.
 * Threads  any.
 */
bool pe_token_bucket_take(pe_token_bucket *bucket, const pe_rate *rate, uint64_t tokens,
                          int64_t now, int64_t *wait);

/** Take tokens whether there are enough or not; less than 0: give some back. */
void pe_token_bucket_settle(pe_token_bucket *bucket, const pe_rate *rate, int64_t tokens);

/** Whole tokens in the bucket. */
uint64_t pe_token_bucket_left(pe_token_bucket *bucket, const pe_rate *rate, int64_t now);

/** Nanoseconds until there is a whole one. */
int64_t pe_token_bucket_wait(pe_token_bucket *bucket, const pe_rate *rate, int64_t now);

/** Tokens of a full bucket, at least one. */
uint64_t pe_token_bucket_quota(const pe_rate *rate);

#endif
