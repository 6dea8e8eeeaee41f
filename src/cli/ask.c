/* SPDX-License-Identifier: MIT */
/* ask.c - what commands that ask the server of this process have in common. */
#include "cli/ask.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "files/gguf_file.h"
#include "formats/format.h"

/* ---- the command ---- */

static pe_status start(pe_asking *asking, pe_status status, pe_problem *why)
{
    pe_problem mistake;
    status =
        pe_problem_gather(status,
                          pe_own_server_start(asking->arguments.n_settings,
                                              asking->arguments.settings, &asking->own, &mistake),
                          &mistake, why);
    asking->only_tells = status != PE_OK;
    /* The server may find more. */
    if (asking->own == NULL && !pe_status_is_ours(status) &&
        pe_own_server_start(0, NULL, &asking->own, &mistake) != PE_OK)
        asking->own = NULL;
    return status;
}

int pe_ask(const pe_ask_row *row, int n_arguments, char **arguments)
{
    pe_asking asking = {0};
    pe_problem why, mistake;
    pe_status status = pe_arguments_read(n_arguments, arguments, row->flags, row->words_max,
                                         &asking.arguments, &why);
    const bool enough = asking.arguments.n_words >= row->words_min;
    if (!enough)
        status = pe_problem_gather(
            status, pe_fail(&mistake, PE_INVALID_PARAMETER, "", "%s", row->needs), &mistake, &why);
    else
        status = start(&asking, status, &why);
    if (enough && asking.own != NULL)
        status = pe_problem_gather(status, row->run(&asking, &mistake), &mistake, &why);
    pe_own_server_stop(asking.own);
    pe_arguments_free(&asking.arguments);
    if (status == PE_OK)
        return asking.code;
    const int code = pe_cli_fail("command_failed", &why);
    const bool misused = code == PE_EXIT_USAGE && (asking.only_tells || !asking.unreadable);
    return misused ? PE_EXIT_USAGE : PE_EXIT_UNREADABLE;
}

/* ---- asking ---- */

pe_status pe_ask_open(pe_asking *asking, const char *path, pe_input *out, pe_problem *why)
{
    const pe_status status = pe_input_open(path, pe_own_server_bytes_max(asking->own), out, why);
    asking->unreadable |= status != PE_OK;
    return status;
}

/* A body that is refused as a whole, or its configuration. Commands give their files no type. */
static pe_status judge(pe_asking *asking, const pe_client_request *request, pe_status status,
                       pe_problem *why)
{
    const bool whole = status == PE_MALFORMED_REQUEST || status == PE_BODY_TOO_LARGE ||
                       status == PE_UNSUPPORTED_MEDIA_TYPE;
    if (status == PE_OK || request->n_parts == 0)
        return status;
    asking->unreadable |= (whole && why->where[0] == '\0') || strcmp(why->where, "config") == 0;
    if (status == PE_UNSUPPORTED_MEDIA_TYPE && strstr(why->detail, "got none") != NULL)
        return pe_fail(why, status, "",
                       "the file begins as none that is read: npy, npz, safetensors, GGUF or JSON");
    return status;
}

