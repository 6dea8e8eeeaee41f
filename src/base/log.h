/* SPDX-License-Identifier: MIT */
/* log.h - one JSON object per line on stderr. */
#ifndef PE_BASE_LOG_H
#define PE_BASE_LOG_H

#include <stdint.h>

typedef enum pe_log_level { PE_LOG_ERROR, PE_LOG_WARN, PE_LOG_INFO, PE_LOG_DEBUG } pe_log_level;

/** Default PE_LOG_INFO.   Threads  any. */
void pe_log_set_level(pe_log_level level);

pe_log_level pe_log_get_level(void);
const char *pe_log_level_name(pe_log_level level);

/** The level of one of the names "error", "warn", "info" and "debug"; else PE_LOG_DEBUG. */
pe_log_level pe_log_level_named(const char *name);

typedef enum pe_log_kind { PE_LOG_END, PE_LOG_TEXT, PE_LOG_NUMBER, PE_LOG_REAL } pe_log_kind;

/** One member of a log line. The list ends with {0}. */
typedef struct pe_log_member {
    pe_log_kind kind;
    const char *name;
    const char *text;
    int64_t number;
    double real;
} pe_log_member;

/**
 * Write {"time":"2026-01-02T03:04:05.678Z","level":"info","event":EVENT, members...} and a newline
 * in one write(2).   Threads  any.
 *
 *     pe_log(PE_LOG_INFO, "listening", (pe_log_member[]){{PE_LOG_TEXT, "host", .text = host},
 *                                                       {PE_LOG_NUMBER, "port", .number = port},
 * {0}});
 */
void pe_log(pe_log_level level, const char *event, const pe_log_member *members);

#endif
