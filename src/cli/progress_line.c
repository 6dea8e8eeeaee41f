/* SPDX-License-Identifier: MIT */
/* progress_line.c - a line on a terminal that says how long a command has worked, and how far it is. */
#include "cli/progress_line.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

#define WIDTH    60
#define QUIET_NS (PE_NANOSECONDS_PER_SECOND / 2) /* work that is shorter shows nothing */
#define EVERY_NS (PE_NANOSECONDS_PER_SECOND / 5)
#define MEGABYTE 1e6

static struct {
    bool on;
    int64_t began, shown; /* 0: not yet */
    const char *verb;
    uint64_t done, all;
} line = {.verb = ""};

void pe_progress_line_begin(void)
{
    const char *terminal = getenv("TERM");
    line.began = pe_clock();
    line.on = isatty(STDERR_FILENO) != 0 && (terminal == NULL || strcmp(terminal, "dumb") != 0);
}

void pe_progress_line_count(const char *verb, uint64_t done, uint64_t all)
{
    line.verb = verb;
    line.done = done;
    line.all = all;
}

void pe_progress_line_show(void)
{
    char text[WIDTH + 1];
    const int64_t now = pe_clock();
    if (!line.on || now - line.began < QUIET_NS || now - line.shown < EVERY_NS)
        return;
    const char *colour = getenv("NO_COLOR");
    const bool dim = colour == NULL || *colour == '\0';
    int n = snprintf(text, sizeof text, "%lld s",
                     (long long)((now - line.began) / PE_NANOSECONDS_PER_SECOND));
    if (line.done > 0)
        n += snprintf(text + n, sizeof text - (size_t)n, ", %.1f MB %s",
                      (double)line.done / MEGABYTE, line.verb);
    if (line.all > 0)
        snprintf(text + n, sizeof text - (size_t)n, " of %.1f", (double)line.all / MEGABYTE);
    fprintf(stderr, "%s\r%-*s%s", dim ? "\033[2m" : "", WIDTH, text, dim ? "\033[m" : "");
    line.shown = now;
}

void pe_progress_line_end(void)
{
    static const char blank[] =
        "\r                                                            \r"; /* of WIDTH */
    if (line.shown != 0 && write(STDERR_FILENO, blank, sizeof blank - 1) < 0)
        line.shown = 0;
    line.on = false;
    line.shown = 0;
}
