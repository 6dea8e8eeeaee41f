/* SPDX-License-Identifier: MIT */
/* named_file.c - a file that a setting names, as a whole: keys, certificates. */
#include "base/named_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* O_NONBLOCK: a pipe without a writer is no reason to wait. */
static pe_status open_file(const pe_named_file *file, int *fd, size_t *bytes, pe_problem *why)
{
    struct stat facts;
    *fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*fd < 0)
        return pe_fail(why, PE_INVALID_PARAMETER, file->setting, "%s: cannot read %.200s: %s",
                       file->setting, file->path, strerror(errno));
    const bool regular = fstat(*fd, &facts) == 0 && S_ISREG(facts.st_mode);
    if (regular && (uint64_t)facts.st_size <= file->bytes_max) {
        *bytes = (size_t)facts.st_size;
        return PE_OK;
    }
    close(*fd);
    if (!regular)
        return pe_fail(why, PE_INVALID_PARAMETER, file->setting,
                       "%s: %.200s must be a regular file", file->setting, file->path);
    return pe_fail(why, PE_INVALID_PARAMETER, file->setting,
                   "%s: %.200s must have at most %zu bytes, got %lld", file->setting, file->path,
                   file->bytes_max, (long long)facts.st_size);
}

pe_status pe_named_file_read(const pe_named_file *file, char **out, size_t *bytes, pe_problem *why)
{
    int fd;
    size_t most;
    PE_TRY(open_file(file, &fd, &most, why));
    *out = malloc(most + 1);
    *bytes = 0; /* as much as is there */
    for (ssize_t got; *out != NULL && (got = read(fd, *out + *bytes, most - *bytes)) > 0;)
        *bytes += (size_t)got;
    close(fd);
    return *out != NULL ? PE_OK : pe_fail_memory(why);
}

void pe_named_file_free(char *text, size_t bytes)
{
    if (text != NULL)
        explicit_bzero(text, bytes);
    free(text);
}
