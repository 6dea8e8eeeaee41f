/* SPDX-License-Identifier: MIT */
/* test_shares.c - keys, rates, and what one client may use of what there is. */
#include "support/check.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "http/clients/keys.h"
#include "support/folder.h"
#include "support/problem.h"
#include "support/wire.h"

#define SMALL "/v1/rope/frequencies?head_dim=8"

#define MINE  "127.0.0.2"
#define YOURS "127.0.0.3"

/* One request on a connection of its own, from that address. */
static reply ask(const test_server *server, const char *address, const char *target,
                 const char *field)
{
    const char *const fields[] = {field, NULL};
    test_wire wire = wire_open_from(server, address);
    reply answer = wire_request(&wire, "GET", target, fields, NULL, 0);
    wire_close(&wire);
    return answer;
}

static void expect(const test_server *server, const char *address, const char *target,
                   const char *field, long status)
{
    reply answer = ask(server, address, target, field);
    assert_status(target, &answer, status);
    reply_free(&answer);
}

static void expect_field(const reply *answer, const char *name, const char *begin)
{
    char value[160];
    assert_non_null(reply_header(answer, name, value, sizeof value));
    if (strncmp(value, begin, strlen(begin)) != 0)
        fail_msg("%s: wanted %s..., got %s", name, begin, value);
}

/* ---- keys ---- */

typedef struct holder {
    char field[PE_KEY_TEXT_BYTES + 32], digits[2 * PE_KEY_HASH_BYTES + 1];
    char key[PE_KEY_TEXT_BYTES];
} holder;

static holder make_holder(void)
{
    holder made;
    pe_problem why;
    uint8_t hash[PE_KEY_HASH_BYTES];
    assert_int_equal(pe_key_new(made.key, hash, &why), PE_OK);
    pe_key_print(hash, sizeof hash, made.digits);
    snprintf(made.field, sizeof made.field, "Authorization: Bearer %s", made.key);
    return made;
}

static void put_keys(const test_folder *folder, const holder *alice, const holder *bob,
                     const char *state)
{
    char text[512];
    snprintf(text, sizeof text, "# who may come\nalice sha256:%s rate=1000\nbob sha256:%s %s\n",
             alice->digits, bob->digits, state);
    folder_put(folder, "keys", text, strlen(text));
}

/* Until a request is answered so: a reload takes its time. */
static void wait_for(const test_server *server, const char *field, long status)
{
    long got = 0;
    for (int i = 0; i < TEST_PATIENCE * 100 && got != status; i++) {
        reply answer = ask(server, MINE, SMALL, field);
        got = answer.status;
        reply_free(&answer);
        if (got != status)
            usleep(10000);
    }
    assert_int_equal(got, status);
}

static void expect_open_pages(const test_server *server)
{
    static const char *const open[] = {
        "/",        "/livez",        "/readyz",       "/healthz",
        "/version", "/openapi.yaml", "/openapi.json", "/problems/unauthorized"};
    for (size_t i = 0; i < PE_LEN(open); i++)
        expect(server, MINE, open[i], NULL, 200);
    reply answer = fetch(server, "OPTIONS", SMALL, NULL, NULL, 0);
    assert_status("a preflight", &answer, 204);
    reply_free(&answer);
}

static void expect_refusals(const test_server *server, const holder *bob)
{
    static const char *const wrong[] = {NULL,
                                        "Authorization: Bearer",
                                        "Authorization: Bearer ",
                                        "Authorization: Basic YWxpY2U6eA==",
                                        "Authorization: Bearer pe_1",
                                        "Authorization: \"",
                                        "Authorization: Bearer pe_1 pe_2"};
    for (size_t i = 0; i < PE_LEN(wrong); i++) {
        reply answer = ask(server, MINE, SMALL, wrong[i]);
        assert_problem("without a key", &answer, 401, "unauthorized");
        char challenge[128];
        assert_non_null(reply_header(&answer, "WWW-Authenticate", challenge, sizeof challenge));
        assert_int_equal(strncmp(challenge, "Bearer realm=\"posenc\"", 21), 0);
        reply_free(&answer);
    }
    reply answer = ask(server, MINE, SMALL, bob->field);
    assert_problem("a disabled key", &answer, 403, "forbidden");
    reply_free(&answer);
    expect(server, MINE, "/v1/nothing", NULL, 401);
}

