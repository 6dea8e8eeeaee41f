/* SPDX-License-Identifier: MIT */
/* get_commands.c - `posenc table`, resolve, and what is one request: get, models, compare, packs. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/ask.h"
#include "encodings/registry.h"
#include "formats/format.h"
#include "models/catalogue/catalogue.h"

#define TARGET_MAX 128

/* ---- the format ---- */

/* Asks for the format of --format, or of the file's extension; for none where there is neither. */
static void add_format(pe_asking *asking)
{
    pe_arguments *arguments = &asking->arguments;
    const char *output = arguments->output, *name = arguments->format;
    pe_buffer known = {0};
    if (name == NULL && output != NULL && strncmp(output, "-", 2) != 0 &&
        strncmp(output, "/dev/", 5) != 0) {
        const pe_format *format = pe_format_by_extension(output);
        for (size_t f = 0; pe_formats[f] != NULL; f++)
            pe_buffer_format(&known, "%s%s", f == 0 ? "" : ", ", pe_formats[f]->extension);
        name = format != NULL ? format->name : NULL;
        if (name == NULL)
            pe_ask_mistake(asking, pe_fail(&asking->step, PE_INVALID_PARAMETER, "format",
                                           "no format has the extension of the file %.100s; known "
                                           "are %s, or give --format",
                                           output, pe_buffer_text(&known)));
    }
    if (name != NULL)
        pe_arguments_add(&arguments->query, "format", name);
    pe_buffer_free(&known);
}

/* ---- a model's configuration ---- */

/* The parameters that a resource has of a configuration, where flags do not give them. A comparison
 * scales anew what the model was trained with. */
static void add_config(pe_asking *asking, const pe_resource *resource, const char *path)
{
    pe_buffer text = {0};
    const char *name;
    json_t *value, *model = pe_ask_resolved_path(asking, path, &text), *taken = json_object();
    json_t *parameters = json_object_get(model, "parameters");
    const char *encoding = json_string_value(json_object_get(model, "encoding"));
    const bool compares = resource == &pe_rope_compare;
    json_t *trained = json_object_get(parameters, "original_max_position_embeddings");
    json_object_foreach(parameters, name, value)
    {
        if (!compares ||
            (pe_params_find(resource->param_sets, name) != NULL && strcmp(name, "factor") != 0))
            json_object_set(taken, name, value);
    }
    if (compares && trained != NULL)
        json_object_set(taken, "max_position_embeddings", trained);
    pe_ask_add_parameters(taken, &asking->arguments.query);
    if (encoding != NULL && json_object_size(parameters) == 0)
        pe_ask_file_step(asking,
                         pe_fail(&asking->step, PE_INVALID_PARAMETER, "config",
                                 "%.200s tells of no positions; settings of the server are read "
                                 "from --settings FILE",
                                 path));
    else if (encoding != NULL && strcmp(encoding, resource->encoding) != 0)
        pe_ask_step(asking, pe_fail(&asking->step, PE_INVALID_PARAMETER, "config",
                                    "%.200s encodes positions by %s, not %s", path, encoding,
                                    resource->encoding));
    pe_buffer_free(&text);
    json_decref(taken);
    json_decref(model);
}

/* ---- JSON for people ---- */

#define INDENT    2
#define ITEMS_MAX 8 /* of a list of numbers or words */
#define NEST_MAX  16

static void put_scalar(const json_t *value, pe_buffer *out)
{
    if (json_is_string(value))
        pe_buffer_str(out, json_string_value(value));
    else if (json_is_number(value))
        pe_buffer_format(out, "%.10g", json_number_value(value));
    else
        pe_buffer_str(out, json_is_true(value) ? "true" : json_is_false(value) ? "false" : "-");
}

/* A line for each member, indented by what it is part of; numbers of a list side by side, of long ones
 * the first. */
static void put(const char *name, const json_t *value, int depth, pe_buffer *out);

