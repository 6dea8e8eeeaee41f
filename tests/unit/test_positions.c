/* SPDX-License-Identifier: MIT */
/* test_positions.c - ranges and lists of positions, and their one canonical text. */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/positions.h"

static const struct good {
    const char *text, *canonical;
    size_t count;
    double first, last;
} good[] = {
    {"0:128", "0:128", 128, 0, 127},
    {"5", "5:6", 1, 5, 5},
    {"5.0", "5:6", 1, 5, 5},
    {"-0", "0:1", 1, 0, 0},
    {"0:10:3", "0:10:3", 4, 0, 9},
    {"0:12:3", "0:10:3", 4, 0, 9},
    {"5:2:-1", "5:2:-1", 3, 5, 3},
    {"3:-4:-3", "3:-4:-3", 3, 3, -3},
    {"-3:2", "-3:2", 5, -3, 1},
    {"1,2,3", "1:4", 3, 1, 3},
    {"9,7,5", "9:4:-2", 3, 9, 5},
    {"1,5,11", "1,5,11", 3, 1, 11},
    {"4,4", "4,4", 2, 4, 4},
    {"0.5", "0.5", 1, 0.5, 0.5},
    {"0.5,1.5", "0.5,1.5", 2, 0.5, 1.5},
    {"1e3", "1000:1001", 1, 1000, 1000},
    {"9007199254740991", "9007199254740991:9007199254740992", 1, 9007199254740991.0,
     9007199254740991.0},
    {"9007199254740990:9007199254740992", "9007199254740990:9007199254740992", 2,
     9007199254740990.0, 9007199254740991.0},
    {"0:3;5:2:-1", "0:3;5:2:-1", 6, 0, 3},
    {"1,2,3;0.5,4,1;7:10", "1:4;0.5,4,1;7:10", 9, 1, 9},
    {"5;6", "5:6;6:7", 2, 5, 6},
    {"0:10:0.5", "0:10:0.5", 20, 0, 9.5},
    {"0:1:0.1", "0:1:0.1", 10, 0, 0.9},
    {"0:0.95:1e-1", "0:1:0.1", 10, 0, 0.9},
    {"0.0:1:0.10", "0:1:0.1", 10, 0, 0.9},
    {"0.5:4", "0.5:4.5", 4, 0.5, 3.5},
    {"-0.3:0.3:0.15", "-0.3:0.3:0.15", 4, -0.3, 0.15},
    {"2:0:-0.25", "2:0:-0.25", 8, 2, 0.25},
    {"0:3.5", "0:4", 4, 0, 3},
    {"0:4:2.0", "0:3:2", 2, 0, 2},
    {"0.25:0.5:0.5", "0.25", 1, 0.25, 0.25},
    {"3:3.5:0.5", "3:4", 1, 3, 3},
    {"9.99999999999999:-1:-9.5", "9.99999999999999:-9.00000000000001:-9.5", 2, 9.99999999999999,
     0.49999999999999},
    {"0:9.99999999999999:6", "0:7:6", 2, 0, 6},
    {"0.00000000000001:9:6.5", "1e-14:10:6.5", 2, 1e-14, 6.50000000000001},
    {"0:1:0.5;7:9", "0:1:0.5;7:9", 4, 0, 8},
    {"-9007199254740991,0", "-9007199254740991:1:9007199254740991", 2, -9007199254740991.0, 0},
};

static void texts_read_and_print_in_canonical_form(void **state)
{
    for (size_t i = 0; i < PE_LEN(good); i++) {
        pe_positions positions;
        pe_problem why;
        const char *text = good[i].text;
        if (pe_positions_parse((pe_slice){text, strlen(text)}, "positions", 1000, &positions,
                               &why) != PE_OK)
            fail_msg("%s: refused: %s", text, why.detail);
        pe_buffer printed = {0};
        pe_positions_print(&positions, &printed);
        if (strcmp(pe_buffer_text(&printed), good[i].canonical) != 0)
            fail_msg("%s: got %s, wanted %s", text, pe_buffer_text(&printed), good[i].canonical);
        assert_int_equal(positions.count, good[i].count);
        assert_true(pe_positions_at(&positions, 0) == good[i].first);
        assert_true(pe_positions_at(&positions, good[i].count - 1) == good[i].last);
        pe_buffer_free(&printed);
        pe_positions_free(&positions);
    }
}

