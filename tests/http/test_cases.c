/* SPDX-License-Identifier: MIT */
/* test_cases.c - requests, and what their answers hold, as data: each file of cases/. */
#include "support/check.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buffer.h"
#include "support/case_text.h"
#include "support/folder.h"
#include "support/problem.h"
#include "support/wire.h"

/*
 * A file is a group, or several: {about, flags, target, wire, learned, files, sources, cases}. Each
 * has a server of its own; with wire all its cases use one connection. learned has tables for
 * --learned-dir, {dtype, rows} by name; files has other files for it, texts by name. Of each answer
 * assert_answer() looks at what all have in common. A case, whose members are all optional:
 *
 *     about            why it is there
 *     for, by          the case is asked with each word, or list of words, of `for` for $1 to $4,
 *                      and each of `by` for $5 to $9
 *     target           else that of the group
 *     json, text       what is posted as application/json, text as it is; neither: a GET
 *     tensors          what is posted as safetensors, see support/case_text.h
 *     claim            a query: the target is /v1/verify
 *     upload           a target, whose answer is posted as it came
 *     method, headers  of the request, where it has others: "Accept: text/csv"
 *     type             its Content-Type, where it has another; false: one of headers
 *     status           of the answer; 200 without it
 *     problem          status and code of the problem, which is whole (assert_problem)
 *     says, silent     parts of the answer, and texts that are none: one, or several
 *     counts           how often texts are in it
 *     body             the whole answer
 *     begins, ends     its first bytes, its last
 *     fields           of the header; null: it has no such field; true: it has; {says, silent}: parts
 *     canonical        the query of its Content-Location, which is its own and has the same bytes
 *     places           the parameter or pointer of each mistake, in their order
 *     equals           members of the answer
 *     holds            what is in the answer, see holds()
 *     matches          whether a report says so
 *     faults           of the first finding of a report; none: it is a match
 *     sizes            how many items members of the answer have
 *     gives            of the parameters answered, or those of `layer`, `with` others: attention_factor to
 *                      10 digits, inv_freq to 5, by number, or all alike those of the target `as`
 *     same             another request of the same bytes and tag: {target, json, text}
 *     alike            one of the same bytes
 *     other            one of another tag; several of them all have different ones
 *     tagged           a request that names its tag gets 304, with the same fields
 *     head             a HEAD has the fields of a GET, and no body
 *
 * Of target, text, body, begins, ends, canonical, upload, claim and fields, parts in a list are one
 * text.
 */
static test_server server;
static test_wire wire; /* of a group that has one */
enum { FILES_MAX = 32, FLAGS_MAX = 16, FIELDS_MAX = 8, NAME_BYTES = 512, JSON_MOST = 1 << 20 };

static const char *text_of(const json_t *object, const char *member)
{
    return json_string_value(json_object_get(object, member));
}

/* Long texts are written in parts. */
static void join(const json_t *group, json_t *object, const char *member)
{
    const json_t *text = json_object_get(object, member);
    pe_buffer whole = {0};
    if (!json_is_array(text) && !json_is_object(text))
        return;
    case_text_add(&server, json_object_get(group, "sources"), text, &whole);
    const char *bytes = whole.data != NULL ? whole.data : "";
    json_object_set_new(object, member, json_stringn_nocheck(bytes, whole.bytes));
    pe_buffer_free(&whole);
}

static void join_parts(const json_t *group, json_t *its)
{
    static const char *const members[] = {"target", "text",  "body",   "begins",
                                          "ends",   "claim", "upload", "canonical"};
    json_t *fields = json_object_get(its, "fields"), *value;
    const char *field;
    void *next;
    if (json_object_get(its, "tensors") != NULL)
        json_object_set_new(its, "text",
                            json_pack("{s:O}", "tensors", json_object_get(its, "tensors")));
    for (size_t m = 0; m < PE_LEN(members); m++)
        join(group, its, members[m]);
    json_object_foreach_safe(fields, next, field, value)
    {
        if (json_is_array(value))
            join(group, fields, field);
    }
}

