/* SPDX-License-Identifier: MIT */
/* test_query_json.c - requests read from JSON bodies. */
#include "support/check.h"

#include <stdlib.h>
#include <string.h>

#include "support/fake.h"
#include "support/random.h"

static pe_query ask_of(const pe_resource *resource, const char *body)
{
    pe_query ask = {0};
    pe_problem why = {0};
    if (pe_query_json_parse(resource, pe_slice_of(body), &fake_limits, &ask, &why) != PE_OK)
        fail_msg("%s: refused: %s", body, why.detail);
    return ask;
}

static double element(const pe_array *array, size_t e)
{
    return pe_dtype_load(array->dtype,
                         (const char *)array->data + e * pe_dtype_bytes(array->dtype));
}

/* The body means what the query means. */
static void assert_same(const char *body, const char *query)
{
    pe_query a = ask_of(&fake_table, body), b = {0};
    pe_problem why = {0};
    pe_buffer x = {0}, y = {0};
    assert_int_equal(pe_query_string_parse(&fake_table, pe_slice_of(query), &fake_limits, &b, &why),
                     PE_OK);
    pe_query_canonical_string(&a, a.format != NULL ? a.format : pe_formats[0], &x);
    pe_query_canonical_string(&b, b.format != NULL ? b.format : pe_formats[0], &y);
    if (strcmp(pe_buffer_text(&x), pe_buffer_text(&y)) != 0)
        fail_msg("%s\n got    %s\n wanted %s", body, pe_buffer_text(&x), pe_buffer_text(&y));
    assert_true(a.from_json);
    assert_false(b.from_json);
    pe_buffer_free(&x);
    pe_buffer_free(&y);
    pe_query_free(&a);
    pe_query_free(&b);
}

static void a_body_means_what_its_query_means(void **state)
{
    (void)state;
    assert_same("{\"d_model\":64}", "d_model=64");
    assert_same(" {\t\"d_model\" :\r\n 6.4e1 } \n", "d_model=64");
    assert_same("{\"d_model\":4,\"short_factor\":[1,1.5,2]}", "d_model=4&short_factor=1,1.5,2");
    assert_same("{\"d_model\":4,\"short_factor\":\"1,1.5,2\"}", "d_model=4&short_factor=1,1.5,2");
    assert_same("{\"d_model\":4,\"positions\":[1,2,3]}", "d_model=4&positions=1:4");
    assert_same("{\"d_model\":4,\"orders\":[\"cos_sin\", \"sin_cos\"]}",
                "d_model=4&orders=cos_sin,sin_cos");
    assert_same("{\"d_model\":4,\"orders\":\"cos_sin,sin_cos\"}",
                "d_model=4&orders=cos_sin,sin_cos");
    assert_same("{\"d_model\":4,\"positions\":\"1:4\"}", "d_model=4&positions=1:4");
    assert_same("{\"d_model\":4,\"positions\":7}", "d_model=4&positions=7");
    assert_same("{\"d_model\":4,\"positions\":[0.5,7]}", "d_model=4&positions=0.5,7");
    assert_same("{\"d_model\":4,\"causal\":false,\"layout\":\"sin_cos\",\"dtype\":\"float64\"}",
                "d_model=4&causal=false&layout=sin_cos&dtype=float64");
    assert_same("{\"d_model\":4,\"format\":\"npy\",\"tensor\":\"sin\"}",
                "d_model=4&format=npy&tensor=sin");
    assert_same("{\"d_model\":4,\"encoding_format\":\"base64\"}",
                "d_model=4&encoding_format=base64");
    assert_same("{\"d_\\u006dodel\":4,\"l\\u0061yout\":\"sin\\u005fcos\"}",
                "d_model=4&layout=sin_cos");
}

