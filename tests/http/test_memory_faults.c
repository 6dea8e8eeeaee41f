/* SPDX-License-Identifier: MIT */
/*
 * test_memory_faults.c - each allocation of each kind of request fails, one after the other: the
 * answer is whole and right, a 503, or none; the next request is answered; nothing is left over.
 *
 * FAULTS=all takes every allocation, but of a kind with MANY only so many, evenly apart;
 * without it so many of each kind that it is soon done.
 */
#include "support/check.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/certificate.h"
#include "support/fault_plan.h"
#include "support/folder.h"
#include "support/problem.h"
#include "support/wire.h"

/* Sanitizers have allocators of their own. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

enum { STEPS = 24, MANY = 10000, STEPS_OF_MANY = 300, TEXT = 1024, FLAGS_MAX = 16 };

#define JSON "Content-Type: application/json"

/* In targets, bodies and bytes # is a number that no request had before: none is answered from a
 * cache. */
struct kind {
    const char *target, *line, *body; /* body NULL: GET */
    long status;
};

static const struct kind requests[] = {
    {"/v1/sinusoidal?d_model=8&base=1#&positions=0:900", NULL, NULL, 200},
    {"/v1/sinusoidal?d_model=8&base=1#&positions=0:900&format=raw", NULL, NULL, 200},
    {"/v1/sinusoidal?d_model=8&base=1#&positions=0:900&format=npy&dtype=float64", NULL, NULL, 200},
    {"/v1/sinusoidal?d_model=8&positions=#,5,2.5&format=csv", NULL, NULL, 200},
    {"/v1/sinusoidal?d_model=64&base=1#&positions=0:900", "Accept-Encoding: gzip", NULL, 200},
    {"/v1/sinusoidal?d_model=64&base=1#&positions=0:900", "Accept-Encoding: zstd", NULL, 200},
    {"/v1/sinusoidal?d_model=512&base=1#&positions=0:600&format=raw", NULL, NULL,
     200}, /* a stream */
    {"/v1/sinusoidal?d_model=512&base=1#&positions=0:600&format=raw", "Accept-Encoding: zstd", NULL,
     200},
    {"/v1/sinusoidal?d_model=64&base=1#&positions=0:3000", "Accept-Encoding: gzip", NULL, 200},
    {"/v1/sinusoidal?d_model=64&base=1#&positions=0:900&format=raw", "Range: bytes=1-100", NULL,
     206},
    {"/v1/sinusoidal?d_model=64&base=1#&positions=0:900", "Want-Repr-Digest: sha-256=1", NULL, 200},
    {"/v1/rope/table?head_dim=16&rope_theta=1#&format=safetensors", NULL, NULL, 200},
    {"/v1/rope/table?head_dim=16&rope_type=yarn&factor=4&original_max_position_embeddings=1#", NULL,
     NULL, 200},
    {"/v1/rope/xpos/table?head_dim=16&scale_base=1#", NULL, NULL, 200},
    {"/v1/rope/decay?head_dim=16&rope_theta=1#", NULL, NULL, 200},
    {"/v1/rope/compare?head_dim=16&rope_theta=1#&rope_types=default,yarn&factor=4&"
     "max_position_embeddings=2048",
     NULL, NULL, 200},
    {"/v1/alibi/bias?num_heads=4&query_length=50&alibi_bias_max=1.#", NULL, NULL, 200},
    {"/v1/t5/buckets?query_length=50&max_distance=1#&format=raw", NULL, NULL, 200},
    {"/v1/rope/rotate", JSON, "{\"rope_theta\":1#,\"positions\":[1,5,7],\"q\":[[1,2],[3,4],[5,6]]}",
     200},
    {"/v1/rope/rotate?rope_theta=1#", "Content-Type: application/octet-stream",
     "12345678abcdefgh" /* as X-Tensor-Shape says */, 200},
    {"/v1/sinusoidal", JSON, "{\"d_model\":8,\"format\":\"raw\",\"positions\":[1,5,2,#]}", 200},
    {"/v1/verify", JSON,
     "{\"encoding\":\"sinusoidal\",\"parameters\":{\"d_model\":2,\"base\":1#,\"positions\":"
     "\"0:3\"},\"table\":[[0,1],[0.84147098,0.54030231],[0.90929743,-0.41614684]]}",
     200},
    /* not what was claimed: faults are found, */
    {"/v1/verify", JSON,
     "{\"encoding\":\"alibi/"
     "slopes\",\"parameters\":{\"num_heads\":4},\"table\":[0.00390625,0.015625,"
     "0.0625,0.25]}",
     200},
    {"/v1/verify", JSON,
     "{\"encoding\":\"shaw/"
     "indices\",\"parameters\":{\"query_length\":2,\"max_relative_position\":1},"
     "\"table\":[[1,0],[2,1]]}",
     200},
    {"/v1/verify", JSON, /* or looked for in vain: 63,000 allocations */
     "{\"encoding\":\"rope/table\",\"parameters\":{\"head_dim\":4,\"rope_theta\":1#,"
     "\"positions\":\"0:2\"},\"table\":{\"cos\":[[1,1],[0.5,0.9]],\"sin\":[[0,0],[0.8,0.1]]}}",
     200},
    {"/v1/models/resolve", JSON,
     "{\"model_type\":\"llama\",\"head_dim\":8,\"rope_theta\":1#,\"num_hidden_layers\":2}", 200},
    {"/v1/sinusoidal?d_model=8&base=0.#", NULL, NULL, 422},
    {"/v1/nothing/#", NULL, NULL, 404},
    {"/v1/sinusoidal?d_model=8&base=1#", "If-None-Match: *", NULL, 304},
    {"/v1/sinusoidal?d_model=8&base=1#&format=raw", "Range: bytes=99999999-", NULL, 416},
    {"/v1/sinusoidal?d_model=64&base=1#&positions=0:300&format=svg", NULL, NULL, 200},
    {"/v1/sinusoidal?d_model=64&base=1#&positions=0:300&format=png", NULL, NULL, 200},
    {"/v1/rope/grid?head_dim=64&height=4&width=5&rope_theta=1#", NULL, NULL, 200},
    {"/v1/attention", JSON,
     "{\"scheme\":\"rope\",\"rope_theta\":1#,\"q\":[[1,2],[3,4]],\"k\":[[1,0],[0,1]]}", 200},
    {"/v1?#", NULL, NULL, 200},
    {"/metrics", NULL, NULL, 200},
    {"/v1/models", NULL, NULL, 200},
    {"/v1/models/aya-23-8b", NULL, NULL, 200},
};

