/* SPDX-License-Identifier: MIT */
/* callbacks.h - what libmicrohttpd calls: a connection opens, a request arrives and ends. */
#ifndef PE_HTTP_CALLBACKS_H
#define PE_HTTP_CALLBACKS_H

#include <gnutls/abstract.h>
#include <microhttpd.h>

/* In the order of their calls. context: the server's pe_service. Each has the type that the
 * library's option of that name wants. */

/** A connection opens or closes. */
void pe_callbacks_connection(void *context, struct MHD_Connection *connection,
                             void **socket_context, enum MHD_ConnectionNotificationCode code);

/** A client of TLS wants to see the certificate. */
int pe_callbacks_certificate(gnutls_session_t session, const gnutls_datum_t *authorities,
                             int n_authorities, const gnutls_pk_algorithm_t *algorithms,
                             int n_algorithms, gnutls_pcert_st **chain, unsigned *n,
                             gnutls_privkey_t *key);

/** The first line of a request has arrived. Returns the request, or NULL without memory. */
void *pe_callbacks_target(void *context, const char *target, struct MHD_Connection *connection);

/** The header has arrived, then parts of the body, then the end; or a worker has resumed. */
enum MHD_Result pe_callbacks_access(void *context, struct MHD_Connection *connection,
                                    const char *url, const char *method, const char *version,
                                    const char *upload, size_t *upload_bytes, void **request);

/** The request is over: its response has been sent, or never will be. */
void pe_callbacks_completed(void *context, struct MHD_Connection *connection, void **request,
                            enum MHD_RequestTerminationCode code);

#endif
