/* SPDX-License-Identifier: MIT */
/*
 * test_verify_streamed.c - POST /v1/verify of tables whose rows are compared as they arrive: two
 * servers, one of which holds the same bodies as a whole, say the same.
 */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "support/problem.h"
#include "support/tensors_file.h"
#include "support/wire.h"

/* Rows of 64 numbers: far more than the 64 KiB that `parts` holds. */
#define ROWS  5000
#define WIDTH 64

/* ThreadSanitizer takes minutes for all cases: every third one is looked at for races. */
#ifdef __SANITIZE_THREAD__
enum { STEP = 3 };
#else
enum { STEP = 1 };
#endif

static const char *const npy[] = {"Content-Type: application/x-npy", NULL};
static test_server parts, whole;

/* ---- tables ---- */

/* A table of the service, as a NumPy file; its numbers are the last bytes. */
static reply table_of(const char *target)
{
    char all[300];
    snprintf(all, sizeof all, "%s&format=npy", target);
    reply table = get(&whole, all);
    assert_status(all, &table, 200);
    return table;
}

static void set_float(const reply *table, size_t row, size_t column, float x)
{
    const size_t from_end = (ROWS - row) * WIDTH - column;
    memcpy(table->body + table->bytes - from_end * sizeof x, &x, sizeof x);
}

static json_t *report_by(const test_server *server, const char *query, const reply *table)
{
    char target[300];
    snprintf(target, sizeof target, "/v1/verify?%s", query);
    reply answer = fetch(server, "POST", target, npy, table->body, table->bytes);
    assert_status(target, &answer, 200);
    json_t *report = reply_json(&answer);
    reply_free(&answer);
    return report;
}

/* ---- two reports ---- */

static const json_t *member(const json_t *of, const char *name)
{
    const json_t *at = of;
    char step[64];
    for (; *name != '\0'; name += strcspn(name, "/"), name += *name == '/') {
        snprintf(step, sizeof step, "%.*s", (int)strcspn(name, "/"), name);
        at = json_is_array(at) ? json_array_get(at, strtoul(step, NULL, 10))
                               : json_object_get(at, step);
    }
    return at;
}

/* What every element decides, and the first cause. */
static void assert_same(const char *query, const json_t *one, const json_t *other)
{
    static const char *const names[] = {"matches",
                                        "encoding",
                                        "numerics",
                                        "parameters",
                                        "undecided",
                                        "allowed",
                                        "first_bad",
                                        "inferred",
                                        "cannot_tell",
                                        "error/max_abs",
                                        "error/max_ulp",
                                        "error/max_phase",
                                        "bands/0/pairs",
                                        "bands/0/rows",
                                        "bands/7/max_abs",
                                        "bands/7/max_ulp",
                                        "bands/3/rows",
                                        "bands/3/max_phase",
                                        "diagnosis/0/faults",
                                        "measured/bad_elements",
                                        "measured/bad_rows",
                                        "measured/bad_columns",
                                        "measured/not_finite"};
    for (size_t n = 0; n < PE_LEN(names); n++) {
        const json_t *a = member(one, names[n]), *b = member(other, names[n]);
        if ((a == NULL) != (b == NULL) || (a != NULL && !json_equal(a, b)))
            fail_msg("%s: %s differs", query, names[n]);
    }
}

/* Whether a match is told, and the first faults are these ("": none). */
static void assert_told(const char *query, const json_t *report, const char *faults)
{
    char told[100] = "";
    const json_t *first = member(report, "diagnosis/0/faults");
    for (size_t f = 0; f < json_array_size(first); f++)
        snprintf(told + strlen(told), sizeof told - strlen(told), "%s%s", f > 0 ? "+" : "",
                 json_string_value(json_array_get(first, f)));
    if (strcmp(told, faults) != 0)
        fail_msg("%s: told %s, not %s", query, told, faults);
}

static json_t *assert_same_by_both(const char *query, const reply *table, const char *faults)
{
    json_t *held = report_by(&whole, query, table), *arrived = report_by(&parts, query, table);
    assert_same(query, held, arrived);
    assert_told(query, arrived, faults);
    json_decref(held);
    return arrived;
}

/* ---- cases ---- */

