/* SPDX-License-Identifier: MIT */
/* tally.c - requests that have ended, counted by route, method and status. */
#include "http/request/tally.h"

#include <stdlib.h>

#include "base/array.h"

#define US(n) ((int64_t)(n)*1000)
#define MS(n) US((n)*1000)

const int64_t pe_histogram_bounds[PE_HISTOGRAM_BOUNDS] = {
    US(50), US(100), US(250), US(500), MS(1),    US(2500), MS(5),    MS(10),   MS(25),
    MS(50), MS(100), MS(250), MS(500), MS(1000), MS(2500), MS(5000), MS(10000)};

/* Threads beyond so many share cells, which costs time and nothing else. */
#define CELLS 8

/* pe_method is a bit or 0. */
#define METHODS (PE_METHOD_OPTIONS + 1)

/* Of one thread; as long as some lines of memory. */
typedef struct cell {
    pe_histogram took;
    atomic_uint_fast64_t sent, received;
    char apart[256 - sizeof(pe_histogram) - 2 * sizeof(atomic_uint_fast64_t)];
} cell;

typedef struct series {
    cell cell[CELLS];
} series;

struct pe_tally {
    unsigned routes;
    _Atomic(series *) series[]; /* by route, method, status; NULL: nothing counted */
};

/* The statuses that have series of their own; others count as the first. */
static const unsigned statuses[] = {0,   200, 204, 206, 304, 400, 401, 403, 404, 405, 406, 408, 411,
                                    413, 414, 415, 416, 417, 422, 429, 431, 500, 501, 503, 505};
enum { STATUSES = PE_LEN(statuses) };

/* ---- begin and end ---- */

static size_t slots(unsigned routes)
{
    return (size_t)routes * METHODS * STATUSES;
}

pe_status pe_tally_make(unsigned routes, pe_tally **out, pe_problem *why)
{
    *out = calloc(1, sizeof **out + slots(routes) * sizeof(*out)->series[0]);
    if (*out == NULL)
        return pe_fail_memory(why);
    (*out)->routes = routes;
    return PE_OK;
}

void pe_tally_free(pe_tally *tally)
{
    if (tally == NULL)
        return;
    for (size_t i = 0; i < slots(tally->routes); i++)
        free(atomic_load(&tally->series[i]));
    free(tally);
}

/* ---- counting ---- */

void pe_tally_request(pe_tally *tally, const pe_request *request, unsigned status, int64_t now)
{
    static atomic_uint threads;
    static _Thread_local unsigned of_thread; /* one more than the number of its cell; 0: none yet */
    const unsigned route = request->route_number < tally->routes ? request->route_number : 0;
    unsigned s = 1; /* most are 200 */
    while (s < STATUSES && statuses[s] != status)
        s++;
    _Atomic(series *) *at =
        &tally->series[(route * METHODS + request->method) * STATUSES + s % STATUSES];
    series *all = atomic_load_explicit(at, memory_order_acquire);
    if (all == NULL) { /* several threads may make it at once; one publishes its own */
        series *made = calloc(1, sizeof *made);
        if (made == NULL)
            return;
        if (atomic_compare_exchange_strong(at, &all, made))
            all = made;
        else
            free(made);
    }
    if (of_thread == 0)
        of_thread = 1 + atomic_fetch_add(&threads, 1) % CELLS;
    cell *mine = &all->cell[of_thread - 1];
    pe_histogram_add(&mine->took, now - request->started);
    const uint64_t sent =
        request->reply_bytes != UINT64_MAX ? request->reply_bytes : request->bytes_streamed;
    if (request->method != PE_METHOD_HEAD)
        pe_count_add(&mine->sent, sent);
    if (request->body_arrived > 0)
        pe_count_add(&mine->received, request->body_arrived);
}

/* ---- reading ---- */

bool pe_tally_next(const pe_tally *tally, size_t *at, pe_tally_sum *out)
{
    const series *all = NULL;
    const size_t n = slots(tally->routes);
    while (*at < n && all == NULL)
        all = atomic_load_explicit(&tally->series[(*at)++], memory_order_acquire);
    const size_t slot = *at - 1;
    *out = (pe_tally_sum){.route = (unsigned)(slot / STATUSES / METHODS),
                          .method = (pe_method)(slot / STATUSES % METHODS),
                          .status = statuses[slot % STATUSES]};
    for (size_t c = 0; all != NULL && c < CELLS; c++) {
        const cell *one = &all->cell[c];
        for (size_t b = 0; b < PE_LEN(out->bucket); b++) {
            const uint64_t requests = pe_count_of(&one->took.bucket[b]);
            out->bucket[b] += requests;
            out->requests += requests;
        }
        out->nanoseconds += pe_count_of(&one->took.nanoseconds);
        out->sent += pe_count_of(&one->sent);
        out->received += pe_count_of(&one->received);
    }
    return all != NULL;
}
