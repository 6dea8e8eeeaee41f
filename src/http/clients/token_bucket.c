/* SPDX-License-Identifier: MIT */
/* token_bucket.c - so much of something in a time, and some of it at once. */
#include "http/clients/token_bucket.h"

#include "base/clock.h"

/* A debt of more than a hundred years stays that. */
#define TIME_MAX (INT64_C(1) << 61)

/* The time that brings so many tokens. */
static int64_t time_of(const pe_rate *rate, double tokens)
{
    const double time = tokens * (double)PE_NANOSECONDS_PER_SECOND / (double)rate->per_second;
    return time < (double)TIME_MAX ? (int64_t)time : TIME_MAX;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* A rate so low that a window brings less than one token holds one all the same. */
static int64_t room_of(const pe_rate *rate)
{
    return most(rate->window, time_of(rate, 1));
}

bool pe_token_bucket_take(pe_token_bucket *bucket, const pe_rate *rate, uint64_t tokens,
                          int64_t now, int64_t *wait)
{
    if (rate->per_second == 0)
        return true;
    const int64_t cost = time_of(rate, (double)tokens), room = room_of(rate);
    int_fast64_t seen = atomic_load(&bucket->full_at);
    int64_t from;
    do {
        from = most(seen, now);
        *wait = from + least(cost, room) - room - now;
        if (*wait > 0)
            return false;
    } while (!atomic_compare_exchange_weak(&bucket->full_at, &seen, least(from + cost, TIME_MAX)));
    return true;
}

void pe_token_bucket_settle(pe_token_bucket *bucket, const pe_rate *rate, int64_t tokens)
{
    if (rate->per_second == 0 || tokens == 0)
        return;
    const int64_t cost = time_of(rate, tokens < 0 ? -(double)tokens : (double)tokens);
    const int64_t now = pe_clock();
    int_fast64_t seen = atomic_load(&bucket->full_at);
    int_fast64_t then;
    do
        then = tokens < 0 ? seen - cost : least(most(seen, now) + cost, TIME_MAX);
    while (!atomic_compare_exchange_weak(&bucket->full_at, &seen, then));
}

uint64_t pe_token_bucket_left(pe_token_bucket *bucket, const pe_rate *rate, int64_t now)
{
    const int64_t taken = most(atomic_load(&bucket->full_at) - now, 0);
    const int64_t left = room_of(rate) - taken;
    return left <= 0 ? 0
                     : (uint64_t)((double)left * (double)rate->per_second /
                                  (double)PE_NANOSECONDS_PER_SECOND);
}

int64_t pe_token_bucket_wait(pe_token_bucket *bucket, const pe_rate *rate, int64_t now)
{
    const int64_t room = room_of(rate);
    return most(atomic_load(&bucket->full_at) + least(time_of(rate, 1), room) - room - now, 0);
}

uint64_t pe_token_bucket_quota(const pe_rate *rate)
{
    const double quota =
        (double)rate->window * (double)rate->per_second / (double)PE_NANOSECONDS_PER_SECOND;
    return quota < 1 ? 1 : (uint64_t)quota;
}
