/* SPDX-License-Identifier: MIT */
/* test_lifecycle.c - signals, sockets, logs, and what a service manager is told. */
#include "support/check.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/folder.h"
#include "support/problem.h"
#include "support/wire.h"

#define TABLE "/v1/sinusoidal?d_model=8&positions=0:4"

/* ---- a program, a folder, and files in it ---- */

/* The program with its log in a file of the folder. */
typedef struct program {
    test_folder folder;
    test_server server; /* its pid and port */
    char path[8][128];  /* of files, as they were asked for */
} program;

/* Lives as long as the program. */
static const char *path_in(program *of, const char *name)
{
    char path[128];
    size_t p = 0;
    snprintf(path, sizeof path, "%s/%s", of->folder.path, name);
    while (of->path[p][0] != '\0' && strcmp(of->path[p], path) != 0)
        p++;
    assert_in_range(p, 0, PE_LEN(of->path) - 2);
    memcpy(of->path[p], path, sizeof path);
    return of->path[p];
}

/* The text of a file, "" when there is none; free it. */
static char *text_of(program *of, const char *name)
{
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    FILE *file = fopen(path_in(of, name), "rb");
    if (file != NULL) {
        const size_t bytes = fread(text, 1, (1 << 20) - 1, file);
        text[bytes] = '\0';
        fclose(file);
    }
    return text;
}

/* Wait until a whole line of the file holds both texts; a copy of it in `out`. */
static void wait_for(program *of, const char *name, const char *first, const char *second,
                     char out[1024])
{
    const time_t until = time(NULL) + TEST_PATIENCE;
    for (bool found = false; !found; poll(NULL, 0, 2)) {
        char *text = text_of(of, name);
        for (char *line = text, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
            *end = '\0';
            if (strstr(line, first) == NULL || strstr(line, second) == NULL)
                continue;
            snprintf(out, 1024, "%s", line);
            found = true;
            break;
        }
        if (!found && time(NULL) > until)
            fail_msg("no line of %s has %s and %s", name, first, second);
        free(text);
    }
}

static void expect_line(program *of, const char *first, const char *second)
{
    char line[1024];
    wait_for(of, "log", first, second, line);
}

/* `prepare` runs in the child, before the program. */
static void launch(program *of, const char *const *extra, void (*prepare)(program *))
{
    const char *arguments[32] = {getenv("POSENC_BINARY"), "serve",  "--drain-grace-ms", "0",
                                 "--admin-listen=",       "--user="}; /* their folders are root's */
    size_t n = 6;
    for (; extra != NULL && *extra != NULL; extra++)
        arguments[n++] = *extra;
    of->server.pid = fork();
    if (of->server.pid != 0)
        return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (prepare != NULL)
        prepare(of);
    if (arguments[0] != NULL)
        execv(arguments[0], (char *const *)(uintptr_t)arguments);
    _exit(127);
}

static void wait_for_listening(program *of)
{
    char line[1024];
    wait_for(of, "log", "\"event\":\"listening\"", "", line);
    const char *port = strstr(line, "\"port\":");
    of->server.port = port != NULL ? (int)strtol(port + 7, NULL, 10) : 0;
    expect_line(of, "\"event\":\"ready\"", "");
}

