/* SPDX-License-Identifier: MIT */
/* header_fields.c - the header fields that replies have in common, tags and digests among them. */
#include "http/reply/header_fields.h"

#include <nettle/base16.h>
#include <nettle/base64.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <string.h>

/* ---- tags: made of what decides the bytes ---- */

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

/* ---- fields ---- */

const char pe_header_fields_exposed[] =
    "ETag, X-Request-Id, X-Tensor-Shape, X-Tensor-Dtype, Server-Timing, Content-Location, "
    "Content-Encoding, Content-Disposition, Content-Range, Accept-Ranges, Repr-Digest, "
    "Retry-After, Allow, Accept-Post, RateLimit, RateLimit-Policy, WWW-Authenticate";

const char *pe_header_fields_policy(const char *media_type)
{
    if (strcmp(media_type, "application/problem+json") == 0 ||
        strncmp(media_type, "text/html", 9) == 0)
        return "default-src 'none'";
    return strcmp(media_type, "image/svg+xml") == 0
               ? "default-src 'none'; img-src data:; style-src 'unsafe-inline'; sandbox"
               : NULL;
}

void pe_header_fields_add(struct MHD_Response *response, const char *name, const char *value)
{
    if (response != NULL && value != NULL && *value != '\0')
        MHD_add_response_header(response, name, value);
}

void pe_header_fields_add_all(struct MHD_Response *response, const pe_field *fields)
{
    for (; fields != NULL && fields->name != NULL; fields++)
        pe_header_fields_add(response, fields->name, fields->value);
}

void pe_header_fields_add_public(const pe_service *service, struct MHD_Response *response)
{
    const char *origin = service->settings->cors_origin;
    char value[48];
    const long long seconds = (long long)service->settings->hsts_seconds;
    snprintf(value, sizeof value, "max-age=%lld", seconds);
    if (seconds > 0 && service->tls) /* RFC 6797, 7.2: not without TLS */
        pe_header_fields_add(response, "Strict-Transport-Security", value);
    if (*origin == '\0')
        return;
    pe_header_fields_add(response, "Access-Control-Allow-Origin", origin);
    pe_header_fields_add(response, "Access-Control-Expose-Headers", pe_header_fields_exposed);
}

const char *pe_header_fields_cache_control(pe_method method, const pe_metadata *metadata)
{
    if (*metadata->etag == '\0')
        return "no-store";
    if (method == PE_METHOD_POST)
        return NULL;
    return metadata->lasts ? "public, max-age=31536000, immutable" : "public, no-cache";
}

void pe_header_fields_add_metadata(struct MHD_Response *response, pe_method method,
                                   const pe_metadata *metadata)
{
    char disposition[PE_FILE_NAME_BYTES + 32] = "";
    if (*metadata->file_name != '\0')
        snprintf(disposition, sizeof disposition, "attachment; filename=\"%s\"",
                 metadata->file_name);
    const pe_field fields[] = {
        {"Content-Type", metadata->media_type},
        {"X-Content-Type-Options", "nosniff"},
        {"Content-Security-Policy", pe_header_fields_policy(metadata->media_type)},
        {"Content-Disposition", disposition},
        {"ETag", metadata->etag},
        {"Content-Location", metadata->location},
        {"Vary", "Accept, Accept-Encoding"},
        {"Content-Encoding", metadata->coding},
        {"Accept-Ranges", metadata->ranges ? "bytes" : NULL},
        {"X-Tensor-Shape", metadata->shape},
        {"X-Tensor-Dtype", *metadata->shape != '\0' ? metadata->dtype : NULL},
        {"Cache-Control", pe_header_fields_cache_control(method, metadata)},
        {0},
    };
    pe_header_fields_add_all(response, fields);
}
