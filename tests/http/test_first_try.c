/* SPDX-License-Identifier: MIT */
/* test_first_try.c - what people type first: names of others, forms, formats. */
#include "support/check.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "support/problem.h"

static test_server server;

/* ---- paths ---- */

static void a_family_lists_its_resources(void **state)
{
    static const char *const families[] = {"/v1/rope", "/v1/alibi", "/v1/t5", "/v1/shaw",
                                           "/v1/swin"};
    for (size_t f = 0; f < PE_LEN(families); f++) {
        char below[32];
        reply answer = get(&server, families[f]);
        assert_status(families[f], &answer, 200);
        json_t *listing = reply_json(&answer), *resources = json_object_get(listing, "resources");
        snprintf(below, sizeof below, "%s/", families[f]);
        assert_true(json_array_size(resources) >= 2);
        for (size_t i = 0; i < json_array_size(resources); i++) {
            const char *path =
                json_string_value(json_object_get(json_array_get(resources, i), "path"));
            assert_int_equal(strncmp(path, below, strlen(below)), 0);
        }
        json_decref(listing);
        reply_free(&answer);
    }
}

/* The canonical form has our names, and so the same numbers; only the warning is more. */
static void a_name_of_others_leads_to_the_canonical_form(void **state)
{
    char theirs[256], ours[256];
    reply synonym = get(&server, "/v1/rope/table?dim=8&theta=500000&max_len=3");
    reply plain = get(&server, "/v1/rope/table?head_dim=8&rope_theta=500000&positions=0:3");
    assert_string_equal(reply_header(&synonym, "Content-Location", theirs, sizeof theirs),
                        reply_header(&plain, "Content-Location", ours, sizeof ours));
    assert_string_not_equal(reply_header(&synonym, "ETag", theirs, sizeof theirs),
                            reply_header(&plain, "ETag", ours, sizeof ours));
    reply numbers = get(&server, "/v1/rope/table?dim=8&theta=500000&max_len=3&format=npz");
    reply same =
        get(&server, "/v1/rope/table?head_dim=8&rope_theta=500000&positions=0:3&format=npz");
    assert_int_equal(numbers.bytes, same.bytes);
    assert_memory_equal(numbers.body, same.body, same.bytes);
    assert_string_equal(reply_header(&numbers, "ETag", theirs, sizeof theirs),
                        reply_header(&same, "ETag", ours, sizeof ours));
    reply_free(&synonym);
    reply_free(&plain);
    reply_free(&numbers);
    reply_free(&same);
}

/* ---- bodies ---- */

/* What curl -d sends: JSON, or fields of a form, which are a query. */
static void a_body_of_curl_is_read(void **state)
{
    static const char *const headers[] = {"Content-Type: application/x-www-form-urlencoded", NULL};
    static const char *const bodies[] = {"{\"d_model\":4,\"positions\":\"0:2\"}",
                                         " {\"d_model\":4,\"positions\":\"0:2\"}",
                                         "d_model=4&positions=0:2", "d_model=4&positions=0%3A2"};
    reply wanted = get(&server, "/v1/sinusoidal?d_model=4&positions=0:2");
    for (size_t b = 0; b < PE_LEN(bodies); b++) {
        reply answer =
            fetch(&server, "POST", "/v1/sinusoidal", headers, bodies[b], strlen(bodies[b]));
        assert_status(bodies[b], &answer, 200);
        assert_string_equal(answer.body, wanted.body);
        reply_free(&answer);
    }
    reply both =
        fetch(&server, "POST", "/v1/sinusoidal?d_model=4", headers, bodies[2], strlen(bodies[2]));
    assert_problem("a form and a query", &both, 400, "malformed-request");
    reply none = fetch(&server, "POST", "/v1/sinusoidal", headers, "what", 4);
    assert_problem("neither", &none, 415, "unsupported-media-type");
    reply_free(&both);
    reply_free(&none);
    reply_free(&wanted);
}

/* ---- CSV ---- */

