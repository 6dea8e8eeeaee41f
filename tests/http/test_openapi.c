/* SPDX-License-Identifier: MIT */
/*
 * test_openapi.c - the contract and the program say the same: paths and methods of openapi.yaml
 * against the tables of routes and resources in both directions, and every parameter's type,
 * bounds, default and choices.
 */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "api/value_reading.h"
#include "encodings/registry.h"
#include "formats/format.h"
#include "http/pages/document_pages.h"
#include "http/routes.h"

static json_t *document;

/* Follows "$ref": "#/a/b" until there is none. */
static const json_t *resolve(const json_t *value)
{
    const char *reference;
    while ((reference = json_string_value(json_object_get(value, "$ref"))) != NULL) {
        char path[256];
        snprintf(path, sizeof path, "%s", reference + strlen("#/"));
        value = document;
        for (char *rest, *part = strtok_r(path, "/", &rest); part != NULL;
             part = strtok_r(NULL, "/", &rest))
            value = json_object_get(value, part);
        assert_non_null(value);
    }
    return value;
}

/* ---- paths and methods ---- */

/* HEAD goes with GET and OPTIONS with every path, which the document says once. */
static const struct {
    unsigned bits;
    const char *member;
} methods[] = {
    {PE_METHOD_GET, "get"},
    {PE_METHOD_POST, "post"},
    {0, "head"},
    {0, "options"},
};

/* The path item of a route; a prefix route ends in one path parameter. */
static const char *path_item(const pe_route *route, char *out, size_t room)
{
    if (route->prefix)
        snprintf(out, room, "%s{%s}", route->path, route->name);
    else
        snprintf(out, room, "%s", route->path);
    return out;
}

static void check_methods(const char *path, unsigned wanted)
{
    const json_t *item = json_object_get(json_object_get(document, "paths"), path);
    if (item == NULL)
        fail_msg("openapi.yaml has no path %s", path);
    if (((wanted & PE_METHOD_GET) != 0) != ((wanted & PE_METHOD_HEAD) != 0))
        fail_msg("%s: GET and HEAD do not go together", path);
    for (size_t m = 0; m < PE_LEN(methods); m++) {
        const bool described = json_object_get(item, methods[m].member) != NULL;
        const bool answered = (wanted & methods[m].bits) != 0;
        if (described != answered)
            fail_msg("%s %s: described %d, answered %d", methods[m].member, path, described,
                     answered);
    }
}

static unsigned resource_methods(const pe_resource *resource)
{
    return resource->kind == PE_TABLE ? PE_METHOD_GET | PE_METHOD_HEAD | PE_METHOD_POST
                                      : PE_METHOD_POST;
}

static void every_route_is_described(void **state)
{
    size_t n;
    char path[128];
    const pe_route *routes = pe_routes(&n);
    for (size_t i = 0; i < n; i++)
        if (pe_route_is_public(&routes[i]) && routes[i].path[0] == '/') /* "*" is no path */
            check_methods(path_item(&routes[i], path, sizeof path), routes[i].methods);
    for (size_t i = 0; pe_registry[i] != NULL; i++)
        check_methods(pe_registry[i]->path, resource_methods(pe_registry[i]));
}

static bool answered(const char *path)
{
    size_t n;
    char item[128];
    const pe_route *routes = pe_routes(&n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(path_item(&routes[i], item, sizeof item), path) == 0)
            return true;
    return pe_registry_find(path) != NULL;
}

static void every_described_path_is_answered(void **state)
{
    const char *path;
    json_t *item;
    json_object_foreach(json_object_get(document, "paths"), path, item)
    {
        if (!answered(path))
            fail_msg("openapi.yaml describes %s, which nothing answers", path);
    }
}

/* ---- parameters ---- */

/* A parameter of an operation, or of a path item; NULL when it has none of that name. */
static const json_t *parameter_of(const json_t *owner, const char *in, const char *name)
{
    const json_t *list = json_object_get(owner, "parameters");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *parameter = resolve(json_array_get(list, i));
        if (strcmp(json_string_value(json_object_get(parameter, "in")), in) == 0 &&
            strcmp(json_string_value(json_object_get(parameter, "name")), name) == 0)
            return parameter;
    }
    return NULL;
}

/* Some defaults may not be sent alone: those are told in words. */
static bool told_in_words(const json_t *schema)
{
    const char *words = json_string_value(json_object_get(schema, "description"));
    return words != NULL && strstr(words, " Default: ") != NULL;
}

