/* SPDX-License-Identifier: MIT */
/* document_pages.h - the documents that stay the same while the server runs. */
#ifndef PE_HTTP_PAGES_DOCUMENT_PAGES_H
#define PE_HTTP_PAGES_DOCUMENT_PAGES_H

#include "base/status.h"
#include "config/settings.h"
#include "tables/learned_tables.h"

/** The documents in every coding, with their tags. Immutable once made. */
typedef struct pe_documents pe_documents;

/** learned: may be NULL.   Errors  OVERLOADED (memory). */
pe_status pe_documents_make(const pe_settings *settings, const pe_learned_tables *learned,
                            pe_documents **out, pe_problem *why) PE_MUST_CHECK;
/** Accepts NULL. */
void pe_documents_free(pe_documents *documents);

#endif
