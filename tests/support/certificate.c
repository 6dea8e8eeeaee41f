/* SPDX-License-Identifier: MIT */
/* certificate.c - a certificate that nobody else trusts, for tests. */
#include "support/check.h"

#include <gnutls/x509.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "support/certificate.h"

static void put(const test_folder *folder, const char *name, gnutls_datum_t *pem)
{
    folder_put(folder, name, pem->data, pem->size);
    gnutls_free(pem->data);
}

void certificate_put(const test_folder *folder)
{
    static const char serial = 1, name[] = "test";
    gnutls_x509_privkey_t key;
    gnutls_x509_crt_t made;
    gnutls_datum_t pem;
    const unsigned curve = GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1);
    assert_int_equal(gnutls_x509_privkey_init(&key), 0);
    assert_int_equal(gnutls_x509_privkey_generate(key, GNUTLS_PK_ECDSA, curve, 0), 0);
    assert_int_equal(gnutls_x509_crt_init(&made), 0);
    gnutls_x509_crt_set_version(made, 3);
    gnutls_x509_crt_set_serial(made, &serial, sizeof serial);
    gnutls_x509_crt_set_dn_by_oid(made, GNUTLS_OID_X520_COMMON_NAME, 0, name, sizeof name - 1);
    gnutls_x509_crt_set_activation_time(made, time(NULL) - 3600);
    gnutls_x509_crt_set_expiration_time(made, time(NULL) + 3600);
    gnutls_x509_crt_set_key(made, key);
    assert_int_equal(gnutls_x509_crt_sign2(made, made, key, GNUTLS_DIG_SHA256, 0), 0);
    assert_int_equal(gnutls_x509_crt_export2(made, GNUTLS_X509_FMT_PEM, &pem), 0);
    put(folder, "certificate.pem", &pem);
    assert_int_equal(gnutls_x509_privkey_export2(key, GNUTLS_X509_FMT_PEM, &pem), 0);
    put(folder, "key.pem", &pem);
    gnutls_x509_crt_deinit(made);
    gnutls_x509_privkey_deinit(key);
}
