/* SPDX-License-Identifier: MIT */
/* calls.c - the system calls that a server makes, counted. */
#include "support/check.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "support/calls.h"

#define THREADS_MAX 64

struct traced {
    pid_t id;
    bool ended; /* as the thread does that warmed the caches, at any moment */
    call_counts counts;
};

/* Only the thread that traces touches `thread`. */
struct trace {
    struct traced *thread;
    size_t n;
    atomic_bool counted; /* what comes now is not */
    void (*requests)(void *), (*last)(void *);
    void *context;
};

static bool seize_all(const test_server *server, struct trace *trace)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)server->pid);
    DIR *tasks = opendir(path);
    assert_non_null(tasks);
    /* cppcheck-suppress readdirCalled ; the stream is this call's own, which POSIX has thread-safe
     */
    for (struct dirent *task; (task = readdir(tasks)) != NULL && trace->n < THREADS_MAX;) {
        const pid_t id = (pid_t)strtol(task->d_name, NULL, 10);
        if (id <= 0)
            continue;
        if (ptrace(PTRACE_SEIZE, id, NULL, PTRACE_O_TRACESYSGOOD) == 0)
            trace->thread[trace->n++].id = id;
    }
    closedir(tasks);
    return trace->n > 0;
}

static struct traced *find(struct trace *trace, pid_t id)
{
    for (size_t i = 0; i < trace->n; i++)
        if (trace->thread[i].id == id)
            return &trace->thread[i];
    return NULL;
}

/* The thread stands at the beginning or at the end of a call, or because it was interrupted. */
static void count(struct trace *trace, struct traced *thread, int status)
{
    struct __ptrace_syscall_info info;
    if (WSTOPSIG(status) != (SIGTRAP | 0x80) || atomic_load(&trace->counted))
        return;
    if (ptrace(PTRACE_GET_SYSCALL_INFO, thread->id, (void *)sizeof info, &info) <= 0 ||
        info.op != PTRACE_SYSCALL_INFO_ENTRY)
        return;
    thread->counts.all++;
    if (info.entry.nr < CALLS_MAX)
        thread->counts.of[info.entry.nr]++;
}

/* Wait for the thread `id`, or -1: for any of them, to stop; NULL when it ended instead. */
static struct traced *next_stop(struct trace *trace, pid_t id, int *status)
{
    struct traced *thread = find(trace, waitpid(id, status, __WALL));
    if (thread == NULL || WIFSTOPPED(*status))
        return thread;
    thread->ended = true;
    return NULL;
}

/* A signal that stopped the thread is passed on; a trap is ours. */
static long signal_of(int status)
{
    const int number = WSTOPSIG(status);
    return (number & 0x7f) == SIGTRAP || status >> 16 != 0 ? 0 : number;
}

static void let_go(struct trace *trace)
{
    for (size_t i = 0; i < trace->n; i++) {
        struct traced *thread = &trace->thread[i], *stopped;
        int status = 0;
        if (thread->ended || ptrace(PTRACE_DETACH, thread->id, NULL, NULL) == 0)
            continue; /* it is no more, or it stood */
        ptrace(PTRACE_INTERRUPT, thread->id, NULL, NULL);
        while (!thread->ended && (stopped = next_stop(trace, -1, &status)) != thread)
            if (stopped != NULL)
                ptrace(PTRACE_CONT, stopped->id, NULL, signal_of(status));
        ptrace(PTRACE_DETACH, thread->id, NULL, NULL);
    }
}

static void *run_requests(void *context)
{
    struct trace *trace = context;
    trace->requests(trace->context);
    atomic_store(&trace->counted, true);
    trace->last(trace->context);
    return NULL;
}

bool calls_count(const test_server *server, void (*requests)(void *context),
                 void (*last)(void *context), void *context, call_counts *out)
{
    struct trace trace = {.requests = requests, .last = last, .context = context};
    pthread_t client;
    trace.thread = calloc(THREADS_MAX, sizeof *trace.thread);
    assert_non_null(trace.thread);
    if (!seize_all(server, &trace)) {
        free(trace.thread);
        return false;
    }
    /* Each is made to stop once, and from then on stops at every call. */
    for (size_t i = 0; i < trace.n; i++)
        ptrace(PTRACE_INTERRUPT, trace.thread[i].id, NULL, NULL);
    for (size_t i = 0; i < trace.n; i++) {
        int status;
        if (next_stop(&trace, trace.thread[i].id, &status) != NULL)
            ptrace(PTRACE_SYSCALL, trace.thread[i].id, NULL, 0L);
    }
    assert_int_equal(pthread_create(&client, NULL, run_requests, &trace), 0);
    while (!atomic_load(&trace.counted)) {
        int status;
        struct traced *thread = next_stop(&trace, -1, &status);
        if (thread == NULL)
            continue;
        count(&trace, thread, status);
        ptrace(PTRACE_SYSCALL, thread->id, NULL, signal_of(status));
    }
    let_go(&trace);
    pthread_join(client, NULL);
    *out = trace.thread[0].counts;
    for (size_t i = 1; i < trace.n; i++)
        if (trace.thread[i].counts.all > out->all)
            *out = trace.thread[i].counts;
    free(trace.thread);
    return true;
}
