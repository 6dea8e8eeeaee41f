/* SPDX-License-Identifier: MIT */
/* test_settings.c - settings from defaults, file, environment and flags. */
#include "support/check.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "config/settings.h"
#include "support/capture.h"

/* ---- helpers ---- */

#define ARGUMENTS_MAX 8

/* Flags and variables of a case; NULL ends each list. */
struct given {
    const char *flags[ARGUMENTS_MAX], *variables[ARGUMENTS_MAX];
    const char *file; /* text of the file, or NULL for none */
};

static int mutable_copies(const char *const *texts, char **out)
{
    int n = 0;
    for (; n < ARGUMENTS_MAX && texts[n] != NULL; n++) {
        out[n] = strdup(texts[n]);
        assert_non_null(out[n]);
    }
    out[n] = NULL;
    return n;
}

static void free_all(char **texts)
{
    for (; *texts != NULL; texts++)
        free(*texts);
}

static void write_file(const char *text, char *path, size_t bytes)
{
    snprintf(path, bytes, "/tmp/posenc-settings-XXXXXX");
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

/* Reads the case, hermetically: a case without a file reads none. *log, when wanted, is what went
 * to standard error. */
static pe_status read_given(const struct given *given, pe_config **config, char **log,
                            pe_problem *why)
{
    char *flags[ARGUMENTS_MAX + 2], *variables[ARGUMENTS_MAX + 1];
    char path[64] = "", option[96];
    if (given->file != NULL)
        write_file(given->file, path, sizeof path);
    snprintf(option, sizeof option, "--config=%s", path);
    flags[0] = strdup(option);
    const int n = 1 + mutable_copies(given->flags, flags + 1);
    mutable_copies(given->variables, variables);

    struct capture errors = capture_start(STDERR_FILENO);
    const pe_status status = pe_config_read(n, flags, variables, config, why);
    char *text = capture_stop(&errors);
    if (log != NULL)
        *log = text;
    else
        free(text);
    if (given->file != NULL)
        unlink(path);
    free_all(flags);
    free_all(variables);
    return status;
}

static pe_config *read_or_fail(const struct given *given, const char *name)
{
    pe_config *config = NULL;
    pe_problem why = {0};
    if (read_given(given, &config, NULL, &why) != PE_OK)
        fail_msg("%s: got the problem \"%s\", wanted settings", name, why.detail);
    return config;
}

static json_t *printed(const pe_config *config)
{
    pe_buffer text = {0};
    pe_config_print(config, &text);
    json_t *object = json_loads(pe_buffer_text(&text), JSON_REJECT_DUPLICATES, NULL);
    pe_buffer_free(&text);
    assert_true(json_is_object(object));
    return object;
}

/* What print-config says of a setting: its value as compact JSON, and its source. */
static void check_printed(const struct given *given, const char *name, const char *key,
                          const char *value, const char *source)
{
    pe_config *config = read_or_fail(given, name);
    json_t *object = printed(config);
    json_t *member = json_object_get(object, key);
    char *got = json_dumps(json_object_get(member, "value"), JSON_ENCODE_ANY | JSON_COMPACT);
    const char *from = json_string_value(json_object_get(member, "source"));
    if (strcmp(got, value) != 0 ||
        (source != NULL ? strcmp(from, source) != 0 : strncmp(from, "/tmp/", 5) != 0))
        fail_msg("%s: %s is %s from %s, wanted %s from %s", name, key, got, from, value,
                 source != NULL ? source : "the file");
    free(got);
    json_decref(object);
    pe_config_free(config);
}

/* ---- what is read ---- */

#define FROM_FILE NULL

static const struct {
    const char *name, *key, *value, *source;
    struct given given;
} readings[] = {
    {"nothing given", "port", "8080", "default", {{0}, {0}, NULL}},
    {"a file", "port", "1", FROM_FILE, {{0}, {0}, "{\"port\": 1}"}},
    {"a file with objects",
     "port",
     "1",
     FROM_FILE,
     {{0}, {0}, "{\"port\": {\"help\": \"Any.\", \"value\": 1}}"}},
    {"a variable over a file",
     "port",
     "2",
     "POSENC_PORT",
     {{0}, {"POSENC_PORT=2"}, "{\"port\": 1}"}},
    {"a flag over both",
     "port",
     "3",
     "--port",
     {{"--port", "3"}, {"POSENC_PORT=2"}, "{\"port\": 1}"}},
    {"a flag with =", "port", "0", "--port", {{"--port=0"}, {0}, NULL}},
    {"the last of two flags", "port", "4", "--port", {{"--port=3", "--port", "4"}, {0}, NULL}},
    {"a long name",
     "max_body_bytes",
     "10",
     "--max-body-bytes",
     {{"--max-body-bytes", "10"}, {0}, NULL}},
    {"a flag with underscores",
     "max_body_bytes",
     "10",
     "--max-body-bytes",
     {{"--max_body_bytes=10"}, {0}, NULL}},
    {"a variable with a long name",
     "max_body_bytes",
     "1099511627776",
     "POSENC_MAX_BODY_BYTES",
     {{0}, {"POSENC_MAX_BODY_BYTES=1099511627776"}, NULL}},
    {"a text",
     "cors_origin",
     "\"https://a.b\"",
     FROM_FILE,
     {{0}, {0}, "{\"cors_origin\": \"https://a.b\"}"}},
    {"an empty text", "cors_origin", "\"\"", "--cors-origin", {{"--cors-origin", ""}, {0}, NULL}},
    {"an empty variable",
     "cors_origin",
     "\"\"",
     "POSENC_CORS_ORIGIN",
     {{0}, {"POSENC_CORS_ORIGIN="}, NULL}},
    {"an IPv6 address", "host", "\"::1\"", "--host", {{"--host", "::1"}, {0}, NULL}},
    {"a truth alone", "access_log", "true", "--access-log", {{"--access-log"}, {0}, NULL}},
    {"a truth with =",
     "access_log",
     "false",
     "--access-log",
     {{"--access-log=false"}, {"POSENC_ACCESS_LOG=true"}, NULL}},
    {"a truth and its value",
     "access_log",
     "false",
     "--access-log",
     {{"--access-log", "false"}, {0}, NULL}},
    {"a truth before another flag",
     "port",
     "9",
     "--port",
     {{"--access-log", "--port", "9"}, {0}, NULL}},
    {"a truth as a digit",
     "access_log",
     "true",
     "POSENC_ACCESS_LOG",
     {{0}, {"POSENC_ACCESS_LOG=1"}, NULL}},
    {"a truth in a file", "access_log", "true", FROM_FILE, {{0}, {0}, "{\"access_log\": true}"}},
    {"a choice", "log_level", "\"debug\"", "--log-level", {{"--log-level=debug"}, {0}, NULL}},
    {"a repeated list flag",
     "warm",
     "[\"/a?x=1&y=2\",\"/b\"]",
     "--warm",
     {{"--warm", "/a?x=1&y=2", "--warm=/b"}, {0}, NULL}},
    {"words in a variable",
     "warm",
     "[\"/a\",\"/b\",\"/c\"]",
     "POSENC_WARM",
     {{0}, {"POSENC_WARM= /a /b\t\n/c "}, NULL}},
    {"an array in a file",
     "warm",
     "[\"/a\",\"/b\"]",
     FROM_FILE,
     {{0}, {0}, "{\"warm\": [\"/a\", \"/b\"]}"}},
    {"a list flag in place of a variable's list",
     "warm",
     "[\"/c\"]",
     "--warm",
     {{"--warm=/c"}, {"POSENC_WARM=/a /b"}, "{\"warm\": [\"/d\"]}"}},
    {"an empty list flag", "warm", "[]", "--warm", {{"--warm="}, {"POSENC_WARM=/a"}, NULL}},
    {"another program's variable", "port", "8080", "default", {{0}, {"PORT=1"}, NULL}},
};

static void each_level_is_read_and_wins_over_the_one_before(void **state)
{
    for (size_t c = 0; c < PE_LEN(readings); c++)
        check_printed(&readings[c].given, readings[c].name, readings[c].key, readings[c].value,
                      readings[c].source);
}

static const struct {
    const char *where, *detail; /* detail: a part of the sentence */
    struct given given;
} refusals[] = {
    {"prot", "unknown flag --prot, did you mean --port?", {{"--prot=1"}, {0}, NULL}},
    {"max-body-byte", "did you mean --max-body-bytes?", {{"--max-body-byte", "1"}, {0}, NULL}},
    {"max-body", "did you mean --max-body-bytes?", {{"--max-body", "1"}, {0}, NULL}},
    {"memory", "did you mean --memory-max?", {{"--memory", "1G"}, {0}, NULL}},
    {"keys", "did you mean --keys-file?", {{"--keys", "a"}, {0}, NULL}},
    {"tls-cret", "did you mean --tls-certificate?", {{"--tls-cret", "a.pem"}, {0}, NULL}},
    {"api-key", "did you mean --keys-file?", {{"--api-key", "a"}, {0}, NULL}},
    {"nonsense-that-is-near-nothing",
     "unknown flag --nonsense-that-is-near-nothing",
     {{"--nonsense-that-is-near-nothing"}, {0}, NULL}},
    {"", "unexpected argument 8080", {{"8080"}, {0}, NULL}},
    {"", "unknown flag -q", {{"-q", "8080"}, {0}, NULL}},
    {"port", "--port must be an integer from 0 to 65535, got 65536", {{"--port=65536"}, {0}, NULL}},
    {"port", "from 0 to 65535, got -1", {{"--port", "-1"}, {0}, NULL}},
    {"port", "from 0 to 65535, got \"80x\"", {{"--port=80x"}, {0}, NULL}},
    {"port", "got \" 80\"", {{"--port= 80"}, {0}, NULL}},
    {"port", "got \"+80\"", {{"--port=+80"}, {0}, NULL}},
    {"port", "got \"\"", {{"--port="}, {0}, NULL}},
    {"port", "got \"0x50\"", {{"--port=0x50"}, {0}, NULL}},
    {"port", "got \"99999999999999999999\"", {{"--port=99999999999999999999"}, {0}, NULL}},
    {"port",
     "POSENC_PORT must be an integer from 0 to 65535, got \"http\"",
     {{0}, {"POSENC_PORT=http"}, NULL}},
    {"port", "must be an integer from 0 to 65535, got \"80\"", {{0}, {0}, "{\"port\":\"80\"}"}},
    {"port", "must be an integer from 0 to 65535, got 80.5", {{0}, {0}, "{\"port\": 80.5}"}},
    {"port", "got null", {{0}, {0}, "{\"port\": null}"}},
    {"port", "or an object that has a \"value\"", {{0}, {0}, "{\"port\": {\"vlaue\": 1}}"}},
    {"prot", "did you mean \"port\"?", {{0}, {0}, "{\"prot\": 1}"}},
    {"max-body-bytes", "did you mean \"max_body_bytes\"?", {{0}, {0}, "{\"max-body-bytes\": 1}"}},
    {"cors", "did you mean \"cors_origin\"?", {{0}, {0}, "{\"cors\": \"*\"}"}},
    {"tls_cret", "did you mean \"tls_certificate\"?", {{0}, {0}, "{\"tls_cret\": \"a\"}"}},
    {"config", "line 1", {{0}, {0}, "{\"port\": }"}},
    {"config", "duplicate", {{0}, {0}, "{\"port\": 1, \"port\": 2}"}},
    {"config", "must hold a JSON object", {{0}, {0}, "[]"}},
    {"config", "line", {{0}, {0}, ""}},
    {"host",
     "--host must be an IPv4 or IPv6 address, or a name of one, got \"not a host\"",
     {{"--host=not a host"}, {0}, NULL}},
    {"log_level",
     "--log-level must be one of error, warn, info and debug, got \"loud\"",
     {{"--log-level", "loud"}, {0}, NULL}},
    {"log_level", "got \"inf\"", {{"--log-level", "inf"}, {0}, NULL}},
    {"access_log",
     "POSENC_ACCESS_LOG must be true or false, got \"yes\"",
     {{0}, {"POSENC_ACCESS_LOG=yes"}, NULL}},
    {"access_log", "must be true or false, got 1", {{0}, {0}, "{\"access_log\": 1}"}},
    {"cors_origin", "printable text", {{"--cors-origin=a\nb"}, {0}, NULL}},
    {"warm", "a list of at most 64", {{0}, {0}, "{\"warm\": \"/a\"}"}},
    {"warm", "got [\"/a\",1]", {{0}, {0}, "{\"warm\": [\"/a\", 1]}"}},
    {"port", "--port needs a value", {{"--port"}, {0}, NULL}},
};

static void what_does_not_fit_is_refused_by_name_with_its_bounds(void **state)
{
    for (size_t c = 0; c < PE_LEN(refusals); c++) {
        pe_config *config = NULL;
        pe_problem why = {0};
        const pe_status status = read_given(&refusals[c].given, &config, NULL, &why);
        if (status != PE_INVALID_PARAMETER || strcmp(why.where, refusals[c].where) != 0 ||
            strstr(why.detail, refusals[c].detail) == NULL)
            fail_msg("case %zu: got status %d at \"%s\": \"%s\", wanted \"%s\" at \"%s\"", c,
                     (int)status, why.where, why.detail, refusals[c].detail, refusals[c].where);
        assert_null(config);
    }
}

static void a_list_that_is_too_long_is_refused(void **state)
{
    pe_buffer variable = {0};
    pe_buffer_str(&variable, "POSENC_WARM=");
    for (int k = 0; k < PE_SETTING_LIST_MAX; k++)
        pe_buffer_str(&variable, " /a");
    const struct given fits = {.variables = {pe_buffer_text(&variable)}};
    pe_config *config = read_or_fail(&fits, "as many as there may be");
    assert_int_equal(pe_config_settings(config)->warm.n, PE_SETTING_LIST_MAX);
    pe_config_free(config);

    pe_problem why = {0};
    pe_buffer_str(&variable, " /b");
    const struct given too_long = {.variables = {pe_buffer_text(&variable)}};
    config = NULL;
    assert_int_equal(read_given(&too_long, &config, NULL, &why), PE_INVALID_PARAMETER);
    assert_string_equal(why.where, "warm");
    pe_buffer_free(&variable);
}

static void a_file_that_is_asked_for_must_exist(void **state)
{
    char *flags[] = {strdup("--config=/nonexistent/posenc.json")};
    char *variables[] = {strdup("POSENC_CONFIG=/nonexistent/other.json"), NULL};
    pe_config *config = NULL;
    pe_problem why = {0};
    assert_int_equal(pe_config_read(1, flags, variables, &config, &why), PE_INVALID_PARAMETER);
    assert_string_equal(why.detail,
                        "config: cannot read /nonexistent/posenc.json: No such file or directory");
    assert_int_equal(pe_config_read(0, NULL, variables, &config, &why), PE_INVALID_PARAMETER);
    assert_string_equal(why.detail,
                        "config: cannot read /nonexistent/other.json: No such file or directory");
    free(flags[0]);
    free(variables[0]);
}

static void unknown_variables_and_service_links_are_ignored_with_a_warning(void **state)
{
    static const struct given cases[] = {
        {.variables = {"POSENC_PORT=tcp://10.0.0.7:8080"}},
        {.variables = {"POSENC_SERVICE_HOST=10.0.0.7"}},
        {.variables = {"POSENC_PORT_8080_TCP=tcp://10.0.0.7:8080"}},
        {.variables = {"POSENC_NONSENSE=1"}},
        {.variables = {"POSENC_port=1"}},
    };
    for (size_t c = 0; c < PE_LEN(cases); c++) {
        pe_config *config = NULL;
        pe_problem why = {0};
        char *log = NULL, name[64];
        assert_int_equal(read_given(&cases[c], &config, &log, &why), PE_OK);
        assert_int_equal(pe_config_settings(config)->port, 8080);
        snprintf(name, sizeof name, "\"%.*s\"", (int)strcspn(cases[c].variables[0], "="),
                 cases[c].variables[0]);
        if (strstr(log, "\"level\":\"warn\"") == NULL || strstr(log, name) == NULL)
            fail_msg("%s logged %s", cases[c].variables[0], log);
        free(log);
        pe_config_free(config);
    }
}

/* ---- what is shown ---- */

static void what_print_config_prints_can_be_read_as_a_file(void **state)
{
    const struct given first = {
        .flags = {"--port=0", "--access-log", "--warm=/a?\"x\"", "--cors-origin=", "--host=::"}};
    pe_config *config = read_or_fail(&first, "first");
    pe_buffer text = {0};
    pe_config_print(config, &text);

    const struct given second = {.file = pe_buffer_text(&text)};
    pe_config *again = read_or_fail(&second, "again");
    json_t *before = printed(config), *after = printed(again);
    const char *key;
    json_t *member;
    json_object_foreach(before, key, member)
    {
        json_t *other = json_object_get(after, key);
        json_object_del(member, "source");
        json_object_del(other, "source");
        if (!json_equal(member, other))
            fail_msg("%s changed", key);
    }
    assert_int_equal(json_object_size(before), json_object_size(after));
    json_decref(before);
    json_decref(after);
    pe_buffer_free(&text);
    pe_config_free(config);
    pe_config_free(again);
}

static void the_shipped_file_holds_every_setting_at_its_default(void **state)
{
    const char *root = getenv("POSENC_ROOT");
    char path[512];
    snprintf(path, sizeof path, "%s/config/posenc.json", root != NULL ? root : ".");
    json_error_t error;
    json_t *shipped = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (shipped == NULL)
        fail_msg("%s: %s", path, error.text);

    pe_config *config = read_or_fail(&(struct given){0}, "defaults");
    json_t *defaults = printed(config);
    const char *key;
    json_t *member;
    json_object_foreach(defaults, key, member)
    {
        json_object_del(member, "source");
        if (!json_equal(member, json_object_get(shipped, key))) {
            char *wanted = json_dumps(member, JSON_COMPACT);
            fail_msg("%s: \"%s\" should be %s", path, key, wanted);
        }
    }
    assert_int_equal(json_object_size(shipped), json_object_size(defaults));
    json_decref(shipped);
    json_decref(defaults);
    pe_config_free(config);
}

static void help_has_a_line_for_every_flag(void **state)
{
    pe_config *config = read_or_fail(&(struct given){0}, "defaults");
    json_t *defaults = printed(config);
    pe_buffer help = {0};
    pe_config_help(&help);
    const char *key;
    json_t *member;
    json_object_foreach(defaults, key, member)
    {
        char flag[64];
        snprintf(flag, sizeof flag, "\n  --%s ", key);
        for (char *c = flag; *c != '\0'; c++)
            if (*c == '_')
                *c = '-';
        if (strstr(pe_buffer_text(&help), flag) == NULL)
            fail_msg("no line for%s", flag + 1);
    }
    pe_buffer_free(&help);
    json_decref(defaults);
    pe_config_free(config);
}

static void a_flag_tells_how_many_arguments_it_takes(void **state)
{
    static const struct {
        const char *arguments[3];
        int n, width;
    } cases[] = {
        {{"--port", "1"}, 2, 2},          {{"--port=1", "2"}, 2, 1}, {{"--access-log", "x"}, 2, 1},
        {{"--access-log", "true"}, 2, 2}, {{"--config", "x"}, 2, 2}, {{"--config=x"}, 1, 1},
        {{"--head-dim", "x"}, 2, 0},      {{"port", "1"}, 2, 0},     {{"--port"}, 1, 1},
    };
    for (size_t c = 0; c < PE_LEN(cases); c++) {
        char *arguments[4];
        mutable_copies(cases[c].arguments, arguments);
        int width;
        if (pe_config_flag_setting(cases[c].n, arguments, &width) == NULL)
            width = 0;
        if (width != cases[c].width)
            fail_msg("%s takes %d arguments, wanted %d", arguments[0], width, cases[c].width);
        free_all(arguments);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_level_is_read_and_wins_over_the_one_before),
        cmocka_unit_test(what_does_not_fit_is_refused_by_name_with_its_bounds),
        cmocka_unit_test(a_list_that_is_too_long_is_refused),
        cmocka_unit_test(a_file_that_is_asked_for_must_exist),
        cmocka_unit_test(unknown_variables_and_service_links_are_ignored_with_a_warning),
        cmocka_unit_test(what_print_config_prints_can_be_read_as_a_file),
        cmocka_unit_test(the_shipped_file_holds_every_setting_at_its_default),
        cmocka_unit_test(help_has_a_line_for_every_flag),
        cmocka_unit_test(a_flag_tells_how_many_arguments_it_takes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
