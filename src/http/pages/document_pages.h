/* SPDX-License-Identifier: MIT */
/* document_pages.h - the documents that stay the same while the server runs. */
#ifndef PE_HTTP_PAGES_DOCUMENT_PAGES_H
#define PE_HTTP_PAGES_DOCUMENT_PAGES_H

#include "base/status.h"
#include "http/reply/header_fields.h"
#include "http/request/request.h"

/** A document as it goes out in one coding. explorer_data.S writes such structures, too. */
typedef struct pe_document_form {
    const char *data; /* NULL: the coding is not worth it */
    size_t bytes;
    char etag[PE_ETAG_BYTES];
} pe_document_form;

/** The cache of documents, each made by a worker when it is asked for first. */
pe_status pe_documents_make(struct pe_cache **out, pe_problem *why) PE_MUST_CHECK;

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
