/* SPDX-License-Identifier: MIT */
/* get_commands.c - `posenc get`, table, models, resolve, compare, pack list and pack make: one answer
 * of the server. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/percent.h"
#include "cli/ask.h"
#include "cli/cli.h"
#include "cli/outline.h"
#include "encodings/registry.h"
#include "formats/format.h"

#define TARGET_MAX 128
#define NAMES_MAX  64

static const char *const text_or_json[] = {"text", "json", NULL};
static const char *const json_or_text[] = {"json", "text", NULL};

/* ---- what they share ---- */

/* GET, or POST of the file of --body. */
static pe_status send(pe_asking *asking, const char *path, pe_buffer *query, pe_problem *why)
{
    pe_input body = {0};
    pe_buffer target = {0};
    pe_client_request request = {.method = "GET"};
    pe_buffer_format(&target, "%s%s%s", path, query->bytes > 0 ? "?" : "", pe_buffer_text(query));
    request.target = pe_buffer_text(&target);
    pe_status status = target.failed ? pe_fail_memory(why) : PE_OK;
    if (status == PE_OK && asking->arguments.body != NULL) {
        status = pe_ask_open(asking, asking->arguments.body, &body, why);
        request.method = "POST";
        request.parts[0] = body.content;
        request.n_parts = 1;
    }
    if (status == PE_OK)
        status = pe_ask_deliver(asking, &request, why);
    pe_input_close(&body);
    pe_buffer_free(&target);
    return status;
}

/* An answer in JSON: its text, and what it says. */
typedef struct answer {
    pe_buffer text;
    json_t *said;
} answer;

static pe_status read_answer(pe_status status, answer *out, pe_problem *why)
{
    if (status != PE_OK)
        return status;
    out->said = json_loadb(pe_buffer_text(&out->text), out->text.bytes, 0, NULL);
    return out->said != NULL ? PE_OK : pe_fail_memory(why);
}

static pe_status fetch(pe_asking *asking, const char *target, answer *out, pe_problem *why)
{
    const pe_client_request request = {.method = "GET", .target = target};
    return read_answer(pe_ask_text(asking, &request, &out->text, why), out, why);
}

/* What there is of it is freed. As it came, or for people: a line for each object of the list `of`,
 * or all of it. */
static pe_status show(pe_asking *asking, pe_status status, answer *what, bool json, const char *of,
                      const char *const *members, pe_problem *why)
{
    if (status == PE_OK && !json) {
        pe_buffer_free(&what->text);
        if (of != NULL)
            pe_outline_table(json_object_get(what->said, of), members, &what->text);
        else
            pe_outline(what->said, &what->text);
    } else if (status == PE_OK) {
        pe_buffer_str(&what->text, "\n");
    }
    if (status == PE_OK)
        status = pe_ask_print(asking, &what->text, why);
    pe_buffer_free(&what->text);
    json_decref(what->said);
    return status;
}

/* ---- get ---- */

static pe_status run_get(pe_asking *asking, pe_problem *why)
{
    pe_buffer target = {0}, none = {0};
    const char *word = asking->arguments.word[0];
    pe_buffer_format(&target, "%s%s", *word == '/' ? "" : "/v1/", word);
    const pe_status status =
        target.failed ? pe_fail_memory(why) : send(asking, pe_buffer_text(&target), &none, why);
    pe_buffer_free(&none);
    pe_buffer_free(&target);
    return status;
}

/* ---- table ---- */

static pe_status no_resource(const char *name, pe_problem *why)
{
    const char *names[NAMES_MAX];
    size_t n = 0;
    pe_buffer family = {0};
    for (; n < NAMES_MAX && pe_registry[n] != NULL; n++)
        names[n] = pe_registry[n]->name;
    const char *near = pe_nearest_name(name, names, n);
    if (pe_arguments_family(name, &family))
        near = pe_buffer_text(&family);
    const pe_status status =
        pe_fail(why, PE_NOT_FOUND, "", "no encoding is called %.100s%s%s%s", name,
                near == NULL ? "; posenc table --help lists them" : ", did you mean ",
                near == NULL ? "" : near, near == NULL ? "" : "?");
    pe_buffer_free(&family);
    return status;
}

