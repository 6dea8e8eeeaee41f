/* SPDX-License-Identifier: MIT */
/* etag.c - entity tags: made of what decides the bytes, and compared with If-None-Match. */
#include "http/reply/etag.h"

#include <nettle/base16.h>
#include <nettle/sha2.h>
#include <stdint.h>
#include <string.h>

void pe_etag_make(const void *data, size_t bytes, char out[PE_ETAG_BYTES])
{
    struct sha256_ctx sha;
    uint8_t digest[16];
    sha256_init(&sha);
    sha256_update(&sha, bytes, data);
    sha256_digest(&sha, sizeof digest, digest);
    out[0] = '"';
    base16_encode_update(out + 1, sizeof digest, digest);
    out[PE_ETAG_BYTES - 2] = '"';
    out[PE_ETAG_BYTES - 1] = '\0';
}

bool pe_etag_matches(const char *if_none_match, const char *etag)
{
    size_t length = strlen(etag);
    const char *at = if_none_match + strspn(if_none_match, " \t");
    if (*at == '*')
        return at[1 + strspn(at + 1, " \t")] == '\0';
    while (*at != '\0') {
        at += strspn(at, " \t,");
        if (strncmp(at, "W/", 2) == 0)
            at += 2;
        if (*at != '"') /* not a tag: what follows cannot be read either */
            return false;
        if (strncmp(at, etag, length) == 0)
            return true;
        at += 1 + strcspn(at + 1, "\"");
        at += *at == '"';
    }
    return false;
}
