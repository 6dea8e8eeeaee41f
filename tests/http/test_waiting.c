/* SPDX-License-Identifier: MIT */
/* test_waiting.c - a connection that waits, in whatever state, costs no CPU. */
#include "support/check.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "support/certificate.h"
#include "support/problem.h"
#include "support/wire.h"

/* Of a core. A loop that spins takes all of one, or its share of a busy one; what waits takes a tick
 * of the system's clock now and then. */
#define SHARE_MAX 0.04
#define LOOK_MS   1000
#define LOOKS_MAX 10

#define LIBRARY_THREADS "MHD-"

#define HOST          " HTTP/1.1\r\nHost: a\r\n"
#define GET(path)     "GET " path HOST
#define POST          "POST /v1/sinusoidal" HOST "Content-Type: application/json\r\n"
#define GIGABYTE      "/v1/sinusoidal?d_model=512&positions=0:524288&format="
#define PROXY         "127.0.0.2"
#define TLS_1_3       "NORMAL"
#define TLS_1_2       "NORMAL:-VERS-ALL:+VERS-TLS1.2"
#define WHOLE         SIZE_MAX
#define RECORD        50 /* bytes of a hello, where it comes in several records */
#define HELLO_ROOM    8192
#define FIELDS_BEFORE 12 /* spaces from a thread's name to its ticks */

/* ---- CPU ---- */

/* Of one thread, whose name stands in parentheses before the other fields of its line. */
static long ticks_in(const char *line, const char *threads)
{
    const char *name = strchr(line, '('), *end = strrchr(line, ')');
    if (name == NULL || end == NULL || strncmp(name + 1, threads, strlen(threads)) != 0)
        return 0;
    const char *field = end;
    for (size_t passed = 0; field != NULL && passed < FIELDS_BEFORE; passed++)
        field = strchr(field + 1, ' ');
    if (field == NULL)
        return 0;
    char *after;
    const long user = strtol(field, &after, 10);
    return user + strtol(after, NULL, 10);
}

static long ticks_of(const char *folder, const char *thread, const char *threads)
{
    char path[320], line[1024] = "";
    snprintf(path, sizeof path, "%s/%s/stat", folder, thread);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return 0; /* it has ended */
    const bool read = fgets(line, sizeof line, file) != NULL;
    fclose(file);
    return read ? ticks_in(line, threads) : 0;
}

/* Seconds, of the server's threads whose names begin so. */
static double cpu_of(const test_server *server, const char *threads)
{
    char folder[64];
    long ticks = 0;
    snprintf(folder, sizeof folder, "/proc/%d/task", (int)server->pid);
    DIR *all = opendir(folder);
    assert_non_null(all);
    for (const struct dirent *one; (one = readdir(all)) != NULL;)
        if (one->d_name[0] != '.')
            ticks += ticks_of(folder, one->d_name, threads);
    closedir(all);
    return (double)ticks / (double)sysconf(_SC_CLK_TCK);
}

static double share_now(const test_server *server)
{
    const double before = cpu_of(server, "");
    const int64_t begun = pe_clock();
    poll(NULL, 0, LOOK_MS);
    const double seconds = (double)(pe_clock() - begun) / 1e9;
    return (cpu_of(server, "") - before) / seconds;
}

/* What connections in whatever state have to do comes to its end. */
static bool comes_to_rest(const test_server *server)
{
    for (int look = 0; look < LOOKS_MAX; look++)
        if (share_now(server) <= SHARE_MAX)
            return true;
    return false;
}

/* ---- a hello ---- */

typedef struct hello {
    unsigned char data[HELLO_ROOM];
    size_t bytes;
} hello;

static ssize_t keep(gnutls_transport_ptr_t context, const void *data, size_t bytes)
{
    hello *made = context;
    assert_true(bytes <= sizeof made->data - made->bytes);
    memcpy(made->data + made->bytes, data, bytes);
    made->bytes += bytes;
    return (ssize_t)bytes;
}

