/* SPDX-License-Identifier: MIT */
/* test_documents.c - problem documents and the listing. */
#include "support/check.h"

#include <jansson.h>
#include <string.h>

#include "api/documents.h"
#include "encodings/registry.h"
#include "support/fake.h"

/* The listing shows these instead of the program's resources. */
const pe_resource *const pe_registry[] = {&fake_table, &fake_transform, NULL};

static json_t *parse(pe_buffer *text)
{
    json_error_t error;
    assert_false(text->failed);
    json_t *json = json_loadb(text->data, text->bytes, JSON_REJECT_DUPLICATES, &error);
    if (json == NULL)
        fail_msg("%s: %s", pe_buffer_text(text), error.text);
    pe_buffer_free(text);
    return json;
}

static const char *text_of(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    if (!json_is_string(value))
        fail_msg("%s is no string", name);
    return json_string_value(value);
}

static void a_problem_reads_as_the_contract_shows_it(void **state)
{
    pe_problem problem;
    pe_buffer out = {0};
    (void)pe_fail(&problem, PE_INVALID_PARAMETER, "rotary_dim", "rotary_dim must be even, got %d",
                  7);
    pe_problem_json(&problem, "/v1/rope/table", "abc", false, &out);
    assert_string_equal(
        pe_buffer_text(&out),
        "{\"type\":\"/problems/invalid-parameter\",\"title\":\"A parameter is invalid\","
        "\"status\":422,\"code\":\"invalid-parameter\","
        "\"detail\":\"rotary_dim must be even, got 7\",\"instance\":\"/v1/rope/table\","
        "\"request_id\":\"abc\","
        "\"errors\":[{\"parameter\":\"rotary_dim\",\"detail\":\"must be even, got 7\"}]}");
    pe_buffer_free(&out);
}

static void places_in_a_body_are_pointers(void **state)
{
    static const struct {
        const char *where, *pointer;
    } rows[] = {{"factor", "#/factor"},
                {"rope_parameters/factor", "#/rope_parameters/factor"},
                {"vectors/3/2", "#/vectors/3/2"},
                {"a~1b~0c", "#/a~1b~0c"},
                {"a b\"%\xc3\xa9#", "#/a%20b%22%25%C3%A9%23"}};
    for (size_t i = 0; i < PE_LEN(rows); i++) {
        pe_problem problem;
        pe_buffer out = {0};
        (void)pe_fail(&problem, PE_INVALID_PARAMETER, rows[i].where, "%s is wrong", rows[i].where);
        pe_problem_json(&problem, "/v1", NULL, true, &out);
        json_t *json = parse(&out);
        const json_t *error = json_array_get(json_object_get(json, "errors"), 0);
        assert_string_equal(text_of(error, "pointer"), rows[i].pointer);
        assert_string_equal(text_of(error, "detail"), "is wrong");
        assert_null(json_object_get(error, "parameter"));
        assert_null(json_object_get(json, "request_id"));
        json_decref(json);
    }
}

static void errors_and_counts_appear_only_where_they_belong(void **state)
{
    pe_problem problem;
    pe_buffer out = {0};
    (void)pe_fail(&problem, PE_NOT_FOUND, "", "nothing lives at \"/x\"\n");
    pe_problem_json(&problem, "/x", "r", false, &out);
    json_t *json = parse(&out);
    assert_null(json_object_get(json, "errors"));
    assert_null(json_object_get(json, "max_elements"));
    assert_int_equal(json_integer_value(json_object_get(json, "status")), 404);
    assert_string_equal(text_of(json, "detail"), "nothing lives at \"/x\"?");
    json_decref(json);

    (void)pe_fail(&problem, PE_TOO_MANY_ELEMENTS, "positions", "too many");
    problem.max_elements = 268435456;
    problem.requested_elements = 1099511627776;
    pe_problem_json(&problem, "/x", "r", false, &out);
    json = parse(&out);
    assert_int_equal(json_integer_value(json_object_get(json, "max_elements")), 268435456);
    assert_int_equal(json_integer_value(json_object_get(json, "requested_elements")),
                     1099511627776);
    json_decref(json);
}

static void every_status_has_a_page(void **state)
{
    static const pe_status all[] = {
#define ROW(name, http, code, title, about) PE_##name,
        PE_STATUS_MAP(ROW)
#undef ROW
    };
    for (size_t i = 0; i < PE_LEN(all); i++) {
        pe_buffer out = {0};
        pe_problem_json_page(all[i], &out);
        json_t *json = parse(&out);
        assert_string_equal(text_of(json, "code"), pe_status_code_text(all[i]));
        assert_memory_equal(text_of(json, "type"), "/problems/", 10);
        assert_int_equal(json_integer_value(json_object_get(json, "status")),
                         pe_status_http(all[i]));
        assert_true(strlen(text_of(json, "explanation")) > 10);
        json_decref(json);
    }
}

