/* SPDX-License-Identifier: MIT */
/* request.c - one request: what has arrived, how far it is, and the reply that was decided. */
#include "http/request/request.h"

#include <nettle/base16.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "http/connection/progress.h"

const struct pe_method_name pe_method_names[] = {{PE_METHOD_GET, "GET"},
                                                 {PE_METHOD_HEAD, "HEAD"},
                                                 {PE_METHOD_POST, "POST"},
                                                 {PE_METHOD_OPTIONS, "OPTIONS"},
                                                 {0}};

/* ---- its id ---- */

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

/* ---- how far it is ---- */

/* A client that has ended its side is sent something each time. */
#define LOOK_EVERY (PE_NANOSECONDS_PER_SECOND / 4)

const char *pe_request_id(pe_request *request)
{
    if (request->id == NULL) {
        pe_request_id_make(request->id_made);
        request->id = request->id_made;
    }
    return request->id;
}

pe_outcome pe_request_defer(pe_request *request, pe_job_kind kind, pe_step *step)
{
    request->next.step = step;
    request->next.kind = kind;
    return PE_DEFERRED;
}

bool pe_request_has_turn(const pe_request *request, pe_job_kind kind)
{
    return request->stage == PE_STAGE_WORKING &&
           (request->next.kind == kind || request->next.kind == PE_JOB_HEAVY);
}

void pe_request_set_label(pe_request *request)
{
    pe_watchdog_label(request->service->watchdog, request->watch, request->method_text,
                      request->target, request->started);
}

bool pe_request_is_left(void *context)
{
    pe_request *request = context;
    const int64_t now = pe_clock();
    if (now - request->looked_at < LOOK_EVERY)
        return false;
    request->looked_at = now;
    const bool interim = request->takes_interim && request->watch->tls == NULL;
    if (pe_client_alive(request->watch->socket, interim))
        return false;
    pe_service_count(&request->service->counters.abandoned);
    return true;
}

uint64_t pe_request_price(const pe_request *request)
{
    const uint64_t price = pe_price_sum(&request->price);
    return price > request->body.bytes ? price : request->body.bytes;
}
