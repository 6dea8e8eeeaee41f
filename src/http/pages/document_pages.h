/* SPDX-License-Identifier: MIT */
/* document_pages.h - the documents that stay the same while the server runs. */
#ifndef PE_HTTP_PAGES_DOCUMENT_PAGES_H
#define PE_HTTP_PAGES_DOCUMENT_PAGES_H

#include "base/status.h"
#include "config/settings.h"
#include "http/reply/etag.h"
#include "http/request/request.h"
#include "tables/learned_tables.h"

/** A document as it goes out in one coding. explorer_data.S writes such structures, too. */
typedef struct pe_document_form {
    const char *data; /* NULL: the coding is not worth it */
    size_t bytes;
    char etag[PE_ETAG_BYTES];
} pe_document_form;

/** What the header fields of a document say beside the form. */
typedef struct pe_document_head {
    const char *media_type, *vary, *cache_control;
    const char *content_policy; /* Content-Security-Policy of what a browser shows; NULL: none */
} pe_document_head;

/** The documents, each made by a worker when it is asked for first.   Threads  any. */
typedef struct pe_documents pe_documents;

/** All but that of /v1/learned, which comes next. settings: stay.   Errors  OVERLOADED (memory). */
pe_status pe_documents_make(const pe_settings *settings, pe_documents **out,
                            pe_problem *why) PE_MUST_CHECK;
/** What those that were made hold. */
size_t pe_documents_bytes(const pe_documents *documents);

/** The document of /v1/learned. learned: may be NULL. */
typedef struct pe_learned_page pe_learned_page;

pe_status pe_learned_page_make(const pe_learned_tables *learned, pe_learned_page **out,
                               pe_problem *why) PE_MUST_CHECK;
/** Of a page that was not put to use. Accepts NULL. */
void pe_learned_page_free(pe_learned_page *page);
/** From now on this is the page. Takes it.   Threads  one at a time, while others read. */
void pe_documents_use_learned(pe_documents *documents, pe_learned_page *page);

/** Accepts NULL. */
void pe_documents_free(pe_documents *documents);

/* ---- what the program itself holds: the files of src/web/ as src/web/pack leaves them, and
 * openapi.yaml, also as JSON ---- */

/** A file of the page. The path holds a digest of all files, so what it names never changes. */
typedef struct pe_explorer_file {
    const char *path, *media_type;
    pe_document_form forms[PE_CODINGS];
} pe_explorer_file;

/** The first is the page itself, with the path "/". */
extern const pe_explorer_file pe_explorer_files[];
extern const size_t pe_explorer_length;

/* The documents end with a zero byte that the sizes do not count. */
extern const char pe_openapi_data_yaml[];
extern const char pe_openapi_data_json[];
extern const size_t pe_openapi_data_yaml_bytes;
extern const size_t pe_openapi_data_json_bytes;

#endif
