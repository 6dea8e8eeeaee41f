/* SPDX-License-Identifier: MIT */
/* test_routes.c - that the listing, the problems and the page are whole; the rest is
 * cases/representations.json. */
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "encodings/registry.h"
#include "http/routes.h"
#include "support/problem.h"

static test_server server;

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
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_of_the_page_stay_the_same_for_ever),
        cmocka_unit_test(the_listing_names_every_resource_and_bound),
        cmocka_unit_test(the_listing_names_every_page),
        cmocka_unit_test(every_problem_code_has_a_page),
    };
    return server_run_tests(tests, PE_LEN(tests), &server, NULL);
}
