/* SPDX-License-Identifier: MIT */
/* body.c - the body of a request while it arrives: kept within bounds, or drained. */
#include "http/request/body.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "http/clients/clients.h"
#include "http/request/admission.h"

/* A body is drained up to this many times the largest one. */
#define DRAINED_MAX 2

/* What is small, and the part of the room for bodies that is kept for such. */
#define SMALL_BYTES 65536
#define SMALL_SHARE 8

static pe_status too_large(const pe_request *request, pe_problem *why)
{
    return pe_fail(why, PE_BODY_TOO_LARGE, "", "the body must be at most %llu bytes long",
                   (unsigned long long)request->body_max);
}

/* What is dropped of a body, where its route does not take more. */
static uint64_t most_of(const pe_request *request)
{
    const uint64_t most = (uint64_t)request->service->settings->max_body_bytes;
    return request->body_max > most ? request->body_max : most;
}

pe_status pe_body_check_declared(const pe_request *request, pe_problem *why)
{
    const char *length = request->header[PE_HEADER_CONTENT_LENGTH];
    if (length == NULL || strtoull(length, NULL, 10) <= most_of(request)) /* saturates */
        return PE_OK;
    return too_large(request, why);
}

static bool takes_more(const pe_request *request)
{
    return request->body_max > (uint64_t)request->service->settings->max_body_bytes;
}

static void give_back(pe_request *request, size_t bytes)
{
    if (bytes == 0)
        return;
    atomic_fetch_sub(&request->service->body_bytes, bytes);
    atomic_fetch_sub(&request->service->large_body_bytes, takes_more(request) ? bytes : 0);
    atomic_fetch_sub(&request->client.address->body_bytes, bytes);
    request->body_reserved -= bytes;
}

void pe_body_release(pe_request *request)
{
    pe_buffer_free(&request->body);
    give_back(request, request->body_reserved);
}

void pe_body_forget(pe_request *request, size_t at, size_t bytes)
{
    pe_buffer *body = &request->body;
    if (bytes == 0)
        return;
    memmove(body->data + at, body->data + at + bytes, body->bytes - at - bytes);
    body->bytes -= bytes;
    give_back(request, bytes);
}

/* Count bytes among those that all requests hold, and those of this address; false when there would
 * be too many. Large bodies leave room for small ones, and routes that take larger ones leave all
 * of it to the others: theirs have half of the memory. */
static bool reserve(pe_request *request, size_t bytes)
{
    /* Of one address; a body of the largest size finds room whatever the setting is. */
    const uint64_t one = most_of(request);
    const uint64_t by_address = (uint64_t)request->service->settings->body_bytes_per_address;
    const size_t own_max =
        by_address == 0 ? SIZE_MAX : (size_t)(by_address > one ? by_address : one);
    pe_service *service = request->service;
    pe_client *client = pe_admission_address(request);
    const bool large = takes_more(request);
    const size_t half = (size_t)service->settings->memory_max / 2;
    const size_t most = large ? half : service->body_bytes_max;
    request->body_reserved += bytes;
    const size_t kept = request->body_reserved <= SMALL_BYTES ? 0 : most / SMALL_SHARE;
    const size_t all = atomic_fetch_add(&service->body_bytes, bytes) + bytes;
    const size_t own = atomic_fetch_add(&client->body_bytes, bytes) + bytes;
    const size_t larger = atomic_fetch_add(&service->large_body_bytes, large ? bytes : 0);
    const size_t held = large ? larger + bytes : all > larger ? all - larger : 0;
    return held <= most - kept && own <= own_max;
}

void pe_body_refuse(pe_request *request, pe_status reason)
{
    request->keeps_body = false;
    request->body_refused = reason;
    pe_body_release(request);
}

/*
 * Keep a part of the body; false where memory is short. Once a large one is under way, there is
 * room for all that was declared, unless it is used in parts: nothing is copied again, and whoever
 * declares much and sends little holds little.
 */
static bool keep(pe_request *request, const char *upload, size_t bytes)
{
    pe_buffer *body = &request->body;
    const char *length = request->header[PE_HEADER_CONTENT_LENGTH];
    const bool full = body->capacity - body->bytes < bytes;
    if (full && length != NULL && body->bytes >= PE_MEMORY_LARGE && request->part_at == 0)
        (void)pe_buffer_reserve(body, strtoull(length, NULL, 10) - body->bytes);
    pe_buffer_add(body, upload, bytes);
    return !body->failed;
}

pe_status pe_body_receive(pe_request *request, const char *upload, size_t bytes, pe_problem *why)
{
    request->body_arrived += bytes;
    if (request->body_arrived > DRAINED_MAX * most_of(request))
        return too_large(request, why);
    if (!request->keeps_body)
        return PE_OK;
    if (request->body_arrived > request->body_max)
        pe_body_refuse(request, PE_BODY_TOO_LARGE);
    else if (!reserve(request, bytes) || !keep(request, upload, bytes))
        pe_body_refuse(request, PE_OVERLOADED);
    return PE_OK;
}

pe_status pe_body_check(const pe_request *request, pe_problem *why)
{
    if (request->body_refused == PE_BODY_TOO_LARGE)
        return too_large(request, why);
    if (request->body_refused == PE_OVERLOADED)
        return pe_fail(why, PE_OVERLOADED, "", "too many bodies are arriving at once");
    return PE_OK;
}