static void tensors_are_rounded_to_the_dtype_wherever_it_stands(void **state)
{
    (void)state;
    pe_query ask = ask_of(&fake_transform, "{\"vectors\":[[0.1,0.2],[0.3,0.4]],\"weights\":[0.1],"
                                           "\"dtype\":\"float16\"}");
    const pe_array *vectors = &pe_values_find(&ask.values, "vectors")->tensor;
    const pe_array *weights = &pe_values_find(&ask.values, "weights")->tensor;
    assert_int_equal(vectors->dtype, PE_FLOAT16);
    assert_int_equal(vectors->shape.ndim, 2);
    assert_true(element(vectors, 0) == 0.0999755859375);
    assert_int_equal(weights->dtype, PE_FLOAT64);
    assert_true(element(weights, 0) == 0.1);
    pe_query_free(&ask);

    ask = ask_of(&fake_transform, "{\"vectors\":[[0.1,0.2]]}");
    vectors = &pe_values_find(&ask.values, "vectors")->tensor;
    assert_int_equal(vectors->dtype, PE_FLOAT32);
    assert_true(element(vectors, 0) == (double)0.1f);
    pe_query_free(&ask);
}

static void a_tensor_without_axes_may_be_a_number(void **state)
{
    (void)state;
    pe_query ask = ask_of(&fake_transform, "{\"delta\":-5,\"vectors\":[[1]]}");
    const pe_array *delta = &pe_values_find(&ask.values, "delta")->tensor;
    assert_int_equal(delta->shape.ndim, 0);
    assert_int_equal(delta->elements, 1);
    assert_true(element(delta, 0) == -5);
    pe_query_free(&ask);
    ask = ask_of(&fake_transform, "{\"delta\":[1,2],\"vectors\":[[1]]}");
    assert_int_equal(pe_values_find(&ask.values, "delta")->tensor.elements, 2);
    pe_query_free(&ask);
}

static void positions_may_have_a_batch_axis_where_the_row_says_so(void **state)
{
    (void)state;
    pe_query ask = ask_of(&fake_transform, "{\"positions\":[[0,1],[5,6]],\"vectors\":[[1]]}");
    const pe_positions *positions = &pe_values_find(&ask.values, "positions")->positions;
    assert_int_equal(positions->shape.ndim, 2);
    assert_true(pe_positions_at(positions, 2) == 5);
    pe_query_free(&ask);
}

static void a_nested_object_gives_parameters_and_its_name_to_problems(void **state)
{
    (void)state;
    pe_query ask =
        ask_of(&fake_transform, "{\"rope_parameters\":{\"factor\":8},\"vectors\":[[1]]}");
    pe_problem why = {0};
    assert_true(pe_values_real(&ask.values, "factor") == 8);
    assert_string_equal(pe_values_find(&ask.values, "factor")->parent, "rope_parameters");

    (void)pe_fail(&why, PE_INVALID_PARAMETER, "factor", "x");
    pe_query_locate(&ask, &why);
    assert_string_equal(why.where, "rope_parameters/factor");
    pe_query_locate(&ask, &why);
    assert_string_equal(why.where, "rope_parameters/factor");
    (void)pe_fail(&why, PE_INVALID_PARAMETER, "vectors/0/1", "x");
    pe_query_locate(&ask, &why);
    assert_string_equal(why.where, "vectors/0/1");
    pe_query_free(&ask);
}

