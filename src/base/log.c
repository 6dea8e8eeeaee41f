/* SPDX-License-Identifier: MIT */
/* log.c - one JSON object per line, on stderr or in a file. */
#include "base/log.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/log_sink.h"

/* At the end, how long lines that wait may take. */
#define FLUSH_MS 500

static const char *const level_names[] = {"error", "warn", "info", "debug"};

static atomic_int level_max = PE_LOG_INFO;

/* FORMAT_TERMINAL: text where lines go to a terminal; whether that is so is asked once, before a
 * sandbox might forbid it. */
enum { FORMAT_TERMINAL, FORMAT_JSON, FORMAT_TEXT };
static atomic_int format = FORMAT_TERMINAL;
static atomic_int terminal = -1;
static atomic_bool of_command; /* then it is as if lines went to a terminal */

/* Where lines go: made and freed while there is no other thread that logs. ACCESSES: NULL where they
 * go with the events. EVENTS: NULL where lines are written at once. */
enum { EVENTS, ACCESSES, SINKS };
static pe_log_sink *sinks[SINKS];

/* ---- where lines go ---- */

pe_status pe_log_start(const pe_log_options *options, pe_problem *why)
{
    const size_t bytes = options->queue_bytes;
    PE_TRY(pe_log_sink_make("log_file", options->file, bytes, &sinks[EVENTS], why));
    if (*options->access_file == '\0' || pe_log_sink_make("access_log_file", options->access_file,
                                                          bytes, &sinks[ACCESSES], why) == PE_OK)
        return PE_OK;
    pe_log_sink_free(sinks[EVENTS], 0);
    sinks[EVENTS] = NULL;
    return why->status;
}

pe_status pe_log_run(pe_problem *why)
{
    for (size_t s = 0; s < SINKS; s++)
        if (sinks[s] != NULL)
            PE_TRY(pe_log_sink_run(sinks[s], why));
    return PE_OK;
}

void pe_log_stop(void)
{
    for (size_t s = SINKS; s-- > 0;) {
        pe_log_sink *sink = sinks[s];
        sinks[s] = NULL;
        pe_log_sink_free(sink, FLUSH_MS);
    }
}

void pe_log_flush(void)
{
    if (sinks[EVENTS] != NULL)
        pe_log_sink_flush(sinks[EVENTS], FLUSH_MS);
}

void pe_log_reopen(void)
{
    for (size_t s = 0; s < SINKS; s++)
        if (sinks[s] != NULL)
            pe_log_sink_reopen(sinks[s]);
}

uint64_t pe_log_dropped(void)
{
    uint64_t dropped = 0;
    for (size_t s = 0; s < SINKS; s++)
        dropped += sinks[s] != NULL ? pe_log_sink_dropped(sinks[s]) : 0;
    return dropped;
}

/* A line that cannot be written (closed, no memory) is dropped. */
static void add_line(pe_log_sink *sink, const pe_buffer *line)
{
    if (line->failed)
        return;
    if (sink != NULL) {
        pe_log_sink_add(sink, line->data, line->bytes);
        return;
    }
    const ssize_t written = write(STDERR_FILENO, line->data, line->bytes);
    (void)written;
}

/* ---- levels ---- */

void pe_log_set_format(const char *name)
{
    const int wanted = strcmp(name, "json") == 0   ? FORMAT_JSON
                       : strcmp(name, "text") == 0 ? FORMAT_TEXT
                                                   : FORMAT_TERMINAL;
    atomic_store_explicit(&format, wanted, memory_order_relaxed);
    atomic_store_explicit(&terminal, isatty(STDERR_FILENO), memory_order_relaxed);
}

void pe_log_set_of_command(void)
{
    atomic_store_explicit(&of_command, true, memory_order_relaxed);
}

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

/* ---- for people ---- */

