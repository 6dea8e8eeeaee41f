/* SPDX-License-Identifier: MIT */
/* live_server.c - a real posenc server on a port of its own, for tests. */
#include "support/check.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/client.h"
#include "support/live_server.h"

#define ARGUMENTS_MAX 64

/* Reads the child's stderr to its end; the main thread waits here for the listening line. */
struct drain {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t grown;
    int fd;
    char *text; /* NUL-terminated */
    size_t bytes;
    bool ended;
};

static struct timespec patience_ends(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += TEST_PATIENCE;
    return until;
}

static void *drain_main(void *argument)
{
    struct drain *drain = argument;
    char block[4096];
    ssize_t got;
    while ((got = read(drain->fd, block, sizeof block)) > 0) {
        pthread_mutex_lock(&drain->lock);
        char *text = realloc(drain->text, drain->bytes + (size_t)got + 1);
        if (text != NULL) {
            memcpy(text + drain->bytes, block, (size_t)got);
            drain->bytes += (size_t)got;
            text[drain->bytes] = '\0';
            drain->text = text;
        }
        pthread_cond_broadcast(&drain->grown);
        pthread_mutex_unlock(&drain->lock);
    }
    pthread_mutex_lock(&drain->lock);
    drain->ended = true;
    pthread_cond_broadcast(&drain->grown);
    pthread_mutex_unlock(&drain->lock);
    return NULL;
}

/* The port of the line of this event, or 0 when the child ended, or took too long, without one. */
static int wait_for_port(struct drain *drain, const char *name)
{
    char wanted[64];
    snprintf(wanted, sizeof wanted, "\"event\":\"%s\"", name);
    const struct timespec until = patience_ends();
    int port = 0;
    pthread_mutex_lock(&drain->lock);
    for (;;) {
        const char *event = drain->text != NULL ? strstr(drain->text, wanted) : NULL;
        const char *end = event != NULL ? strchr(event, '\n') : NULL;
        const char *number = event != NULL ? strstr(event, "\"port\":") : NULL;
        if (end != NULL && number != NULL) {
            port = (int)strtol(number + strlen("\"port\":"), NULL, 10);
            break;
        }
        if (drain->ended || pthread_cond_timedwait(&drain->grown, &drain->lock, &until) != 0)
            break;
    }
    pthread_mutex_unlock(&drain->lock);
    return port;
}

/* Wait for the child's end; one that does not come to it is made to, and a sanitizer tells where it
 * stood. */
static void wait_for_end(struct drain *drain, pid_t pid)
{
    const struct timespec until = patience_ends();
    pthread_mutex_lock(&drain->lock);
    while (!drain->ended && pthread_cond_timedwait(&drain->grown, &drain->lock, &until) == 0) {
        /* it logs, still */
    }
    const bool ended = drain->ended;
    pthread_mutex_unlock(&drain->lock);
    if (ended)
        return;
    print_error("the server does not end within %d s\n", TEST_PATIENCE);
    kill(pid, SIGABRT);
}

static pid_t spawn(const char *const *extra, int log_fd)
{
    /* no clock decides: a sanitizer takes many times what is paid for */
    const char *arguments[ARGUMENTS_MAX] = {
        getenv("POSENC_BINARY"), "serve", "--port",        "0", "--drain-grace-ms", "0",
        "--admin-listen",        "",      "--unit-ns-max", "0", "--queue-wait-ms",  "600000"};
    size_t n = 12;
    if (arguments[0] == NULL)
        fail_msg("POSENC_BINARY is not set; `make test` does that");
    for (; extra != NULL && *extra != NULL && n < ARGUMENTS_MAX - 1; extra++)
        arguments[n++] = *extra;
    const pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that dies takes its server with it */
        dup2(log_fd, STDERR_FILENO);
        execv(arguments[0], (char *const *)(uintptr_t)arguments);
        _exit(127);
    }
    return pid;
}

void server_wait(const test_server *server)
{
    const struct timespec until = patience_ends();
    for (struct timespec now = {0}; now.tv_sec < until.tv_sec;
         clock_gettime(CLOCK_REALTIME, &now)) {
        reply answer = fetch(server, "GET", "/readyz", NULL, NULL, 0);
        const long status = answer.status;
        reply_free(&answer);
        if (status == 200)
            return;
        poll(NULL, 0, 5); /* the warm-up goes on; there is nothing to wait on but the answer */
    }
    fail_msg("the server did not become ready");
}

void server_listen(test_server *server, const char *const *extra)
{
    int ends[2];
    struct drain *drain = calloc(1, sizeof *drain);
    assert_non_null(drain);
    assert_int_equal(pipe2(ends, 02000000 /* O_CLOEXEC */), 0);
    pthread_mutex_init(&drain->lock, NULL);
    pthread_cond_init(&drain->grown, NULL);
    drain->fd = ends[0];
    *server = (test_server){.pid = spawn(extra, ends[1]), .log_fd = ends[0], .drain = drain};
    close(ends[1]);
    assert_int_equal(pthread_create(&drain->thread, NULL, drain_main, drain), 0);
    server->port = wait_for_port(drain, "listening");
    if (server->port == 0)
        fail_msg("no listening line; stderr was:\n%s", drain->text != NULL ? drain->text : "");
}

