/* SPDX-License-Identifier: MIT */
/* log.h - one JSON object per line, on stderr or in a file; sentences on a terminal. */
#ifndef PE_BASE_LOG_H
#define PE_BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/status.h"

typedef enum pe_log_level { PE_LOG_ERROR, PE_LOG_WARN, PE_LOG_INFO, PE_LOG_DEBUG } pe_log_level;

typedef struct pe_log_options {
    const char *file, *access_file; /* "": standard error; "": where the other lines go */
    size_t queue_bytes;             /* of lines that wait for the writer, for each file */
} pe_log_options;

/** Open the files. From now on lines wait, until pe_log_run or pe_log_stop. Errors
 * INVALID_PARAMETER (a file that cannot be written), OVERLOADED.   Threads  before there are
 * others. */
pe_status pe_log_start(const pe_log_options *options, pe_problem *why) PE_MUST_CHECK;

/** From now on a thread writes, and nobody else waits for the log's reader. Nothing where the log
 * has not been started.   Errors  INTERNAL.   Threads  one. */
pe_status pe_log_run(pe_problem *why) PE_MUST_CHECK;
/** Write what waits, within half a second for each file. Lines after that are written at
 * once.   Threads  when there are no others. */
void pe_log_stop(void);
/** Wait, half a second at most, until the log is written; not for an access log of its own.
 * Threads  any. */
void pe_log_flush(void);
/** Open the files again, which others have moved away meanwhile.   Threads  any. */
void pe_log_reopen(void);
/** Lines that found no room, ever.   Threads  any. */
uint64_t pe_log_dropped(void);

/** Default PE_LOG_INFO.   Threads  any. */
void pe_log_set_level(pe_log_level level);

/** "json", "text" for people, or "auto", the default: text where lines go to a terminal.
 * Threads  any. */
void pe_log_set_format(const char *name);
/** What follows is a command's, whose lines are sentences on stderr also where the format is auto and
 * stderr is no terminal. */
void pe_log_set_of_command(void);

pe_log_level pe_log_get_level(void);
const char *pe_log_level_name(pe_log_level level);

/** The level of one of the names "error", "warn", "info" and "debug"; else PE_LOG_DEBUG. */
pe_log_level pe_log_level_named(const char *name);

typedef enum pe_log_kind {
    PE_LOG_END,
    PE_LOG_NONE, /* a member that is left out */
    PE_LOG_TEXT,
    PE_LOG_NUMBER,
    PE_LOG_REAL,
    PE_LOG_TRUE
} pe_log_kind;

/** One member of a log line. The list ends with {0}. */
typedef struct pe_log_member {
    pe_log_kind kind;
    const char *name;
    const char *text;
    int64_t number;
    double real;
} pe_log_member;

/**
 * Write {"time":"2026-01-02T03:04:05.678Z","level":"info","event":EVENT, members...} and a newline.
 * Threads  any.
 *
 *     PE_LOG(PE_LOG_INFO, "listening", PE_TEXT("host", host), PE_NUMBER("port", port));
 */
void pe_log(pe_log_level level, const char *event, const pe_log_member *members);
#define PE_LOG(level, event, ...) pe_log(level, event, (pe_log_member[]){__VA_ARGS__, {0}})
#define PE_TEXT(member, value)                                                                     \
    {                                                                                              \
        PE_LOG_TEXT, member, .text = (value)                                                       \
    }
#define PE_NUMBER(member, value)                                                                   \
    {                                                                                              \
        PE_LOG_NUMBER, member, .number = (int64_t)(value)                                          \
    }

/** The event "access" of level info, into the access log, whatever the level.   Threads  any. */
void pe_log_access(const pe_log_member *members);
/** The same of a line in another format, its newline included. */
void pe_log_access_line(const pe_buffer *line);

#endif
