/* SPDX-License-Identifier: MIT */
/* ask.c - what commands that ask the server of this process have in common. */
#include "cli/ask.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/outline.h"
#include "cli/progress_line.h"
#include "files/gguf_file.h"
#include "formats/format.h"

/* ---- what goes wrong ---- */

bool pe_ask_step(pe_asking *asking, pe_status status, const pe_problem *why)
{
    asking->status = pe_problem_gather(asking->status, status, why, &asking->why);
    asking->failed |= status != PE_OK;
    return status == PE_OK;
}

bool pe_ask_file_step(pe_asking *asking, pe_status status, const pe_problem *why)
{
    asking->unreadable |= status != PE_OK;
    return pe_ask_step(asking, status, why);
}

void pe_ask_mistake(pe_asking *asking, pe_status status, const pe_problem *why)
{
    asking->status = pe_problem_gather(asking->status, status, why, &asking->why);
    asking->only_tells |= status != PE_OK;
}

/* ---- the command ---- */

/* Which of the command's formats --format is; where it is none, the server is asked for the first. */
static void choose_format(pe_asking *asking)
{
    pe_problem why;
    pe_buffer known = {0};
    const char *const *names = asking->command->formats, *wanted = asking->arguments.format;
    for (size_t f = 0; names != NULL && wanted != NULL && names[f] != NULL; f++) {
        if (strcmp(names[f], wanted) == 0)
            asking->format = f;
        pe_buffer_format(&known, "%s%s", f == 0 ? "" : ", ", names[f]);
    }
    if (known.bytes > 0 && strcmp(names[asking->format], wanted) != 0)
        pe_ask_mistake(asking,
                       pe_fail(&why, PE_INVALID_PARAMETER, "format",
                               "--format must be one of %s, got %.100s", pe_buffer_text(&known),
                               wanted),
                       &why);
    pe_buffer_free(&known);
}

static void start(pe_asking *asking)
{
    pe_problem why;
    const pe_arguments *arguments = &asking->arguments;
    choose_format(asking);
    pe_ask_mistake(
        asking, pe_own_server_start(arguments->n_settings, arguments->settings, &asking->own, &why),
        &why);
    /* One of default settings may find more. */
    if (asking->own == NULL && !pe_status_is_ours(asking->status) &&
        pe_own_server_start(0, NULL, &asking->own, &why) != PE_OK)
        asking->own = NULL;
}

int pe_ask(const pe_command *command, int n_arguments, char **arguments)
{
    pe_asking asking = {.command = command};
    pe_problem why;
    pe_ask_mistake(&asking,
                   pe_arguments_read(n_arguments, arguments, command->flags, command->words[1],
                                     &asking.arguments, &why),
                   &why);
    if (asking.arguments.n_words >= command->words[0])
        start(&asking);
    else
        pe_ask_mistake(&asking,
                       pe_fail(&why, PE_INVALID_PARAMETER, "",
                               "expected: posenc %s %s; posenc help %s tells more", command->name,
                               command->usage, command->name),
                       &why);
    pe_output_guard();
    pe_progress_line_begin();
    if (asking.own != NULL)
        command->ask(&asking);
    pe_progress_line_end();
    pe_own_server_stop(asking.own);
    pe_arguments_free(&asking.arguments);
    if (asking.status == PE_OK)
        return asking.code;
    const int code = pe_cli_fail("command_failed", &asking.why);
    const bool misused = code == PE_EXIT_USAGE && (asking.only_tells || !asking.unreadable);
    return misused ? PE_EXIT_USAGE : PE_EXIT_UNREADABLE;
}

/* ---- asking ---- */

pe_input pe_ask_open(pe_asking *asking, const char *path)
{
    pe_problem why;
    pe_input input = {0};
    if (path != NULL && !asking->failed)
        pe_ask_file_step(
            asking, pe_input_open(path, pe_own_server_bytes_max(asking->own), &input, &why), &why);
    return input;
}

/* What the server refuses: a body as a whole, or its configuration, is a file. Commands give their
 * files no type. */
static bool check_answer(pe_asking *asking, const pe_client_request *request, pe_status status,
                         pe_problem *why)
{
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
    return pe_ask_step(asking, status, why);
}

