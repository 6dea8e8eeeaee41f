/* SPDX-License-Identifier: MIT */
/* test_number_scan.c - one JSON number to a double, against the C library's strtod. */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/random.h"
#include "text/scan.h"

/* Exactly `bytes` of allocated memory, so that a sanitizer sees a read past the end. */
static pe_scan scan(const char *text, double *value, size_t *used)
{
    size_t bytes = strlen(text);
    char *copy = malloc(bytes + (bytes == 0));
    assert_non_null(copy);
    memcpy(copy, text, bytes);
    pe_scan result = pe_scan_number(copy, bytes, value, used);
    free(copy);
    return result;
}

/* The same in the middle of an array, which is read another way if much text follows. */
static void check_in_array(const char *text, double wanted)
{
    static const char before[] = "[0.5,", after[] = ",-0.25,123.456,0.0625,-0.25,123.456,0.0625,"
                                                    "-0.25,123.456,0.0625,-0.25,123.456,0.0625]";
    const size_t bytes = strlen(text), all = sizeof before + bytes + sizeof after - 2;
    pe_array array = {0};
    pe_problem why;
    size_t used;
    char *copy = malloc(all);
    assert_non_null(copy);
    memcpy(copy, before, sizeof before - 1);
    memcpy(copy + sizeof before - 1, text, bytes);
    memcpy(copy + all - (sizeof after - 1), after, sizeof after - 1);
    const pe_scan_wanted as_array = {"x", PE_FLOAT64, 100, false};
    const pe_status status = pe_scan_numbers((pe_slice){copy, all}, &as_array, &array, &used, &why);
    free(copy);
    if (isinf(wanted)) {
        assert_int_equal(status, PE_MALFORMED_REQUEST);
        return;
    }
    if (status != PE_OK || array.elements != 14 ||
        memcmp((const char *)array.data + 8, &wanted, 8) != 0)
        fail_msg("%s in an array: got %d, not %a", text, status, wanted);
    pe_array_free(&array);
}

static void check(const char *text)
{
    double wanted = strtod(text, NULL), got = 1234.5;
    check_in_array(text, wanted);
    size_t used = 0;
    pe_scan result = scan(text, &got, &used);
    if (isinf(wanted)) {
        if (result != PE_SCAN_OVERFLOW)
            fail_msg("%s: got %d %a, wanted an overflow", text, result, got);
        return;
    }
    if (result != PE_SCAN_OK || used != strlen(text) || memcmp(&got, &wanted, sizeof got) != 0)
        fail_msg("%s: got %d %a after %zu bytes, wanted %a", text, result, got, used, wanted);
}

static size_t rounds(size_t usual)
{
    const char *build = getenv("POSENC_BUILD");
    bool slow = build != NULL && strcmp(build, "release") != 0;
    return slow ? usual / 10 : usual;
}

static void hard_cases(void **unused)
{
    static const char *const cases[] = {
        "0",
        "-0",
        "0.0",
        "0e0",
        "-0.0e-999999999999999999999",
        "0e999999999999999999999",
        "1",
        "-1",
        "10000",
        "0.1",
        "1e22",
        "1e23",
        "8.5e22",
        "123456789012345678901234567890",
        "2.2250738585072011e-308",
        "2.2250738585072012e-308",
        "2.2250738585072014e-308",
        "2."
        "225073858507201136057409796709131975934819546351645648023426109724822222021076945516529523"
        "908135087914149158913039621106870086438694594645527657207407820621743379988141063267329253"
        "55"
        "228688137214901298112245145188984905722230728525513315575501591439747639798341180199932396"
        "23"
        "48282457888894132e-308",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.79769313486231580793e308",
        "1.7976931348623159e308",
        "1e308",
        "1e309",
        "1e999",
        "-1e999999999999999999999999",
        "1e-999999999999999999999999",
        "9007199254740991",
        "9007199254740992",
        "9007199254740993",
        "9007199254740993.0000000000000000000000000000000001",
        "9007199254740992.9999999999999999999999999999999999",
        "9007199254740994",
        "9007199254740995",
        "18014398509481986",
        "36028797018963972",
        "5e-324",
        "4.9e-324",
        "2.4703282292062327208e-324",
        "2.4703282292062328e-324",
        "2.4703282292062327e-324",
        "2e-324",
        "7."
        "410984687618698162648531893023320585475897039214871466383785237510132609053131277979497545"
        "4"
        "245398856969484704316857659638998506553390969459816219401617281718945106978546710679176872"
        "575"
        "177347315553307795408549809608457500958111373034747658096871009590975442271004757307809711"
        "118"
        "935784838675653998783503015228055934046593739791790738723868299395818481660169122019456499"
        "931"
        "289798411362062484498678713572180352209017023903285791732520220528974020802906854021606612"
        "375"
        "549983402671300035812486479041385743401875520901590172592547146296175134159774938718574737"
        "870"
        "961645638908718119841271673056017045493004705269590165763776884908267986972573366521765567"
        "941"
        "072508764337560846003984904972149117463085539556354188641513168478436313080237596295773983"
        "00"
        "1708984375e-324",
        "1.00000000000000011102230246251565404236316680908203125",
        "1.00000000000000011102230246251565404236316680908203124",
        "1.00000000000000011102230246251565404236316680908203126",
        "1.000000000000000111022302462515654042363166809082031250000000000000000000000000000001",
        "0.500000000000000166533453693773481063544750213623046875",
        "0.500000000000000166533453693773481063544750213623046874",
        "3.518437208883201171875e13",
        "62.5364939768271845828",
        "8.10109172351e-10",
        "1.50000000000000011102230246251565",
        "1.47e-325",
        "6.631236846766476e-316",
        "7.2057594037927933e16",
        "123456789012345678e-340",
        "1e-342",
        "9999999999999999999e-343",
        "9999999999999999999e-342",
        "0.00000000000000000000000000000000000000000000000000000000000000000000000000000000001e83",
        "100000000000000000000000000000000000000000000000000000000000000000000000000000000000e-83",
    };
    for (size_t i = 0; i < PE_LEN(cases); i++)
        check(cases[i]);
}