static ssize_t hear_nothing(gnutls_transport_ptr_t context, void *data, size_t bytes)
{
    errno = EAGAIN;
    return -1;
}

static hello hello_make(const char *priorities)
{
    hello made = {.bytes = 0};
    gnutls_session_t session;
    gnutls_certificate_credentials_t nothing;
    assert_int_equal(gnutls_certificate_allocate_credentials(&nothing), 0);
    assert_int_equal(gnutls_init(&session, GNUTLS_CLIENT | GNUTLS_NONBLOCK), 0);
    assert_int_equal(gnutls_priority_set_direct(session, priorities, NULL), 0);
    gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, nothing);
    gnutls_transport_set_ptr(session, &made);
    gnutls_transport_set_push_function(session, keep);
    gnutls_transport_set_pull_function(session, hear_nothing);
    assert_int_equal(gnutls_handshake(session), GNUTLS_E_AGAIN);
    gnutls_deinit(session);
    gnutls_certificate_free_credentials(nothing);
    assert_true(made.bytes > 100);
    return made;
}

/* The same in records of RECORD bytes. A record: its type, version, and length, two bytes. */
static hello hello_split(const hello *whole)
{
    hello made = {.bytes = 0};
    for (size_t at = 5, bytes; at < whole->bytes; at += bytes) {
        bytes = whole->bytes - at < RECORD ? whole->bytes - at : RECORD;
        keep(&made, whole->data, 4);
        keep(&made, &(unsigned char){(unsigned char)bytes}, 1);
        keep(&made, whole->data + at, bytes);
        made.data[made.bytes - bytes - 2] = 0;
    }
    return made;
}

/* ---- states ---- */

/* What a client has sent when it falls silent. It reads nothing. */
typedef struct state {
    const char *name, *text;
    const char *hello; /* over TLS: its priorities; it stands in the place of a handshake */
    size_t bytes;      /* of it */
    bool split;        /* in several records, without the last one where it is not WHOLE */
    bool proxy;        /* from the address of one, before TLS */
    bool refused;      /* no connection any more */
} state;

static const state states[] = {
    {.name = "nothing", .text = ""},
    {.name = "half a first line", .text = "GET /v1 HT"},
    {.name = "half a header", .text = GET("/livez") "X-A"},
    {.name = "half a body", .text = POST "Content-Length: 13\r\n\r\n{\"d_mo"},
    {.name = "half a chunk", .text = POST "Transfer-Encoding: chunked\r\n\r\n9\r\n{\"d_"},
    {.name = "a header that expects 100",
     .text = POST "Expect: 100-continue\r\nContent-Length: 13\r\n\r\n"},
    {.name = "a request", .text = GET("/livez") "\r\n"},
    {.name = "a request and half a header", .text = GET("/livez") "\r\n" GET("/livez")},
    {.name = "no more, with an answer unread", .text = GET(GIGABYTE "raw") "\r\n"},
    {.name = "no more, with numbers as text unread", .text = GET(GIGABYTE "json") "\r\n"},
    {.name = "no more, with coded text unread",
     .text = GET(GIGABYTE "csv") "Accept-Encoding: gzip\r\n\r\n"},
    {.name = "a body that is refused",
     .text = POST "Content-Length: 10000000000\r\n\r\n{",
     .refused = true},
    {.name = "a header that is refused", .text = GET("/livez") "no field\r\n\r\n", .refused = true},
    {.name = "half a PROXY header", .text = "PROXY TCP4 192.0.2.1", .proxy = true},
    {.name = "a PROXY header", .text = "PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n", .proxy = true},
    {.name = "no hello", .text = "", .hello = TLS_1_3, .bytes = 0},
    {.name = "a byte of a hello", .text = "", .hello = TLS_1_3, .bytes = 1},
    {.name = "five bytes of a hello", .text = "", .hello = TLS_1_3, .bytes = 5},
    {.name = "twenty bytes of a hello", .text = "", .hello = TLS_1_3, .bytes = 20},
    {.name = "half a hello", .text = "", .hello = TLS_1_2, .bytes = 90},
    {.name = "a hello", .text = "", .hello = TLS_1_3, .bytes = WHOLE},
    {.name = "a hello of 1.2", .text = "", .hello = TLS_1_2, .bytes = WHOLE},
    {.name = "some records of a hello", .text = "", .hello = TLS_1_3, .bytes = 110, .split = true},
    {.name = "a hello in records", .text = "", .hello = TLS_1_2, .bytes = WHOLE, .split = true},
    {.name = "half a hello behind a PROXY header",
     .text = "PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n",
     .hello = TLS_1_3,
     .bytes = 90,
     .proxy = true},
};

