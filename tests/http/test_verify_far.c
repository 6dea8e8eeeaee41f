/* SPDX-License-Identifier: MIT */
/*
 * test_verify_far.c - POST /v1/verify of numbers so far out, or so large, that float32 arithmetic
 * allows anything: what is not a sine and a cosine is refused still, and the rest is counted.
 */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/buffer.h"
#include "support/tensors_file.h"
#include "support/problem.h"

static test_server server;

static json_t *report_of(const char *name, reply answer)
{
    assert_status(name, &answer, 200);
    json_t *report = reply_json(&answer);
    reply_free(&answer);
    return report;
}

static bool matches(const json_t *report)
{
    return json_is_true(json_object_get(report, "matches"));
}

static json_t *verified_safetensors(const char *query, const pe_buffer *body)
{
    static const char *const headers[] = {"Content-Type: application/vnd.safetensors", NULL};
    char target[300];
    snprintf(target, sizeof target, "/v1/verify?%s", query);
    return report_of(query, fetch(&server, "POST", target, headers, body->data, body->bytes));
}

/* A rotary table of one pair and one position. */
static json_t *verified_pair(const char *position, const char *numerics, double cosine, double sine)
{
    char body[300];
    snprintf(body, sizeof body,
             "{\"encoding\":\"rope\",\"parameters\":{\"head_dim\":2},\"positions\":[%s]%s,"
             "\"table\":{\"cos\":[[%.9g]],\"sin\":[[%.9g]]}}",
             position, numerics, cosine, sine);
    return report_of(body, post_json(&server, "/v1/verify", body));
}

static void numbers_off_the_circle_match_at_no_position(void **state)
{
    static const char *const positions[] = {"0", "1000", "1000000", "1e15"};
    static const double wrong[][2] = {{0.3, -0.2}, {0, 0}, {1, 1}, {0.6, 0.80001}};
    for (size_t p = 0; p < PE_LEN(positions); p++)
        for (size_t w = 0; w < PE_LEN(wrong); w++) {
            json_t *report = verified_pair(positions[p], "", wrong[w][0], wrong[w][1]);
            assert_false(matches(report));
            assert_non_null(json_object_get(report, "first_bad"));
            json_decref(report);
        }
}

/* Rows that were made for other positions than claimed, and what is said of them. */
static void rows_of_other_positions_are_named(void **state)
{
    static const struct {
        const char *made, *claimed, *fault, *said;
    } rows[] = {
        {"32760,32761,32762,32763,32764,32765,32766,32767,-32768,-32767,-32766,-32765,-32764,"
         "-32763,-32762,-32761",
         "32760:32776", "position_overflow", "an integer of 16 bits"},
        {"65528,65529,65530,65531,65532,65533,65534,65535,0,1,2,3,4,5,6,7", "65528:65544",
         "position_overflow", "an integer of 16 bits"},
        {"0,1,2,3,4,5,6,7,8,9,0,1,2,3,4,5", "0:16", "positions_restart",
         "from position 10 on, positions begin anew, at 0"},
        {"0,1,2,3,4,6,5,7,8,9,10,11,12,13,14,15", "0:16", "positions_exchanged",
         "the rows of positions 5 and 6 are exchanged"},
        {"0,1,2,3,4,6,7,5,8,9,10,11,12,13,14,15", "0:16", "positions_permuted",
         "rows 5 to 6 at 6 to 7, row 7 at 5"},
        {"0,1,2,3,4,9,6,7,8,9,10,11,12,13,14,15", "0:16", "position_elsewhere",
         "the row of position 5 is at position 9"},
        {"3,3,3,3,4,5,6,7,8,9,10,11,12,13,14,15", "0:16", "positions_clamped", "from below"},
        {"0,-1,-2,-3,0,-1,-2,-3,0,-1,-2,-3,0,-1,-2,-3", "0:16", "inverse", "each 4 rows, at 0"},
    };
    for (size_t k = 0; k < PE_LEN(rows); k++) {
        char target[300], query[100];
        snprintf(target, sizeof target,
                 "/v1/rope/table?head_dim=64&positions=%s&format=safetensors", rows[k].made);
        snprintf(query, sizeof query, "encoding=rope&head_dim=64&positions=%s", rows[k].claimed);
        reply table = get(&server, target);
        assert_status(target, &table, 200);
        const pe_buffer body = {.data = table.body, .bytes = table.bytes};
        json_t *report = verified_safetensors(query, &body);
        const json_t *first = json_array_get(json_object_get(report, "diagnosis"), 0);
        assert_string_equal(json_string_value(json_array_get(json_object_get(first, "faults"), 0)),
                            rows[k].fault);
        if (strstr(json_string_value(json_object_get(first, "rule")), rows[k].said) == NULL)
            fail_msg("%s: %s", query, json_string_value(json_object_get(first, "rule")));
        /* pairs turn as claimed, wherever the rows are */
        const json_t *bands = json_object_get(json_object_get(report, "measured"), "frequencies");
        for (size_t b = 0; b < json_array_size(bands); b++) {
            const json_t *ratio = json_object_get(json_array_get(bands, b), "ratio");
            if (!(fabs(fabs(json_number_value(ratio)) - 1) < 1e-3))
                fail_msg("%s: ratio %g", query, json_number_value(ratio));
        }
        json_decref(report);
        reply_free(&table);
    }
}