/* A path with {name} has --name there. */
static void make_path(const pe_resource *resource, pe_buffer *query, char out[TARGET_MAX])
{
    const char *brace = strchr(resource->path, '{');
    pe_buffer others = {0};
    pe_slice name = {"", 0}, left = pe_slice_of(pe_buffer_text(query));
    snprintf(out, TARGET_MAX, "%s", resource->path);
    if (brace == NULL)
        return;
    while (left.bytes > 0) {
        const pe_slice whole = pe_slice_next(&left, '&');
        pe_slice value = whole;
        if (pe_slice_is(pe_slice_next(&value, '='), "name"))
            name = value;
        else
            pe_buffer_format(&others, "%s%.*s", others.bytes > 0 ? "&" : "", (int)whole.bytes,
                             whole.text);
    }
    snprintf(out, TARGET_MAX, "%.*s%.*s%s", (int)(brace - resource->path), resource->path,
             (int)name.bytes, name.text, strchr(brace, '}') + 1);
    pe_buffer_free(query);
    *query = others;
}

/* --format, or what the file's extension says; the server's own where there is none. */
static pe_status add_format(pe_arguments *arguments, pe_problem *why)
{
    pe_buffer known = {0};
    const char *output = arguments->output;
    const pe_format *format = NULL;
    if (arguments->format == NULL &&
        (output == NULL || strncmp(output, "-", 2) == 0 || strncmp(output, "/dev/", 5) == 0))
        return PE_OK;
    format = arguments->format != NULL ? pe_format_by_name(arguments->format)
                                       : pe_format_by_extension(output);
    if (format != NULL) {
        pe_arguments_add(&arguments->query, "format", format->name);
        return PE_OK;
    }
    for (size_t f = 0; pe_formats[f] != NULL; f++)
        pe_buffer_format(&known, "%s%s", f == 0 ? "" : ", ",
                         arguments->format != NULL ? pe_formats[f]->name
                                                   : pe_formats[f]->extension);
    const pe_status status =
        pe_fail(why, PE_INVALID_PARAMETER, "format", "%s %.100s; known are %s%s",
                arguments->format != NULL ? "no format is called"
                                          : "no format has the extension of the file",
                arguments->format != NULL ? arguments->format : output, pe_buffer_text(&known),
                arguments->format != NULL ? "" : ", or give --format");
    pe_buffer_free(&known);
    return status;
}

/* The parameters of a configuration, where flags do not give them. */
static pe_status add_config(pe_asking *asking, pe_problem *why)
{
    answer model = {0};
    const char *path = asking->arguments.config;
    if (path == NULL)
        return PE_OK;
    const pe_status status =
        read_answer(pe_ask_resolve(asking, path, &model.text, why), &model, why);
    const json_t *parameters = json_object_get(model.said, "parameters");
    const bool tells = json_object_size(parameters) > 0;
    pe_ask_add_parameters(parameters, &asking->arguments.query);
    asking->unreadable |= !tells;
    pe_buffer_free(&model.text);
    json_decref(model.said);
    if (status != PE_OK)
        return status;
    return tells ? PE_OK
                 : pe_fail(why, PE_INVALID_PARAMETER, "config",
                           "%.200s tells of no positions; settings of the server are read from "
                           "--settings FILE",
                           path);
}

static pe_status run_table(pe_asking *asking, pe_problem *why)
{
    char path[TARGET_MAX];
    pe_problem mistake;
    pe_arguments *arguments = &asking->arguments;
    const pe_resource *resource = pe_registry_find(arguments->word[0]);
    if (resource == NULL)
        return no_resource(arguments->word[0], why);
    if (resource->kind == PE_TRANSFORM && arguments->body == NULL)
        return pe_fail(why, PE_MISSING_PARAMETER, "body",
                       "%s transforms vectors: give them with --body FILE (.json, .npy or "
                       ".safetensors)",
                       resource->name);
    PE_TRY(add_config(asking, why));
    const pe_status status = add_format(arguments, why);
    asking->only_tells |= status != PE_OK;
    make_path(resource, &arguments->query, path);
    return pe_problem_gather(status, send(asking, path, &arguments->query, &mistake), &mistake,
                             why);
}

/* ---- models, configurations, scalings ---- */

static pe_status run_models(pe_asking *asking, pe_problem *why)
{
    static const char *const members[] = {"name", "encoding", "title", NULL};
    size_t format;
    answer found = {0};
    pe_buffer target = {0}, words = {0};
    const pe_arguments *arguments = &asking->arguments;
    PE_TRY(pe_ask_format(asking, text_or_json, &format, why));
    for (size_t w = 0; w < arguments->n_words; w++) {
        pe_buffer_str(&words, w > 0 ? "+" : "");
        pe_percent_encode(pe_slice_of(arguments->word[w]), "-._~", &words);
    }
    pe_buffer_format(&target, "/v1/models%s%s", words.bytes > 0 ? "?q=" : "",
                     pe_buffer_text(&words));
    const pe_status status = fetch(asking, pe_buffer_text(&target), &found, why);
    if (json_array_size(json_object_get(found.said, "models")) == 0)
        asking->code = PE_EXIT_DIFFERENT;
    pe_buffer_free(&words);
    pe_buffer_free(&target);
    return show(asking, status, &found, format == 1, "models", members, why);
}

