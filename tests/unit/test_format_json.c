/* SPDX-License-Identifier: MIT */
/* test_format_json.c - tensors as JSON. */
#include "support/check.h"

#include <math.h>
#include <string.h>

#include "support/fake.h"
#include "support/render.h"

static void assert_json(const pe_plan *plan, bool base64, const char *wanted)
{
    pe_buffer out = {0};
    const pe_rendering rendering = render_as("json", base64, NULL);
    const char *got = render_text(plan, &rendering, &out);
    if (strcmp(got, wanted) != 0)
        fail_msg("\n got    %s\n wanted %s", got, wanted);
    pe_buffer_free(&out);
}

/* Element e is e, and -inf where e is 5. */
static pe_status fill_counting(const pe_plan *plan, const pe_region *region, void *out,
                               pe_problem *why)
{
    const pe_tensor *tensor = &plan->tensors[region->tensor];
    const size_t first = region->first, units = region->units;
    char *to = out;
    for (size_t e = first * tensor->unit; e < (first + units) * tensor->unit; e++) {
        pe_dtype_store(tensor->dtype, e == 5 ? (double)-INFINITY : (double)e / 4, to);
        to += pe_dtype_bytes(tensor->dtype);
    }
    return PE_OK;
}

static void counting_plan(pe_plan *plan, size_t n, pe_dtype dtype, pe_shape shape)
{
    fake_plan(plan, n, dtype, &shape, 1);
    plan->fill = fill_counting;
}

static void one_tensor_is_spread_into_the_answer(void **state)
{
    pe_plan plan;
    counting_plan(&plan, 1, PE_FLOAT32, (pe_shape){2, {3, 2}});
    assert_json(&plan, false,
                "{\"encoding\":\"fake\",\"parameters\":{\"a\":1},\"dtype\":\"float32\","
                "\"shape\":[3,2],\"data\":[[0,0.25],[0.5,0.75],[1,null]]}\n");
    assert_json(&plan, true,
                "{\"encoding\":\"fake\",\"parameters\":{\"a\":1},\"dtype\":\"float32\","
                "\"shape\":[3,2],\"data\":\"AAAAAAAAgD4AAAA/AABAPwAAgD8AAID/\","
                "\"byte_order\":\"little\"}\n");
    pe_plan_free(&plan);
}

static void several_tensors_and_scalars_have_members_of_their_own(void **state)
{
    pe_plan plan;
    counting_plan(&plan, 2, PE_FLOAT64, (pe_shape){1, {2}});
    pe_plan_add_scalar(&plan, "attention_factor", 0.1);
    plan.scalars[plan.n_scalars++] = (pe_scalar){.name = "low", .null = true};
    plan.scalars[plan.n_scalars++] = (pe_scalar){.name = "band", .text = "a\"b"};
    assert_json(&plan, false,
                "{\"encoding\":\"fake\",\"parameters\":{\"a\":1},\"attention_factor\":0.1,"
                "\"low\":null,\"band\":\"a\\\"b\","
                "\"cos\":{\"dtype\":\"float64\",\"shape\":[2],\"data\":[0,0.25]},"
                "\"sin\":{\"dtype\":\"float64\",\"shape\":[2],\"data\":[0,0.25]}}\n");
    assert_json(
        &plan, true,
        "{\"encoding\":\"fake\",\"parameters\":{\"a\":1},\"attention_factor\":0.1,"
        "\"low\":null,\"band\":\"a\\\"b\","
        "\"cos\":{\"dtype\":\"float64\",\"shape\":[2],\"data\":\"AAAAAAAAAAAAAAAAAADQPw==\","
        "\"byte_order\":\"little\"},"
        "\"sin\":{\"dtype\":\"float64\",\"shape\":[2],\"data\":\"AAAAAAAAAAAAAAAAAADQPw==\","
        "\"byte_order\":\"little\"}}\n");
    pe_plan_free(&plan);
}

static void one_tensor_with_a_scalar_has_a_member_of_its_own(void **state)
{
    pe_plan plan;
    counting_plan(&plan, 1, PE_FLOAT32, (pe_shape){1, {1}});
    pe_plan_add_scalar(&plan, "x", 2);
    assert_json(&plan, false,
                "{\"encoding\":\"fake\",\"parameters\":{\"a\":1},\"x\":2,"
                "\"data\":{\"dtype\":\"float32\",\"shape\":[1],\"data\":[0]}}\n");
    pe_plan_free(&plan);
}

static void warnings_stand_at_the_end(void **state)
{
    pe_plan plan;
    counting_plan(&plan, 1, PE_INT32, (pe_shape){1, {1}});
    pe_plan_warn(&plan, "first %d", 1);
    pe_plan_warn(&plan, "second");
    assert_json(&plan, false,
                "{\"encoding\":\"fake\",\"parameters\":{\"a\":1},\"dtype\":\"int32\",\"shape\":[1],"
                "\"data\":[0],\"warnings\":[\"first 1\",\"second\"]}\n");
    pe_plan_free(&plan);
}

static void any_number_of_axes_is_nested(void **state)
{
    static const struct {
        pe_shape shape;
        const char *data;
    } rows[] = {
        {{0, {0}}, "0"},
        {{1, {1}}, "[0]"},
        {{1, {3}}, "[0,0.25,0.5]"},
        {{2, {1, 1}}, "[[0]]"},
        {{2, {3, 1}}, "[[0],[0.25],[0.5]]"},
        {{2, {1, 3}}, "[[0,0.25,0.5]]"},
        {{3, {2, 1, 2}}, "[[[0,0.25]],[[0.5,0.75]]]"},
        {{3, {1, 2, 2}}, "[[[0,0.25],[0.5,0.75]]]"},
        {{4, {2, 1, 1, 1}}, "[[[[0]]],[[[0.25]]]]"},
    };
    for (size_t i = 0; i < PE_LEN(rows); i++) {
        pe_plan plan;
        pe_buffer out = {0};
        const pe_rendering rendering = render_as("json", false, NULL);
        counting_plan(&plan, 1, PE_FLOAT32, rows[i].shape);
        const char *data = strstr(render_text(&plan, &rendering, &out), "\"data\":");
        assert_non_null(data);
        if (strncmp(data + 7, rows[i].data, strlen(rows[i].data)) != 0 ||
            strcmp(data + 7 + strlen(rows[i].data), "}\n") != 0)
            fail_msg("\n got    %s\n wanted %s", data + 7, rows[i].data);
        pe_buffer_free(&out);
        pe_plan_free(&plan);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_tensor_is_spread_into_the_answer),
        cmocka_unit_test(several_tensors_and_scalars_have_members_of_their_own),
        cmocka_unit_test(one_tensor_with_a_scalar_has_a_member_of_its_own),
        cmocka_unit_test(warnings_stand_at_the_end),
        cmocka_unit_test(any_number_of_axes_is_nested),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
