/* SPDX-License-Identifier: MIT */
/* test_format_binary.c - npy, raw, csv and safetensors, and which tensors they hold. */
#include "support/check.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "support/fake.h"
#include "support/render.h"

static void assert_numbers(const char *at, const pe_tensor *tensor, size_t t)
{
    for (size_t e = 0; e < tensor->elements; e++) {
        double got = pe_dtype_load(tensor->dtype, at + e * pe_dtype_bytes(tensor->dtype));
        double wanted = fake_element(tensor->dtype, t, e);
        if (got != wanted)
            fail_msg("tensor %zu element %zu: got %.17g, wanted %.17g", t, e, got, wanted);
    }
}

static void raw_is_the_numbers_alone(void **state)
{
    for (pe_dtype dtype = 0; dtype < PE_DTYPES; dtype++) {
        pe_plan plan;
        pe_buffer out = {0};
        const pe_rendering rendering = render_as("raw", false, NULL);
        fake_plan(&plan, 1, dtype, &(pe_shape){2, {5, 7}}, 7);
        render(&plan, &rendering, 0, 10, &out);
        assert_int_equal(out.bytes, 35 * pe_dtype_bytes(dtype));
        assert_numbers(out.data, &plan.tensors[0], 0);
        pe_buffer_free(&out);
        pe_plan_free(&plan);
    }
}

static void npy_has_a_header_that_numpy_writes(void **state)
{
    static const struct {
        pe_dtype dtype;
        pe_shape shape;
        const char *header;
    } rows[] = {
        {PE_FLOAT32, {2, {3, 2}}, "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }"},
        {PE_FLOAT64, {1, {6}}, "{'descr': '<f8', 'fortran_order': False, 'shape': (6,), }"},
        {PE_FLOAT16,
         {3, {1, 2, 3}},
         "{'descr': '<f2', 'fortran_order': False, 'shape': (1, 2, 3), }"},
        {PE_INT32, {0, {0}}, "{'descr': '<i4', 'fortran_order': False, 'shape': (), }"},
    };
    for (size_t i = 0; i < PE_LEN(rows); i++) {
        pe_plan plan;
        pe_buffer out = {0};
        const pe_rendering rendering = render_as("npy", false, NULL);
        fake_plan(&plan, 1, rows[i].dtype, &rows[i].shape, 1);
        render(&plan, &rendering, 0, 1000, &out);
        size_t length = (unsigned char)out.data[8] | (size_t)(unsigned char)out.data[9] << 8;
        assert_memory_equal(out.data, "\x93NUMPY\x01\x00", 8);
        assert_int_equal((10 + length) % 64, 0);
        assert_memory_equal(out.data + 10, rows[i].header, strlen(rows[i].header));
        for (size_t at = 10 + strlen(rows[i].header); at < 10 + length - 1; at++)
            assert_int_equal(out.data[at], ' ');
        assert_int_equal(out.data[10 + length - 1], '\n');
        assert_numbers(out.data + 10 + length, &plan.tensors[0], 0);
        pe_buffer_free(&out);
        pe_plan_free(&plan);
    }
}

static void safetensors_hold_all_and_the_scalars(void **state)
{
    pe_plan plan;
    pe_buffer out = {0};
    const pe_rendering rendering = render_as("safetensors", false, NULL);
    fake_plan(&plan, 2, PE_BFLOAT16, &(pe_shape){2, {3, 5}}, 5);
    pe_plan_add_scalar(&plan, "attention_factor", 1.5);
    pe_plan_warn(&plan, "careful");
    render(&plan, &rendering, 0, 1000, &out);

    size_t length = (unsigned char)out.data[0] | (size_t)(unsigned char)out.data[1] << 8;
    assert_int_equal(length % 8, 0);
    assert_int_equal(out.bytes, 8 + length + 60);
    json_t *header = json_loadb(out.data + 8, length, JSON_REJECT_DUPLICATES, NULL);
    json_t *wanted =
        json_loads("{\"__metadata__\":{\"encoding\":\"fake\",\"parameters\":\"{\\\"a\\\":1}\","
                   "\"attention_factor\":\"1.5\",\"warnings\":\"careful\"},"
                   "\"cos\":{\"dtype\":\"BF16\",\"shape\":[3,5],\"data_offsets\":[0,30]},"
                   "\"sin\":{\"dtype\":\"BF16\",\"shape\":[3,5],\"data_offsets\":[30,60]}}",
                   0, NULL);
    assert_true(json_equal(header, wanted));
    assert_numbers(out.data + 8 + length, &plan.tensors[0], 0);
    assert_numbers(out.data + 8 + length + 30, &plan.tensors[1], 1);
    json_decref(header);
    json_decref(wanted);
    pe_buffer_free(&out);
    pe_plan_free(&plan);
}

static void a_lone_tensor_is_called_data_in_safetensors(void **state)
{
    pe_plan plan;
    pe_buffer out = {0};
    const pe_rendering rendering = render_as("safetensors", false, NULL);
    fake_plan(&plan, 1, PE_FLOAT32, &(pe_shape){1, {2}}, 1);
    render(&plan, &rendering, 0, 1000, &out);
    assert_non_null(strstr(pe_buffer_text(&out) + 8, "\"data\":{\"dtype\":\"F32\",\"shape\":[2]"));
    pe_buffer_free(&out);
    pe_plan_free(&plan);
}