/* As they are sent: a byte 1 parts what is sent at once. */
static const struct kind bytes[] = {
    {"GET /v1?# HTTP/1.1\r\nX: 1\r\n\r\n", NULL, NULL, 400},
    {"GET /v1?# HTTP/1.1\r\nHost: a\r\nX: \1y\r\n\r\n", NULL, NULL, 200},
    {"GET /v1?# HTTP/1.1\r\nHost: a\r\n\r\nGET /livez HT\1TP/1.1\r\nHost: a\r\n\r\n", NULL, NULL,
     200},
    {"GET /v1?# HTTP/1.1\r\nHost: a\r\n\r\nGET /livez HTTP/1.1\r\n\r\n", NULL, NULL, 200},
    {"POST /v1/rope/frequencies HTTP/1.1\r\nHost: a\r\n" JSON
     "\r\nTransfer-Encoding: chunked\r\n\r\n7\r\n{\"head_\r\n\0017\r\ndim\":8}\r\n0\r\n\r\n",
     NULL, NULL, 200},
};

#define KEY      "pe_1628d973221df29c93b733777755c8f129530e4e747e88403d5014fadee3d3c8"
#define KEY_HASH "0131aef4b810d233fd9f3ea84aa72ba4b9186d59a1dde6412ebf4ca9346c0315"
#define OF_PROXY "PROXY TCP4 192.0.2.7 10.0.0.1 4321 443\r\n"

static const struct kind guarded[] = {
    {OF_PROXY "GET /v1?# HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer " KEY "\r\n\r\n", NULL, NULL,
     200},
    {OF_PROXY "GET /v1?# HTTP/1.1\r\nHost: a\r\n\r\n", NULL, NULL, 401},
    {OF_PROXY "GET /v1?# HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer other\r\n\r\n", NULL, NULL,
     401},
    {"GET /v1?# HTTP/1.1\r\nHost: a\r\n\r\n", NULL, NULL, 400},
};

static const struct kind over_tls[] = {
    {"GET /v1?# HTTP/1.1\r\nHost: a\r\n\r\n", NULL, NULL, 200},
    {"GET /v1/sinusoidal?d_model=512&base=1#&positions=0:600&format=raw HTTP/1.1\r\nHost: "
     "a\r\n\r\n",
     NULL, NULL, 200},
};

static char keys[100], certificate[100], certificate_key[100]; /* files */