/* One tensor without a name: numbers of a far position are cosines as well as sines. */
static void cosines_or_sines_alone_are_told_by_the_claim(void **state)
{
    static const char *const tensors[] = {"cos", "sin"};
    static const char *const layouts[] = {"hf&pairing=half", "hf&pairing=interleaved", "pairs"};
    static const int from[] = {5000, 12000, 131000, 1000000};
    static const char *const npy[] = {"Content-Type: application/x-npy", NULL};
    for (size_t k = 0; k < PE_LEN(tensors) * PE_LEN(layouts) * PE_LEN(from) * 2; k++) {
        char target[300], claim[200];
        const int first = from[k % 4], moved = k / 4 % 2;
        const char *layout = layouts[k / 8 % 3], *tensor = tensors[k / 24];
        snprintf(target, sizeof target,
                 "/v1/rope/table?head_dim=64&cache_layout=%s&positions=%d:%d&tensor=%s"
                 "&numerics=%s&format=npy",
                 layout, first + moved, first + moved + 64, tensor, moved ? "exact" : "float32");
        snprintf(claim, sizeof claim,
                 "/v1/verify?encoding=rope&head_dim=64&cache_layout=%s&positions=%d:%d", layout,
                 first, first + 64);
        reply table = get(&server, target);
        assert_status(target, &table, 200);
        json_t *report =
            report_of(claim, fetch(&server, "POST", claim, npy, table.body, table.bytes));
        if (matches(report) == (moved == 1))
            fail_msg("%s as %s", target, claim);
        if (moved == 1)
            assert_string_equal(json_string_value(json_object_get(report, "conclusion")),
                                "positions were one too large");
        json_decref(report);
        reply_free(&table);
    }
}

static void vectors_near_the_end_of_float64_are_compared(void **state)
{
    static const double inputs[] = {1.7e308, 1.7e308}, turned[] = {1.7e308, -1.7e308},
                        other[] = {-1e308, 5};
    /* at position 0 nothing turns */
    const double *const rotated[] = {inputs, turned, other};
    for (size_t r = 0; r < PE_LEN(rotated); r++) {
        const part parts[] = {{"inputs", "F64", "[1,2]", inputs, sizeof inputs},
                              {"rotated", "F64", "[1,2]", rotated[r], sizeof inputs}};
        pe_buffer body = {0};
        parts_safetensors(parts, 2, &body);
        json_t *report = verified_safetensors("encoding=rope", &body);
        assert_int_equal(matches(report), r == 0);
        json_decref(report);
        pe_buffer_free(&body);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_off_the_circle_match_at_no_position),
        cmocka_unit_test(rows_of_other_positions_are_named),
        cmocka_unit_test(cosines_or_sines_alone_are_told_by_the_claim),
        cmocka_unit_test(vectors_near_the_end_of_float64_are_compared),
    };
    return server_run_tests(tests, PE_LEN(tests), &server, NULL);
}
