/* SPDX-License-Identifier: MIT */
/* test_params.c - defaults, the canonical form and plans' element counts. */
#include "support/check.h"

#include <string.h>

#include "plan/common_params.h"
#include "plan/plan.h"
#include "plan/price.h"

static const char *const layouts[] = {"interleaved", "sin_cos", NULL};
static const pe_param rows[] = {
    {.name = "d_model",
     .kind = PE_KIND_INT,
     .required = true,
     .min = 1,
     .max = 64,
     .help = "width"},
    {.name = "base", .kind = PE_KIND_REAL, .fallback = 10000, .min = 1, .max = 1e12},
    {.name = "layout", .kind = PE_KIND_CHOICE, .choices = layouts},
    {.name = "flag", .kind = PE_KIND_BOOL, .fallback = 1},
    {.name = "short_factor", .kind = PE_KIND_REAL_LIST, .optional = true},
    {.name = "rotary_dim", .kind = PE_KIND_INT, .optional = true},
    {.name = "orders", .kind = PE_KIND_CHOICES, .choices = layouts, .optional = true},
};
static const pe_param_set *const sets[] = {PE_PARAMS(rows), &pe_params_positions, NULL};

static void defaults_fill_what_is_absent_and_name_what_is_missing(void **state)
{
    pe_values values;
    pe_problem why;
    assert_int_equal(pe_values_make(sets, &values, &why), PE_OK);
    assert_int_equal(pe_values_defaults(&values, &why), PE_MISSING_PARAMETER);
    assert_string_equal(why.where, "d_model");
    pe_values_set_int(&values, "d_model", 4);
    assert_int_equal(pe_values_defaults(&values, &why), PE_OK);
    assert_true(pe_values_real(&values, "base") == 10000);
    assert_true(pe_values_bool(&values, "flag"));
    assert_int_equal(pe_values_choice(&values, "layout"), 0);
    assert_int_equal(pe_values_find(&values, "positions")->positions.count, 128);
    assert_false(pe_values_present(&values, "rotary_dim"));
    assert_false(pe_values_given(&values, "base"));
    assert_null(pe_values_find(&values, "d_modle"));
    pe_values_free(&values);
}

static void the_canonical_form_is_sorted_with_shortest_numbers(void **state)
{
    static double list[] = {1, 1.5, -0.0};
    pe_values values;
    pe_problem why;
    pe_buffer query = {0}, json = {0};
    assert_int_equal(pe_values_make(sets, &values, &why), PE_OK);
    pe_values_set_int(&values, "d_model", 4);
    assert_int_equal(pe_values_defaults(&values, &why), PE_OK);
    pe_values_set_real(&values, "base", 1e12);
    pe_value *short_factor = pe_values_find(&values, "short_factor");
    short_factor->list = list;
    short_factor->list_length = PE_LEN(list);
    short_factor->present = true;
    pe_value *orders = pe_values_find(&values, "orders");
    orders->picks[0] = 1;
    orders->picks[1] = 0;
    orders->n_picks = 2;
    orders->present = true;
    pe_values_query(&values, &query);
    pe_values_json(&values, &json);
    assert_string_equal(pe_buffer_text(&query),
                        "base=1000000000000&d_model=4&flag=true&layout=interleaved"
                        "&orders=sin_cos,interleaved&positions=0:128&short_factor=1,1.5,0");
    assert_string_equal(pe_buffer_text(&json),
                        "{\"base\":1000000000000,\"d_model\":4,\"flag\":true,"
                        "\"layout\":\"interleaved\",\"orders\":[\"sin_cos\",\"interleaved\"],"
                        "\"positions\":\"0:128\","
                        "\"short_factor\":[1,1.5,0]}");
    short_factor->list = NULL;
    pe_buffer_free(&query);
    pe_buffer_free(&json);
    pe_values_free(&values);
}

/* 300 channels at 256; none but those of a tensor, whose longest axis is 200; and no such row. */
static void what_planning_costs_goes_by_the_rows(void **state)
{
    static const pe_param wide[] = {
        {.name = "head_dim", .kind = PE_KIND_INT, .optional = true, .plan_work = 256},
        {.name = "tokens", .kind = PE_KIND_INT, .optional = true},
        {.name = "x", .kind = PE_KIND_TENSOR, .optional = true},
    };
    static const pe_param_set of_wide = {wide, PE_LEN(wide)};
    static const pe_param_set *const sets_of_wide[] = {&of_wide, NULL};
    pe_values values;
    pe_problem why;
    assert_int_equal(pe_values_make(sets_of_wide, &values, &why), PE_OK);
    assert_int_equal(pe_price_estimate(&values).planning, 0);
    pe_values_set_int(&values, "tokens", 1000000);
    assert_int_equal(pe_price_estimate(&values).planning, 0);
    values.value[2].tensor.shape = (pe_shape){3, {7, 200, 64}};
    assert_int_equal(pe_price_estimate(&values).planning, 200 * 256);
    pe_values_set_int(&values, "head_dim", 300);
    assert_int_equal(pe_price_estimate(&values).planning, 300 * 256);
    pe_values_free(&values);
}

static void plans_count_elements_over_all_tensors(void **state)
{
    const pe_limits limits = {.max_elements = 100};
    pe_plan plan = {.limits = &limits};
    pe_problem why;
    assert_int_equal(pe_plan_add_tensor(&plan, "cos", PE_FLOAT32, &(pe_shape){2, {10, 6}}, 6, &why),
                     PE_OK);
    assert_int_equal(plan.tensors[0].units, 10);
    assert_int_equal(pe_plan_add_tensor(&plan, "sin", PE_FLOAT32, &(pe_shape){2, {10, 6}}, 6, &why),
                     PE_TOO_MANY_ELEMENTS);
    assert_int_equal(why.max_elements, 100);
    assert_int_equal(why.requested_elements, 120);
    const pe_shape endless = {3, {1UL << 30, 1UL << 30, 1UL << 30}};
    assert_int_equal(pe_plan_add_tensor(&plan, "sin", PE_FLOAT32, &endless, 1, &why),
                     PE_TOO_MANY_ELEMENTS);
    pe_plan_warn(&plan, "upstream differs by %d", 3);
    assert_string_equal(plan.warnings[0], "upstream differs by 3");
    pe_plan_free(&plan);
    assert_int_equal(plan.n_tensors, 0);
}

static void every_problem_code_has_a_row(void **state)
{
    assert_int_equal(pe_status_by_code("not-acceptable"), PE_NOT_ACCEPTABLE);
    assert_int_equal(pe_status_by_code("nonsense"), PE_OK);
    for (int s = PE_OK; s <= PE_INTERNAL; s++) {
        assert_int_equal(pe_status_by_code(pe_status_code_text((pe_status)s)), s);
        assert_true(strlen(pe_status_about((pe_status)s)) > 10);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_fill_what_is_absent_and_name_what_is_missing),
        cmocka_unit_test(the_canonical_form_is_sorted_with_shortest_numbers),
        cmocka_unit_test(what_planning_costs_goes_by_the_rows),
        cmocka_unit_test(plans_count_elements_over_all_tensors),
        cmocka_unit_test(every_problem_code_has_a_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
