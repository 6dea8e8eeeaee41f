/* SPDX-License-Identifier: MIT */
/* request_label.h - the request of a connection, as other threads may see it. */
#ifndef PE_HTTP_CONNECTION_REQUEST_LABEL_H
#define PE_HTTP_CONNECTION_REQUEST_LABEL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define PE_REQUEST_LABEL_BYTES 128

/**
 * Only requests that take long get one: those with a body, those that a worker has, and those with
 * a long answer.
 * Each word is atomic. A version that is odd, or other after reading than before, tells the reader
 * that the words do not belong together.
 */
typedef struct pe_request_label {
    atomic_uint_fast32_t version;
    atomic_int_fast64_t started; /* pe_clock(); 0: no label */
    atomic_uint_fast64_t words[PE_REQUEST_LABEL_BYTES / sizeof(uint64_t)];
} pe_request_label;

/** "GET /v1/...", cut where it is long.   Threads  whoever has the request. */
void pe_request_label_set(pe_request_label *label, const char *method, const char *target,
                          int64_t started);

/** Another request has begun.   Threads  as before. */
static inline void pe_request_label_clear(pe_request_label *label)
{
    atomic_store_explicit(&label->started, 0, memory_order_relaxed);
}

/** False where there is none.   Threads  any, while the connection is open. */
bool pe_request_label_get(pe_request_label *label, char text[PE_REQUEST_LABEL_BYTES],
                          int64_t *started);

#endif
