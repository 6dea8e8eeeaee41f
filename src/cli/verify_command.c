/* SPDX-License-Identifier: MIT */
/* verify_command.c - `posenc verify`: files held against what they should be. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ask.h"
#include "cli/sarif.h"
#include "files/gguf_file.h"

#define DIVISORS_MAX 4096 /* numbers of a tensor of a GGUF file */

/* Formats of reports, and what the server calls them. */
enum { TEXT, JSON, MARKDOWN, SARIF };
static const char *const formats[] = {"text", "json", "markdown", "sarif", NULL};
static const char *const types[] = {"text/plain", "application/json", "text/markdown",
                                    "application/json"};

/* What is known so far. */
typedef struct verdict {
    pe_asking *asking;
    size_t format;
    pe_buffer reports;
    json_t *results; /* of SARIF */
} verdict;

/* ---- one report ---- */

/* A report for people says so in its first line. */
static bool says_different(pe_buffer *report)
{
    static const char words[] = ": does not match";
    const pe_slice text = pe_slice_of(pe_buffer_text(report));
    const char *found = memmem(text.text, strcspn(text.text, "\n"), words, strlen(words));
    return found != NULL;
}

static pe_status ask(verdict *v, pe_client_request *request, const char *file, pe_problem *why)
{
    pe_buffer text = {0};
    request->method = "POST";
    request->accept = types[v->format];
    pe_status status = pe_ask_text(v->asking, request, &text, why);
    json_t *report = status == PE_OK && (v->format == JSON || v->format == SARIF)
                         ? json_loadb(pe_buffer_text(&text), text.bytes, 0, NULL)
                         : NULL;
    const bool different =
        report != NULL ? !json_is_true(json_object_get(report, "matches")) : says_different(&text);
    if (status == PE_OK && different)
        v->asking->code = PE_EXIT_DIFFERENT;
    if (v->format == SARIF)
        pe_sarif_add(v->results, report, file);
    else
        pe_buffer_format(&v->reports, "%s%s", pe_buffer_text(&text), v->format == JSON ? "\n" : "");
    json_decref(report);
    pe_buffer_free(&text);
    return status;
}

/* ---- forms ---- */

static const char boundary[] = "posenc-6f1d0c5be2a94e83b7a05d2c";
static const char form[] = "multipart/form-data; boundary=posenc-6f1d0c5be2a94e83b7a05d2c";

/* A file goes by its content: names may be any. */
static const char *extension_of(pe_slice file)
{
    static const char *const signs[][2] = {{"\x93NUMPY", ".npy"}, {"PK\x03\x04", ".npz"}};
    for (size_t s = 0; s < PE_LEN(signs); s++)
        if (file.bytes > strlen(signs[s][0]) &&
            memcmp(file.text, signs[s][0], strlen(signs[s][0])) == 0)
            return signs[s][1];
    /* The length of a safetensors header, whose last byte is zero, may begin so, too. */
    return file.bytes > 7 && file.text[0] == '{' && file.text[7] != '\0' ? ".json" : ".safetensors";
}

/* "out/cos.npy" is the tensor cos. */
static pe_slice name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    return (pe_slice){name, strcspn(name, ".\"\r\n")};
}

/* A part of a form: what stands before it goes to `heads`, which is of n parts. */
static void add_part(pe_client_request *request, pe_buffer *head, pe_slice name,
                     const char *extension, pe_slice content)
{
    pe_buffer_format(head,
                     "%s--%s\r\nContent-Disposition: form-data; name=\"%.*s\"; "
                     "filename=\"%.*s%s\"\r\n\r\n",
                     request->n_parts > 0 ? "\r\n" : "", boundary, PE_SHOWN(name), PE_SHOWN(name),
                     extension);
    request->parts[request->n_parts++] = pe_slice_of(pe_buffer_text(head));
    request->parts[request->n_parts++] = content;
}

