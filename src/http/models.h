/* SPDX-License-Identifier: MIT */
/* models.h - the handlers of the catalogue and of configurations. */
#ifndef PE_HTTP_MODELS_H
#define PE_HTTP_MODELS_H

#include "http/request.h"

/** GET /v1/models/{name}. */
void pe_models_file(pe_request *request);
/** POST /v1/models/resolve. */
void pe_models_resolve(pe_request *request);

#endif
