/* SPDX-License-Identifier: MIT */
/* test_query_string.c - requests read from query strings. */
#include "support/check.h"

#include <stdlib.h>
#include <string.h>

#include "support/fake.h"
#include "support/random.h"

static pe_query ask_of(const char *query)
{
    pe_query ask = {0};
    pe_problem why = {0};
    if (pe_query_string_parse(&fake_table, pe_slice_of(query), &fake_limits, &ask, &why) != PE_OK)
        fail_msg("%s: refused: %s", query, why.detail);
    return ask;
}

static void absent_rows_take_their_defaults(void **state)
{
    (void)state;
    pe_query ask = ask_of("d_model=64");
    assert_int_equal(pe_values_int(&ask.values, "d_model"), 64);
    assert_true(pe_values_real(&ask.values, "base") == 10000);
    assert_true(pe_values_bool(&ask.values, "causal"));
    assert_int_equal(pe_values_find(&ask.values, "positions")->positions.count, 128);
    assert_true(pe_values_given(&ask.values, "d_model"));
    assert_false(pe_values_given(&ask.values, "base"));
    assert_false(pe_values_present(&ask.values, "short_factor"));
    assert_null(ask.format);
    assert_false(ask.base64);
    assert_string_equal(ask.tensor, "");
    pe_query_free(&ask);
}

static void every_kind_is_read(void **state)
{
    (void)state;
    pe_query ask = ask_of("d_model=5.12e2&base=1e+5&scale=0.5&layout=cos_sin&causal=false&"
                          "short_factor=1,1.5,2&positions=3:9:2&dtype=bfloat16&mask_value=-1e30&"
                          "format=npy&encoding_format=base64&tensor=cos&heads=0:4");
    assert_int_equal(pe_values_int(&ask.values, "d_model"), 512);
    assert_true(pe_values_real(&ask.values, "base") == 1e5);
    assert_true(pe_values_real(&ask.values, "scale") == 0.5);
    assert_true(pe_values_real(&ask.values, "mask_value") == -1e30);
    assert_int_equal(pe_values_choice(&ask.values, "layout"), 2);
    assert_false(pe_values_bool(&ask.values, "causal"));
    assert_int_equal(pe_values_choice(&ask.values, "dtype"), PE_BFLOAT16);
    const pe_value *list = pe_values_find(&ask.values, "short_factor");
    assert_int_equal(list->list_length, 3);
    assert_true(list->list[1] == 1.5);
    assert_int_equal(pe_values_find(&ask.values, "positions")->positions.count, 3);
    assert_string_equal(ask.format->name, "npy");
    assert_true(ask.base64);
    assert_string_equal(ask.tensor, "cos");
    pe_query_free(&ask);
}

static void percent_encoding_is_undone_and_empty_pairs_are_skipped(void **state)
{
    (void)state;
    pe_query ask = ask_of("&d%5Fmodel=%36%34&&positions=1%2C5%2c9&");
    assert_int_equal(pe_values_int(&ask.values, "d_model"), 64);
    assert_int_equal(pe_values_find(&ask.values, "positions")->positions.count, 3);
    pe_query_free(&ask);
}

