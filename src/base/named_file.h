/* SPDX-License-Identifier: MIT */
/* named_file.h - a file that a setting names, as a whole: keys, certificates. */
#ifndef PE_BASE_NAMED_FILE_H
#define PE_BASE_NAMED_FILE_H

#include <stddef.h>

#include "base/status.h"

typedef struct pe_named_file {
    const char *setting, *path;
    size_t bytes_max;
} pe_named_file;

/** Read all of it; what cannot be read, is no regular file or is longer is the setting's problem.
 * *out is freed by pe_named_file_free(). */
pe_status pe_named_file_read(const pe_named_file *file, char **out, size_t *bytes, pe_problem *why);

/** Such files hold secrets: what was read of one is wiped. NULL is allowed. */
void pe_named_file_free(char *text, size_t bytes);

#endif
