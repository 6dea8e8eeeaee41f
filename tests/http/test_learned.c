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
    reply halves = get(&server, "/v1/learned/m.w.x");
    assert_non_null(strstr(halves.body, "\"shape\":[2,1],\"data\":[[1],[2]]}"));
    reply_free(&halves);
    json_decref(list);
    reply_free(&answer);
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
    static const float wanted[] = {2, 3, 4};
    reply answer = fetch(&server, "GET", ROWS "?format=raw",
                         (const char *const[]){"Range: bytes=8-19", NULL}, NULL, 0);
    assert_status("part", &answer, 206);
    assert_int_equal(answer.bytes, sizeof wanted);
    assert_memory_equal(answer.body, wanted, sizeof wanted);
    reply_free(&answer);
}

/* bfloat16 embeddings as NumPy has no name for them: raw. */
static void a_binary_body_is_added_to(void **state)
{
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

static void warm_targets_may_be_rows(void **state)
{
    test_server its;
    server_start(&its, (const char *const[]){"--learned-dir", folder.path, "--warm",
                                             (ROWS "?positions=0:2"), NULL});
    reply answer = get(&its, ROWS "?positions=0:2");
    assert_header("warm", &answer, "Server-Timing", "cache;desc=hit");
    reply_free(&answer);
    server_end(&its);
}

static void without_a_folder_there_are_no_tables(void **state)
{
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
    const int status = server_stop(&server);
    server_free(&server);
    folder_remove(&folder);
    return status;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_list_tells_name_rows_width_and_type),
        cmocka_unit_test(tags_change_with_the_table_and_are_asked_about),
        cmocka_unit_test(parts_of_a_table_may_be_asked_for),
        cmocka_unit_test(a_binary_body_is_added_to),
        cmocka_unit_test(warm_targets_may_be_rows),
        cmocka_unit_test(without_a_folder_there_are_no_tables),
        cmocka_unit_test(the_command_reads_tables_too),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
