/* SPDX-License-Identifier: MIT */
/* log_sink.h - a bounded queue of lines, and the thread that writes them. */
#ifndef PE_BASE_LOG_SINK_H
#define PE_BASE_LOG_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/**
 * Whoever adds a line never waits for its reader. What does not fit is dropped and counted; the
 * next line that is written tells how many were. Where the file does not take a line (a full disk),
 * standard error is told so once, until it takes lines again; a line that was cut is ended first.
 */
typedef struct pe_log_sink pe_log_sink;

/** Now, in UTC, as RFC 3339 has it with milliseconds. */
#define PE_LOG_TIME 40
void pe_log_sink_time(char out[PE_LOG_TIME]);

/** Write to the file at path, which is made if there is none, or to standard error if path is "".
 * Holds up to bytes_max bytes of lines that wait, and as many that are being written. Lines wait
 * until it runs.
 * Errors  INVALID_PARAMETER at `setting`: the file cannot be opened; OVERLOADED (memory). */
pe_status pe_log_sink_make(const char *setting, const char *path, size_t bytes_max,
                           pe_log_sink **out, pe_problem *why) PE_MUST_CHECK;

/** Do lines go to standard error, as those of no sink do? */
bool pe_log_sink_is_stderr(const pe_log_sink *sink);

/** Start the thread, once.   Errors  INTERNAL. */
pe_status pe_log_sink_run(pe_log_sink *sink, pe_problem *why) PE_MUST_CHECK;

/** Add a line, its newline included.   Threads  any. */
void pe_log_sink_add(pe_log_sink *sink, const void *line, size_t bytes);

/** Open the file again, before the next line; nothing where it is standard error. If that fails,
 * lines go where they went.   Threads  any. */
void pe_log_sink_reopen(pe_log_sink *sink);

/** Lines dropped so far.   Threads  any. */
uint64_t pe_log_sink_dropped(pe_log_sink *sink);

/** Wait until all is written (where it does not run, write it), but no longer than timeout_ms.
 * False when it was not.   Threads  any. */
bool pe_log_sink_flush(pe_log_sink *sink, int timeout_ms);

/** The same, and end the thread. One that stands in a write is left behind with its memory. Nobody
 * may add a line any more. Accepts NULL. */
void pe_log_sink_free(pe_log_sink *sink, int timeout_ms);

#endif
