/* SPDX-License-Identifier: MIT */
/* digest.c - Repr-Digest, and whether a client wants it. */
#include "http/reply/digest.h"

#include <nettle/base64.h>
#include <nettle/sha2.h>
#include <stdint.h>
#include <string.h>

void pe_digest_make(const void *data, size_t bytes, char out[PE_DIGEST_BYTES])
{
    static const char head[] = "sha-256=:";
    struct sha256_ctx sha;
    uint8_t digest[SHA256_DIGEST_SIZE];
    sha256_init(&sha);
    sha256_update(&sha, bytes, data);
    sha256_digest(&sha, sizeof digest, digest);
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