/* Files of tensors, and with them a configuration (content NULL: none). */
static pe_status ask_form(verdict *v, const char *target, const pe_input *files, size_t n,
                          pe_slice config, pe_problem *why)
{
    pe_client_request request = {.target = target, .type = form};
    pe_buffer heads[PE_WORDS_MAX + 2] = {{0}};
    for (size_t f = 0; f < n; f++)
        add_part(&request, &heads[f], name_of(files[f].path), extension_of(files[f].content),
                 files[f].content);
    if (config.text != NULL)
        add_part(&request, &heads[n], pe_slice_of("config"), ".json", config);
    pe_buffer_format(&heads[n + 1], "\r\n--%s--\r\n", boundary);
    request.parts[request.n_parts++] = pe_slice_of(pe_buffer_text(&heads[n + 1]));
    const pe_status status = ask(v, &request, files[0].path, why);
    for (size_t h = 0; h < n + 2; h++)
        pe_buffer_free(&heads[h]);
    return status;
}

static pe_status ask_file(verdict *v, const char *target, const pe_input *file, pe_problem *why)
{
    pe_client_request request = {.target = target, .parts = {file->content}, .n_parts = 1};
    return ask(v, &request, file->path, why);
}

/* ---- GGUF: what the conversion lost ---- */

/* The divisors of frequencies that a tensor holds, as a list. */
static void add_divisors(pe_buffer *query, const char *parameter, const pe_stored_list *tensors,
                         const char *name)
{
    pe_buffer list = {0};
    for (size_t t = 0; t < tensors->n; t++) {
        const pe_stored *tensor = &tensors->tensor[t];
        if (strcmp(tensor->name, name) != 0 || tensor->elements > DIVISORS_MAX)
            continue;
        for (size_t e = 0; e < tensor->elements; e++)
            pe_buffer_format(&list, "%s%.9g", e > 0 ? "," : "", pe_stored_number(tensor, e));
        pe_arguments_add(query, parameter, pe_buffer_text(&list));
    }
    pe_buffer_free(&list);
}

/* The table that the file's layers of one type compute. */
static pe_status make_table(verdict *v, const json_t *layer, const pe_stored_list *tensors,
                            pe_buffer *out, pe_problem *why)
{
    pe_buffer query = {0}, target = {0};
    const json_t *parameters = json_object_get(layer, "parameters");
    const char *type = json_string_value(json_object_get(parameters, "rope_type"));
    const bool longrope = type != NULL && strcmp(type, "longrope") == 0;
    pe_arguments_add(&query, "dtype", "float64");
    pe_arguments_add(&query, "format", "safetensors");
    pe_arguments_add(&query, "positions", "0:64");
    if (longrope) {
        add_divisors(&query, "long_factor", tensors, "rope_factors_long.weight");
        add_divisors(&query, "short_factor", tensors, "rope_factors_short.weight");
    } else {
        add_divisors(&query, "freq_factors", tensors, "rope_freqs.weight");
    }
    pe_ask_add_parameters(parameters, &query);
    pe_buffer_format(&target, "/v1/rope/table?%s", pe_buffer_text(&query));
    const pe_client_request request = {.method = "GET", .target = pe_buffer_text(&target)};
    const pe_status status = pe_ask_text(v->asking, &request, out, why);
    pe_buffer_free(&query);
    pe_buffer_free(&target);
    return status;
}

static pe_status ask_layer(verdict *v, const json_t *layer, bool several,
                           const pe_stored_list *tensors, const char *file, pe_slice config,
                           pe_problem *why)
{
    pe_buffer table = {0}, target = {0}, query = {0};
    const char *type = json_string_value(json_object_get(layer, "layer_type"));
    const char *encoding = json_string_value(json_object_get(layer, "encoding"));
    if (encoding == NULL || strcmp(encoding, "rope") != 0)
        return pe_fail(why, PE_INVALID_PARAMETER, "",
                       "layers of %.200s encode positions by %s: of a GGUF file rope alone is "
                       "compared",
                       file, encoding != NULL ? encoding : "nothing that is known");
    pe_status status = make_table(v, layer, tensors, &table, why);
    pe_buffer_add(&query, v->asking->arguments.query.data, v->asking->arguments.query.bytes);
    if (several && type != NULL) {
        pe_arguments_add(&query, "layer_type", type);
        if (v->format == TEXT || v->format == MARKDOWN)
            pe_buffer_format(&v->reports, "%s%s\n\n", v->reports.bytes > 0 ? "\n" : "", type);
    }
    pe_buffer_format(&target, "/v1/verify%s%s", query.bytes > 0 ? "?" : "", pe_buffer_text(&query));
    const pe_input made = {.path = file, .content = pe_buffer_slice(&table)};
    if (status == PE_OK)
        status = ask_form(v, pe_buffer_text(&target), &made, 1, config, why);
    pe_buffer_free(&table);
    pe_buffer_free(&query);
    pe_buffer_free(&target);
    return status;
}

