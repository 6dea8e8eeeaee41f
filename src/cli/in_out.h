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

/** Where an answer goes: a file beside the one that is meant, which it becomes at the end. What fails
 * half-way leaves an older file alone. */
typedef struct pe_output {
    const char *path;
    char beside[4096 + 16]; /* "": written at once */
    int fd;
} pe_output;

/** path: NULL or "-" is standard output.   Errors  INVALID_PARAMETER: it cannot be written. */
pe_status pe_output_open(const char *path, pe_output *out, pe_problem *why) PE_MUST_CHECK;
pe_status pe_output_write(pe_output *output, pe_slice text, pe_problem *why) PE_MUST_CHECK;
/** so_far: is all of it there? Returns that, or why the file could not be kept. */
pe_status pe_output_close(pe_output *output, pe_status so_far, pe_problem *why) PE_MUST_CHECK;

#endif