static void send_hello(test_wire *wire, const state *s)
{
    hello made = hello_make(s->hello);
    if (s->split)
        made = hello_split(&made);
    /* one that is late, or refused, may have been ended by now */
    (void)wire_send(wire, made.data, s->bytes < made.bytes ? s->bytes : made.bytes);
}

/* A busy machine may take longer for a handshake than the deadline that a test sets. */
#define HANDSHAKES 1000

static test_wire open_tls(const test_server *server)
{
    test_wire wire;
    const char *why = "";
    for (int time = 0; time < HANDSHAKES; time++)
        if (wire_try_tls(server, &wire, &why))
            return wire;
    fail_msg("no handshake: %s", why);
    return wire;
}

static test_wire reach(const test_server *server, bool tls, const state *s)
{
    const bool raw = !tls || s->hello != NULL || s->proxy;
    test_wire wire = !raw       ? open_tls(server)
                     : s->proxy ? wire_open_from(server, PROXY)
                                : wire_open(server);
    wire_send_text(&wire, s->text);
    if (s->hello != NULL)
        send_hello(&wire, s);
    return wire;
}

/* A state of TLS alone is left out without it. */
static bool applies(const state *s, bool tls)
{
    return tls || s->hello == NULL;
}

/* ---- servers ---- */

static char certificate[128], key[128];

static void start(test_server *server, bool tls, const char *const *flags)
{
    const char *all[32] = {NULL};
    size_t n = 0;
    for (; *flags != NULL; flags++)
        all[n++] = *flags;
    if (tls) {
        all[n++] = "--tls-certificate";
        all[n++] = certificate;
        all[n++] = "--tls-key";
        all[n++] = key;
    }
    all[n] = NULL;
    server_listen(server, all);
}

static const char *const patient[] = {"--threads",
                                      "2",
                                      "--workers",
                                      "1",
                                      "--idle-timeout-ms",
                                      "3600000",
                                      "--header-deadline-ms",
                                      "3600000",
                                      "--request-deadline-ms",
                                      "3600000",
                                      "--min-rate-bytes",
                                      "0",
                                      "--linger-ms",
                                      "3600000",
                                      "--drain-timeout-ms",
                                      "3600000",
                                      "--max-work",
                                      "1000000000000",
                                      "--trusted-proxies",
                                      PROXY,
                                      "--proxy-protocol",
                                      NULL};

static long connections_of(const test_server *server, bool tls)
{
    test_wire wire = tls ? wire_open_tls(server) : wire_open(server);
    reply answer = wire_request(&wire, "GET", "/metrics", NULL, NULL, 0);
    const long connections = (long)reply_metric(&answer, "posenc_connections");
    reply_free(&answer);
    wire_close(&wire);
    return connections - 1;
}

/* Which of them does not? */
static void name_the_restless(bool tls, const char *const *flags)
{
    for (size_t i = 0; i < PE_LEN(states); i++) {
        test_server server;
        if (!applies(&states[i], tls))
            continue;
        start(&server, tls, flags);
        test_wire wire = reach(&server, tls, &states[i]);
        if (!comes_to_rest(&server))
            print_error("%s: the server uses CPU after: %s\n", tls ? "TLS" : "plain",
                        states[i].name);
        wire_close(&wire);
        server_end(&server);
    }
}

