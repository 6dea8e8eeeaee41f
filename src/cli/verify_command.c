/* SPDX-License-Identifier: MIT */
/* verify_command.c - `posenc verify`: files held against what they should be. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/ask.h"
#include "encodings/registry.h"
#include "files/gguf_file.h"
#include "models/catalogue/catalogue.h"
#include "version.h"

/* Formats of reports, and what the server calls them. */
enum { TEXT, JSON, MARKDOWN, SARIF };
static const char *const types[] = {"text/plain", "application/json", "text/markdown",
                                    "application/json"};

/* What is known so far. */
typedef struct verdict {
    pe_asking *asking;
    pe_buffer reports;
    json_t *results; /* of SARIF */
} verdict;

/* ---- SARIF, which forges show beside the files ---- */

static void add_result(json_t *results, const char *rule, const char *text, const char *remedy,
                       const char *file)
{
    const bool cured = remedy != NULL && *remedy != '\0';
    pe_buffer message = {0};
    pe_buffer_format(&message, "%s%s%s", text != NULL ? text : "", cured ? "; remedy: " : "",
                     cured ? remedy : "");
    json_array_append_new(results, json_pack("{s:s, s:s, s:{s:s}, s:[{s:{s:{s:s}}}]}", "ruleId",
                                             rule, "level", "error", "message", "text",
                                             pe_buffer_text(&message), "locations",
                                             "physicalLocation", "artifactLocation", "uri", file));
    pe_buffer_free(&message);
}

/* A cause of first rank is a result, whose rule is the first of its faults. */
static void add_sarif(json_t *results, const json_t *report, const char *file)
{
    size_t i, reported = 0;
    const json_t *cause;
    if (json_is_true(json_object_get(report, "matches")))
        return;
    json_array_foreach(json_object_get(report, "diagnosis"), i, cause)
    {
        const char *rule = json_string_value(json_array_get(json_object_get(cause, "faults"), 0));
        if (json_integer_value(json_object_get(cause, "rank")) != 1)
            continue;
        add_result(results, rule != NULL ? rule : "difference",
                   json_string_value(json_object_get(cause, "rule")),
                   json_string_value(json_object_get(cause, "remedy")), file);
        reported++;
    }
    if (reported == 0)
        add_result(results, "difference", json_string_value(json_object_get(report, "conclusion")),
                   NULL, file);
}

/* The log of one run.   Source  OASIS SARIF 2.1.0, sections 3.13 to 3.28. */
static void write_sarif(json_t *results, pe_buffer *out)
{
    json_t *log =
        json_pack("{s:s, s:s, s:[{s:{s:{s:s, s:s}}, s:O}]}", "$schema",
                  "https://json.schemastore.org/sarif-2.1.0.json", "version", "2.1.0", "runs",
                  "tool", "driver", "name", "posenc", "version", PE_VERSION, "results", results);
    char *text = log != NULL ? json_dumps(log, JSON_INDENT(1)) : NULL;
    if (text != NULL)
        pe_buffer_format(out, "%s\n", text);
    out->failed |= text == NULL;
    free(text);
    json_decref(log);
}

/* ---- one report ---- */

static void ask(verdict *v, pe_client_request *request, const char *file)
{
    static const char words[] = ": does not match"; /* in the first line of a report for people */
    pe_buffer text;
    json_t *report = NULL;
    const size_t format = v->asking->format;
    const bool is_json = format == JSON || format == SARIF;
    request->accept = types[format];
    if (is_json)
        report = pe_ask_json(v->asking, request, &text);
    else
        text = pe_ask_text(v->asking, request);
    const char *line = pe_buffer_text(&text);
    if (is_json ? !json_is_true(json_object_get(report, "matches"))
                : memmem(line, strcspn(line, "\n"), words, strlen(words)) != NULL)
        v->asking->code = PE_EXIT_DIFFERENT;
    if (format == SARIF)
        add_sarif(v->results, report, file);
    else
        pe_buffer_format(&v->reports, "%s%s", pe_buffer_text(&text), is_json ? "\n" : "");
    json_decref(report);
    pe_buffer_free(&text);
}

