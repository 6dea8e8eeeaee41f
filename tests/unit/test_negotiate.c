/* SPDX-License-Identifier: MIT */
/* test_negotiate.c - which format an Accept header or format= gets. */
#include "support/check.h"

#include <stdio.h>
#include <string.h>

#include "formats/format.h"
#include "support/fake.h"

static const struct choice {
    const char *accept, *wanted; /* NULL: not acceptable */
} choices[] = {
    {NULL, "json"},
    {"", "json"},
    {"  ", "json"},
    {"*/*", "json"},
    {"application/*", "json"},
    {"text/*", "csv"},
    {"application/json", "json"},
    {"APPLICATION/JSON", "json"},
    {"application/x-npy", "npy"},
    {"application/octet-stream", "raw"},
    {"text/csv", "csv"},
    {"application/vnd.safetensors", "safetensors"},
    {"text/csv;charset=utf-8;header=present", "csv"},
    {"text/csv; charset=\"a,b;q=0\" ; q=0.5", "csv"},
    {"text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8", "json"},
    {"application/json;q=0.5, application/x-npy", "npy"},
    {"application/json;q=0.5, application/x-npy;q=0.4", "json"},
    {"application/json;q=0.123, text/csv;q=0.124", "csv"},
    {"application/x-npy;q=1.000, application/json;q=0.999", "npy"},
    {"application/x-npy, */*", "npy"},
    {"*/*, application/x-npy", "npy"},
    {"application/json, text/plain, */*", "json"},
    {"text/csv, application/x-npy", "csv"},
    {"*/*, application/json;q=0", "npy"},
    {"application/*;q=0, */*", "csv"},
    {"application/*;q=0.2, application/x-npy;q=0.1, text/*;q=0.15", "json"},
    {"application/json; Q=0.1, text/csv;q=0.2", "csv"},
    {",, application/x-npy ,", "npy"},
    {"nonsense, application/x-npy", "npy"},
    {"nonsense", "json"},
    {"application/json;q=x, text/csv", "csv"},
    {"application/json;q=1.5, text/csv", "csv"},
    {"application/json;q=0.1234, text/csv", "csv"},
    {"*/csv, text/csv;q=0.1", "csv"},
    {"image/png", "png"},
    {"image/*", "svg"},
    {"image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8",
     "svg"}, /* Chromium's <img> */
    {"image/avif,image/webp,image/png,image/svg+xml,image/*;q=0.8,*/*;q=0.5",
     "png"}, /* Firefox's */
    {"text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8", "json"},
    {"image/jpeg", NULL},
    {"text/html", NULL},
    {"*/*;q=0", NULL},
    {"application/json;q=0", NULL},
    {"application/json;q=0.0, image/*;q=0", NULL},
};

static void accept_is_weighed_as_rfc_9110_says(void **state)
{
    for (size_t i = 0; i < PE_LEN(choices); i++) {
        const pe_format *format = NULL;
        pe_problem why = {0};
        const char *accept = choices[i].accept;
        pe_status status = pe_format_negotiate(accept, NULL, NULL, &format, &why);
        const char *got = status == PE_OK ? format->name : "nothing";
        const char *wanted = choices[i].wanted != NULL ? choices[i].wanted : "nothing";
        if (strcmp(got, wanted) != 0)
            fail_msg("Accept: %s\n got    %s\n wanted %s", accept == NULL ? "(none)" : accept, got,
                     wanted);
        if (status != PE_OK) {
            assert_int_equal(status, PE_NOT_ACCEPTABLE);
            assert_non_null(strstr(why.detail, "application/vnd.safetensors"));
        }
    }
}

static pe_status negotiate(const pe_plan *plan, const char *accept, const char *tensor,
                           const char **name, pe_problem *why)
{
    const pe_format *format = NULL;
    pe_status status = pe_format_negotiate(accept, plan, tensor, &format, why);
    *name = status == PE_OK ? format->name : "";
    return status;
}

static void what_cannot_hold_the_plan_is_passed_over(void **state)
{
    pe_plan plan;
    pe_problem why = {0};
    const char *name;
    fake_plan(&plan, 2, PE_FLOAT32, &(pe_shape){1, {4}}, 1);
    assert_int_equal(
        negotiate(&plan, "application/x-npy, application/json;q=0.5", NULL, &name, &why), PE_OK);
    assert_string_equal(name, "json");
    assert_int_equal(negotiate(&plan, "application/x-npy, */*;q=0.5", "sin", &name, &why), PE_OK);
    assert_string_equal(name, "npy");
    assert_int_equal(negotiate(&plan, "application/x-npy", NULL, &name, &why), PE_NOT_ACCEPTABLE);
    assert_non_null(strstr(why.detail, "cos, sin"));
    assert_int_equal(negotiate(&plan, "*/*", "tan", &name, &why), PE_INVALID_PARAMETER);
    pe_plan_free(&plan);

    fake_plan(&plan, 1, PE_BFLOAT16, &(pe_shape){1, {4}}, 1);
    assert_int_equal(negotiate(&plan, "application/x-npy", NULL, &name, &why), PE_NOT_ACCEPTABLE);
    assert_non_null(strstr(why.detail, "bfloat16"));
    pe_plan_free(&plan);
}

static void format_overrides_by_name(void **state)
{
    const pe_format *format = NULL;
    pe_problem why = {0};
    assert_int_equal(pe_format_parse("safetensors", &format, &why), PE_OK);
    assert_string_equal(format->media_type, "application/vnd.safetensors");
    assert_int_equal(pe_format_parse("NPY", &format, &why), PE_INVALID_PARAMETER);
    assert_non_null(strstr(why.detail, "json, npy, raw, npz, csv, safetensors"));
    assert_int_equal(pe_format_parse("jpeg", &format, &why), PE_INVALID_PARAMETER);
    assert_string_equal(why.where, "format");
}

static void formats_are_found_by_name_and_extension(void **state)
{
    for (size_t i = 0; pe_formats[i] != NULL; i++) {
        char file[40];
        snprintf(file, sizeof file, "a.b%s", pe_formats[i]->extension);
        assert_ptr_equal(pe_format_by_extension(file), pe_formats[i]);
        assert_null(pe_format_by_extension(pe_formats[i]->extension));
        assert_ptr_equal(pe_format_by_name(pe_formats[i]->name), pe_formats[i]);
    }
    assert_ptr_equal(pe_formats[0], pe_format_by_name("json"));
    assert_null(pe_format_by_extension("table.txt"));
    assert_null(pe_format_by_name(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accept_is_weighed_as_rfc_9110_says),
        cmocka_unit_test(what_cannot_hold_the_plan_is_passed_over),
        cmocka_unit_test(format_overrides_by_name),
        cmocka_unit_test(formats_are_found_by_name_and_extension),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
