/* SPDX-License-Identifier: MIT */
/* pages.c - the documents that stay the same: index, listing, problems, openapi. */
#include "http/pages.h"

#include <stdlib.h>
#include <string.h>

#include "api/documents.h"
#include "api/models.h"
#include "http/openapi_data.h"
#include "http/response.h"

typedef struct document {
    const char *media_type;
    const char *data;
    size_t bytes;
    char etag[PE_ETAG_BYTES];
} document;

struct pe_pages {
    document index, listing, models, learned, openapi_yaml, openapi_json;
    pe_buffer listing_text, models_text, learned_text;
};

static const char index_text[] =
    "{\"name\":\"posenc\",\"description\":\"exact positional encodings\","
    "\"resources\":\"/v1\",\"models\":\"/v1/models\",\"openapi\":\"/openapi.json\",\"version\":\"/"
    "version\","
    "\"example\":\"/v1/sinusoidal?d_model=4&positions=0:3\"}\n";

static void set(document *page, const char *media_type, const char *data, size_t bytes)
{
    *page = (document){.media_type = media_type, .data = data, .bytes = bytes};
    pe_etag_make(data, bytes, page->etag);
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
    const pe_bound bounds[] = {
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
    pe_listing_json(bounds, PE_LEN(bounds), &pages->listing_text);
    list_learned(learned, &pages->learned_text);
    pe_status status = pe_catalogue_json(&pages->models_text, why);
    if (status == PE_OK &&
        (pages->listing_text.failed || pages->models_text.failed || pages->learned_text.failed))
        status = pe_fail_memory(why);
    if (status != PE_OK) {
        pe_pages_free(pages);
        return status;
    }
    set(&pages->index, "application/json", index_text, sizeof index_text - 1);
    set(&pages->listing, "application/json", pages->listing_text.data, pages->listing_text.bytes);
    set(&pages->models, "application/json", pages->models_text.data, pages->models_text.bytes);
    set(&pages->learned, "application/json", pages->learned_text.data, pages->learned_text.bytes);
    set(&pages->openapi_yaml, "application/yaml", pe_openapi_yaml, pe_openapi_yaml_bytes);
    set(&pages->openapi_json, "application/json", pe_openapi_json, pe_openapi_json_bytes);
    *out = pages;
    return PE_OK;
}

void pe_pages_free(pe_pages *pages)
{
    if (pages == NULL)
        return;
    pe_buffer_free(&pages->listing_text);
    pe_buffer_free(&pages->models_text);
    pe_buffer_free(&pages->learned_text);
    free(pages);
}

/* no-cache: kept, but asked about each time, since a new release may change it. */
static void answer_page(pe_request *request, const document *page)
{
    const pe_field fields[] = {
        {"Content-Type", page->media_type},
        {"ETag", page->etag},
        {"Cache-Control", "no-cache"},
        {0},
    };
    const char *tags = request->header[PE_HEADER_IF_NONE_MATCH];
    if (tags != NULL && pe_etag_matches(tags, page->etag))
        pe_reply_empty(request, MHD_HTTP_NOT_MODIFIED, fields + 1);
    else
        pe_reply_constant(request, page->data, page->bytes, fields);
}

void pe_page_index(pe_request *request)
{
    answer_page(request, &request->service->pages->index);
}

void pe_page_listing(pe_request *request)
{
    answer_page(request, &request->service->pages->listing);
}

void pe_page_models(pe_request *request)
{
    answer_page(request, &request->service->pages->models);
}

void pe_page_learned(pe_request *request)
{
    answer_page(request, &request->service->pages->learned);
}

void pe_page_openapi_yaml(pe_request *request)
{
    answer_page(request, &request->service->pages->openapi_yaml);
}

void pe_page_openapi_json(pe_request *request)
{
    answer_page(request, &request->service->pages->openapi_json);
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
    pe_problem_page(status, &content);
    const pe_field fields[] = {
        {"Content-Type", "application/json"}, {"Cache-Control", "no-cache"}, {0}};
    pe_reply_content(request, MHD_HTTP_OK, &content, fields);
}