pe_status pe_ask_text(pe_asking *asking, const pe_client_request *request, pe_buffer *out,
                      pe_problem *why)
{
    return judge(asking, request, pe_own_server_fetch(asking->own, request, out, why), why);
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

static pe_status copy(pe_client *client, pe_output *output, pe_problem *why)
{
    char block[65536];
    size_t got = 1;
    pe_status status = PE_OK;
    while (status == PE_OK && got > 0) {
        status = pe_client_read(client, block, sizeof block, &got, why);
        if (status == PE_OK)
            status = pe_output_write(output, (pe_slice){block, got}, why);
    }
    return status;
}

pe_status pe_ask_deliver(pe_asking *asking, const pe_client_request *request, pe_problem *why)
{
    pe_client client;
    pe_output output;
    PE_TRY(judge(asking, request, pe_own_server_ask(asking->own, request, &client, why), why));
    if (client.status >= 300)
        return pe_fail(why, PE_NOT_FOUND, "", "%.100s is answered with %s", request->target,
                       client.line);
    if (asking->only_tells)
        return PE_OK;
    PE_TRY(check_terminal(&asking->arguments, client.type, why));
    pe_status status = pe_output_open(asking->arguments.output, &output, why);
    if (status == PE_OK)
        status = pe_output_close(&output, copy(&client, &output, why), why);
    asking->unreadable |= status != PE_OK;
    return status;
}

pe_status pe_ask_print(pe_asking *asking, pe_buffer *text, pe_problem *why)
{
    pe_output output;
    pe_status status = text->failed ? pe_fail_memory(why) : PE_OK;
    if (status == PE_OK && !asking->only_tells) {
        status = pe_output_open(asking->arguments.output, &output, why);
        if (status == PE_OK)
            status =
                pe_output_close(&output, pe_output_write(&output, pe_buffer_slice(text), why), why);
        asking->unreadable |= status != PE_OK;
    }
    pe_buffer_free(text);
    return status;
}

pe_status pe_ask_format(const pe_asking *asking, const char *const *names, size_t *out,
                        pe_problem *why)
{
    pe_buffer known = {0};
    const char *wanted = asking->arguments.format;
    for (*out = 0; names[*out] != NULL; ++*out) {
        if (wanted == NULL || strcmp(names[*out], wanted) == 0) {
            pe_buffer_free(&known);
            return PE_OK;
        }
        pe_buffer_format(&known, "%s%s", *out == 0 ? "" : ", ", names[*out]);
    }
    const pe_status status =
        pe_fail(why, PE_INVALID_PARAMETER, "format", "--format must be one of %s, got %.100s",
                pe_buffer_text(&known), wanted);
    pe_buffer_free(&known);
    return status;
}

/* ---- configurations ---- */

/* A folder is that of a model. */
static void find_config(const char *path, char *out, size_t room)
{
    struct stat facts;
    const bool folder = stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
    snprintf(out, room, folder ? "%s/config.json" : "%s", path);
}

pe_status pe_ask_resolve(pe_asking *asking, const char *path, pe_buffer *out, pe_problem *why)
{
    char name[4096];
    pe_input input;
    find_config(path, name, sizeof name);
    PE_TRY(pe_ask_open(asking, name, &input, why));
    size_t metadata;
    pe_stored_list none = {0};
    /* Of a file that is only a head the server says what it lacks. */
    if (!pe_gguf_file_is(input.content) ||
        pe_gguf_file_tensors(input.content, "", &metadata, &none, why) != PE_OK)
        metadata = input.content.bytes;
    const pe_client_request request = {.method = "POST",
                                       .target = "/v1/models/resolve",
                                       .parts = {{input.content.text, metadata}},
                                       .n_parts = 1};
    const pe_status status = pe_ask_text(asking, &request, out, why);
    pe_input_close(&input);
    return status;
}

static void add_value(const json_t *value, pe_buffer *out)
{
    size_t i;
    json_t *item;
    if (json_is_string(value))
        pe_buffer_str(out, json_string_value(value));
    else if (json_is_boolean(value))
        pe_buffer_str(out, json_is_true(value) ? "true" : "false");
    else if (json_is_integer(value))
        pe_buffer_format(out, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        pe_buffer_format(out, "%.17g", json_real_value(value));
    json_array_foreach(value, i, item)
    {
        pe_buffer_str(out, i > 0 ? "," : "");
        add_value(item, out);
    }
}

/* "&a=1&b=2" has b. */
static bool has(pe_buffer *query, const char *name)
{
    pe_slice left = pe_slice_of(pe_buffer_text(query));
    while (left.bytes > 0) {
        pe_slice one = pe_slice_next(&left, '&');
        if (pe_slice_is(pe_slice_next(&one, '='), name))
            return true;
    }
    return false;
}

void pe_ask_add_parameters(const json_t *parameters, pe_buffer *query)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)parameters, name, value)
    {
        pe_buffer text = {0};
        add_value(value, &text);
        if (!has(query, name))
            pe_arguments_add(query, name, pe_buffer_text(&text));
        pe_buffer_free(&text);
    }
}