int server_logged_port(const test_server *server, const char *event)
{
    const int port = wait_for_port(server->drain, event);
    if (port == 0)
        fail_msg("the server has logged no port of %s", event);
    return port;
}

/* ---- what requests leave over ---- */

/* Of /metrics, in bytes. */
typedef struct memory {
    double allocated, kinds, bodies, other;
    double broken; /* what should never happen, and did */
} memory;

static double number_after(const char *text, const char *name)
{
    const char *at = text != NULL ? strstr(text, name) : NULL;
    return at != NULL ? strtod(at + strlen(name), NULL) : 0;
}

/* A sanitizer's allocator counts nothing. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define COUNTED 0
#else
#define COUNTED 1
#endif

/* False: this server does not tell here, or has no budget. */
static bool read_memory(const test_server *server, memory *out)
{
    static const char kind[] = "\nposenc_memory_bytes{kind=";
    reply answer = fetch(server, "GET", "/metrics", NULL, NULL, 0);
    const char *text = answer.status == 200 ? answer.body : NULL;
    *out = (memory){.allocated = number_after(text, "\nposenc_memory_allocated_bytes "),
                    .bodies = number_after(text, "kind=\"bodies\"} "),
                    .other = number_after(text, "kind=\"other\"} "),
                    .broken = number_after(text, "violations_total{rule=\"idle\"} ") +
                              number_after(text, "violations_total{rule=\"memory\"} ")};
    for (const char *at = text; at != NULL && (at = strstr(at, kind)) != NULL; at++)
        out->kinds += number_after(at, "} ");
    reply_free(&answer);
    return COUNTED && out->allocated > 0;
}

void server_start(test_server *server, const char *const *extra)
{
    memory first;
    server_listen(server, extra);
    server_wait(server);
    server->memory = read_memory(server, &first) ? first.other : 0;
}

/* What belongs to no cache may have grown by this: what is made once, at the first question that needs
 * it (106 KB of the catalogue of models, 87 KB of all resources), buffers that threads keep, rows of
 * clients and of counters. */
#define KEPT ((double)393216)

/* Once no request runs, what is allocated belongs to caches, but for what it was at first. False,
 * with a message: it does not come to that. */
static bool all_was_freed(const test_server *server)
{
    const time_t until = time(NULL) + TEST_PATIENCE;
    memory now = {0};
    if (server->memory == 0 || server->asked)
        return true;
    do
        if (!read_memory(server, &now) ||
            (now.broken == 0 && now.bodies == 0 && now.kinds == now.allocated &&
             now.other <= server->memory + KEPT))
            return true;
    while (time(NULL) < until && poll(NULL, 0, 50) == 0);
    print_error("left over: bodies %.0f, other %.0f (%.0f at first); all kinds %.0f of %.0f; "
                "invariants broken: %.0f\n",
                now.bodies, now.other, server->memory, now.kinds, now.allocated, now.broken);
    return false;
}

void server_ask_to_stop(test_server *server)
{
    if (!server->asked)
        kill(server->pid, SIGTERM);
    server->asked = true;
}

int server_stop(test_server *server)
{
    struct drain *drain = server->drain;
    int status = 0;
    if (server->pid <= 0) /* never started; 0 would signal the tests themselves */
        return 1;
    server_ask_to_stop(server);
    wait_for_end(drain, server->pid);
    const bool known = waitpid(server->pid, &status, 0) == server->pid;
    pthread_join(drain->thread, NULL);
    close(drain->fd);
    server->log = drain->text != NULL ? drain->text : strdup("");
    pthread_mutex_destroy(&drain->lock);
    pthread_cond_destroy(&drain->grown);
    free(drain);
    server->drain = NULL;
    return !known ? 1 : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void server_free(test_server *server)
{
    free(server->log);
    *server = (test_server){0};
}

void server_end(test_server *server)
{
    const bool freed = all_was_freed(server);
    const int status = server_stop(server);
    if (!freed)
        fail_msg("requests have left memory over");
    if (status != 0)
        fail_msg("the server ended with status %d; its log: %s", status, server->log);
    server_free(server);
}

long server_status_kb(const test_server *server, const char *field)
{
    char path[64], line[256];
    long kb = -1;
    snprintf(path, sizeof path, "/proc/%d/status", (int)server->pid);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, field, strlen(field)) == 0)
            kb = strtol(line + strlen(field), NULL, 10);
    fclose(file);
    assert_true(kb > 0);
    return kb;
}

/* ---- one server for all cases ---- */

static test_server *shared;
static const char *const *shared_extra;

static int start_shared(void **state)
{
    server_start(shared, shared_extra);
    return 0;
}

/* cmocka would say that a tear-down failed, and return 0. */
int server_run_tests(const struct CMUnitTest *tests, size_t n, test_server *server,
                     const char *const *extra)
{
    shared = server;
    shared_extra = extra;
    int failed =
        _cmocka_run_group_tests(program_invocation_short_name, tests, n, start_shared, NULL);
    failed += !all_was_freed(server);
    const int status = server_stop(server);
    if (status != 0) {
        failed++;
        print_error("the server ended with status %d; its log:\n", status);
        fputs(server->log, stderr); /* cmocka cuts a message after its first 1024 bytes */
    }
    server_free(server);
    return failed;
}
