/* SPDX-License-Identifier: MIT */
/* test_learned.c - learned tables over HTTP: the list, rows and their tags, sums, and what is
 * refused. */
#include "support/check.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/folder.h"
#include "support/problem.h"

static test_server server;
static test_folder folder;

static const double counting[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};

#define ROWS "/v1/learned/wpe"

static void the_list_tells_name_rows_width_and_type(void **state)
{
    (void)state;
    reply answer = get(&server, "/v1/learned");
    assert_status("list", &answer, 200);
    assert_header("list", &answer, "Content-Type", "application/json");
    json_t *list = reply_json(&answer);
    const json_t *tables = json_object_get(list, "tables");
    assert_int_equal(json_array_size(tables), 3);
    static const struct {
        const char *name, *dtype;
        int rows, width;
    } wanted[] = {{"big", "float64", 1, 2}, {"m.w.x", "bfloat16", 2, 1}, {"wpe", "float32", 6, 2}};
    for (size_t i = 0; i < PE_LEN(wanted); i++) {
        const json_t *table = json_array_get(tables, i);
        assert_string_equal(json_string_value(json_object_get(table, "name")), wanted[i].name);
        assert_string_equal(json_string_value(json_object_get(table, "dtype")), wanted[i].dtype);
        assert_int_equal(json_integer_value(json_object_get(table, "rows")), wanted[i].rows);
        assert_int_equal(json_integer_value(json_object_get(table, "width")), wanted[i].width);
        reply rows = get(&server, json_string_value(json_object_get(table, "path")));
        assert_status(wanted[i].name, &rows, 200);
        reply_free(&rows);
    }
    json_decref(list);
    reply_free(&answer);
}

static void rows_are_the_tables_in_every_form(void **state)
{
    (void)state;
    static const struct {
        const char *target, *says;
    } cases[] = {
        {ROWS, "\"shape\":[6,2],\"data\":[[0,1],[2,3],[4,5],[6,7],[8,9],[10,11]]}"},
        {ROWS "?positions=1:3", "\"shape\":[2,2],\"data\":[[2,3],[4,5]]}"},
        {ROWS "?positions=0&offset=2", "\"data\":[[4,5]]}"},
        {ROWS "?offset=4", "\"positions\":\"0:2\"},\"dtype\":\"float32\",\"shape\":[2,2],"
                           "\"data\":[[8,9],[10,11]]}"},
        {ROWS "?positions=5,0,5", "\"data\":[[10,11],[0,1],[10,11]]}"},
        {ROWS "?positions=5:-1:-2", "\"data\":[[10,11],[6,7],[2,3]]}"},
        {ROWS "?positions=3&dtype=bfloat16", "\"dtype\":\"bfloat16\",\"shape\":[1,2]"},
        {ROWS "?positions=3&format=csv", "0,1\n6,7\n"},
        {"/v1/learned/m.w.x", "\"dtype\":\"bfloat16\",\"shape\":[2,1],\"data\":[[1],[2]]}"},
    };
    for (size_t i = 0; i < PE_LEN(cases); i++) {
        reply answer = get(&server, cases[i].target);
        assert_status(cases[i].target, &answer, 200);
        if (strstr(answer.body, cases[i].says) == NULL)
            fail_msg("%s: %s is not in %s", cases[i].target, cases[i].says, answer.body);
        reply_free(&answer);
    }
}

static void the_canonical_url_holds_the_name_in_its_path(void **state)
{
    (void)state;
    const char *canonical = ROWS "?dtype=float32&numerics=exact&offset=0&positions=1:3";
    reply by_query = get(&server, ROWS "?positions=1,2");
    reply by_body = post_json(&server, ROWS, "{\"positions\":[1,2]}");
    reply by_url = get(&server, canonical);
    assert_header("query", &by_query, "Content-Location", canonical);
    assert_header("body", &by_body, "Content-Location", canonical);
    assert_header("canonical", &by_url, "Content-Location", canonical);
    assert_string_equal(by_query.body, by_body.body);
    assert_string_equal(by_query.body, by_url.body);
    assert_non_null(strstr(by_query.body, "\"name\":\"wpe\""));
    reply_free(&by_query);
    reply_free(&by_body);
    reply_free(&by_url);
}

