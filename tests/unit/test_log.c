/* SPDX-License-Identifier: MIT */
/* test_log.c - log lines are JSON, whole, and as severe as asked for. */
#include "support/check.h"

#include <jansson.h>
#include <math.h>
#include <pthread.h>
#include <regex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/array.h"
#include "base/log.h"
#include "base/log_sink.h"
#include "support/capture.h"

static json_t *parse_line(const char *line)
{
    json_error_t error;
    json_t *object = json_loads(line, JSON_REJECT_DUPLICATES, &error);
    if (object == NULL)
        fail_msg("\"%s\" is not JSON: %s", line, error.text);
    return object;
}

static void a_line_has_time_level_event_and_members_in_order(void **state)
{
    struct capture errors = capture_start(STDERR_FILENO);
    pe_log(PE_LOG_INFO, "listening",
           (pe_log_member[]){{PE_LOG_TEXT, "host", .text = "::1"},
                             {PE_LOG_NUMBER, "port", .number = 43211},
                             {PE_LOG_REAL, "seconds", .real = 0.25},
                             {0}});
    char *line = capture_stop(&errors);
    regex_t pattern;
    assert_int_equal(
        regcomp(
            &pattern,
            "^\\{\"time\":\"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z\","
            "\"level\":\"info\",\"event\":\"listening\","
            "\"host\":\"::1\",\"port\":43211,\"seconds\":0\\.25\\}\n$",
            REG_EXTENDED | REG_NOSUB),
        0);
    if (regexec(&pattern, line, 0, NULL, 0) != 0)
        fail_msg("got %s", line);
    regfree(&pattern);
    free(line);
}

static void whatever_text_comes_the_line_stays_one_line_of_json(void **state)
{
    static const struct {
        const char *text, *back;
    } cases[] = {
        {"plain", "plain"},
        {"a\"b\\c", "a\"b\\c"},
        {"two\nlines\r\tand\x01\x7f", "two\nlines\r\tand\x01\x7f"},
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
        {"\xff", "\xef\xbf\xbd"},
        {"", ""},
        {NULL, ""},
    };
    for (size_t c = 0; c < PE_LEN(cases); c++) {
        struct capture errors = capture_start(STDERR_FILENO);
        pe_log(PE_LOG_ERROR, "event",
               (pe_log_member[]){{PE_LOG_TEXT, "text", .text = cases[c].text}, {0}});
        char *line = capture_stop(&errors);
        assert_ptr_equal(strchr(line, '\n'), line + strlen(line) - 1);
        json_t *object = parse_line(line);
        assert_string_equal(json_string_value(json_object_get(object, "text")), cases[c].back);
        json_decref(object);
        free(line);
    }
}

static void numbers_that_json_lacks_do_not_break_a_line(void **state)
{
    static const double reals[] = {(double)NAN, (double)INFINITY, -(double)INFINITY,
                                   1e300,       -1e-300,          0.0};
    for (size_t c = 0; c < PE_LEN(reals); c++) {
        struct capture errors = capture_start(STDERR_FILENO);
        pe_log(PE_LOG_INFO, "event",
               (pe_log_member[]){{PE_LOG_REAL, "real", .real = reals[c]},
                                 {PE_LOG_NUMBER, "number", .number = INT64_MIN},
                                 {0}});
        char *line = capture_stop(&errors);
        json_t *object = parse_line(line);
        assert_true(json_is_number(json_object_get(object, "real")));
        assert_true(json_integer_value(json_object_get(object, "number")) == INT64_MIN);
        json_decref(object);
        free(line);
    }
}

