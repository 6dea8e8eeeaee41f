/* SPDX-License-Identifier: MIT */
/* representation.c - a resource as one request wants it: parameters read, planned, identified, and
 * its bytes. */
#include "http/answer/representation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "encodings/registry.h"
#include "formats/format.h"
#include "http/reply/coding.h"
#include "http/answer/pace.h"
#include "plan/price.h"

/*
 * Part of every ETag: raise it when the same request gets other bytes than before, so that nobody
 * keeps the old ones.
 */
#define OUTPUT_REVISION "5"

/* A Content-Location longer than this is left out: it would not fit a request of ours anyway. */
#define LOCATION_MAX 4096
static pe_status read_query(pe_representation *representation,
                            const pe_request_parameters *parameters, pe_problem *why)
{
    pe_read_limits limits = representation->service->read_limits;
    limits.keep_mistakes = true;
    if (parameters->body == NULL)
        return pe_query_parse(parameters->resource, parameters->binary.string, false, &limits,
                              &representation->query, why);
    representation->body = *parameters->body;
    *parameters->body = (pe_buffer){0};
    if (!parameters->json)
        return pe_query_binary_parse(parameters->resource, &parameters->binary, &limits,
                                     &representation->query, why);
    const pe_status status =
        pe_query_parse(parameters->resource, pe_buffer_slice(&representation->body), true, &limits,
                       &representation->query, why);
    pe_buffer_free(&representation->body);
    return status;
}

/* "rope-table-cos.npy", "learned-wpe.npy": the path behind the version, and the tensor where there
 * are several. Learned tables are named with letters, digits, '.', '_' and '-' only. */
static void name_file(pe_representation *representation, size_t chosen)
{
    const pe_format *format = representation->rendering.format;
    const bool one = !pe_format_holds(&representation->rendering, SIZE_MAX, chosen) &&
                     representation->plan.n_tensors > 1;
    char *out = representation->metadata.file_name;
    pe_buffer path = {0};
    size_t used = 0;
    if (format->holds_many ? format->is_text : strncmp(format->media_type, "image/", 6) == 0)
        return;
    pe_query_canonical_path(&representation->query, &path);
    for (size_t i = strlen("/v1/"); i < path.bytes && used < PE_FILE_NAME_BYTES / 2; i++)
        out[used++] = path.data[i] == '/' ? '-' : path.data[i];
    pe_buffer_free(&path);
    snprintf(out + used, PE_FILE_NAME_BYTES - used, "%s%s%s", one ? "-" : "",
             one ? representation->plan.tensors[chosen].name : "", format->extension);
}

static pe_status choose_format(pe_representation *representation, const char *accept,
                               pe_problem *why)
{
    representation->rendering = pe_query_rendering(&representation->query);
    const char *tensor = representation->rendering.tensor;
    if (representation->rendering.format == NULL) {
        PE_TRY(pe_format_negotiate(accept, &representation->plan, tensor,
                                   &representation->rendering.format, why));
    }
    /* Would Accept alone get anything but JSON? Then its location has to say format=json. */
    const pe_format *other = NULL;
    pe_problem none;
    if (representation->query.format == pe_formats[0])
        representation->query.names_json =
            pe_format_negotiate(accept, &representation->plan, tensor, &other, &none) != PE_OK ||
            other != pe_formats[0];
    size_t chosen = 0;
    PE_TRY(pe_query_figure_check(&representation->query, representation->rendering.format,
                                 representation->service->max_pixels, why));
    PE_TRY(pe_format_check(&representation->plan, &representation->rendering, &chosen, why));
    for (size_t t = 0; t < representation->plan.n_tensors; t++) {
        const pe_tensor *held = &representation->plan.tensors[t];
        if (pe_format_holds(&representation->rendering, t, chosen))
            representation->work = pe_price_plus(representation->work, pe_plan_tensor_work(held));
    }
    name_file(representation, chosen);
    if (representation->rendering.format->is_bare) {
        const pe_tensor *only = &representation->plan.tensors[chosen];
        pe_metadata *metadata = &representation->metadata;
        size_t used = 0;
        for (size_t d = 0; d < only->shape.ndim; d++)
            used += (size_t)snprintf(metadata->shape + used, PE_SHAPE_TEXT_BYTES - used, "%s%zu",
                                     d > 0 ? "," : "", only->shape.dim[d]);
        metadata->dtype = pe_dtype_name(only->dtype);
    }
    return PE_OK;
}