/* Rows that are ranges are held as ranges, those that are listed as lists. */
static void rows_of_several_axes_are_what_each_says(void **state)
{
    static const struct {
        const char *text;
        size_t rows, listed; /* held as rows; numbers held */
        double want[3][4];
    } cases[] = {
        {"0:4;9:5:-1;-7:5:3", 3, 0, {{0, 1, 2, 3}, {9, 8, 7, 6}, {-7, -4, -1, 2}}},
        {"0.5,1,-0,8;3:7;2,2,2,2", 3, 8, {{0.5, 1, 0, 8}, {3, 4, 5, 6}, {2, 2, 2, 2}}},
        {"1:5;1,2,3,4;-1,-2,-3,-4", 3, 8, {{1, 2, 3, 4}, {1, 2, 3, 4}, {-1, -2, -3, -4}}},
        {"1,2,3,4;4,3,2,1;5,6,8,7", 0, 12, {{1, 2, 3, 4}, {4, 3, 2, 1}, {5, 6, 8, 7}}},
    };
    for (size_t i = 0; i < PE_LEN(cases); i++) {
        pe_positions positions, copy;
        pe_problem why;
        double least, most, low = PE_POSITION_LIMIT, high = -PE_POSITION_LIMIT;
        assert_int_equal(pe_positions_parse((pe_slice){cases[i].text, strlen(cases[i].text)},
                                            "positions", 1000, &positions, &why),
                         PE_OK);
        assert_int_equal(pe_positions_parts(&positions), cases[i].rows != 0 ? 3 : 1);
        assert_int_equal(positions.rows != NULL, cases[i].rows != 0);
        assert_int_equal(positions.list != NULL, cases[i].listed != 0);
        assert_int_equal(pe_positions_copy(&positions, &copy, &why), PE_OK);
        pe_positions_free(&positions); /* the copy has all of its own */
        for (size_t r = 0; r < 3; r++) {
            const pe_positions part = pe_positions_part(&copy, r, 3);
            assert_int_equal(part.count, 4);
            assert_null(part.rows);
            for (size_t k = 0; k < 4; k++) {
                assert_true(pe_positions_at(&copy, 4 * r + k) == cases[i].want[r][k]);
                assert_true(pe_positions_at(&part, k) == cases[i].want[r][k]);
                low = fmin(low, cases[i].want[r][k]);
                high = fmax(high, cases[i].want[r][k]);
            }
        }
        assert_int_equal(copy.fractional, i == 1);
        pe_positions_bounds(&copy, &least, &most);
        assert_true(least == low && most == high);
        pe_positions_free(&copy);
    }
}

/* 2^28 positions on each of three axes, whose numbers would take 6 GB. */
static void long_ranges_on_several_axes_are_read_without_holding_their_numbers(void **state)
{
    static const char text[] = "0:268435456;268435455:-1:-1;-3:805306363:3";
    pe_positions positions;
    pe_problem why;
    assert_int_equal(pe_positions_parse((pe_slice){text, strlen(text)}, "positions",
                                        (size_t)3 << 28, &positions, &why),
                     PE_OK);
    assert_null(positions.list);
    assert_int_equal(positions.count, (size_t)3 << 28);
    assert_true(pe_positions_at(&positions, 268435455) == 268435455);
    assert_true(pe_positions_at(&positions, 268435456) == 268435455);
    assert_true(pe_positions_at(&positions, ((size_t)3 << 28) - 1) == 805306362);
    pe_buffer printed = {0};
    pe_positions_print(&positions, &printed);
    assert_string_equal(pe_buffer_text(&printed), text);
    pe_buffer_free(&printed);
    pe_positions_free(&positions);
}

/* Position by position what the decimals say, as strtod reads them. */
static void fractional_ranges_are_the_doubles_nearest_their_decimals(void **state)
{
    static const char *const texts[] = {"-7.7:20:0.1", "3:-3:-0.007", "1234567.891:1234568:0.001"};
    static const int units[][3] = {{-77, 1, 10}, {3000, -7, 1000}, {1234567891, 1, 1000}};
    for (size_t i = 0; i < PE_LEN(texts); i++) {
        pe_positions positions;
        pe_problem why;
        assert_int_equal(pe_positions_parse((pe_slice){texts[i], strlen(texts[i])}, "positions",
                                            1000, &positions, &why),
                         PE_OK);
        assert_true(positions.fractional);
        assert_null(positions.list);
        for (size_t r = 0; r < positions.count; r++) {
            char decimal[32];
            const int n = units[i][0] + (int)r * units[i][1], per = units[i][2];
            snprintf(decimal, sizeof decimal, "%s%d.%0*d", n < 0 ? "-" : "", abs(n / per),
                     per == 10 ? 1 : 3, abs(n % per));
            if (pe_positions_at(&positions, r) != strtod(decimal, NULL))
                fail_msg("%s: position %zu: got %.17g, wanted %s", texts[i], r,
                         pe_positions_at(&positions, r), decimal);
        }
        pe_positions_free(&positions);
    }
}