/* All of them at once. n: of those that are open then. */
static size_t reach_all(const test_server *server, bool tls, test_wire *wires, size_t *n_open)
{
    size_t n = 0;
    *n_open = 0;
    for (size_t i = 0; i < PE_LEN(states); i++)
        if (applies(&states[i], tls)) {
            wires[n++] = reach(server, tls, &states[i]);
            *n_open += !states[i].refused;
        }
    return n;
}

static void close_all(test_wire *wires, size_t n)
{
    for (size_t i = 0; i < n; i++)
        wire_close(&wires[i]);
}

/* Also once the server is at its end, and waits for what is under way. */
static void assert_all_rest(bool tls, const char *const *flags, bool stay)
{
    test_server server;
    test_wire wires[PE_LEN(states)];
    size_t n_open;
    start(&server, tls, flags);
    const size_t n = reach_all(&server, tls, wires, &n_open);
    const bool rest = comes_to_rest(&server);
    if (rest && stay)
        assert_int_equal(connections_of(&server, tls), n_open);
    server_ask_to_stop(&server);
    const bool rest_at_end = comes_to_rest(&server);
    close_all(wires, n);
    server_end(&server);
    if (!rest)
        name_the_restless(tls, flags);
    if (!rest || !rest_at_end)
        fail_msg("the server uses CPU while all connections wait%s", rest ? " for its end" : "");
}

static void a_connection_that_waits_costs_no_cpu(void **unused)
{
    assert_all_rest(false, patient, true);
    assert_all_rest(true, patient, true);
}

/* Who has been told so, and stays. */
static void one_that_is_late_costs_none(void **unused)
{
    static const char *const flags[] = {"--header-deadline-ms",
                                        "100",
                                        "--request-deadline-ms",
                                        "100",
                                        "--idle-timeout-ms",
                                        "1000",
                                        "--linger-ms",
                                        "3600000",
                                        "--trusted-proxies",
                                        PROXY,
                                        "--proxy-protocol",
                                        "--drain-timeout-ms",
                                        "0",
                                        "--workers",
                                        "1",
                                        NULL};
    assert_all_rest(false, flags, false);
    assert_all_rest(true, flags, false);
}

static void one_too_many_costs_none(void **unused)
{
    static const char *const flags[] = {"--connections-per-address", "1", "--linger-ms", "3600000",
                                        NULL};
    assert_all_rest(false, flags, false);
    assert_all_rest(true, flags, false);
}

/* The library's threads have nothing to do while a worker has. */
static void one_whose_answer_is_made_costs_its_worker_alone(void **unused)
{
    static const char figure[] =
        GET("/v1/rope/attention-scale?positions=7:52428800007:1048576&format=svg") "\r\n";
    for (int tls = 0; tls < 2; tls++) {
        test_server server;
        start(&server, tls, patient);
        test_wire wire = tls ? wire_open_tls(&server) : wire_open(&server);
        const double before = cpu_of(&server, LIBRARY_THREADS);
        const int64_t begun = pe_clock();
        wire_send_text(&wire, figure);
        reply answer = wire_answer(&wire, false);
        const double seconds = (double)(pe_clock() - begun) / 1e9;
        const double used = cpu_of(&server, LIBRARY_THREADS) - before;
        assert_status("a figure", &answer, 200);
        assert_true(cpu_of(&server, LIBRARY_THREADS) <= cpu_of(&server, ""));
        print_message("%.2f s of CPU in %.2f s\n", used, seconds);
        assert_true(used <= SHARE_MAX * (seconds + 1));
        reply_free(&answer);
        wire_close(&wire);
        server_end(&server);
    }
}

/* ---- records ---- */

