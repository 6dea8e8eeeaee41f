/* SPDX-License-Identifier: MIT */
/* ask.c - what commands that ask the server of this process have in common. */
#include "cli/ask.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "files/gguf_file.h"
#include "formats/format.h"

#define BLOCK_BYTES ((size_t)65536)

/* ---- what goes wrong ---- */

bool pe_ask_step(pe_asking *asking, pe_status status)
{
    asking->status = pe_problem_gather(asking->status, status, &asking->step, &asking->why);
    asking->failed |= status != PE_OK;
    return status == PE_OK;
}

bool pe_ask_file_step(pe_asking *asking, pe_status status)
{
    asking->unreadable |= status != PE_OK;
    return pe_ask_step(asking, status);
}

void pe_ask_mistake(pe_asking *asking, pe_status status)
{
    asking->status = pe_problem_gather(asking->status, status, &asking->step, &asking->why);
    asking->only_reports |= status != PE_OK;
}

/* ---- the command ---- */

/* Which of the command's formats --format is; where it is none, the server is asked for the first. */
static void choose_format(pe_asking *asking)
{
    pe_buffer known = {0};
    const char *const *names = asking->command->formats, *wanted = asking->arguments.format;
    for (size_t f = 0; names != NULL && wanted != NULL && names[f] != NULL; f++) {
        if (strcmp(names[f], wanted) == 0)
            asking->format = f;
        pe_buffer_format(&known, "%s%s", f == 0 ? "" : ", ", names[f]);
    }
    if (known.bytes > 0 && strcmp(names[asking->format], wanted) != 0)
        pe_ask_mistake(asking, pe_fail(&asking->step, PE_INVALID_PARAMETER, "format",
                                       "--format must be one of %s, got %.100s",
                                       pe_buffer_text(&known), wanted));
    pe_buffer_free(&known);
}

/* ---- the server, whose one client is the command ---- */

static void stop(pe_own_server *own)
{
    if (own->fd >= 0)
        close(own->fd);
    if (own->server != NULL)
        pe_server_stop(own->server);
    pe_config_free(own->config);
    *own = (pe_own_server){.fd = -1};
}

static pe_status start(pe_asking *asking, int n_settings, char **settings)
{
    pe_own_server *own = &asking->own;
    pe_status status = pe_cli_configure(n_settings, settings, &own->config, &asking->step);
    /* What servers log beside is no news here. */
    if (status == PE_OK && pe_config_is_default(own->config, "log_level"))
        pe_log_set_level(PE_LOG_WARN);
    if (status == PE_OK)
        status = pe_server_start_within(own->config, &own->server, &asking->step);
    if (status != PE_OK)
        stop(own);
    return status;
}

int pe_ask(const pe_command *command, int n_arguments, char **arguments)
{
    pe_asking asking = {.command = command, .own.fd = -1};
    pe_arguments *read = &asking.arguments;
    pe_ask_mistake(&asking, pe_arguments_read(n_arguments, arguments, command->flags,
                                              command->words[1], read, &asking.step));
    if (read->n_words >= command->words[0]) {
        choose_format(&asking);
        pe_ask_mistake(&asking, start(&asking, read->n_settings, read->settings));
        /* One of default settings may find more. */
        if (asking.own.server == NULL && !pe_status_is_ours(asking.status))
            (void)!start(&asking, 0, NULL);
    } else {
        pe_ask_mistake(&asking, pe_fail(&asking.step, PE_INVALID_PARAMETER, "",
                                        "expected: posenc %s %s; posenc help %s tells more",
                                        command->name, command->usage, command->name));
    }
    pe_output_guard();
    pe_progress_line_begin();
    if (asking.own.server != NULL)
        command->ask(&asking);
    pe_progress_line_end();
    stop(&asking.own);
    pe_arguments_free(read);
    if (asking.status == PE_OK)
        return asking.code;
    const int code = pe_cli_fail("command_failed", &asking.why);
    const bool misused = code == PE_EXIT_USAGE && (asking.only_reports || !asking.unreadable);
    return misused ? PE_EXIT_USAGE : PE_EXIT_UNREADABLE;
}

/* ---- problems ---- */

static pe_status problem_of(const json_t *problem, pe_problem *why)
{
    size_t i;
    json_t *error;
    const json_t *errors = json_object_get(problem, "errors");
    const char *code = json_string_value(json_object_get(problem, "code"));
    const char *detail = json_string_value(json_object_get(problem, "detail"));
    pe_status status = code != NULL ? pe_status_by_code(code) : PE_OK;
    if (status == PE_OK || detail == NULL)
        return pe_fail(why, PE_INTERNAL, "", "the answer is no problem that is known");
    const char *where = json_string_value(json_object_get(json_array_get(errors, 0), "parameter"));
    (void)pe_fail(why, status, where != NULL ? where : "", "%s", detail);
    json_array_foreach(errors, i, error)
    {
        pe_problem mistake; /* of the list, whose detail need not name the parameter */
        const char *parameter = json_string_value(json_object_get(error, "parameter"));
        const char *pointer = json_string_value(json_object_get(error, "pointer"));
        const char *text = json_string_value(json_object_get(error, "detail"));
        where = parameter != NULL ? parameter : pointer != NULL ? pointer : "";
        (void)pe_fail(&mistake, why->status, where, "%s: %s", where, text != NULL ? text : "");
        if (i > 0)
            status = pe_problem_gather(status, why->status, &mistake, why);
    }
    return status;
}

