/* SPDX-License-Identifier: MIT */
/* request_id.h - the X-Request-Id that a client sends, or one made for it. */
#ifndef PE_HTTP_REQUEST_REQUEST_ID_H
#define PE_HTTP_REQUEST_REQUEST_ID_H

#include <stdbool.h>

/** 32 hexadecimal digits and a NUL. */
#define PE_REQUEST_ID_BYTES 33

/** Does the client's X-Request-Id match [A-Za-z0-9._-]{1,128}? */
bool pe_request_id_valid(const char *id);

/** A new id, unlike any other that this program makes on any node.   Threads  any. */
void pe_request_id_make(char out[PE_REQUEST_ID_BYTES]);

#endif