static bool is_for_people(const pe_log_sink *sink)
{
    const int wanted = atomic_load_explicit(&format, memory_order_relaxed);
    if (wanted != FORMAT_TERMINAL)
        return wanted == FORMAT_TEXT;
    if (atomic_load_explicit(&terminal, memory_order_relaxed) < 0)
        atomic_store_explicit(&terminal, isatty(STDERR_FILENO), memory_order_relaxed);
    return pe_log_sink_is_stderr(sink) &&
           (atomic_load_explicit(&terminal, memory_order_relaxed) != 0 ||
            atomic_load_explicit(&of_command, memory_order_relaxed));
}

static void add_text_member(pe_buffer *line, const pe_log_member *m)
{
    if (m->kind == PE_LOG_NONE || (m->kind == PE_LOG_TEXT && m->text == NULL))
        return;
    pe_buffer_format(line, " %s=", m->name);
    if (m->kind == PE_LOG_TEXT)
        pe_buffer_str(line, m->text);
    else if (m->kind == PE_LOG_NUMBER)
        pe_buffer_format(line, "%lld", (long long)m->number);
    else if (m->kind == PE_LOG_REAL)
        pe_buffer_format(line, "%g", m->real);
    else
        pe_buffer_str(line, "true");
}

/* "posenc: d_model must be even, got 7"; of events without such a sentence their words. */
static void format_text(pe_buffer *line, pe_log_level level, const char *event,
                        const pe_log_member *members)
{
    const pe_log_member *detail = members;
    while (detail != NULL && detail->kind != PE_LOG_END && strcmp(detail->name, "detail") != 0)
        detail++;
    pe_buffer_format(line, "posenc: %s", level == PE_LOG_WARN ? "warning: " : "");
    if (detail != NULL && detail->kind == PE_LOG_TEXT) {
        pe_buffer_format(line, "%s\n", detail->text);
        return;
    }
    for (; *event != '\0'; event++)
        pe_buffer_add(line, *event == '_' ? " " : event, 1);
    for (const pe_log_member *m = members; m != NULL && m->kind != PE_LOG_END; m++)
        add_text_member(line, m);
    pe_buffer_str(line, "\n");
}

static void format_line(const pe_log_sink *sink, pe_buffer *line, pe_log_level level,
                        const char *event, const pe_log_member *members)
{
    if (is_for_people(sink)) {
        format_text(line, level, event, members);
        return;
    }
    char now[PE_LOG_TIME];
    pe_log_sink_time(now);
    pe_buffer_format(line, "{\"time\":\"%s\",\"level\":\"%s\",\"event\":", now, level_names[level]);
    pe_buffer_json_string(line, event);
    for (const pe_log_member *m = members; m != NULL && m->kind != PE_LOG_END; m++) {
        if (m->kind != PE_LOG_NONE) {
            pe_buffer_str(line, ",");
            pe_buffer_json_string(line, m->name);
            pe_buffer_str(line, ":");
            if (m->kind == PE_LOG_TEXT)
                pe_buffer_json_string(line, m->text != NULL ? m->text : "");
            else if (m->kind == PE_LOG_TRUE)
                pe_buffer_str(line, "true");
            else if (m->kind == PE_LOG_NUMBER)
                pe_buffer_format(line, "%lld", (long long)m->number);
            else
                pe_buffer_format(line, "%.6g", isfinite(m->real) ? m->real : 0.0);
        }
    }
    pe_buffer_str(line, "}\n");
}

void pe_log(pe_log_level level, const char *event, const pe_log_member *members)
{
    if ((int)level > atomic_load_explicit(&level_max, memory_order_relaxed))
        return;
    pe_buffer line = {0};
    format_line(sinks[EVENTS], &line, level, event, members);
    add_line(sinks[EVENTS], &line);
    pe_buffer_free(&line);
}

static pe_log_sink *access_sink(void)
{
    return sinks[sinks[ACCESSES] != NULL ? ACCESSES : EVENTS];
}

void pe_log_access(const pe_log_member *members)
{
    pe_buffer line = {0};
    format_line(access_sink(), &line, PE_LOG_INFO, "access", members);
    add_line(access_sink(), &line);
    pe_buffer_free(&line);
}

void pe_log_access_line(const pe_buffer *line)
{
    add_line(access_sink(), line);
}
