/* SPDX-License-Identifier: MIT */
/* document_pages.c - the documents that stay the same while the server runs, and the page that browsers
 * see with the files that it consists of. */
#include "http/pages/document_pages.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/documents.h"
#include "base/yield.h"
#include "formats/negotiate.h"
#include "http/pages/pages.h"
#include "http/reply/coding.h"
#include "http/reply/reply.h"
#include "text/json_write.h"

/* Of those that depend on the settings or on the catalogue. */
typedef pe_status writer(const pe_settings *settings, pe_buffer *out, pe_problem *why);

/* A document is made at the first question, in the coding that is asked for: most are never asked
 * for. Two who ask at once may both make it; the first one's stays until the server ends. */
typedef struct document {
    const char *media_type;
    const char *text; /* all of it; NULL: it is written */
    writer *write;
    _Atomic(pe_document_form *) forms[PE_CODINGS]; /* owned */
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
    const pe_settings *settings;
    document list[DOCUMENTS];
    _Atomic(pe_learned_page *) learned;
};

static const char index_text[] =
    "{\"name\":\"posenc\",\"description\":\"exact positional encodings\","
    "\"resources\":\"/v1\",\"models\":\"/v1/models\",\"docs\":\"/docs\",\"openapi\":\"/"
    "openapi.json\",\"version\":\"/"
    "version\","
    "\"example\":\"/v1/sinusoidal?d_model=4&positions=0:3\"}\n";

static void free_form(const document *page, pe_document_form *form)
{
    if (form != NULL && form->data != page->text)
        free((char *)(uintptr_t)form->data);
    free(form);
}

static void free_forms(document *page)
{
    for (pe_coding c = PE_CODING_IDENTITY; c < PE_CODINGS; c++)
        free_form(page, atomic_load(&page->forms[c]));
}

/* The plain form comes before the others. One whose coding is not worth it has no data. */
static pe_status fill_form(const document *page, pe_coding coding, const pe_settings *settings,
                           pe_document_form *form, pe_problem *why)
{
    const pe_document_form *plain = atomic_load(&page->forms[PE_CODING_IDENTITY]);
    pe_buffer made = {0};
    pe_status status = PE_OK;
    if (coding != PE_CODING_IDENTITY)
        status = pe_coding_apply(coding, plain->data, plain->bytes, &made, why);
    else if (page->text == NULL)
        status = page->write(settings, &made, why);
    if (status == PE_OK && made.failed)
        status = pe_fail_memory(why);
    char *fitting = made.bytes > 0 ? realloc(made.data, made.bytes) : NULL;
    form->data = fitting != NULL ? fitting : made.data;
    form->bytes = made.bytes;
    if (coding == PE_CODING_IDENTITY && page->text != NULL) {
        form->data = page->text;
        form->bytes = strlen(page->text);
    }
    if (status == PE_OK && form->data != NULL)
        pe_etag_make(form->data, form->bytes, form->etag);
    return status;
}

static pe_status make_form(document *page, pe_coding coding, const pe_settings *settings,
                           pe_problem *why)
{
    if (atomic_load(&page->forms[coding]) != NULL)
        return PE_OK;
    pe_document_form *form = calloc(1, sizeof *form), *none = NULL;
    if (form == NULL)
        return pe_fail_memory(why);
    const pe_status status = fill_form(page, coding, settings, form, why);
    if (status != PE_OK || !atomic_compare_exchange_strong(&page->forms[coding], &none, form))
        free_form(page, form);
    return status;
}

pe_status pe_learned_page_make(const pe_learned_tables *learned, pe_learned_page **out,
                               pe_problem *why)
{
    pe_learned_page *made = calloc(1, sizeof *made);
    if (made == NULL)
        return pe_fail_memory(why);
    size_t n;
    char path[PE_PATH_MAX];
    const pe_learned_table *table = pe_learned_tables_all(learned, &n);
    pe_buffer_str(&made->text, "{\"tables\":[");
    for (size_t i = 0; i < n; i++) {
        snprintf(path, sizeof path, "/v1/learned/%s", table[i].name);
        pe_json_write_open(&made->text, NULL, "{");
        pe_json_write_text(&made->text, "name", table[i].name);
        pe_json_write_text(&made->text, "path", path);
        pe_json_write_count(&made->text, "rows", table[i].rows.shape.dim[0]);
        pe_json_write_count(&made->text, "width", table[i].rows.shape.dim[1]);
        pe_json_write_text(&made->text, "dtype", pe_dtype_name(table[i].rows.dtype));
        pe_json_write_text(&made->text, "digest", table[i].digest);
        pe_buffer_str(&made->text, "}");
    }
    pe_buffer_str(&made->text, "]}\n");
    made->page = (document){.media_type = "application/json", .text = pe_buffer_text(&made->text)};
    if (made->text.failed) {
        pe_learned_page_free(made);
        return pe_fail_memory(why);
    }
    *out = made;
    return PE_OK;
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

static pe_status write_listing(const pe_settings *settings, pe_buffer *out,
                               pe_problem *why PE_UNUSED)
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
    pe_listing_json(bounds, PE_LEN(bounds), out);
    return PE_OK;
}

