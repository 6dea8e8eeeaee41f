/* SPDX-License-Identifier: MIT */
/* admission.h - whose request is it, and may it be served now? */
#ifndef PE_HTTP_REQUEST_ADMISSION_H
#define PE_HTTP_REQUEST_ADMISSION_H

#include "http/clients/clients.h"
#include "http/connection/client_address.h"
#include "http/request/request.h"

/**
 * The peer of the connection, or whose connection that says it is by the PROXY protocol; where
 * trusted_proxies names this one, the last address of X-Forwarded-For that they do not name.
 * Threads  that of the connection.
 */
pe_client_address pe_admission_client(const pe_request *request);

/** The name by which the table of clients knows an address: its network, for IPv6. */
pe_client_id pe_admission_id(const pe_settings *settings, const pe_client_address *address);

/**
 * Find out whose request it is: by its key, where keys are asked for, and by its address; and take
 * a token of each. The key is erased from the memory where it has arrived.
 *
 * Errors   UNAUTHORIZED, FORBIDDEN, RATE_LIMITED.
 * Threads  that of the connection, as soon as the header is there.
 */
pe_status pe_admission_check(pe_request *request, pe_problem *why) PE_MUST_CHECK;

/** The client by address, whose share of what is held the request uses.   Threads  as above. */
pe_client *pe_admission_address(pe_request *request);

/** Whose turn it is when a worker takes the request: the key's, else the address's. Threads  that
 * of the connection first, later any. */
pe_client_queues *pe_admission_queues(pe_request *request);

/**
 * Charge units of work before they are spent, as the price is estimated.
 *
 * Errors  RATE_LIMITED: the client has spent too much.
 */
pe_status pe_admission_charge(pe_request *request, uint64_t work, pe_problem *why) PE_MUST_CHECK;

/** The values of RateLimit-Policy and RateLimit: each limit that the request is held to, by requests and
 * work, key and address; none of a request that was not checked.   Threads  as of queues.
 * Source   draft-ietf-httpapi-ratelimit-headers-10, sections 3 and 4. */
void pe_admission_write_limits(pe_request *request, pe_buffer *policy, pe_buffer *left);

/**
 * As both, of work that a step does at once: refused, or charged, counted, and the request's price.
 *
 * Errors  TOO_MUCH_WORK, RATE_LIMITED.
 */
pe_status pe_admission_take(pe_request *request, uint64_t work, pe_problem *why) PE_MUST_CHECK;

/** A worker may take so much time for the request as its price allows, which may have changed. */
void pe_admission_allow(pe_request *request);
/** The worker has done what it could now: its time is taken, and counted where it was too much. */
void pe_admission_pause(pe_request *request);

/** Work that is begun: counted, and settled when the request ends. */
void pe_admission_spend(pe_request *request, uint64_t work);

/** The request has ended: give back what was charged and not spent, or take what is missing. */
void pe_admission_end(pe_request *request);

#endif
