/* SPDX-License-Identifier: MIT */
/* arguments.h - the arguments of a command that asks: words, its own flags, parameters, settings. */
#ifndef PE_CLI_ARGUMENTS_H
#define PE_CLI_ARGUMENTS_H

#include <stdbool.h>

#include "base/buffer.h"
#include "base/status.h"

/** Flags of commands, each with a value: what a command takes of them is a sum. */
typedef enum pe_own_flag {
    PE_FLAG_OUTPUT = 1,
    PE_FLAG_FORMAT = 2,
    PE_FLAG_BODY = 4,
    PE_FLAG_CONFIG = 8,
    PE_FLAG_AGAINST = 16,
    PE_FLAG_PARAMETERS = 32, /* and any other flag is a parameter */
} pe_own_flag;

#define PE_WORDS_MAX 16

/** Zero-initialise, pe_arguments_read, pe_arguments_free. Borrows the arguments. */
typedef struct pe_arguments {
    const char *word[PE_WORDS_MAX];
    size_t n_words;
    pe_buffer query;                                       /* the parameters, percent-encoded */
    const char *output, *format, *body, *config, *against; /* NULL: not given */
    char **settings; /* the arguments that are flags of settings; the array is owned */
    int n_settings;
} pe_arguments;

/** A flag: its value and meaning, for help, and where in pe_arguments the value goes; name NULL past
 * the last. */
typedef struct pe_flag_row {
    pe_own_flag flag;
    const char *name, *value, *help;
    size_t place;
} pe_flag_row;
extern const pe_flag_row pe_flags[];

/**
 * Sort the arguments out: up to words_max words, -o FILE, --name value or --name=value, and any flag
 * of a setting. A truth needs no value.
 * Errors  INVALID_PARAMETER, with all mistakes; names of parameters are left to the server.
 */
pe_status pe_arguments_read(int n, char **arguments, unsigned flags, size_t words_max,
                            pe_arguments *out, pe_problem *why) PE_MUST_CHECK;
void pe_arguments_free(pe_arguments *arguments);

/** Add name=value to a query, percent-encoded. */
void pe_arguments_add(pe_buffer *query, const char *name, const char *value);

/** Fail with "no WHAT is called NAME, did you mean NEAR?". NEAR, where it is NULL, is sought among
 * n names, and where `what` says encoding, among encodings. `list` is what lists them. */
pe_status pe_arguments_no_name(const char *what, const char *name, const char *near,
                               const char *const *names, size_t n, const char *list,
                               pe_problem *why);

#endif
