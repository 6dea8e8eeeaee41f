/* SPDX-License-Identifier: MIT */
/* cli.h - the program's commands. */
#ifndef PE_CLI_CLI_H
#define PE_CLI_CLI_H

#include <stdbool.h>

#include "base/buffer.h"
#include "base/status.h"
#include "config/settings.h"

/** How a command ends: EXIT_USAGE is the caller's mistake, EXIT_FAILED everything else. */
enum { PE_EXIT_OK = 0, PE_EXIT_FAILED = 1, PE_EXIT_USAGE = 2 };

#define PE_PARAMETERS_MAX 2
#define PE_COLUMNS_MAX    3

struct pe_asking;

/** A command: `posenc NAME arguments...`. */
typedef struct pe_command {
    const char *name;    /* one word, or two */
    const char *usage;   /* what follows the name */
    const char *summary; /* one line */
    bool settings;       /* takes the settings' flags */
    /** Returns an exit status.   Threads  the main one, once. */
    int (*run)(int n_arguments, char **arguments);

    /* Of one that asks the server of this process (ask.h): */
    void (*ask)(struct pe_asking *asking);
    size_t words[2];            /* at least, and at most */
    unsigned flags;             /* of pe_own_flag */
    const char *const *formats; /* of --format, the default first; NULL: the server's */

    /* Of one that is one request (pe_ask_request): */
    const char *path; /* NULL: the word is one */
    const char
        *parameters[PE_PARAMETERS_MAX]; /* what words are; the last takes all that are left */
    bool outlined; /* JSON is shown as text, unless a format or file is asked for */
    const char *list, *columns[PE_COLUMNS_MAX]; /* or of each object of this list these members */
} pe_command;

int pe_cli_serve(int n_arguments, char **arguments);
int pe_cli_healthcheck(int n_arguments, char **arguments);
int pe_cli_check_config(int n_arguments, char **arguments);
int pe_cli_print_config(int n_arguments, char **arguments);
int pe_cli_key(int n_arguments, char **arguments);

/** Log a problem as the one line that explains why the command ends, and return its exit status. */
int pe_cli_fail(const char *event, const pe_problem *why);

/**
 * Settings from the file, the environment and `arguments`, put to use: log level and kernels.
 * Errors  as pe_config_read; INVALID_PARAMETER for kernels that this CPU cannot run.
 */
pe_status pe_cli_configure(int n_arguments, char **arguments, pe_config **out,
                           pe_problem *why) PE_MUST_CHECK;

/** Write the buffer's text to standard output and free it. Returns an exit status. */
int pe_cli_print(pe_buffer *text);

#endif
