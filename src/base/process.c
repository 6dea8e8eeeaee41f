/* SPDX-License-Identifier: MIT */
/* process.c - what the process takes of the machine. */
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* Descriptors that are asked for at once. */
#define AT_ONCE 512

static double seconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

void pe_process_open(pe_process *process, size_t files_most)
{
    struct rlimit limit = {.rlim_cur = files_most};
    getrlimit(RLIMIT_NOFILE, &limit);
    *process = (pe_process){.memory = open("/proc/self/statm", O_RDONLY | O_CLOEXEC),
                            .started = seconds(CLOCK_REALTIME),
                            .files_max = limit.rlim_cur,
                            .files_reached = files_most};
    if (limit.rlim_cur < files_most)
        process->files_reached = limit.rlim_cur;
}

void pe_process_close(pe_process *process)
{
    if (process->memory > 0)
        close(process->memory);
    *process = (pe_process){0};
}

/* The file begins with both, in pages. */
bool pe_process_memory(const pe_process *process, uint64_t *reserved, uint64_t *resident)
{
    char text[128], *after_first, *after_second;
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    const ssize_t bytes = pread(process->memory, text, sizeof text - 1, 0);
    text[bytes > 0 ? bytes : 0] = '\0';
    *reserved = strtoull(text, &after_first, 10) * page;
    *resident = strtoull(after_first, &after_second, 10) * page;
    return after_second > after_first;
}

/* The folder of descriptors in /proc cannot be read by a process that must not be traced. poll says
 * of each whether it is open, and touches nothing else when it is asked for no event. */
uint64_t pe_process_files(const pe_process *process)
{
    uint64_t n = 0;
    for (size_t first = 0; first < process->files_reached; first += AT_ONCE) {
        struct pollfd asked[AT_ONCE];
        const size_t left = process->files_reached - first;
        const size_t most = left < AT_ONCE ? left : AT_ONCE;
        for (size_t i = 0; i < most; i++)
            asked[i] = (struct pollfd){.fd = (int)(first + i)};
        if (poll(asked, most, 0) < 0)
            return n;
        for (size_t i = 0; i < most; i++)
            n += (asked[i].revents & POLLNVAL) == 0;
    }
    return n;
}

/* The system does not tell which of the two it is. It holds root to no number of its own. */
pe_status pe_process_fail_thread(const char *purpose, int error, pe_problem *why)
{
    struct rlimit limit = {.rlim_cur = RLIM_INFINITY};
    char user[96] = "";
    getrlimit(RLIMIT_NPROC, &limit);
    if (limit.rlim_cur != RLIM_INFINITY && geteuid() != 0)
        snprintf(user, sizeof user, "the user may have %llu (RLIMIT_NPROC, ulimit -u), and ",
                 (unsigned long long)limit.rlim_cur);
    if (error != EAGAIN)
        return pe_fail(why, PE_INTERNAL, "", "could not start a thread (%s): %s", purpose,
                       strerror(error));
    return pe_fail(why, PE_INTERNAL, "",
                   "could not start a thread (%s): too many processes and threads; %sthe control "
                   "group may have a limit (pids.max)",
                   purpose, user);
}

double pe_process_cpu_seconds(void)
{
    return seconds(CLOCK_PROCESS_CPUTIME_ID);
}
