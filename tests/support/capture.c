/* SPDX-License-Identifier: MIT */
/* capture.c - what a piece of code writes to a file descriptor. */
#include "support/capture.h"

#include "support/check.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct capture capture_start(int fd)
{
    const struct capture capture = {.fd = fd, .saved = dup(fd), .file = memfd_create("capture", 0)};
    assert_true(capture.saved >= 0 && capture.file >= 0);
    /* Appending keeps the lines of several threads apart, as a log file or a pipe does. */
    assert_int_equal(fcntl(capture.file, F_SETFL, O_APPEND), 0);
    assert_int_equal(dup2(capture.file, fd), fd);
    return capture;
}

char *capture_stop(struct capture *capture)
{
    assert_int_equal(dup2(capture->saved, capture->fd), capture->fd);
    close(capture->saved);
    const off_t bytes = lseek(capture->file, 0, SEEK_END);
    assert_true(bytes >= 0);
    char *text = calloc(1, (size_t)bytes + 1);
    assert_non_null(text);
    assert_int_equal(pread(capture->file, text, (size_t)bytes, 0), bytes);
    close(capture->file);
    return text;
}
