/* SPDX-License-Identifier: MIT */
/* model_pages.c - the handlers of the catalogue and of configurations. */
#include <stdio.h>
#include <string.h>

#include "api/documents.h"
#include "base/percent.h"
#include "http/pages/pages.h"
#include "http/reply/reply.h"
#include "http/request/admission.h"
#include "http/request/parameters.h"

/* Where parsing takes long. */
#define HEAVY_BODY_BYTES 32768

/* In units (plan/price.h), as measured: a file of the catalogue that is searched, or shown with all
 * of its layers; a configuration, beside 2.5 for each
 * byte of it. */
#define SEARCH_WORK ((uint64_t)2048)
#define SHOW_WORK   ((uint64_t)20480)
#define READ_WORK   ((uint64_t)12288)

/* The most that is read of a search. */
#define WORDS_BYTES 256

/* ---- the catalogue ---- */

/* The words after "q=", with a plus sign or a space between them. */
static pe_status read_words(const pe_request *request, char *out, size_t *bytes, pe_problem *why)
{
    const char *query = request->query.text;
    if (strncmp(query, "q=", 2) != 0)
        return pe_fail(why, PE_UNKNOWN_PARAMETER, "",
                       "the catalogue takes q, as in /v1/models?q=llama, got %.100s", query);
    if (strchr(query, '&') != NULL)
        return pe_fail(why, PE_MALFORMED_REQUEST, "",
                       "the catalogue takes q once and nothing else, as in /v1/models?q=llama, got "
                       "%.100s",
                       query);
    if (request->query.bytes > WORDS_BYTES)
        return pe_fail(why, PE_INVALID_PARAMETER, "q", "q must have at most %d bytes", WORDS_BYTES);
    *bytes = request->query.bytes - 2;
    memcpy(out, query + 2, *bytes);
    for (size_t i = 0; i < *bytes; i++)
        out[i] = out[i] == '+' ? ' ' : out[i];
    if (!pe_percent_decode(out, bytes))
        return pe_fail(why, PE_MALFORMED_REQUEST, "",
                       "the query must have two hexadecimal digits after each %%");
    return memchr(out, '\0', *bytes) == NULL
               ? PE_OK
               : pe_fail(why, PE_INVALID_PARAMETER, "q", "q must be words, got %%00");
}

static pe_outcome search(pe_request *request, pe_problem *why)
{
    char words[WORDS_BYTES];
    size_t bytes;
    pe_buffer content = {0};
    pe_status status = read_words(request, words, &bytes, why);
    if (status == PE_OK)
        status = pe_model_json_catalogue((pe_slice){words, bytes}, &content, why);
    return pe_reply_json(request, status, &content, "no-cache", why);
}

/* Every file is parsed for a search: that is for a worker. */
pe_outcome pe_page_models(pe_request *request, pe_problem *why)
{
    size_t files;
    if (request->query.bytes == 0)
        return pe_page_document(request, why);
    (void)pe_catalogue_files(&files);
    PE_TRY(pe_admission_take(request, SEARCH_WORK * files, why));
    return pe_request_defer(request, PE_JOB_HEAVY, search);
}

/* ---- a model ---- */

/* A slash of an organisation may come encoded or as it is. */
static pe_status find(const pe_request *request, const pe_catalogue_file **file, pe_problem *why)
{
    char name[PE_PATH_MAX];
    size_t bytes = strlen(request->path) - strlen("/v1/models/");
    memcpy(name, request->path + strlen("/v1/models/"), bytes);
    const bool decoded = pe_percent_decode(name, &bytes) && memchr(name, '\0', bytes) == NULL;
    name[bytes] = '\0';
    pe_problem unknown = {.detail = "a name has no %00"};
    const pe_status status =
        decoded ? pe_catalogue_find(name, file, &unknown) : PE_INVALID_PARAMETER;
    if (status == PE_INVALID_PARAMETER) /* a path names a resource, not a parameter */
        return pe_fail(why, PE_NOT_FOUND, "", "%s", unknown.detail);
    if (status != PE_OK)
        *why = unknown;
    return status;
}

pe_outcome pe_page_model(pe_request *request, pe_problem *why)
{
    char location[PE_PATH_MAX];
    pe_buffer content = {0};
    const pe_catalogue_file *file;
    PE_TRY(find(request, &file, why));
    PE_TRY(pe_admission_take(request, SHOW_WORK, why));
    const pe_status status = pe_model_json_file(file, &content, why);
    snprintf(location, sizeof location, "/v1/models/%s", file->name);
    return pe_reply_content(request, status, &content,
                            PE_FIELDS({"Content-Type", "application/json"},
                                      {"Content-Location", location},
                                      {"Cache-Control", "no-cache"}),
                            why);
}

/* ---- configurations ---- */

static pe_outcome resolve(pe_request *request, pe_problem *why)
{
    pe_buffer content = {0};
    pe_model *model;
    PE_TRY(pe_model_json_resolve(pe_buffer_slice(&request->body),
                                 request->service->read_limits.max_depth, &model, why));
    pe_model_json(model, &content);
    pe_model_free(model);
    return pe_reply_json(request, PE_OK, &content, "no-store", why);
}

pe_outcome pe_page_resolve(pe_request *request, pe_problem *why)
{
    const bool large = request->body.bytes > HEAVY_BODY_BYTES;
    request->json_body = true;
    PE_TRY(pe_parameters_configuration(request, why));
    if (request->query.bytes > 0)
        return pe_fail(why, PE_MALFORMED_REQUEST, "", "a configuration takes no query");
    PE_TRY(pe_admission_take(request, READ_WORK + request->body.bytes * 4, why));
    return pe_request_defer(request, large ? PE_JOB_HEAVY : PE_JOB_LIGHT, resolve);
}