static pe_status run_resolve(pe_asking *asking, pe_problem *why)
{
    size_t format;
    answer model = {0};
    PE_TRY(pe_ask_format(asking, json_or_text, &format, why));
    const pe_status status = read_answer(
        pe_ask_resolve(asking, asking->arguments.word[0], &model.text, why), &model, why);
    const char *encoding = json_string_value(json_object_get(model.said, "encoding"));
    if (encoding != NULL && strcmp(encoding, "unknown") == 0)
        asking->code = PE_EXIT_DIFFERENT;
    return show(asking, status, &model, format == 0, NULL, NULL, why);
}

/* Other formats than text are the server's. */
static pe_status run_compare(pe_asking *asking, pe_problem *why)
{
    static const char path[] = "/v1/rope/compare";
    answer compared = {0};
    pe_buffer target = {0};
    pe_arguments *arguments = &asking->arguments;
    const bool text = arguments->format != NULL ? strcmp(arguments->format, "text") == 0
                                                : arguments->output == NULL;
    pe_arguments_add(&arguments->query, "model", arguments->word[0]);
    pe_arguments_add(&arguments->query, "target_length", arguments->word[1]);
    if (!text) {
        PE_TRY(add_format(arguments, why));
        return send(asking, path, &arguments->query, why);
    }
    pe_buffer_format(&target, "%s?%s", path, pe_buffer_text(&arguments->query));
    const pe_status status = fetch(asking, pe_buffer_text(&target), &compared, why);
    pe_buffer_free(&target);
    return show(asking, status, &compared, false, NULL, NULL, why);
}

/* ---- packs ---- */

static pe_status run_pack_list(pe_asking *asking, pe_problem *why)
{
    static const char *const members[] = {"name", "digest", "title", NULL};
    size_t format;
    answer packs = {0};
    PE_TRY(pe_ask_format(asking, text_or_json, &format, why));
    const pe_status status = fetch(asking, "/v1/packs", &packs, why);
    return show(asking, status, &packs, format == 1, "packs", members, why);
}

static pe_status run_pack_make(pe_asking *asking, pe_problem *why)
{
    pe_buffer target = {0}, none = {0};
    pe_buffer_str(&target, "/v1/packs/");
    pe_percent_encode(pe_slice_of(asking->arguments.word[0]), "-._~@", &target);
    const pe_status status =
        target.failed ? pe_fail_memory(why) : send(asking, pe_buffer_text(&target), &none, why);
    pe_buffer_free(&none);
    pe_buffer_free(&target);
    return status;
}

/* ---- the rows ---- */

const pe_ask_row pe_ask_get = {"a path is required, as in posenc get '/v1/sinusoidal?d_model=4'", 1,
                               1, PE_FLAG_OUTPUT | PE_FLAG_BODY, run_get};
const pe_ask_row pe_ask_table = {"an encoding is required; posenc table --help lists them", 1, 1,
                                 PE_FLAG_OUTPUT | PE_FLAG_FORMAT | PE_FLAG_BODY | PE_FLAG_CONFIG |
                                     PE_FLAG_PARAMETERS,
                                 run_table};
const pe_ask_row pe_ask_models = {"", 0, PE_WORDS_MAX, PE_FLAG_OUTPUT | PE_FLAG_FORMAT, run_models};
const pe_ask_row pe_ask_resolve_file = {
    "a configuration is required: config.json, a folder with it, or model.gguf", 1, 1,
    PE_FLAG_OUTPUT | PE_FLAG_FORMAT, run_resolve};
const pe_ask_row pe_ask_compare = {
    "a model and a length are required, as in posenc compare llama-3.1-8b 262144", 2, 2,
    PE_FLAG_OUTPUT | PE_FLAG_FORMAT | PE_FLAG_PARAMETERS, run_compare};
const pe_ask_row pe_ask_pack_list = {"", 0, 0, PE_FLAG_OUTPUT | PE_FLAG_FORMAT, run_pack_list};
const pe_ask_row pe_ask_pack_make = {"the name of a pack is required; posenc pack list tells them",
                                     1, 1, PE_FLAG_OUTPUT, run_pack_make};
const pe_ask_row pe_ask_all = {.flags = PE_FLAG_OUTPUT | PE_FLAG_FORMAT | PE_FLAG_BODY |
                                        PE_FLAG_CONFIG | PE_FLAG_AGAINST | PE_FLAG_PARAMETERS};
