/* SPDX-License-Identifier: MIT */
/* fields.h - the fields of a request's header that something here reads. */
#ifndef PE_HTTP_REQUEST_FIELDS_H
#define PE_HTTP_REQUEST_FIELDS_H

#include "http/request/request.h"

/** Fill request->header from the library's header, which connection/framing.h has found sound.
 *  Errors  MALFORMED_REQUEST: twice what may come once; INTERNAL: no memory. */
pe_status pe_fields_read(pe_request *request, pe_problem *why) PE_MUST_CHECK;

#endif
