/* SPDX-License-Identifier: MIT */
/* header_fields.h - the header fields that replies have in common. */
#ifndef PE_HTTP_REPLY_HEADER_FIELDS_H
#define PE_HTTP_REPLY_HEADER_FIELDS_H

#include "http/request/request.h"

/* ---- tags and digests ---- */

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

/* ---- fields ---- */

/** A header field. Lists of them end with {0}; fields whose value is NULL or "" are left out. */
typedef struct pe_field {
    const char *name, *value;
} pe_field;
#define PE_FIELDS(...) ((const pe_field[]){__VA_ARGS__, {0}})

/** What the header of a reply takes at most, but for Content-Location. */
#define PE_REPLY_HEADER_BYTES 2304

/** "512,512": eight dimensions of twenty digits, seven commas, NUL. */
#define PE_SHAPE_TEXT_BYTES 168

/** "rope-table-cos.npy" */
#define PE_FILE_NAME_BYTES 80

/** What the header tells of a representation of numbers. */
typedef struct pe_metadata {
    const char *media_type;          /* constant */
    char etag[PE_ETAG_BYTES];        /* "" for transforms: no tag, not to be stored */
    char *location;                  /* canonical URL; owned; NULL when there is none or too long */
    char shape[PE_SHAPE_TEXT_BYTES]; /* X-Tensor-Shape, "" except for raw */
    const char *dtype;               /* X-Tensor-Dtype */
    char file_name[PE_FILE_NAME_BYTES]; /* Content-Disposition, "" where a page shows the answer */
    const char *coding;                 /* Content-Encoding; constant, NULL for none */
    bool ranges;                        /* parts of it may be asked for */
    bool lasts;                         /* the same for ever; else it may change with a restart */
    unsigned route;                     /* the resource's, as in pe_request */
} pe_metadata;

/** Access-Control-Expose-Headers. */
extern const char pe_header_fields_exposed[];

/** Content-Security-Policy of what a browser might run, or NULL: a problem and its page run nothing, an
 * SVG shows its heatmaps, which are images within, and no more. */
const char *pe_header_fields_policy(const char *media_type);

/* Where memory runs out, a field is left out. response may be NULL: then nothing is added. */

void pe_header_fields_add(struct MHD_Response *response, const char *name, const char *value);
void pe_header_fields_add_all(struct MHD_Response *response, const pe_field *fields);
void pe_header_fields_add_public(const pe_service *service, struct MHD_Response *response);

/** The fields of a representation, as a reply to a request by that method. */
void pe_header_fields_add_metadata(struct MHD_Response *response, pe_method method,
                                   const pe_metadata *metadata);

/** Cache-Control of a representation; NULL: none. */
const char *pe_header_fields_cache_control(pe_method method, const pe_metadata *metadata);

#endif
