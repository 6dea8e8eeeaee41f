/* SPDX-License-Identifier: MIT */
/* documents.c - the documents that stay the same: index, listing, problems, openapi. */
#include "http/pages/pages.h"

#include <stdlib.h>
#include <string.h>

#include "api/listing.h"
#include "api/model_json.h"
#include "api/problem_json.h"
#include "http/reply/coding.h"
#include "http/pages/openapi_data.h"
#include "http/reply/reply.h"

/* A document as it goes out in one coding. */
typedef struct form {
    const char *data; /* NULL: the coding is not worth it */
    size_t bytes;
    char etag[PE_ETAG_BYTES];
} form;

typedef struct document {
    const char *media_type;
    form forms[PE_CODINGS]; /* all but IDENTITY are owned */
} document;

enum { INDEX, LISTING, MODELS, LEARNED, OPENAPI_YAML, OPENAPI_JSON, DOCUMENTS };

struct pe_pages {
    document documents[DOCUMENTS];
    pe_buffer listing_text, models_text, learned_text;
};

static const char index_text[] =
    "{\"name\":\"posenc\",\"description\":\"exact positional encodings\","
    "\"resources\":\"/v1\",\"models\":\"/v1/models\",\"openapi\":\"/openapi.json\",\"version\":\"/"
    "version\","
    "\"example\":\"/v1/sinusoidal?d_model=4&positions=0:3\"}\n";

static void set_form(form *out, const char *data, size_t bytes)
{
    *out = (form){.data = data, .bytes = bytes};
    pe_etag_make(data, bytes, out->etag);
}

/* The document in all codings. */
static pe_status set(document *page, const char *media_type, const char *data, size_t bytes,
                     pe_problem *why)
{
    page->media_type = media_type;
    set_form(&page->forms[PE_CODING_IDENTITY], data, bytes);
    for (pe_coding c = PE_CODING_IDENTITY + 1; c < PE_CODINGS; c++) {
        char *coded;
        size_t coded_bytes;
        const pe_status status = pe_coding_apply(c, data, bytes, &coded, &coded_bytes, why);
        if (status != PE_OK)
            return status;
        if (coded != NULL)
            set_form(&page->forms[c], coded, coded_bytes);
    }
    return PE_OK;
}

static pe_status set_buffer(document *page, const pe_buffer *text, pe_problem *why)
{
    return text->failed ? pe_fail_memory(why)
                        : set(page, "application/json", text->data, text->bytes, why);
}

/* Names are of plain letters. */
static void list_learned(const pe_learned *learned, pe_buffer *out)
{
    size_t n;
    const pe_learned_table *table = pe_learned_all(learned, &n);
    pe_buffer_str(out, "{\"tables\":[");
    for (size_t i = 0; i < n; i++)
        pe_buffer_format(
            out,
            "%s{\"name\":\"%s\",\"path\":\"/v1/learned/%s\",\"rows\":%zu,\"width\":%zu,"
            "\"dtype\":\"%s\",\"digest\":\"%s\"}",
            i == 0 ? "" : ",", table[i].name, table[i].name, table[i].rows.shape.dim[0],
            table[i].rows.shape.dim[1], pe_dtype_name(table[i].rows.dtype), table[i].digest);
    pe_buffer_str(out, "]}\n");
}