static const struct refusal {
    const char *name, *body;
    pe_status status;
    const char *where, *detail; /* a part of it */
} refusals[] = {
    {"nothing", "", PE_MALFORMED_REQUEST, "", "empty"},
    {"white space", " \n", PE_MALFORMED_REQUEST, "", "empty"},
    {"a number among names", "{\"vectors\":[[1]],\"orders\":[\"sin_cos\",1]}", PE_INVALID_PARAMETER,
     "orders", "item 1 of orders must be a string"},
    {"no names", "{\"vectors\":[[1]],\"orders\":[]}", PE_INVALID_PARAMETER, "orders",
     "must not be empty"},
    {"a number for names", "{\"vectors\":[[1]],\"orders\":1}", PE_INVALID_PARAMETER, "orders",
     "an array of strings"},
    {"two names in one string", "{\"vectors\":[[1]],\"orders\":[\"sin_cos,cos_sin\"]}",
     PE_INVALID_PARAMETER, "orders", "got \"sin_cos,cos_sin\""},
    {"names that end in mid-air", "{\"vectors\":[[1]],\"orders\":[\"sin_cos\",]}",
     PE_MALFORMED_REQUEST, "orders", ""},
    {"an array", "[1]", PE_MALFORMED_REQUEST, "", "not a JSON object"},
    {"a number", "12", PE_MALFORMED_REQUEST, "", "not a JSON object"},
    {"null", "null", PE_MALFORMED_REQUEST, "", "not a JSON object"},
    {"a byte order mark", "\xef\xbb\xbf{}", PE_MALFORMED_REQUEST, "", "not a JSON object"},
    {"an empty object", "{}", PE_MISSING_PARAMETER, "vectors", "vectors"},
    {"an unclosed object", "{\"factor\":1", PE_MALFORMED_REQUEST, "", ""},
    {"a trailing comma", "{\"factor\":1,}", PE_MALFORMED_REQUEST, "", "member name"},
    {"a leading comma", "{,\"factor\":1}", PE_MALFORMED_REQUEST, "", "member name"},
    {"no colon", "{\"factor\" 1}", PE_MALFORMED_REQUEST, "", "colon"},
    {"no value", "{\"factor\":}", PE_MALFORMED_REQUEST, "", "value is missing"},
    {"no comma", "{\"factor\":1 \"dtype\":\"float32\"}", PE_MALFORMED_REQUEST, "", "comma"},
    {"an unquoted name", "{factor:1}", PE_MALFORMED_REQUEST, "", "member name"},
    {"something after it", "{\"vectors\":[[1]]} x", PE_MALFORMED_REQUEST, "", "follows"},
    {"two objects", "{\"vectors\":[[1]]}{}", PE_MALFORMED_REQUEST, "", "follows"},
    {"a repeated name", "{\"factor\":1,\"factor\":1}", PE_MALFORMED_REQUEST, "factor", "once"},
    {"a name repeated with an escape", "{\"factor\":1,\"f\\u0061ctor\":1}", PE_MALFORMED_REQUEST,
     "factor", "once"},
    {"a repeated format", "{\"format\":\"npy\",\"format\":\"npy\"}", PE_MALFORMED_REQUEST, "format",
     "once"},
    {"a name at two levels", "{\"factor\":1,\"rope_parameters\":{\"factor\":1}}",
     PE_MALFORMED_REQUEST, "rope_parameters/factor", "once"},
    {"a repeated name inside", "{\"rope_parameters\":{\"factor\":1,\"factor\":1}}",
     PE_MALFORMED_REQUEST, "rope_parameters/factor", "once"},
    {"an unknown name", "{\"factr\":1}", PE_UNKNOWN_PARAMETER, "factr", "did you mean factor?"},
    {"an unknown name inside", "{\"rope_parameters\":{\"fector\":1}}", PE_UNKNOWN_PARAMETER,
     "rope_parameters/fector", "did you mean factor?"},
    {"a tensor inside", "{\"rope_parameters\":{\"vectors\":[[1]]}}", PE_UNKNOWN_PARAMETER,
     "rope_parameters/vectors", "vectors"},
    {"a format inside", "{\"rope_parameters\":{\"format\":\"npy\"}}", PE_UNKNOWN_PARAMETER,
     "rope_parameters/format", "format"},
    {"a name with slash and tilde", "{\"a/b~c\":1}", PE_UNKNOWN_PARAMETER, "a~1b~0c", "a/b~c"},
    {"a misspelt nested object", "{\"rope_paramters\":{}}", PE_UNKNOWN_PARAMETER, "rope_paramters",
     "rope_parameters?"},
    {"a nested value of wrong type", "{\"rope_parameters\":3}", PE_INVALID_PARAMETER,
     "rope_parameters", "object"},
    {"a nested value out of range", "{\"rope_parameters\":{\"factor\":0},\"vectors\":[[1]]}",
     PE_INVALID_PARAMETER, "rope_parameters/factor", "between 1 and 1000, got 0"},
    {"null", "{\"factor\":null,\"vectors\":[[1]]}", PE_INVALID_PARAMETER, "factor", "leave it out"},
    {"a string for a number", "{\"factor\":\"1\",\"vectors\":[[1]]}", PE_INVALID_PARAMETER,
     "factor", "must be a number, got a string"},
    {"an array for a number", "{\"factor\":[1],\"vectors\":[[1]]}", PE_INVALID_PARAMETER, "factor",
     "got an array"},
    {"broken JSON of a wrong type", "{\"factor\":[1,],\"vectors\":[[1]]}", PE_MALFORMED_REQUEST,
     "factor", "not valid JSON"},
    {"a literal that is none", "{\"factor\":nul,\"vectors\":[[1]]}", PE_MALFORMED_REQUEST, "factor",
     "not valid JSON"},
    {"NaN", "{\"factor\":NaN,\"vectors\":[[1]]}", PE_MALFORMED_REQUEST, "factor", "JSON"},
    {"a number that overflows", "{\"factor\":1e999,\"vectors\":[[1]]}", PE_MALFORMED_REQUEST,
     "factor", "float64 can hold"},
    {"a number with a leading zero", "{\"factor\":01,\"vectors\":[[1]]}", PE_MALFORMED_REQUEST,
     "factor", "number"},
    {"a number for a choice", "{\"dtype\":1,\"vectors\":[[1]]}", PE_INVALID_PARAMETER, "dtype",
     "must be a string"},
    {"a wrong choice", "{\"dtype\":\"int4\",\"vectors\":[[1]]}", PE_INVALID_PARAMETER, "dtype",
     "float32, float64"},
    {"a number for a format", "{\"format\":1,\"vectors\":[[1]]}", PE_INVALID_PARAMETER, "format",
     "string"},
    {"a broken string", "{\"dtype\":\"\\x\",\"vectors\":[[1]]}", PE_MALFORMED_REQUEST, "dtype", ""},
    {"a NUL in a string", "{\"dtype\":\"\\u0000\",\"vectors\":[[1]]}", PE_MALFORMED_REQUEST,
     "dtype", ""},
    {"invalid UTF-8 in a string", "{\"dtype\":\"\xff\",\"vectors\":[[1]]}", PE_MALFORMED_REQUEST,
     "dtype", ""},
    {"invalid UTF-8 in a name", "{\"\xff\":1}", PE_MALFORMED_REQUEST, "", "UTF-8"},
    {"half a surrogate pair", "{\"dtype\":\"\\ud800\",\"vectors\":[[1]]}", PE_MALFORMED_REQUEST,
     "dtype", "UTF-8"},
    {"a pair the wrong way round", "{\"dtype\":\"\\udc00\\ud800\",\"vectors\":[[1]]}",
     PE_MALFORMED_REQUEST, "dtype", "UTF-8"},
    {"an escape cut short", "{\"dtype\":\"\\u00\",\"vectors\":[[1]]}", PE_MALFORMED_REQUEST,
     "dtype", "UTF-8"},
    {"an unknown name in other letters", "{\"\\u00e9\\ud83d\\ude00\\n\\/\":1}",
     PE_UNKNOWN_PARAMETER, "\xc3\xa9\xf0\x9f\x98\x80\n~1", "\xc3\xa9\xf0\x9f\x98\x80\n/"},
    {"a line end in a string", "{\"dtype\":\"\n\",\"vectors\":[[1]]}", PE_MALFORMED_REQUEST,
     "dtype", ""},
    {"ragged rows", "{\"vectors\":[[1,2],[3]]}", PE_INVALID_PARAMETER, "vectors/1", ""},
    {"a string among numbers", "{\"vectors\":[[1,\"2\"]]}", PE_INVALID_PARAMETER, "vectors/0/1",
     ""},
    {"brackets that do not match", "{\"vectors\":[[1}]}", PE_MALFORMED_REQUEST, "vectors/0/0", ""},
    {"a number that overflows the dtype", "{\"vectors\":[[1e39]]}", PE_INVALID_PARAMETER,
     "vectors/0/0", "float32"},
    {"too few axes", "{\"vectors\":[1,2]}", PE_INVALID_PARAMETER, "vectors", "2 to 4 axes, got 1"},
    {"too many axes", "{\"vectors\":[[[[[1]]]]]}", PE_INVALID_PARAMETER, "vectors", "got 5"},
    {"a number for a tensor", "{\"vectors\":1}", PE_INVALID_PARAMETER, "vectors", "array"},
    {"a string for a tensor", "{\"vectors\":\"1,2\"}", PE_INVALID_PARAMETER, "vectors", "array"},
    {"a fraction among integers", "{\"vectors\":[[1]],\"delta\":[1,2.5]}", PE_INVALID_PARAMETER,
     "delta", "integers"},
    {"an empty tensor", "{\"vectors\":[]}", PE_INVALID_PARAMETER, "vectors", "empty"},
    {"positions as an object", "{\"vectors\":[[1]],\"positions\":{}}", PE_INVALID_PARAMETER,
     "positions", "array"},
    {"positions with three axes", "{\"vectors\":[[1]],\"positions\":[[[1]]]}", PE_INVALID_PARAMETER,
     "positions", "one axis or two, got 3"},
    {"no positions", "{\"vectors\":[[1]],\"positions\":[]}", PE_INVALID_PARAMETER, "positions", ""},
    {"too deep", "{\"vectors\":[[[[[[[[[[1]]]]]]]]]]}", PE_MALFORMED_REQUEST, "", "10 levels"},
    {"far too deep, unclosed", "{\"x\":[{\"x\":[{\"x\":[{\"x\":[{\"x\":[{\"x\":1",
     PE_MALFORMED_REQUEST, "", "10 levels"},
};