/* What CSV says of a table is read again, with a header and without, by the type and by content. */
static void csv_is_read_again(void **state)
{
    static const char *const types[][2] = {{"Content-Type: text/csv", NULL},
                                           {"Content-Type: application/x-www-form-urlencoded"}};
    static const struct {
        const char *table, *claim;
    } rows[] = {
        {"sinusoidal?d_model=8&positions=0:16", "encoding=sinusoidal"},
        {"rope/table?head_dim=8&positions=5:16", "encoding=rope&positions=5:16"},
        {"rope/table?head_dim=8&positions=0:9&dtype=float64", "encoding=rope&dtype=float64"},
        {"rope/frequencies?model=qwen3-8b", "model=qwen3-8b"},
        {"alibi/slopes?num_heads=4", "encoding=alibi/slopes"},
        {"sinusoidal?d_model=2&positions=0:5", "encoding=sinusoidal"}, /* 0,1 counts, or is a row */
        {"sinusoidal?d_model=2&positions=0:5", "encoding=sinusoidal&positions=0:5"},
        {"sinusoidal?d_model=2&positions=0:5", ""},
        {"sinusoidal?d_model=2&positions=3:9", "encoding=sinusoidal&positions=3:9"},
        {"t5/buckets?query_length=4", "encoding=t5/buckets&query_length=4"},
        {"alibi/bias?num_heads=4&query_length=5&form=causal", "encoding=alibi&form=causal"},
    };
    for (size_t r = 0; r < PE_LEN(rows); r++)
        for (size_t h = 0; h < 3; h++) {
            static const char *const headers[] = {"indices", "names", "none"};
            char target[256], claim[256];
            if (h == 2 && strncmp(rows[r].table, "alibi/bias", 10) == 0)
                continue; /* without a header nothing tells axes from columns */
            snprintf(target, sizeof target, "/v1/%s&format=csv&csv_header=%s", rows[r].table,
                     headers[h]);
            snprintf(claim, sizeof claim, "/v1/verify?%s", rows[r].claim);
            reply csv = get(&server, target);
            reply report = fetch(&server, "POST", claim, types[h % 2], csv.body, csv.bytes);
            assert_status(target, &report, 200);
            if (strstr(report.body, "\"matches\":true") == NULL)
                fail_msg("%s: %s", target, report.body);
            reply_free(&csv);
            reply_free(&report);
        }
}

static void broken_csv_is_told_by_its_line(void **state)
{
    static const char *const headers[] = {"Content-Type: text/csv", NULL};
    static const struct {
        const char *text, *says;
    } rows[] = {
        {"0,1\n0,1\n0.5,x\n", "line 3 of the CSV has a field that is no number: x"},
        {"0,1\n0,1\n0.5\n", "line 3 of the CSV has more numbers, or fewer"},
        {"0,1\n", "no line of numbers"},
        {"\n# nothing\n", "the CSV has no line"},
        {"a,b,1\n1,2,3\n", "line 1 of the CSV has words among its numbers"},
    };
    for (size_t r = 0; r < PE_LEN(rows); r++) {
        reply answer = fetch(&server, "POST", "/v1/verify?encoding=sinusoidal", headers,
                             rows[r].text, strlen(rows[r].text));
        assert_problem(rows[r].text, &answer, 400, "malformed-request");
        if (strstr(answer.body, rows[r].says) == NULL)
            fail_msg("%s: %s", rows[r].says, answer.body);
        reply_free(&answer);
    }
}

/* Whose rows have the claimed shape only without a header. */
static void csv_that_does_not_match_is_told(void **state)
{
    static const char *const headers[] = {"Content-Type: text/csv", NULL};
    reply report = fetch(&server, "POST", "/v1/verify?encoding=sinusoidal&positions=0:2", headers,
                         "0,1\n0,1\n", 8);
    assert_status("0,1 twice", &report, 200);
    assert_non_null(strstr(report.body, "{\"matches\":false"));
    assert_non_null(strstr(report.body, "\"faults\":[\"positions_zero\"]"));
    reply_free(&report);
}

/* ---- forms ---- */

/* A form's only file is the body, and its fields are a query. */
static void a_form_stands_for_its_content(void **state)
{
    static const char *const headers[] = {"Content-Type: multipart/form-data; boundary=x", NULL};
#define FIELD(name, value)                                                                         \
    "--x\r\nContent-Disposition: form-data; name=\"" name "\"\r\n\r\n" value "\r\n"
#define FILE_PART(name, content)                                                                   \
    "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"" name "\"\r\n\r\n" content  \
    "\r\n"
    static const struct {
        const char *target, *body, *says;
        int status;
    } rows[] = {
        {"/v1/sinusoidal", FIELD("d_model", "4") FIELD("positions", "1") "--x--\r\n",
         "[[0.84147096,0.5403023,0.009999833,0.99995]]", 200},
        {"/v1/sinusoidal?base=3", FIELD("d_model", "4") "--x--\r\n", "not in both", 400},
        {"/v1/sinusoidal", FILE_PART("a.json", "{}") "--x--\r\n", "and no file", 400},
        {"/v1/sinusoidal", FIELD("d_modle", "4") "--x--\r\n", "did you mean d_model?", 400},
        {"/v1/models/resolve",
         FILE_PART("config.json", "{\"model_type\":\"llama\",\"hidden_size\":64,"
                                  "\"num_attention_heads\":4}") "--x--\r\n",
         "\"head_dim\":16", 200},
        {"/v1/models/resolve", FIELD("config", "{\"model_type\"") "--x--\r\n", "JSON", 400},
        {"/v1/models/resolve", FIELD("model", "llama") "--x--\r\n", "must have one file", 400},
        {"/v1/models/resolve", FILE_PART("a.pt", "\x80\x02}q") "--x--\r\n", "save_file", 415},
        {"/v1/verify", FILE_PART("a.bin", "\x80\x02}q") "--x--\r\n", "save_file", 415},
        {"/v1/verify", FIELD("encoding", "rope") "--x--\r\n", "a file .npy, .npz", 400},
    };
    for (size_t r = 0; r < PE_LEN(rows); r++) {
        reply answer =
            fetch(&server, "POST", rows[r].target, headers, rows[r].body, strlen(rows[r].body));
        assert_status(rows[r].target, &answer, rows[r].status);
        if (strstr(answer.body, rows[r].says) == NULL)
            fail_msg("%s: no %s in %s", rows[r].target, rows[r].says, answer.body);
        reply_free(&answer);
    }
}

