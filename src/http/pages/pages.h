/* SPDX-License-Identifier: MIT */
/* pages.h - the handlers of everything that is no resource of numbers: the table in routes.c. */
#ifndef PE_HTTP_PAGES_PAGES_H
#define PE_HTTP_PAGES_PAGES_H

#include "http/request/invariants.h"
#include "http/request/request.h"

/* document_pages.c */
pe_step pe_page_document, pe_page_problem;

pe_step pe_page_front, pe_page_asset, pe_page_docs, pe_page_listing, pe_page_favicon;

/* admin_pages.c */
pe_step pe_page_livez, pe_page_readyz, pe_page_version;
pe_step pe_page_settings, pe_page_admin, pe_page_log_level, pe_page_readiness, pe_page_requests;
pe_step pe_page_caches, pe_page_purge;
/** Of the listener for operators: refuse what a web page of others has sent. */
pe_status pe_page_check_sender(const pe_request *request, pe_problem *why) PE_MUST_CHECK;

/* metrics.c */
pe_step pe_page_metrics;
/** Look for what should never happen, and count it.   Threads  one at a time. */
void pe_metrics_judge(pe_service *service, pe_invariants *invariants);

/* model_pages.c */
pe_step pe_page_models, pe_page_model, pe_page_resolve;

/* pack_pages.c */
pe_step pe_page_packs, pe_page_pack;

/* verify_page.c */
pe_step pe_page_verify;

/** Rows of a table that have arrived, while others are still to come. */
void pe_page_verify_part(pe_request *request);

#endif
