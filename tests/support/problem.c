/* SPDX-License-Identifier: MIT */
/* problem.c - what every refusal has in common. */
#include "support/check.h"

#include <stdio.h>
#include <string.h>

#include "support/problem.h"

void assert_status(const char *name, const reply *answer, long status)
{
    if (answer->status != status)
        fail_msg("%s: wanted status %ld, got %ld: %.500s", name, status, answer->status,
                 answer->body);
}

void assert_header(const char *name, const reply *answer, const char *header, const char *value)
{
    char got[1024];
    const char *found = reply_header(answer, header, got, sizeof got);
    bool same = found == NULL || value == NULL ? found == value : strcmp(found, value) == 0;
    if (!same)
        fail_msg("%s: wanted %s: %s, got %s", name, header, value != NULL ? value : "(absent)",
                 found != NULL ? found : "(absent)");
}

static void assert_text(const char *name, json_t *problem, const char *member, const char *wanted)
{
    const char *got = json_string_value(json_object_get(problem, member));
    if (got == NULL || *got == '\0')
        fail_msg("%s: the problem has no %s", name, member);
    if (wanted != NULL && strcmp(got, wanted) != 0)
        fail_msg("%s: wanted %s \"%s\", got \"%s\"", name, member, wanted, got);
}

void assert_problem(const char *name, const reply *answer, long status, const char *code)
{
    char type[64], id[160];
    assert_status(name, answer, status);
    assert_header(name, answer, "Content-Type", "application/problem+json");
    assert_header(name, answer, "X-Content-Type-Options", "nosniff");
    assert_header(name, answer, "Content-Security-Policy", "default-src 'none'");
    assert_header(name, answer, "Access-Control-Allow-Origin", "*");
    assert_header(name, answer, "Cache-Control", "no-store");
    assert_header(name, answer, "ETag", NULL);
    json_t *problem = reply_json(answer);
    snprintf(type, sizeof type, "/problems/%s", code);
    assert_text(name, problem, "type", type);
    assert_text(name, problem, "code", code);
    assert_text(name, problem, "title", NULL);
    assert_text(name, problem, "detail", NULL);
    assert_text(name, problem, "instance", NULL);
    assert_text(name, problem, "request_id", reply_header(answer, "X-Request-Id", id, sizeof id));
    if (json_integer_value(json_object_get(problem, "status")) != status)
        fail_msg("%s: the problem's status member differs from %ld", name, status);
    json_decref(problem);
}