/* What is sent is NULL for a GET. */
static reply send_request(const json_t *group, const char *method, const char *target,
                          const char *const *headers, const char *body, size_t bytes)
{
    char connection[16];
    if (!json_is_true(json_object_get(group, "wire")))
        return fetch(&server, method, target, headers, body, bytes);
    const reply answer = wire_request(&wire, method, target, headers, body, bytes);
    if (reply_header(&answer, "Connection", connection, sizeof connection) != NULL) {
        if (!wire_ended(&wire))
            fail_msg("%s %s: more than an answer came", method, target);
        wire_close(&wire);
        wire = wire_open(&server);
    }
    return answer;
}

/* Its own header fields come before that of its type. */
static reply ask(const json_t *group, const json_t *request)
{
    const char *target = text_of(request, "target"), *text = text_of(request, "text");
    const char *type = text_of(request, "type"), *upload = text_of(request, "upload");
    const char *method = text_of(request, "method"), *headers[FIELDS_MAX + 2] = {NULL};
    char claim[NAME_BYTES], made_type[128] = "", line[160];
    const json_t *json = json_object_get(request, "json"), *field;
    size_t i = 0, bytes = json_string_length(json_object_get(request, "text"));
    char *dumped = json != NULL ? json_dumps(json, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
    reply made = {0};
    if (upload != NULL) {
        made = get(&server, upload);
        assert_status(upload, &made, 200);
        reply_header(&made, "Content-Type", made_type, sizeof made_type);
        text = made.body;
        bytes = made.bytes;
    } else if (dumped != NULL) {
        text = dumped;
        bytes = strlen(dumped);
    }
    if (text_of(request, "claim") != NULL) {
        snprintf(claim, sizeof claim, "/v1/verify?%s", text_of(request, "claim"));
        target = claim;
    } else if (target == NULL) {
        target = text_of(group, "target");
    }
    json_array_foreach(json_object_get(request, "headers"), i, field)
    {
        assert_true(i < FIELDS_MAX);
        headers[i] = json_string_value(field);
    }
    if (type == NULL)
        type = upload != NULL                                ? made_type
               : json_object_get(request, "tensors") != NULL ? "application/vnd.safetensors"
                                                             : "application/json";
    snprintf(line, sizeof line, "Content-Type: %s", type);
    if (text != NULL && !json_is_false(json_object_get(request, "type")))
        headers[i] = line;
    if (method == NULL)
        method = text != NULL ? "POST" : "GET";
    const reply answer = send_request(group, method, target, headers, text, bytes);
    free(dumped);
    reply_free(&made);
    return answer;
}

static bool is_nothing(const json_t *value)
{
    return value == NULL || json_is_null(value);
}

/* Each member of an object, null for one that is not there or null; of a list of objects each, in
 * any order; else the same. */
static bool holds(const json_t *got, json_t *wanted)
{
    const char *key;
    json_t *value, *item;
    size_t i, k;
    if (json_is_object(wanted)) {
        json_object_foreach(wanted, key, value)
        {
            const json_t *its = json_object_get(got, key);
            if (json_is_null(value) ? !is_nothing(its) : !holds(its, value))
                return false;
        }
        return json_is_object(got);
    }
    if (!json_is_object(json_array_get(wanted, 0)))
        return json_is_number(wanted) && json_is_number(got)
                   ? json_number_value(got) == json_number_value(wanted)
                   : json_equal(got, wanted);
    json_array_foreach(wanted, i, value)
    {
        bool found = false;
        json_array_foreach((json_t *)(uintptr_t)got, k, item) found = found || holds(item, value);
        if (!found)
            return false;
    }
    return true;
}

/* Parts of a text: one, several, or none. */
static void assert_says(const char *name, const char *body, size_t bytes, const json_t *says,
                        bool said)
{
    const size_t n = json_is_array(says) ? json_array_size(says) : says != NULL;
    for (size_t i = 0; i < n; i++) {
        const char *part = json_string_value(json_is_array(says) ? json_array_get(says, i) : says);
        if ((memmem(body, bytes, part, strlen(part)) != NULL) != said)
            fail_msg("%s: \"%s\" is %sin %s", name, part, said ? "not " : "", body);
    }
}

static void assert_fields(const char *name, const reply *answer, json_t *fields)
{
    const char *field;
    json_t *value;
    json_object_foreach(fields, field, value)
    {
        char got[1024] = "";
        const bool found = reply_header(answer, field, got, sizeof got) != NULL;
        assert_says(name, got, strlen(got), json_object_get(value, "says"), true);
        assert_says(name, got, strlen(got), json_object_get(value, "silent"), false);
        if (json_is_object(value))
            continue;
        if (!json_is_true(value))
            assert_header(name, answer, field, json_string_value(value));
        else if (!found)
            fail_msg("%s: there is no %s", name, field);
    }
}

/* What every answer holds; JSON is JSON, and one newline ends it. */
static void assert_answer(const char *name, const reply *answer)
{
    static const char *const exposed[] = {"ETag",           "X-Request-Id",  "X-Tensor-Shape",
                                          "X-Tensor-Dtype", "Server-Timing", "Content-Location",
                                          "Retry-After",    "Allow",         "Accept-Post"};
    char got[512] = "";
    assert_header(name, answer, "Access-Control-Allow-Origin", "*");
    reply_header(answer, "Access-Control-Expose-Headers", got, sizeof got);
    for (size_t e = 0; e < PE_LEN(exposed); e++)
        if (strstr(got, exposed[e]) == NULL)
            fail_msg("%s: %s is not exposed: %s", name, exposed[e], got);
    if (reply_header(answer, "Content-Length", got, sizeof got) != NULL && answer->bytes > 0)
        assert_int_equal(strtoul(got, NULL, 10), answer->bytes);
    if (reply_header(answer, "ETag", got, sizeof got) != NULL)
        assert_true(got[0] == '"' && got[strlen(got) - 1] == '"' && strlen(got) >= 18);
    if (reply_header(answer, "Content-Encoding", got, sizeof got) != NULL ||
        reply_header(answer, "Content-Type", got, sizeof got) == NULL || answer->bytes == 0 ||
        (strcmp(got, "application/json") != 0 && strcmp(got, "application/problem+json") != 0))
        return;
    if (answer->bytes < JSON_MOST) /* what is longer takes too long to read */
        json_decref(reply_json(answer));
    if (answer->body[answer->bytes - 1] != '\n' || answer->body[answer->bytes - 2] == '\n')
        fail_msg("%s: not one newline ends %s", name, answer->body);
}

/* Where these bytes begin in the answer; all of it, or some at an end. */
static void assert_bytes(const char *name, const reply *answer, const json_t *its)
{
    static const char *const members[] = {"body", "begins", "ends"};
    const char *text;
    json_t *value;
    for (size_t m = 0; m < PE_LEN(members); m++) {
        const json_t *wanted = json_object_get(its, members[m]);
        const size_t n = json_string_length(wanted), from = m == 2 ? answer->bytes - n : 0;
        if (wanted != NULL && (n > answer->bytes || (m == 0 && n != answer->bytes) ||
                               memcmp(answer->body + from, json_string_value(wanted), n) != 0))
            fail_msg("%s: another %s in %zu bytes: %s", name, members[m], answer->bytes,
                     answer->body);
    }
    json_object_foreach(json_object_get(its, "counts"), text, value)
    {
        json_int_t n = 0;
        for (const char *at = answer->body; (at = strstr(at, text)) != NULL; at++)
            n++;
        if (n != json_integer_value(value))
            fail_msg("%s: %s is there %lld times", name, text, (long long)n);
    }
}

static void assert_canonical(const char *name, const reply *answer, const char *target,
                             const char *query)
{
    char wanted[NAME_BYTES];
    snprintf(wanted, sizeof wanted, "%.*s?%s", (int)strcspn(target, "?"), target, query);
    assert_header(name, answer, "Content-Location", wanted);
    reply again = get(&server, wanted);
    assert_header(wanted, &again, "Content-Location", wanted);
    if (again.bytes != answer->bytes || memcmp(again.body, answer->body, again.bytes) != 0)
        fail_msg("%s: other bytes at %s", name, wanted);
    reply_free(&again);
}

/* What its members equals and holds say of the answer's. */
static void assert_members(const char *name, const reply *answer, const json_t *its)
{
    json_t *equals = json_object_get(its, "equals"), *held = json_object_get(its, "holds");
    json_t *sizes = json_object_get(its, "sizes"), *faults = json_object_get(its, "faults");
    json_t *matches = json_object_get(its, "matches");
    const char *member;
    json_t *value;
    if (equals == NULL && held == NULL && sizes == NULL && faults == NULL && matches == NULL)
        return;
    json_t *got = reply_json(answer);
    if (matches != NULL && !json_equal(json_object_get(got, "matches"), matches))
        fail_msg("%s: another report: %s", name, answer->body);
    json_object_foreach(equals, member, value)
    {
        if (!json_equal(json_object_get(got, member), value))
            fail_msg("%s: another %s in %s", name, member, answer->body);
    }
    json_object_foreach(sizes, member, value)
    {
        assert_int_equal(json_array_size(json_object_get(got, member)), json_integer_value(value));
    }
    const json_t *first = json_array_get(json_object_get(got, "diagnosis"), 0);
    if (faults != NULL &&
        (json_is_true(json_object_get(got, "matches")) != (json_array_size(faults) == 0) ||
         (first != NULL && !json_equal(json_object_get(first, "faults"), faults)) ||
         (first == NULL && json_array_size(faults) > 0)))
        fail_msg("%s: other faults in %s", name, answer->body);
    if (held != NULL && !holds(got, held))
        fail_msg("%s: not in %s", name, answer->body);
    json_decref(got);
}

static const json_t *parameters_of(const json_t *model, const char *layer)
{
    const json_t *layers = json_object_get(model, "layers"), *its;
    size_t l;
    json_array_foreach((json_t *)(uintptr_t)layers, l, its)
    {
        if (layer != NULL && strcmp(text_of(its, "layer_type"), layer) == 0)
            return json_object_get(its, "parameters");
    }
    return json_object_get(model, "parameters");
}

static const json_t *frequencies_of(const json_t *answer)
{
    return json_object_get(json_object_get(answer, "inv_freq"), "data");
}

/* What the parameters of a configuration give. */
static void assert_gives(const char *name, const reply *answer, const json_t *its)
{
    const char *number;
    char got[32];
    json_t *wanted, *model = reply_json(answer);
    json_t *body = json_deep_copy(parameters_of(model, text_of(its, "layer")));
    json_object_update(body, json_object_get(its, "with"));
    char *text = json_dumps(body, JSON_REAL_PRECISION(17));
    reply table = post_json(&server, "/v1/rope/frequencies", text);
    assert_status(name, &table, 200);
    json_t *gives = reply_json(&table);
    const json_t *factor = json_object_get(its, "attention_factor");
    snprintf(got, sizeof got, "%.10g",
             json_number_value(json_object_get(gives, "attention_factor")));
    if (factor != NULL && strcmp(got, json_string_value(factor)) != 0)
        fail_msg("%s: attention_factor is %s", name, got);
    json_object_foreach(json_object_get(its, "inv_freq"), number, wanted)
    {
        const json_t *one =
            json_array_get(frequencies_of(gives), (size_t)strtoul(number, NULL, 10));
        snprintf(got, sizeof got, "%.4e", json_number_value(one));
        if (one == NULL || strcmp(got, json_string_value(wanted)) != 0)
            fail_msg("%s: inv_freq[%s] is %s", name, number, got);
    }
    if (text_of(its, "as") != NULL) {
        reply other = get(&server, text_of(its, "as"));
        json_t *as = reply_json(&other);
        if (!json_equal(frequencies_of(gives), frequencies_of(as)))
            fail_msg("%s: other frequencies in %s", name, table.body);
        json_decref(as);
        reply_free(&other);
    }
    json_decref(gives);
    json_decref(body);
    json_decref(model);
    free(text);
    reply_free(&table);
}

static void assert_places(const char *name, const reply *answer, const json_t *wanted)
{
    json_t *problem = reply_json(answer), *error, *got = json_array();
    size_t i;
    json_array_foreach(json_object_get(problem, "errors"), i, error)
    {
        json_t *parameter = json_object_get(error, "parameter");
        json_array_append(got, parameter != NULL ? parameter : json_object_get(error, "pointer"));
    }
    if (!json_equal(got, wanted))
        fail_msg("%s: other mistakes, or in another order: %s", name, answer->body);
    json_decref(got);
    json_decref(problem);
}

/* Its member `how`, another request, has the same bytes, and tag if that is wanted. */
static void assert_same(const char *name, const json_t *group, const reply *one, json_t *request,
                        bool tag_too)
{
    char tag[64] = "";
    if (request == NULL)
        return;
    join_parts(group, request);
    reply other = ask(group, request);
    assert_status(name, &other, one->status);
    if (one->bytes != other.bytes || memcmp(one->body, other.body, one->bytes) != 0)
        fail_msg("%s: %s is not %s", name, other.body, one->body);
    if (tag_too)
        assert_header(name, &other, "ETag", reply_header(one, "ETag", tag, sizeof tag));
    reply_free(&other);
}

/* Of a request and others, one or several, each has a tag of its own. */
static void assert_other_tags(const char *name, const json_t *group, const reply *one,
                              json_t *others)
{
    char tag[64];
    json_t *tags = json_object(), *request;
    const size_t n = json_is_array(others) ? json_array_size(others) : others != NULL;
    for (size_t i = 0; n > 0 && i <= n; i++) {
        reply other = {0};
        request = json_is_array(others) ? json_array_get(others, i) : others;
        if (i < n) {
            join_parts(group, request);
            other = ask(group, request);
            assert_status(name, &other, one->status);
        }
        if (reply_header(i < n ? &other : one, "ETag", tag, sizeof tag) == NULL)
            fail_msg("%s: one has no tag", name);
        json_object_set_new(tags, tag, json_true());
        reply_free(&other);
    }
    if (n > 0 && json_object_size(tags) != n + 1)
        fail_msg("%s: of %zu tags some are the same", name, n + 1);
    json_decref(tags);
}

/* A HEAD, or a request that knows the tag, has the same fields and no body. */
static void assert_repeated(const char *name, const json_t *group, const reply *one,
                            const json_t *its, const char *method, long status)
{
    static const char *const shared[] = {
        "Content-Type", "Content-Location", "X-Tensor-Shape", "X-Tensor-Dtype", "ETag",
        "Vary",         "Cache-Control"};
    char tag[64] = "", line[96], value[1024];
    json_t *again = json_deep_copy(its), *headers = json_object_get(again, "headers");
    if (headers == NULL)
        json_object_set_new(again, "headers", headers = json_array());
    if (status == 304) {
        snprintf(line, sizeof line, "If-None-Match: \"other\", W/%s",
                 reply_header(one, "ETag", tag, sizeof tag));
        json_array_append_new(headers, json_string(line));
    }
    json_object_set_new(again, "method", json_string(method));
    reply bare = ask(group, again);
    assert_status(name, &bare, status);
    assert_int_equal(bare.bytes, 0);
    if (status == 200 && reply_header(&bare, "Content-Length", value, sizeof value) != NULL)
        assert_int_equal(strtoul(value, NULL, 10), one->bytes);
    assert_true(one->bytes > 0);
    for (size_t h = status == 304 ? 4 : 0; h < PE_LEN(shared); h++)
        assert_header(name, &bare, shared[h], reply_header(one, shared[h], value, sizeof value));
    reply_free(&bare);
    json_decref(again);
}

static void check(const json_t *group, json_t *its)
{
    const char *problem = text_of(its, "problem");
    char *name = json_dumps(its, JSON_COMPACT);
    join_parts(group, its);
    const json_t *status = json_object_get(its, "status"), *places = json_object_get(its, "places");
    reply answer = ask(group, its);
    if (problem != NULL)
        assert_problem(name, &answer, strtol(problem, NULL, 10), strchr(problem, ' ') + 1);
    else
        assert_status(name, &answer, status == NULL ? 200 : case_number(status));
    assert_answer(name, &answer);
    assert_says(name, answer.body, answer.bytes, json_object_get(its, "says"), true);
    assert_says(name, answer.body, answer.bytes, json_object_get(its, "silent"), false);
    if (places != NULL)
        assert_places(name, &answer, places);
    assert_fields(name, &answer, json_object_get(its, "fields"));
    assert_members(name, &answer, its);
    if (json_object_get(its, "gives") != NULL)
        assert_gives(name, &answer, json_object_get(its, "gives"));
    if (text_of(its, "canonical") != NULL)
        assert_canonical(name, &answer, text_of(its, "target"), text_of(its, "canonical"));
    assert_bytes(name, &answer, its);
    assert_same(name, group, &answer, json_object_get(its, "same"), true);
    assert_same(name, group, &answer, json_object_get(its, "alike"), false);
    assert_other_tags(name, group, &answer, json_object_get(its, "other"));
    if (json_object_get(its, "head") != NULL)
        assert_repeated(name, group, &answer, its, "HEAD", 200);
    if (json_object_get(its, "tagged") != NULL)
        assert_repeated(name, group, &answer, its, "GET", 304);
    reply_free(&answer);
    free(name);
}

/* With each of its words. */
static void check_all(const json_t *group, json_t *its)
{
    json_t *rows = json_incref(json_object_get(its, "for"));
    json_t *outer = json_incref(json_object_get(its, "by"));
    const size_t n = json_array_size(rows), m = json_array_size(outer);
    json_object_del(its, "for");
    json_object_del(its, "by");
    if (n + m == 0)
        check(group, its);
    for (size_t i = 0; n + m > 0 && i < (n > 0 ? n : 1) * (m > 0 ? m : 1); i++) {
        json_t *filled = case_filled(its, json_array_get(outer, n > 0 ? i / n : i),
                                     json_array_get(rows, n > 0 ? i % n : 0));
        check(group, filled);
        json_decref(filled);
    }
    json_decref(rows);
    json_decref(outer);
}

/* A table as a file of its name. */
static void put_table(const test_folder *folder, const char *name, const json_t *table)
{
    char file[64];
    double numbers[64];
    size_t n = 0, r, c;
    json_t *rows = json_object_get(table, "rows"), *row, *number;
    pe_dtype dtype = PE_FLOAT32;
    while (dtype < PE_DTYPES && strcmp(pe_dtype_name(dtype), text_of(table, "dtype")) != 0)
        dtype++;
    json_array_foreach(rows, r, row)
    {
        json_array_foreach(row, c, number)
        {
            assert_true(n < PE_LEN(numbers));
            numbers[n++] = json_number_value(number);
        }
    }
    snprintf(file, sizeof file, "%s.npy", name);
    folder_put_npy(folder, file, dtype, json_array_size(rows), n / json_array_size(rows), numbers);
}

static void check_group(const json_t *group)
{
    const char *flags[FLAGS_MAX + 1] = {NULL};
    json_t *learned = json_object_get(group, "learned"), *files = json_object_get(group, "files");
    json_t *cases = json_object_get(group, "cases"), *value;
    const char *name;
    const test_folder folder = folder_make();
    const bool on_wire = json_is_true(json_object_get(group, "wire"));
    size_t i, n = 0;
    if (learned != NULL) {
        flags[n++] = "--learned-dir";
        flags[n++] = folder.path;
    }
    if (on_wire) /* however long a case takes */
        flags[n++] = "--idle-timeout-ms=86400000";
    json_array_foreach(json_object_get(group, "flags"), i, value)
    {
        assert_true(n < FLAGS_MAX);
        flags[n++] = json_string_value(value);
    }
    json_object_foreach(learned, name, value)
    {
        put_table(&folder, name, value);
    }
    json_object_foreach(files, name, value)
    {
        pe_buffer bytes = {0};
        case_text_add(NULL, NULL, value, &bytes);
        folder_put(&folder, name, bytes.data, bytes.bytes);
        pe_buffer_free(&bytes);
    }
    server_start(&server, flags);
    if (on_wire)
        wire = wire_open(&server);
    assert_true(json_array_size(cases) > 0);
    json_array_foreach(cases, i, value)
    {
        check_all(group, value);
    }
    if (on_wire)
        wire_close(&wire);
    server_end(&server);
    folder_remove(&folder);
}

static void each_case_is_answered_as_it_says(void **state)
{
    json_error_t error;
    json_t *file = json_load_file(*state, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error), *group;
    size_t i;
    if (file == NULL)
        fail_msg("%s:%d: %s", (const char *)*state, error.line, error.text);
    if (json_is_object(file))
        check_group(file);
    json_array_foreach(file, i, group)
    {
        check_group(group);
    }
    json_decref(file);
}

int main(void)
{
    char pattern[512];
    glob_t found;
    struct CMUnitTest tests[FILES_MAX];
    const char *root = getenv("POSENC_ROOT");
    snprintf(pattern, sizeof pattern, "%s/tests/http/cases/*.json", root != NULL ? root : ".");
    if (glob(pattern, 0, NULL, &found) != 0 || found.gl_pathc > FILES_MAX)
        return 1;
    for (size_t f = 0; f < found.gl_pathc; f++)
        tests[f] = (struct CMUnitTest){.name = strrchr(found.gl_pathv[f], '/') + 1,
                                       .test_func = each_case_is_answered_as_it_says,
                                       .initial_state = found.gl_pathv[f]};
    const int failed = _cmocka_run_group_tests("cases", tests, found.gl_pathc, NULL, NULL);
    globfree(&found);
    return failed;
}
