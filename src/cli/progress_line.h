/* SPDX-License-Identifier: MIT */
/* progress_line.h - a line on a terminal that says how long a command has worked, and how far it is. */
#ifndef PE_CLI_PROGRESS_LINE_H
#define PE_CLI_PROGRESS_LINE_H

#include <stdint.h>

/** From now on, where standard error is a terminal. */
void pe_progress_line_begin(void);

/** What is sent or received now: of all bytes so many are done; all 0: that is not known. */
void pe_progress_line_count(const char *verb, uint64_t done, uint64_t all);

/** Show the line, where the last time is a while ago. */
void pe_progress_line_show(void);

/** The line vanishes, and does not come back. A handler of signals may call this. */
void pe_progress_line_end(void);

#endif
