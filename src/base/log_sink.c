/* SPDX-License-Identifier: MIT */
/* log_sink.c - a bounded queue of lines, and the thread that writes them. */
#include "base/log_sink.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/process.h"

/* Two blocks of bytes: lines are added to one while the thread writes the other, without the lock,
 * which guards all else. */
struct pe_log_sink {
    pthread_mutex_t lock;
    pthread_cond_t changed, idle; /* for the thread; for whoever waits for it */
    char *path;                   /* NULL: standard error */
    int fd;
    char *waiting, *writing; /* [bytes_max] */
    size_t bytes, bytes_max; /* waiting */
    uint64_t lines;          /* waiting */
    uint64_t dropped, reported;
    bool reopen, ending, busy; /* busy: it writes */
    bool cut, failing;         /* the thread's: the file ends inside a line; it took not all */
    bool runs;                 /* the thread, from its start on */
    pthread_t thread;
};

/* ---- the file ---- */

/* A pipe without a reader is no log: it is refused, where a plain open would wait. */
static int open_file(const char *path)
{
    const int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0640);
    if (fd >= 0)
        fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    return fd;
}

/* False where the file cannot be opened: lines go to the old one. */
static bool open_again(pe_log_sink *sink)
{
    const int fd = sink->path != NULL ? open_file(sink->path) : -1;
    if (fd < 0)
        return false;
    close(sink->fd);
    sink->fd = fd;
    sink->cut = false;
    return true;
}

/* How many of the bytes were written: all, or until it failed. Waits as long as the reader does. */
static size_t write_all(int fd, const char *data, size_t bytes)
{
    size_t done = 0;
    while (done < bytes) {
        const ssize_t written = write(fd, data + done, bytes - done);
        if (written < 0 && errno == EAGAIN)
            poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, -1);
        else if (written < 0 && errno != EINTR)
            break;
        done += written > 0 ? (size_t)written : 0;
    }
    return done;
}

/* ---- the thread ---- */

void pe_log_sink_time(char out[PE_LOG_TIME])
{
    struct timespec now;
    struct tm utc;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    const size_t used = strftime(out, PE_LOG_TIME, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(out + used, PE_LOG_TIME - used, ".%03ldZ", now.tv_nsec / 1000000);
}

/* A line of the log about the log. */
static size_t format_note(char *out, size_t bytes, const char *event, const char *member)
{
    char now[PE_LOG_TIME];
    pe_log_sink_time(now);
    const int n = snprintf(out, bytes, "{\"time\":\"%s\",\"level\":\"warn\",\"event\":\"%s\",%s}\n",
                           now, event, member);
    return n > 0 && (size_t)n < bytes ? (size_t)n : 0;
}

/* To standard error, where somebody may look who does not find it in the file, and to the file. */
static void report(const pe_log_sink *sink, const char *event, const char *what, int error)
{
    char detail[512], note[1024];
    pe_buffer quoted = {0};
    snprintf(detail, sizeof detail, "%s %.300s%s: %s", what, sink->path,
             sink->failing ? "" : ", its old file is written on", strerror(error));
    pe_buffer_str(&quoted, "\"detail\":");
    pe_buffer_json_string(&quoted, detail);
    const size_t bytes = format_note(note, sizeof note, event, pe_buffer_text(&quoted));
    if (!sink->failing)
        (void)write_all(sink->fd, note, bytes);
    (void)write_all(STDERR_FILENO, note, bytes);
    pe_buffer_free(&quoted);
}

/* Whole lines: what was cut before is ended first. Returns how many were lost. */
static size_t write_block(pe_log_sink *sink, const char *data, size_t bytes)
{
    size_t done = 0;
    if (!sink->cut || write_all(sink->fd, "\n", 1) == 1) {
        done = write_all(sink->fd, data, bytes);
        sink->cut = done > 0 && data[done - 1] != '\n';
    }
    const int error = errno;
    const bool failed_before = sink->failing;
    sink->failing = done < bytes;
    if (sink->failing && !failed_before && sink->path != NULL)
        report(sink, "log_failed", "lines are lost, as there is no writing to", error);
    size_t lost = 0;
    for (const char *at = data + done, *end = data + bytes;
         (at = memchr(at, '\n', (size_t)(end - at))) != NULL; at++)
        lost++;
    return lost;
}

/* Write what waits. Called with the lock held, and returning with it. */
static void write_waiting(pe_log_sink *sink)
{
    char *data = sink->waiting;
    const size_t bytes = sink->bytes;
    const uint64_t dropped = sink->dropped;
    const bool reopen = sink->reopen;
    sink->waiting = sink->writing;
    sink->writing = data;
    sink->bytes = 0;
    sink->lines = 0;
    sink->reopen = false;
    sink->busy = true;
    pthread_mutex_unlock(&sink->lock);
    if (reopen && !open_again(sink))
        report(sink, "log_not_reopened", "SIGUSR1: cannot open again", errno);
    const size_t lost = write_block(sink, data, bytes);
    if (lost == 0 && dropped > sink->reported) {
        char member[64], note[256];
        snprintf(member, sizeof member, "\"lines\":%" PRIu64, dropped - sink->reported);
        const size_t length = format_note(note, sizeof note, "log_dropped", member);
        if (write_block(sink, note, length) == 0)
            sink->reported = dropped;
    }
    pthread_mutex_lock(&sink->lock);
    sink->busy = false;
    pthread_cond_broadcast(&sink->idle);
    sink->dropped += lost;
}

static void *write_lines(void *context)
{
    pe_log_sink *sink = context;
    pthread_mutex_lock(&sink->lock);
    for (;;) {
        while (sink->bytes == 0 && !sink->reopen && !sink->ending)
            pthread_cond_wait(&sink->changed, &sink->lock);
        if (sink->bytes == 0 && !sink->reopen)
            break;
        write_waiting(sink);
    }
    pthread_mutex_unlock(&sink->lock);
    return NULL;
}

/* ---- the interface ---- */

static void release(pe_log_sink *sink)
{
    if (sink->path != NULL && sink->fd >= 0)
        close(sink->fd);
    pthread_cond_destroy(&sink->changed);
    pthread_cond_destroy(&sink->idle);
    pthread_mutex_destroy(&sink->lock);
    free(sink->waiting);
    free(sink->writing);
    free(sink->path);
    free(sink);
}

pe_status pe_log_sink_make(const char *setting, const char *path, size_t bytes_max,
                           pe_log_sink **out, pe_problem *why)
{
    const bool file = *path != '\0';
    pe_status status = PE_OK;
    pthread_condattr_t monotonic;
    pe_log_sink *sink = calloc(1, sizeof *sink);
    if (sink == NULL)
        return pe_fail_memory(why);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&sink->lock, NULL);
    pthread_cond_init(&sink->changed, NULL);
    pthread_cond_init(&sink->idle, &monotonic);
    pthread_condattr_destroy(&monotonic);
    sink->bytes_max = bytes_max;
    sink->waiting = malloc(bytes_max);
    sink->writing = malloc(bytes_max);
    sink->path = file ? strdup(path) : NULL;
    sink->fd = file ? open_file(path) : STDERR_FILENO;
    const int error = errno;
    /* Of a folder that is not there the problem says what makes it. */
    const char *slash = strrchr(path, '/');
    const bool made = error == ENOENT && slash != NULL;
    if (sink->fd < 0)
        status = pe_fail(why, PE_INVALID_PARAMETER, setting, "cannot write to %.200s: %s%s%.*s",
                         path, strerror(error), made ? "; mkdir -p " : "",
                         made ? (int)(slash - path) : 0, path);
    else if (sink->waiting == NULL || sink->writing == NULL || (file && sink->path == NULL))
        status = pe_fail_memory(why);
    if (status == PE_OK)
        *out = sink;
    else
        release(sink);
    return status;
}

