/* SPDX-License-Identifier: MIT */
/* client.h - requests to a test server through libcurl. */
#ifndef PE_TESTS_SUPPORT_CLIENT_H
#define PE_TESTS_SUPPORT_CLIENT_H

#include <stddef.h>

#include <jansson.h>

#include "support/live_server.h"

typedef struct reply {
    long status;   /* 0 when there was no answer */
    char *headers; /* the final header block, as received, NUL-terminated */
    char *body;    /* NUL-terminated; may hold NULs */
    size_t bytes;
} reply;

/**
 * One request on a connection of its own. `target` is sent as it is (path and query). headers:
 * NULL-terminated list of "Name: value" lines, or NULL. body NULL: none.   Threads  any.
 */
reply fetch(const test_server *server, const char *method, const char *target,
            const char *const *headers, const void *body, size_t bytes);
void reply_free(reply *answer);

/** GET target. */
reply get(const test_server *server, const char *target);
/** POST text as application/json. */
reply post_json(const test_server *server, const char *target, const char *text);

/** The value of a header (any case), copied to out; NULL when absent. */
const char *reply_header(const reply *answer, const char *name, char *out, size_t bytes);

/** The body as JSON, for json_decref; fails the test, showing the body, when it is none. */
json_t *reply_json(const reply *answer);

/** An answer to GET /metrics: the number after `name`, labels included; fails the test when there
 * is none. Releases the answer. */
double reply_metric(reply *answer, const char *name);

/** The same, asked for, without its fraction. */
long metric_now(const test_server *server, const char *name);

/** Ask /metrics until the number after `name` is from `least` to `most`, and return it; fails the
 * test, telling the number, when it has not changed for TEST_PATIENCE. The asking is a connection,
 * too, and leaves after its answer: posenc_connections is 1 when there is nobody else. */
long metric_wait(const test_server *server, const char *name, long least, long most);

#endif
