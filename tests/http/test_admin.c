/* SPDX-License-Identifier: MIT */
/* test_admin.c - the listener for operators, beside the public one. */
#include "support/check.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "support/problem.h"
#include "support/wire.h"

static test_server server, admin; /* admin: the same program at its other port */

static reply post(const char *target, const char *const *fields)
{
    return fetch(&admin, "POST", target, fields, NULL, 0);
}

static void operators_have_paths_that_the_public_has_not(void **state)
{
    static const char *const paths[] = {"/metrics",   "/caches",   "/settings",
                                        "/log-level", "/requests", "/readiness"};
    for (size_t i = 0; i < PE_LEN(paths); i++) {
        reply inside = get(&admin, paths[i]), outside = get(&server, paths[i]);
        assert_status(paths[i], &inside, 200);
        assert_problem(paths[i], &outside, 404, "not-found");
        reply_free(&inside);
        reply_free(&outside);
    }
}

static void both_tell_how_the_server_is(void **state)
{
    static const char *const paths[] = {"/", "/livez", "/readyz", "/healthz", "/version"};
    for (size_t i = 0; i < PE_LEN(paths); i++) {
        reply inside = get(&admin, paths[i]), outside = get(&server, paths[i]);
        assert_status(paths[i], &inside, 200);
        assert_status(paths[i], &outside, 200);
        reply_free(&inside);
        reply_free(&outside);
    }
}

/* Not even what is stored, and found without a look at the path. */
static void operators_get_no_tables(void **state)
{
    static const char target[] = "/v1/sinusoidal?d_model=4&positions=0:3";
    for (int n = 0; n < 3; n++) {
        reply outside = get(&server, target), inside = get(&admin, target);
        assert_status(target, &outside, 200);
        assert_status(target, &inside, 404);
        reply_free(&outside);
        reply_free(&inside);
    }
}

static json_int_t stored(const char *cache)
{
    reply answer = get(&admin, "/caches");
    json_t *all = reply_json(&answer);
    const json_int_t entries =
        json_integer_value(json_object_get(json_object_get(all, cache), "entries"));
    json_decref(all);
    reply_free(&answer);
    return entries;
}

static void a_purge_empties_the_caches(void **state)
{
    static const char *const none[] = {NULL}, *const page[] = {"Origin: http://a", NULL};
    reply answer = get(&server, "/v1/sinusoidal?d_model=4&positions=0:7&format=raw");
    assert_status("before", &answer, 200);
    reply_free(&answer);
    assert_true(stored("responses") > 0);
    reply refused = post("/caches/purge", page);
    assert_status("from a web page", &refused, 400);
    reply_free(&refused);
    while (stored("responses") + stored("request_keys") + stored("tables") > 0) {
        reply purged = post("/caches/purge", none); /* what is held still stays */
        assert_status("purge", &purged, 200);
        reply_free(&purged);
    }
}

static void web_pages_get_nothing(void **state)
{
    static const char *const origin[] = {"Origin: http://example.com", NULL};
    reply read = fetch(&admin, "GET", "/settings", origin, NULL, 0);
    reply written = post("/log-level?level=debug", origin);
    char value[64];
    assert_status("GET", &read, 200);
    assert_null(reply_header(&read, "Access-Control-Allow-Origin", value, sizeof value));
    assert_status("POST", &written, 400);
    reply_free(&read);
    reply_free(&written);
}

/* A page may have its own name point to the listener, and then ask as if it were its own. */
static void a_name_that_a_web_page_may_have_is_refused(void **state)
{
    static const struct {
        const char *host;
        long status;
    } rows[] = {
        {"Host: localhost", 200},
        {"Host: prometheus-target:9464", 200},
        {"Host: 10.1.2.3:9464", 200},
        {"Host: [::1]:9464", 200},
        {"Host: a.localhost", 200},
        {"Host: posenc.svc.cluster.LOCAL:9464", 200},
        {"Host: posenc.example.org", 200},
        {"Host: posenc.example.org.evil.example:9464", 400},
        {"Host: evil.example", 400},
        {"Host: local.evil.example", 400},
        {"Host: evil.", 400},
        {"Host: 127.0.0.1.evil.example:9464", 400},
        {"Host: .local", 400},
        {"Host: notlocal.example", 400},
    };
    for (size_t i = 0; i < PE_LEN(rows); i++) {
        const char *const fields[] = {rows[i].host, NULL};
        reply answer = fetch(&admin, "GET", "/settings", fields, NULL, 0);
        assert_status(rows[i].host, &answer, rows[i].status);
        reply_free(&answer);
        answer = fetch(&server, "GET", "/livez", fields, NULL, 0);
        assert_status("the public listener", &answer, 200);
        reply_free(&answer);
    }
}

static void the_level_of_the_log_can_be_set(void **state)
{
    reply set = post("/log-level?level=debug", NULL), read = get(&admin, "/log-level");
    assert_status("set", &set, 200);
    assert_string_equal(read.body, "{\"level\":\"debug\"}\n");
    reply_free(&set);
    reply_free(&read);
    set = post("/log-level?level=loud", NULL);
    assert_status("a level that there is not", &set, 422);
    reply_free(&set);
    set = post("/log-level?level=info", NULL);
    assert_status("set back", &set, 200);
    reply_free(&set);
}

