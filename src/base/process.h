/* SPDX-License-Identifier: MIT */
/* process.h - what the process takes of the machine. */
#ifndef PE_BASE_PROCESS_H
#define PE_BASE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/** What is known from the start on: later the files of /proc can no longer be opened. */
typedef struct pe_process {
    int memory;           /* /proc/self/statm; -1: none */
    double started;       /* seconds since 1970 */
    uint64_t files_max;   /* that the system lets the process open */
    size_t files_reached; /* no descriptor is larger */
} pe_process;

/** files_most: the process opens no more at once. */
void pe_process_open(pe_process *process, size_t files_most);
/** Accepts one of zeros. */
void pe_process_close(pe_process *process);

/** False where the system does not tell. */
bool pe_process_memory(const pe_process *process, uint64_t *reserved, uint64_t *resident);

/** Descriptors that are open. */
uint64_t pe_process_files(const pe_process *process);

/** A thread could not be started, by this error: what it was for, and which limit may be
 * reached. */
pe_status pe_process_fail_thread(const char *purpose, int error, pe_problem *why);

/** Seconds that all threads have computed, those of the system for them included. */
double pe_process_cpu_seconds(void);

#endif
