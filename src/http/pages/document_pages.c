/* SPDX-License-Identifier: MIT */
/* document_pages.c - the documents that stay the same while the server runs, and the page that browsers
 * see with the files that it consists of. */
#include "http/pages/document_pages.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/documents.h"
#include "base/yield.h"
#include "cache/cache.h"
#include "formats/format.h"
#include "http/pages/pages.h"
#include "http/reply/coding.h"
#include "http/reply/reply.h"
#include "tables/tables.h"
#include "formats/json_write.h"

/* A document is made at the first question, in the coding that is asked for: most are never asked
 * for. It is kept in a cache of its own. */
typedef struct document {
    const char *path, *media_type;
    const char *text; /* all of it; NULL: it is written */
    pe_status (*write)(const pe_service *service, pe_buffer *out, pe_problem *why);
    bool shown; /* browsers get a page in its place */
} document;

/* All documents in all codings are about a megabyte; that of learned tables grows with them. */
#define KEPT_BYTES ((size_t)16 << 20)

static const char index_text[] =
    "{\"name\":\"posenc\",\"description\":\"exact positional encodings\","
    "\"resources\":\"/v1\",\"models\":\"/v1/models\",\"docs\":\"/docs\",\"openapi\":\"/"
    "openapi.json\",\"version\":\"/"
    "version\","
    "\"example\":\"/v1/sinusoidal?d_model=4&positions=0:3\"}\n";

static pe_status write_learned(const pe_service *service, pe_buffer *out, pe_problem *why PE_UNUSED)
{
    size_t n;
    char path[PE_PATH_MAX];
    pe_learned_tables *learned = pe_tables_learned(service->tables);
    const pe_learned_table *table = pe_learned_tables_all(learned, &n);
    pe_buffer_str(out, "{\"tables\":[");
    for (size_t i = 0; i < n; i++) {
        snprintf(path, sizeof path, "/v1/learned/%s", table[i].name);
        pe_json_write_open(out, NULL, "{");
        pe_json_write_text(out, "name", table[i].name);
        pe_json_write_text(out, "path", path);
        pe_json_write_count(out, "rows", table[i].rows.shape.dim[0]);
        pe_json_write_count(out, "width", table[i].rows.shape.dim[1]);
        pe_json_write_text(out, "dtype", pe_dtype_name(table[i].rows.dtype));
        pe_json_write_text(out, "digest", table[i].digest);
        pe_buffer_str(out, "}");
    }
    pe_buffer_str(out, "]}\n");
    pe_learned_tables_free(learned);
    return PE_OK;
}

static pe_status write_listing(const pe_service *service, pe_buffer *out, pe_problem *why PE_UNUSED)
{
    const pe_settings *settings = service->settings;
    const pe_listing_bound bounds[] = {
        {"max_elements", (double)settings->max_elements, "elements"},
        {"figure_max_pixels", (double)settings->figure_max_pixels, "pixels"},
        {"verify_max_body_bytes", (double)settings->verify_max_body_bytes, "bytes"},
        {"verify_max_elements", (double)settings->verify_max_elements, "elements"},
        {"max_work", (double)settings->max_work, "units"},
        {"max_positions", (double)settings->max_positions, "positions"},
        {"max_body_bytes", (double)settings->max_body_bytes, "bytes"},
        {"config_bytes_max", (double)settings->config_bytes_max, "bytes"},
        {"max_url_bytes", (double)settings->max_url_bytes, "bytes"},
        {"max_json_depth", (double)settings->max_json_depth, "levels"},
    };
    pe_listing_json(bounds, PE_LEN(bounds), out);
    return PE_OK;
}

static pe_status write_models(const pe_service *service PE_UNUSED, pe_buffer *out, pe_problem *why)
{
    return pe_model_json_catalogue((pe_slice){0}, out, why);
}

/* The table of routes has these and no others. */
static const document documents[] = {
    {"/", "application/json", .text = index_text, .shown = true},
    {"/v1", "application/json", .write = write_listing, .shown = true},
    {"/v1/models", "application/json", .write = write_models},
    {"/v1/learned", "application/json", .write = write_learned, .shown = true},
    {"/openapi.yaml", "application/yaml", .text = pe_openapi_data_yaml},
    {"/openapi.json", "application/json", .text = pe_openapi_data_json},
};