static void put_members(const json_t *value, int depth, pe_buffer *out)
{
    size_t i;
    const char *name;
    json_t *member;
    json_object_foreach((json_t *)(uintptr_t)value, name, member)
    {
        put(name, member, depth, out);
    }
    json_array_foreach(value, i, member)
    {
        put("-", member, depth, out);
    }
}

static void put(const char *name, const json_t *value, int depth, pe_buffer *out)
{
    pe_buffer_format(out, "%*s%s%s", INDENT * depth, "", name, strcmp(name, "-") != 0 ? ":" : "");
    const json_t *first = json_array_get(value, 0);
    if ((json_is_object(value) || json_is_object(first) || json_is_array(first)) &&
        depth < NEST_MAX) {
        pe_buffer_str(out, "\n");
        put_members(value, depth + 1, out);
        return;
    }
    pe_buffer_str(out, " ");
    const size_t n = json_array_size(value);
    for (size_t i = 0; i < n && i < ITEMS_MAX; i++) {
        pe_buffer_str(out, i > 0 ? ", " : "");
        put_scalar(json_array_get(value, i), out);
    }
    if (n > ITEMS_MAX)
        pe_buffer_format(out, ", ... (%zu)", n);
    if (!json_is_array(value))
        put_scalar(value, out);
    pe_buffer_str(out, "\n");
}

/* A line for each object of a list, with these n members in columns. */
static void put_table(const json_t *list, const char *const *members, size_t n, pe_buffer *out)
{
    size_t i, width[PE_COLUMNS_MAX] = {0};
    json_t *row;
    for (size_t m = 0; m + 1 < n; m++) /* the last one is as wide as it is */
        json_array_foreach(list, i, row)
        {
            const size_t bytes = json_string_length(json_object_get(row, members[m]));
            width[m] = bytes > width[m] ? bytes : width[m];
        }
    json_array_foreach(list, i, row)
    {
        for (size_t m = 0; m < n; m++) {
            const char *text = json_string_value(json_object_get(row, members[m]));
            pe_buffer_format(out, "%-*s%s", (int)width[m], text != NULL ? text : "-",
                             m + 1 == n ? "\n" : "  ");
        }
    }
}

/* JSON goes to --output, as it came or for people; both are freed. */
static void show(pe_asking *asking, pe_buffer *text, json_t *answer, bool for_people)
{
    const pe_command *command = asking->command;
    const json_t *list = json_object_get(answer, command->list != NULL ? command->list : "");
    if (for_people)
        pe_buffer_free(text);
    if (!for_people)
        pe_buffer_str(text, "\n");
    else if (command->list != NULL)
        put_table(list, command->columns, PE_COLUMNS_MAX, text);
    else
        put_members(answer, 0, text);
    pe_ask_print(asking, text);
    json_decref(answer);
}

/* ---- one request ---- */

/* Words are the row's parameters, and in the place of a model its configuration may be; where it has
 * none, the first one is a path or the end of one. */
static void place_words(pe_asking *asking, pe_buffer *path)
{
    const pe_command *command = asking->command;
    pe_arguments *arguments = &asking->arguments;
    size_t w = 0;
    const char *first = arguments->n_words > 0 ? arguments->word[0] : "";
    const bool ends = command->parameters[0] == NULL;
    pe_buffer_str(path, command->path != NULL           ? command->path
                        : *first == '/'                 ? ""
                        : strncmp(first, "v1/", 3) == 0 ? "/"
                                                        : "/v1/");
    pe_buffer_str(path, ends ? first : "");
    for (size_t p = 0; p < PE_PARAMETERS_MAX && command->parameters[p] != NULL; p++) {
        const bool is_last = p + 1 == PE_PARAMETERS_MAX || command->parameters[p + 1] == NULL;
        pe_buffer value = {0};
        for (size_t n = 0; w < arguments->n_words && (is_last || n == 0); n++, w++)
            pe_buffer_format(&value, "%s%s", n > 0 ? " " : "", arguments->word[w]);
        if (strcmp(command->parameters[p], "model") == 0 &&
            access(pe_buffer_text(&value), F_OK) == 0)
            add_config(asking, &pe_rope_compare, pe_buffer_text(&value));
        else if (value.bytes > 0)
            pe_arguments_add(&arguments->query, command->parameters[p], pe_buffer_text(&value));
        pe_buffer_free(&value);
    }
}

