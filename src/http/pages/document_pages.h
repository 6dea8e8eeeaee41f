/* SPDX-License-Identifier: MIT */
/* document_pages.h - the documents that stay the same while the server runs. */
#ifndef PE_HTTP_PAGES_DOCUMENT_PAGES_H
#define PE_HTTP_PAGES_DOCUMENT_PAGES_H

#include "base/status.h"
#include "config/settings.h"
#include "tables/learned_tables.h"

/** The documents in every coding, with their tags. Immutable but for that of the learned tables. */
typedef struct pe_documents pe_documents;

/** All but that of /v1/learned, which comes next.   Errors  INTERNAL (memory). */
pe_status pe_documents_make(const pe_settings *settings, pe_documents **out,
                            pe_problem *why) PE_MUST_CHECK;

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

#endif