static void what_cannot_be_is_refused_and_says_where(void **state)
{
    (void)state;
    for (size_t i = 0; i < PE_LEN(refusals); i++) {
        const struct refusal *r = &refusals[i];
        pe_query ask = {0};
        pe_problem why = {0};
        pe_status got =
            pe_query_json_parse(&fake_transform, pe_slice_of(r->body), &fake_limits, &ask, &why);
        if (got != r->status || why.status != r->status || strcmp(why.where, r->where) != 0 ||
            strstr(why.detail, r->detail) == NULL)
            fail_msg("%s: %s\n got    %s at \"%s\": %s\n wanted %s at \"%s\": %s", r->name, r->body,
                     pe_status_code_text(got), why.where, why.detail,
                     pe_status_code_text(r->status), r->where, r->detail);
        assert_null(ask.values.value);
    }
}

static void a_table_knows_no_batches_and_no_tensors(void **state)
{
    (void)state;
    static const char batch[] = "{\"d_model\":4,\"positions\":[[1],[2]]}";
    static const char tensor[] = "{\"d_model\":4,\"vectors\":[[1],[2]]}";
    pe_query ask = {0};
    pe_problem why = {0};
    assert_int_equal(pe_query_json_parse(&fake_table, (pe_slice){batch, sizeof batch - 1},
                                         &fake_limits, &ask, &why),
                     PE_INVALID_PARAMETER);
    assert_int_equal(pe_query_json_parse(&fake_table, (pe_slice){tensor, sizeof tensor - 1},
                                         &fake_limits, &ask, &why),
                     PE_UNKNOWN_PARAMETER);
}