/* The answer is JSON, and is looked at. */
static void ask_json(pe_asking *asking, const char *path, bool for_people)
{
    pe_buffer text, target = {0};
    const char *list = asking->command->list;
    pe_buffer_format(&target, "%s?%s", path, pe_buffer_text(&asking->arguments.query));
    json_t *answer =
        pe_ask_json(asking, &(pe_client_request){.target = pe_buffer_text(&target)}, &text);
    if (list != NULL && json_array_size(json_object_get(answer, list)) == 0)
        asking->code = PE_EXIT_DIFFERENT;
    show(asking, &text, answer, for_people);
    pe_buffer_free(&target);
}

void pe_ask_request(pe_asking *asking)
{
    const pe_command *command = asking->command;
    const pe_arguments *arguments = &asking->arguments;
    const bool outlined =
        command->outlined && (arguments->format != NULL ? strcmp(arguments->format, "text") == 0
                                                        : arguments->output == NULL);
    const char *word = command->path == NULL ? arguments->word[0] : "", *host = strstr(word, "://");
    pe_buffer path = {0};
    if (host != NULL && host < word + strcspn(word, "/?")) {
        const char *place = strchr(host + 3, '/');
        pe_ask_step(asking,
                    pe_fail(&asking->step, PE_INVALID_PARAMETER, "",
                            "get asks no other server (curl does): give the path alone, '%.200s'",
                            place != NULL ? place : "/v1"));
        return;
    }
    place_words(asking, &path);
    if (outlined || command->list != NULL) {
        ask_json(asking, pe_buffer_text(&path), outlined || asking->format == 0);
    } else {
        if (command->outlined)
            add_format(asking);
        pe_ask_deliver(asking, pe_buffer_text(&path));
    }
    pe_buffer_free(&path);
}

/* What is no file may be a model's name: then what the catalogue has of it is shown. */
void pe_ask_resolve(pe_asking *asking)
{
    char path[TARGET_MAX];
    pe_problem why;
    const pe_catalogue_file *named;
    pe_buffer text = {0};
    const char *word = asking->arguments.word[0];
    if (access(word, F_OK) != 0 && pe_catalogue_find(word, &named, &why) == PE_OK) {
        snprintf(path, sizeof path, "/v1/models/%s", named->name);
        ask_json(asking, path, asking->format == 1);
        return;
    }
    json_t *model = pe_ask_resolved_path(asking, word, &text);
    const char *encoding = json_string_value(json_object_get(model, "encoding"));
    if (encoding != NULL && strcmp(encoding, "unknown") == 0)
        asking->code = PE_EXIT_DIFFERENT;
    show(asking, &text, model, asking->format == 1);
}

/* ---- table ---- */

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

void pe_ask_table(pe_asking *asking)
{
    char path[TARGET_MAX];
    pe_arguments *arguments = &asking->arguments;
    const pe_resource *resource = pe_registry_find(arguments->word[0]);
    if (resource == NULL) {
        pe_ask_step(asking, pe_arguments_no_name("encoding", arguments->word[0], NULL, NULL, 0,
                                                 "posenc help table", &asking->step));
        return;
    }
    if (resource->kind == PE_TRANSFORM && arguments->body == NULL) {
        pe_ask_step(asking,
                    pe_fail(&asking->step, PE_MISSING_PARAMETER, "body",
                            "%s transforms vectors: give them with --body FILE (.json, .npy or "
                            ".safetensors)",
                            resource->name));
        return;
    }
    if (arguments->config != NULL)
        add_config(asking, resource, arguments->config);
    add_format(asking);
    make_path(resource, &arguments->query, path);
    pe_ask_deliver(asking, path);
}
