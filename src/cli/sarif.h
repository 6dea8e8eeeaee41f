/* SPDX-License-Identifier: MIT */
/* sarif.h - reports of /v1/verify as SARIF, which forges show beside the files. */
#ifndef PE_CLI_SARIF_H
#define PE_CLI_SARIF_H

#include <jansson.h>

#include "base/buffer.h"

/** Add what a report in JSON says of a file to the list of results: nothing where it matches. */
void pe_sarif_add(json_t *results, const json_t *report, const char *file);

/**
 * The log of one run.   Source  OASIS SARIF 2.1.0, sections 3.13 to 3.28.
 */
void pe_sarif_write(json_t *results, pe_buffer *out);

#endif