/* The header alone is refused; the client reads that, though it sends all of the body. */
static void expect_refused_body(const test_server *server)
{
    static const char *const fields[] = {"Content-Type: application/json", NULL};
    static char body[1048576];
    memset(body, ' ', sizeof body);
    for (int n = 0; n < 20; n++) {
        test_wire wire = wire_open_from(server, MINE);
        reply answer =
            wire_request(&wire, "POST", "/v1/rope/frequencies", fields, body, sizeof body);
        assert_problem("a body without a key", &answer, 401, "unauthorized");
        reply_free(&answer);
        wire_close(&wire);
    }
}

static void whoever_has_a_key_is_served(void **state)
{
    const test_folder folder = folder_make();
    const holder alice = make_holder(), bob = make_holder();
    char path[128];
    test_server server;
    snprintf(path, sizeof path, "%s/keys", folder.path);
    const char *const flags[] = {"--keys-file", path, "--access-log", NULL};
    put_keys(&folder, &alice, &bob, "disabled");
    server_start(&server, flags);
    expect(&server, MINE, SMALL, alice.field, 200);
    reply cached = ask(&server, MINE, SMALL, alice.field);
    assert_status("from the cache", &cached, 200);
    expect_field(&cached, "Server-Timing", "cache;desc=hit");
    expect_field(&cached, "Cache-Control", "private, max-age=31536000, immutable");
    expect_field(&cached, "RateLimit-Policy", "\"key-requests\";q=10000;qu=\"requests\";w=10");
    expect_field(&cached, "RateLimit", "\"key-requests\";r=");
    reply_free(&cached);
    const char *const fields[] = {alice.field, "Content-Type: application/json", NULL};
    reply answer = fetch(&server, "POST", "/v1/rope/frequencies", fields, "{\"head_dim\": 8}", 15);
    assert_status("a body", &answer, 200);
    reply_free(&answer);
    expect_refusals(&server, &bob);
    expect_refused_body(&server);
    expect_open_pages(&server);
    put_keys(&folder, &alice, &bob, "enabled"); /* no such word: nothing changes */
    kill(server.pid, SIGHUP);
    expect(&server, MINE, SMALL, alice.field, 200);
    put_keys(&folder, &alice, &bob, "");
    kill(server.pid, SIGHUP);
    wait_for(&server, bob.field, 200);
    assert_int_equal(server_stop(&server), 0);
    assert_non_null(strstr(server.log, "\"key\":\"alice\""));
    assert_non_null(strstr(server.log, "\"key\":\"bob\""));
    assert_non_null(strstr(server.log, "\"added\":2,\"changed\":0,\"removed\":0"));
    assert_non_null(strstr(server.log, "\"changed\":1,\"removed\":0,\"names\":\"bob enabled\""));
    assert_null(strstr(server.log, alice.key));
    assert_null(strstr(server.log, alice.digits));
    assert_null(strstr(server.log, "Bearer"));
    server_free(&server);
    folder_remove(&folder);
}

static void the_combined_format_tells_whose_key_it_was(void **state)
{
    const test_folder folder = folder_make();
    const holder alice = make_holder(), bob = make_holder();
    char path[128];
    test_server server;
    snprintf(path, sizeof path, "%s/keys", folder.path);
    const char *const flags[] = {
        "--keys-file", path, "--access-log", "--access-log-format", "combined", "--user=", NULL};
    put_keys(&folder, &alice, &bob, "disabled");
    server_start(&server, flags);
    expect(&server, MINE, SMALL, alice.field, 200);
    expect(&server, MINE, SMALL, bob.field, 403);
    expect(&server, MINE, SMALL, NULL, 401);
    assert_int_equal(server_stop(&server), 0);
    assert_non_null(strstr(server.log, MINE " - alice ["));
    assert_non_null(strstr(server.log, MINE " - bob ["));
    assert_non_null(strstr(server.log, MINE " - - ["));
    assert_null(strstr(server.log, alice.key));
    server_free(&server);
    folder_remove(&folder);
}

