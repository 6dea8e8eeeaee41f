/* SPDX-License-Identifier: MIT */
/* test_watchdog.c - deadlines and clients that have left, on pairs of sockets. */
#include "support/check.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "http/connection/watchdog.h"

#define MILLISECOND INT64_C(1000000)
#define LONG        (1000000 * MILLISECOND)

typedef struct scene {
    pe_watchdog *watchdog;
} scene;

/* Every phase may last long, but for one. */
static pe_deadlines all_but(pe_phase phase, int64_t time)
{
    pe_deadlines made = {.of = {0}};
    for (int i = 0; i < PE_PHASES; i++)
        made.of[i] = i == (int)phase ? time : LONG;
    return made;
}

static void open_scene(scene *s, const pe_deadlines *deadlines)
{
    pe_problem why;
    assert_int_equal(pe_watchdog_make(deadlines, &s->watchdog, &why), PE_OK);
}

static void close_scene(scene *s)
{
    pe_watchdog_free(s->watchdog);
}

/* A connection: ends[0] is the server's. */
static void enter(scene *s, pe_watch *watch, int ends[2])
{
    *watch = (pe_watch){0};
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    pe_watchdog_add(s->watchdog, watch, ends[0]);
}

static void leave(scene *s, pe_watch *watch, const int ends[2])
{
    pe_watchdog_remove(s->watchdog, watch);
    close(ends[0]);
    close(ends[1]);
}

/* Reads to the end; how much came. */
static size_t drain(int fd)
{
    char some[64];
    size_t bytes = 0;
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    for (ssize_t got = 1; got > 0; bytes += got > 0 ? (size_t)got : 0) {
        assert_int_equal(poll(&wait, 1, TEST_PATIENCE * 1000), 1);
        got = recv(fd, some, sizeof some, 0);
    }
    return bytes;
}

static void whoever_has_left_is_shut_and_others_are_not(void **state)
{
    enum { N = 6 };
    const pe_deadlines deadlines = all_but(PE_PHASE_WORKING, 0);
    scene s;
    int pair[N][2];
    pe_watch watch[N] = {0};
    open_scene(&s, &deadlines);
    for (int i = 0; i < N; i++) {
        enter(&s, &watch[i], pair[i]);
        assert_true(pe_watchdog_enter(s.watchdog, &watch[i],
                                      i == 4 ? PE_PHASE_SENDING : PE_PHASE_IDLE, pe_clock()));
    }
    for (int i = 1; i < N; i += 1)
        if (i != 3)
            shutdown(pair[i][1], SHUT_WR); /* all but 0 and 3 have left; 4 gets its answer still */
    for (int i = 1; i < N; i++)
        if (i != 3 && i != 4)
            assert_int_equal(drain(pair[i][1]), 0); /* the end comes */
    for (int i = 0; i < N; i++) {
        struct pollfd now = {.fd = pair[i][1], .events = POLLIN};
        assert_int_equal(poll(&now, 1, 0), i == 1 || i == 2 || i == 5);
    }
    for (int i = 0; i < N; i++)
        leave(&s, &watch[i], pair[i]);
    close_scene(&s);
}

/* The oldest, too: connections are looked at some at a time, the youngest first. */
static void whoever_has_left_is_found_among_many(void **state)
{
    enum { N = 200 };
    const pe_deadlines deadlines = all_but(PE_PHASE_WORKING, 0);
    static const int left[] = {0, N / 2, N - 1};
    scene s;
    int pair[N][2];
    pe_watch watch[N] = {0};
    open_scene(&s, &deadlines);
    for (int i = 0; i < N; i++)
        enter(&s, &watch[i], pair[i]);
    for (size_t k = 0; k < PE_LEN(left); k++)
        shutdown(pair[left[k]][1], SHUT_WR);
    for (size_t k = 0; k < PE_LEN(left); k++)
        assert_int_equal(drain(pair[left[k]][1]), 0); /* the end comes */
    for (int i = 0; i < N; i++)
        leave(&s, &watch[i], pair[i]);
    close_scene(&s);
}

/*
 * Requests whose answer begins just when their time is over: thousands of them, each of which gets
 * one of the two. `answers` is the connection's thread; it sends where the phase lets it.
 */
enum { RACES = 4000, AT_ONCE = 40 };

