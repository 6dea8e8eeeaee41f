/* SPDX-License-Identifier: MIT */
/* describe.h - what the program says of itself: help, the manual page, completions of shells. */
#ifndef PE_CLI_DESCRIBE_H
#define PE_CLI_DESCRIBE_H

#include "cli/ask.h"
#include "cli/cli.h"
#include "plan/values.h"

/** A line for each flag of a command. */
void pe_describe_flags(unsigned flags, pe_buffer *out);
/** The encodings that `posenc table` knows, and one with its parameters. */
void pe_describe_encodings(pe_buffer *out);
void pe_describe_resource(const pe_resource *resource, pe_buffer *out);
/** All commands and settings. */
void pe_describe_program(const pe_command *commands, size_t n, pe_buffer *out);
/** posenc(1), for man. */
void pe_describe_manual(const pe_command *commands, size_t n, pe_buffer *out);
/** False where the shell is none of bash, zsh and fish. */
bool pe_describe_completions(const char *shell, const pe_command *commands, size_t n,
                             pe_buffer *out);

#endif