static pe_status write_models(const pe_settings *settings PE_UNUSED, pe_buffer *out,
                              pe_problem *why)
{
    return pe_model_json_catalogue((pe_slice){0}, out, why);
}

pe_status pe_documents_make(const pe_settings *settings, pe_documents **out, pe_problem *why)
{
    static const document unmade[DOCUMENTS] = {
        [INDEX] = {.media_type = "application/json", .text = index_text},
        [LISTING] = {.media_type = "application/json", .write = write_listing},
        [MODELS] = {.media_type = "application/json", .write = write_models},
        [OPENAPI_YAML] = {.media_type = "application/yaml", .text = pe_openapi_data_yaml},
        [OPENAPI_JSON] = {.media_type = "application/json", .text = pe_openapi_data_json},
    };
    pe_documents *documents = calloc(1, sizeof *documents);
    if (documents == NULL)
        return pe_fail_memory(why);
    documents->settings = settings;
    memcpy(documents->list, unmade, sizeof unmade);
    *out = documents;
    return PE_OK;
}

size_t pe_documents_bytes(const pe_documents *documents)
{
    size_t bytes = 0;
    for (size_t d = 0; d < DOCUMENTS; d++)
        for (pe_coding c = PE_CODING_IDENTITY; c < PE_CODINGS; c++) {
            const document *page = &documents->list[d];
            const pe_document_form *form = atomic_load(&page->forms[c]);
            if (form != NULL)
                bytes += sizeof *form + (form->data != page->text ? form->bytes : 0);
        }
    return bytes;
}

void pe_documents_free(pe_documents *documents)
{
    if (documents == NULL)
        return;
    pe_learned_page_free(atomic_load(&documents->learned));
    for (size_t d = 0; d < DOCUMENTS; d++)
        free_forms(&documents->list[d]);
    free(documents);
}

static pe_outcome reply_document(pe_request *request, const pe_document_form *forms,
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

static document *find(const pe_request *request)
{
    pe_documents *documents = request->service->documents;
    size_t d = 0;
    while (strcmp(paths[d], request->path) != 0) /* the table of routes has no others */
        d++;
    return d == LEARNED ? &atomic_load(&documents->learned)->page : &documents->list[d];
}

/* What is made is for all who will ask, so that it is on no client's meter, and does not end where
 * this one leaves. */
static pe_outcome make(pe_request *request, pe_problem *why)
{
    const pe_settings *settings = request->service->documents->settings;
    document *page = find(request);
    pe_accepted_codings codings;
    pe_meter_end();
    pe_thread_computes();
    pe_accept_encoding_read(request->header[PE_HEADER_ACCEPT_ENCODING], &codings);
    if (make_form(page, PE_CODING_IDENTITY, settings, why) != PE_OK ||
        make_form(page, codings.best, settings, why) != PE_OK)
        return PE_FAILED;
    return pe_page_document(request, why);
}

/* no-cache: clients store it, but ask about it each time, since a new release may change it. */
pe_outcome pe_page_document(pe_request *request, pe_problem *why PE_UNUSED)
{
    document *page = find(request);
    pe_accepted_codings codings;
    pe_accept_encoding_read(request->header[PE_HEADER_ACCEPT_ENCODING], &codings);
    const pe_document_form *plain = atomic_load(&page->forms[PE_CODING_IDENTITY]),
                           *best = atomic_load(&page->forms[codings.best]);
    if (plain == NULL || best == NULL)
        return pe_request_defer(request, PE_JOB_HEAVY, make);
    pe_document_form forms[PE_CODINGS] = {[PE_CODING_IDENTITY] = *plain};
    forms[codings.best] = *best;
    const bool shown = page->text == index_text || page->write == write_listing ||
                       strcmp(request->path, paths[LEARNED]) == 0;
    return reply_document(request, forms,
                          &(pe_document_head){
                              .media_type = page->media_type,
                              .vary = shown ? "Accept, Accept-Encoding" : "Accept-Encoding",
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

static pe_outcome reply(pe_request *request, const pe_explorer_file *file, const char *vary,
                        const char *cache_control)
{
    return reply_document(request, file->forms,
                          &(pe_document_head){
                              .media_type = file->media_type,
                              .vary = vary,
                              .cache_control = cache_control,
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
    if (!browses(request))
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

/* The reference sends what the address asks for, and shows the answer. */
pe_outcome pe_page_listing(pe_request *request, pe_problem *why)
{
    return browses(request) ? pe_page_docs(request, why) : pe_page_document(request, why);
}

pe_outcome pe_page_problem(pe_request *request, pe_problem *why)
{
    const char *code = request->path + strlen("/problems/");
    const pe_status status = pe_status_by_code(code);
    if (status == PE_OK)
        return pe_failed(pe_fail(why, PE_NOT_FOUND, "", "there is no problem code %.100s", code));
    if (browses(request))
        return pe_page_docs(request, why);
    const pe_field fields[] = {{"Content-Type", "application/json"},
                               {"Vary", "Accept, Accept-Encoding"},
                               {"Cache-Control", "no-cache"},
                               {0}};
    pe_buffer content = {0};
    pe_problem_json_page(status, &content);
    pe_buffer_str(&content, "\n");
    return pe_reply_content(request, MHD_HTTP_OK, &content, fields, why);
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
