/* SPDX-License-Identifier: MIT */
/* test_metrics.c - what /metrics tells, beside the requests that were made. */
#include "support/check.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "support/problem.h"
#include "support/wire.h"

#define DURATION "http_server_request_duration_seconds"

static test_server server;

/* On the same connection, so that the requests before have ended. */
static reply metrics_on(test_wire *wire)
{
    reply answer = wire_request(wire, "GET", "/metrics", NULL, NULL, 0);
    assert_status("/metrics", &answer, 200);
    return answer;
}

static void ask(test_wire *wire, const char *method, const char *target, long status)
{
    reply answer = wire_request(wire, method, target, NULL, NULL, 0);
    assert_status(target, &answer, status);
    reply_free(&answer);
}

static size_t lines_with(const reply *answer, const char *text)
{
    size_t n = 0;
    for (const char *at = answer->body; (at = strstr(at, text)) != NULL; at += strlen(text))
        n++;
    return n;
}

/* ---- counts ---- */

static void every_request_is_counted_by_method_route_and_status(void **state)
{
    static const struct {
        const char *method, *target;
        long status;
        const char *route;
    } cases[] = {
        {"GET", "/v1/alibi/slopes?num_heads=8", 200, "/v1/alibi/slopes"},
        {"OPTIONS", "/v1/alibi/slopes", 204, "/v1/alibi/slopes"},
        {"DELETE", "/v1/alibi/slopes", 405, "/v1/alibi/slopes"},
        {"GET", "/v1/alibi/slopes?num_heads=none", 400, "/v1/alibi/slopes"},
        {"GET", "/v1/models/made-up", 404, "/v1/models/{name}"},
        {"GET", "/problems/timeout", 200, "/problems/{code}"},
        {"GET", "/made/up", 404, ""},
    };
    enum { REPEATS = 5 };
    test_wire wire = wire_open(&server);
    for (size_t i = 0; i < PE_LEN(cases); i++) {
        char name[256];
        for (int n = 0; n < REPEATS; n++)
            ask(&wire, cases[i].method, cases[i].target, cases[i].status);
        snprintf(name, sizeof name,
                 DURATION "_count{http_request_method=\"%s\",http_route=\"%s\","
                          "http_response_status_code=\"%ld\"}",
                 strcmp(cases[i].method, "DELETE") == 0 ? "_OTHER" : cases[i].method,
                 cases[i].route, cases[i].status);
        reply metrics = metrics_on(&wire);
        assert_int_equal((long)reply_metric(&metrics, name), REPEATS);
    }
    wire_close(&wire);
}

static void bytes_of_bodies_are_summed(void **state)
{
    static const char labels[] = "http_request_method=\"POST\",http_route=\"/v1/rope/table\","
                                 "http_response_status_code=\"200\"";
    static const char body[] = "{\"head_dim\":4,\"positions\":[1,2]}";
    static const char *const fields[] = {"Content-Type: application/json", NULL};
    test_wire wire = wire_open(&server);
    reply answer = wire_request(&wire, "POST", "/v1/rope/table", fields, body, sizeof body - 1);
    const long bytes = (long)answer.bytes;
    assert_status("POST", &answer, 200);
    reply_free(&answer);
    char name[256];
    snprintf(name, sizeof name, "http_server_request_body_size_bytes_sum{%s}", labels);
    reply received = metrics_on(&wire);
    assert_int_equal((long)reply_metric(&received, name), sizeof body - 1);
    snprintf(name, sizeof name, "http_server_response_body_size_bytes_sum{%s}", labels);
    reply sent = metrics_on(&wire);
    assert_int_equal((long)reply_metric(&sent, name), bytes);
    wire_close(&wire);
}

