/* SPDX-License-Identifier: MIT */
/* admission.c - whose request is it, and may it be served now? */
#include "http/request/admission.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "http/clients/clients.h"
#include "http/clients/keys.h"
#include "http/connection/client_address.h"

/* ---- names ---- */

pe_client_id pe_admission_id(const pe_settings *settings, const pe_client_address *address)
{
    pe_client_id id = {0};
    const size_t bits = IN6_IS_ADDR_V4MAPPED(&address->bytes) ? 128 : (size_t)settings->ipv6_prefix;
    memcpy(id.bytes, address->bytes.s6_addr, bits / 8);
    if (bits % 8 != 0)
        id.bytes[bits / 8] = (uint8_t)(address->bytes.s6_addr[bits / 8] & 0xff00 >> bits % 8);
    return id;
}

/* ---- by address ---- */

static enum MHD_Result collect(void *context, enum MHD_ValueKind kind PE_UNUSED, const char *name,
                               const char *value)
{
    pe_buffer *list = context;
    if (strcasecmp(name, "X-Forwarded-For") == 0 && value != NULL) {
        pe_buffer_str(list, ",");
        pe_buffer_str(list, value);
    }
    return MHD_YES;
}

pe_client_address pe_admission_client(const pe_request *request)
{
    const pe_settings *settings = request->service->settings;
    pe_client_address peer = pe_client_address_of_peer(request->connection);
    if (settings->trusted_proxies.n == 0)
        return peer;
    if (request->proxy->known)
        peer = request->proxy->client;
    pe_buffer list = {0};
    MHD_get_connection_values(request->connection, MHD_HEADER_KIND, collect, &list);
    const pe_client_address client =
        pe_client_address_unwind(settings, pe_buffer_text(&list), peer);
    pe_buffer_free(&list);
    return client;
}

/* The connection's own client, but where others stand behind it. */
pe_client *pe_admission_address(pe_request *request)
{
    pe_service *service = request->service;
    if (request->client.address == NULL) {
        const pe_client_address address = pe_admission_client(request);
        const pe_client_id id = pe_admission_id(service->settings, &address);
        request->client.address = pe_clients_hold(service->clients, &id, false);
        request->client.held = true;
    }
    return request->client.address;
}

pe_client_queues *pe_admission_queues(pe_request *request)
{
    pe_client *keyed = request->client.keyed;
    return keyed != NULL ? &keyed->queues : &pe_admission_address(request)->queues;
}

/* ---- by key ---- */

/* By its key. The hash is of random bits, so any part of it will do for a name; and a key that is
 * made anew begins anew. */
static pe_status identify(pe_request *request, pe_problem *why)
{
    static const char scheme[] = "Bearer ";
    const char *field = request->header[PE_HEADER_AUTHORIZATION];
    pe_slice text = {"", 0};
    if (field != NULL && strncasecmp(field, scheme, sizeof scheme - 1) == 0)
        text = pe_slice_of(field + strspn(field + sizeof scheme - 1, " ") + sizeof scheme - 1);
    const bool sent = text.bytes > 0;
    const pe_key *key = sent ? pe_keys_find(request->client.keys, text) : NULL;
    pe_client_id id = {.keyed = 1};
    /* The library's memory, which may be written; nothing reads the field again. */
    explicit_bzero((char *)(uintptr_t)text.text, text.bytes);
    if (key == NULL) {
        (void)pe_fail(why, PE_UNAUTHORIZED, "", "%s",
                      sent ? "the key in Authorization is not a valid one"
                           : "the request must have a field Authorization: Bearer KEY");
        snprintf(why->allow, sizeof why->allow, "Bearer realm=\"posenc\"%s",
                 sent ? ", error=\"invalid_token\"" : "");
        return PE_UNAUTHORIZED;
    }
    request->client.key = key;
    if (key->disabled)
        return pe_fail(why, PE_FORBIDDEN, "", "the key %s is disabled", key->name);
    memcpy(id.bytes, key->hash, sizeof id.bytes);
    request->client.keyed = pe_clients_hold(request->service->clients, &id, false);
    return PE_OK;
}

/* ---- rates ---- */

/* One limit that a request is held to. */
typedef struct limit {
    pe_token_bucket *bucket;
    pe_rate rate;
    bool keyed;
} limit;

#define LIMITS 2

/* Those of the key and of the address, in requests or in work. Returns how many there are. */
static size_t limits_of(pe_request *request, bool work, limit out[LIMITS])
{
    const pe_settings *settings = request->service->settings;
    const int64_t window = settings->rate_window_s * PE_NANOSECONDS_PER_SECOND;
    const int64_t by_address = work ? settings->address_work_rate : settings->address_rate;
    const pe_key *key = request->client.key;
    const uint64_t by_key = key == NULL ? 0 : work ? key->work_rate : key->rate;
    const uint64_t rates[LIMITS] = {by_key, (uint64_t)by_address};
    size_t n = 0;
    for (size_t i = 0; i < LIMITS; i++) {
        if (rates[i] == 0)
            continue;
        pe_client *client = i == 0 ? request->client.keyed : pe_admission_address(request);
        out[n++] =
            (limit){work ? &client->work : &client->requests, {rates[i], window}, .keyed = i == 0};
    }
    return n;
}

static uint64_t seconds_of(int64_t nanoseconds)
{
    const uint64_t seconds =
        ((uint64_t)nanoseconds + PE_NANOSECONDS_PER_SECOND - 1) / PE_NANOSECONDS_PER_SECOND;
    return seconds > 0 ? seconds : 1;
}