static void both_say_the_same(void **state)
{
    static const struct {
        const char *table, *query, *faults;
    } cases[] = {
        {"/v1/sinusoidal?d_model=64&positions=0:5000", "encoding=sinusoidal", ""},
        {"/v1/sinusoidal?d_model=64&positions=0:5000&numerics=exact", "encoding=sinusoidal", ""},
        {"/v1/sinusoidal?d_model=64&positions=0:5000&dtype=float64", "encoding=sinusoidal", ""},
        {"/v1/sinusoidal?d_model=64&positions=0:5000&dtype=float16", "encoding=sinusoidal", ""},
        {"/v1/sinusoidal?d_model=64&positions=0:5000&numerics=float32",
         "encoding=sinusoidal&numerics=exact", "float32_arithmetic"},
        {"/v1/sinusoidal?d_model=64&positions=1:5001", "encoding=sinusoidal", "position_plus_one"},
        {"/v1/sinusoidal?d_model=64&positions=1:5001", "encoding=sinusoidal&positions=1:5001", ""},
        {"/v1/sinusoidal?d_model=64&positions=5000:0:-1", "encoding=sinusoidal&positions=5000:0:-1",
         ""},
        {"/v1/rope/table?head_dim=64&cache_layout=vllm&positions=0:5000",
         "encoding=rope&cache_layout=vllm", ""},
        {"/v1/rope/table?head_dim=64&cache_layout=vllm&positions=0:5000&rope_theta=500000",
         "encoding=rope&cache_layout=vllm", "rope_theta"},
        {"/v1/rope/table?head_dim=64&cache_layout=vllm&positions=0:5000&rope_type=dynamic&"
         "factor=2&max_position_embeddings=2048",
         "encoding=rope&rope_type=dynamic&factor=2&max_position_embeddings=2048", ""},
        {"/v1/rope/table?head_dim=64&cache_layout=hf&pairing=half&positions=0:5000&tensor=cos",
         "encoding=rope", ""},
        {"/v1/rope/table?head_dim=64&cache_layout=hf&pairing=half&positions=0:5000&tensor=sin",
         "encoding=rope&cache_layout=hf", ""},
        {"/v1/rope/table?head_dim=64&cache_layout=hf&pairing=half&positions=1:5001&tensor=cos",
         "encoding=rope", "position_plus_one"},
        {"/v1/rope/table?head_dim=64&cache_layout=hf&pairing=half&positions=0:5000&tensor=sin&"
         "rope_theta=54321",
         "encoding=rope", "rope_theta"},
    };
    for (size_t c = 0; c < PE_LEN(cases); c += STEP) {
        reply table = table_of(cases[c].table);
        json_decref(assert_same_by_both(cases[c].query, &table, cases[c].faults));
        reply_free(&table);
    }
}

/* Also those in rows that are in no sample. */
static void each_wrong_element_is_found_and_counted(void **state)
{
    static const struct {
        const char *table, *query;
    } kinds[] = {
        {"/v1/sinusoidal?d_model=64&positions=0:5000", "encoding=sinusoidal"},
        {"/v1/rope/table?head_dim=64&cache_layout=hf&pairing=half&positions=0:5000&tensor=cos",
         "encoding=rope&cache_layout=hf"}};
    for (size_t k = 0; k < PE_LEN(kinds); k++) {
        reply table = table_of(kinds[k].table);
        for (size_t row = 4998; row > 0; row -= 1666) {
            set_float(&table, row, row % WIDTH, (float)(2 + row));
            json_decref(assert_same_by_both(kinds[k].query, &table, "corrupted_elements"));
        }
        set_float(&table, 1, 0, INFINITY);
        json_t *report = assert_same_by_both(kinds[k].query, &table, "corrupted_elements");
        assert_int_equal(json_integer_value(member(report, "measured/bad_elements")), 4);
        assert_int_equal(json_integer_value(member(report, "measured/not_finite")), 1);
        json_decref(report);
        reply_free(&table);
    }
}