/* ---- what is kept ---- */

/* A form, whose bytes it owns; coding: that it has in the end. */
typedef struct kept {
    pe_document_form form;
    pe_coding coding;
} kept;

static void free_kept(void *value)
{
    kept *one = value;
    free((char *)(uintptr_t)one->form.data);
    free(one);
}

pe_status pe_documents_make(pe_cache **out, pe_problem *why)
{
    return pe_cache_make(KEPT_BYTES, free_kept, out, why);
}

/* What a form depends on. A reload changes the edition, and what is written then. */
typedef struct form_key {
    uint64_t edition;
    const document *page;
    size_t coding; /* that is liked best */
} form_key;

typedef struct filling {
    const pe_service *service;
    form_key key;
} filling;

static pe_status fill(void *context, void **value, size_t *bytes, pe_problem *why)
{
    const filling *of = context;
    const document *page = of->key.page;
    pe_buffer plain = {0}, coded = {0};
    kept *one = calloc(1, sizeof *one);
    pe_status status = PE_OK;
    if (page->text != NULL)
        pe_buffer_str(&plain, page->text);
    else
        status = page->write(of->service, &plain, why);
    if (status == PE_OK && (one == NULL || plain.failed))
        status = pe_fail_memory(why);
    if (status == PE_OK)
        status = pe_coding_apply((pe_coding)of->key.coding, plain.data, plain.bytes, &coded, why);
    if (status != PE_OK) {
        pe_buffer_free(&plain);
        free(one);
        return status;
    }
    if (coded.data != NULL) {
        pe_buffer_free(&plain);
        plain = coded;
        one->coding = (pe_coding)of->key.coding;
    }
    pe_buffer_fit(&plain);
    one->form.data = plain.data;
    one->form.bytes = plain.bytes;
    pe_etag_make(plain.data, plain.bytes, one->form.etag);
    *value = one;
    *bytes = sizeof *one + plain.bytes + PE_CACHE_BLOCK_BYTES;
    return PE_OK;
}

/* ---- replies ---- */

/* What the header fields of a document say beside the form. */
typedef struct document_head {
    const char *media_type, *vary, *cache_control;
    const char *content_policy; /* Content-Security-Policy of what a browser shows; NULL: none */
} document_head;

static pe_coding coding_of(const pe_request *request)
{
    pe_accepted_codings codings;
    pe_accept_encoding_read(request->header[PE_HEADER_ACCEPT_ENCODING], false, &codings);
    return codings.best;
}

/* entry: which holds the bytes, and whose reference is taken; NULL: they are constant. */
static pe_outcome reply_form(pe_request *request, const pe_document_form *chosen, pe_coding coding,
                             pe_cache_entry *entry, const document_head *head)
{
    const char *tags = request->header[PE_HEADER_IF_NONE_MATCH];
    const pe_field fields[] = {
        {"Content-Type", head->media_type},
        {"Content-Encoding", pe_coding_name(coding)},
        {"ETag", chosen->etag},
        {"Vary", head->vary},
        {"Cache-Control", head->cache_control},
        {"Content-Security-Policy", head->content_policy},
        {"X-Content-Type-Options", head->content_policy != NULL ? "nosniff" : NULL},
        {"Referrer-Policy", head->content_policy != NULL ? "no-referrer" : NULL},
        {0},
    };
    if (tags == NULL || !pe_etag_matches(tags, chosen->etag))
        return pe_reply_held(request, chosen->data, chosen->bytes, entry, fields);
    const pe_outcome outcome = pe_reply_empty(request, MHD_HTTP_NOT_MODIFIED, fields + 2);
    pe_cache_entry_unref(entry);
    return outcome;
}

/* What is made is for all who will ask, so that it is on no client's meter, and does not end where
 * this one leaves. no-cache: clients store it, but ask about it each time, since a new release may
 * change it. */
