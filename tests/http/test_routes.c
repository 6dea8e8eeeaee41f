/* SPDX-License-Identifier: MIT */
/* test_routes.c - paths, the documents and the health pages. */
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "encodings/registry.h"
#include "http/routes.h"
#include "support/problem.h"
#include "support/wire.h"

static test_server server;

static const char *const pages[] = {
    "/",        "/v1",      "/openapi.yaml", "/openapi.json",     "/livez", "/readyz",
    "/healthz", "/version", "/metrics",      "/problems/timeout", "/docs",  "/favicon.ico"};

static void every_page_answers_get_and_head_alike(void **state)
{
    test_wire wire = wire_open(&server);
    for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++) {
        char type[128], head_type[128];
        reply answer = wire_request(&wire, "GET", pages[i], NULL, NULL, 0);
        reply head = wire_request(&wire, "HEAD", pages[i], NULL, NULL, 0);
        assert_status(pages[i], &answer, 200);
        assert_status(pages[i], &head, 200);
        assert_true(answer.bytes > 0);
        assert_header(pages[i], &answer, "Access-Control-Allow-Origin", "*");
        assert_non_null(reply_header(&answer, "Content-Type", type, sizeof type));
        assert_non_null(reply_header(&head, "Content-Type", head_type, sizeof head_type));
        assert_string_equal(type, head_type);
        reply_free(&answer);
        reply_free(&head);
    }
    wire_close(&wire);
}

static reply get_with(const char *target, const char *header)
{
    return fetch(&server, "GET", target, (const char *[]){header, NULL}, NULL, 0);
}

/* The first path below /assets/ that the page names and that ends so. */
static void find_asset(const char *page, const char *end, char *out, size_t room)
{
    for (const char *at = page; (at = strstr(at, "\"/assets/")) != NULL; at++) {
        snprintf(out, room, "%.*s", (int)strcspn(at + 1, "\""), at + 1);
        if (strcmp(out + strlen(out) - strlen(end), end) == 0)
            return;
    }
    fail_msg("the page names no file that ends with %s", end);
}

static void files_of_the_page_stay_the_same_for_ever(void **state)
{
    static const char *const codings[] = {"identity", "gzip", "zstd"};
    char path[128], header[64];
    reply page = get_with("/", "Accept: text/html");
    assert_header("/", &page, "Cache-Control", "no-cache");
    assert_header("/", &page, "X-Content-Type-Options", "nosniff");
    find_asset(page.body, "/main.js", path, sizeof path);
    for (size_t c = 0; c < PE_LEN(codings); c++) {
        snprintf(header, sizeof header, "Accept-Encoding: %s", codings[c]);
        reply file = get_with(path, header);
        assert_status(path, &file, 200);
        assert_header(path, &file, "Content-Type", "text/javascript; charset=utf-8");
        assert_header(path, &file, "Cache-Control", "public, max-age=31536000, immutable");
        if (c > 0)
            assert_header(path, &file, "Content-Encoding", codings[c]);
        reply_free(&file);
    }
    reply_free(&page);
    reply gone = get(&server, "/assets/0123456789ab/main.js");
    assert_problem("another release", &gone, 404, "not-found");
    reply_free(&gone);
}

static void json_pages_are_json(void **state)
{
    static const char *const json[] = {"/v1", "/openapi.json", "/livez", "/version",
                                       "/problems/timeout"};
    for (size_t i = 0; i < sizeof json / sizeof json[0]; i++) {
        reply answer = get(&server, json[i]);
        json_decref(reply_json(&answer));
        reply_free(&answer);
    }
}

static void documents_have_tags_that_match(void **state)
{
    static const char *const tagged[] = {"/v1", "/openapi.yaml", "/openapi.json"};
    for (size_t i = 0; i < sizeof tagged / sizeof tagged[0]; i++) {
        char etag[64], line[128];
        reply answer = get(&server, tagged[i]);
        assert_non_null(reply_header(&answer, "ETag", etag, sizeof etag));
        snprintf(line, sizeof line, "If-None-Match: \"other\", W/%s", etag);
        reply again = fetch(&server, "GET", tagged[i], (const char *const[]){line, NULL}, NULL, 0);
        assert_status(tagged[i], &again, 304);
        assert_int_equal(again.bytes, 0);
        assert_header(tagged[i], &again, "ETag", etag);
        reply_free(&answer);
        reply_free(&again);
    }
}

