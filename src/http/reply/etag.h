/* SPDX-License-Identifier: MIT */
/* etag.h - entity tags, made of what decides the bytes, and digests of the bytes themselves. */
#ifndef PE_HTTP_REPLY_ETAG_H
#define PE_HTTP_REPLY_ETAG_H

#include <stdbool.h>
#include <stddef.h>

/** A strong ETag with its quotes and a NUL: 32 hexadecimal digits, 128 bits of SHA-256. */
#define PE_ETAG_BYTES 35

/** The tag of content that these bytes determine. */
void pe_etag_make(const void *data, size_t bytes, char out[PE_ETAG_BYTES]);

/**
 * Does an If-None-Match value name the tag? Weak comparison; a list, or *, which alone names what
 * has no tag ("").
 * Source  RFC 9110, 13.1.2 and 8.8.3.
 */
bool pe_etag_matches(const char *if_none_match, const char *etag);

/** "sha-256=:", 44 digits of base64, ":" and a NUL. */
#define PE_DIGEST_BYTES 55

/** Repr-Digest of these bytes.   Source  RFC 9530. */
void pe_digest_make(const void *data, size_t bytes, char out[PE_DIGEST_BYTES]);

/** Does a Want-Repr-Digest value (NULL: absent) ask for SHA-256? */
bool pe_digest_wanted(const char *want);

#endif
