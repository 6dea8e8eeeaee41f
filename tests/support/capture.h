/* SPDX-License-Identifier: MIT */
/* capture.h - what a piece of code writes to a file descriptor. */
#ifndef PE_TESTS_SUPPORT_CAPTURE_H
#define PE_TESTS_SUPPORT_CAPTURE_H

/** Between start and stop, all that goes to `fd` (2: standard error) is kept instead of shown. */
struct capture {
    int fd, saved, file;
};

struct capture capture_start(int fd);
/** The text, to be freed; fd is as before. */
char *capture_stop(struct capture *capture);

#endif