/* The tag of one table's rows, from a server of its own. */
static void tag_of(const double *numbers, char *out, size_t bytes)
{
    const test_folder own = folder_make();
    test_server its;
    folder_put_npy(&own, "wpe.npy", PE_FLOAT32, 6, 2, numbers);
    server_start(&its, (const char *const[]){"--learned-dir", own.path, NULL});
    reply answer = get(&its, ROWS "?positions=0:2");
    assert_non_null(reply_header(&answer, "ETag", out, bytes));
    reply_free(&answer);
    server_end(&its);
    folder_remove(&own);
}

static void tags_change_with_the_table_and_are_asked_about(void **state)
{
    (void)state;
    static const double other[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12};
    char tag[64], again[64], changed[64], header[96];
    tag_of(counting, tag, sizeof tag);
    tag_of(counting, again, sizeof again);
    tag_of(other, changed, sizeof changed); /* though the rows asked for are the same */
    assert_string_equal(tag, again);
    assert_string_not_equal(tag, changed);
    for (int times = 0; times < 2; times++) { /* made, then kept */
        reply answer = get(&server, ROWS "?positions=0:2");
        assert_header("rows", &answer, "ETag", tag);
        assert_header("rows", &answer, "Cache-Control", "public, no-cache");
        reply_free(&answer);
    }
    snprintf(header, sizeof header, "If-None-Match: %s", tag);
    reply same =
        fetch(&server, "GET", ROWS "?positions=0:2", (const char *const[]){header, NULL}, NULL, 0);
    assert_status("asked", &same, 304);
    reply_free(&same);
}

static void parts_of_a_table_may_be_asked_for(void **state)
{
    (void)state;
    static const float wanted[] = {2, 3, 4};
    reply answer = fetch(&server, "GET", ROWS "?format=raw",
                         (const char *const[]){"Range: bytes=8-19", NULL}, NULL, 0);
    assert_status("part", &answer, 206);
    assert_int_equal(answer.bytes, sizeof wanted);
    assert_memory_equal(answer.body, wanted, sizeof wanted);
    reply_free(&answer);
}

static void sums_are_rounded_once(void **state)
{
    (void)state;
    static const struct {
        const char *body, *says;
    } cases[] = {
        {"{\"embeddings\":[[1,1],[1,1]]}", "\"data\":[[1,2],[3,4]]}"},
        {"{\"embeddings\":[[1,1],[1,1]],\"offset\":4}", "\"data\":[[9,10],[11,12]]}"},
        {"{\"embeddings\":[[1,1]],\"positions\":[5]}", "\"data\":[[11,12]]}"},
        {"{\"embeddings\":[[[0,0],[0,0]],[[0,0],[0,0]]]}",
         "\"data\":[[[0,1],[2,3]],[[0,1],[2,3]]]}"},
        {"{\"embeddings\":[[[0,0],[0,0]],[[0,0],[0,0]]],\"positions\":[[0,1],[5,4]]}",
         "\"data\":[[[0,1],[2,3]],[[10,11],[8,9]]]}"},
        {"{\"embeddings\":[[[0,0],[0,0]],[[0,0],[0,0]]],\"attention_mask\":[[1,1],[0,1]],"
         "\"offset\":1}",
         "\"data\":[[[2,3],[4,5]],[[0,1],[2,3]]]}"},
        {"{\"embeddings\":[[0.00048828125,0.0004888]],\"positions\":[0],\"dtype\":\"float16\"}",
         "\"data\":[[0.0004883,1.001]]}"},
    };
    for (size_t i = 0; i < PE_LEN(cases); i++) {
        reply answer = post_json(&server, ROWS "/add", cases[i].body);
        assert_status(cases[i].body, &answer, 200);
        if (strstr(answer.body, cases[i].says) == NULL)
            fail_msg("%s: %s is not in %s", cases[i].body, cases[i].says, answer.body);
        reply_free(&answer);
    }
}