static const struct bad {
    const char *text;
    pe_status status;
} bad[] = {
    {"", PE_MALFORMED_REQUEST},
    {"x", PE_MALFORMED_REQUEST},
    {"nan", PE_MALFORMED_REQUEST},
    {"1e999", PE_MALFORMED_REQUEST},
    {"1,,2", PE_MALFORMED_REQUEST},
    {"1,", PE_MALFORMED_REQUEST},
    {"0:", PE_MALFORMED_REQUEST},
    {":4", PE_MALFORMED_REQUEST},
    {"0:4:1:1", PE_MALFORMED_REQUEST},
    {"0:4,5", PE_MALFORMED_REQUEST},
    {"0:1:1e-16", PE_INVALID_PARAMETER},
    {"0:1:0.1234567890123456789012", PE_INVALID_PARAMETER},
    {"100000000000000:100000000000001:0.25", PE_INVALID_PARAMETER},
    {"1:0:0.5", PE_INVALID_PARAMETER},
    {"0:0.5:-0.25", PE_INVALID_PARAMETER},
    {"0:1:0.000999", PE_TOO_MANY_ELEMENTS},
    {"0:4:0", PE_INVALID_PARAMETER},
    {"4:4", PE_INVALID_PARAMETER},
    {"5:2", PE_INVALID_PARAMETER},
    {"2:5:-1", PE_INVALID_PARAMETER},
    {"9007199254740992", PE_INVALID_PARAMETER},
    {"-9007199254740992:0", PE_INVALID_PARAMETER},
    {"0:-9007199254740994:-1", PE_INVALID_PARAMETER},
    {"0:1e300", PE_INVALID_PARAMETER},
    {"0:1001", PE_TOO_MANY_ELEMENTS},
    {"1,2;3", PE_INVALID_PARAMETER},
    {"1;", PE_MALFORMED_REQUEST},
    {";1", PE_MALFORMED_REQUEST},
    {"0:4;0:4:0", PE_INVALID_PARAMETER},
    {"0:501;0:501", PE_TOO_MANY_ELEMENTS},
    {"0:501;5", PE_TOO_MANY_ELEMENTS},
    {"0:500;5", PE_INVALID_PARAMETER},
    {"5;0:500", PE_INVALID_PARAMETER},
    {"0:2;;0:2", PE_MALFORMED_REQUEST},
    {"1,x;3;4", PE_MALFORMED_REQUEST},
    {"0:2;1,9007199254740992", PE_INVALID_PARAMETER},
    {";;", PE_MALFORMED_REQUEST},
};

static void texts_that_cannot_be_are_refused_with_the_right_status(void **state)
{
    for (size_t i = 0; i < PE_LEN(bad); i++) {
        pe_positions positions;
        pe_problem why;
        const pe_status got = pe_positions_parse((pe_slice){bad[i].text, strlen(bad[i].text)},
                                                 "positions", 1000, &positions, &why);
        if (got != bad[i].status)
            fail_msg("\"%s\": got %s, wanted %s", bad[i].text, pe_status_code_text(got),
                     pe_status_code_text(bad[i].status));
        assert_string_equal(why.where, "positions");
        assert_non_null(strstr(why.detail, "positions"));
    }
}

static void too_many_tells_both_numbers(void **state)
{
    pe_positions positions;
    pe_problem why;
    assert_int_equal(
        pe_positions_parse((pe_slice){"0:5000:2", 8}, "positions", 1000, &positions, &why),
        PE_TOO_MANY_ELEMENTS);
    assert_int_equal(why.max_elements, 1000);
    assert_int_equal(why.requested_elements, 2500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_read_and_print_in_canonical_form),
        cmocka_unit_test(rows_of_several_axes_are_what_each_says),
        cmocka_unit_test(long_ranges_on_several_axes_are_read_without_holding_their_numbers),
        cmocka_unit_test(fractional_ranges_are_the_doubles_nearest_their_decimals),
        cmocka_unit_test(texts_that_cannot_be_are_refused_with_the_right_status),
        cmocka_unit_test(too_many_tells_both_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