/* ---- forms ---- */

#define BOUNDARY "posenc-6f1d0c5be2a94e83b7a05d2c"

/* What stands before a part of a form. "out/cos.npy" is the tensor cos; what kind of file it is its
 * content tells. */
static void add_part(pe_client_request *request, pe_buffer *head, const char *path,
                     pe_slice content)
{
    assert(path != NULL); /* the file is open */
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    const int bytes = (int)strcspn(name, ".\"\r\n");
    pe_buffer_format(head,
                     "%s--" BOUNDARY "\r\nContent-Disposition: form-data; name=\"%.*s\"; "
                     "filename=\"%.*s\"\r\n\r\n",
                     request->n_parts > 0 ? "\r\n" : "", bytes, name, bytes, name);
    request->parts[request->n_parts++] = pe_slice_of(pe_buffer_text(head));
    request->parts[request->n_parts++] = content;
}

/* Files of tensors, and with them a configuration (content NULL: none). */
static void ask_form(verdict *v, const char *target, const pe_input *files, size_t n,
                     pe_slice config)
{
    pe_client_request request = {.target = target,
                                 .type = "multipart/form-data; boundary=" BOUNDARY};
    pe_buffer heads[PE_WORDS_MAX + 1] = {{0}};
    for (size_t f = 0; f < n; f++)
        add_part(&request, &heads[f], files[f].path, files[f].content);
    if (config.text != NULL)
        add_part(&request, &heads[n], "config", config);
    request.parts[request.n_parts++] = pe_slice_of("\r\n--" BOUNDARY "--\r\n");
    ask(v, &request, files[0].path);
    for (size_t h = 0; h <= n; h++)
        pe_buffer_free(&heads[h]);
}

/* ---- GGUF: what the conversion lost ---- */

/* The table that the file's layers of one type compute, where sequences are so long, is held against
 * the configuration. */
static void ask_layer(verdict *v, const json_t *layer, double length, const char *file,
                      pe_slice config)
{
    char long_as[64] = "";
    pe_asking *asking = v->asking;
    pe_buffer target = {0}, claim = {0};
    const char *type = json_string_value(json_object_get(layer, "layer_type"));
    if (length > 0)
        snprintf(long_as, sizeof long_as, "&seq_len=%.0f", length);
    pe_buffer_format(&target, "/v1/rope/table?dtype=float64&format=safetensors&positions=0:64%s",
                     long_as);
    pe_ask_add_parameters(json_object_get(layer, "parameters"), &target);
    pe_buffer table = pe_ask_text(asking, &(pe_client_request){.target = pe_buffer_text(&target)});
    asking->unreadable |= asking->failed; /* its parameters are the file's */
    pe_buffer_format(&claim, "/v1/verify?%s%s", pe_buffer_text(&asking->arguments.query), long_as);
    if (type != NULL && strcmp(type, "all") != 0)
        pe_arguments_add(&claim, "layer_type", type);
    if (v->reports.bytes > 0 && (asking->format == TEXT || asking->format == MARKDOWN))
        pe_buffer_format(&v->reports, "\n%s%s\n\n", type, long_as);
    const pe_input made = {.path = file, .content = pe_buffer_slice(&table)};
    ask_form(v, pe_buffer_text(&claim), &made, 1, config);
    pe_buffer_free(&table);
    pe_buffer_free(&target);
    pe_buffer_free(&claim);
}

/* Says why layers cannot be compared: what the server warns of, where it does. */
static void no_rope(const verdict *v, const pe_input *file, const json_t *model,
                    const char *encoding)
{
    const char *warning = json_string_value(json_array_get(json_object_get(model, "warnings"), 0));
    pe_ask_file_step(v->asking,
                     pe_fail(&v->asking->step, PE_INVALID_PARAMETER, "",
                             "layers of %.200s encode positions by %s, and of a GGUF file rope "
                             "alone is compared%s%s",
                             file->path, encoding != NULL ? encoding : "nothing that is known",
                             warning != NULL ? ": " : "", warning != NULL ? warning : ""));
}