static void what_was_searched_is_said(void **state)
{
    reply table = table_of("/v1/sinusoidal?d_model=64&positions=1:5001");
    json_t *report = report_by(&parts, "encoding=sinusoidal", &table);
    const json_t *rows = member(report, "search/sampled_positions");
    const json_t *warning = member(report, "warnings/0");
    assert_true(json_integer_value(rows) > 1000 && json_integer_value(rows) < ROWS);
    assert_non_null(strstr(json_string_value(warning), "of 5000 rows"));
    assert_null(member(report, "diagnosis/0/parameters/positions"));
    /* rows of the table, not of the sample */
    assert_int_equal(json_integer_value(member(report, "measured/positions/0/rows/1")), 4999);
    assert_true(json_number_value(member(report, "measured/positions/0/last")) == 5000);
    json_decref(report);
    reply_free(&table);
}

/* What cannot be compared so is held, and answered as ever. */
static void other_bodies_are_held(void **state)
{
    static const struct {
        const char *query;
        const char *const headers[4];
        unsigned status;
    } cases[] = {
        {"encoding=sinusoidal&positions=0:4999", {"Content-Type: application/x-npy", NULL}, 422},
        {"encoding=sinusoidal&d_model=62", {"Content-Type: application/x-npy", NULL}, 200},
        {"encoding=nothing", {"Content-Type: application/x-npy", NULL}, 422},
        {"encoding=sinusoidal", {"Content-Type: application/json", NULL}, 400},
        {"encoding=sinusoidal", {"Content-Type: text/plain", NULL}, 200},
        {"encoding=sinusoidal", {"Content-Type: text/html", NULL}, 415},
        {"encoding=sinusoidal", {"Content-Type: application/vnd.safetensors", NULL}, 400},
        {"encoding=sinusoidal", {"Content-Type: application/octet-stream", NULL}, 200},
        /* a row is longer than a part */
        {"encoding=rope",
         {"Content-Type: application/octet-stream", "X-Tensor-Shape: 2,160016",
          "X-Tensor-Dtype: float32", NULL},
         422},
        {"encoding=sinusoidal",
         {"Content-Type: application/x-npy", "Accept: image/png", NULL},
         200},
    };
    reply table = table_of("/v1/sinusoidal?d_model=64&positions=0:5000");
    for (size_t c = 0; c < PE_LEN(cases); c++) {
        char target[200];
        snprintf(target, sizeof target, "/v1/verify?%s", cases[c].query);
        reply held = fetch(&whole, "POST", target, cases[c].headers, table.body, table.bytes);
        reply arrived = fetch(&parts, "POST", target, cases[c].headers, table.body, table.bytes);
        assert_int_equal(held.status, cases[c].status);
        assert_int_equal(arrived.status, cases[c].status);
        if (cases[c].status != 200) {
            json_t *one = reply_json(&held), *other = reply_json(&arrived);
            json_object_del(one, "request_id");
            json_object_del(other, "request_id");
            assert_true(json_equal(one, other));
            json_decref(one);
            json_decref(other);
        }
        reply_free(&held);
        reply_free(&arrived);
    }
    reply_free(&table);
}

/* Numbers that begin with their most significant byte, and a zip file. */
static void files_that_are_converted_are_held(void **state)
{
    reply table = table_of("/v1/sinusoidal?d_model=64&positions=1:5001");
    const part alone = {.name = "pe", .data = table.body, .bytes = table.bytes};
    pe_buffer npz = {0};
    parts_npz(&alone, 1, &npz);
    const reply zipped = {.body = npz.data, .bytes = npz.bytes};
    json_decref(assert_same_by_both("encoding=sinusoidal", &zipped, "position_plus_one"));
    pe_buffer_free(&npz);
    char *order = strstr(table.body + 10, "<f4");
    assert_non_null(order);
    *order = '>';
    for (size_t at = table.bytes - (size_t)ROWS * WIDTH * 4; at < table.bytes; at += 4) {
        const char bytes[] = {table.body[at + 3], table.body[at + 2], table.body[at + 1],
                              table.body[at]};
        memcpy(table.body + at, bytes, sizeof bytes);
    }
    json_decref(assert_same_by_both("encoding=sinusoidal", &table, "position_plus_one"));
    reply_free(&table);
}

