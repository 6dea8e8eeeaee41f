/* SPDX-License-Identifier: MIT */
/* proxy_header.h - the header of the PROXY protocol: whose connection does a proxy pass on? */
#ifndef PE_HTTP_CONNECTION_PROXY_HEADER_H
#define PE_HTTP_CONNECTION_PROXY_HEADER_H

#include <stdbool.h>

#include "base/slice.h"
#include "http/connection/client_address.h"

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
