/* SPDX-License-Identifier: MIT */
/* pages.h - the handlers of everything that is not representation. */
#ifndef PE_HTTP_PAGES_PAGES_H
#define PE_HTTP_PAGES_PAGES_H

#include "base/status.h"
#include "config/settings.h"
#include "tables/learned_tables.h"

struct pe_request;

/** Documents that stay the same while the server runs, with their tags. */
typedef struct pe_pages pe_pages;

/** learned: may be NULL. */
pe_status pe_pages_make(const pe_settings *settings, const pe_learned_tables *learned,
                        pe_pages **out, pe_problem *why) PE_MUST_CHECK;
/** Accepts NULL. */
void pe_pages_free(pe_pages *pages);

/* Handlers: see the table in routes.c. */
void pe_page_index(struct pe_request *request);
void pe_page_listing(struct pe_request *request);
void pe_page_models(struct pe_request *request);
void pe_page_learned(struct pe_request *request);
void pe_page_problem(struct pe_request *request);
void pe_page_openapi_yaml(struct pe_request *request);
void pe_page_openapi_json(struct pe_request *request);
void pe_page_livez(struct pe_request *request);
void pe_page_readyz(struct pe_request *request);
void pe_page_healthz(struct pe_request *request);
void pe_page_version(struct pe_request *request);
void pe_page_metrics(struct pe_request *request);

#endif