bool pe_log_sink_is_stderr(const pe_log_sink *sink)
{
    return sink == NULL || sink->path == NULL;
}

pe_status pe_log_sink_run(pe_log_sink *sink, pe_problem *why)
{
    const int error = pthread_create(&sink->thread, NULL, write_lines, sink);
    sink->runs = error == 0;
    return sink->runs ? PE_OK : pe_process_fail_thread("log", error, why);
}

void pe_log_sink_add(pe_log_sink *sink, const void *line, size_t bytes)
{
    pthread_mutex_lock(&sink->lock);
    if (bytes > sink->bytes_max - sink->bytes) {
        sink->dropped++;
    } else {
        memcpy(sink->waiting + sink->bytes, line, bytes);
        sink->bytes += bytes;
        sink->lines++;
        if (sink->lines == 1)
            pthread_cond_signal(&sink->changed);
    }
    pthread_mutex_unlock(&sink->lock);
}

void pe_log_sink_reopen(pe_log_sink *sink)
{
    pthread_mutex_lock(&sink->lock);
    sink->reopen = sink->path != NULL;
    pthread_cond_signal(&sink->changed);
    pthread_mutex_unlock(&sink->lock);
}

uint64_t pe_log_sink_dropped(pe_log_sink *sink)
{
    pthread_mutex_lock(&sink->lock);
    const uint64_t dropped = sink->dropped;
    pthread_mutex_unlock(&sink->lock);
    return dropped;
}

bool pe_log_sink_flush(pe_log_sink *sink, int timeout_ms)
{
    const int64_t until = pe_clock() + timeout_ms * (int64_t)PE_NANOSECONDS_PER_MS;
    const struct timespec at = {.tv_sec = until / PE_NANOSECONDS_PER_SECOND,
                                .tv_nsec = until % PE_NANOSECONDS_PER_SECOND};
    pthread_mutex_lock(&sink->lock);
    if (!sink->runs && sink->bytes > 0)
        write_waiting(sink);
    while ((sink->bytes > 0 || sink->busy) &&
           pthread_cond_timedwait(&sink->idle, &sink->lock, &at) == 0)
        ;
    const bool written = sink->bytes == 0 && !sink->busy;
    pthread_mutex_unlock(&sink->lock);
    return written;
}

void pe_log_sink_free(pe_log_sink *sink, int timeout_ms)
{
    if (sink == NULL)
        return;
    const bool written = pe_log_sink_flush(sink, timeout_ms);
    pthread_mutex_lock(&sink->lock);
    sink->ending = true;
    pthread_cond_signal(&sink->changed);
    pthread_mutex_unlock(&sink->lock);
    if (!written) {
        pthread_detach(sink->thread);
        return;
    }
    if (sink->runs)
        pthread_join(sink->thread, NULL);
    release(sink);
}