/* The canonical form names what differs from the default, in CSV alone. */
static void the_header_of_csv_is_canonical(void **state)
{
    char location[256], tag[64], other[64];
    reply names = get(&server, "/v1/sinusoidal?d_model=2&format=csv&csv_header=names");
    assert_non_null(strstr(reply_header(&names, "Content-Location", location, sizeof location),
                           "csv_header=names"));
    reply usual = get(&server, "/v1/sinusoidal?d_model=2&format=csv&csv_header=indices");
    reply plain = get(&server, "/v1/sinusoidal?d_model=2&format=csv");
    assert_string_equal(reply_header(&usual, "ETag", tag, sizeof tag),
                        reply_header(&plain, "ETag", other, sizeof other));
    assert_string_not_equal(reply_header(&names, "ETag", tag, sizeof tag), other);
    reply_free(&names);
    reply_free(&usual);
    reply_free(&plain);
}

/* ---- npz ---- */

/* Every tensor is there by its name, as the raw format has it; the same bytes each time. */
static void npz_holds_all_tensors(void **state)
{
    static const char table[] = "/v1/rope/table?head_dim=64&positions=0:3000&format=npz";
    static const char *const headers[] = {"Content-Type: application/zip", NULL};
    reply npz = get(&server, table), again = get(&server, table);
    assert_header("npz", &npz, "Content-Type", "application/zip");
    assert_memory_equal(npz.body, "PK\3\4", 4);
    assert_int_equal(npz.bytes, again.bytes);
    assert_memory_equal(npz.body, again.body, npz.bytes);
    reply verified = fetch(&server, "POST", "/v1/verify?encoding=rope&head_dim=64&positions=0:3000",
                           headers, npz.body, npz.bytes);
    assert_status("an npz of ours", &verified, 200);
    assert_non_null(strstr(verified.body, "\"matches\":true"));
    reply refused = get(&server, "/v1/sinusoidal?d_model=4&dtype=bfloat16&format=npz");
    assert_problem("bfloat16", &refused, 406, "not-acceptable");
    reply hint = get(&server, "/v1/rope/table?head_dim=8&format=npy");
    assert_problem("npy of two tensors", &hint, 406, "not-acceptable");
    assert_non_null(strstr(hint.body, "npz holds all"));
    reply_free(&npz);
    reply_free(&again);
    reply_free(&verified);
    reply_free(&refused);
    reply_free(&hint);
}

/* ---- uploads that nobody claims ---- */

/* Twice the usual price holds here, for sanitizers: a search is cut short by it, and no table is
 * refused. */
static void a_wrong_upload_without_a_claim_is_told_within_its_price(void **state)
{
    static const char *const metered[] = {"--unit-ns-max", "60", NULL};
    static const char *const headers[] = {"Content-Type: application/octet-stream", NULL};
    test_server own;
    server_start(&own, metered);
    reply table = get(&own, "/v1/sinusoidal?d_model=64&positions=1:129&format=npy");
    reply answer = fetch(&own, "POST", "/v1/verify?d_model=64", headers, table.body, table.bytes);
    assert_status("one too large", &answer, 200);
    assert_non_null(strstr(answer.body, "\"matches\":false"));
    reply_free(&table);
    reply_free(&answer);
    server_end(&own);
}

/* Numbers may begin as a pickle does. */
static void numbers_are_no_pickle(void **state)
{
    static const char *const headers[] = {"Content-Type: application/octet-stream",
                                          "X-Tensor-Shape: 1,4", "X-Tensor-Dtype: float32", NULL};
    static const char numbers[16] = "\x80\x02}";
    reply answer = fetch(&server, "POST", "/v1/sinusoidal/add", headers, numbers, sizeof numbers);
    assert_status("numbers", &answer, 200);
    reply_free(&answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_family_lists_its_resources),
        cmocka_unit_test(a_name_of_others_leads_to_the_canonical_form),
        cmocka_unit_test(a_body_of_curl_is_read),
        cmocka_unit_test(csv_is_read_again),
        cmocka_unit_test(broken_csv_is_told_by_its_line),
        cmocka_unit_test(csv_that_does_not_match_is_told),
        cmocka_unit_test(a_form_stands_for_its_content),
        cmocka_unit_test(the_header_of_csv_is_canonical),
        cmocka_unit_test(npz_holds_all_tensors),
        cmocka_unit_test(a_wrong_upload_without_a_claim_is_told_within_its_price),
        cmocka_unit_test(numbers_are_no_pickle),
    };
    return server_run_tests(tests, PE_LEN(tests), &server, NULL);
}
