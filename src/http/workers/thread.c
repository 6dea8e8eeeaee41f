/* SPDX-License-Identifier: MIT */
/* thread.c - what a thread has to do before it computes. */
#include "http/workers/thread.h"

#include <pthread.h>

#include <mpfr.h>

/* The library's I/O threads have no hook at their end other than a key's destructor. The key lives
 * as long as the program. */
static pthread_key_t at_end;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void release(void *unused)
{
    (void)unused;
    mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
}

static void make_key(void)
{
    pthread_key_create(&at_end, release);
}

void pe_thread_computes(void)
{
    pthread_once(&once, make_key);
    if (pthread_getspecific(at_end) == NULL)
        pthread_setspecific(at_end, &at_end);
}