static void lines_less_severe_than_the_level_are_left_out(void **state)
{
    for (int level = PE_LOG_ERROR; level <= PE_LOG_DEBUG; level++) {
        struct capture errors = capture_start(STDERR_FILENO);
        pe_log_set_level((pe_log_level)level);
        for (int line = PE_LOG_ERROR; line <= PE_LOG_DEBUG; line++)
            pe_log((pe_log_level)line, "event", NULL);
        pe_log_set_level(PE_LOG_INFO);
        char *text = capture_stop(&errors);
        int lines = 0;
        for (const char *c = text; *c != '\0'; c++)
            lines += *c == '\n';
        assert_int_equal(lines, level + 1);
        assert_int_equal(strstr(text, "\"debug\"") != NULL, level == PE_LOG_DEBUG);
        assert_non_null(strstr(text, "\"error\""));
        free(text);
    }
}

enum { THREADS = 4, LINES = 500 };

static void *log_many(void *argument)
{
    for (int k = 0; k < LINES; k++)
        pe_log(PE_LOG_INFO, "event",
               (pe_log_member[]){{PE_LOG_TEXT, "thread", .text = argument},
                                 {PE_LOG_NUMBER, "k", .number = k},
                                 {0}});
    return NULL;
}

static void lines_of_many_threads_do_not_mix(void **state)
{
    char names[THREADS][2] = {"a", "b", "c", "d"};
    pthread_t threads[THREADS];
    struct capture errors = capture_start(STDERR_FILENO);
    for (size_t t = 0; t < THREADS; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, log_many, names[t]), 0);
    for (size_t t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    char *text = capture_stop(&errors);
    int lines = 0;
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest), lines++)
        json_decref(parse_line(line));
    assert_int_equal(lines, THREADS * LINES);
    free(text);
}

/* A disk that is full takes a part of a line; later there is room again. */
static void a_file_that_is_full_is_told_of_and_its_lines_stay_apart(void **state)
{
    static const char lines[] = "{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n", after[] = "{\"b\":1}\n";
    enum { BEFORE = 65536, ROOM = 20 };
    static char text[2 * BEFORE];
    char path[] = "/tmp/posenc-log-XXXXXX";
    pe_problem why;
    pe_log_sink *sink;
    struct rlimit usual;
    const int fd = mkstemp(path);
    assert_int_equal(ftruncate(fd, BEFORE), 0);
    assert_int_equal(pe_log_sink_make("log_file", path, 4096, &sink, &why), PE_OK);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &usual), 0);
    struct rlimit full = {BEFORE + ROOM, usual.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &full), 0);
    struct capture errors = capture_start(STDERR_FILENO);
    pe_log_sink_add(sink, lines, sizeof lines - 1);
    assert_true(pe_log_sink_flush(sink, 0));
    pe_log_sink_add(sink, after, sizeof after - 1); /* is told once */
    assert_true(pe_log_sink_flush(sink, 0));
    char *told = capture_stop(&errors);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &usual), 0);
    assert_int_equal(pe_log_sink_dropped(sink), 2);
    pe_log_sink_add(sink, after, sizeof after - 1);
    pe_log_sink_free(sink, 0);
    const ssize_t bytes = pread(fd, text, sizeof text - 1, BEFORE);
    assert_true(bytes > 0);
    text[bytes] = '\0';
    static const char wanted[] = "{\"a\":1}\n{\"a\":2}\n{\"a\"\n{\"b\":1}\n";
    assert_true(strncmp(text, wanted, strlen(wanted)) == 0);
    assert_non_null(strstr(text + strlen(wanted), "\"event\":\"log_dropped\",\"lines\":2}\n"));
    assert_non_null(strstr(told, "\"event\":\"log_failed\""));
    assert_non_null(strstr(told, path));
    json_decref(parse_line(told));
    free(told);
    close(fd);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_has_time_level_event_and_members_in_order),
        cmocka_unit_test(whatever_text_comes_the_line_stays_one_line_of_json),
        cmocka_unit_test(numbers_that_json_lacks_do_not_break_a_line),
        cmocka_unit_test(lines_less_severe_than_the_level_are_left_out),
        cmocka_unit_test(lines_of_many_threads_do_not_mix),
        cmocka_unit_test(a_file_that_is_full_is_told_of_and_its_lines_stay_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