/* Each bucket holds those below it, and the last one all. */
static void buckets_add_up(void **state)
{
    test_wire wire = wire_open(&server);
    ask(&wire, "GET", "/v1/sinusoidal?d_model=8&positions=0:9", 200);
    reply metrics = metrics_on(&wire);
    size_t series = 0;
    double before = 0, bound = 0;
    char *rest = NULL;
    for (char *line = strtok_r(metrics.body, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        const char *le = strstr(line, "le=\""), *value = strrchr(line, ' ');
        if (strstr(line, "_seconds_count") != NULL && *line != '#') {
            assert_true(strtod(value, NULL) == before);
            series++;
        }
        if (strstr(line, "_seconds_bucket{") == NULL)
            continue;
        const double now = strtod(value, NULL), limit = strtod(le + 4, NULL);
        const bool first = limit == 50e-6;
        assert_true(first || (now >= before && limit > bound));
        before = now;
        bound = limit;
    }
    assert_true(series >= 4); /* a route, the queue, two kinds of work */
    reply_free(&metrics);
    wire_close(&wire);
}

/* ---- bounds ---- */

static void made_up_paths_and_methods_make_no_series(void **state)
{
    test_wire wire = wire_open(&server);
    ask(&wire, "BREW", "/made/up", 404);
    ask(&wire, "BREW", "/v1/models/made-up", 405);
    ask(&wire, "GET", "/v1/models/made-up", 404);
    ask(&wire, "GET", "/made/up", 404);
    ask(&wire, "GET", "/metrics", 200);
    reply before = metrics_on(&wire);
    for (int n = 0; n < 1000; n++) {
        char method[16], target[64];
        snprintf(method, sizeof method, n % 3 == 0 ? "GET" : "M%d", n);
        snprintf(target, sizeof target, n % 2 == 0 ? "/made/up/%d" : "/v1/models/made-up-%d", n);
        ask(&wire, method, target, n % 3 != 0 && n % 2 != 0 ? 405 : 404);
    }
    reply after = metrics_on(&wire);
    assert_int_equal(lines_with(&after, "\n"), lines_with(&before, "\n"));
    assert_null(strstr(after.body, "up-1"));
    assert_null(strstr(after.body, "\"M1"));
    reply_free(&before);
    reply_free(&after);
    wire_close(&wire);
}

/* ---- formats ---- */

static void accept_chooses_the_format(void **state)
{
    static const struct {
        const char *accept, *type;
        bool open;
    } cases[] = {
        {"Accept: */*", "text/plain; version=0.0.4; charset=utf-8", false},
        {"Accept: text/plain", "text/plain; version=0.0.4; charset=utf-8", false},
        {"Accept: application/openmetrics-text;q=0.1, text/plain",
         "text/plain; version=0.0.4; charset=utf-8", false},
        {"Accept: application/openmetrics-text; version=1.0.0",
         "application/openmetrics-text; version=1.0.0; charset=utf-8", true},
        {"Accept: application/openmetrics-text;version=1.0.0;q=0.5,text/plain;q=0.2,*/*;q=0.1",
         "application/openmetrics-text; version=1.0.0; charset=utf-8", true},
    };
    for (size_t i = 0; i < PE_LEN(cases); i++) {
        const char *const fields[] = {cases[i].accept, NULL};
        reply answer = fetch(&server, "GET", "/metrics", fields, NULL, 0);
        assert_status(cases[i].accept, &answer, 200);
        assert_header(cases[i].accept, &answer, "Content-Type", cases[i].type);
        const char *end = strstr(answer.body, "# EOF\n");
        assert_true(cases[i].open ? end != NULL && end[6] == '\0' : end == NULL);
        assert_int_equal(lines_with(&answer, "\n# TYPE posenc_warm_hits counter\n"), cases[i].open);
        assert_int_equal(lines_with(&answer, "\nposenc_warm_hits_total "), 1);
        reply_free(&answer);
    }
}

static void the_process_is_described_behind_its_walls(void **state)
{
    static const char *const positive[] = {
        "process_cpu_seconds_total", "process_resident_memory_bytes", "process_max_fds",
        "process_virtual_memory_bytes", "process_start_time_seconds"};
    for (size_t i = 0; i < PE_LEN(positive); i++) {
        reply metrics = get(&server, "/metrics");
        assert_true(reply_metric(&metrics, positive[i]) > 0);
    }
    /* Connections of tests before may be open still, so that their number is none to count from. */
    enum { MORE = 128 };
    static test_wire wires[MORE];
    metric_wait(&server, "process_open_fds", 4, MORE - 1);
    for (size_t i = 0; i < MORE; i++)
        wires[i] = wire_open(&server);
    metric_wait(&server, "process_open_fds", MORE, 2 * MORE);
    for (size_t i = 0; i < MORE; i++)
        wire_close(&wires[i]);
    reply metrics = get(&server, "/metrics");
    assert_non_null(strstr(metrics.body, "\nposenc_build_info{version=\""));
    assert_int_equal(lines_with(&metrics, "\nposenc_rejections_total{reason=\"too-much-work\"} "),
                     1);
    reply_free(&metrics);
}

int main(void)
{
    /* Connections that are silent stay, however slowly others are opened beside them. */
    static const char *const flags[] = {"--header-deadline-ms=3600000",
                                        "--request-deadline-ms=3600000", NULL};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_request_is_counted_by_method_route_and_status),
        cmocka_unit_test(bytes_of_bodies_are_summed),
        cmocka_unit_test(buckets_add_up),
        cmocka_unit_test(made_up_paths_and_methods_make_no_series),
        cmocka_unit_test(accept_chooses_the_format),
        cmocka_unit_test(the_process_is_described_behind_its_walls),
    };
    return server_run_tests(tests, PE_LEN(tests), &server, flags);
}