pe_status pe_pages_make(const pe_settings *settings, const pe_learned *learned, pe_pages **out,
                        pe_problem *why)
{
    const pe_listing_bound bounds[] = {
        {"max_elements", (double)settings->max_elements, "elements"},
        {"verify_max_elements", (double)settings->verify_max_elements, "elements"},
        {"max_positions", (double)settings->max_positions, "positions"},
        {"max_body_bytes", (double)settings->max_body_bytes, "bytes"},
        {"config_bytes_max", (double)settings->config_bytes_max, "bytes"},
        {"max_url_bytes", (double)settings->max_url_bytes, "bytes"},
        {"max_json_depth", (double)settings->max_json_depth, "levels"},
    };
    pe_pages *pages = calloc(1, sizeof *pages);
    if (pages == NULL)
        return pe_fail_memory(why);
    document *documents = pages->documents;
    pe_listing_json(bounds, PE_LEN(bounds), &pages->listing_text);
    list_learned(learned, &pages->learned_text);
    pe_status status = pe_model_json_catalogue(&pages->models_text, why);
    if (status == PE_OK)
        status = set_buffer(&documents[LISTING], &pages->listing_text, why);
    if (status == PE_OK)
        status = set_buffer(&documents[MODELS], &pages->models_text, why);
    if (status == PE_OK)
        status = set_buffer(&documents[LEARNED], &pages->learned_text, why);
    if (status == PE_OK)
        status = set(&documents[INDEX], "application/json", index_text, sizeof index_text - 1, why);
    if (status == PE_OK)
        status = set(&documents[OPENAPI_YAML], "application/yaml", pe_openapi_data_yaml,
                     pe_openapi_data_yaml_bytes, why);
    if (status == PE_OK)
        status = set(&documents[OPENAPI_JSON], "application/json", pe_openapi_data_json,
                     pe_openapi_data_json_bytes, why);
    if (status == PE_OK)
        *out = pages;
    else
        pe_pages_free(pages);
    return status;
}

void pe_pages_free(pe_pages *pages)
{
    if (pages == NULL)
        return;
    for (size_t d = 0; d < DOCUMENTS; d++)
        for (pe_coding c = PE_CODING_IDENTITY + 1; c < PE_CODINGS; c++)
            free((char *)(uintptr_t)pages->documents[d].forms[c].data);
    pe_buffer_free(&pages->listing_text);
    pe_buffer_free(&pages->models_text);
    pe_buffer_free(&pages->learned_text);
    free(pages);
}

/* no-cache: kept, but asked about each time, since a new release may change it. */
static void answer_page(pe_request *request, size_t which)
{
    const document *page = &request->service->pages->documents[which];
    const char *tags = request->header[PE_HEADER_IF_NONE_MATCH];
    pe_coding coding = pe_coding_choose(request->header[PE_HEADER_ACCEPT_ENCODING]);
    if (page->forms[coding].data == NULL)
        coding = PE_CODING_IDENTITY;
    const form *chosen = &page->forms[coding];
    const pe_field fields[] = {
        {"Content-Type", page->media_type},
        {"Content-Encoding", pe_coding_name(coding)},
        {"ETag", chosen->etag},
        {"Vary", "Accept-Encoding"},
        {"Cache-Control", "no-cache"},
        {0},
    };
    if (tags != NULL && pe_etag_matches(tags, chosen->etag))
        pe_reply_empty(request, MHD_HTTP_NOT_MODIFIED, fields + 2);
    else
        pe_reply_constant(request, chosen->data, chosen->bytes, fields);
}

void pe_page_index(pe_request *request)
{
    answer_page(request, INDEX);
}

void pe_page_listing(pe_request *request)
{
    answer_page(request, LISTING);
}

void pe_page_models(pe_request *request)
{
    answer_page(request, MODELS);
}

void pe_page_learned(pe_request *request)
{
    answer_page(request, LEARNED);
}

void pe_page_openapi_yaml(pe_request *request)
{
    answer_page(request, OPENAPI_YAML);
}

void pe_page_openapi_json(pe_request *request)
{
    answer_page(request, OPENAPI_JSON);
}

void pe_page_problem(pe_request *request)
{
    const char *code = request->path + strlen("/problems/");
    pe_status status = pe_status_by_code(code);
    if (status == PE_OK) {
        pe_problem why;
        pe_fail(&why, PE_NOT_FOUND, "", "there is no problem code %.100s", code);
        pe_reply_problem(request, &why);
        return;
    }
    pe_buffer content = {0};
    pe_problem_json_page(status, &content);
    const pe_field fields[] = {
        {"Content-Type", "application/json"}, {"Cache-Control", "no-cache"}, {0}};
    pe_reply_content(request, MHD_HTTP_OK, &content, fields);
}
