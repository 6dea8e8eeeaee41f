/* SPDX-License-Identifier: MIT */
/* request_label.c - the request of a connection, as other threads may see it. */
#include "http/connection/request_label.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"

/* Another thread may write again and again; a label is no more than a hint then. */
#define TRIES 8

void pe_request_label_set(pe_request_label *label, const char *method, const char *target,
                          int64_t started)
{
    char text[PE_REQUEST_LABEL_BYTES] = "";
    snprintf(text, sizeof text, "%s %s", method, target);
    const uint_fast32_t version = atomic_load_explicit(&label->version, memory_order_relaxed);
    atomic_store_explicit(&label->version, version + 1, memory_order_relaxed);
    for (size_t w = 0; w < PE_LEN(label->words); w++) {
        uint64_t word;
        memcpy(&word, text + w * sizeof word, sizeof word);
        atomic_store_explicit(&label->words[w], word, memory_order_release);
    }
    atomic_store_explicit(&label->started, started, memory_order_release);
    atomic_store_explicit(&label->version, version + 2, memory_order_release);
}

bool pe_request_label_get(pe_request_label *label, char text[PE_REQUEST_LABEL_BYTES],
                          int64_t *started)
{
    for (int n = 0; n < TRIES; n++) {
        const uint_fast32_t before = atomic_load_explicit(&label->version, memory_order_acquire);
        for (size_t w = 0; w < PE_LEN(label->words); w++) {
            const uint64_t word = atomic_load_explicit(&label->words[w], memory_order_acquire);
            memcpy(text + w * sizeof word, &word, sizeof word);
        }
        *started = atomic_load_explicit(&label->started, memory_order_acquire);
        const uint_fast32_t after = atomic_load_explicit(&label->version, memory_order_acquire);
        if (before == after && before % 2 == 0)
            return *started != 0;
    }
    return false;
}
