/* SPDX-License-Identifier: MIT */
/* in_out.h - files that commands read and write; "-" is standard input, or output. */
#ifndef PE_CLI_IN_OUT_H
#define PE_CLI_IN_OUT_H

#include "base/buffer.h"
#include "cli/http_client.h"

/** A file as a whole, or its first bytes. Of a regular file only what is looked at is read. */
typedef struct pe_input {
    const char *path;
    pe_slice content;
    pe_buffer read; /* owned: of what is no regular file */
    void *mapped;   /* of a regular one, or NULL */
} pe_input;

/** Errors  INVALID_PARAMETER: it cannot be read, or is empty; BODY_TOO_LARGE: what is no regular file
 * has more than bytes_max. */
pe_status pe_input_open(const char *path, size_t bytes_max, pe_input *out,
                        pe_problem *why) PE_MUST_CHECK;
void pe_input_close(pe_input *input);

/** From now on a signal that ends the program leaves nothing beside, and no line of progress. */
void pe_output_guard(void);

/**
 * Write what a client still reads, or where that is NULL, a text; path: NULL or "-" is standard
 * output. Another file is written beside, and becomes the one that is meant at the end: what fails
 * half-way, or is ended by a signal, leaves an older one alone.
 * Errors  INVALID_PARAMETER: it cannot be written; those of pe_client_read.
 */
pe_status pe_output_write(const char *path, pe_client *client, pe_slice text,
                          pe_problem *why) PE_MUST_CHECK;

#endif