/* ---- rates ---- */

/* Ask until the answer is a 429; what it says of the limit. */
static reply ask_until_limited(const test_server *server, const char *address, const char *target,
                               int least)
{
    for (int i = 0; i < 100000; i++) {
        reply answer = ask(server, address, target, NULL);
        if (answer.status == 429) {
            assert_true(i >= least);
            return answer;
        }
        assert_status(target, &answer, 200);
        reply_free(&answer);
    }
    fail_msg("%s was never limited", target);
}

static void requests_of_an_address_have_a_rate(void **state)
{
    static const char *const flags[] = {"--address-rate", "1", "--rate-window-s", "5", NULL};
    test_server server;
    server_start(&server, flags);
    reply answer = ask(&server, "127.0.0.4", SMALL, NULL);
    expect_field(&answer, "RateLimit-Policy", "\"requests\";q=5;qu=\"requests\";w=5");
    expect_field(&answer, "RateLimit", "\"requests\";r=4");
    expect_field(&answer, "Cache-Control", "public");
    reply_free(&answer);
    answer = ask_until_limited(&server, MINE, SMALL, 5);
    assert_problem("beyond the rate", &answer, 429, "rate-limited");
    expect_field(&answer, "Retry-After", "1");
    expect_field(&answer, "RateLimit-Policy", "\"requests\";q=5;qu=\"requests\";w=5");
    expect_field(&answer, "RateLimit", "\"requests\";r=0;t=1");
    reply_free(&answer);
    expect(&server, YOURS, SMALL, NULL, 200);
    expect(&server, MINE, "/livez", NULL, 200);
    wait_for(&server, NULL, 200); /* it comes in again */
    server_end(&server);
}

/* A table that is made is paid for, and one that is there is not. */
static void work_of_an_address_has_a_rate(void **state)
{
    static const char *const flags[] = {"--address-work-rate", "1", "--rate-window-s", "86400",
                                        NULL};
    static const char costly[] = "/v1/sinusoidal?d_model=512&positions=0:400";
    test_server server;
    server_start(&server, flags);
    expect(&server, MINE, costly, NULL, 200); /* a full bucket lends */
    reply answer = ask(&server, MINE, "/v1/sinusoidal?d_model=512&positions=0:401", NULL);
    assert_problem("beyond the work", &answer, 429, "rate-limited");
    expect_field(&answer, "RateLimit-Policy", "\"work\";q=86400;qu=\"work\";w=86400");
    expect_field(&answer, "RateLimit", "\"work\";r=0;t=");
    reply_free(&answer);
    expect(&server, MINE, costly, NULL, 200); /* stored: no work */
    expect(&server, YOURS, "/v1/sinusoidal?d_model=512&positions=0:401", NULL, 200);
    server_end(&server);
}

static uint64_t work_left_of(const test_server *server)
{
    char field[128];
    reply answer = fetch(server, "GET", "/v1", NULL, NULL, 0);
    assert_non_null(reply_header(&answer, "RateLimit", field, sizeof field));
    reply_free(&answer);
    const char *left = strstr(field, "\"work\";r=");
    assert_non_null(left);
    return strtoull(left + strlen("\"work\";r="), NULL, 10);
}

/* 70 million numbers or more, of which the reader takes few. */
static void a_stream_that_is_left_gives_back_what_was_not_read(void **state)
{
    static const char *const flags[] = {"--address-work-rate", "10000", "--rate-window-s", "86400",
                                        NULL};
    static const struct {
        const char *query, *field;
    } rows[] = {{"format=raw", "Range: bytes=0-"},
                {"format=raw", "Range: bytes=1048576-"},
                {"format=csv", "Accept: */*"},
                {"format=json", "Accept-Encoding: gzip"}};
    test_server server;
    server_start(&server, flags);
    for (size_t r = 0; r < PE_LEN(rows); r++) {
        char text[256], begun[16];
        snprintf(text, sizeof text,
                 "GET /v1/sinusoidal?d_model=512&positions=0:140000&%s HTTP/1.1\r\nHost: a\r\n%s"
                 "\r\n\r\n",
                 rows[r].query, rows[r].field);
        const uint64_t before = work_left_of(&server);
        test_wire busy = wire_open_narrow(&server);
        wire_send_text(&busy, text);
        wire_take(&busy, begun, 15);
        assert_true(work_left_of(&server) < before - 60000000);
        wire_close(&busy);
        const time_t until = time(NULL) + TEST_PATIENCE;
        while (work_left_of(&server) < before - 20000000)
            assert_true(time(NULL) < until);
        assert_true(work_left_of(&server) <= 864000000);
    }
    server_end(&server);
}

