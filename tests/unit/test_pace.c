/* SPDX-License-Identifier: MIT */
/* test_pace.c - who makes how large blocks of a stream, for streams whose times are made up. */
#include "support/check.h"

#include "http/answer/pace.h"

#define LARGE (8 * PE_BLOCK_BYTES)

/* A stream that costs so much a byte on every thread, and what has become of it. */
typedef struct fake_stream {
    pe_pace pace;
    int64_t cost; /* nanoseconds for PE_BLOCK_BYTES */
    unsigned by_sender, by_workers, slow;
} fake_stream;

/* Begun by a worker, as all are. */
static fake_stream begin(int64_t cost)
{
    fake_stream begun = {.pace = {.most = PE_BLOCK_BYTES, .large = LARGE}, .cost = cost};
    pe_pace_worker(&begun.pace, cost);
    begun.by_workers = 1;
    return begun;
}

/* The next block; `error` is what a clock adds that goes on while others have the core. */
static void make(fake_stream *stream, int64_t error)
{
    if (stream->pace.owed > 0) {
        pe_pace_worker(&stream->pace, stream->cost);
        stream->by_workers++;
        return;
    }
    const int64_t took = stream->cost * (int64_t)(stream->pace.most / PE_BLOCK_BYTES);
    stream->slow += took > PE_SLOW_NANOSECONDS;
    stream->by_sender++;
    pe_pace_sender(&stream->pace, took + error);
}

static void make_many(fake_stream *stream, unsigned n)
{
    while (n-- > 0)
        make(stream, 0);
}

static void a_quick_stream_has_large_blocks_after_three(void **state)
{
    fake_stream quick = begin(4000);
    for (size_t most = PE_BLOCK_BYTES; most < LARGE; most *= 2) {
        assert_int_equal(quick.pace.most, most);
        make(&quick, 0);
    }
    make_many(&quick, 100);
    assert_int_equal(quick.pace.most, LARGE);
    assert_int_equal(quick.by_workers, 1);
}

static void a_stream_without_room_keeps_small_blocks(void **state)
{
    fake_stream quick = begin(4000);
    quick.pace.large = PE_BLOCK_BYTES;
    make_many(&quick, 100);
    assert_int_equal(quick.pace.most, PE_BLOCK_BYTES);
}

/* Whatever a byte costs: the sender makes no slow block, even to find that out, and hands over none
 * that it may make. */
static void no_block_of_a_sender_is_slow(void **state)
{
    for (int64_t cost = 1000; cost < 4 * PE_SLOW_NANOSECONDS; cost += 1000) {
        fake_stream even = begin(cost);
        make_many(&even, 1000);
        assert_int_equal(even.slow, 0);
        assert_int_equal(cost > PE_SLOW_NANOSECONDS ? even.by_sender : even.by_workers - 1, 0);
    }
}

/* And its blocks are no smaller than they have to be: twice as large, they would take long. */
static void blocks_are_as_large_as_their_time_allows(void **state)
{
    for (int64_t cost = 1000; cost <= PE_SLOW_NANOSECONDS; cost += 1000) {
        fake_stream even = begin(cost);
        make_many(&even, 10);
        const int64_t took = cost * (int64_t)(even.pace.most / PE_BLOCK_BYTES);
        assert_true(even.pace.most == LARGE || took >= PE_SLOW_NANOSECONDS / 4);
    }
}

static void a_false_alarm_costs_four_blocks_that_are_smaller(void **state)
{
    fake_stream quick = begin(4000);
    make_many(&quick, 10);
    make(&quick, 3 * PE_SLOW_NANOSECONDS);
    assert_int_equal(quick.pace.most, PE_BLOCK_BYTES);
    make_many(&quick, 4);
    assert_int_equal(quick.by_workers, 2);
    assert_int_equal(quick.pace.most, LARGE);
}

/* The tables were cold, say. */
static void a_worker_that_was_slow_once_is_asked_once_more(void **state)
{
    fake_stream quick = begin(4000);
    pe_pace_worker(&quick.pace, 2 * PE_SLOW_NANOSECONDS);
    make_many(&quick, 10);
    assert_int_equal(quick.by_workers, 2);
}

/* What becomes slow stays with workers, and for a while when it is quick again. */
static void what_stays_slow_stays_with_workers(void **state)
{
    fake_stream changing = begin(4000);
    make_many(&changing, 100);
    changing.cost = 2 * PE_SLOW_NANOSECONDS;
    changing.by_sender = changing.by_workers = 0;
    make_many(&changing, 1000);
    assert_int_equal(changing.by_sender, 1);
    changing.cost = 4000;
    changing.by_sender = changing.by_workers = 0;
    make_many(&changing, 1000);
    assert_in_range(changing.by_workers, 32, 64);
    assert_int_equal(changing.pace.most, LARGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_quick_stream_has_large_blocks_after_three),
        cmocka_unit_test(a_stream_without_room_keeps_small_blocks),
        cmocka_unit_test(no_block_of_a_sender_is_slow),
        cmocka_unit_test(blocks_are_as_large_as_their_time_allows),
        cmocka_unit_test(a_false_alarm_costs_four_blocks_that_are_smaller),
        cmocka_unit_test(a_worker_that_was_slow_once_is_asked_once_more),
        cmocka_unit_test(what_stays_slow_stays_with_workers),
    };
    return cmocka_run_group_tests_name("pace", tests, NULL, NULL);
}