/* ---- asking ---- */

/* Leaves the body of the answer to pe_client_read. A problem is reported with all mistakes. */
static pe_status ask(pe_asking *asking, const pe_client_request *request, pe_client *out)
{
    pe_own_server *own = &asking->own;
    pe_problem *why = &asking->step;
    pe_client_request local = *request;
    char text[16384];
    size_t bytes = 0, got = 1;
    if (own->fd >= 0)
        close(own->fd);
    own->fd = -1;
    PE_TRY(pe_server_connect(own->server, &own->fd, why));
    local.host = "localhost";
    *out = (pe_client){.fd = own->fd};
    PE_TRY(pe_client_ask(out, &local, why));
    if (out->status < 400)
        return PE_OK;
    while (got > 0 && bytes < sizeof text) {
        PE_TRY(pe_client_read(out, text + bytes, sizeof text - bytes, &got, why));
        bytes += got;
    }
    json_t *problem = json_loadb(text, bytes, 0, NULL);
    const pe_status status = problem_of(problem, why);
    json_decref(problem);
    return status;
}

pe_input pe_ask_open(pe_asking *asking, const char *path)
{
    pe_input input = {0};
    if (path == NULL || asking->failed)
        return input;
    const size_t most = (size_t)pe_config_settings(asking->own.config)->verify_max_body_bytes;
    pe_ask_file_step(asking, pe_input_open(path, most, &input, &asking->step));
    return input;
}

/* What the server refuses: a body as a whole, or its configuration, is a file. Commands give their
 * files no type. */
static bool check_answer(pe_asking *asking, const pe_client_request *request, pe_status status)
{
    pe_problem *why = &asking->step;
    const bool whole = status == PE_MALFORMED_REQUEST || status == PE_BODY_TOO_LARGE ||
                       status == PE_UNSUPPORTED_MEDIA_TYPE;
    if (status != PE_OK && request->n_parts > 0)
        asking->unreadable |= (whole && why->where[0] == '\0') || strcmp(why->where, "config") == 0;
    if (status == PE_UNSUPPORTED_MEDIA_TYPE && request->n_parts > 0 &&
        strstr(why->detail, "got none") != NULL)
        (void)pe_fail(why, status, "", "%s",
                      strstr(request->target, "resolve") != NULL
                          ? "the file is no configuration: it begins neither as JSON nor as GGUF"
                          : "the file begins as none that is read: npy, npz, safetensors, CSV, "
                            "GGUF or JSON; plain numbers tell no shape, and npy does");
    return pe_ask_step(asking, status);
}

pe_buffer pe_ask_text(pe_asking *asking, const pe_client_request *request)
{
    pe_client client;
    pe_buffer text = {0};
    if (asking->failed)
        return text;
    pe_status status = ask(asking, request, &client);
    for (size_t got = 1; status == PE_OK && got > 0; text.bytes += got) {
        char *at = pe_buffer_reserve(&text, BLOCK_BYTES);
        got = 0;
        status = at == NULL ? pe_fail_memory(&asking->step)
                            : pe_client_read(&client, at, BLOCK_BYTES, &got, &asking->step);
    }
    check_answer(asking, request, status);
    return text;
}

json_t *pe_ask_json(pe_asking *asking, const pe_client_request *request, pe_buffer *text)
{
    *text = pe_ask_text(asking, request);
    json_t *answer = asking->failed ? NULL : json_loadb(pe_buffer_text(text), text->bytes, 0, NULL);
    if (answer == NULL && !asking->failed)
        pe_ask_step(asking, pe_fail_memory(&asking->step));
    return answer;
}

/* ---- the answer ---- */

/* Bytes that are no text would change what a terminal does. */
static pe_status check_terminal(const pe_arguments *arguments, const char *type, pe_problem *why)
{
    const char *name = type, *extension = "";
    bool text = strncmp(type, "text/", 5) == 0 || strstr(type, "json") != NULL;
    for (size_t f = 0; pe_formats[f] != NULL; f++)
        if (strcmp(pe_formats[f]->media_type, type) == 0) {
            text = pe_formats[f]->is_text;
            name = pe_formats[f]->name;
            extension = pe_formats[f]->extension;
        }
    if (text || arguments->output != NULL || isatty(STDOUT_FILENO) == 0)
        return PE_OK;
    return pe_fail(why, PE_INVALID_PARAMETER, "output",
                   "%s is binary, and standard output is a terminal: give -o FILE%s, or -o - to "
                   "write it there",
                   name, extension);
}

