/* SPDX-License-Identifier: MIT */
/* document_pages.c - the documents that stay the same while the server runs, and the page that browsers
 * see with the files that it consists of. */
#include "http/pages/document_pages.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/listing.h"
#include "api/model_json.h"
#include "api/problem_json.h"
#include "formats/negotiate.h"
#include "http/pages/pages.h"
#include "http/reply/coding.h"
#include "http/reply/reply.h"
#include "text/json_write.h"

typedef struct document {
    const char *media_type;
    pe_document_form forms[PE_CODINGS]; /* all but IDENTITY are owned */
} document;

enum { INDEX, LISTING, MODELS, LEARNED, OPENAPI_YAML, OPENAPI_JSON, DOCUMENTS };

static const char *const paths[DOCUMENTS] = {
    [INDEX] = "/",
    [LISTING] = "/v1",
    [MODELS] = "/v1/models",
    [LEARNED] = "/v1/learned",
    [OPENAPI_YAML] = "/openapi.yaml",
    [OPENAPI_JSON] = "/openapi.json",
};

/* What GET /v1/learned answers. Answers point into it, so it stays until the server ends, also when
 * a reload has put another in its place; that happens only when the tables have changed. */
struct pe_learned_page {
    document page;
    pe_buffer text;
    pe_learned_page *before;
};

struct pe_documents {
    document list[DOCUMENTS];
    _Atomic(pe_learned_page *) learned;
    pe_buffer texts[DOCUMENTS]; /* of those that are written at the start */
};

static const char index_text[] =
    "{\"name\":\"posenc\",\"description\":\"exact positional encodings\","
    "\"resources\":\"/v1\",\"models\":\"/v1/models\",\"docs\":\"/docs\",\"openapi\":\"/"
    "openapi.json\",\"version\":\"/"
    "version\","
    "\"example\":\"/v1/sinusoidal?d_model=4&positions=0:3\"}\n";

/* The document in all codings. Those that are not worth it have no data. */
static pe_status set(document *page, const char *media_type, const char *data, size_t bytes,
                     pe_problem *why)
{
    page->media_type = media_type;
    for (pe_coding c = PE_CODING_IDENTITY; c < PE_CODINGS; c++) {
        pe_document_form *form = &page->forms[c];
        pe_buffer coded = {0};
        PE_TRY(pe_coding_apply(c, data, bytes, &coded, why));
        form->data = c == PE_CODING_IDENTITY ? data : coded.data;
        form->bytes = c == PE_CODING_IDENTITY ? bytes : coded.bytes;
        if (form->data != NULL)
            pe_etag_make(form->data, form->bytes, form->etag);
    }
    return PE_OK;
}

static void list_learned(const pe_learned_tables *learned, pe_buffer *out)
{
    size_t n;
    char path[PE_PATH_MAX];
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
}

static void free_forms(const document *page)
{
    for (pe_coding c = PE_CODING_IDENTITY + 1; c < PE_CODINGS; c++)
        free((char *)(uintptr_t)page->forms[c].data);
}

pe_status pe_learned_page_make(const pe_learned_tables *learned, pe_learned_page **out,
                               pe_problem *why)
{
    pe_learned_page *made = calloc(1, sizeof *made);
    if (made == NULL)
        return pe_fail_memory(why);
    list_learned(learned, &made->text);
    const pe_status status = made->text.failed ? pe_fail_memory(why)
                                               : set(&made->page, "application/json",
                                                     made->text.data, made->text.bytes, why);
    if (status == PE_OK)
        *out = made;
    else
        pe_learned_page_free(made);
    return status;
}

void pe_learned_page_free(pe_learned_page *page)
{
    while (page != NULL) {
        pe_learned_page *before = page->before;
        free_forms(&page->page);
        pe_buffer_free(&page->text);
        free(page);
        page = before;
    }
}

void pe_documents_use_learned(pe_documents *documents, pe_learned_page *page)
{
    page->before = atomic_load(&documents->learned);
    atomic_store(&documents->learned, page);
}

/* The texts of some depend on the settings, the tables and the catalogue. */
static pe_status write_all(const pe_settings *settings, pe_documents *documents, pe_problem *why)
{
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
    pe_buffer *listing = &documents->texts[LISTING], *models = &documents->texts[MODELS];
    pe_listing_json(bounds, PE_LEN(bounds), listing);
    pe_status status = pe_model_json_catalogue((pe_slice){0}, models, why);
    if (status == PE_OK && (listing->failed || models->failed))
        status = pe_fail_memory(why);
    const struct {
        const char *media_type, *data;
        size_t bytes;
    } rows[DOCUMENTS] = {
        [INDEX] = {"application/json", index_text, sizeof index_text - 1},
        [LISTING] = {"application/json", listing->data, listing->bytes},
        [MODELS] = {"application/json", models->data, models->bytes},
        [OPENAPI_YAML] = {"application/yaml", pe_openapi_data_yaml, pe_openapi_data_yaml_bytes},
        [OPENAPI_JSON] = {"application/json", pe_openapi_data_json, pe_openapi_data_json_bytes},
    };
    for (size_t d = 0; d < DOCUMENTS && status == PE_OK; d++)
        if (rows[d].data != NULL)
            status = set(&documents->list[d], rows[d].media_type, rows[d].data, rows[d].bytes, why);
    return status;
}

