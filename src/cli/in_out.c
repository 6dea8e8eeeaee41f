/* SPDX-License-Identifier: MIT */
/* in_out.c - files that commands read and write; "-" is standard input, or output. */
#include "cli/ask.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"

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

/* The file that becomes the one that is meant; "": there is none. */
static char beside[4096 + 16];

static void end_by_signal(int number)
{
    unlink(beside);
    pe_progress_line_end();
    raise(number); /* by its default, once this has returned */
}

/* What is ignored, as nohup asks for, stays so. */
void pe_output_guard(void)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
    const struct sigaction action = {.sa_handler = end_by_signal, .sa_flags = (int)SA_RESETHAND};
    struct sigaction before;
    for (size_t e = 0; e < PE_LEN(ends); e++)
        if (sigaction(ends[e], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(ends[e], &action, NULL);
}

static pe_status cannot_write(const char *path, pe_problem *why)
{
    return pe_fail(why, PE_INTERNAL, "output", "%.200s could not be written: %s", path,
                   strerror(errno));
}

static pe_status write_all(int fd, pe_slice text, const char *path, pe_problem *why)
{
    for (size_t at = 0; at < text.bytes;) {
        const ssize_t written = write(fd, text.text + at, text.bytes - at);
        if (written == 0 || (written < 0 && errno != EINTR))
            return cannot_write(path, why);
        at += written > 0 ? (size_t)written : 0;
    }
    return PE_OK;
}

static pe_status copy(int fd, pe_client *client, const char *path, pe_problem *why)
{
    char block[65536];
    size_t got = 1;
    while (got > 0) {
        PE_TRY(pe_client_read(client, block, sizeof block, &got, why));
        PE_TRY(write_all(fd, (pe_slice){block, got}, path, why));
    }
    return PE_OK;
}

/* What is no regular file (a device, a pipe) is written at once. */
static int open_output(const char *path)
{
    struct stat facts;
    if (stat(path, &facts) == 0 && !S_ISREG(facts.st_mode))
        return open(path, O_WRONLY | O_CLOEXEC);
    const mode_t mask = umask(0);
    umask(mask);
    snprintf(beside, sizeof beside, "%.4096s.XXXXXX", path);
    const int fd = mkostemp(beside, O_CLOEXEC);
    if (fd >= 0)
        (void)fchmod(fd, 0666 & ~mask);
    else
        beside[0] = '\0';
    return fd;
}

pe_status pe_output_write(const char *path, pe_client *client, pe_slice text, pe_problem *why)
{
    const bool standard = path == NULL || strcmp(path, "-") == 0;
    const int fd = standard ? STDOUT_FILENO : open_output(path);
    if (fd < 0)
        return pe_fail(why, PE_INVALID_PARAMETER, "output", "cannot write %.200s: %s", path,
                       strerror(errno));
    if (standard && isatty(STDOUT_FILENO) != 0)
        pe_progress_line_end();
    path = standard ? "standard output" : path;
    pe_status status =
        client != NULL ? copy(fd, client, path, why) : write_all(fd, text, path, why);
    if (!standard && close(fd) != 0 && status == PE_OK)
        status = cannot_write(path, why);
    if (beside[0] != '\0' && status == PE_OK && rename(beside, path) != 0)
        status = cannot_write(path, why);
    if (beside[0] != '\0' && status != PE_OK)
        unlink(beside);
    beside[0] = '\0';
    return status;
}