static const struct refusal {
    const char *name, *query;
    pe_status status;
    const char *where, *detail; /* a part of it */
} refusals[] = {
    {"nothing at all", "", PE_MISSING_PARAMETER, "d_model", "d_model"},
    {"unknown, with the nearest", "d_modle=4", PE_UNKNOWN_PARAMETER, "d_modle",
     "unknown parameter d_modle, did you mean d_model?"},
    {"unknown, nothing near", "colour=red&d_model=4", PE_UNKNOWN_PARAMETER, "colour", "GET /v1"},
    {"unknown, near a representation's", "fromat=npy", PE_UNKNOWN_PARAMETER, "fromat", "format?"},
    {"no name", "=4", PE_UNKNOWN_PARAMETER, "", ""},
    {"repeated", "d_model=4&d_model=4", PE_MALFORMED_REQUEST, "d_model", "more than once"},
    {"repeated format", "d_model=4&format=npy&format=npy", PE_MALFORMED_REQUEST, "format", "once"},
    {"letters", "d_model=x", PE_MALFORMED_REQUEST, "d_model", "got \"x\""},
    {"nan", "d_model=4&base=nan", PE_MALFORMED_REQUEST, "base", "nan"},
    {"inf", "d_model=4&base=inf", PE_MALFORMED_REQUEST, "base", "inf"},
    {"overflow", "d_model=4&base=1e999", PE_MALFORMED_REQUEST, "base", "float64 can hold"},
    {"empty", "d_model=", PE_MALFORMED_REQUEST, "d_model", "empty"},
    {"no equals sign", "d_model", PE_MALFORMED_REQUEST, "d_model", "empty"},
    {"a leading plus", "d_model=+4", PE_MALFORMED_REQUEST, "d_model", "+4"},
    {"a space", "d_model=%204", PE_MALFORMED_REQUEST, "d_model", "number"},
    {"hexadecimal", "d_model=0x10", PE_MALFORMED_REQUEST, "d_model", "number"},
    {"a fraction", "d_model=2.5", PE_INVALID_PARAMETER, "d_model", "integer, got 2.5"},
    {"too small", "d_model=0", PE_INVALID_PARAMETER, "d_model", "between 1 and 65536, got 0"},
    {"too large", "d_model=65537", PE_INVALID_PARAMETER, "d_model", "got 65537"},
    {"far too large", "d_model=1e300", PE_INVALID_PARAMETER, "d_model", "got 1e300"},
    {"the bound excluded", "d_model=4&scale=0", PE_INVALID_PARAMETER, "scale",
     "above 0 and at most 8, got 0"},
    {"a wrong choice", "d_model=4&layout=zigzag", PE_INVALID_PARAMETER, "layout",
     "interleaved, sin_cos, cos_sin; got \"zigzag\""},
    {"an empty choice", "d_model=4&layout=", PE_MALFORMED_REQUEST, "layout", "empty"},
    {"a wrong truth", "d_model=4&causal=yes", PE_MALFORMED_REQUEST, "causal", "true or false"},
    {"truth as a number", "d_model=4&causal=1", PE_MALFORMED_REQUEST, "causal", "true or false"},
    {"a hole in a list", "d_model=4&short_factor=1,,2", PE_MALFORMED_REQUEST, "short_factor", ""},
    {"a list too long", "d_model=4&short_factor=1,2,3,4,5", PE_INVALID_PARAMETER, "short_factor",
     "at most 4 numbers, got 5"},
    {"an item out of range", "d_model=4&short_factor=1,0", PE_INVALID_PARAMETER, "short_factor",
     "each number of short_factor must be between 0.5 and 100, got 0"},
    {"an unknown name in a list", "d_model=4&orders=sin_cos,cos_sim", PE_INVALID_PARAMETER,
     "orders",
     "each of orders must be one of interleaved, sin_cos, cos_sin; got \"cos_sim\", did you mean "
     "cos_sin?"},
    {"a name twice in a list", "d_model=4&orders=sin_cos,cos_sin,sin_cos", PE_INVALID_PARAMETER,
     "orders", "orders names sin_cos more than once"},
    {"a hole in a list of names", "d_model=4&orders=sin_cos,", PE_MALFORMED_REQUEST, "orders",
     "empty name"},
    {"no names", "d_model=4&orders=", PE_MALFORMED_REQUEST, "orders", "empty name"},
    {"positions that are none", "d_model=4&positions=a", PE_MALFORMED_REQUEST, "positions", "a"},
    {"no positions", "d_model=4&positions=", PE_MALFORMED_REQUEST, "positions", "empty"},
    {"an empty range", "d_model=4&positions=5:5", PE_INVALID_PARAMETER, "positions", ""},
    {"too many positions", "d_model=4&positions=0:1001", PE_TOO_MANY_ELEMENTS, "positions", ""},
    {"fractional heads", "d_model=4&heads=1.5", PE_INVALID_PARAMETER, "heads", "integers"},
    {"an unknown format", "d_model=4&format=xml", PE_INVALID_PARAMETER, "format", "json, npy"},
    {"a figure that is too small", "d_model=4&width=319", PE_INVALID_PARAMETER, "width",
     "between 320 and 8192, got 319"},
    {"half a pixel", "d_model=4&figure_height=240.5", PE_INVALID_PARAMETER, "height", "integer"},
    {"one size by two names", "d_model=4&width=640&figure_width=640", PE_MALFORMED_REQUEST,
     "figure_width", "more than once"},
    {"an unknown view", "d_model=4&view=pie", PE_INVALID_PARAMETER, "view", "heatmap"},
    {"an unknown theme", "d_model=4&theme=blue", PE_INVALID_PARAMETER, "theme", "light"},
    {"an empty format", "d_model=4&format=", PE_MALFORMED_REQUEST, "format", "empty"},
    {"a wrong encoding format", "d_model=4&encoding_format=hex", PE_INVALID_PARAMETER,
     "encoding_format", "float, base64"},
    {"a tensor name too long", "d_model=4&tensor=abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvw",
     PE_INVALID_PARAMETER, "tensor", "no tensor"},
    {"a percent sign alone", "d_model=4%", PE_MALFORMED_REQUEST, "", "hexadecimal"},
    {"a percent sign with one digit", "d_model=4%3", PE_MALFORMED_REQUEST, "", "hexadecimal"},
    {"a percent sign with letters", "d_model=%zz", PE_MALFORMED_REQUEST, "", "hexadecimal"},
    {"an encoded NUL", "d_model=4%00", PE_MALFORMED_REQUEST, "", "UTF-8"},
    {"an encoded NUL in a name", "d_model%00=4", PE_MALFORMED_REQUEST, "", "UTF-8"},
    {"invalid UTF-8", "d_model=%ff", PE_MALFORMED_REQUEST, "", "UTF-8"},
    {"overlong UTF-8", "d_model=%c0%af", PE_MALFORMED_REQUEST, "", "UTF-8"},
    {"a surrogate", "d_model=%ed%a0%80", PE_MALFORMED_REQUEST, "", "UTF-8"},
    {"a name in good UTF-8", "%c3%a9=1", PE_UNKNOWN_PARAMETER, "\xc3\xa9", "\xc3\xa9"},
};