pe_status pe_documents_make(const pe_settings *settings, pe_documents **out, pe_problem *why)
{
    pe_documents *documents = calloc(1, sizeof *documents);
    if (documents == NULL)
        return pe_fail_memory(why);
    if (write_all(settings, documents, why) != PE_OK) {
        pe_documents_free(documents);
        return why->status;
    }
    *out = documents;
    return PE_OK;
}

void pe_documents_free(pe_documents *documents)
{
    if (documents == NULL)
        return;
    pe_learned_page_free(atomic_load(&documents->learned));
    for (size_t d = 0; d < DOCUMENTS; d++) {
        free_forms(&documents->list[d]);
        pe_buffer_free(&documents->texts[d]);
    }
    free(documents);
}

pe_outcome pe_document_reply(pe_request *request, const pe_document_form *forms,
                             const pe_document_head *head)
{
    const char *tags = request->header[PE_HEADER_IF_NONE_MATCH];
    pe_accepted_codings codings;
    pe_accept_encoding_read(request->header[PE_HEADER_ACCEPT_ENCODING], &codings);
    const pe_coding coding = forms[codings.best].data != NULL ? codings.best : PE_CODING_IDENTITY;
    const pe_document_form *chosen = &forms[coding];
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
    if (tags != NULL && pe_etag_matches(tags, chosen->etag))
        return pe_reply_empty(request, MHD_HTTP_NOT_MODIFIED, fields + 2);
    return pe_reply_constant(request, chosen->data, chosen->bytes, fields);
}

/* no-cache: clients store it, but ask about it each time, since a new release may change it. */
pe_outcome pe_page_document(pe_request *request, pe_problem *why)
{
    (void)why;
    const pe_documents *documents = request->service->documents;
    size_t d = 0;
    while (strcmp(paths[d], request->path) != 0) /* the table of routes has no others */
        d++;
    const document *page =
        d == LEARNED ? &atomic_load(&documents->learned)->page : &documents->list[d];
    return pe_document_reply(
        request, page->forms,
        &(pe_document_head){
            .media_type = page->media_type,
            .vary = d == INDEX || d == LISTING ? "Accept, Accept-Encoding" : "Accept-Encoding",
            .cache_control = "no-cache",
        });
}

pe_outcome pe_page_problem(pe_request *request, pe_problem *why)
{
    const char *code = request->path + strlen("/problems/");
    const pe_status status = pe_status_by_code(code);
    if (status == PE_OK) {
        pe_fail(why, PE_NOT_FOUND, "", "there is no problem code %.100s", code);
        return PE_FAILED;
    }
    pe_buffer content = {0};
    pe_problem_json_page(status, &content);
    return pe_reply_json(request, &content, "no-cache", why);
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

static pe_outcome reply(pe_request *request, const pe_explorer_file *file, const char *vary,
                        const char *cache_control)
{
    return pe_document_reply(request, file->forms,
                             &(pe_document_head){
                                 .media_type = file->media_type,
                                 .vary = vary,
                                 .cache_control = cache_control,
                                 .content_policy = content_policy,
                             });
}

pe_outcome pe_page_front(pe_request *request, pe_problem *why)
{
    if (!pe_format_prefers(request->header[PE_HEADER_ACCEPT], "text/html", "application/json"))
        return pe_page_document(request, why);
    return reply(request, &pe_explorer_files[0], "Accept, Accept-Encoding", "no-cache");
}

static pe_outcome reply_file(pe_request *request, const char *path, const char *vary,
                             const char *cache_control, pe_problem *why)
{
    for (size_t i = 1; i < pe_explorer_length; i++)
        if (strcmp(pe_explorer_files[i].path, path) == 0)
            return reply(request, &pe_explorer_files[i], vary, cache_control);
    pe_fail(why, PE_NOT_FOUND, "",
            "%.200s is no file of this release's page; loading the page anew helps", path);
    return PE_FAILED;
}

pe_outcome pe_page_docs(pe_request *request, pe_problem *why)
{
    return reply_file(request, "/docs", "Accept, Accept-Encoding", "no-cache", why);
}

pe_outcome pe_page_listing(pe_request *request, pe_problem *why)
{
    const bool seen =
        pe_format_prefers(request->header[PE_HEADER_ACCEPT], "text/html", "application/json");
    return seen ? pe_page_docs(request, why) : pe_page_document(request, why);
}

pe_outcome pe_page_favicon(pe_request *request, pe_problem *why)
{
    return reply_file(request, "/favicon.ico", "Accept-Encoding", "public, max-age=86400", why);
}

pe_outcome pe_page_asset(pe_request *request, pe_problem *why)
{
    return reply_file(request, request->path, "Accept-Encoding",
                      "public, max-age=31536000, immutable", why);
}