static const json_t *row_named(const json_t *array, const char *member, const char *name)
{
    size_t i;
    const json_t *row;
    json_array_foreach(array, i, row) if (strcmp(text_of(row, member), name) == 0) return row;
    fail_msg("no row has %s %s", member, name);
    return NULL;
}

static void assert_json(const json_t *value, const char *wanted)
{
    char *got = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_SORT_KEYS);
    if (got == NULL || strcmp(got, wanted) != 0)
        fail_msg("\n got    %s\n wanted %s", got == NULL ? "nothing" : got, wanted);
    free(got);
}

static void the_listing_shows_what_each_row_says(void **state)
{
    const pe_listing_bound bounds[] = {{"max_elements", 268435456, "elements"},
                                       {"max_depth", 16, NULL}};
    pe_buffer out = {0};
    pe_listing_json(bounds, PE_LEN(bounds), &out);
    json_t *json = parse(&out);
    const json_t *resources = json_object_get(json, "encodings");
    assert_int_equal(json_array_size(resources), 2);
    const json_t *table = row_named(resources, "path", "/v1/fake/table");
    const json_t *transform = row_named(resources, "path", "/v1/fake/transform");
    assert_json(json_object_get(table, "methods"), "[\"GET\",\"HEAD\",\"POST\",\"OPTIONS\"]");
    assert_json(json_object_get(transform, "methods"), "[\"POST\",\"OPTIONS\"]");
    assert_string_equal(text_of(table, "formula"), "f(pos, i) = pos + i");
    const json_t *rows = json_object_get(table, "parameters");
    assert_json(row_named(rows, "name", "d_model"),
                "{\"aliases\":[\"dim\",\"d\",\"hidden_size\",\"hidden_dim\",\"embed_dim\","
                "\"embedding_dim\",\"embedding_size\",\"model_dim\",\"d_emb\",\"n_embd\","
                "\"channels\",\"num_channels\"],\"description\":\"Width of a "
                "row.\",\"example\":\"512\",\"maximum\":65536,"
                "\"minimum\":1,\"name\":\"d_model\",\"required\":true,\"type\":\"integer\","
                "\"unit\":\"channels\"}");
    assert_json(row_named(rows, "name", "scale"),
                "{\"default\":1,\"description\":\"s\",\"exclusive_minimum\":0,\"maximum\":8,"
                "\"name\":\"scale\",\"required\":false,\"type\":\"number\"}");
    assert_json(row_named(rows, "name", "layout"),
                "{\"choices\":[\"interleaved\",\"sin_cos\",\"cos_sin\"],\"default\":"
                "\"interleaved\",\"description\":\"Layout.\",\"name\":\"layout\","
                "\"required\":false,\"type\":\"string\"}");
    assert_json(row_named(rows, "name", "causal"),
                "{\"aliases\":[\"is_causal\"],\"default\":true,\"description\":\"Causal.\","
                "\"name\":\"causal\","
                "\"required\":false,\"type\":\"boolean\"}");
    assert_json(row_named(rows, "name", "mask_value"),
                "{\"aliases\":[\"fill\",\"fill_value\"],\"description\":\"Unbounded.\",\"name\":"
                "\"mask_value\",\"required\":false,"
                "\"type\":\"number\"}");
    assert_string_equal(text_of(row_named(rows, "name", "positions"), "default"), "0:128");
    assert_json(json_object_get(json_object_get(json, "bounds"), "max_elements"),
                "{\"unit\":\"elements\",\"value\":268435456}");
    json_decref(json);
}

static void the_listing_names_every_format(void **state)
{
    pe_buffer out = {0};
    pe_listing_json(NULL, 0, &out);
    json_t *json = parse(&out);
    const json_t *choices = json_object_get(
        row_named(json_object_get(json, "representation"), "name", "format"), "choices");
    for (size_t i = 0; pe_formats[i] != NULL; i++) {
        const json_t *row =
            row_named(json_object_get(json, "formats"), "name", pe_formats[i]->name);
        assert_string_equal(text_of(row, "media_type"), pe_formats[i]->media_type);
        assert_string_equal(json_string_value(json_array_get(choices, i)), pe_formats[i]->name);
    }
    json_decref(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_problem_reads_as_the_contract_shows_it),
        cmocka_unit_test(places_in_a_body_are_pointers),
        cmocka_unit_test(errors_and_counts_appear_only_where_they_belong),
        cmocka_unit_test(every_status_has_a_page),
        cmocka_unit_test(the_listing_shows_what_each_row_says),
        cmocka_unit_test(the_listing_names_every_format),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