/* A server, and what is asked of it; `from`: the client's address. */
static const struct setup {
    const char *flags[FLAGS_MAX], *from;
    bool by_tls;
    const struct kind *kinds;
    size_t n;
} setups[] = {
    {{NULL}, "127.0.0.1", false, requests, PE_LEN(requests)},
    {{NULL}, "127.0.0.1", false, bytes, PE_LEN(bytes)},
    {{"--proxy-protocol", "--trusted-proxies", "127.0.0.2", "--keys-file", keys, NULL},
     "127.0.0.2",
     false,
     guarded,
     PE_LEN(guarded)},
    {{"--tls-certificate", certificate, "--tls-key", certificate_key, NULL},
     "127.0.0.1",
     true,
     over_tls,
     PE_LEN(over_tls)},
};

static const struct setup *setup; /* that is tried */
static fault_plan *plan;
static long serial; /* of requests */

static void write_text(const char *pattern, char out[TEXT])
{
    char number[24];
    size_t at = 0;
    snprintf(number, sizeof number, "%ld", 100 + serial);
    for (; *pattern != '\0' && at < TEXT - sizeof number; pattern++)
        at +=
            (size_t)snprintf(out + at, TEXT - at, "%.*s", *pattern == '#' ? (int)sizeof number : 1,
                             *pattern == '#' ? number : pattern);
}

/* No allocation fails within a handshake: where one of Debian 12's libtasn1 does, while GnuTLS
 * signs, it writes to NULL; GnuTLS 3.8.3 frees a session ticket twice. The server's end of it is over
 * when a request is answered. */
static test_wire open_wire(const test_server *server)
{
    const bool on = atomic_exchange(&plan->on, setup->by_tls ? false : atomic_load(&plan->on));
    test_wire wire = setup->by_tls ? wire_open_tls(server) : wire_open_from(server, setup->from);
    if (setup->by_tls) {
        (void)wire_send_text(&wire, "GET /livez HTTP/1.1\r\nHost: a\r\n\r\n");
        reply answer = wire_answer(&wire, false);
        assert_status("/livez", &answer, 200);
        reply_free(&answer);
    }
    atomic_store(&plan->on, on);
    return wire;
}

static reply ask_by_bytes(const test_server *server, const struct kind *kind)
{
    char text[TEXT], *rest = NULL;
    write_text(kind->target, text);
    test_wire wire = open_wire(server);
    for (char *part = strtok_r(text, "\1", &rest); part != NULL;
         part = strtok_r(NULL, "\1", &rest)) {
        (void)wire_send_text(&wire, part);
        usleep(1000); /* the server most likely reads both apart; nothing depends on it */
    }
    wire.may_end = true;
    reply answer = wire_answer(&wire, false);
    wire_close(&wire);
    return answer;
}

static reply ask(const test_server *server, const struct kind *kind)
{
    char target[TEXT], body[TEXT];
    const char *const lines[] = {kind->line, "X-Tensor-Shape: 2,2", "X-Tensor-Dtype: float32",
                                 NULL};
    if (kind->target[0] != '/')
        return ask_by_bytes(server, kind);
    write_text(kind->target, target);
    write_text(kind->body != NULL ? kind->body : "", body);
    return fetch(server, kind->body != NULL ? "POST" : "GET", target,
                 kind->line != NULL ? lines : NULL, kind->body != NULL ? body : NULL, strlen(body));
}

static void check(const char *name, const struct kind *kind, const reply *faulty,
                  const reply *whole)
{
    assert_status(name, whole, kind->status);
    if (faulty->status == 503) {
        assert_problem(name, faulty, 503, "overloaded");
        assert_header(name, faulty, "Retry-After", "1");
    } else if (faulty->status != 0) {
        assert_status(name, faulty, kind->status);
    }
    const bool coded = kind->line != NULL && strncmp(kind->line, "Accept-Enc", 10) == 0;
    if (faulty->status == 200 && strstr(kind->target, "/v1/") != NULL && !coded) {
        assert_int_equal(faulty->bytes, whole->bytes);
        assert_memory_equal(faulty->body, whole->body, whole->bytes);
    }
}

/* Let one allocation fail, from `first` on all where it is for good; returns how many there
 * were. */
static long step(const test_server *server, const struct kind *kind, long first, bool for_good,
                 long statuses[600])
{
    char name[200];
    serial++;
    atomic_store(&plan->step, serial);
    atomic_store(&plan->first, first);
    atomic_store(&plan->for_good, for_good);
    atomic_store(&plan->calls, 0);
    atomic_store(&plan->failed, 0);
    atomic_store(&plan->last_size, 0);
    atomic_store(&plan->on, true);
    reply faulty = ask(server, kind);
    atomic_store(&plan->on, false);
    reply whole = ask(server, kind);
    snprintf(name, sizeof name, "%.120s, allocation %ld%s of %ld bytes", kind->target, first,
             for_good ? " and all after" : "", atomic_load(&plan->last_size));
    check(name, kind, &faulty, &whole);
    statuses[faulty.status]++;
    reply_free(&faulty);
    reply_free(&whole);
    return atomic_load(&plan->calls);
}

