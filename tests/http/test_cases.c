/* SPDX-License-Identifier: MIT */
/* test_cases.c - requests, and what their answers hold, as data: each file of cases/. */
#include "support/check.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buffer.h"
#include "support/folder.h"
#include "support/problem.h"

/*
 * A file is {about, flags, target, learned, cases}: learned has tables for --learned-dir, {dtype,
 * rows} by name. A case, whose members are all optional:
 *
 *     about            why it is there
 *     target           else that of the file
 *     json, text       what is posted as application/json, text as it is; neither: a GET
 *     upload           a target, whose answer is posted as it came; with claim, a query, to /v1/verify
 *     method, headers  of the request, where it has others: "Accept: text/csv"
 *     status           of the answer; 200 without it
 *     problem          status and code of the problem, which is whole (assert_problem)
 *     says, silent     parts of the answer, and texts that are none: one, or several
 *     body             the whole answer
 *     fields           of the header; null: it has no such field
 *     canonical        the query of its Content-Location, which is its own
 *     places           the parameter or pointer of each mistake, in their order
 *     equals           members of the answer
 *     holds            what is in the answer, see holds()
 *     faults           of the first finding of a report; none: it is a match
 *     sizes            how many items members of the answer have
 *     gives            of the parameters answered, or those of `layer`, `with` others: attention_factor to
 *                      10 digits, inv_freq to 5, by number, or all alike those of the target `as`
 *     same             another request of the same bytes and tag: {target, json, text}
 *     alike            one of the same bytes
 *
 * Of target, text, body, canonical, upload, claim and fields, parts in a list are one text.
 */
static test_server server;
enum { FILES_MAX = 32, FLAGS_MAX = 16, FIELDS_MAX = 8, NAME_BYTES = 512 };

static const char *text_of(const json_t *object, const char *member)
{
    return json_string_value(json_object_get(object, member));
}

/* Long texts are written in parts. */
static void join(json_t *object, const char *member)
{
    json_t *parts = json_object_get(object, member), *part;
    pe_buffer whole = {0};
    size_t i;
    json_array_foreach(parts, i, part)
    {
        pe_buffer_str(&whole, json_string_value(part));
    }
    if (json_is_array(parts))
        json_object_set_new(object, member, json_string(pe_buffer_text(&whole)));
    pe_buffer_free(&whole);
}

static void join_parts(json_t *its)
{
    static const char *const members[] = {"target", "text", "body", "canonical", "upload", "claim"};
    json_t *fields = json_object_get(its, "fields"), *value;
    const char *field;
    void *next;
    for (size_t m = 0; m < PE_LEN(members); m++)
        join(its, members[m]);
    json_object_foreach_safe(fields, next, field, value)
    {
        join(fields, field);
    }
}

/* What another target answers, posted with its media type. */
static reply post_answer(const json_t *request, const char *upload)
{
    char type[128] = "", header[160], target[NAME_BYTES];
    reply made = get(&server, upload);
    assert_status(upload, &made, 200);
    assert_non_null(reply_header(&made, "Content-Type", type, sizeof type));
    snprintf(header, sizeof header, "Content-Type: %s", type);
    snprintf(target, sizeof target, "/v1/verify?%s", text_of(request, "claim"));
    const reply answer =
        fetch(&server, "POST", target, (const char *const[]){header, NULL}, made.body, made.bytes);
    reply_free(&made);
    return answer;
}

