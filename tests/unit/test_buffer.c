/* SPDX-License-Identifier: MIT */
/* test_buffer.c - growable bytes, and names that are near. */
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/nearest.h"

static void an_empty_buffer_is_empty_text(void **state)
{
    pe_buffer buffer = {0};
    assert_string_equal(pe_buffer_text(&buffer), "");
    assert_int_equal(buffer.bytes, 0);
    pe_buffer_add(&buffer, NULL, 0);
    pe_buffer_str(&buffer, "");
    assert_int_equal(buffer.bytes, 0);
    assert_false(buffer.failed);
    pe_buffer_free(&buffer);
}

static void what_is_appended_piece_by_piece_is_there_in_order(void **state)
{
    pe_buffer buffer = {0};
    char wanted[4096] = "";
    for (int k = 0; k < 300; k++) {
        char piece[16];
        snprintf(piece, sizeof piece, "%d,", k);
        const size_t end = strlen(wanted);
        snprintf(wanted + end, sizeof wanted - end, "%s", piece);
        if (k % 3 == 0)
            pe_buffer_add(&buffer, piece, strlen(piece));
        else if (k % 3 == 1)
            pe_buffer_str(&buffer, piece);
        else
            pe_buffer_format(&buffer, "%d%c", k, ',');
        assert_true(buffer.capacity >= buffer.bytes);
    }
    assert_int_equal(buffer.bytes, strlen(wanted));
    assert_memory_equal(buffer.data, wanted, buffer.bytes);
    assert_string_equal(pe_buffer_text(&buffer), wanted);
    pe_buffer_free(&buffer);
    assert_null(buffer.data);
    assert_int_equal(buffer.bytes, 0);
}

static void bytes_of_any_kind_are_kept(void **state)
{
    pe_buffer buffer = {0};
    pe_buffer_add(&buffer, "a\0b", 3);
    pe_buffer_add(&buffer, "\xff", 1);
    assert_int_equal(buffer.bytes, 4);
    assert_memory_equal(buffer.data, "a\0b\xff", 4);
    pe_buffer_free(&buffer);
}

static void reserved_room_is_writable_and_counts_once_it_is_added(void **state)
{
    pe_buffer buffer = {0};
    pe_buffer_str(&buffer, "head");
    char *room = pe_buffer_reserve(&buffer, 1000);
    assert_non_null(room);
    memset(room, 'x', 1000);
    assert_int_equal(buffer.bytes, 4);
    buffer.bytes += 1000;
    pe_buffer_str(&buffer, "tail");
    assert_memory_equal(buffer.data, "headxxx", 7);
    assert_memory_equal(buffer.data + 1001, "xxxtail", 7);
    pe_buffer_free(&buffer);
}

static void failure_sticks_and_further_appends_do_nothing(void **state)
{
    pe_buffer buffer = {0};
    pe_buffer_str(&buffer, "before");
    assert_null(pe_buffer_reserve(&buffer, SIZE_MAX));
    assert_true(buffer.failed);
    pe_buffer_str(&buffer, "after");
    pe_buffer_format(&buffer, "%d", 1);
    pe_buffer_json_string(&buffer, "after");
    assert_null(pe_buffer_reserve(&buffer, 1));
    assert_int_equal(buffer.bytes, 6);
    assert_string_equal(pe_buffer_text(&buffer), "");
    pe_buffer_free(&buffer);
    assert_false(buffer.failed);
}

static void strings_are_escaped_as_json_wants(void **state)
{
    static const struct {
        const char *text, *json;
    } cases[] = {
        {"", "\"\""},
        {"a/b", "\"a/b\""},
        {"\"\\", "\"\\\"\\\\\""},
        {"\n\x1f\x7f", "\"\\u000a\\u001f\\u007f\""},
        {"\xc3\xa9", "\"\xc3\xa9\""},                                 /* U+00E9 */
        {"\xe2\x82\xac", "\"\xe2\x82\xac\""},                         /* U+20AC */
        {"\xed\x9f\xbf\xee\x80\x80", "\"\xed\x9f\xbf\xee\x80\x80\""}, /* beside the surrogates */
        {"\xf4\x8f\xbf\xbf", "\"\xf4\x8f\xbf\xbf\""},                 /* U+10FFFF */
        {"\x80", "\"\xef\xbf\xbd\""},                                 /* a lone continuation */
        {"\xc3", "\"\xef\xbf\xbd\""},                                 /* cut short */
        {"\xc3(", "\"\xef\xbf\xbd(\""},
        {"\xe2\x82", "\"\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\xc0\xaf", "\"\xef\xbf\xbd\xef\xbf\xbd\""}, /* overlong */
        {"\xe0\x9f\xbf", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""}, /* a surrogate */
        {"\xf4\x90\x80\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\xff"
         "a",
         "\"\xef\xbf\xbd"
         "a\""},
    };
    for (size_t c = 0; c < PE_LEN(cases); c++) {
        pe_buffer buffer = {0};
        pe_buffer_json_string(&buffer, cases[c].text);
        if (strcmp(pe_buffer_text(&buffer), cases[c].json) != 0)
            fail_msg("case %zu: got %s, wanted %s", c, pe_buffer_text(&buffer), cases[c].json);
        pe_buffer_free(&buffer);
    }
}

static void a_mistyped_name_finds_the_nearest_known_one(void **state)
{
    static const char *const names[] = {"base", "d_model", "head_dim", "rope_theta", "positions"};
    static const struct {
        const char *name, *near;
    } cases[] = {
        {"base", "base"},
        {"bas", "base"},
        {"bsae", "base"},
        {"dmodel", "d_model"},
        {"d_modle", "d_model"},
        {"headdim", "head_dim"},
        {"rope_thetha", "rope_theta"},
        {"position", "positions"},
        {"postions", "positions"},
        {"theta", NULL},
        {"b", NULL},
        {"", NULL},
        {"xyzw", NULL},
        {"something_else", NULL},
    };
    for (size_t c = 0; c < PE_LEN(cases); c++) {
        const char *near = pe_nearest_name(cases[c].name, names, PE_LEN(names));
        if (near != cases[c].near &&
            (near == NULL || cases[c].near == NULL || strcmp(near, cases[c].near) != 0))
            fail_msg("%s is near %s, wanted %s", cases[c].name, near, cases[c].near);
    }
    assert_null(pe_nearest_name("base", NULL, 0));
    char *endless = calloc(1, 100001);
    assert_non_null(endless);
    memset(endless, 'a', 100000);
    assert_null(pe_nearest_name(endless, names, PE_LEN(names)));
    free(endless);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_buffer_is_empty_text),
        cmocka_unit_test(what_is_appended_piece_by_piece_is_there_in_order),
        cmocka_unit_test(bytes_of_any_kind_are_kept),
        cmocka_unit_test(reserved_room_is_writable_and_counts_once_it_is_added),
        cmocka_unit_test(failure_sticks_and_further_appends_do_nothing),
        cmocka_unit_test(strings_are_escaped_as_json_wants),
        cmocka_unit_test(a_mistyped_name_finds_the_nearest_known_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