static void the_listing_names_every_resource_and_bound(void **state)
{
    reply answer = get(&server, "/v1");
    for (size_t i = 0; pe_registry[i] != NULL; i++) {
        char quoted[128];
        snprintf(quoted, sizeof quoted, "\"%s\"", pe_registry[i]->path);
        if (strstr(answer.body, quoted) == NULL)
            fail_msg("GET /v1 does not list %s", pe_registry[i]->path);
    }
    assert_non_null(strstr(answer.body, "max_elements"));
    assert_non_null(strstr(answer.body, "268435456"));
    reply_free(&answer);
}

/* The table of routes and the listing name the same paths. */
static void the_listing_names_every_page(void **state)
{
    size_t n, public = 0;
    const pe_route *routes = pe_routes(&n);
    reply answer = get(&server, "/v1");
    json_t *listing = reply_json(&answer);
    for (size_t i = 0; i < n; i++) {
        char path[128], quoted[160];
        if (!pe_route_is_public(&routes[i]) || routes[i].methods == 0)
            continue;
        public++;
        snprintf(path, sizeof path, "%s%s%s%s", routes[i].path, routes[i].prefix ? "{" : "",
                 routes[i].prefix ? routes[i].name : "", routes[i].prefix ? "}" : "");
        snprintf(quoted, sizeof quoted, "\"path\":\"%s\"", path);
        if (strstr(answer.body, quoted) == NULL)
            fail_msg("GET /v1 does not list %s", path);
    }
    assert_int_equal(json_array_size(json_object_get(listing, "pages")), public);
    json_decref(listing);
    reply_free(&answer);
}

static void a_newline_ends_every_document(void **state)
{
    static const char *const targets[] = {"/",
                                          "/v1",
                                          "/v1/models",
                                          "/v1/models/gpt2",
                                          "/v1/models?q=gpt2",
                                          "/v1/learned",
                                          "/openapi.json",
                                          "/healthz",
                                          "/version",
                                          "/problems/timeout",
                                          "/nope",
                                          "/v1/sinusoidal?d_model=-1"};
    for (size_t i = 0; i < PE_LEN(targets); i++) {
        reply answer = get(&server, targets[i]);
        if (answer.bytes < 2 || answer.body[answer.bytes - 1] != '\n' ||
            answer.body[answer.bytes - 2] == '\n')
            fail_msg("%s does not end with one newline", targets[i]);
        reply_free(&answer);
    }
}

static void every_problem_code_has_a_page(void **state)
{
    for (int status = PE_OK + 1; status <= PE_INTERNAL; status++) {
        char path[128];
        snprintf(path, sizeof path, "/problems/%s", pe_status_code_text((pe_status)status));
        reply answer = get(&server, path);
        assert_status(path, &answer, 200);
        json_t *page = reply_json(&answer);
        assert_int_equal(json_integer_value(json_object_get(page, "status")),
                         pe_status_http((pe_status)status));
        json_decref(page);
        reply_free(&answer);
    }
    static const char *const none[] = {"/problems/ok", "/problems/nope", "/problems/",
                                       "/problems/timeout/x"};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        reply answer = get(&server, none[i]);
        assert_problem(none[i], &answer, 404, "not-found");
        reply_free(&answer);
    }
}

static void browsers_are_shown_a_page(void **state)
{
    static const char *const shown[] = {"/v1", "/v1/learned", "/problems/not-found"};
    for (size_t i = 0; i < PE_LEN(shown); i++) {
        reply page = get_with(shown[i], "Accept: text/html,application/xhtml+xml,*/*;q=0.8");
        assert_status(shown[i], &page, 200);
        assert_header(shown[i], &page, "Content-Type", "text/html; charset=utf-8");
        assert_header(shown[i], &page, "Vary", "Accept, Accept-Encoding");
        reply_free(&page);
        reply plain = get_with(shown[i], "Accept: */*");
        assert_header(shown[i], &plain, "Content-Type", "application/json");
        assert_header(shown[i], &plain, "Vary", "Accept, Accept-Encoding");
        reply_free(&plain);
    }
    /* An error is a problem, whatever Accept says. */
    reply none = get_with("/problems/nope", "Accept: text/html");
    assert_problem("a code that is none", &none, 404, "not-found");
    reply_free(&none);
}