/* ---- workers ---- */

#define FLOOD 48

/* Some tenths of a second of frequencies, and few numbers. */
#define MUCH "/v1/rope/decay?head_dim=65536&offsets=0:100&rope_theta=%d"

typedef struct flood {
    const test_server *server;
    int number;
    atomic_int *answered;
} flood;

/* Much work, and each another one. On a slow machine the last of them wait too long, and get
 * 503. */
static void *ask_much(void *context)
{
    const flood *own = context;
    char target[128];
    snprintf(target, sizeof target, MUCH, 3000 + own->number);
    reply answer = ask(own->server, MINE, target, NULL);
    if (answer.status != 200 && answer.status != 503)
        print_error("status %ld\n", answer.status);
    else
        atomic_fetch_add(own->answered, 1);
    reply_free(&answer);
    return NULL;
}

static void many_requests_of_one_delay_nobody_else(void **state)
{
    static const char *const flags[] = {"--workers", "1", NULL};
    test_server server;
    pthread_t thread[FLOOD];
    flood floods[FLOOD];
    atomic_int answered = 0;
    server_start(&server, flags);
    for (int i = 0; i < FLOOD; i++) {
        floods[i] = (flood){&server, i, &answered};
        assert_int_equal(pthread_create(&thread[i], NULL, ask_much, &floods[i]), 0);
    }
    metric_wait(&server, "posenc_queue", FLOOD / 2, FLOOD);
    char target[128];
    snprintf(target, sizeof target, MUCH, 2999);
    expect(&server, YOURS, target, NULL, 200);
    /* First come, first served would have answered all that waited before it. */
    assert_in_range(atomic_load(&answered), 0, FLOOD - FLOOD / 4);
    for (int i = 0; i < FLOOD; i++)
        pthread_join(thread[i], NULL);
    assert_int_equal(atomic_load(&answered), FLOOD);
    server_end(&server);
}

static void one_client_does_not_fill_the_queue(void **state)
{
    static const char *const flags[] = {"--workers", "1", "--queue-max", "1", NULL};
    test_server server;
    test_wire wires[FLOOD];
    server_start(&server, flags);
    for (int i = 0; i < FLOOD; i++) {
        char text[256];
        wires[i] = wire_open_from(&server, MINE);
        snprintf(text, sizeof text,
                 "GET /v1/rope/table?head_dim=512&positions=%d:%d&format=json HTTP/1.1\r\n"
                 "Host: x\r\n\r\n",
                 i, i + 4000);
        assert_true(wire_send_text(&wires[i], text));
    }
    expect(&server, YOURS, "/v1/rope/table?head_dim=512&positions=7:3007&format=json", NULL, 200);
    for (int i = 0; i < FLOOD; i++)
        wire_close(&wires[i]);
    server_end(&server);
}

/* ---- bodies ---- */

#define BODY 1048576

/* Bodies of one byte less than they should have, which therefore never end. */
static void send_most_of_bodies(const test_server *server, const char *address, test_wire *wires,
                                size_t n)
{
    static char body[BODY];
    char header[256];
    memset(body, ' ', sizeof body);
    snprintf(header, sizeof header,
             "POST /v1/rope/frequencies HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
             "Content-Length: %d\r\n\r\n",
             BODY);
    for (size_t i = 0; i < n; i++) {
        wires[i] = wire_open_from(server, address);
        assert_true(wire_send_text(&wires[i], header));
        assert_true(wire_send(&wires[i], body, sizeof body - 1));
    }
}

