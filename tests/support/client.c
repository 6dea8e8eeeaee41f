/* SPDX-License-Identifier: MIT */
/* client.c - requests to a test server through libcurl. */
#include "support/check.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include <curl/curl.h>

#include "support/client.h"

struct growing {
    char *data;
    size_t bytes, capacity;
};

static size_t take(char *data, size_t size, size_t n, void *into)
{
    struct growing *to = into;
    const size_t need = to->bytes + size * n + 1;
    if (need > to->capacity) {
        char *grown = realloc(to->data, need * 2);
        if (grown == NULL)
            return 0;
        to->data = grown;
        to->capacity = need * 2;
    }
    memcpy(to->data + to->bytes, data, size * n);
    to->bytes += size * n;
    to->data[to->bytes] = '\0';
    return size * n;
}

/* Keeps the last header block only: a 100 Continue before it is forgotten. */
static size_t take_header(char *data, size_t size, size_t n, void *into)
{
    struct growing *to = into;
    if (size * n >= 5 && memcmp(data, "HTTP/", 5) == 0)
        to->bytes = 0;
    return take(data, size, n, into);
}

static void start_curl(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

reply fetch(const test_server *server, const char *method, const char *target,
            const char *const *headers, const void *body, size_t bytes)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    char origin[64];
    struct growing head = {0}, content = {0};
    struct curl_slist *list = NULL;
    reply answer = {0};
    pthread_once(&once, start_curl);
    CURL *curl = curl_easy_init();
    assert_non_null(curl);
    snprintf(origin, sizeof origin, "http://127.0.0.1:%d/", server->port);
    for (; headers != NULL && *headers != NULL; headers++)
        list = curl_slist_append(list, *headers);
    list = curl_slist_append(list, "Expect:");
    curl_easy_setopt(curl, CURLOPT_URL, origin);
    curl_easy_setopt(curl, CURLOPT_REQUEST_TARGET, target);
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method);
    curl_easy_setopt(curl, CURLOPT_NOBODY, strcmp(method, "HEAD") == 0 ? 1L : 0L);
    if (body != NULL) {
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)bytes);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
    }
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, list);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_PROXY, "");
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L); /* bytes a second, for as long as: */
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, (long)TEST_PATIENCE);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &content);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, &head);
    const CURLcode end = curl_easy_perform(curl);
    if (end == CURLE_OK)
        curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &answer.status);
    else
        print_message("%s %s: %s\n", method, target, curl_easy_strerror(end));
    curl_slist_free_all(list);
    curl_easy_cleanup(curl);
    answer.headers = head.data != NULL ? head.data : strdup("");
    answer.body = content.data != NULL ? content.data : strdup("");
    answer.bytes = content.bytes;
    return answer;
}

void reply_free(reply *answer)
{
    free(answer->headers);
    free(answer->body);
    *answer = (reply){0};
}

reply get(const test_server *server, const char *target)
{
    return fetch(server, "GET", target, NULL, NULL, 0);
}

reply post_json(const test_server *server, const char *target, const char *text)
{
    static const char *const json[] = {"Content-Type: application/json", NULL};
    return fetch(server, "POST", target, json, text, strlen(text));
}

const char *reply_header(const reply *answer, const char *name, char *out, size_t bytes)
{
    const size_t length = strlen(name);
    for (const char *line = answer->headers; line != NULL && *line != '\0';) {
        const char *end = strpbrk(line, "\r\n");
        if (end == NULL)
            break;
        if (strncasecmp(line, name, length) == 0 && line[length] == ':') {
            const char *value = line + length + 1;
            value += strspn(value, " \t");
            snprintf(out, bytes, "%.*s", (int)(end - value), value);
            return out;
        }
        line = end + strspn(end, "\r\n");
    }
    return NULL;
}

json_t *reply_json(const reply *answer)
{
    json_error_t error;
    json_t *json = json_loadb(answer->body, answer->bytes, JSON_DECODE_ANY, &error);
    if (json == NULL)
        fail_msg("status %ld, not JSON (%s): %.2000s", answer->status, error.text, answer->body);
    return json;
}

double reply_metric(reply *answer, const char *name)
{
    char line[256];
    snprintf(line, sizeof line, "\n%s ", name);
    const char *at = strstr(answer->body, line);
    if (at == NULL)
        fail_msg("/metrics has no %s", name);
    const double value = strtod(at + strlen(line), NULL);
    reply_free(answer);
    return value;
}

long metric_now(const test_server *server, const char *name)
{
    reply answer = get(server, "/metrics");
    return (long)reply_metric(&answer, name);
}

long metric_wait(const test_server *server, const char *name, long least, long most)
{
    time_t until = 0;
    for (long last = 0;;) {
        const long value = metric_now(server, name);
        if (value >= least && value <= most)
            return value;
        if (until == 0 || value != last)
            until = time(NULL) + TEST_PATIENCE;
        if (time(NULL) > until)
            fail_msg("%s stays at %ld, wanted from %ld to %ld", name, value, least, most);
        last = value;
        poll(NULL, 0, 5); /* the server may have one CPU, which it needs for what is waited for */
    }
}
