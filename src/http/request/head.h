/* SPDX-License-Identifier: MIT */
/* head.h - the header of a request: method, path, query, and the fields that something here reads. */
#ifndef PE_HTTP_REQUEST_HEAD_H
#define PE_HTTP_REQUEST_HEAD_H

#include "http/request/request.h"

/** Copy the target as it came; the library's own is overwritten soon. False: no memory. */
bool pe_target_keep(pe_request *request, const char *target);

/**
 * Set path and query from the target. The path's unreserved characters are decoded (RFC 3986,
 * 6.2.2.2), others are left, so that %2F is not a slash and %00 is nothing; the query is left as it
 * is. An absolute target loses its scheme and authority (RFC 9112, 3.2.2).
 */
void pe_target_split(pe_request *request);

/** Set the method; those we do not know are PE_METHOD_OTHER. Methods are case-sensitive. */
void pe_target_read_method(pe_request *request, const char *method);

/** Fill request->header from the library's header, which connection/framing.h has found sound.
 *  Errors  MALFORMED_REQUEST: twice what may come once; INTERNAL: no memory. */
pe_status pe_fields_read(pe_request *request, pe_problem *why) PE_MUST_CHECK;

#endif