static void settings_tell_their_sources(void **state)
{
    reply answer = get(&admin, "/settings");
    json_t *all = reply_json(&answer);
    const json_t *place = json_object_get(all, "admin_listen");
    assert_string_equal(json_string_value(json_object_get(place, "value")), "127.0.0.1:0");
    assert_string_equal(json_string_value(json_object_get(place, "source")), "--admin-listen");
    json_decref(all);
    reply_free(&answer);
}

/* A reader who has taken nothing yet of a long answer. */
static void requests_under_way_are_listed(void **state)
{
    static const char target[] = "/v1/sinusoidal?d_model=512&positions=0:524288&format=raw";
    test_wire wire = wire_open(&server);
    bool listed = false;
    wire_send_text(&wire,
                   "GET /v1/sinusoidal?d_model=512&positions=0:524288&format=raw HTTP/1.1\r\n"
                   "Host: a\r\n\r\n");
    while (!listed) { /* it comes; `make test` ends what takes for ever */
        reply answer = get(&admin, "/requests");
        json_decref(reply_json(&answer));
        listed = strstr(answer.body, target) != NULL && strstr(answer.body, "age_ms") != NULL;
        reply_free(&answer);
    }
    wire_close(&wire);
}

static void wait_for_request(const char *listed)
{
    for (bool found = false; !found;) { /* `make test` ends what takes for ever */
        reply answer = get(&admin, "/requests");
        json_decref(reply_json(&answer));
        found = strstr(answer.body, listed) != NULL;
        reply_free(&answer);
    }
}

static void a_request_that_arrives_is_listed_with_its_target(void **state)
{
    test_wire wire = wire_open(&server);
    wire_send_text(&wire, "POST /v1/alibi/bias?slow HTTP/1.1\r\nHost: a\r\n"
                          "Content-Type: application/json\r\nContent-Length: 32\r\n\r\n{");
    wait_for_request("\"phase\":\"receiving\",\"listener\":\"public\",\"request\":"
                     "\"POST /v1/alibi/bias?slow\",\"age_ms\":");
    wire_send_text(&wire, "\"num_heads\":2,\"query_length\":3}GET / HTTP/1.1\r\n");
    wait_for_request("\"phase\":\"header\",\"listener\":\"public\"}");
    wire_close(&wire);
}

#define CONNECTIONS "8"
#define DROPPED     "posenc_connections_dropped_total"

/* One that is served: those of earlier cases may not have ended yet, and their places are taken. */
static test_wire open_served(void)
{
    for (;;) {
        test_wire wire = wire_open(&server);
        reply answer = wire_request(&wire, "GET", "/livez", NULL, NULL, 0);
        const long status = answer.status;
        reply_free(&answer);
        if (status == 200)
            return wire;
        wire_close(&wire);
    }
}

static void operators_come_in_when_all_connections_are_taken(void **state)
{
    enum { N = 8 }; /* CONNECTIONS */
    test_wire taken[N];
    for (size_t i = 0; i < N; i++)
        taken[i] = open_served();
    const long dropped = metric_wait(&admin, DROPPED, 0, LONG_MAX);
    reply inside = get(&admin, "/readiness");
    assert_status("an operator", &inside, 200);
    reply_free(&inside);
    metric_wait(&admin, DROPPED, dropped, dropped); /* nobody has made room */
    for (size_t i = 0; i < N; i++)
        wire_close(&taken[i]);
}

static void the_version_tells_of_the_sandbox(void **state)
{
    reply inside = get(&admin, "/version"), outside = get(&server, "/version");
    json_t *facts = reply_json(&inside);
    const json_t *walls = json_object_get(facts, "sandbox");
    assert_int_equal(json_object_size(walls), 6);
    assert_non_null(json_object_get(json_object_get(walls, "landlock"), "detail"));
    assert_null(strstr(outside.body, "sandbox"));
    json_decref(facts);
    reply_free(&inside);
    reply_free(&outside);
}

static int start(void **state)
{
    static const char *const flags[] = {
        "--admin-listen",     "127.0.0.1:0", "--connections-max", CONNECTIONS, "--admin-hosts",
        "posenc.example.org", NULL};
    server_start(&server, flags);
    admin = (test_server){.port = server_logged_port(&server, "admin_listening")};
    return 0;
}

static int stop(void **state)
{
    server_end(&server);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_have_paths_that_the_public_has_not),
        cmocka_unit_test(both_tell_how_the_server_is),
        cmocka_unit_test(operators_get_no_tables),
        cmocka_unit_test(a_purge_empties_the_caches),
        cmocka_unit_test(web_pages_get_nothing),
        cmocka_unit_test(a_name_that_a_web_page_may_have_is_refused),
        cmocka_unit_test(the_level_of_the_log_can_be_set),
        cmocka_unit_test(settings_tell_their_sources),
        cmocka_unit_test(requests_under_way_are_listed),
        cmocka_unit_test(a_request_that_arrives_is_listed_with_its_target),
        cmocka_unit_test(operators_come_in_when_all_connections_are_taken),
        cmocka_unit_test(the_version_tells_of_the_sandbox),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
