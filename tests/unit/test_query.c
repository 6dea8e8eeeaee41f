/* SPDX-License-Identifier: MIT */
/* test_query.c - requests read from query strings, and what is refused of them and of bodies. */
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "support/fake.h"
#include "support/random.h"

static pe_query ask_of(const char *query)
{
    pe_query ask = {0};
    pe_problem why = {0};
    if (pe_query_parse(&fake_table, pe_slice_of(query), false, &fake_limits, &ask, &why) != PE_OK)
        fail_msg("%s: refused: %s", query, why.detail);
    return ask;
}

static void absent_rows_take_their_defaults(void **state)
{
    pe_query ask = ask_of("d_model=64");
    assert_int_equal(pe_values_int(&ask.values, "d_model"), 64);
    assert_true(pe_values_real(&ask.values, "base") == 10000);
    assert_true(pe_values_bool(&ask.values, "causal"));
    assert_int_equal(pe_values_find(&ask.values, "positions")->positions.count, 128);
    assert_true(pe_values_given(&ask.values, "d_model"));
    assert_false(pe_values_given(&ask.values, "base"));
    assert_false(pe_values_present(&ask.values, "short_factor"));
    assert_null(ask.format);
    const pe_rendering usual = pe_query_rendering(&ask);
    assert_false(usual.base64);
    assert_null(usual.tensor);
    pe_query_free(&ask);
}

static void every_kind_is_read(void **state)
{
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
    assert_true(pe_query_rendering(&ask).base64);
    assert_string_equal(pe_query_rendering(&ask).tensor, "cos");
    pe_query_free(&ask);
}

static void percent_encoding_is_undone_and_empty_pairs_are_skipped(void **state)
{
    pe_query ask = ask_of("&d%5Fmodel=%36%34&&positions=1%2C5%2c9&");
    assert_int_equal(pe_values_int(&ask.values, "d_model"), 64);
    assert_int_equal(pe_values_find(&ask.values, "positions")->positions.count, 3);
    pe_query_free(&ask);
}

/* ---- cases/queries.json ---- */

static json_t *cases;

static const char *text_of(const json_t *its, const char *member)
{
    const char *text = json_string_value(json_object_get(its, member));
    return text != NULL ? text : "";
}

static pe_status parse_body(const pe_resource *resource, const char *body, pe_query *out,
                            pe_problem *why)
{
    return pe_query_parse(resource, pe_slice_of(body), true, &fake_limits, out, why);
}

static pe_status parse_query(const char *query, pe_query *out, pe_problem *why)
{
    return pe_query_parse(&fake_table, pe_slice_of(query), false, &fake_limits, out, why);
}

/* A query of the table, or a body of the transform. */
static void what_cannot_be_is_refused_and_says_where_and_why(void **state)
{
    json_t *its;
    size_t i;
    json_array_foreach(json_object_get(cases, "refused"), i, its)
    {
        const bool query = json_object_get(its, "query") != NULL;
        pe_query ask = {0};
        pe_problem why = {0};
        const pe_status got = query ? parse_query(text_of(its, "query"), &ask, &why)
                                    : parse_body(&fake_transform, text_of(its, "body"), &ask, &why);
        if (got == PE_OK || got != why.status || strcmp(why.where, text_of(its, "where")) != 0 ||
            strcmp(pe_status_code_text(got), text_of(its, "status")) != 0 ||
            strstr(why.detail, text_of(its, "detail")) == NULL)
            fail_msg("%s: %s%s\n got    %s at \"%s\": %s\n wanted %s at \"%s\": %s",
                     text_of(its, "about"), text_of(its, "query"), text_of(its, "body"),
                     pe_status_code_text(got), why.where, why.detail, text_of(its, "status"),
                     text_of(its, "where"), text_of(its, "detail"));
        assert_null(ask.values.value);
    }
    assert_true(i > 100);
}

static void a_body_means_what_its_query_means(void **state)
{
    json_t *its;
    size_t i;
    json_array_foreach(json_object_get(cases, "alike"), i, its)
    {
        pe_query a = {0}, b = {0};
        pe_problem why = {0};
        pe_buffer x = {0}, y = {0};
        assert_int_equal(parse_body(&fake_table, text_of(its, "body"), &a, &why), PE_OK);
        assert_int_equal(parse_query(text_of(its, "query"), &b, &why), PE_OK);
        pe_query_canonical_string(&a, a.format != NULL ? a.format : pe_formats[0], &x);
        pe_query_canonical_string(&b, b.format != NULL ? b.format : pe_formats[0], &y);
        assert_string_equal(pe_buffer_text(&x), pe_buffer_text(&y));
        assert_true(a.from_json);
        assert_false(b.from_json);
        pe_buffer_free(&x);
        pe_buffer_free(&y);
        pe_query_free(&a);
        pe_query_free(&b);
    }
    assert_true(i > 10);
}

static int load(void **state)
{
    char path[512];
    const char *root = getenv("POSENC_ROOT");
    snprintf(path, sizeof path, "%s/tests/unit/cases/queries.json", root != NULL ? root : ".");
    cases = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
    return cases == NULL;
}

static int unload(void **state)
{
    json_decref(cases);
    return 0;
}

/* ---- other queries ---- */

static void tensors_do_not_come_in_a_query(void **state)
{
    pe_query ask = {0};
    pe_problem why = {0};
    assert_int_equal(pe_query_parse(&fake_transform, (pe_slice){"vectors=1", 9}, false,
                                    &fake_limits, &ask, &why),
                     PE_INVALID_PARAMETER);
    assert_int_equal(
        pe_query_parse(&fake_transform, (pe_slice){"", 0}, false, &fake_limits, &ask, &why),
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
            pe_query_parse(&fake_table, (pe_slice){exact, bytes}, false, &fake_limits, &ask, &why);
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
        cmocka_unit_test(what_cannot_be_is_refused_and_says_where_and_why),
        cmocka_unit_test(a_body_means_what_its_query_means),
        cmocka_unit_test(tensors_do_not_come_in_a_query),
        cmocka_unit_test(the_canonical_query_is_one_sorted_list),
        cmocka_unit_test(a_canonical_query_reads_back_to_itself),
        cmocka_unit_test(random_queries_are_survived),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