/* All of it comes in one read, before any part of it was taken. */
static void a_body_may_be_there_at_once(void **state)
{
    static const char *const large_reads[] = {"--verify-held-bytes", "65536",
                                              "--connection-memory-bytes", "1048576", NULL};
    static const struct {
        const char *shape;
        unsigned status;
    } cases[] = {{"20000", 200}, {"20000,1", 200}, {"100,200", 200}, {"10,10,200", 200}};
    static char numbers[80000];
    test_server server;
    server_start(&server, large_reads);
    for (size_t c = 0; c < PE_LEN(cases); c++) {
        char head[400];
        static char all[sizeof head + sizeof numbers];
        const int bytes = snprintf(head, sizeof head,
                                   "POST /v1/verify?encoding=rope HTTP/1.1\r\nHost: x\r\n"
                                   "Content-Type: application/octet-stream\r\n"
                                   "X-Tensor-Shape: %s\r\nX-Tensor-Dtype: float32\r\n"
                                   "Content-Length: %zu\r\n\r\n",
                                   cases[c].shape, sizeof numbers);
        memcpy(all, head, (size_t)bytes);
        memcpy(all + bytes, numbers, sizeof numbers);
        test_wire wire = wire_open(&server);
        assert_true(wire_send(&wire, all, (size_t)bytes + sizeof numbers));
        reply answer = wire_answer(&wire, false);
        assert_int_equal(answer.status, cases[c].status);
        reply_free(&answer);
        wire_close(&wire);
    }
    server_end(&server);
}

static void plain_numbers_are_compared_so_too(void **state)
{
    static const char *const headers[] = {"Content-Type: application/octet-stream",
                                          "X-Tensor-Shape: 5000,64", "X-Tensor-Dtype: float32",
                                          NULL};
    reply table = table_of("/v1/sinusoidal?d_model=64&positions=0:5000");
    const size_t bytes = (size_t)ROWS * WIDTH * sizeof(float);
    const char *numbers = table.body + table.bytes - bytes;
    set_float(&table, 2500, 3, 7);
    reply answer = fetch(&parts, "POST", "/v1/verify?encoding=sinusoidal", headers, numbers, bytes);
    assert_status("plain", &answer, 200);
    json_t *report = reply_json(&answer);
    assert_told("plain", report, "corrupted_elements");
    assert_int_equal(json_integer_value(member(report, "first_bad/position")), 2500);
    json_decref(report);
    reply_free(&answer);
    reply_free(&table);
}

/* What both say of a safetensors file. parts: causes were looked for in some rows. */
static json_t *assert_file_same_by_both(const char *query, const char *file, size_t bytes,
                                        bool in_parts)
{
    static const char *const headers[] = {"Content-Type: application/vnd.safetensors", NULL};
    char target[200];
    snprintf(target, sizeof target, "/v1/verify?%s", query);
    reply held = fetch(&whole, "POST", target, headers, file, bytes);
    reply arrived = fetch(&parts, "POST", target, headers, file, bytes);
    assert_int_equal(arrived.status, held.status);
    json_t *one = reply_json(&held), *other = reply_json(&arrived);
    assert_same(query, one, other);
    const char *warning = json_string_value(member(other, "warnings/0"));
    assert_int_equal(warning != NULL && strstr(warning, "of 5000 rows") != NULL, in_parts);
    json_decref(one);
    reply_free(&held);
    reply_free(&arrived);
    return other;
}

/* Behind a header of any length; two tensors of other sizes are held. */
static void safetensors_are_compared_so_too(void **state)
{
    static const struct {
        const char *header;
        bool parts;
    } cases[] = {
        {"{\"cos\":{\"dtype\":\"F32\",\"shape\":[5000,64],\"data_offsets\":[0,1280000]}}   ", true},
        {"{\"cos\":{\"dtype\":\"F32\",\"shape\":[5000,64],\"data_offsets\":[0,1280000]}}  ", true},
        /* one of two modules */
        {"{\"a.cos\":{\"dtype\":\"F32\",\"shape\":[2500,64],\"data_offsets\":[0,640000]},"
         "\"b.cos\":{\"dtype\":\"F32\",\"shape\":[2500,64],\"data_offsets\":[640000,1280000]}}   ",
         false},
        {"{\"cos\":{\"dtype\":\"F32\",\"shape\":[4500,64],\"data_offsets\":[0,1152000]},"
         "\"sin\":{\"dtype\":\"F32\",\"shape\":[500,64],\"data_offsets\":[1152000,1280000]}}  ",
         false},
    };
    reply table = table_of(
        "/v1/rope/table?head_dim=64&cache_layout=hf&pairing=half&positions=0:5000&tensor=cos");
    set_float(&table, 2500, 3, 7);
    const size_t bytes = (size_t)ROWS * WIDTH * sizeof(float);
    for (size_t c = 0; c < PE_LEN(cases); c++) {
        const uint64_t length = strlen(cases[c].header); /* little-endian, as all that is tested */
        char *file = malloc(sizeof length + length + bytes);
        assert_non_null(file);
        memcpy(file, &length, sizeof length);
        memcpy(file + sizeof length, cases[c].header, length);
        memcpy(file + sizeof length + length, table.body + table.bytes - bytes, bytes);
        const size_t all = sizeof length + length + bytes;
        json_decref(assert_file_same_by_both("encoding=rope", file, all, cases[c].parts));
        free(file);
    }
    reply_free(&table);
}

