/* SPDX-License-Identifier: MIT */
/* test_stream_blocks.c - how many blocks a stream has: large ones where there is room, on a server
 * that has computed nothing before, and while others want the cores. */
#include "support/check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "support/wire.h"

enum {
    BYTES = 262144000, /* 128000 rows of 512 float32 */
    SMALL = BYTES / 32768,
    LARGE = BYTES / 262144,
    SPINNERS_MAX = 256,
};

/* Blocks grow from small to large, and once more after one that seemed slow. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__ || !defined __OPTIMIZE__
enum { ROOM_MAX = SMALL, SERVERS = 1 }; /* there large blocks are slow */
#else
enum { ROOM_MAX = 2 * LARGE, SERVERS = 3 };
#endif

/* Blocks that a new server makes for the first request it gets. */
static long blocks(const char *const *flags)
{
    static const char request[] =
        "GET /v1/sinusoidal?d_model=512&positions=0:128000&format=raw HTTP/1.1\r\n"
        "Host: a\r\nConnection: close\r\n\r\n";
    test_server server;
    server_start(&server, flags);
    test_wire wire = wire_open(&server);
    wire_send_text(&wire, request);
    const size_t got = wire_drain(&wire);
    wire_close(&wire);
    reply io = get(&server, "/metrics"), workers = get(&server, "/metrics");
    const long by_io = (long)reply_metric(&io, "posenc_stream_blocks_total{by=\"io\"}"),
               by_workers =
                   (long)reply_metric(&workers, "posenc_stream_blocks_total{by=\"worker\"}");
    server_end(&server);
    print_message("%ld and %ld blocks\n", by_io, by_workers);
    assert_in_range(got, BYTES, BYTES + 4096); /* and the header */
    return by_io + by_workers;
}

static void a_stream_that_has_room_soon_has_large_blocks(void **state)
{
    for (int i = 0; i < SERVERS; i++)
        assert_in_range(blocks(NULL), LARGE, ROOM_MAX);
}

static void a_stream_that_has_no_room_has_small_blocks(void **state)
{
    static const char *const flags[] = {"--stream-blocks-bytes", "0", NULL};
    assert_int_equal(blocks(flags), SMALL);
}

/* ---- the same beside threads that always want a core ---- */

static pthread_t spinner[SPINNERS_MAX];
static size_t spinners;
static atomic_bool enough;

static void *spin(void *unused)
{
    while (!atomic_load_explicit(&enough, memory_order_relaxed))
        ;
    return unused;
}

static int load(void **state)
{
    const long wanted = sysconf(_SC_NPROCESSORS_ONLN);
    atomic_store(&enough, false);
    while (spinners < SPINNERS_MAX && (long)spinners < wanted &&
           pthread_create(&spinner[spinners], NULL, spin, NULL) == 0)
        spinners++;
    return (long)spinners < wanted && spinners < SPINNERS_MAX ? -1 : 0;
}

static int unload(void **state)
{
    atomic_store(&enough, true);
    while (spinners > 0)
        pthread_join(spinner[--spinners], NULL);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_that_has_room_soon_has_large_blocks),
        cmocka_unit_test(a_stream_that_has_no_room_has_small_blocks),
        {"a_stream_keeps_large_blocks_on_a_machine_that_is_loaded",
         a_stream_that_has_room_soon_has_large_blocks, load, unload, NULL},
        {"a_stream_keeps_small_blocks_on_a_machine_that_is_loaded",
         a_stream_that_has_no_room_has_small_blocks, load, unload, NULL},
    };
    return cmocka_run_group_tests_name("http stream blocks", tests, NULL, NULL);
}