static void what_cannot_be_is_refused_and_says_why(void **state)
{
    (void)state;
    for (size_t i = 0; i < PE_LEN(refusals); i++) {
        const struct refusal *r = &refusals[i];
        pe_query ask = {0};
        pe_problem why = {0};
        pe_status got =
            pe_query_string_parse(&fake_table, pe_slice_of(r->query), &fake_limits, &ask, &why);
        if (got != r->status || why.status != r->status || strcmp(why.where, r->where) != 0 ||
            strstr(why.detail, r->detail) == NULL)
            fail_msg("%s: %s\n got    %s at \"%s\": %s\n wanted %s at \"%s\": %s", r->name,
                     r->query, pe_status_code_text(got), why.where, why.detail,
                     pe_status_code_text(r->status), r->where, r->detail);
        assert_null(ask.values.value);
    }
}

static void tensors_do_not_come_in_a_query(void **state)
{
    (void)state;
    pe_query ask = {0};
    pe_problem why = {0};
    assert_int_equal(pe_query_string_parse(&fake_transform, (pe_slice){"vectors=1", 9},
                                           &fake_limits, &ask, &why),
                     PE_INVALID_PARAMETER);
    assert_int_equal(
        pe_query_string_parse(&fake_transform, (pe_slice){"", 0}, &fake_limits, &ask, &why),
        PE_MISSING_PARAMETER);
    assert_string_equal(why.where, "vectors");
}

