/* SPDX-License-Identifier: MIT */
/* etag.h - entity tags: made of what decides the bytes, and compared with If-None-Match. */
#ifndef PE_HTTP_REPLY_ETAG_H
#define PE_HTTP_REPLY_ETAG_H

#include <stdbool.h>
#include <stddef.h>

/** A strong ETag with its quotes and a NUL: 32 hexadecimal digits, 128 bits of SHA-256. */
#define PE_ETAG_BYTES 35

/** The tag of content that these bytes determine. */
void pe_etag_make(const void *data, size_t bytes, char out[PE_ETAG_BYTES]);

/**
 * Does an If-None-Match value name the tag? Weak comparison; a list, or *.
 * Source  RFC 9110, 13.1.2 and 8.8.3.
 */
bool pe_etag_matches(const char *if_none_match, const char *etag);

#endif
