/* SPDX-License-Identifier: MIT */
/* framing.h - reads the request's header, and refuses what the library lets pass. */
#ifndef PE_HTTP_REQUEST_FRAMING_H
#define PE_HTTP_REQUEST_FRAMING_H

#include "http/request/request.h"

/**
 * Fill request->header from the library's header and check what decides where the request ends
 * and whom it is for; a proxy in front of us must not read it differently.
 *
 * Source  RFC 9112, sections 2.2, 3, 5, 6; the checks are those that libmicrohttpd 0.9.75 leaves
 * out. Errors  MALFORMED_REQUEST; the connection must be closed after the answer.
 */
pe_status pe_framing_read(pe_request *request, const char *method, const char *version,
                          pe_problem *why) PE_MUST_CHECK;

#endif