/* Its own header fields come before that of JSON. */
static reply ask(const json_t *file, const json_t *request)
{
    const char *target = text_of(request, "target"), *text = text_of(request, "text");
    const char *method = text_of(request, "method"), *headers[FIELDS_MAX + 2] = {NULL};
    const json_t *json = json_object_get(request, "json"), *field;
    if (text_of(request, "upload") != NULL)
        return post_answer(request, text_of(request, "upload"));
    char *dumped = json != NULL ? json_dumps(json, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
    size_t i = 0;
    if (target == NULL)
        target = text_of(file, "target");
    if (dumped != NULL)
        text = dumped;
    json_array_foreach(json_object_get(request, "headers"), i, field)
    {
        assert_true(i < FIELDS_MAX);
        headers[i] = json_string_value(field);
    }
    if (text != NULL)
        headers[i] = "Content-Type: application/json";
    if (method == NULL)
        method = text != NULL ? "POST" : "GET";
    const reply answer =
        fetch(&server, method, target, headers, text, text != NULL ? strlen(text) : 0);
    free(dumped);
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

static void assert_says(const char *name, const reply *answer, const json_t *says, bool said)
{
    const size_t n = json_is_array(says) ? json_array_size(says) : says != NULL;
    for (size_t i = 0; i < n; i++) {
        const char *part = json_string_value(json_is_array(says) ? json_array_get(says, i) : says);
        if ((strstr(answer->body, part) != NULL) != said)
            fail_msg("%s: \"%s\" is %sin %s", name, part, said ? "not " : "", answer->body);
    }
}

static void assert_fields(const char *name, const reply *answer, json_t *fields)
{
    const char *field;
    json_t *value;
    json_object_foreach(fields, field, value)
    {
        assert_header(name, answer, field, json_string_value(value));
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
    reply_free(&again);
}

/* What its members equals and holds say of the answer's. */
static void assert_members(const char *name, const reply *answer, const json_t *its)
{
    json_t *equals = json_object_get(its, "equals"), *held = json_object_get(its, "holds");
    json_t *sizes = json_object_get(its, "sizes"), *faults = json_object_get(its, "faults");
    const char *member;
    json_t *value;
    if (equals == NULL && held == NULL && sizes == NULL && faults == NULL)
        return;
    json_t *got = reply_json(answer);
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

/* The other request, which may be NULL, has the same bytes and, if that is wanted, tag. */
static void assert_same(const char *name, const json_t *file, const reply *one, json_t *request,
                        bool tag_too)
{
    char tag[64], other_tag[64];
    if (request == NULL)
        return;
    join_parts(request);
    reply other = ask(file, request);
    assert_status(name, &other, one->status);
    if (one->bytes != other.bytes || memcmp(one->body, other.body, one->bytes) != 0)
        fail_msg("%s: %s is not %s", name, other.body, one->body);
    if (tag_too && reply_header(one, "ETag", tag, sizeof tag) != NULL)
        assert_string_equal(reply_header(&other, "ETag", other_tag, sizeof other_tag), tag);
    reply_free(&other);
}

static void check(const json_t *file, json_t *its)
{
    const json_t *status = json_object_get(its, "status");
    json_t *places = json_object_get(its, "places");
    const char *problem = text_of(its, "problem");
    join_parts(its);
    char *name = json_dumps(its, JSON_COMPACT);
    reply answer = ask(file, its);
    if (problem != NULL)
        assert_problem(name, &answer, strtol(problem, NULL, 10), strchr(problem, ' ') + 1);
    else
        assert_status(name, &answer, status != NULL ? (long)json_integer_value(status) : 200);
    assert_says(name, &answer, json_object_get(its, "says"), true);
    assert_says(name, &answer, json_object_get(its, "silent"), false);
    if (places != NULL)
        assert_places(name, &answer, places);
    assert_fields(name, &answer, json_object_get(its, "fields"));
    assert_members(name, &answer, its);
    if (json_object_get(its, "gives") != NULL)
        assert_gives(name, &answer, json_object_get(its, "gives"));
    if (text_of(its, "canonical") != NULL)
        assert_canonical(name, &answer, text_of(its, "target"), text_of(its, "canonical"));
    if (text_of(its, "body") != NULL)
        assert_string_equal(answer.body, text_of(its, "body"));
    assert_same(name, file, &answer, json_object_get(its, "same"), true);
    assert_same(name, file, &answer, json_object_get(its, "alike"), false);
    reply_free(&answer);
    free(name);
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

static void each_case_is_answered_as_it_says(void **state)
{
    const char *flags[FLAGS_MAX + 1] = {NULL};
    json_error_t error;
    json_t *file = json_load_file(*state, JSON_REJECT_DUPLICATES, &error), *value;
    const char *name;
    const test_folder folder = folder_make();
    size_t i;
    if (file == NULL)
        fail_msg("%s:%d: %s", (const char *)*state, error.line, error.text);
    json_array_foreach(json_object_get(file, "flags"), i, value)
    {
        assert_true(i < FLAGS_MAX);
        flags[i] = json_string_value(value);
    }
    json_object_foreach(json_object_get(file, "learned"), name, value)
    {
        put_table(&folder, name, value);
    }
    if (json_object_get(file, "learned") != NULL) {
        flags[0] = "--learned-dir";
        flags[1] = folder.path;
    }
    server_start(&server, flags);
    assert_true(json_array_size(json_object_get(file, "cases")) > 0);
    json_array_foreach(json_object_get(file, "cases"), i, value)
    {
        check(file, value);
    }
    server_end(&server);
    folder_remove(&folder);
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