/* bfloat16 embeddings as NumPy has no name for them: raw. */
static void a_binary_body_is_added_to(void **state)
{
    (void)state;
    static const uint16_t x[] = {0x3f80, 0x4000}, wanted[] = {0x4040, 0x40a0};
    static const char *const headers[] = {"Content-Type: application/octet-stream",
                                          "X-Tensor-Shape: 1,2", "X-Tensor-Dtype: bfloat16", NULL};
    reply answer = fetch(&server, "POST", ROWS "/add?positions=1&format=raw", headers, x, sizeof x);
    assert_status("add", &answer, 200);
    assert_header("add", &answer, "X-Tensor-Dtype", "bfloat16");
    assert_int_equal(answer.bytes, sizeof wanted);
    assert_memory_equal(answer.body, wanted, sizeof wanted);
    reply_free(&answer);
}

static const refusal refusals[] = {
    {"/v1/learned/wpp", NULL, 404, "not-found", "did you mean wpe?"},
    {"/v1/learned/nothing.like.it", NULL, 404, "not-found", "GET /v1/learned lists them"},
    {"/v1/learned/WPE", NULL, 404, "not-found", "WPE"},
    {"/v1/learned/wpe.npy", NULL, 404, "not-found", "wpe.npy"},
    {"/v1/learned/..%2Fwpe", NULL, 404, "not-found", ""},
    {"/v1/learned/%2e%2e", NULL, 404, "not-found", ""},
    {"/v1/learned/..", NULL, 404, "not-found", ""},
    {"/v1/learned/wpe%00", NULL, 404, "not-found", ""},
    {"/v1/learned/%FF", NULL, 404, "not-found", ""},
    {"/v1/learned/", NULL, 404, "not-found", ""},
    {"/v1/learned/wpe/", NULL, 404, "not-found", ""},
    {"/v1/learned/wpe/rows", NULL, 404, "not-found", ""},
    {"/v1/learned//add", "{}", 404, "not-found", ""},
    {"/v1/learned/wpp/add", "{\"embeddings\":[[0,0]]}", 404, "not-found", "wpp"},
    {"/v1/learned/interpolate", NULL, 405, "method-not-allowed", "POST"},
    {"/v1/learned/wpe/add", NULL, 405, "method-not-allowed", "POST"},
    {ROWS "?positions=6", NULL, 422, "invalid-parameter", "wpe has 6 rows"},
    {ROWS "?positions=0:7", NULL, 422, "invalid-parameter", "got 6"},
    {ROWS "?positions=0:5&offset=2", NULL, 422, "invalid-parameter", "between -2 and 3, got 4"},
    {ROWS "?positions=-1", NULL, 422, "invalid-parameter", "got -1"},
    {ROWS "?positions=2,9,1", NULL, 422, "invalid-parameter", "got 9"},
    {ROWS "?positions=0.5", NULL, 422, "invalid-parameter", "integers"},
    {ROWS "?offset=6", NULL, 422, "invalid-parameter", "offset must be below that, got 6"},
    {ROWS "?offset=-1", NULL, 422, "invalid-parameter", "between 0"},
    {ROWS "?name=wpe", NULL, 400, "malformed-request", "name is part of the path"},
    {ROWS, "{\"name\":\"wpe\"}", 400, "malformed-request", "#/name"},
    {ROWS "?positio=1", NULL, 400, "unknown-parameter", "positions"},
    {ROWS "?numerics=float32", NULL, 422, "invalid-parameter", "numerics"},
    {"/v1/learned/big?dtype=float32", NULL, 422, "invalid-parameter", "overflow float32"},
    {"/v1/learned/big?dtype=float16", NULL, 422, "invalid-parameter", "overflow float16"},
    {ROWS "/add", "{\"embeddings\":[[0,0,0]]}", 422, "invalid-parameter", "width of wpe, 2, got 3"},
    {ROWS "/add", "{\"embeddings\":[[0,0]],\"positions\":[1,2]}", 422, "invalid-parameter",
     "1 tokens"},
    {ROWS "/add", "{\"embeddings\":[[0,0]],\"positions\":[7]}", 422, "invalid-parameter", "6 rows"},
    {ROWS "/add", "{\"embeddings\":[[0,0]],\"positions\":[1],\"attention_mask\":[1]}", 422,
     "invalid-parameter", "give one"},
    {ROWS "/add", "{\"embeddings\":[[0,0]],\"past_key_values_length\":1}", 422, "invalid-parameter",
     "goes with attention_mask"},
    {"/v1/learned/big/add",
     "{\"embeddings\":[[1e308,1e308]],\"positions\":[0],\"dtype\":\"float64\"}", 422,
     "invalid-parameter", "overflows float64"},
    {ROWS "/lookup", "{}", 400, "missing-parameter", "attention_mask"},
    {ROWS "/lookup", "{\"attention_mask\":[[0,1]]}", 422, "invalid-parameter", "got -1"},
    {ROWS "/lookup", "{\"attention_mask\":[[0,2]]}", 422, "invalid-parameter", "zeros and ones"},
    {ROWS "/lookup", "{\"attention_mask\":[1,1],\"past_key_values_length\":2}", 422,
     "invalid-parameter", "below the tokens"},
    {"/v1/position-ids", "{}", 400, "missing-parameter", "input_ids"},
    {"/v1/position-ids", "{\"input_ids\":[1],\"attention_mask\":[1]}", 422, "invalid-parameter",
     "give one"},
    {"/v1/position-ids", "{\"input_ids\":[1],\"offset\":1}", 422, "invalid-parameter",
     "goes with attention_mask"},
    {"/v1/position-ids", "{\"input_ids\":[1.5]}", 422, "invalid-parameter", "integers"},
    {"/v1/position-ids", "{\"input_ids\":[[[1]]]}", 422, "invalid-parameter", "axes"},
    {"/v1/position-ids", "{\"input_ids\":[1,2],\"dtype\":\"float32\"}", 422, "invalid-parameter",
     "int32"},
    {ROWS "/interpolate", NULL, 400, "missing-parameter", "target_grid"},
    {ROWS "/interpolate?target_grid=2", NULL, 400, "missing-parameter", "no square"},
    {ROWS "/interpolate?target_grid=2&source_grid=2,2", NULL, 422, "invalid-parameter", "6 rows"},
    {ROWS "/interpolate?target_grid=2.5&source_grid=1,5", NULL, 422, "invalid-parameter",
     "integers"},
    {ROWS "/interpolate?target_grid=0&source_grid=1,5", NULL, 422, "invalid-parameter",
     "between 1"},
    {ROWS "/interpolate?target_grid=1,2,3&source_grid=1,5", NULL, 422, "invalid-parameter",
     "at most 2"},
    {ROWS "/interpolate?target_grid=4096,4096&source_grid=1,5&extra_tokens=1&mode=nearest", NULL,
     422, "invalid-parameter", "bicubic"},
    {"/v1/learned/interpolate", "{\"target_grid\":[2,2]}", 400, "missing-parameter", "table"},
    {"/v1/learned/interpolate",
     "{\"table\":[[60000],[-60000],[60000],[60000]],\"extra_tokens\":0,\"target_grid\":[3,3],"
     "\"dtype\":\"float16\"}",
     422, "invalid-parameter", "overflow float16"},
};