pe_buffer pe_ask_text(pe_asking *asking, const pe_client_request *request)
{
    pe_problem why;
    pe_buffer text = {0};
    if (!asking->failed)
        check_answer(asking, request, pe_own_server_fetch(asking->own, request, &text, &why), &why);
    return text;
}

json_t *pe_ask_json(pe_asking *asking, const pe_client_request *request, pe_buffer *text)
{
    pe_problem why;
    *text = pe_ask_text(asking, request);
    json_t *said = asking->failed ? NULL : json_loadb(pe_buffer_text(text), text->bytes, 0, NULL);
    if (said == NULL && !asking->failed)
        pe_ask_step(asking, pe_fail_memory(&why), &why);
    return said;
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

static void deliver(pe_asking *asking, const pe_client_request *request)
{
    pe_problem why;
    pe_client client;
    const char *path = asking->arguments.output;
    if (!check_answer(asking, request, pe_own_server_ask(asking->own, request, &client, &why),
                      &why))
        return;
    const pe_status status = client.status < 300
                                 ? check_terminal(&asking->arguments, client.type, &why)
                                 : pe_fail(&why, PE_NOT_FOUND, "", "%.100s is answered with %s",
                                           request->target, client.line);
    if (pe_ask_step(asking, status, &why) && !asking->only_tells)
        pe_ask_file_step(asking, pe_output_write(path, &client, (pe_slice){0}, &why), &why);
}

void pe_ask_deliver(pe_asking *asking, const char *path)
{
    pe_problem why;
    pe_buffer target = {0}, *query = &asking->arguments.query;
    pe_buffer_format(&target, "%s%s%s", path, query->bytes > 0 ? "?" : "", pe_buffer_text(query));
    pe_input body = pe_ask_open(asking, asking->arguments.body);
    const pe_client_request request = {.method = body.path != NULL ? "POST" : "GET",
                                       .target = pe_buffer_text(&target),
                                       .parts = {body.content},
                                       .n_parts = body.path != NULL};
    if (!asking->failed && pe_ask_step(asking, target.failed ? pe_fail_memory(&why) : PE_OK, &why))
        deliver(asking, &request);
    pe_input_close(&body);
    pe_buffer_free(&target);
}

void pe_ask_print(pe_asking *asking, pe_buffer *text)
{
    pe_problem why;
    const char *path = asking->arguments.output;
    if (!asking->failed && !asking->only_tells)
        pe_ask_file_step(asking,
                         text->failed ? pe_fail_memory(&why)
                                      : pe_output_write(path, NULL, pe_buffer_slice(text), &why),
                         &why);
    pe_buffer_free(text);
}

void pe_ask_show(pe_asking *asking, pe_buffer *text, json_t *said, bool for_people)
{
    const pe_command *command = asking->command;
    if (for_people) {
        pe_buffer_free(text);
        if (command->list != NULL)
            pe_outline_table(json_object_get(said, command->list), command->columns, PE_COLUMNS_MAX,
                             text);
        else
            pe_outline(said, text);
    } else {
        pe_buffer_str(text, "\n");
    }
    pe_ask_print(asking, text);
    json_decref(said);
}

/* ---- configurations ---- */

json_t *pe_ask_resolved(pe_asking *asking, const pe_input *input, bool whole, pe_buffer *text)
{
    pe_problem why;
    json_t *model = NULL;
    pe_buffer excerpt = {0};
    pe_slice body = input->content;
    pe_status status = PE_OK;
    if (pe_gguf_file_is(body)) {
        status = pe_gguf_file_excerpt(body, &excerpt, &why);
        body = status == PE_OK ? pe_buffer_slice(&excerpt) : body;
    }
    const pe_client_request request = {
        .method = "POST", .target = "/v1/models/resolve", .parts = {body}, .n_parts = 1};
    /* Of a file that is only a head the server says what it lacks. */
    if (!whole || pe_ask_file_step(asking, status, &why))
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
    pe_problem why;
    if (path != NULL && pe_ask_has(&asking->arguments.query, "model"))
        pe_ask_step(asking,
                    pe_fail(&why, PE_INVALID_PARAMETER, "config",
                            "--config and --model are two configurations: give one"),
                    &why);
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