static void assert_canonical(const char *query, const char *format, const char *wanted)
{
    pe_query ask = ask_of(query);
    pe_buffer out = {0};
    pe_query_canonical_string(&ask, pe_format_by_name(format), &out);
    if (strcmp(pe_buffer_text(&out), wanted) != 0)
        fail_msg("%s as %s\n got    %s\n wanted %s", query, format, pe_buffer_text(&out), wanted);
    pe_buffer_free(&out);
    pe_query_free(&ask);
}

static void the_canonical_query_is_one_sorted_list(void **state)
{
    (void)state;
    assert_canonical("d_model=4", "json",
                     "base=10000&causal=true&d_model=4&dtype=float32&layout=interleaved&"
                     "positions=0:128&scale=1");
    assert_canonical("d_model=4.0&base=1e4&encoding_format=base64&mask_value=-0", "json",
                     "base=10000&causal=true&d_model=4&dtype=float32&encoding_format=base64&"
                     "layout=interleaved&mask_value=0&positions=0:128&scale=1");
    assert_canonical("tensor=sin&d_model=4&format=npy&encoding_format=base64", "npy",
                     "base=10000&causal=true&d_model=4&dtype=float32&format=npy&"
                     "layout=interleaved&positions=0:128&scale=1&tensor=sin");
    assert_canonical("tensor=sin&d_model=4&positions=1,2,3", "safetensors",
                     "base=10000&causal=true&d_model=4&dtype=float32&format=safetensors&"
                     "layout=interleaved&positions=1:4&scale=1");
}

static void a_canonical_query_reads_back_to_itself(void **state)
{
    (void)state;
    const char *text = "base=12345.678&causal=false&d_model=7&dtype=float16&format=raw&heads=0:3&"
                       "layout=sin_cos&positions=9:0:-3&scale=0.001&short_factor=1,2.5&tensor=cos";
    assert_canonical(text, "raw",
                     "base=12345.678&causal=false&d_model=7&dtype=float16&format=raw&"
                     "heads=0:3&layout=sin_cos&positions=9:2:-3&scale=0.001&"
                     "short_factor=1,2.5&tensor=cos");
}

/* Any bytes: an answer or a problem, never a crash; what is accepted has a canonical form. */
static void random_queries_are_survived(void **state)
{
    (void)state;
    static const char alphabet[] = "d_model=4&base1e+%2C,:.-xpositions\0\xff\xc3\xa9";
    random_source random = random_make("queries");
    for (int round = 0; round < 20000; round++) {
        char *query = malloc(24); /* exact size, so that sanitizers see an overrun */
        size_t bytes = random_below(&random, 25);
        for (size_t i = 0; i < bytes; i++)
            query[i] = alphabet[random_below(&random, sizeof alphabet - 1)];
        char *exact = realloc(query, bytes == 0 ? 1 : bytes);
        pe_query ask = {0};
        pe_problem why = {0};
        pe_status status =
            pe_query_string_parse(&fake_table, (pe_slice){exact, bytes}, &fake_limits, &ask, &why);
        assert_int_equal(status, why.status);
        pe_query_free(&ask);
        free(exact);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(absent_rows_take_their_defaults),
        cmocka_unit_test(every_kind_is_read),
        cmocka_unit_test(percent_encoding_is_undone_and_empty_pairs_are_skipped),
        cmocka_unit_test(what_cannot_be_is_refused_and_says_why),
        cmocka_unit_test(tensors_do_not_come_in_a_query),
        cmocka_unit_test(the_canonical_query_is_one_sorted_list),
        cmocka_unit_test(a_canonical_query_reads_back_to_itself),
        cmocka_unit_test(random_queries_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