static void unknown_paths_are_404_and_suggest(void **state)
{
    static const struct {
        const char *target, *suggests;
    } cases[] = {
        {"/v1/", "/v1?"},
        {"/v1/sinusoidal/", "/v1/sinusoidal?"},
        {"/v1/sinusoida?d_model=4", "/v1/sinusoidal?"},
        {"/V1", NULL},
        {"/v1%00", NULL},
        {"/v1%2Fsinusoidal", NULL},
        {"//v1", NULL},
        {"/v1/../v1", NULL},
        {"/v1/sinusoidal%zz", NULL},
        {"/\xc3\xa4", NULL},
        {"/nowhere/near/anything", NULL},
        {"sinusoidal", NULL},
    };
    test_wire wire = wire_open(&server);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        static const char *const methods[] = {"GET", "HEAD", "OPTIONS", "DELETE", "POST"};
        for (size_t m = 0; m < sizeof methods / sizeof methods[0]; m++) {
            reply answer = wire_request(&wire, methods[m], cases[i].target, NULL, NULL, 0);
            if (strcmp(methods[m], "HEAD") == 0)
                assert_status(cases[i].target, &answer, 404);
            else
                assert_problem(cases[i].target, &answer, 404, "not-found");
            if (m == 0 && cases[i].suggests != NULL &&
                strstr(answer.body, cases[i].suggests) == NULL)
                fail_msg("%s: %s is not suggested: %s", cases[i].target, cases[i].suggests,
                         answer.body);
            reply_free(&answer);
        }
    }
    wire_close(&wire);
}

static void every_answer_exposes_the_custom_headers(void **state)
{
    static const char *const targets[] = {"/v1", "/nope", "/v1/sinusoidal?d_model=2",
                                          "/v1/sinusoidal?d_model=0"};
    static const char *const names[] = {"ETag",           "X-Request-Id",  "X-Tensor-Shape",
                                        "X-Tensor-Dtype", "Server-Timing", "Content-Location",
                                        "Retry-After",    "Allow",         "Accept-Post"};
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        for (int repeat = 0; repeat < 2; repeat++) {
            char exposed[512] = "";
            reply answer = get(&server, targets[i]);
            reply_header(&answer, "Access-Control-Expose-Headers", exposed, sizeof exposed);
            for (size_t n = 0; n < sizeof names / sizeof names[0]; n++)
                if (strstr(exposed, names[n]) == NULL)
                    fail_msg("%s does not expose %s: %s", targets[i], names[n], exposed);
            reply_free(&answer);
        }
    }
}

static void a_good_request_id_is_echoed_and_another_is_made(void **state)
{
    static const struct {
        const char *line, *echoed;
    } cases[] = {
        {"X-Request-Id: abc.DEF_09-", "abc.DEF_09-"},
        {"X-Request-Id: a b", NULL},
        {"X-Request-Id: a\"b", NULL},
        {"X-Request-Id: \xc3\xa4", NULL},
        {"X-Request-Id: "
         "0123456789012345678901234567890123456789012345678901234567890123"
         "01234567890123456789012345678901234567890123456789012345678901234",
         NULL},
    };
    static const char *const targets[] = {"/livez", "/nope", "/v1/sinusoidal?d_model=2"};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (size_t t = 0; t < sizeof targets / sizeof targets[0]; t++) {
            const char *const headers[] = {cases[i].line, NULL};
            char id[256] = "";
            reply answer = fetch(&server, "GET", targets[t], headers, NULL, 0);
            const char *got = reply_header(&answer, "X-Request-Id", id, sizeof id);
            if (cases[i].echoed != NULL)
                assert_string_equal(id, cases[i].echoed);
            else if (got != NULL && strstr(cases[i].line, id) != NULL)
                fail_msg("%s was echoed as %s", cases[i].line, id);
            reply_free(&answer);
        }
    }
}

static void version_names_program_kernels_and_library(void **state)
{
    static const char *const members[] = {"name", "version", "revision", "kernels",
                                          "libmicrohttpd"};
    reply answer = get(&server, "/version");
    json_t *version = reply_json(&answer);
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        assert_non_null(json_string_value(json_object_get(version, members[i])));
    assert_string_equal(json_string_value(json_object_get(version, "name")), "posenc");
    json_decref(version);
    reply_free(&answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_page_answers_get_and_head_alike),
        cmocka_unit_test(files_of_the_page_stay_the_same_for_ever),
        cmocka_unit_test(json_pages_are_json),
        cmocka_unit_test(documents_have_tags_that_match),
        cmocka_unit_test(the_listing_names_every_resource_and_bound),
        cmocka_unit_test(the_listing_names_every_page),
        cmocka_unit_test(a_newline_ends_every_document),
        cmocka_unit_test(every_problem_code_has_a_page),
        cmocka_unit_test(browsers_are_shown_a_page),
        cmocka_unit_test(unknown_paths_are_404_and_suggest),
        cmocka_unit_test(every_answer_exposes_the_custom_headers),
        cmocka_unit_test(a_good_request_id_is_echoed_and_another_is_made),
        cmocka_unit_test(version_names_program_kernels_and_library),
    };
    return server_run_tests(tests, PE_LEN(tests), &server, NULL);
}
