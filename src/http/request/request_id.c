/* SPDX-License-Identifier: MIT */
/* request_id.c - the X-Request-Id that a client sends, or one made for it. */
#include "http/request/request_id.h"

#include <nettle/base16.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#define ID_LENGTH_MAX 128

bool pe_request_id_valid(const char *id)
{
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    size_t length = strspn(id, allowed);
    return length >= 1 && length <= ID_LENGTH_MAX && id[length] == '\0';
}

/* Random bytes, which tell nobody how many requests there are; or, where the system has none yet,
 * the time and a count: ids are no secrets. */
void pe_request_id_make(char out[PE_REQUEST_ID_BYTES])
{
    static atomic_uint_fast64_t made;
    uint64_t id[2];
    if (getrandom(id, sizeof id, GRND_NONBLOCK) != (ssize_t)sizeof id) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        id[0] = (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec + (uint64_t)getpid();
        id[1] = atomic_fetch_add(&made, 1);
    }
    base16_encode_update(out, sizeof id, (const uint8_t *)id);
    out[PE_REQUEST_ID_BYTES - 1] = '\0';
}