static void same_number(const json_t *schema, const char *member, double wanted, const char *where)
{
    const json_t *got = json_object_get(schema, member);
    if (!json_is_number(got) || json_number_value(got) != wanted)
        fail_msg("%s: %s is not %.17g in openapi.yaml", where, member, wanted);
}

static void check_number(const pe_param *row, const json_t *schema, const char *where)
{
    const char *type = row->kind == PE_KIND_INT ? "integer" : "number";
    assert_string_equal(json_string_value(json_object_get(schema, "type")), type);
    if ((row->min != 0 || row->max != 0) && isfinite(row->min))
        same_number(schema, row->above_min ? "exclusiveMinimum" : "minimum", row->min, where);
    if ((row->min != 0 || row->max != 0) && isfinite(row->max))
        same_number(schema, "maximum", row->max, where);
    if (!row->required && !row->optional && row->fallback_text == NULL && !told_in_words(schema))
        same_number(schema, "default", row->fallback, where);
}

/* `fallback`: the default, NULL when there is none. */
static void check_choices(const char *const *choices, const char *fallback, const json_t *schema,
                          const char *where)
{
    const json_t *list = json_object_get(schema, "enum");
    size_t n = 0;
    for (; choices[n] != NULL; n++) {
        const char *got = json_string_value(json_array_get(list, n));
        if (got == NULL || strcmp(got, choices[n]) != 0)
            fail_msg("%s: choice %zu is %s, openapi.yaml says %s", where, n, choices[n],
                     got != NULL ? got : "nothing");
    }
    assert_int_equal(json_array_size(list), n);
    const char *described = json_string_value(json_object_get(schema, "default"));
    if (fallback != NULL && !told_in_words(schema) &&
        (described == NULL || strcmp(described, fallback) != 0))
        fail_msg("%s: the default is %s, not what openapi.yaml says", where, fallback);
}

static void check_schema(const pe_param *row, const json_t *schema, const char *where)
{
    switch (row->kind) {
    case PE_KIND_INT:
    case PE_KIND_REAL:
        check_number(row, schema, where);
        break;
    case PE_KIND_BOOL:
        assert_string_equal(json_string_value(json_object_get(schema, "type")), "boolean");
        if (!told_in_words(schema))
            assert_int_equal(json_is_true(json_object_get(schema, "default")), row->fallback != 0);
        break;
    case PE_KIND_CHOICE:
        check_choices(row->choices,
                      row->required || row->optional ? NULL : row->choices[(size_t)row->fallback],
                      schema, where);
        break;
    case PE_KIND_TEXT:
        assert_string_equal(json_string_value(json_object_get(schema, "type")), "string");
        same_number(schema, "maxLength", row->max, where);
        break;
    case PE_KIND_CHOICES:
        check_choices(row->choices, NULL, json_object_get(schema, "items"), where);
        break;
    case PE_KIND_REAL_LIST:
    case PE_KIND_POSITIONS:
    case PE_KIND_TENSOR:
    case PE_KIND_TOKEN_RUNS:
    case PE_KIND_NAME:
        break;
    }
}

/* The members a body may have: requestBody -> application/json -> schema -> properties. */
static const json_t *body_schema(const char *path)
{
    const json_t *body = json_object_get(
        json_object_get(json_object_get(json_object_get(document, "paths"), path), "post"),
        "requestBody");
    return resolve(json_object_get(
        json_object_get(json_object_get(resolve(body), "content"), "application/json"), "schema"));
}

static bool listed(const json_t *names, const char *name)
{
    for (size_t i = 0; i < json_array_size(names); i++)
        if (strcmp(json_string_value(json_array_get(names, i)), name) == 0)
            return true;
    return false;
}

static void check_query(const pe_param *row, const char *path, const char *where)
{
    const json_t *item = json_object_get(json_object_get(document, "paths"), path);
    const json_t *parameter = parameter_of(json_object_get(item, "get"), "query", row->name);
    if (parameter == NULL)
        fail_msg("%s is no query parameter in openapi.yaml", where);
    check_schema(row, resolve(json_object_get(parameter, "schema")), where);
    assert_int_equal(json_is_true(json_object_get(parameter, "required")),
                     row->required && !row->by_model);
    if (row->required && json_object_get(parameter, "example") == NULL)
        fail_msg("%s has no example in openapi.yaml", where);
}

static void check_parameter(const pe_resource *resource, const pe_param *row)
{
    char where[128];
    const json_t *body = body_schema(resource->path);
    const json_t *member = json_object_get(json_object_get(body, "properties"), row->name);
    snprintf(where, sizeof where, "%s of %s", row->name, resource->path);
    if (member == NULL)
        fail_msg("%s is not in the body's schema of openapi.yaml", where);
    check_schema(row, resolve(member), where);
    const bool required = row->required && !row->by_model;
    if (listed(json_object_get(body, "required"), row->name) != required)
        fail_msg("%s: required %d, openapi.yaml disagrees", where, required);
    if (resource->kind != PE_TABLE)
        return;
    check_query(row, resource->path, where);
}

