/* SPDX-License-Identifier: MIT */
/* traced_calls.c - the system calls that a server makes, counted. */
#include "support/check.h"

#include <dirent.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "support/traced_calls.h"

#define THREADS_MAX 64

struct traced {
    pid_t id;
    bool ended; /* as the thread does that warmed the caches, at any moment */
    call_counts counts;
};

/* Of a thread that traces, while the test's own thread asks: a request that fails ends the test,
 * and leaves this behind. */
struct trace {
    pid_t server;
    struct traced thread[THREADS_MAX];
    size_t n;
    bool over;
    sem_t begun;         /* all are counted, or n is 0 */
    atomic_bool counted; /* what comes now is not */
};

static void seize_all(struct trace *trace)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)trace->server);
    DIR *tasks = opendir(path);
    if (tasks == NULL)
        return;
    /* cppcheck-suppress readdirCalled ; POSIX has it thread-safe on a stream of one's own */
    for (struct dirent *task; (task = readdir(tasks)) != NULL && trace->n < THREADS_MAX;) {
        const pid_t id = (pid_t)strtol(task->d_name, NULL, 10);
        if (id <= 0)
            continue;
        if (ptrace(PTRACE_SEIZE, id, NULL, PTRACE_O_TRACESYSGOOD) == 0)
            trace->thread[trace->n++].id = id;
    }
    closedir(tasks);
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

/* Wait for the thread `id`, or -1: for any of them, to stop; NULL when it ended instead, or all
 * did. */
static struct traced *next_stop(struct trace *trace, pid_t id, int *status)
{
    const pid_t got = waitpid(id, status, __WALL);
    for (size_t i = 0; got < 0 && i < trace->n; i++)
        trace->thread[i].ended = trace->over = true; /* the server is no more */
    struct traced *thread = find(trace, got);
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

static void *count_all(void *context)
{
    struct trace *trace = context;
    int status;
    seize_all(trace);
    /* Each is made to stop once, and from then on stops at every call. */
    for (size_t i = 0; i < trace->n; i++)
        ptrace(PTRACE_INTERRUPT, trace->thread[i].id, NULL, NULL);
    for (size_t i = 0; i < trace->n; i++)
        if (next_stop(trace, trace->thread[i].id, &status) != NULL)
            ptrace(PTRACE_SYSCALL, trace->thread[i].id, NULL, 0L);
    sem_post(&trace->begun);
    while (trace->n > 0 && !trace->over && !atomic_load(&trace->counted)) {
        struct traced *thread = next_stop(trace, -1, &status);
        if (thread == NULL)
            continue;
        count(trace, thread, status);
        ptrace(PTRACE_SYSCALL, thread->id, NULL, signal_of(status));
    }
    let_go(trace);
    return NULL;
}

bool calls_count(const test_server *server, void (*requests)(void *context),
                 void (*last)(void *context), void *context, call_counts *out)
{
    struct trace *trace = calloc(1, sizeof *trace);
    pthread_t tracer;
    assert_non_null(trace);
    trace->server = server->pid;
    sem_init(&trace->begun, 0, 0);
    assert_int_equal(pthread_create(&tracer, NULL, count_all, trace), 0);
    sem_wait(&trace->begun);
    const bool traced = trace->n > 0;
    if (traced) {
        requests(context);
        atomic_store(&trace->counted, true);
        last(context);
    }
    pthread_join(tracer, NULL);
    for (size_t i = 0; i < trace->n; i++)
        if (trace->thread[i].counts.all > out->all)
            *out = trace->thread[i].counts;
    sem_destroy(&trace->begun);
    free(trace);
    return traced;
}