void pe_ask_deliver(pe_asking *asking, const char *path)
{
    pe_client client;
    pe_problem *why = &asking->step;
    const pe_arguments *arguments = &asking->arguments;
    pe_buffer target = {0}, *query = &asking->arguments.query;
    pe_buffer_format(&target, "%s%s%s", path, query->bytes > 0 ? "?" : "", pe_buffer_text(query));
    pe_input body = pe_ask_open(asking, arguments->body);
    const pe_client_request request = {
        .target = pe_buffer_text(&target), .parts = {body.content}, .n_parts = body.path != NULL};
    pe_status status = target.failed ? pe_fail_memory(why) : PE_OK;
    if (!asking->failed && pe_ask_step(asking, status) &&
        check_answer(asking, &request, ask(asking, &request, &client))) {
        status = client.status < 300 ? check_terminal(arguments, client.type, why)
                                     : pe_fail(why, PE_NOT_FOUND, "", "%.100s is answered with %s",
                                               request.target, client.line);
        if (pe_ask_step(asking, status) && !asking->only_reports)
            pe_ask_file_step(asking,
                             pe_output_write(arguments->output, &client, (pe_slice){0}, why));
    }
    pe_input_close(&body);
    pe_buffer_free(&target);
}

void pe_ask_print(pe_asking *asking, pe_buffer *text)
{
    pe_problem *why = &asking->step;
    const char *path = asking->arguments.output;
    if (!asking->failed && !asking->only_reports)
        pe_ask_file_step(asking, text->failed
                                     ? pe_fail_memory(why)
                                     : pe_output_write(path, NULL, pe_buffer_slice(text), why));
    pe_buffer_free(text);
}

/* ---- configurations ---- */

json_t *pe_ask_resolved(pe_asking *asking, const pe_input *input, bool whole, pe_buffer *text)
{
    json_t *model = NULL;
    pe_buffer excerpt = {0};
    pe_slice body = input->content;
    pe_status status = PE_OK;
    if (pe_gguf_file_is(body)) {
        status = pe_gguf_file_excerpt(body, &excerpt, &asking->step);
        body = status == PE_OK ? pe_buffer_slice(&excerpt) : body;
    }
    const pe_client_request request = {
        .target = "/v1/models/resolve", .parts = {body}, .n_parts = 1};
    /* Of a file that is only a head the server says what it lacks. */
    if (!whole || pe_ask_file_step(asking, status))
        model = pe_ask_json(asking, &request, text);
    asking->unreadable |= asking->failed && input->path != NULL; /* it is open */
    pe_buffer_free(&excerpt);
    return model;
}

bool pe_ask_has(pe_buffer *query, const char *name)
{
    pe_slice left = pe_slice_of(pe_buffer_text(query));
    while (left.bytes > 0) {
        pe_slice one = pe_slice_next(&left, '&');
        if (pe_slice_is(pe_slice_next(&one, '='), name))
            return true;
    }
    return false;
}

pe_input pe_ask_open_config(pe_asking *asking, const char *path, char name[static 4096])
{
    struct stat facts;
    const bool folder = path != NULL && stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
    if (path != NULL && pe_ask_has(&asking->arguments.query, "model"))
        pe_ask_step(asking, pe_fail(&asking->step, PE_INVALID_PARAMETER, "config",
                                    "--config and --model are two configurations: give one"));
    snprintf(name, 4096, folder ? "%s/config.json" : "%s", path != NULL ? path : "");
    return pe_ask_open(asking, path != NULL ? name : NULL);
}

json_t *pe_ask_resolved_path(pe_asking *asking, const char *path, pe_buffer *text)
{
    char name[4096];
    pe_input input = pe_ask_open_config(asking, path, name);
    json_t *model = pe_ask_resolved(asking, &input, false, text);
    pe_input_close(&input);
    return model;
}

static void add_value(const json_t *value, pe_buffer *out)
{
    size_t i;
    json_t *item;
    if (json_is_string(value))
        pe_buffer_str(out, json_string_value(value));
    else if (json_is_boolean(value))
        pe_buffer_str(out, json_is_true(value) ? "true" : "false");
    else if (json_is_number(value))
        pe_buffer_format(out, "%.17g", json_number_value(value));
    json_array_foreach(value, i, item)
    {
        pe_buffer_str(out, i > 0 ? "," : "");
        add_value(item, out);
    }
}

void pe_ask_add_parameters(const json_t *parameters, pe_buffer *query)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)parameters, name, value)
    {
        pe_buffer text = {0};
        add_value(value, &text);
        if (!pe_ask_has(query, name))
            pe_arguments_add(query, name, pe_buffer_text(&text));
        pe_buffer_free(&text);
    }
}