static void elements_are_counted_against_the_limits(void **state)
{
    (void)state;
    static const char tensor[] = "{\"vectors\":[[1,2,3,4,5]]}";
    static const char positions[] = "{\"vectors\":[[1]],\"positions\":[1,2,3,4,9]}";
    const pe_read_limits limits = {.max_elements = 4, .max_positions = 4, .max_depth = 8};
    pe_query ask = {0};
    pe_problem why = {0};
    assert_int_equal(pe_query_json_parse(&fake_transform, (pe_slice){tensor, sizeof tensor - 1},
                                         &limits, &ask, &why),
                     PE_TOO_MANY_ELEMENTS);
    assert_int_equal(pe_query_json_parse(&fake_transform,
                                         (pe_slice){positions, sizeof positions - 1}, &limits, &ask,
                                         &why),
                     PE_TOO_MANY_ELEMENTS);
}

static const char whole[] =
    "{\"vectors\": [[1.5, -2e-3], [3, 4]], \"dtype\" : \"float16\", \"delta\":-5,"
    "\"rope_parameters\": {\"factor\": 8.25}, \"positions\": [[0, 1], [5, 6]],"
    "\"weights\":[1,2,3], \"format\":\"json\"}";

static pe_status read_exactly(const char *text, size_t bytes)
{
    char *exact = malloc(bytes == 0 ? 1 : bytes); /* so that sanitizers see an overrun */
    pe_query ask = {0};
    pe_problem why = {0};
    memcpy(exact, text, bytes);
    pe_status status =
        pe_query_json_parse(&fake_transform, (pe_slice){exact, bytes}, &fake_limits, &ask, &why);
    assert_int_equal(status, why.status);
    pe_query_free(&ask);
    free(exact);
    return status;
}