static int end_of(program *of)
{
    int status = 0;
    assert_int_equal(waitpid(of->server.pid, &status, 0), of->server.pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void stop(program *of)
{
    kill(of->server.pid, SIGTERM);
    assert_int_equal(end_of(of), 0);
    folder_remove(&of->folder);
}

/* ---- signals ---- */

static void put_settings(program *of, const char *text)
{
    folder_put(&of->folder, "settings.json", text, strlen(text));
}

static void no_signal_but_those_that_stop_ends_the_program(void **state)
{
    const struct {
        int number;
        const char *name;
    } ignored[] = {{SIGUSR2, "\"SIGUSR2\""}, {SIGQUIT, "\"SIGQUIT\""}, {SIGALRM, "\"SIGALRM\""}};
    program one = {.folder = folder_make()};
    const char *const flags[] = {"--port", "0", "--log-file", path_in(&one, "log"), NULL};
    launch(&one, flags, NULL);
    wait_for_listening(&one);
    for (size_t s = 0; s < PE_LEN(ignored); s++) {
        kill(one.server.pid, ignored[s].number);
        expect_line(&one, "\"signal_ignored\"", ignored[s].name);
    }
    kill(one.server.pid, SIGRTMIN + 1);
    char number[16];
    snprintf(number, sizeof number, "\"%d\"", SIGRTMIN + 1);
    expect_line(&one, "\"signal_ignored\"", number);
    stop(&one);
}

static void sighup_applies_what_it_can_and_says_what_it_cannot(void **state)
{
    program one = {.folder = folder_make()};
    const char *const flags[] = {"--settings", path_in(&one, "settings.json"), "--log-file",
                                 path_in(&one, "log"), NULL};
    put_settings(&one, "{\"port\": 0, \"log_level\": \"info\", \"threads\": 1}");
    launch(&one, flags, NULL);
    wait_for_listening(&one);
    put_settings(&one, "{\"port\": 0, \"log_level\": \"loud\", \"threads\": 2}");
    kill(one.server.pid, SIGHUP);
    expect_line(&one, "\"reload_failed\"", "\"log_level\"");
    put_settings(&one, "{\"port\": 0, \"log_level\": \"debug\", \"threads\": 2}");
    kill(one.server.pid, SIGHUP);
    expect_line(&one, "\"event\":\"reloaded\"", "");
    expect_line(&one, "\"setting_changed\"", "\"log_level\"");
    expect_line(&one, "\"setting_needs_restart\"", "\"threads\"");
    put_settings(&one, "{\"port\": 0, \"log_level\": \"warn\", \"threads\": 3}");
    kill(one.server.pid, SIGHUP);
    expect_line(&one, "\"setting_changed\"", "\"is\":\"\\\"warn");
    put_settings(&one, "{\"port\": 0, \"log_level\": \"warn\", \"threads\": 4}");
    kill(one.server.pid, SIGHUP);
    expect_line(&one, "\"level\":\"warn\",\"event\":\"setting_needs_restart\"", "\"is\":\"4\"");
    put_settings(&one, "{\"port\": 0, \"log_level\": \"info\", \"threads\": 4}");
    kill(one.server.pid, SIGHUP);
    expect_line(&one, "\"setting_changed\"", "\"is\":\"\\\"info");
    reply answer = fetch(&one.server, "GET", "/livez", NULL, NULL, 0);
    assert_status("after both", &answer, 200);
    reply_free(&answer);
    stop(&one);
}

/* A line that was lost, or a file of settings, must not open the server to everybody. */
static void sighup_does_not_take_the_keys_away(void **state)
{
    program one = {.folder = folder_make()};
    const char *const flags[] = {"--settings", path_in(&one, "settings.json"), "--log-file",
                                 path_in(&one, "log"), NULL};
    static const char line[] = "alice sha256:"
                               "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n";
    char with_keys[128];
    snprintf(with_keys, sizeof with_keys, "{\"port\": 0, \"keys_file\": \"%s/keys\"}",
             one.folder.path);
    folder_put(&one.folder, "keys", line, strlen(line));
    put_settings(&one, with_keys);
    launch(&one, flags, NULL);
    wait_for_listening(&one);
    put_settings(&one, "{\"port\": 0}");
    kill(one.server.pid, SIGHUP);
    expect_line(&one, "\"reload_failed\"", "keys_file must be set");
    reply answer = fetch(&one.server, "GET", "/v1/sinusoidal?d_model=4", NULL, NULL, 0);
    assert_status("without a key", &answer, 401);
    reply_free(&answer);
    put_settings(&one, with_keys);
    kill(one.server.pid, SIGHUP);
    expect_line(&one, "\"event\":\"reloaded\"", "");
    stop(&one);
}

static void put_table(program *of, double value)
{
    const double rows[] = {value, 2, 3, 4};
    folder_put_npy(&of->folder, "own.npy", PE_FLOAT32, 2, 2, rows);
}

static void expect_table(program *of, const char *beginning)
{
    reply answer =
        fetch(&of->server, "GET", "/v1/learned/own?positions=0:2&format=csv", NULL, NULL, 0);
    assert_status("a learned table", &answer, 200);
    const char *row = strchr(answer.body, '\n'); /* after the line of names */
    if (row == NULL || strncmp(row + 1, beginning, strlen(beginning)) != 0)
        fail_msg("wanted a row %s, got %.40s", beginning, answer.body);
    reply_free(&answer);
}

static void sighup_reads_learned_tables_again(void **state)
{
    program one = {.folder = folder_make()};
    const char *const flags[] = {
        "--port", "0", "--log-file", path_in(&one, "log"), "--learned-dir", one.folder.path, NULL};
    put_table(&one, 1);
    launch(&one, flags, NULL);
    wait_for_listening(&one);
    expect_table(&one, "1,2");
    expect_table(&one, "1,2"); /* from the cache */
    folder_put(&one.folder, "own.npy", "no array", 8);
    kill(one.server.pid, SIGHUP);
    expect_line(&one, "\"reload_failed\"", "own.npy");
    expect_table(&one, "1,2");
    put_table(&one, 9);
    kill(one.server.pid, SIGHUP);
    expect_line(&one, "\"learned_changed\"", "\"changed\":1");
    expect_table(&one, "9,2");
    stop(&one);
}

/* A program that is cut leaves its threads as they are. */
static void let_threads_be(program *of)
{
    setenv("TSAN_OPTIONS", "report_thread_leaks=0", 1);
}

static void a_second_sigterm_cuts(void **state)
{
    program one = {.folder = folder_make()};
    const char *const flags[] = {"--port", "0", "--log-file", path_in(&one, "log"), NULL};
    launch(&one, flags, let_threads_be);
    wait_for_listening(&one);
    test_wire busy = wire_open_narrow(&one.server);
    char begun[16];
    wire_send_text(&busy, "GET /v1/sinusoidal?d_model=512&positions=0:32768&format=raw HTTP/1.1\r\n"
                          "Host: a\r\n\r\n");
    wire_take(&busy, begun, 15);
    kill(one.server.pid, SIGTERM);
    expect_line(&one, "\"event\":\"stopping\"", "\"SIGTERM\"");
    kill(one.server.pid, SIGTERM);
    assert_int_equal(end_of(&one), 128 + SIGTERM);
    expect_line(&one, "\"event\":\"cut\"", "\"SIGTERM\"");
    wire_close(&busy);
    folder_remove(&one.folder);
}

/* ---- sockets ---- */

static struct sockaddr_un unix_address(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    return address;
}

static test_wire open_unix(const char *path)
{
    const struct sockaddr_un address = unix_address(path);
    test_wire wire = {.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    assert_int_equal(connect(wire.fd, (const struct sockaddr *)&address, sizeof address), 0);
    return wire;
}

static void expect_answer(test_wire wire)
{
    reply answer = wire_request(&wire, "GET", TABLE, NULL, NULL, 0);
    assert_status("through a socket", &answer, 200);
    reply_free(&answer);
    wire_close(&wire);
}

static void leave_stale_socket(const char *path)
{
    const struct sockaddr_un address = unix_address(path);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
    close(fd);
}

/* Another command, in the program's place. */
static void check_health(program *of)
{
    char place[160];
    const char *binary = getenv("POSENC_BINARY");
    snprintf(place, sizeof place, "unix:%s", path_in(of, "socket"));
    if (binary != NULL)
        execl(binary, "posenc", "healthcheck", "--listen", place, NULL);
}

/* Of a stream, whose length nobody knows. */
static void expect_bytes_told(program *of)
{
    char told[64];
    test_wire wire = open_unix(path_in(of, "socket"));
    wire_send_text(&wire, "GET /v1/sinusoidal?d_model=64&positions=0:9000&format=csv HTTP/1.1\r\n"
                          "Host: a\r\nConnection: close\r\n\r\n");
    snprintf(told, sizeof told, "\"bytes\":%zu,", wire_drain(&wire));
    expect_line(of, "positions=0:9000", told);
    wire_close(&wire);
}

static void a_unix_socket_is_served_like_any_other(void **state)
{
    program one = {.folder = folder_make()}, other = {.folder = folder_make()};
    char place[160];
    snprintf(place, sizeof place, "unix:%s", path_in(&one, "socket"));
    const char *const flags[] = {"--listen",     "127.0.0.1:0",
                                 "--listen",     place,
                                 "--log-file",   path_in(&one, "log"),
                                 "--access-log", "--response-cache-entry-bytes",
                                 "1024",         NULL};
    const char *const again[] = {"--listen", place, "--log-file", path_in(&other, "log"), NULL};
    leave_stale_socket(path_in(&one, "socket"));
    launch(&one, flags, NULL);
    wait_for_listening(&one);
    expect_answer(open_unix(path_in(&one, "socket")));
    expect_answer(wire_open(&one.server));
    expect_bytes_told(&one);
    program healthcheck = one;
    launch(&healthcheck, NULL, check_health);
    assert_int_equal(end_of(&healthcheck), 0);
    launch(&other, again, NULL);
    assert_int_equal(end_of(&other), 2);
    expect_line(&other, "\"start_failed\"", "Address already in use");
    expect_answer(open_unix(path_in(&one, "socket"))); /* its file is still there */
    kill(one.server.pid, SIGTERM);
    assert_int_equal(end_of(&one), 0);
    assert_int_equal(access(path_in(&one, "socket"), F_OK), -1);
    folder_remove(&one.folder);
    folder_remove(&other.folder);
}

/* A reader who takes nothing and a sender who sends no more, as by TCP. */
static void who_only_holds_a_unix_socket_is_given_up(void **state)
{
    program one = {.folder = folder_make()};
    char place[160];
    snprintf(place, sizeof place, "unix:%s", path_in(&one, "socket"));
    const char *const flags[] = {"--listen",     place,
                                 "--log-file",   path_in(&one, "log"),
                                 "--access-log", "--idle-timeout-ms",
                                 "1000",         "--min-rate-window-ms",
                                 "1000",         "--min-rate-bytes",
                                 "1000",         NULL};
    launch(&one, flags, NULL);
    expect_line(&one, "\"event\":\"ready\"", "");
    test_wire reader = open_unix(path_in(&one, "socket"));
    test_wire sender = open_unix(path_in(&one, "socket"));
    wire_send_text(&reader, "GET /v1/sinusoidal?d_model=512&positions=0:500000&format=raw HTTP/1.1"
                            "\r\nHost: a\r\n\r\n");
    wire_send_text(&sender, "POST /v1/alibi/bias HTTP/1.1\r\nHost: a\r\n"
                            "Content-Type: application/json\r\nContent-Length: 9000\r\n\r\n{");
    expect_line(&one, "\"target\":\"/v1/alibi/bias\"", "\"status\":408");
    char line[1024];
    wait_for(&one, "log", "positions=0:500000", "\"aborted\":true", line);
    const char *bytes = strstr(line, "\"bytes\":");
    assert_non_null(bytes);
    const long sent = strtol(bytes + strlen("\"bytes\":"), NULL, 10);
    assert_in_range(sent, 4096, 1 << 20); /* what the system takes */
    wire_close(&reader);
    wire_close(&sender);
    stop(&one);
}

static int passed_fd; /* that the child gets as its descriptor 3 */

static void pass_socket(program *of)
{
    char pid[16];
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    if (passed_fd == 3)
        fcntl(3, F_SETFD, 0);
    else
        dup2(passed_fd, 3);
    setenv("LISTEN_PID", pid, 1);
    setenv("LISTEN_FDS", "1", 1);
    setenv("NOTIFY_SOCKET", path_in(of, "notify"), 1);
}

static int open_listening(int *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof address;
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, bytes), 0);
    assert_int_equal(listen(fd, 16), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &bytes), 0);
    *port = ntohs(address.sin_port);
    return fd;
}

