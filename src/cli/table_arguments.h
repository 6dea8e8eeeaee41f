/* SPDX-License-Identifier: MIT */
/* table_arguments.h - what the arguments of `posenc table` ask for. */
#ifndef PE_CLI_TABLE_ARGUMENTS_H
#define PE_CLI_TABLE_ARGUMENTS_H

#include <stdbool.h>

#include "base/buffer.h"
#include "base/status.h"
#include "formats/format.h"
#include "plan/plan.h"

/** Zero-initialise, pe_table_arguments_read, pe_table_arguments_free. Borrows the arguments. */
typedef struct pe_table_arguments {
    const pe_resource *resource;
    pe_buffer query;         /* the parameters, percent-encoded */
    const pe_format *format; /* of --format, else of the file's extension, else JSON */
    const char *format_name; /* --format, or NULL */
    const char *output;      /* a path, or "-": standard output */
    bool output_given;       /* by a flag */
    const char *body;        /* path of --body, or NULL */
    bool help;
    char **settings; /* the arguments that are flags of settings; the array is owned */
    int n_settings;
} pe_table_arguments;

/**
 * Sort the arguments out: ENCODING, then --name value or --name=value for its parameters, -o FILE,
 * --format NAME, --body FILE and any flag of a setting.
 * Errors  NOT_FOUND (no such encoding), INVALID_PARAMETER; unknown parameters are left to the
 *         query's reader.
 */
pe_status pe_table_arguments_read(int n_arguments, char **arguments, pe_table_arguments *out,
                                  pe_problem *why) PE_MUST_CHECK;
void pe_table_arguments_free(pe_table_arguments *table);

/** The encodings that begin with a name, "alibi/bias, alibi/slopes"; false where there are none. */
bool pe_table_arguments_family(const char *name, pe_buffer *out);

#endif