static void walk(const test_server *server, const struct kind *kind)
{
    static long statuses[600];
    memset(statuses, 0, sizeof statuses);
    step(server, kind, LONG_MAX, false, statuses); /* what all of the kind share is there */
    const long calls = step(server, kind, LONG_MAX, false, statuses);
    const char *wanted = getenv("FAULTS");
    const bool all = wanted != NULL && strcmp(wanted, "all") == 0;
    const long most = !all ? STEPS : calls > MANY ? STEPS_OF_MANY : calls;
    const long stride = calls <= most ? 1 : (calls + most - 1) / most;
    for (int for_good = 0; for_good < 2; for_good++)
        for (long first = 1; first <= calls; first += stride)
            step(server, kind, first, for_good, statuses);
    print_message("%5ld allocations, every %3ld.: %5ld as wanted, %5ld 503, %5ld closed: %s %s\n",
                  calls, stride, statuses[kind->status], statuses[503], statuses[0], kind->target,
                  kind->line != NULL ? kind->line : "");
}

/* ---- the server ---- */

static void start(test_server *server)
{
    static const char *const shared[] = {"--threads",
                                         "1",
                                         "--workers",
                                         "1",
                                         "--log-level",
                                         "info",
                                         "--response-cache-entry-bytes",
                                         "1000000",
                                         "--code-binary"};
    const char *flags[PE_LEN(shared) + FLAGS_MAX];
    char library[4096];
    const char *program = getenv("POSENC_BINARY");
    if (program == NULL)
        fail_msg("POSENC_BINARY is not set; `make test` does that");
    memcpy(flags, shared, sizeof shared);
    memcpy(flags + PE_LEN(shared), setup->flags, sizeof setup->flags);
    snprintf(library, sizeof library, "%.*s/tests/faults.so",
             (int)(strrchr(program, '/') - program), program);
    setenv("LD_PRELOAD", library, 1);
    server_listen(server, flags);
    unsetenv("LD_PRELOAD");
    if (!setup->by_tls)
        server_wait(server);
}

/* Blocks that a server leaves when it ends. */
static long end(test_server *server)
{
    server_end(server);
    return atomic_load(&plan->blocks);
}

static long left_over_without_faults(void)
{
    test_server server;
    atomic_store(&plan->blocks, 0);
    start(&server);
    for (size_t i = 0; i < setup->n; i++) {
        reply answer = ask(&server, &setup->kinds[i]);
        assert_status(setup->kinds[i].target, &answer, setup->kinds[i].status);
        reply_free(&answer);
    }
    return end(&server);
}

static void try_setup(void)
{
    test_server server;
    const long left = left_over_without_faults();
    atomic_store(&plan->blocks, 0);
    start(&server);
    for (size_t i = 0; i < setup->n; i++)
        walk(&server, &setup->kinds[i]);
    const long leaked = end(&server) - left;
    print_message("%ld blocks are left at the end, %ld without faults\n", leaked + left, left);
    assert_true(leaked <= 0);
}

static void put_files(const test_folder *folder)
{
    static const char line[] = "alice sha256:" KEY_HASH "\n";
    folder_put(folder, "keys", line, strlen(line));
    certificate_put(folder);
    snprintf(keys, sizeof keys, "%s/keys", folder->path);
    snprintf(certificate, sizeof certificate, "%s/certificate.pem", folder->path);
    snprintf(certificate_key, sizeof certificate_key, "%s/key.pem", folder->path);
}

static void each_allocation_may_fail(void **state)
{
    if (SANITIZED)
        skip();
    const test_folder folder = folder_make();
    char path[100];
    const fault_plan none = {0};
    put_files(&folder);
    folder_put(&folder, "plan", &none, sizeof none);
    snprintf(path, sizeof path, "%s/plan", folder.path);
    const int file = open(path, O_RDWR | O_CLOEXEC);
    plan = mmap(NULL, sizeof *plan, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    assert_true(plan != MAP_FAILED);
    setenv(FAULT_PLAN, path, 1);
    for (setup = setups; setup < setups + PE_LEN(setups); setup++)
        try_setup();
    munmap(plan, sizeof *plan);
    close(file);
    folder_remove(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests_name("http memory faults", tests, NULL, NULL);
}
