/* SPDX-License-Identifier: MIT */
/* accept_encoding.h - the content codings that a client takes. */
#ifndef PE_HTTP_REQUEST_ACCEPT_ENCODING_H
#define PE_HTTP_REQUEST_ACCEPT_ENCODING_H

#include <stdbool.h>

typedef enum pe_coding { PE_CODING_IDENTITY, PE_CODING_GZIP, PE_CODING_ZSTD, PE_CODINGS } pe_coding;

/** What an Accept-Encoding header says. */
typedef struct pe_accepted_codings {
    int weight[PE_CODINGS]; /* thousandths; -1: not named */
    pe_coding best;         /* the greatest weight; of equal ones zstd, then gzip, then identity */
    bool none;              /* identity is excluded, and no other is taken */
} pe_accepted_codings;

/**
 * Read the header (NULL: identity alone). `*` stands for gzip and identity.
 * Source  RFC 9110, 12.5.3.
 */
void pe_accept_encoding_read(const char *accept_encoding, pe_accepted_codings *out);

/** What is left when no coding but identity is offered. */
void pe_accept_encoding_offer_identity(pe_accepted_codings *codings);

/** Does the client take `other` as gladly as the best? */
bool pe_accept_encoding_takes(const pe_accepted_codings *codings, pe_coding other);

#endif