pe_outcome pe_page_document(pe_request *request, pe_problem *why)
{
    const document *page = documents;
    while (strcmp(page->path, request->path) != 0)
        page++;
    filling of = {request->service, {request->edition, page, coding_of(request)}};
    const pe_cache_request wanted = {&of.key, sizeof of.key, fill, &of, 0};
    pe_cache *cache = request->service->documents;
    pe_cache_entry *entry = pe_cache_peek(cache, &of.key, sizeof of.key);
    if (entry == NULL && !pe_request_has_turn(request, PE_JOB_HEAVY))
        return pe_request_defer(request, PE_JOB_HEAVY, pe_page_document);
    if (entry == NULL) {
        pe_meter_end();
        PE_TRY(pe_cache_get(cache, &wanted, &entry, NULL, why));
    }
    const kept *one = pe_cache_entry_value(entry);
    return reply_form(request, &one->form, one->coding, entry,
                      &(document_head){
                          .media_type = page->media_type,
                          .vary = page->shown ? "Accept, Accept-Encoding" : "Accept-Encoding",
                          .cache_control = "no-cache",
                      });
}

/* ---- the page, and its files ---- */

/* The offsets that explorer_data.S counts on. */
static_assert(sizeof(pe_document_form) == 56, "a form is two words and a tag");
static_assert(sizeof(pe_explorer_file) == 16 + PE_CODINGS * 56, "a row is two words and forms");

/* The page loads nothing from elsewhere. Others may show it in a frame: it does nothing there that
 * its visitor could regret. */
static const char content_policy[] =
    "default-src 'self'; img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors *";

/* What a path of assets names never changes. */
static pe_outcome reply_file(pe_request *request, const char *path, pe_problem *why)
{
    const bool asset = strncmp(path, "/assets/", strlen("/assets/")) == 0;
    const bool icon = strcmp(path, "/favicon.ico") == 0;
    size_t i = 0;
    while (i < pe_explorer_length && strcmp(pe_explorer_files[i].path, path) != 0)
        i++;
    if (i == pe_explorer_length)
        return pe_fail(why, PE_NOT_FOUND, "",
                       "%.200s is no file of this release's page; loading the page anew helps",
                       path);
    const pe_explorer_file *file = &pe_explorer_files[i];
    const pe_coding best = coding_of(request);
    const pe_coding coding = file->forms[best].data != NULL ? best : PE_CODING_IDENTITY;
    return reply_form(request, &file->forms[coding], coding, NULL,
                      &(document_head){
                          .media_type = file->media_type,
                          .vary = asset || icon ? "Accept-Encoding" : "Accept, Accept-Encoding",
                          .cache_control = asset  ? "public, max-age=31536000, immutable"
                                           : icon ? "public, max-age=86400"
                                                  : "no-cache",
                          .content_policy = content_policy,
                      });
}

/* Whether a browser asks, for which a page stands in place of JSON. */
static bool browses(const pe_request *request)
{
    return pe_format_prefers(request->header[PE_HEADER_ACCEPT], "text/html", "application/json");
}

pe_outcome pe_page_front(pe_request *request, pe_problem *why)
{
    return browses(request) ? reply_file(request, "/", why) : pe_page_document(request, why);
}

pe_outcome pe_page_file(pe_request *request, pe_problem *why)
{
    return reply_file(request, request->path, why);
}

/* The reference sends what the address asks for, and shows the answer. */
pe_outcome pe_page_listing(pe_request *request, pe_problem *why)
{
    return browses(request) ? reply_file(request, "/docs", why) : pe_page_document(request, why);
}

pe_outcome pe_page_problem(pe_request *request, pe_problem *why)
{
    const char *code = request->path + strlen("/problems/");
    const pe_status status = pe_status_by_code(code);
    if (status == PE_OK)
        return pe_fail(why, PE_NOT_FOUND, "", "there is no problem code %.100s", code);
    if (browses(request))
        return reply_file(request, "/docs", why);
    pe_buffer content = {0};
    pe_problem_json_page(status, &content);
    pe_buffer_str(&content, "\n");
    return pe_reply_content(request, PE_OK, &content,
                            PE_FIELDS({"Content-Type", "application/json"},
                                      {"Vary", "Accept, Accept-Encoding"},
                                      {"Cache-Control", "no-cache"}),
                            why);
}
