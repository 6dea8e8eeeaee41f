/* SPDX-License-Identifier: MIT */
/* representation.c - from a request to a decided answer, and to its bytes. */
#include "http/answer/representation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/negotiate.h"
#include "http/work/thread.h"

/*
 * Part of every ETag: raise it when the same request gets other bytes than before, so that nobody
 * keeps the old ones.
 */
#define OUTPUT_REVISION "1"

/* A Content-Location longer than this is left out: it would not fit a request of ours anyway. */
#define LOCATION_MAX 4096

static bool is_json(const char *media_type)
{
    return media_type == NULL || strcmp(media_type, "application/json") == 0;
}

static pe_status read_parameters(pe_numeric *numeric, const pe_wanted *wanted, pe_problem *why)
{
    const pe_read_limits *limits = &numeric->service->read_limits;
    if (wanted->body == NULL)
        return pe_ask_from_query(wanted->resource, wanted->query, wanted->query_bytes, limits,
                                 &numeric->ask, why);
    numeric->body = *wanted->body;
    *wanted->body = (pe_buffer){0};
    if (is_json(wanted->media_type)) {
        pe_status status = pe_ask_from_json(wanted->resource, pe_buffer_text(&numeric->body),
                                            numeric->body.bytes, limits, &numeric->ask, why);
        pe_buffer_free(&numeric->body);
        return status;
    }
    const pe_binary_body binary = {
        .media_type = wanted->media_type,
        .shape = wanted->shape,
        .dtype = wanted->dtype,
        .data = numeric->body.data,
        .bytes = numeric->body.bytes,
    };
    return pe_ask_from_binary(wanted->resource, wanted->query, wanted->query_bytes, &binary, limits,
                              &numeric->ask, why);
}

static pe_status ask(pe_numeric *numeric, const pe_wanted *wanted, pe_problem *why)
{
    const pe_status status = read_parameters(numeric, wanted, why);
    if (status != PE_OK || wanted->name_bytes == 0)
        return status;
    return pe_ask_name(&numeric->ask, wanted->name, wanted->name_bytes, why);
}

static void count_tensor(pe_numeric *numeric, const pe_tensor *tensor)
{
    numeric->elements += tensor->elements;
    numeric->work += (uint64_t)tensor->elements * tensor->work;
}

static pe_status choose_format(pe_numeric *numeric, const char *accept, pe_problem *why)
{
    const char *tensor = numeric->ask.tensor[0] != '\0' ? numeric->ask.tensor : NULL;
    numeric->rendering = (pe_rendering){
        .format = numeric->ask.format,
        .base64 = numeric->ask.base64,
        .tensor = tensor,
        .encoding = numeric->resource->encoding,
        .parameters = pe_buffer_text(&numeric->parameters),
    };
    if (numeric->rendering.format == NULL) {
        pe_status status =
            pe_format_negotiate(accept, &numeric->plan, tensor, &numeric->rendering.format, why);
        if (status != PE_OK)
            return status;
    }
    size_t chosen = 0;
    pe_status status = pe_format_check(&numeric->plan, &numeric->rendering, &chosen, why);
    if (status != PE_OK)
        return status;
    for (size_t t = 0; t < numeric->plan.n_tensors; t++)
        if (numeric->rendering.format->holds_many || t == chosen)
            count_tensor(numeric, &numeric->plan.tensors[t]);
    if (strcmp(numeric->rendering.format->name, "raw") == 0) {
        const pe_tensor *only = &numeric->plan.tensors[chosen];
        char *out = numeric->facts.shape;
        size_t used = 0;
        for (size_t d = 0; d < only->shape.ndim; d++)
            used += (size_t)snprintf(out + used, PE_SHAPE_TEXT_BYTES - used, "%s%zu",
                                     d > 0 ? "," : "", only->shape.dim[d]);
        numeric->facts.dtype = pe_dtype_name(only->dtype);
    }
    return PE_OK;
}

/* The canonical request decides everything: URL, cache key and tag. */
static pe_status identify(pe_numeric *numeric, pe_problem *why)
{
    const pe_resource *resource = numeric->resource;
    const pe_format *format = numeric->rendering.format;
    pe_buffer *key = &numeric->key;
    pe_ask_canonical_path(&numeric->ask, key);
    pe_buffer_str(key, "?");
    pe_ask_canonical_query(&numeric->ask, format, key);
    size_t location = key->bytes;
    pe_buffer_str(key, "\n");
    pe_buffer_str(key, format->media_type);
    pe_buffer_str(key, "\n" OUTPUT_REVISION "\n");
    pe_buffer_str(key, numeric->plan.version);
    if (key->failed)
        return pe_fail_memory(why);
    numeric->facts.media_type = format->media_type;
    numeric->facts.lasts = numeric->plan.version[0] == '\0';
    if (resource->kind == PE_TRANSFORM)
        return PE_OK;
    pe_etag_make(key->data, key->bytes, numeric->facts.etag);
    if (location < LOCATION_MAX) {
        char *copy = malloc(location + 1); /* strndup would look for an end that key has not */
        if (copy == NULL)
            return pe_fail_memory(why);
        memcpy(copy, key->data, location);
        copy[location] = '\0';
        numeric->facts.location = copy;
    }
    return PE_OK;
}

pe_status pe_numeric_ask(pe_service *service, const pe_wanted *wanted, pe_numeric **out,
                         pe_problem *why)
{
    pe_numeric *numeric = calloc(1, sizeof *numeric);
    if (numeric == NULL)
        return pe_fail_memory(why);
    numeric->service = service;
    numeric->resource = wanted->resource;
    pe_thread_computes(); /* a model's values are checked with MPFR */
    pe_status status = ask(numeric, wanted, why);
    if (status == PE_OK)
        *out = numeric;
    else
        pe_numeric_free(numeric);
    return status;
}

pe_status pe_numeric_plan(pe_numeric *numeric, const char *accept, pe_problem *why)
{
    pe_service *service = numeric->service;
    pe_thread_computes();
    pe_status status = numeric->resource->plan(&numeric->ask.values, service->tables,
                                               &service->limits, &numeric->plan, why);
    if (status != PE_OK) {
        pe_ask_locate(&numeric->ask, why);
        return status;
    }
    pe_values_json(&numeric->ask.values, &numeric->parameters);
    if (numeric->parameters.failed)
        return pe_fail_memory(why);
    status = choose_format(numeric, accept, why);
    return status == PE_OK ? identify(numeric, why) : status;
}

void pe_numeric_free(pe_numeric *numeric)
{
    if (numeric == NULL)
        return;
    pe_plan_free(&numeric->plan);
    pe_ask_free(&numeric->ask);
    pe_buffer_free(&numeric->body);
    pe_buffer_free(&numeric->parameters);
    pe_buffer_free(&numeric->key);
    free(numeric->facts.location);
    free(numeric);
}
