/* SPDX-License-Identifier: MIT */
/* certificate.h - a certificate that nobody else trusts, for tests. */
#ifndef PE_TESTS_SUPPORT_CERTIFICATE_H
#define PE_TESTS_SUPPORT_CERTIFICATE_H

#include "support/folder.h"

/** A new certificate as certificate.pem, and its key as key.pem. */
void certificate_put(const test_folder *folder);

#endif
