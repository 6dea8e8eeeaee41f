/* SPDX-License-Identifier: MIT */
/* in_out.c - files that commands read and write; "-" is standard input, or output. */
#include "cli/in_out.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK_BYTES ((size_t)262144)

/* ---- input ---- */

static pe_status cannot_read(const char *path, int error, pe_problem *why)
{
    return pe_fail(why, PE_INVALID_PARAMETER, "", "cannot read %.200s: %s", path, strerror(error));
}

static pe_status read_all(int fd, size_t bytes_max, pe_input *out, pe_problem *why)
{
    ssize_t got = 1;
    while (got > 0 && out->read.bytes <= bytes_max) {
        char *at = pe_buffer_reserve(&out->read, BLOCK_BYTES);
        if (at == NULL)
            return pe_fail_memory(why);
        got = read(fd, at, BLOCK_BYTES);
        out->read.bytes += got > 0 ? (size_t)got : 0;
    }
    if (got < 0)
        return cannot_read(out->path, errno, why);
    out->content = pe_buffer_slice(&out->read);
    if (out->read.bytes > bytes_max)
        return pe_fail(why, PE_BODY_TOO_LARGE, "", "%.200s has more than %zu bytes", out->path,
                       bytes_max);
    return PE_OK;
}

pe_status pe_input_open(const char *path, size_t bytes_max, pe_input *out, pe_problem *why)
{
    struct stat facts = {0};
    const bool standard = strcmp(path, "-") == 0;
    *out = (pe_input){.path = standard ? "standard input" : path};
    const int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &facts) != 0)
        return cannot_read(out->path, errno, why);
    pe_status status = PE_OK;
    if (S_ISREG(facts.st_mode) && !standard && facts.st_size > 0) {
        out->mapped = mmap(NULL, (size_t)facts.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (out->mapped == MAP_FAILED) {
            out->mapped = NULL;
            status = cannot_read(out->path, errno, why);
        } else {
            out->content = (pe_slice){out->mapped, (size_t)facts.st_size};
        }
    } else {
        status = read_all(fd, bytes_max, out, why);
    }
    if (!standard)
        close(fd);
    if (status == PE_OK && out->content.bytes == 0)
        status = pe_fail(why, PE_INVALID_PARAMETER, "", "%.200s is empty", out->path);
    if (status != PE_OK)
        pe_input_close(out);
    return status;
}

void pe_input_close(pe_input *input)
{
    if (input->mapped != NULL)
        munmap(input->mapped, input->content.bytes);
    pe_buffer_free(&input->read);
    *input = (pe_input){0};
}

/* ---- output ---- */

/* What is no regular file (a device, a pipe) is written at once, and so is standard output. */
pe_status pe_output_open(const char *path, pe_output *out, pe_problem *why)
{
    struct stat facts;
    const bool standard = path == NULL || strcmp(path, "-") == 0;
    *out = (pe_output){.path = standard ? "standard output" : path, .fd = STDOUT_FILENO};
    if (standard)
        return PE_OK;
    if (stat(path, &facts) == 0 && !S_ISREG(facts.st_mode)) {
        out->fd = open(path, O_WRONLY | O_CLOEXEC);
    } else {
        const mode_t mask = umask(0);
        umask(mask);
        snprintf(out->beside, sizeof out->beside, "%.4096s.XXXXXX", path);
        out->fd = mkostemp(out->beside, O_CLOEXEC);
        if (out->fd >= 0)
            (void)fchmod(out->fd, 0666 & ~mask);
    }
    if (out->fd >= 0)
        return PE_OK;
    out->beside[0] = '\0';
    return pe_fail(why, PE_INVALID_PARAMETER, "output", "cannot write %.200s: %s", path,
                   strerror(errno));
}

static pe_status not_written(const pe_output *output, int error, pe_problem *why)
{
    return pe_fail(why, PE_INTERNAL, "output", "%.200s could not be written: %s", output->path,
                   strerror(error));
}

pe_status pe_output_write(pe_output *output, pe_slice text, pe_problem *why)
{
    for (size_t at = 0; at < text.bytes;) {
        const ssize_t written = write(output->fd, text.text + at, text.bytes - at);
        if (written == 0 || (written < 0 && errno != EINTR))
            return not_written(output, errno, why);
        at += written > 0 ? (size_t)written : 0;
    }
    return PE_OK;
}

pe_status pe_output_close(pe_output *output, pe_status so_far, pe_problem *why)
{
    const bool standard = output->fd == STDOUT_FILENO;
    if (!standard && close(output->fd) != 0 && so_far == PE_OK)
        so_far = not_written(output, errno, why);
    if (output->beside[0] == '\0')
        return so_far;
    if (so_far == PE_OK && rename(output->beside, output->path) != 0)
        so_far = not_written(output, errno, why);
    if (so_far != PE_OK)
        unlink(output->beside);
    return so_far;
}