/* A name in a path is a parameter of every operation there. */
static void check_name(const pe_resource *resource, const pe_param *row)
{
    const json_t *item = json_object_get(json_object_get(document, "paths"), resource->path);
    if (parameter_of(item, "path", row->name) == NULL)
        fail_msg("%s of %s is not in openapi.yaml", row->name, resource->path);
}

static void every_parameter_is_described_with_its_bounds(void **state)
{
    const pe_param *param;
    for (size_t r = 0; pe_registry[r] != NULL; r++)
        for (size_t p = 0; (param = pe_params_at(pe_registry[r]->param_sets, p)) != NULL; p++)
            if (param->kind == PE_KIND_NAME)
                check_name(pe_registry[r], param);
            else
                check_parameter(pe_registry[r], param);
}

static bool known(const pe_resource *resource, const char *name)
{
    if (pe_params_find(resource->param_sets, name) != NULL ||
        pe_query_output_find(resource, name) < PE_OUTPUT_N)
        return true;
    return resource->nested != NULL && strcmp(resource->nested, name) == 0;
}

static void every_described_parameter_is_known(void **state)
{
    for (size_t r = 0; pe_registry[r] != NULL; r++) {
        const char *name;
        json_t *schema;
        json_object_foreach(json_object_get(body_schema(pe_registry[r]->path), "properties"), name,
                            schema)
        {
            if (!known(pe_registry[r], name))
                fail_msg("%s of %s is described, and unknown to the program", name,
                         pe_registry[r]->path);
        }
    }
}

/* ---- formats and statuses ---- */

/* The media types of a 200 are those of the formats, and no others. */
static void check_media_types(const char *path, const char *method)
{
    const json_t *operation =
        json_object_get(json_object_get(json_object_get(document, "paths"), path), method);
    const json_t *content = json_object_get(
        resolve(json_object_get(json_object_get(operation, "responses"), "200")), "content");
    size_t n = 0;
    for (; pe_formats[n] != NULL; n++)
        if (json_object_get(content, pe_formats[n]->media_type) == NULL)
            fail_msg("%s %s does not describe %s", method, path, pe_formats[n]->media_type);
    assert_int_equal(json_object_size(content), n);
}

static void check_formats(const char *path)
{
    const char *names[16] = {0};
    const json_t *members = json_object_get(body_schema(path), "properties");
    for (size_t f = 0; pe_formats[f] != NULL; f++)
        names[f] = pe_formats[f]->name;
    check_choices(names, NULL, resolve(json_object_get(members, "format")), path);
    const char *const *encodings = pe_query_output_rows[PE_OUTPUT_ENCODING].choices;
    check_choices(encodings, encodings[0], resolve(json_object_get(members, "encoding_format")),
                  path);
}

static void every_format_is_described_for_every_resource(void **state)
{
    for (size_t r = 0; pe_registry[r] != NULL; r++) {
        check_formats(pe_registry[r]->path);
        check_media_types(pe_registry[r]->path, "post");
        if (pe_registry[r]->kind == PE_TABLE)
            check_media_types(pe_registry[r]->path, "get");
    }
}

static void every_problem_code_is_described(void **state)
{
    const json_t *item = json_object_get(json_object_get(document, "paths"), "/problems/{code}");
    const json_t *parameter = parameter_of(item, "path", "code");
    const json_t *codes = json_object_get(resolve(json_object_get(parameter, "schema")), "enum");
    assert_int_equal(json_array_size(codes), PE_INTERNAL); /* all but "ok" */
    for (int s = PE_OK + 1; s <= PE_INTERNAL; s++)
        assert_true(listed(codes, pe_status_code_text((pe_status)s)));
}

static int load(void **state)
{
    json_error_t error;
    document = json_loadb(pe_openapi_data_json, pe_openapi_data_json_bytes, 0, &error);
    return document == NULL;
}

static int unload(void **state)
{
    json_decref(document);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_route_is_described),
        cmocka_unit_test(every_described_path_is_answered),
        cmocka_unit_test(every_parameter_is_described_with_its_bounds),
        cmocka_unit_test(every_described_parameter_is_known),
        cmocka_unit_test(every_format_is_described_for_every_resource),
        cmocka_unit_test(every_problem_code_is_described),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