/* The canonical request, and what else decides the bytes. Returns where the request ends. */
static size_t write_key(const pe_representation *representation, pe_buffer *key)
{
    const pe_format *format = representation->rendering.format;
    key->bytes = 0;
    pe_query_canonical_path(&representation->query, key);
    pe_buffer_str(key, "?");
    pe_query_canonical_string(&representation->query, format, key);
    const size_t location = key->bytes;
    pe_buffer_format(key, "\n%s\n" OUTPUT_REVISION "\n%s", format->media_type,
                     representation->plan.version);
    if (format->tells_parameters) { /* and warnings */
        const pe_slice synonyms = pe_buffer_slice(&representation->query.synonyms);
        pe_buffer_add(key, synonyms.text, synonyms.bytes);
    }
    if (format->maker != NULL) {
        pe_buffer_str(key, "\n");
        format->maker(key);
    }
    return location;
}

/* The canonical request decides everything: URL, cache key and tag. A transform has none of them. A
 * URL that has to name JSON gets the bytes, and so the tag, of the one that has not. */
static pe_status identify(pe_representation *representation, pe_problem *why)
{
    const pe_resource *resource = representation->resource;
    pe_metadata *metadata = &representation->metadata;
    const bool names_json = representation->query.names_json;
    pe_buffer key = {0};
    metadata->media_type = representation->rendering.format->media_type;
    metadata->route = pe_registry_number(resource);
    metadata->lasts = representation->plan.version[0] == '\0';
    if (resource->kind == PE_TRANSFORM)
        return PE_OK;
    representation->query.names_json = false;
    size_t location = write_key(representation, &key);
    pe_etag_make(key.data, key.failed ? 0 : key.bytes, metadata->etag);
    representation->query.names_json = names_json;
    if (names_json)
        location = write_key(representation, &key);
    if (!key.failed && location < LOCATION_MAX) {
        key.bytes = location;
        metadata->location = pe_buffer_take(&key);
        return metadata->location != NULL ? PE_OK : pe_fail_memory(why);
    }
    const bool failed = key.failed;
    pe_buffer_free(&key);
    return failed ? pe_fail_memory(why) : PE_OK;
}

pe_status pe_representation_make(pe_service *service, const pe_request_parameters *parameters,
                                 pe_representation **out, pe_problem *why)
{
    pe_representation *representation = *out = calloc(1, sizeof *representation);
    if (representation == NULL)
        return pe_fail_memory(why);
    representation->service = service;
    representation->resource = parameters->resource;
    PE_TRY(read_query(representation, parameters, why));
    return parameters->name.bytes > 0
               ? pe_query_set_name(&representation->query, parameters->name, why)
               : PE_OK;
}

pe_status pe_representation_plan(pe_representation *representation, const char *accept,
                                 pe_problem *why)
{
    pe_service *service = representation->service;
    PE_TRY(pe_query_plan(&representation->query, service->tables, &service->limits,
                         &representation->plan, why));
    representation->planned = true;
    PE_TRY(choose_format(representation, accept, why));
    /* What holds all tensors holds the parameters, too: for others the text of millions of
     * positions is not written, and what JSON carries in "warnings" they have no place for. */
    const pe_plan *plan = &representation->plan;
    const bool tells = representation->rendering.format->tells_parameters;
    if (tells)
        pe_values_json(&representation->query.values, &representation->parameters);
    for (size_t w = 0; w < plan->n_warnings && !tells && service->logs_warnings; w++)
        PE_LOG(PE_LOG_WARN, "table_warning", PE_TEXT("detail", plan->warnings[w]));
    representation->rendering.parameters = pe_buffer_text(&representation->parameters);
    if (representation->parameters.failed)
        return pe_fail_memory(why);
    PE_TRY(identify(representation, why));
    /* How long the bytes will be, and whether parts of them may be asked for. */
    PE_TRY(pe_stream_make(&representation->plan, &representation->rendering,
                          &representation->stream, why));
    const pe_stream_facts *facts = pe_stream_facts_of(representation->stream);
    if (facts->reduced_work > 0)
        representation->work = facts->reduced_work;
    representation->work = pe_price_plus(representation->work, facts->text_work);
    representation->length = facts->length;
    representation->length_max = facts->length_max;
    representation->length_usual = facts->length_usual;
    representation->in_pieces =
        representation->work > PE_WHOLE_WORK ||
        (representation->length_max > PE_WHOLE_BYTES && !pe_stream_reduces(representation->stream));
    representation->metadata.ranges =
        facts->length != UINT64_MAX && representation->resource->kind == PE_TABLE;
    return PE_OK;
}

