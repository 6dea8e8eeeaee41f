/* SPDX-License-Identifier: MIT */
/* ids.c - request ids, entity tags and digests. */
#include "http/reply/ids.h"

#include <nettle/base64.h>
#include <nettle/sha2.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#define ID_LENGTH_MAX 128

bool pe_id_valid(const char *id)
{
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    size_t length = strspn(id, allowed);
    return length >= 1 && length <= ID_LENGTH_MAX && id[length] == '\0';
}

static void hex(const uint8_t *data, size_t bytes, char *out)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < bytes; i++) {
        out[2 * i] = digits[data[i] >> 4];
        out[2 * i + 1] = digits[data[i] & 15];
    }
    out[2 * bytes] = '\0';
}

/* Random bytes of a moment ago, or, where the system has none yet, the time: ids are no secrets. */
void pe_id_make(char out[PE_ID_BYTES])
{
    static atomic_uint_fast64_t made;
    struct {
        uint64_t random;
        uint64_t count;
    } id = {0, atomic_fetch_add(&made, 1)};
    if (getrandom(&id.random, sizeof id.random, GRND_NONBLOCK) != (ssize_t)sizeof id.random) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        id.random = (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec + (uint64_t)getpid();
    }
    hex((const uint8_t *)&id, sizeof id, out);
}

void pe_etag_make(const void *data, size_t bytes, char out[PE_ETAG_BYTES])
{
    struct sha256_ctx sha;
    uint8_t digest[16];
    sha256_init(&sha);
    sha256_update(&sha, bytes, data);
    sha256_digest(&sha, sizeof digest, digest);
    out[0] = '"';
    hex(digest, sizeof digest, out + 1);
    out[PE_ETAG_BYTES - 2] = '"';
    out[PE_ETAG_BYTES - 1] = '\0';
}

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
