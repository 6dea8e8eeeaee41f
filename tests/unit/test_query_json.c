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
    if (pe_query_parse(resource, pe_slice_of(body), true, &fake_limits, &ask, &why) != PE_OK)
        fail_msg("%s: refused: %s", body, why.detail);
    return ask;
}

static double element(const pe_array *array, size_t e)
{
    return pe_dtype_load(array->dtype,
                         (const char *)array->data + e * pe_dtype_bytes(array->dtype));
}

static void tensors_are_rounded_to_the_dtype_wherever_it_stands(void **state)
{
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
    pe_query ask = ask_of(&fake_transform, "{\"positions\":[[0,1],[5,6]],\"vectors\":[[1]]}");
    const pe_positions *positions = &pe_values_find(&ask.values, "positions")->positions;
    assert_int_equal(positions->shape.ndim, 2);
    assert_true(pe_positions_at(positions, 2) == 5);
    pe_query_free(&ask);
}

static void a_nested_object_gives_parameters_and_its_name_to_problems(void **state)
{
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

static void a_table_knows_no_batches_and_no_tensors(void **state)
{
    static const char batch[] = "{\"d_model\":4,\"positions\":[[1],[2]]}";
    static const char tensor[] = "{\"d_model\":4,\"vectors\":[[1],[2]]}";
    pe_query ask = {0};
    pe_problem why = {0};
    assert_int_equal(pe_query_parse(&fake_table, (pe_slice){batch, sizeof batch - 1}, true,
                                    &fake_limits, &ask, &why),
                     PE_INVALID_PARAMETER);
    assert_int_equal(pe_query_parse(&fake_table, (pe_slice){tensor, sizeof tensor - 1}, true,
                                    &fake_limits, &ask, &why),
                     PE_UNKNOWN_PARAMETER);
}

static void elements_are_counted_against_the_limits(void **state)
{
    static const char tensor[] = "{\"vectors\":[[1,2,3,4,5]]}";
    static const char positions[] = "{\"vectors\":[[1]],\"positions\":[1,2,3,4,9]}";
    const pe_read_limits limits = {.max_elements = 4, .max_positions = 4, .max_depth = 8};
    pe_query ask = {0};
    pe_problem why = {0};
    assert_int_equal(pe_query_parse(&fake_transform, (pe_slice){tensor, sizeof tensor - 1}, true,
                                    &limits, &ask, &why),
                     PE_TOO_MANY_ELEMENTS);
    assert_int_equal(pe_query_parse(&fake_transform, (pe_slice){positions, sizeof positions - 1},
                                    true, &limits, &ask, &why),
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
        pe_query_parse(&fake_transform, (pe_slice){exact, bytes}, true, &fake_limits, &ask, &why);
    assert_int_equal(status, why.status);
    pe_query_free(&ask);
    free(exact);
    return status;
}

/* What a member may have meant is looked up as often as there is room to tell it: a body may have
 * millions. The first is refused alone, and repeated names take no room. */
static void few_mistakes_are_looked_at(void **state)
{
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
        pe_query_parse(&fake_table, pe_buffer_slice(&body), true, &fake_limits, &ask, &why),
        PE_UNKNOWN_PARAMETER);
    assert_int_equal(why.n_others, 1);
    assert_string_equal(why.others[0].where, "told");
    why = (pe_problem){0};
    assert_int_equal(
        pe_query_parse(&fake_table, pe_buffer_slice(&query), false, &fake_limits, &ask, &why),
        PE_UNKNOWN_PARAMETER);
    assert_int_equal(why.n_others, 1);
    assert_string_equal(why.others[0].where, "told");
    pe_buffer_free(&body);
    pe_buffer_free(&query);
}

static void invalid_utf_8_is_malformed(void **state)
{
    static const char in_string[] = "{\"dtype\":\"\xff\",\"vectors\":[[1]]}",
                      in_name[] = "{\"\xff\":1}";
    assert_int_equal(read_exactly(in_string, sizeof in_string - 1), PE_MALFORMED_REQUEST);
    assert_int_equal(read_exactly(in_name, sizeof in_name - 1), PE_MALFORMED_REQUEST);
}

static void every_truncation_is_malformed(void **state)
{
    assert_int_equal(read_exactly(whole, sizeof whole - 1), PE_OK);
    for (size_t bytes = 0; bytes < sizeof whole - 1; bytes++)
        if (read_exactly(whole, bytes) != PE_MALFORMED_REQUEST)
            fail_msg("cut after %zu bytes: not refused as malformed", bytes);
}

static void mutated_bodies_are_survived(void **state)
{
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
        cmocka_unit_test(tensors_are_rounded_to_the_dtype_wherever_it_stands),
        cmocka_unit_test(a_tensor_without_axes_may_be_a_number),
        cmocka_unit_test(positions_may_have_a_batch_axis_where_the_row_says_so),
        cmocka_unit_test(a_nested_object_gives_parameters_and_its_name_to_problems),
        cmocka_unit_test(a_table_knows_no_batches_and_no_tensors),
        cmocka_unit_test(elements_are_counted_against_the_limits),
        cmocka_unit_test(few_mistakes_are_looked_at),
        cmocka_unit_test(invalid_utf_8_is_malformed),
        cmocka_unit_test(every_truncation_is_malformed),
        cmocka_unit_test(mutated_bodies_are_survived),
        cmocka_unit_test(long_values_are_delimited_at_every_offset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
