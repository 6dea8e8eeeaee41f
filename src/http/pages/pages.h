/* SPDX-License-Identifier: MIT */
/* pages.h - the handlers of everything that is no resource of numbers: the table in routes.c. */
#ifndef PE_HTTP_PAGES_PAGES_H
#define PE_HTTP_PAGES_PAGES_H

#include "http/request/request.h"

/* document_pages.c */
pe_step pe_page_document, pe_page_problem, pe_page_front, pe_page_file, pe_page_listing;

/* admin_pages.c */
pe_step pe_page_livez, pe_page_readyz, pe_page_version;
pe_step pe_page_settings, pe_page_admin, pe_page_log_level, pe_page_readiness, pe_page_requests;
pe_step pe_page_purge;
/** Of the listener for operators: refuse what a web page of others has sent. */
pe_status pe_page_check_sender(const pe_request *request, pe_problem *why) PE_MUST_CHECK;

/* metrics.c */
pe_step pe_page_metrics, pe_page_caches;

/** What the server holds and has done at one moment. */
typedef struct pe_sight {
    double now, cpu; /* seconds: of a clock; that the process has computed */
    uint64_t events; /* connections, requests and reloads, ever */
    uint64_t active; /* requests under way; the warm-up is one */
    uint64_t other;  /* bytes allocated that belong to no cache, body or connection */
} pe_sight;

typedef struct pe_invariants {
    pe_sight before;
    uint64_t kept; /* the most of `other` that was no violation; 0: not known yet */
} pe_invariants;

typedef struct pe_broken {
    bool idle;   /* nothing was asked, and a quarter of a core was taken */
    bool memory; /* nothing is under way, and PE_KEPT_BYTES more are held than before */
} pe_broken;

/** Rows of clients and of counters, buffers that threads keep. */
#define PE_KEPT_BYTES ((uint64_t)16777216)

/** Which of them are broken between two sights in which nothing was under way, and no event between
 * them. Each 16 MiB are reported once. Of sights closer than a second, the later is left out. */
pe_broken pe_invariants_judge(pe_invariants *invariants, const pe_sight *sight);

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