/* Take tokens of all limits, or of none. */
static pe_status take(pe_request *request, bool work, uint64_t tokens, pe_problem *why)
{
    limit limits[LIMITS];
    const size_t n = limits_of(request, work, limits);
    const int64_t now = n > 0 ? pe_clock() : 0;
    for (size_t i = 0; i < n; i++) {
        int64_t wait;
        if (pe_token_bucket_take(limits[i].bucket, &limits[i].rate, tokens, now, &wait))
            continue;
        for (size_t taken = 0; taken < i; taken++)
            pe_token_bucket_settle(limits[taken].bucket, &limits[taken].rate, -(int64_t)tokens);
        const uint64_t seconds = seconds_of(wait);
        (void)pe_fail(why, PE_RATE_LIMITED, "",
                      "%llu %s a second are allowed; try again in %llu seconds",
                      (unsigned long long)limits[i].rate.per_second,
                      work ? "units of work" : "requests", (unsigned long long)seconds);
        why->retry_after = seconds;
        return PE_RATE_LIMITED;
    }
    return PE_OK;
}

pe_status pe_admission_check(pe_request *request, pe_problem *why)
{
    pe_service *service = request->service;
    pthread_mutex_lock(&service->reloaded.lock);
    request->client.keys = pe_keys_ref(service->reloaded.keys);
    pthread_mutex_unlock(&service->reloaded.lock);
    if (request->client.keys != NULL && identify(request, why) != PE_OK)
        return why->status;
    request->client.limited = true;
    return take(request, false, 1, why);
}

/* A number of a header field has fifteen digits at most (RFC 9651, 3.3.1). */
static uint64_t shown(uint64_t number)
{
    const uint64_t most = UINT64_C(999999999999999);
    return number < most ? number : most;
}

void pe_admission_write_limits(pe_request *request, pe_buffer *policy, pe_buffer *left)
{
    static const char *const names[2][2] = {{"requests", "work"}, {"key-requests", "key-work"}};
    limit limits[LIMITS];
    for (int work = 0; request->client.limited && work < 2; work++) {
        const size_t n = limits_of(request, work == 1, limits);
        for (const limit *one = limits; one < limits + n; one++) {
            const int64_t now = pe_clock();
            const pe_tokens tokens = pe_token_bucket_look(one->bucket, &one->rate, now);
            const char *name = names[one->keyed][work], *comma = policy->bytes > 0 ? ", " : "";
            pe_buffer_format(policy, "%s\"%s\";q=%" PRIu64 ";qu=\"%s\";w=%" PRIu64, comma, name,
                             shown(tokens.quota), names[0][work], seconds_of(one->rate.window));
            pe_buffer_format(left, "%s\"%s\";r=%" PRIu64, comma, name, shown(tokens.left));
            if (tokens.wait > 0)
                pe_buffer_format(left, ";t=%" PRIu64, shown(seconds_of(tokens.wait)));
        }
    }
}

/* ---- work ---- */

pe_status pe_admission_charge(pe_request *request, uint64_t work, pe_problem *why)
{
    const uint64_t units = work < INT64_MAX ? work : INT64_MAX;
    if (!request->guarded || request->watch->place == PE_PLACE_OPERATOR)
        return PE_OK;
    PE_TRY(take(request, true, units, why));
    request->client.charged += units;
    return PE_OK;
}

/* Work that is little may take so long at least: others may have the core's caches. */
#define TIME_MIN (20 * (uint64_t)PE_NANOSECONDS_PER_MS)

void pe_admission_allow(pe_request *request)
{
    const uint64_t most = (uint64_t)request->service->settings->unit_ns_max;
    const uint64_t time = pe_price_times(pe_request_price(request), most);
    const uint64_t allowed = time < INT64_MAX ? time : INT64_MAX;
    request->meter.nanoseconds_max =
        most == 0 ? 0 : (int64_t)(allowed > TIME_MIN ? allowed : TIME_MIN);
}

void pe_admission_spend(pe_request *request, uint64_t work)
{
    pe_count_add(&request->service->counters.work, work);
    request->client.spent += work;
}

pe_status pe_admission_take(pe_request *request, uint64_t work, pe_problem *why)
{
    pe_status status = pe_price_check(work, request->service->limits.max_work, why);
    if (status == PE_OK)
        status = pe_admission_charge(request, work, why);
    PE_TRY(status);
    request->price = (pe_price){.computing = work};
    pe_admission_allow(request);
    pe_admission_spend(request, work);
    return PE_OK;
}

void pe_admission_pause(pe_request *request)
{
    pe_counters *counters = &request->service->counters;
    pe_meter_end();
    if (request->meter.overran)
        pe_service_count(&counters->overruns);
    request->meter.overran = false;
    int_fast64_t longest = atomic_load(&counters->longest);
    while (longest < request->meter.longest &&
           !atomic_compare_exchange_weak(&counters->longest, &longest, request->meter.longest))
        ;
}

/* Settled is what was taken where that is more than the price of what was made. */
void pe_admission_end(pe_request *request)
{
    limit limits[LIMITS];
    pe_clients *clients = request->service->clients;
    const uint64_t price = request->client.spent - request->client.unspent;
    const uint64_t taken = pe_meter_spent(&request->meter);
    const int64_t missing = (int64_t)((price > taken ? price : taken) - request->client.charged);
    const size_t n = missing != 0 && request->guarded ? limits_of(request, true, limits) : 0;
    for (size_t i = 0; i < n; i++)
        pe_token_bucket_settle(limits[i].bucket, &limits[i].rate, missing);
    pe_clients_release(clients, request->client.keyed, false);
    if (request->client.held)
        pe_clients_release(clients, request->client.address, false);
    pe_keys_unref(request->client.keys);
}
