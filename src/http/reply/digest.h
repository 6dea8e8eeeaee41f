/* SPDX-License-Identifier: MIT */
/* digest.h - Repr-Digest, and whether a client wants it. */
#ifndef PE_HTTP_REPLY_DIGEST_H
#define PE_HTTP_REPLY_DIGEST_H

#include <stdbool.h>
#include <stddef.h>

/** "sha-256=:", 44 digits of base64, ":" and a NUL. */
#define PE_DIGEST_BYTES 55

/** Repr-Digest of these bytes.   Source  RFC 9530. */
void pe_digest_make(const void *data, size_t bytes, char out[PE_DIGEST_BYTES]);

/** Does a Want-Repr-Digest value (NULL: absent) ask for SHA-256? */
bool pe_digest_wanted(const char *want);

#endif