/* The deadline of a header holds for a handshake. */
static void a_handshake_that_waits_comes_to_its_deadline(void **unused)
{
    static const char *const flags[] = {
        "--header-deadline-ms", "300", "--access-log", "--trusted-proxies", PROXY,
        "--proxy-protocol",     NULL};
    test_server server;
    size_t late = 0, told = 0;
    start(&server, true, flags);
    for (size_t i = 0; i < PE_LEN(states); i++)
        if (states[i].hello != NULL) {
            test_wire wire = reach(&server, true, &states[i]);
            wire_drain(&wire);
            wire_close(&wire);
            late++;
        }
    assert_int_equal(server_stop(&server), 0);
    for (const char *at = server.log; (at = strstr(at, "\"status\":408")) != NULL; at++)
        told++;
    assert_int_equal(told, late);
    server_free(&server);
}

/* GnuTLS comes back after each of several records that wait in the socket. */
static ssize_t send_in_records(gnutls_transport_ptr_t context, const void *data, size_t bytes)
{
    hello whole = {.bytes = 0};
    const int fd = (int)(intptr_t)context;
    keep(&whole, data, bytes);
    if (whole.data[0] == 22 /* a handshake, not yet coded */)
        whole = hello_split(&whole);
    assert_int_equal(send(fd, whole.data, whole.bytes, MSG_NOSIGNAL), whole.bytes);
    return (ssize_t)bytes;
}

static void a_hello_in_many_records_is_answered(void **unused)
{
    test_server server;
    start(&server, true, patient);
    test_wire wire = wire_open(&server);
    gnutls_certificate_credentials_t nothing;
    gnutls_certificate_allocate_credentials(&nothing);
    gnutls_init(&wire.session, GNUTLS_CLIENT | GNUTLS_NO_SIGNAL);
    gnutls_set_default_priority(wire.session);
    gnutls_credentials_set(wire.session, GNUTLS_CRD_CERTIFICATE, nothing);
    gnutls_transport_set_int(wire.session, wire.fd);
    gnutls_transport_set_push_function(wire.session, send_in_records);
    assert_int_equal(gnutls_handshake(wire.session), 0);
    reply answer = wire_request(&wire, "GET", "/livez", NULL, NULL, 0);
    assert_status("a hello in many records", &answer, 200);
    reply_free(&answer);
    wire_close(&wire);
    gnutls_certificate_free_credentials(nothing);
    server_end(&server);
}

static void a_request_behind_a_new_key_is_answered(void **unused)
{
    test_server server;
    start(&server, true, patient);
    test_wire wire = wire_open_tls(&server);
    for (int time = 0; time < 3; time++) {
        gnutls_record_cork(wire.session);
        assert_int_equal(gnutls_session_key_update(wire.session, 0), 0);
        gnutls_record_send(wire.session, GET("/livez") "\r\n", strlen(GET("/livez") "\r\n"));
        assert_true(gnutls_record_uncork(wire.session, GNUTLS_RECORD_WAIT) > 0);
        reply answer = wire_answer(&wire, false);
        assert_status("behind a new key", &answer, 200);
        reply_free(&answer);
    }
    wire_close(&wire);
    server_end(&server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_connection_that_waits_costs_no_cpu),
        cmocka_unit_test(one_that_is_late_costs_none),
        cmocka_unit_test(one_too_many_costs_none),
        cmocka_unit_test(one_whose_answer_is_made_costs_its_worker_alone),
        cmocka_unit_test(a_handshake_that_waits_comes_to_its_deadline),
        cmocka_unit_test(a_hello_in_many_records_is_answered),
        cmocka_unit_test(a_request_behind_a_new_key_is_answered),
    };
    const test_folder folder = folder_make();
    certificate_put(&folder);
    snprintf(certificate, sizeof certificate, "%s/certificate.pem", folder.path);
    snprintf(key, sizeof key, "%s/key.pem", folder.path);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    folder_remove(&folder);
    return failed;
}
