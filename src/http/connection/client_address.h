/* SPDX-License-Identifier: MIT */
/* client_address.h - whose request is it, also behind proxies that are trusted? */
#ifndef PE_HTTP_CONNECTION_CLIENT_ADDRESS_H
#define PE_HTTP_CONNECTION_CLIENT_ADDRESS_H

#include <microhttpd.h>
#include <netinet/in.h>
#include <stdbool.h>

#include "base/slice.h"
#include "base/status.h"
#include "config/settings.h"

/** An IPv6 address, and IPv4 as ::ffff:a.b.c.d; zero where the peer has none (a unix socket). */
typedef struct pe_client_address {
    struct in6_addr bytes;
} pe_client_address;

/** Errors  INVALID_PARAMETER: an item of trusted_proxies that is no address, network or "unix"; or
 * none, though proxy_protocol is set. */
pe_status pe_client_address_check(const pe_settings *settings, pe_problem *why) PE_MUST_CHECK;

/** The peer of the connection itself. */
pe_client_address pe_client_address_of_peer(struct MHD_Connection *connection);
/** The same of what accept() gave. */
pe_client_address pe_client_address_of_socket(const struct sockaddr *address);

/** Who came to `peer`, by X-Forwarded-For: from the last item on, while each is trusted. `list`
 * begins with a comma, or is empty. */
pe_client_address pe_client_address_unwind(const pe_settings *settings, const char *list,
                                           pe_client_address peer);

/** Does trusted_proxies name it? */
bool pe_client_address_is_trusted(const pe_settings *settings, const pe_client_address *address);

/** "192.0.2.1", "2001:db8::1", or "unix". */
void pe_client_address_text(const pe_client_address *address, char out[INET6_ADDRSTRLEN]);

/* ---- the header of the PROXY protocol: whose connection does a proxy pass on? ---- */

/** The largest that is read, with what version 2 may append. */
#define PE_PROXY_HEADER_MAX 2048

typedef struct pe_proxy_header {
    size_t bytes; /* of the header; what follows is the client's */
    bool known;   /* false: the proxy speaks for itself, or names no internet address */
    pe_client_address client;
} pe_proxy_header;

typedef enum pe_proxy_found {
    PE_PROXY_WHOLE,
    PE_PROXY_PART, /* it may become one */
    PE_PROXY_NONE
} pe_proxy_found;

/**
 * Read version 1 or 2 off the first bytes of a connection; *out is written where it is whole.
 *
 * Source  The PROXY protocol, versions 1 and 2 (HAProxy), section 2.
 */
pe_proxy_found pe_proxy_header_read(pe_slice begin, pe_proxy_header *out);

#endif
