/* SPDX-License-Identifier: MIT */
/* log.c - one JSON object per line on stderr. */
#include "base/log.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/buffer.h"

static const char *const level_names[] = {"error", "warn", "info", "debug"};

static atomic_int level_max = PE_LOG_INFO;

void pe_log_set_level(pe_log_level level)
{
    atomic_store(&level_max, (int)level);
}

pe_log_level pe_log_get_level(void)
{
    return (pe_log_level)atomic_load(&level_max);
}

const char *pe_log_level_name(pe_log_level level)
{
    return level_names[level];
}

pe_log_level pe_log_level_named(const char *name)
{
    size_t level = 0;
    while (level + 1 < PE_LEN(level_names) && strcmp(level_names[level], name) != 0)
        level++;
    return (pe_log_level)level;
}

/* Now, UTC, as RFC 3339 with milliseconds. */
static void add_time(pe_buffer *line)
{
    struct timespec now;
    struct tm utc;
    char text[32];
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
    pe_buffer_format(line, "{\"time\":\"%s.%03ldZ\"", text, now.tv_nsec / 1000000);
}

static void add_member(pe_buffer *line, const pe_log_member *member)
{
    pe_buffer_str(line, ",");
    pe_buffer_json_string(line, member->name);
    pe_buffer_str(line, ":");
    if (member->kind == PE_LOG_TEXT)
        pe_buffer_json_string(line, member->text != NULL ? member->text : "");
    else if (member->kind == PE_LOG_NUMBER)
        pe_buffer_format(line, "%lld", (long long)member->number);
    else
        pe_buffer_format(line, "%.6g", isfinite(member->real) ? member->real : 0.0);
}

void pe_log(pe_log_level level, const char *event, const pe_log_member *members)
{
    if ((int)level > atomic_load_explicit(&level_max, memory_order_relaxed))
        return;
    pe_buffer line = {0};
    add_time(&line);
    pe_buffer_format(&line, ",\"level\":\"%s\",\"event\":", level_names[level]);
    pe_buffer_json_string(&line, event);
    for (const pe_log_member *m = members; m != NULL && m->kind != PE_LOG_END; m++)
        add_member(&line, m);
    pe_buffer_str(&line, "}\n");
    /* A line that cannot be written (stderr closed, no memory) is dropped. */
    if (!line.failed) {
        const ssize_t written = write(STDERR_FILENO, line.data, line.bytes);
        (void)written;
    }
    pe_buffer_free(&line);
}