static void long_texts(void **unused)
{
    enum { LENGTH = 5000 };
    char *text = malloc(LENGTH + 32);
    assert_non_null(text);
    for (int length = 700; length <= LENGTH; length += 43)
        for (int digit = '0'; digit <= '9'; digit++) {
            memset(text, digit, (size_t)length);
            text[0] = '1';
            text[1] = '.';
            text[length - 1] = '7';
            snprintf(text + length, 8, "%s", digit % 2 ? "e-200" : "");
            check(text);
        }
    /* Ties that only the last of very many digits breaks. */
    static const char tie[] = "1.00000000000000011102230246251565404236316680908203125";
    memset(text, '0', LENGTH);
    memcpy(text, tie, sizeof tie - 1);
    text[LENGTH] = '\0';
    check(text);
    text[LENGTH - 1] = '1';
    check(text);
    /* 10^400 scaled back. */
    memset(text, '0', 401);
    text[0] = '1';
    snprintf(text + 401, 8, "e-400");
    check(text);
    free(text);
}

static void random_decimals(void **unused)
{
    random_source random = random_make("decimals");
    for (size_t i = rounds(1000000); i-- > 0;) {
        char text[128];
        uint64_t a = random_bits(&random), b = random_bits(&random), shape = random_bits(&random);
        uint64_t head = a >> (shape % 64), tail = b >> (shape / 64 % 64);
        const char *sign = shape >> 62 & 1 ? "-" : "";
        int exponent = (int)(shape >> 32 & 1023) - 512;
        int small = (int)(shape >> 32 & 63) - 32;
        switch (shape >> 20 & 3) {
        case 0:
            snprintf(text, sizeof text, "%s%" PRIu64 ".%" PRIu64, sign, head, tail);
            break;
        case 1:
            snprintf(text, sizeof text, "%s%" PRIu64 "e%d", sign, head, exponent);
            break;
        case 2:
            snprintf(text, sizeof text, "%s%" PRIu64 ".%020" PRIu64 "E%+d", sign, head, b,
                     exponent);
            break;
        default:
            snprintf(text, sizeof text, "%s0.%" PRIu64 "e%d", sign, tail, small);
        }
        check(text);
    }
}

/* Doubles and the points half-way between them, as short and as exact text. */
static void doubles_and_midpoints(void **unused)
{
    random_source random = random_make("doubles");
    static char text[1200];
    for (size_t i = rounds(100000); i-- > 0;) {
        uint64_t bits = random_bits(&random) & INT64_MAX;
        double v;
        memcpy(&v, &bits, sizeof v);
        if (!isfinite(v))
            continue;
        snprintf(text, sizeof text, "%.16e", v);
        check(text);
        snprintf(text, sizeof text, "%.*e", (int)(bits % 25), v);
        check(text);
        if (i % 16 == 0 && v < 1e300) {
            snprintf(text, sizeof text, "%.800Le",
                     ((long double)v + (long double)nextafter(v, 1e308)) / 2);
            check(text);
        }
    }
}

static void grammar(void **unused)
{
    static const char *const refused[] = {
        "",     "-",   "+1",  ".5",  "-.5",  "1.",   "1.e5",     "01",   "-01", "00",
        "1e",   "1e+", "1E-", "nan", "NaN",  "inf",  "Infinity", "-inf", " 1",  "\"1",
        "1.5e", "e5",  "--1", "-+1", "null", "0123", "/",        ":",
    };
    double value = 7;
    size_t used = 99;
    for (size_t i = 0; i < PE_LEN(refused); i++) {
        pe_scan got = scan(refused[i], &value, &used);
        if (got != PE_SCAN_NOT_A_NUMBER)
            fail_msg("%s: got %d, wanted it refused", refused[i], got);
    }
}

static void stops_at_the_end(void **unused)
{
    static const struct {
        const char *text;
        double value;
        size_t used;
    } cases[] = {
        {"1,2", 1, 1}, {"12]", 12, 2},     {"-0.5e1 ", -5, 6},          {"3x", 3, 1},
        {"0]", 0, 1},  {"1.25}", 1.25, 4}, {"12345678,9", 12345678, 8}, {"0x10", 0, 1},
        {"1-2", 1, 1}, {"1.2.3", 1.2, 3},
    };
    for (size_t i = 0; i < PE_LEN(cases); i++) {
        double value = 0;
        size_t used = 0;
        assert_int_equal(scan(cases[i].text, &value, &used), PE_SCAN_OK);
        assert_true(value == cases[i].value);
        assert_int_equal(used, cases[i].used);
    }
    double value = 0;
    size_t used = 0;
    assert_int_equal(pe_scan_number("12345678", 5, &value, &used), PE_SCAN_OK);
    assert_true(value == 12345 && used == 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        {"hard cases round as strtod rounds", hard_cases, NULL, NULL, NULL},
        {"hundreds and thousands of digits are all heard", long_texts, NULL, NULL, NULL},
        {"random decimals round as strtod rounds", random_decimals, NULL, NULL, NULL},
        {"doubles and midpoints between them", doubles_and_midpoints, NULL, NULL, NULL},
        {"what is not JSON's grammar is refused", grammar, NULL, NULL, NULL},
        {"a number ends where its grammar ends", stops_at_the_end, NULL, NULL, NULL},
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
