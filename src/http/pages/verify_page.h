/* SPDX-License-Identifier: MIT */
/* verify_page.h - the handler of POST /v1/verify. */
#ifndef PE_HTTP_PAGES_VERIFY_PAGE_H
#define PE_HTTP_PAGES_VERIFY_PAGE_H

#include "http/request/request.h"

void pe_verify_page(pe_request *request);

#endif