static void either_an_answer_or_a_408(void **state)
{
    const pe_deadlines deadlines = all_but(PE_PHASE_RECEIVING, 10 * MILLISECOND);
    int answers = 0, words = 0;
    scene s;
    open_scene(&s, &deadlines);
    for (int round = 0; round < RACES / AT_ONCE; round++) {
        int pair[AT_ONCE][2];
        pe_watch watch[AT_ONCE] = {0};
        for (int i = 0; i < AT_ONCE; i++) {
            enter(&s, &watch[i], pair[i]);
            assert_true(pe_watchdog_enter(s.watchdog, &watch[i], PE_PHASE_RECEIVING, pe_clock()));
        }
        char none;
        while (recv(pair[AT_ONCE - 1][0], &none, 1, MSG_DONTWAIT) != 0) {
        } /* the first one learns of its end: the others are about to */
        for (int i = 0; i < AT_ONCE; i++) {
            if (pe_watchdog_enter(s.watchdog, &watch[i], PE_PHASE_SENDING, pe_clock())) {
                answers++;
            } else {
                assert_true(pe_watchdog_is_leaving(&watch[i]) && pe_watchdog_owes_reply(&watch[i]));
                words++;
            }
            assert_int_equal(send(pair[i][0], "word", 4, MSG_NOSIGNAL), 4);
            shutdown(pair[i][0], SHUT_WR);
        }
        for (int i = 0; i < AT_ONCE; i++) {
            assert_int_equal(drain(pair[i][1]), 4); /* which nobody else cuts off */
            leave(&s, &watch[i], pair[i]);
        }
    }
    print_message("%d answers, %d times 408\n", answers, words);
    assert_int_equal(answers + words, RACES);
    close_scene(&s);
}

static void judges_silence_and_rate(void **state)
{
    const pe_progress_rules both = {
        .silence = 10 * MILLISECOND, .window = 40 * MILLISECOND, .rate_min = 100000};
    const pe_progress_rules rate = {.window = 40 * MILLISECOND, .rate_min = 100000};
    const pe_progress_rules none = {0};
    static const struct {
        const char *name;
        int rules;    /* both, rate, none */
        int at[8];    /* milliseconds; up to the first 0 after the first */
        int bytes[8]; /* negative: the client has nothing to do */
        int slow;     /* at which sample; -1: at none */
    } cases[] = {
        {"steady",
         0,
         {1, 6, 11, 16, 21, 26, 31, 41},
         {0, 999, 1999, 2999, 3999, 4999, 5999, 7999},
         -1},
        {"silent", 0, {1, 6, 11}, {0, 0, 0}, 2},
        {"silent after a while", 0, {1, 6, 11, 16, 21}, {0, 10, 20, 20, 20}, 4},
        {"one byte now and then", 0, {1, 9, 17, 25, 33, 41}, {0, 1, 2, 3, 4, 5}, 5},
        {"nothing to read", 0, {1, 50, 99}, {0, -1, -1}, -1},
        {"nothing to read for a while", 0, {1, 50, 59, 61}, {5, -5, 5, 5}, 3},
        {"silence is not judged", 1, {1, 11, 21, 31}, {0, 0, 0, 0}, -1},
        {"rate alone", 1, {1, 11, 21, 31, 41}, {0, 0, 0, 0, 3999}, 4},
        {"just the rate", 1, {1, 11, 21, 31, 41}, {0, 0, 0, 0, 4000}, -1},
        {"the next window", 1, {1, 41, 60, 81}, {0, 9000, 9000, 12999}, 3},
        {"no rules", 2, {1, 1000, 2000}, {0, 0, 0}, -1},
    };
    const pe_progress_rules *const rules[] = {&both, &rate, &none};
    for (size_t i = 0; i < PE_LEN(cases); i++) {
        pe_progress progress = {0};
        int slow = -1;
        for (int k = 0; k < 8 && cases[i].at[k] > 0 && slow < 0; k++) {
            const int bytes = cases[i].bytes[k];
            const pe_progress_sample sample = {cases[i].at[k] * MILLISECOND,
                                               (uint64_t)(bytes < 0 ? -bytes : bytes), bytes >= 0};
            if (pe_progress_is_slow(&progress, rules[cases[i].rules], &sample))
                slow = k;
        }
        if (slow != cases[i].slow)
            fail_msg("%s: wanted sample %d, got %d", cases[i].name, cases[i].slow, slow);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whoever_has_left_is_shut_and_others_are_not),
        cmocka_unit_test(whoever_has_left_is_found_among_many),
        cmocka_unit_test(either_an_answer_or_a_408),
        cmocka_unit_test(judges_silence_and_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
