/* SPDX-License-Identifier: MIT */
/* tls.h - the certificate that the server shows, and its key; a reload replaces both. */
#ifndef PE_HTTP_CONNECTION_TLS_H
#define PE_HTTP_CONNECTION_TLS_H

#include <gnutls/abstract.h>
#include <stdbool.h>

#include "base/status.h"

/** A certificate and its key, read from files. It holds those that it has replaced: a handshake may
 * still use them. */
typedef struct pe_tls_identity pe_tls_identity;

/**
 * Read a PEM file with the certificate, and those that lead to its authority, and one with its key.
 * Errors  INVALID_PARAMETER: one that is missing, cannot be read, or is no such thing; a key of
 *         another certificate.
 */
pe_status pe_tls_identity_read(const char *certificate, const char *key, pe_tls_identity **out,
                               pe_problem *why) PE_MUST_CHECK;
/** Accepts NULL. */
void pe_tls_identity_free(pe_tls_identity *identity);

/** Of a certificate, for people. */
typedef struct pe_tls_certificate {
    char subject[256];    /* a distinguished name, cut where it is long */
    char fingerprint[65]; /* SHA-256, hexadecimal */
} pe_tls_certificate;

/** Show it from the next handshake on, in the place of *used; takes it. *out: what it shows. False:
 * certificates that were in use.   Threads  one at a time, beside any handshake. */
bool pe_tls_use(_Atomic(pe_tls_identity *) *used, pe_tls_identity *identity,
                pe_tls_certificate *out);

/** What GnuTLS asks for (gnutls_certificate_retrieve_function2). 0: done; without an identity no
 * handshake succeeds. */
int pe_tls_show(pe_tls_identity *used, gnutls_pcert_st **chain, unsigned *n, gnutls_privkey_t *key);

/** GnuTLS's priorities of a least version, "1.2" or "1.3". */
const char *pe_tls_priorities(const char *minimum);

#endif