static void ask_gguf(verdict *v, const pe_input *file, pe_slice config)
{
    size_t l;
    json_t *layer;
    pe_buffer text = {0};
    json_t *model = pe_ask_resolved(v->asking, file, true, &text);
    const json_t *layers = json_object_get(model, "layers");
    if (json_array_size(layers) == 0 && model != NULL)
        no_rope(v, file, model, NULL);
    json_array_foreach(layers, l, layer)
    {
        const char *encoding = json_string_value(json_object_get(layer, "encoding"));
        const json_t *parameters = json_object_get(layer, "parameters");
        if (encoding == NULL || strcmp(encoding, "rope") != 0) {
            no_rope(v, file, model, encoding);
            break;
        }
        ask_layer(v, layer, 0, file->path, config);
        /* Where long sequences have factors of their own, they are compared, too. */
        if (json_object_get(parameters, "long_factor") != NULL)
            ask_layer(v, layer,
                      json_number_value(json_object_get(parameters, "max_position_embeddings")),
                      file->path, config);
    }
    json_decref(model);
    pe_buffer_free(&text);
}

/* ---- the command ---- */

/* All of the files are open. */
static void verify(verdict *v, const pe_input *files, size_t n, pe_slice config)
{
    pe_buffer target = {0};
    const char *query = pe_buffer_text(&v->asking->arguments.query);
    pe_client_request request = {.parts = {files[0].content}, .n_parts = 1};
    pe_buffer_format(&target, "/v1/verify%s%s", *query != '\0' ? "?" : "", query);
    request.target = pe_buffer_text(&target);
    if (n > 1 || (config.text != NULL && !pe_gguf_file_is(files[0].content)))
        ask_form(v, request.target, files, n, config);
    else if (!pe_gguf_file_is(files[0].content))
        ask(v, &request, files[0].path);
    else if (config.text != NULL || pe_ask_has(&v->asking->arguments.query, "model"))
        ask_gguf(v, &files[0], config);
    else
        pe_ask_step(v->asking, pe_fail(&v->asking->step, PE_MISSING_PARAMETER, "config",
                                       "a GGUF file is held against a configuration: give --config "
                                       "config.json or --model NAME"));
    pe_buffer_free(&target);
    if (v->asking->format == SARIF)
        write_sarif(v->results, &v->reports);
    pe_ask_print(v->asking, &v->reports);
}

/* ---- words ---- */

/* A word that is no file may be what the files are claimed to be: an encoding, or a model. */
static void take_names(pe_arguments *arguments)
{
    pe_problem why;
    const pe_catalogue_file *named;
    const size_t n = arguments->n_words;
    arguments->n_words = 0;
    for (size_t w = 0; w < n; w++) {
        const char *word = arguments->word[w];
        const bool is_file = strcmp(word, "-") == 0 || access(word, F_OK) == 0;
        size_t r = 0;
        while (pe_registry[r] != NULL && strcmp(pe_registry[r]->name, word) != 0 &&
               strcmp(pe_registry[r]->encoding, word) != 0)
            r++;
        if (!is_file && pe_registry[r] != NULL)
            pe_arguments_add(&arguments->query, "encoding", word);
        else if (!is_file && pe_catalogue_find(word, &named, &why) == PE_OK)
            pe_arguments_add(&arguments->query, "model", word);
        else
            arguments->word[arguments->n_words++] = word;
    }
    arguments->n_words += arguments->n_words == 0; /* the first is reported as no file */
}

void pe_ask_verify(pe_asking *asking)
{
    verdict v = {.asking = asking, .results = json_array()};
    pe_arguments *arguments = &asking->arguments;
    pe_input files[PE_WORDS_MAX] = {{0}}, config;
    char name[4096];
    take_names(arguments);
    for (size_t f = 0; f < arguments->n_words; f++)
        files[f] = pe_ask_open(asking, arguments->word[f]);
    config = pe_ask_open_config(asking, arguments->config, name);
    if (!asking->failed)
        verify(&v, files, arguments->n_words, config.content);
    for (size_t f = 0; f < arguments->n_words; f++)
        pe_input_close(&files[f]);
    pe_input_close(&config);
    json_decref(v.results);
}
