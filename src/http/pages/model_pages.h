/* SPDX-License-Identifier: MIT */
/* model_pages.h - the handlers of the catalogue and of configurations. */
#ifndef PE_HTTP_PAGES_MODEL_PAGES_H
#define PE_HTTP_PAGES_MODEL_PAGES_H

#include "http/request/request.h"

/** GET /v1/models/{name}. */
void pe_model_page(pe_request *request);
/** POST /v1/models/resolve. */
void pe_model_page_resolve(pe_request *request);

#endif
