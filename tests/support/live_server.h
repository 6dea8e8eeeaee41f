/* SPDX-License-Identifier: MIT */
/* live_server.h - a real posenc server on a port of its own, for tests. */
#ifndef PE_TESTS_SUPPORT_LIVE_SERVER_H
#define PE_TESTS_SUPPORT_LIVE_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/** A child process of the program POSENC_BINARY, listening on a free port of 127.0.0.1. */
typedef struct test_server {
    pid_t pid;
    int port;
    int log_fd;    /* its stderr; drained by a thread so that the child never blocks */
    char *log;     /* what it has logged, NUL-terminated; valid after server_stop */
    bool asked;    /* to stop: a second signal would cut */
    double memory; /* bytes that belonged to no cache at first; 0: it does not tell */
    void *drain;
} test_server;

/**
 * Start `posenc serve --port 0 EXTRA...` (NULL-terminated, may be NULL) and wait for its
 * "listening" line and for /readyz to say 200. Fails the test when it does not come up.
 */
void server_start(test_server *server, const char *const *extra);
/** The same without waiting for /readyz. */
void server_listen(test_server *server, const char *const *extra);
void server_wait(const test_server *server);

/** The port of the line that it logs of this event, as "admin_listening". */
int server_logged_port(const test_server *server, const char *event);

/** SIGTERM, once. */
void server_ask_to_stop(test_server *server);
/** The same, and wait; returns the exit status (128 + signal when killed; one that does not end is,
 * by SIGABRT). The log stays until server_free. */
int server_stop(test_server *server);
void server_free(test_server *server);
/** Both; the server must have ended with status 0. Its log is shown when it has not. Before it
 * stops, its requests must come to have given back what they took: of what is allocated all but the
 * caches, and what there was at first. */
void server_end(test_server *server);

/** A field of /proc/PID/status, as "VmRSS:", in kB; fails the test when it is not there. */
long server_status_kb(const test_server *server, const char *field);

struct CMUnitTest;

/**
 * What main returns when all cases use one server: how many of the n tests failed, and one more
 * when memory is left over, and when the server did not end with status 0, as for server_end. `extra` as for server_start.
 */
int server_run_tests(const struct CMUnitTest *tests, size_t n, test_server *server,
                     const char *const *extra);

#endif