/* Of a file of cosines and sines, of one size: the names in the header, and the numbers. */
static void exchange_tensors(reply *file)
{
    char *cosines = strstr(file->body + sizeof(uint64_t), "\"cos\":");
    char *sines = strstr(file->body + sizeof(uint64_t), "\"sin\":");
    uint64_t length;
    memcpy(&length, file->body, sizeof length);
    const size_t head = sizeof length + length, half = (file->bytes - head) / 2;
    char *numbers = file->body + head, *copy = malloc(half);
    assert_true(cosines != NULL && sines != NULL && copy != NULL);
    memcpy(copy, numbers, half);
    memcpy(numbers, numbers + half, half);
    memcpy(numbers + half, copy, half);
    memcpy(cosines + 1, "sin", 3);
    memcpy(sines + 1, "cos", 3);
    free(copy);
}

/* Cosines and sines: the tensor that comes first is held, and rows of the other are compared. */
static void two_tensors_are_compared_so_too(void **state)
{
    static const struct {
        const char *table, *query;
        size_t wrong; /* bytes from the end; 0: none */
        const char *faults;
    } cases[] = {
        {"cache_layout=pairs&head_dim=128", "cache_layout=pairs", 0, ""},
        {"cache_layout=hf&head_dim=64&dtype=bfloat16", "cache_layout=hf&pairing=half", 0, ""},
        {"cache_layout=pairs&head_dim=128&rope_theta=54321", "cache_layout=pairs", 0, "rope_theta"},
        {"cache_layout=pairs&head_dim=128", "cache_layout=pairs", 4, "corrupted_elements"},
        {"cache_layout=pairs&head_dim=128", "cache_layout=pairs", 1284, "corrupted_elements"},
        {"cache_layout=pairs&head_dim=128", "cache_layout=pairs", 1281284, "corrupted_elements"},
        {"cache_layout=pairs&head_dim=128", "cache_layout=pairs", 2560000, "corrupted_elements"},
    };
    for (size_t c = 0; c < PE_LEN(cases); c += STEP) {
        char target[200], query[100];
        const float wrong = 3;
        snprintf(target, sizeof target,
                 "/v1/rope/table?positions=0:5000&pairing=half&format=safetensors&%s",
                 cases[c].table);
        snprintf(query, sizeof query, "encoding=rope&%s", cases[c].query);
        reply table = get(&whole, target);
        assert_status(target, &table, 200);
        if (cases[c].wrong > 0)
            memcpy(table.body + table.bytes - cases[c].wrong, &wrong, sizeof wrong);
        for (int sines_first = 0; sines_first < 2; sines_first++) {
            json_t *report = assert_file_same_by_both(query, table.body, table.bytes,
                                                      cases[c].faults[0] != '\0');
            assert_told(query, report, cases[c].faults);
            json_decref(report);
            exchange_tensors(&table);
        }
        reply_free(&table);
    }
}

