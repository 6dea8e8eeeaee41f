/* SPDX-License-Identifier: MIT */
/* thread.h - what a thread has to do before it computes. */
#ifndef PE_HTTP_WORKERS_THREAD_H
#define PE_HTTP_WORKERS_THREAD_H

/**
 * Have this thread release, when it ends, what MPFR keeps for each thread (constants and memory).
 * Cheap and harmless to call again.   Threads  any.
 */
void pe_thread_computes(void);

#endif