/* Element e is e, and one of the numbers that are none where e is 1, 2, 3. */
static pe_status fill_holes(const pe_plan *plan, const pe_region *region, void *out,
                            pe_problem *why)
{
    const double holes[] = {0, (double)INFINITY, -(double)INFINITY, (double)NAN};
    float *to = out;
    for (size_t e = region->first; e < region->first + region->units; e++)
        *to++ = (float)(e < 4 ? holes[e] : (double)e);
    return PE_OK;
}

static void csv_has_a_row_of_indices(void **state)
{
    static const struct {
        pe_shape shape;
        const char *text;
    } rows[] = {
        {{2, {2, 3}}, "0,1,2\n0,inf,-inf\nnan,4,5\n"},
        {{2, {3, 1}}, "0\n0\ninf\n-inf\n"},
        {{1, {6}}, "0\n0\ninf\n-inf\nnan\n4\n5\n"},
        {{3, {2, 1, 3}}, "axis 0,0,1,2\n0,0,inf,-inf\n1,nan,4,5\n"},
    };
    for (size_t i = 0; i < PE_LEN(rows); i++) {
        pe_plan plan;
        pe_buffer out = {0};
        const pe_rendering rendering = render_as("csv", false, NULL);
        fake_plan(&plan, 1, PE_FLOAT32, &rows[i].shape, 1);
        plan.fill = fill_holes;
        const char *got = render_text(&plan, &rendering, &out);
        if (strcmp(got, rows[i].text) != 0)
            fail_msg("\n got    %s\n wanted %s", got, rows[i].text);
        pe_buffer_free(&out);
        pe_plan_free(&plan);
    }
}

static void what_a_format_cannot_hold_is_not_acceptable(void **state)
{
    static const struct {
        const char *name, *format, *tensor;
        size_t n_tensors;
        pe_dtype dtype;
        pe_shape shape;
        pe_status status;
        const char *detail;
    } rows[] = {
        {"two, none chosen", "npy", NULL, 2, PE_FLOAT32, {1, {4}}, PE_NOT_ACCEPTABLE, "cos, sin"},
        {"two, chosen by nothing", "raw", "", 2, PE_FLOAT32, {1, {4}}, PE_NOT_ACCEPTABLE, "cos"},
        {"two, one chosen", "csv", "sin", 2, PE_FLOAT32, {1, {4}}, PE_OK, ""},
        {"a wrong one", "csv", "tan", 2, PE_FLOAT32, {1, {4}}, PE_INVALID_PARAMETER, "cos, sin"},
        {"a wrong one in JSON",
         "json",
         "tan",
         2,
         PE_FLOAT32,
         {1, {4}},
         PE_INVALID_PARAMETER,
         "cos"},
        {"the only one", "npy", "data", 1, PE_FLOAT32, {1, {4}}, PE_OK, ""},
        {"bfloat16 as npy", "npy", NULL, 1, PE_BFLOAT16, {1, {4}}, PE_NOT_ACCEPTABLE, "raw"},
        {"bfloat16 as raw", "raw", NULL, 1, PE_BFLOAT16, {1, {4}}, PE_OK, ""},
        {"three axes as csv", "csv", NULL, 1, PE_FLOAT32, {3, {1, 1, 4}}, PE_OK, ""},
        {"bfloat16 as npz", "npz", NULL, 2, PE_BFLOAT16, {1, {4}}, PE_NOT_ACCEPTABLE, "raw"},
        {"no axis as csv", "csv", NULL, 1, PE_FLOAT32, {0, {0}}, PE_OK, ""},
        {"no tensor as npy", "npy", NULL, 0, PE_FLOAT32, {1, {4}}, PE_NOT_ACCEPTABLE, "no tensor"},
        {"no tensor as JSON", "json", NULL, 0, PE_FLOAT32, {1, {4}}, PE_OK, ""},
    };
    for (size_t i = 0; i < PE_LEN(rows); i++) {
        pe_plan plan;
        pe_problem why = {0};
        size_t tensor = 99;
        const pe_rendering rendering = render_as(rows[i].format, false, rows[i].tensor);
        fake_plan(&plan, rows[i].n_tensors, rows[i].dtype, &rows[i].shape, 1);
        pe_status got = pe_format_check(&plan, &rendering, &tensor, &why);
        if (got != rows[i].status || strstr(why.detail, rows[i].detail) == NULL)
            fail_msg("%s: got %s: %s, wanted %s: %s", rows[i].name, pe_status_code_text(got),
                     why.detail, pe_status_code_text(rows[i].status), rows[i].detail);
        if (got == PE_OK)
            assert_int_equal(tensor, rows[i].n_tensors == 2 ? 1 : 0);
        pe_plan_free(&plan);
    }
}

static void the_chosen_tensor_is_the_one_sent(void **state)
{
    pe_plan plan;
    pe_buffer out = {0};
    const pe_rendering rendering = render_as("raw", false, "sin");
    fake_plan(&plan, 2, PE_FLOAT64, &(pe_shape){2, {4, 3}}, 3);
    render(&plan, &rendering, 0, 1000, &out);
    assert_int_equal(out.bytes, 96);
    assert_numbers(out.data, &plan.tensors[1], 1);
    pe_buffer_free(&out);
    pe_plan_free(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(raw_is_the_numbers_alone),
        cmocka_unit_test(npy_has_a_header_that_numpy_writes),
        cmocka_unit_test(safetensors_hold_all_and_the_scalars),
        cmocka_unit_test(a_lone_tensor_is_called_data_in_safetensors),
        cmocka_unit_test(csv_has_a_row_of_indices),
        cmocka_unit_test(what_a_format_cannot_hold_is_not_acceptable),
        cmocka_unit_test(the_chosen_tensor_is_the_one_sent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
