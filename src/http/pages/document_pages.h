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

/** Reply with the form whose coding the client likes best, or 304.   forms: by pe_coding. */
pe_outcome pe_document_reply(pe_request *request, const pe_document_form *forms,
                             const pe_document_head *head);

/** The documents in every coding, with their tags. Immutable once made. */
typedef struct pe_documents pe_documents;

/** learned: may be NULL.   Errors  INTERNAL (memory). */
pe_status pe_documents_make(const pe_settings *settings, const pe_learned_tables *learned,
                            pe_documents **out, pe_problem *why) PE_MUST_CHECK;
/** Accepts NULL. */
void pe_documents_free(pe_documents *documents);

#endif