static void what_cannot_be_is_explained(void **state)
{
    (void)state;
    assert_refusals(&server, refusals, PE_LEN(refusals));
}

static void warm_targets_may_be_rows(void **state)
{
    (void)state;
    test_server its;
    server_start(&its, (const char *const[]){"--learned-dir", folder.path, "--warm",
                                             (ROWS "?positions=0:2"), NULL});
    reply answer = get(&its, ROWS "?positions=0:2");
    assert_header("warm", &answer, "Server-Timing", "cache;desc=hit");
    reply_free(&answer);
    server_end(&its);
}

static void a_download_is_named_after_its_table(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {ROWS "?format=npy", "attachment; filename=\"learned-wpe.npy\""},
        {"/v1/learned/m.w.x?format=csv", "attachment; filename=\"learned-m.w.x.csv\""},
        {ROWS "/interpolate?source_grid=2,3&target_grid=2,2&extra_tokens=0&format=npy",
         "attachment; filename=\"learned-wpe-interpolate.npy\""},
    };
    for (size_t c = 0; c < PE_LEN(cases); c++) {
        reply answer = get(&server, cases[c][0]);
        assert_header(cases[c][0], &answer, "Content-Disposition", cases[c][1]);
        reply_free(&answer);
    }
}

static void without_a_folder_there_are_no_tables(void **state)
{
    (void)state;
    test_server its;
    server_start(&its, NULL);
    reply list = get(&its, "/v1/learned");
    reply rows = get(&its, ROWS);
    assert_string_equal(list.body, "{\"tables\":[]}\n");
    assert_problem("rows", &rows, 404, "not-found");
    assert_non_null(strstr(rows.body, "--learned-dir FOLDER"));
    reply_free(&list);
    reply_free(&rows);
    server_end(&its);
}