static int open_notify(program *of)
{
    const struct sockaddr_un address = unix_address(path_in(of, "notify"));
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

static void expect_notice(int fd, const char *beginning)
{
    char text[128] = "";
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    assert_int_equal(poll(&ready, 1, TEST_PATIENCE * 1000), 1);
    assert_true(recv(fd, text, sizeof text - 1, 0) > 0);
    assert_int_equal(strncmp(text, beginning, strlen(beginning)), 0);
}

static void a_passed_socket_is_served_and_the_manager_is_told(void **state)
{
    int port;
    program one = {.folder = folder_make()};
    const char *const flags[] = {
        "--warm",     "/v1/sinusoidal?d_model=1024&positions=0:400&dtype=float64&format=csv",
        "--warm",     "/v1/sinusoidal?d_model=1024&positions=400:800&dtype=float64&format=csv",
        "--warm",     "/v1/sinusoidal?d_model=1024&positions=800:1200&dtype=float64&format=csv",
        "--log-file", path_in(&one, "log"),
        NULL};
    const int notify = open_notify(&one);
    passed_fd = open_listening(&port);
    launch(&one, flags, pass_socket);
    expect_notice(notify, "READY=1");
    one.server.port = port;
    reply ready = fetch(&one.server, "GET", "/readyz", NULL, NULL, 0);
    assert_status("once the manager has been told", &ready, 200);
    reply_free(&ready);
    wait_for_listening(&one);
    assert_int_equal(one.server.port, port);
    expect_answer(wire_open(&one.server));
    kill(one.server.pid, SIGHUP);
    expect_notice(notify, "RELOADING=1\nMONOTONIC_USEC=");
    expect_notice(notify, "READY=1");
    kill(one.server.pid, SIGTERM);
    expect_notice(notify, "STOPPING=1");
    assert_int_equal(end_of(&one), 0);
    test_wire next = wire_open(&one.server); /* whoever has it still listens */
    wire_close(&next);
    close(passed_fd);
    close(notify);
    folder_remove(&one.folder);
}

/* ---- logs ---- */

static int log_pipe[2];

static void log_into_pipe(program *of)
{
    dup2(log_pipe[1], STDERR_FILENO);
}

/* Nobody reads the log after its first lines. */
static void a_log_that_nobody_reads_stops_nothing(void **state)
{
    static const char *const flags[] = {"--port", "0", "--access-log", "--log-queue-bytes",
                                        "65536",  NULL};
    program one = {.folder = folder_make()};
    char text[4096] = "";
    assert_int_equal(pipe2(log_pipe, O_CLOEXEC), 0);
    launch(&one, flags, log_into_pipe);
    close(log_pipe[1]);
    for (size_t n = 0; strstr(text, "\"event\":\"ready\"") == NULL;) {
        const ssize_t got = read(log_pipe[0], text + n, sizeof text - 1 - n);
        assert_true(got > 0);
        n += (size_t)got;
    }
    one.server.port = (int)strtol(strstr(text, "\"port\":") + 7, NULL, 10);
    test_wire wire = wire_open(&one.server);
    uint64_t dropped = 0;
    for (int round = 0; dropped == 0 && round < 100; round++) {
        for (int asked = 0; asked < 500; asked++) {
            wire_send_text(&wire, "GET /livez HTTP/1.1\r\nHost: a\r\n\r\n");
            reply alive = wire_answer(&wire, false);
            assert_status("with a log that nobody reads", &alive, 200);
            reply_free(&alive);
        }
        reply answer = wire_request(&wire, "GET", "/metrics", NULL, NULL, 0);
        const char *line = strstr(answer.body, "\nposenc_log_dropped_total ");
        assert_non_null(line);
        dropped = strtoull(line + strlen("\nposenc_log_dropped_total "), NULL, 10);
        reply_free(&answer);
    }
    assert_true(dropped > 0);
    wire_close(&wire);
    kill(one.server.pid, SIGTERM);
    assert_int_equal(end_of(&one), 0);
    close(log_pipe[0]);
    folder_remove(&one.folder);
}

static void sigusr1_opens_the_files_again(void **state)
{
    char line[1024];
    program one = {.folder = folder_make()};
    const char *const flags[] = {"--port",
                                 "0",
                                 "--log-file",
                                 path_in(&one, "log"),
                                 "--access-log",
                                 "--access-log-file",
                                 path_in(&one, "access"),
                                 NULL};
    launch(&one, flags, NULL);
    wait_for_listening(&one);
    expect_answer(wire_open(&one.server));
    wait_for(&one, "access", "\"cache\":\"miss\"", "\"status\":200", line);
    assert_int_equal(rename(path_in(&one, "access"), path_in(&one, "access.1")), 0);
    kill(one.server.pid, SIGUSR1);
    while (access(path_in(&one, "access"), F_OK) != 0)
        poll(NULL, 0, 2);
    expect_answer(wire_open(&one.server));
    wait_for(&one, "access", "\"cache\":\"hit\"", "\"status\":200", line);

    /* What cannot be opened again is told, where lines still go. */
    assert_int_equal(rename(path_in(&one, "access"), path_in(&one, "access.2")), 0);
    assert_int_equal(mkdir(path_in(&one, "access"), 0700), 0);
    kill(one.server.pid, SIGUSR1);
    wait_for(&one, "access.2", "\"event\":\"log_not_reopened\"", "Is a directory", line);
    assert_int_equal(rmdir(path_in(&one, "access")), 0);
    stop(&one);
}

static void a_line_tells_who_asked_and_what_was_sent(void **state)
{
    static const char trace[] = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    static const char *const fields[] = {
        "X-Forwarded-For: 203.0.113.9, 192.0.2.1:4711, 127.0.0.5",
        "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", NULL};
    static const char *const zero[] = {
        "traceparent: 00-00000000000000000000000000000000-00f067aa0ba902b7-01", NULL};
    char line[1024];
    program one = {.folder = folder_make()};
    const char *const flags[] = {"--port",       "0",
                                 "--log-file",   path_in(&one, "log"),
                                 "--access-log", "--trusted-proxies",
                                 "127.0.0.0/8",  "--request-deadline-ms",
                                 "200",          NULL};
    launch(&one, flags, NULL);
    wait_for_listening(&one);
    reply answer = fetch(&one.server, "GET", "/livez?a", fields, NULL, 0);
    reply_free(&answer);
    answer = fetch(&one.server, "GET", "/livez?b", zero, NULL, 0);
    reply_free(&answer);
    wait_for(&one, "log", "/livez?a", "\"client\":\"192.0.2.1\"", line);
    assert_non_null(strstr(line, trace));
    wait_for(&one, "log", "/livez?b", "\"client\":\"127.0.0.1\"", line);
    assert_null(strstr(line, "traceparent"));
    test_wire late = wire_open(&one.server);
    wire_send_text(&late, "POST /v1/rope/rotate HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nx");
    answer = wire_answer(&late, false);
    assert_status("late", &answer, 408);
    wait_for(&one, "log", "/v1/rope/rotate", "\"status\":408", line);
    reply_free(&answer);
    wire_close(&late);
    stop(&one);
}

static void an_answer_that_was_left_is_told_with_its_bytes(void **state)
{
    char begun[4096], line[1024];
    program one = {.folder = folder_make()};
    const char *const flags[] = {"--port",       "0", "--log-file", path_in(&one, "log"),
                                 "--access-log", NULL};
    launch(&one, flags, NULL);
    wait_for_listening(&one);
    test_wire wire = wire_open_narrow(&one.server);
    wire_send_text(&wire, "GET /v1/sinusoidal?d_model=1024&positions=0:262144&format=raw HTTP/1.1"
                          "\r\nHost: a\r\n\r\n");
    wire_take(&wire, begun, sizeof begun);
    wire_close(&wire);
    wait_for(&one, "log", "positions=0:262144", "\"aborted\":true", line);
    const long bytes = strtol(strstr(line, "\"bytes\":") + 8, NULL, 10);
    assert_in_range(bytes, sizeof begun, 64 << 20); /* of 1 GiB */
    stop(&one);
}

static void the_combined_format_is_that_of_other_servers(void **state)
{
    static const char *const fields[] = {"Referer: http://a/\"b\"", "User-Agent: test/1", NULL};
    char line[1024];
    program one = {.folder = folder_make()};
    const char *const flags[] = {
        "--port",   "0", "--log-file", path_in(&one, "log"), "--access-log", "--access-log-format",
        "combined", NULL};
    launch(&one, flags, NULL);
    wait_for_listening(&one);
    reply answer = fetch(&one.server, "GET", "/nothing", fields, NULL, 0);
    char end[160];
    snprintf(end, sizeof end,
             " +0000] \"GET /nothing HTTP/1.1\" 404 %zu \"http://a/\\x22b\\x22\" \"test/1\"",
             answer.bytes);
    wait_for(&one, "log", "127.0.0.1 - - [", end, line);
    reply_free(&answer);
    stop(&one);
}

/* ---- starts that are refused ---- */

static void allow_few_files(program *of)
{
    const struct rlimit few = {9, 9};
    setrlimit(RLIMIT_NOFILE, &few);
}

static void a_start_without_descriptors_or_from_a_pipe_is_refused(void **state)
{
    program one = {.folder = folder_make()};
    const char *const few[] = {"--port", "0", "--log-file", path_in(&one, "log"), NULL};
    const char *const pipe[] = {"--settings", path_in(&one, "pipe"), NULL};
    launch(&one, few, allow_few_files);
    assert_int_equal(end_of(&one), 2);
    expect_line(&one, "\"start_failed\"", "open files");
    assert_int_equal(mkfifo(path_in(&one, "pipe"), 0600), 0);
    launch(&one, pipe, NULL);
    assert_int_equal(end_of(&one), 2);
    folder_remove(&one.folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_signal_but_those_that_stop_ends_the_program),
        cmocka_unit_test(sighup_applies_what_it_can_and_says_what_it_cannot),
        cmocka_unit_test(sighup_does_not_take_the_keys_away),
        cmocka_unit_test(sighup_reads_learned_tables_again),
        cmocka_unit_test(a_second_sigterm_cuts),
        cmocka_unit_test(a_unix_socket_is_served_like_any_other),
        cmocka_unit_test(who_only_holds_a_unix_socket_is_given_up),
        cmocka_unit_test(a_passed_socket_is_served_and_the_manager_is_told),
        cmocka_unit_test(a_log_that_nobody_reads_stops_nothing),
        cmocka_unit_test(sigusr1_opens_the_files_again),
        cmocka_unit_test(a_line_tells_who_asked_and_what_was_sent),
        cmocka_unit_test(an_answer_that_was_left_is_told_with_its_bytes),
        cmocka_unit_test(the_combined_format_is_that_of_other_servers),
        cmocka_unit_test(a_start_without_descriptors_or_from_a_pipe_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
