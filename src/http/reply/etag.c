/* SPDX-License-Identifier: MIT */
/* etag.c - entity tags, made of what decides the bytes, and digests of the bytes themselves. */
#include "http/reply/etag.h"

#include <nettle/base16.h>
#include <nettle/base64.h>
#include <nettle/sha2.h>
#include <stdint.h>
#include <string.h>

static void hash(const void *data, size_t bytes, size_t wanted, uint8_t *out)
{
    struct sha256_ctx sha;
    sha256_init(&sha);
    sha256_update(&sha, bytes, data);
    sha256_digest(&sha, wanted, out);
}

void pe_etag_make(const void *data, size_t bytes, char out[PE_ETAG_BYTES])
{
    uint8_t digest[16];
    hash(data, bytes, sizeof digest, digest);
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
        if (length > 0 && strncmp(at, etag, length) == 0)
            return true;
        at += 1 + strcspn(at + 1, "\"");
        at += *at == '"';
    }
    return false;
}

/* ---- digests ---- */

void pe_digest_make(const void *data, size_t bytes, char out[PE_DIGEST_BYTES])
{
    static const char head[] = "sha-256=:";
    uint8_t digest[SHA256_DIGEST_SIZE];
    hash(data, bytes, sizeof digest, digest);
    memcpy(out, head, sizeof head - 1);
    base64_encode_raw(out + sizeof head - 1, sizeof digest, digest);
    memcpy(out + PE_DIGEST_BYTES - 2, ":", 2);
}

/* A dictionary (RFC 8941) of algorithms and how much each is wanted, 0 for not at all. */
bool pe_digest_wanted(const char *want)
{
    static const char name[] = "sha-256";
    while (want != NULL && *want != '\0') {
        want += strspn(want, ", \t");
        if (strncmp(want, name, sizeof name - 1) == 0) {
            const char *rest = want + sizeof name - 1;
            return rest[0] == '=' && rest[1] >= '1' && rest[1] <= '9';
        }
        want += strcspn(want, ",");
    }
    return false;
}