/* What a member may have meant is looked up as often as there is room to tell it: a body may have
 * millions. The first is refused alone, and repeated names take no room. */
static void few_mistakes_are_looked_at(void **state)
{
    (void)state;
    enum { REPEATED = PE_MISTAKES_MAX };
    pe_buffer body = {0}, query = {0};
    pe_query ask = {0};
    pe_problem why = {0};
    for (size_t i = 0; i < REPEATED; i++) {
        pe_buffer_str(&body, i == 0 ? "{\"a\":1" : ",\"a\":1");
        pe_buffer_str(&query, i == 0 ? "a=1" : "&a=1");
    }
    pe_buffer_str(&body, ",\"told\":1,\"untold\":1,\"d_model\":4}");
    pe_buffer_str(&query, "&told=1&untold=1&d_model=4");
    assert_int_equal(
        pe_query_json_parse(&fake_table, pe_buffer_slice(&body), &fake_limits, &ask, &why),
        PE_UNKNOWN_PARAMETER);
    assert_int_equal(why.n_others, 1);
    assert_string_equal(why.others[0].where, "told");
    why = (pe_problem){0};
    assert_int_equal(
        pe_query_string_parse(&fake_table, pe_buffer_slice(&query), &fake_limits, &ask, &why),
        PE_UNKNOWN_PARAMETER);
    assert_int_equal(why.n_others, 1);
    assert_string_equal(why.others[0].where, "told");
    pe_buffer_free(&body);
    pe_buffer_free(&query);
}

static void every_truncation_is_malformed(void **state)
{
    (void)state;
    assert_int_equal(read_exactly(whole, sizeof whole - 1), PE_OK);
    for (size_t bytes = 0; bytes < sizeof whole - 1; bytes++)
        if (read_exactly(whole, bytes) != PE_MALFORMED_REQUEST)
            fail_msg("cut after %zu bytes: not refused as malformed", bytes);
}

static void mutated_bodies_are_survived(void **state)
{
    (void)state;
    static const char alphabet[] = "\"[]{}:,0123456789eE+-.\\ntf \xff";
    random_source random = random_make("bodies");
    for (int round = 0; round < 30000; round++) {
        char body[sizeof whole];
        memcpy(body, whole, sizeof whole);
        for (size_t edits = 1 + random_below(&random, 4); edits > 0; edits--)
            body[random_below(&random, sizeof whole - 1)] =
                alphabet[random_below(&random, sizeof alphabet)];
        (void)read_exactly(body, sizeof whole - 1);
    }
}

/* Longer than the blocks that are skipped whole, with strings and brackets near their edges. */
static void long_values_are_delimited_at_every_offset(void **state)
{
    (void)state;
    for (size_t spaces = 0; spaces < 200; spaces++) {
        pe_buffer body = {0};
        pe_buffer_format(&body, "{\"vectors\":[[1,%*s2],[3,%*s4%*s]],\"dtype\":\"float64\"}",
                         (int)spaces, "", (int)(spaces * 7 % 190), "", (int)(spaces * 3 % 150), "");
        pe_query ask = ask_of(&fake_transform, pe_buffer_text(&body));
        const pe_array *vectors = &pe_values_find(&ask.values, "vectors")->tensor;
        assert_int_equal(vectors->elements, 4);
        assert_true(element(vectors, 3) == 4);
        pe_query_free(&ask);
        pe_buffer_free(&body);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_body_means_what_its_query_means),
        cmocka_unit_test(tensors_are_rounded_to_the_dtype_wherever_it_stands),
        cmocka_unit_test(a_tensor_without_axes_may_be_a_number),
        cmocka_unit_test(positions_may_have_a_batch_axis_where_the_row_says_so),
        cmocka_unit_test(a_nested_object_gives_parameters_and_its_name_to_problems),
        cmocka_unit_test(what_cannot_be_is_refused_and_says_where),
        cmocka_unit_test(a_table_knows_no_batches_and_no_tensors),
        cmocka_unit_test(elements_are_counted_against_the_limits),
        cmocka_unit_test(few_mistakes_are_looked_at),
        cmocka_unit_test(every_truncation_is_malformed),
        cmocka_unit_test(mutated_bodies_are_survived),
        cmocka_unit_test(long_values_are_delimited_at_every_offset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
