/* SPDX-License-Identifier: MIT */
/* tls.c - the certificate that the server shows, and its key; a reload replaces both. */
#include "http/connection/tls.h"

#include <gnutls/gnutls.h>
#include <nettle/base16.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/named_file.h"

/* Far more than a chain takes. */
#define PEM_BYTES ((size_t)1 << 20)

/* Certificates from the server's to its authority's. */
#define CHAIN_MAX 16

/* Of a key, by which it is compared with that of a certificate. */
#define KEY_ID_BYTES 64

struct pe_tls_identity {
    gnutls_pcert_st chain[CHAIN_MAX];
    unsigned n;
    gnutls_privkey_t key;
    pe_tls_identity *before; /* the one that this has replaced */
};

void pe_tls_identity_free(pe_tls_identity *identity)
{
    for (pe_tls_identity *before; identity != NULL; identity = before) {
        before = identity->before;
        for (unsigned c = 0; c < identity->n; c++)
            gnutls_pcert_deinit(&identity->chain[c]);
        if (identity->key != NULL)
            gnutls_privkey_deinit(identity->key);
        free(identity);
    }
}

/* ---- files ---- */

/* Read one of the two files into its part of *out. */
static pe_status read_file(const char *setting, const char *path, bool chain, pe_tls_identity *out,
                           pe_problem *why)
{
    const pe_named_file file = {setting, path, PEM_BYTES};
    char *text;
    size_t bytes;
    int result = 0;
    if (*path == '\0')
        return pe_fail(why, PE_INVALID_PARAMETER, setting,
                       "tls_certificate and tls_key must be set together; %s is empty", setting);
    PE_TRY(pe_named_file_read(&file, &text, &bytes, why));
    const gnutls_datum_t pem = {(unsigned char *)text, (unsigned)bytes};
    if (chain) {
        out->n = CHAIN_MAX;
        result =
            gnutls_pcert_list_import_x509_raw(out->chain, &out->n, &pem, GNUTLS_X509_FMT_PEM, 0);
        out->n = result == 0 ? out->n : 0;
    } else {
        result = gnutls_privkey_init(&out->key);
        if (result == 0)
            result = gnutls_privkey_import_x509_raw(out->key, &pem, GNUTLS_X509_FMT_PEM, NULL, 0);
    }
    pe_named_file_free(text, bytes);
    return result == 0 ? PE_OK
                       : pe_fail(why, PE_INVALID_PARAMETER, setting, "%s: %.200s: %s", setting,
                                 path, gnutls_strerror(result));
}

static pe_status check_fit(const pe_tls_identity *identity, const char *key, pe_problem *why)
{
    unsigned char ids[2][KEY_ID_BYTES];
    size_t bytes[2] = {KEY_ID_BYTES, KEY_ID_BYTES};
    gnutls_pubkey_t own;
    if (gnutls_pubkey_init(&own) != 0)
        return pe_fail_memory(why);
    const bool fits =
        gnutls_pubkey_import_privkey(own, identity->key, 0, 0) == 0 &&
        gnutls_pubkey_get_key_id(own, 0, ids[0], &bytes[0]) == 0 &&
        gnutls_pubkey_get_key_id(identity->chain[0].pubkey, 0, ids[1], &bytes[1]) == 0 &&
        bytes[0] == bytes[1] && memcmp(ids[0], ids[1], bytes[0]) == 0;
    gnutls_pubkey_deinit(own);
    return fits ? PE_OK
                : pe_fail(why, PE_INVALID_PARAMETER, "tls_key",
                          "tls_key must be the key of tls_certificate; %.200s is another's", key);
}

pe_status pe_tls_identity_read(const char *certificate, const char *key, pe_tls_identity **out,
                               pe_problem *why)
{
    pe_tls_identity *read = calloc(1, sizeof *read);
    if (read == NULL)
        return pe_fail_memory(why);
    if (read_file("tls_certificate", certificate, true, read, why) != PE_OK ||
        read_file("tls_key", key, false, read, why) != PE_OK ||
        check_fit(read, key, why) != PE_OK) {
        pe_tls_identity_free(read);
        return why->status;
    }
    *out = read;
    return PE_OK;
}

/* ---- handshakes ---- */

static void describe(const gnutls_datum_t *shown, pe_tls_certificate *out)
{
    unsigned char hash[32];
    size_t bytes = sizeof hash, room = sizeof out->subject;
    gnutls_x509_crt_t certificate;
    *out = (pe_tls_certificate){0};
    if (gnutls_x509_crt_init(&certificate) == 0) {
        if (gnutls_x509_crt_import(certificate, shown, GNUTLS_X509_FMT_DER) == 0)
            gnutls_x509_crt_get_dn(certificate, out->subject, &room);
        gnutls_x509_crt_deinit(certificate);
    }
    if (gnutls_fingerprint(GNUTLS_DIG_SHA256, shown, hash, &bytes) == 0)
        base16_encode_update(out->fingerprint, sizeof hash, hash);
}

bool pe_tls_use(_Atomic(pe_tls_identity *) *used, pe_tls_identity *identity,
                pe_tls_certificate *out)
{
    pe_tls_identity *before = atomic_load(used);
    bool same = before != NULL && before->n == identity->n;
    for (unsigned c = 0; same && c < identity->n; c++) {
        const gnutls_datum_t *one = &before->chain[c].cert, *other = &identity->chain[c].cert;
        same = one->size == other->size && memcmp(one->data, other->data, one->size) == 0;
    }
    describe(&identity->chain[0].cert, out);
    identity->before = before;
    atomic_store(used, identity);
    return !same;
}

int pe_tls_show(pe_tls_identity *used, gnutls_pcert_st **chain, unsigned *n, gnutls_privkey_t *key)
{
    if (used == NULL)
        return -1;
    *chain = used->chain;
    *n = used->n;
    *key = used->key;
    return 0;
}

/* Of 1.2 only what keeps recorded traffic secret when the key is lost (no RSA key exchange), and no
 * CBC: its suites are those of SHA-1. */
const char *pe_tls_priorities(const char *minimum)
{
    return strcmp(minimum, "1.3") == 0 ? "NORMAL:-VERS-ALL:+VERS-TLS1.3"
                                       : "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-RSA:-SHA1";
}
