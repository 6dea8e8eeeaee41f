/* SPDX-License-Identifier: MIT */
/* access_log.h - one line per request. */
#ifndef PE_HTTP_ACCESS_LOG_H
#define PE_HTTP_ACCESS_LOG_H

#include <microhttpd.h>

#include "http/connection/client_address.h"
#include "http/request/request.h"

/** The reply is about to be sent: note how much the connection has carried so far. */
void pe_access_log_begin(pe_request *request);

/** The status that the client got, in whatever way; 0: none. */
unsigned pe_access_log_status(const pe_request *request);

/** The request is over; nothing where the setting access_log is off. */
void pe_access_log_end(const pe_request *request, enum MHD_RequestTerminationCode code);

/** A connection has ended before there was the header of a request; status as above.
 * Threads  any. */
void pe_access_log_unheard(pe_service *service, const pe_client_address *client, unsigned status);

#endif
