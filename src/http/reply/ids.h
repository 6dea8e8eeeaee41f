/* SPDX-License-Identifier: MIT */
/* ids.h - request ids, entity tags and digests. */
#ifndef PE_HTTP_REPLY_IDS_H
#define PE_HTTP_REPLY_IDS_H

#include <stdbool.h>
#include <stddef.h>

/** 32 hexadecimal digits and a NUL. */
#define PE_ID_BYTES 33

/** A strong ETag with its quotes and a NUL: 32 hexadecimal digits, 128 bits of SHA-256. */
#define PE_ETAG_BYTES 35

/** Does the client's X-Request-Id match [A-Za-z0-9._-]{1,128}? */
bool pe_id_valid(const char *id);

/** A new id, unlike any other made by this program on any node.   Threads  any. */
void pe_id_make(char out[PE_ID_BYTES]);

/** "sha-256=:", 44 digits of base64, ":" and a NUL. */
#define PE_DIGEST_BYTES 55

/** Repr-Digest of these bytes.   Source  RFC 9530. */
void pe_digest_make(const void *data, size_t bytes, char out[PE_DIGEST_BYTES]);

/** Does a Want-Repr-Digest value ask for SHA-256? */
bool pe_digest_wanted(const char *want);

/** The tag of content that these bytes determine. */
void pe_etag_make(const void *data, size_t bytes, char out[PE_ETAG_BYTES]);

/**
 * Does an If-None-Match value name the tag? Weak comparison; a list, or *.
 * Source  RFC 9110, 13.1.2 and 8.8.3.
 */
bool pe_etag_matches(const char *if_none_match, const char *etag);

#endif