static long post(const test_server *server, const char *address, size_t bytes)
{
    static const char *const fields[] = {"Content-Type: application/json", NULL};
    static char body[BODY];
    memset(body, ' ', sizeof body);
    memcpy(body, "{\"head_dim\": 8}", 15);
    test_wire wire = wire_open_from(server, address);
    reply answer = wire_request(&wire, "POST", "/v1/rope/frequencies", fields, body, bytes);
    const long status = answer.status;
    reply_free(&answer);
    wire_close(&wire);
    return status;
}

static void large_bodies_leave_room_for_small_ones(void **state)
{
    static const char *const flags[] = {"--max-body-bytes", "1048576", NULL};
    test_server server;
    test_wire wires[8];
    server_start(&server, flags);
    for (long i = 0; i < 7; i++) {
        send_most_of_bodies(&server, MINE, &wires[i], 1);
        metric_wait(&server, "posenc_body_bytes", (i + 1) * (BODY - 1), (i + 1) * BODY);
    }
    send_most_of_bodies(&server, MINE, &wires[7], 1);
    assert_int_equal(post(&server, YOURS, BODY), 503);
    assert_int_equal(post(&server, YOURS, 31), 200);
    assert_int_equal(post(&server, MINE, 31), 200);
    for (size_t i = 0; i < PE_LEN(wires); i++)
        wire_close(&wires[i]);
    server_end(&server);
}

static void bodies_of_one_address_have_a_share(void **state)
{
    static const char *const flags[] = {"--max-body-bytes", "1048576", "--body-bytes-per-address",
                                        "2097152", NULL};
    test_server server;
    test_wire wires[2];
    server_start(&server, flags);
    send_most_of_bodies(&server, MINE, wires, 2);
    metric_wait(&server, "posenc_body_bytes", 2 * BODY - 2, 2 * BODY);
    assert_int_equal(post(&server, MINE, BODY), 503);
    assert_int_equal(post(&server, YOURS, BODY), 200);
    for (size_t i = 0; i < PE_LEN(wires); i++)
        wire_close(&wires[i]);
    server_end(&server);
}

/* ---- connections ---- */

/* A connection's first request; the status, and whether a 503 tells when to come again. */
static long livez(test_wire *wire)
{
    char seconds[16];
    reply answer = wire_request(wire, "GET", "/livez", NULL, NULL, 0);
    const long status = answer.status;
    if (status == 503)
        assert_non_null(reply_header(&answer, "Retry-After", seconds, sizeof seconds));
    reply_free(&answer);
    return status;
}

static void an_address_has_so_many_connections(void **state)
{
    static const char *const flags[] = {"--connections-per-address", "2", NULL};
    test_server server;
    server_start(&server, flags);
    test_wire first = wire_open_from(&server, MINE), second = wire_open_from(&server, MINE);
    assert_int_equal(livez(&first), 200);
    assert_int_equal(livez(&second), 200);
    test_wire third = wire_open_from(&server, MINE), other = wire_open_from(&server, YOURS);
    assert_int_equal(livez(&third), 503);
    assert_int_equal(livez(&other), 200);
    wire_close(&first);
    wire_close(&third);
    for (long status = 503; status != 200;) { /* until the server has seen that the first closed */
        test_wire next = wire_open_from(&server, MINE);
        status = livez(&next);
        wire_close(&next);
    }
    wire_close(&second);
    wire_close(&other);
    server_end(&server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whoever_has_a_key_is_served),
        cmocka_unit_test(the_combined_format_tells_whose_key_it_was),
        cmocka_unit_test(requests_of_an_address_have_a_rate),
        cmocka_unit_test(work_of_an_address_has_a_rate),
        cmocka_unit_test(a_stream_that_is_left_gives_back_what_was_not_read),
        cmocka_unit_test(many_requests_of_one_delay_nobody_else),
        cmocka_unit_test(one_client_does_not_fill_the_queue),
        cmocka_unit_test(large_bodies_leave_room_for_small_ones),
        cmocka_unit_test(bodies_of_one_address_have_a_share),
        cmocka_unit_test(an_address_has_so_many_connections),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