static pe_status ask_gguf(verdict *v, const pe_input *file, pe_slice config, pe_problem *why)
{
    size_t metadata, l;
    pe_stored found[4];
    pe_stored_list tensors = {.tensor = found, .room = PE_LEN(found)};
    pe_buffer text = {0};
    pe_status status = pe_gguf_file_tensors(file->content, "rope_", &metadata, &tensors, why);
    v->asking->unreadable |= status != PE_OK;
    const pe_client_request request = {.method = "POST",
                                       .target = "/v1/models/resolve",
                                       .parts = {{file->content.text, metadata}},
                                       .n_parts = 1};
    if (status == PE_OK)
        status = pe_ask_text(v->asking, &request, &text, why);
    json_t *layer,
        *model = status == PE_OK ? json_loadb(pe_buffer_text(&text), text.bytes, 0, NULL) : NULL;
    const json_t *layers = json_object_get(model, "layers");
    json_array_foreach(layers, l, layer)
    {
        if (status == PE_OK)
            status =
                ask_layer(v, layer, json_array_size(layers) > 1, &tensors, file->path, config, why);
    }
    if (status == PE_OK && json_array_size(layers) == 0)
        status = pe_fail(why, PE_INVALID_PARAMETER, "", "%.200s tells of no layers", file->path);
    json_decref(model);
    pe_buffer_free(&text);
    return status;
}

/* ---- the command ---- */

/* All of the files are open. */
static pe_status verify(verdict *v, const pe_input *files, size_t n, pe_slice config,
                        pe_problem *why)
{
    pe_buffer target = {0};
    pe_buffer *query = &v->asking->arguments.query;
    pe_status status;
    pe_buffer_format(&target, "/v1/verify%s%s", query->bytes > 0 ? "?" : "", pe_buffer_text(query));
    if (n == 1 && pe_gguf_file_is(files[0].content)) {
        const bool claimed = config.text != NULL || strstr(pe_buffer_text(query), "model=") != NULL;
        status = claimed ? ask_gguf(v, &files[0], config, why)
                         : pe_fail(why, PE_MISSING_PARAMETER, "config",
                                   "a GGUF file is held against a configuration: give --config "
                                   "config.json or --model NAME");
    } else if (n == 1 && config.text == NULL) {
        status = ask_file(v, pe_buffer_text(&target), &files[0], why);
    } else {
        status = ask_form(v, pe_buffer_text(&target), files, n, config, why);
    }
    pe_buffer_free(&target);
    if (status == PE_OK && v->format == SARIF)
        pe_sarif_write(v->results, &v->reports);
    return status == PE_OK ? pe_ask_print(v->asking, &v->reports, why) : status;
}

static pe_status run_verify(pe_asking *asking, pe_problem *why)
{
    verdict v = {.asking = asking, .results = json_array()};
    const pe_arguments *arguments = &asking->arguments;
    const size_t n = arguments->n_words;
    pe_input files[PE_WORDS_MAX] = {{0}}, config = {0};
    pe_status status = pe_ask_format(asking, formats, &v.format, why);
    for (size_t f = 0; f < n && status == PE_OK; f++)
        status = pe_ask_open(asking, arguments->word[f], &files[f], why);
    if (status == PE_OK && arguments->config != NULL)
        status = pe_ask_open(asking, arguments->config, &config, why);
    if (status == PE_OK)
        status = verify(&v, files, n, config.content, why);
    for (size_t f = 0; f < n; f++)
        pe_input_close(&files[f]);
    pe_input_close(&config);
    pe_buffer_free(&v.reports);
    json_decref(v.results);
    return status;
}

const pe_ask_row pe_ask_verify = {
    "a file is required, as in posenc verify cos_sin.npy --config config.json", 1, PE_WORDS_MAX,
    PE_FLAG_OUTPUT | PE_FLAG_FORMAT | PE_FLAG_CONFIG | PE_FLAG_PARAMETERS, run_verify};