void pe_representation_free(pe_representation *representation)
{
    if (representation == NULL)
        return;
    pe_stream_free(representation->stream);
    pe_plan_free(&representation->plan);
    pe_query_free(&representation->query);
    pe_buffer_free(&representation->body);
    pe_buffer_free(&representation->parameters);
    free(representation->metadata.location);
    free(representation);
}

/* ---- its bytes ---- */

/* Bytes that are made before others may have their turn. */
#define AT_ONCE_BYTES ((size_t)65536)

/* A stream that was used is made again: there was no memory for all of its bytes. */
pe_status pe_representation_seek(pe_representation *representation, const pe_range *range,
                                 pe_problem *why)
{
    if (representation->stream == NULL)
        PE_TRY(pe_stream_make(&representation->plan, &representation->rendering,
                              &representation->stream, why));
    if (range == NULL || range->kind != PE_RANGE_PART)
        return PE_OK;
    const pe_status status = pe_stream_seek(representation->stream, range->first, why);
    pe_stream_limit(representation->stream, range->first + range->bytes);
    return status;
}

/* All bytes of a stream, of which there are fewer than `room`: what is not written to costs nothing,
 * and is given back. Huge pages only where all is written to: of one that is given back in part, the
 * system keeps the rest, too. */
static pe_status read_all(pe_stream *stream, size_t room, bool all, pe_buffer *out, pe_problem *why)
{
    const size_t text = pe_stream_facts_of(stream)->room;
    const size_t some = text > AT_ONCE_BYTES ? text : AT_ONCE_BYTES;
    pe_status status = PE_OK;
    out->data = malloc(room);
    if (out->data == NULL)
        return pe_fail_memory(why);
    if (all)
        pe_memory_use_huge_pages(out->data, room);
    for (size_t got = 1; (got > 0 || pe_stream_reduces(stream)) && status == PE_OK;) {
        const size_t left = room - out->bytes;
        status =
            pe_stream_read(stream, out->data + out->bytes, left < some ? left : some, &got, why);
        out->bytes += got;
    }
    return status;
}

pe_status pe_representation_render(pe_representation *representation, const pe_range *range,
                                   pe_coding coding, pe_buffer *out, pe_metadata *metadata,
                                   pe_problem *why)
{
    const bool part = range != NULL && range->kind == PE_RANGE_PART;
    const bool known = representation->length != UINT64_MAX; /* of parts, it always is */
    const bool in_pieces = representation->in_pieces && coding != PE_CODING_IDENTITY;
    const uint64_t most = part ? range->bytes : representation->length_max;
    uint64_t all = UINT64_MAX;
    pe_buffer coded = {0};
    *out = (pe_buffer){0};
    PE_TRY(pe_representation_seek(representation, range, why));
    pe_stream *stream = representation->stream;
    pe_status status = in_pieces ? pe_coder_apply(coding, stream, &all, &coded, why)
                                 : read_all(stream, (size_t)most + 1, known, out, why);
    pe_stream_times(stream, &representation->compute, &representation->encode);
    pe_stream_free(stream);
    representation->stream = NULL;
    if (status == PE_OK && !in_pieces)
        status = pe_coding_apply(coding, out->data, out->bytes, &coded, why);
    if (status == PE_OK && coded.data != NULL) {
        pe_buffer_free(out);
        *out = coded;
        coded = (pe_buffer){0};
        pe_representation_set_coding(representation, coding, metadata);
    }
    pe_buffer_free(&coded);
    if (status == PE_OK)
        pe_buffer_fit(out);
    else
        pe_buffer_free(out);
    return status;
}

/* ---- coded ---- */

/* The library's version belongs to it, and how it is used: another may code the same content
 * otherwise, and a strong tag is of bytes. */
size_t pe_representation_key(const pe_representation *representation, pe_coding coding,
                             char out[PE_REPRESENTATION_KEY_BYTES])
{
    const bool coded = coding != PE_CODING_IDENTITY;
    const char *etag = representation->metadata.etag;
    if (*etag == '\0')
        return 0;
    return (size_t)snprintf(out, PE_REPRESENTATION_KEY_BYTES, "%s%s%.40s%s%s", etag,
                            coded ? pe_coding_name(coding) : "", pe_coding_maker(coding),
                            coded && representation->in_pieces ? " in pieces" : "",
                            representation->query.names_json ? " named" : "");
}

void pe_representation_set_coding(const pe_representation *representation, pe_coding coding,
                                  pe_metadata *metadata)
{
    char key[PE_REPRESENTATION_KEY_BYTES];
    const size_t bytes = pe_representation_key(representation, coding, key);
    metadata->coding = pe_coding_name(coding);
    metadata->ranges = false;
    if (bytes > 0)
        pe_etag_make(key, bytes, metadata->etag);
}