static void the_command_reads_tables_too(void **state)
{
    (void)state;
    char command[512], text[512] = "";
    snprintf(command, sizeof command,
             "%s table learned --name wpe --positions 1:3 --learned-dir %s --log-level error "
             "--format csv 2>/dev/null",
             getenv("POSENC_BINARY"), folder.path);
    FILE *out = popen(command, "r"); /* NOLINT(cert-env33-c): words of the test's own */
    assert_non_null(out);
    const size_t bytes = fread(text, 1, sizeof text - 1, out);
    assert_int_equal(pclose(out), 0);
    text[bytes] = '\0';
    assert_string_equal(text, "0,1\n2,3\n4,5\n");
}

static int start(void **state)
{
    (void)state;
    static const double big[] = {1e308, 1};
    static const uint16_t halves[] = {0x3f80, 0x4000};
    folder = folder_make();
    folder_put_npy(&folder, "wpe.npy", PE_FLOAT32, 6, 2, counting);
    folder_put_npy(&folder, "big.npy", PE_FLOAT64, 1, 2, big);
    folder_put(&folder, "broken.npy", "nothing", 7);
    pe_buffer bytes = safetensors_of(
        "{\"w.x\":{\"dtype\":\"BF16\",\"shape\":[2,1],\"data_offsets\":[0,4]}}", halves, 4);
    folder_put(&folder, "m.safetensors", bytes.data, bytes.bytes);
    pe_buffer_free(&bytes);
    server_start(&server, (const char *const[]){"--learned-dir", folder.path, NULL});
    return 0;
}

static int stop(void **state)
{
    (void)state;
    const int status = server_stop(&server);
    server_free(&server);
    folder_remove(&folder);
    return status;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_list_tells_name_rows_width_and_type),
        cmocka_unit_test(rows_are_the_tables_in_every_form),
        cmocka_unit_test(the_canonical_url_holds_the_name_in_its_path),
        cmocka_unit_test(tags_change_with_the_table_and_are_asked_about),
        cmocka_unit_test(parts_of_a_table_may_be_asked_for),
        cmocka_unit_test(sums_are_rounded_once),
        cmocka_unit_test(a_binary_body_is_added_to),
        cmocka_unit_test(what_cannot_be_is_explained),
        cmocka_unit_test(warm_targets_may_be_rows),
        cmocka_unit_test(a_download_is_named_after_its_table),
        cmocka_unit_test(without_a_folder_there_are_no_tables),
        cmocka_unit_test(the_command_reads_tables_too),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