/* Buffers of engines are [1, n, d] or [n, 1, d]; elements are told as they were sent. */
static void axes_of_one_element_may_stand_anywhere(void **state)
{
    static const struct {
        const char *table, *query, *tensors[2], *shape, *index;
    } cases[] = {
        {"/v1/sinusoidal?d_model=64", "encoding=sinusoidal", {"data"}, "[5000,1,64]", "[2500,0,3]"},
        {"/v1/sinusoidal?d_model=64", "encoding=sinusoidal", {"data"}, "[1,5000,64]", "[0,2500,3]"},
        {"/v1/rope/table?head_dim=64&cache_layout=hf&pairing=half",
         "encoding=rope",
         {"cos"},
         "[1,1,5000,64]",
         "[0,0,2500,3]"},
        {"/v1/rope/table?head_dim=64&cache_layout=hf&pairing=half",
         "encoding=rope",
         {"cos", "sin"},
         "[1,5000,64]",
         "[0,2500,3]"},
        {"/v1/rope/table?head_dim=128",
         "encoding=rope",
         {"sin", "cos"},
         "[5000,1,64]",
         "[2500,0,3]"},
    };
    for (size_t c = 0; c < PE_LEN(cases); c += STEP) {
        reply numbers[2] = {{0}, {0}};
        part tensors[2];
        size_t n = 0;
        for (; n < 2 && cases[c].tensors[n] != NULL; n++) {
            char target[200];
            snprintf(target, sizeof target, "%s&positions=0:5000&format=raw&tensor=%s",
                     cases[c].table, cases[c].tensors[n]);
            numbers[n] = get(&whole, target);
            assert_status(target, &numbers[n], 200);
            tensors[n] = (part){cases[c].tensors[n], "F32", cases[c].shape, numbers[n].body,
                                numbers[n].bytes};
        }
        for (int wrong = 0; wrong < 2; wrong++) {
            pe_buffer file = {0};
            if (wrong)
                set_float(&numbers[n - 1], 2500, 3, 7);
            parts_safetensors(tensors, n, &file);
            json_t *report = assert_file_same_by_both(cases[c].query, file.data, file.bytes, wrong);
            assert_told(cases[c].query, report, wrong ? "corrupted_elements" : "");
            char *index =
                json_dumps(member(report, "first_bad/index"), JSON_COMPACT | JSON_ENCODE_ANY);
            assert_true(wrong == (index != NULL && strcmp(index, cases[c].index) == 0));
            free(index);
            json_decref(report);
            pe_buffer_free(&file);
        }
        for (size_t t = 0; t < n; t++)
            reply_free(&numbers[t]);
    }
}

/* A client that sends little at a time, and one that leaves in the middle. */
static void clients_may_be_slow_or_leave(void **state)
{
    char head[300];
    reply table = table_of("/v1/sinusoidal?d_model=64&positions=0:5000");
    snprintf(head, sizeof head,
             "POST /v1/verify?encoding=sinusoidal HTTP/1.1\r\nHost: x\r\n"
             "Content-Type: application/x-npy\r\nContent-Length: %zu\r\n\r\n",
             table.bytes);
    for (size_t sent = 0; sent <= 5; sent++) {
        const size_t stop = sent * table.bytes / 5;
        test_wire wire = wire_open(&parts);
        assert_true(wire_send_text(&wire, head));
        for (size_t at = 0; at < stop; at += 9999)
            assert_true(wire_send(&wire, table.body + at, stop - at < 9999 ? stop - at : 9999));
        if (stop == table.bytes) {
            reply answer = wire_answer(&wire, false);
            assert_int_equal(answer.status, 200);
            assert_non_null(strstr(answer.body, "\"matches\":true"));
            reply_free(&answer);
        }
        wire_close(&wire);
    }
    reply_free(&table);
}

int main(void)
{
    static const char *const held_by_parts[] = {"--verify-held-bytes", "65536", NULL};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_say_the_same),
        cmocka_unit_test(each_wrong_element_is_found_and_counted),
        cmocka_unit_test(what_was_searched_is_said),
        cmocka_unit_test(other_bodies_are_held),
        cmocka_unit_test(files_that_are_converted_are_held),
        cmocka_unit_test(a_body_may_be_there_at_once),
        cmocka_unit_test(plain_numbers_are_compared_so_too),
        cmocka_unit_test(safetensors_are_compared_so_too),
        cmocka_unit_test(two_tensors_are_compared_so_too),
        cmocka_unit_test(axes_of_one_element_may_stand_anywhere),
        cmocka_unit_test(clients_may_be_slow_or_leave),
    };
    server_start(&whole, NULL);
    const int failed = server_run_tests(tests, PE_LEN(tests), &parts, held_by_parts);
    server_end(&whole);
    return failed;
}
