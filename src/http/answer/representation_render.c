/* SPDX-License-Identifier: MIT */
/* representation_render.c - planned representations as bytes in memory, and coded. */
#include "http/answer/representation_render.h"

#include <stdlib.h>

#include "base/memory.h"
#include "http/answer/pace.h"

/* Bytes that are made before others may have their turn. */
#define AT_ONCE_BYTES ((size_t)65536)

/* ---- bytes ---- */

/* A stream that was used is made again: the cache has the plain bytes, but no room for coded
 * ones. */
static pe_status have_stream(pe_representation *representation, pe_problem *why)
{
    if (representation->stream != NULL)
        return PE_OK;
    return pe_stream_make(&representation->plan, &representation->rendering,
                          &representation->stream, why);
}

pe_status pe_representation_seek(pe_representation *representation, const pe_range *range,
                                 pe_problem *why)
{
    pe_status status = have_stream(representation, why);
    if (status != PE_OK || range == NULL || range->kind != PE_RANGE_PART)
        return status;
    status = pe_stream_seek(representation->stream, range->first, why);
    pe_stream_limit(representation->stream, range->first + range->bytes);
    return status;
}

/* Read a stream to its end, which comes before `room` is used up. */
static pe_status read_all(pe_stream *stream, size_t room, pe_buffer *out, pe_problem *why)
{
    const size_t text = pe_stream_room(stream);
    const size_t some = text > AT_ONCE_BYTES ? text : AT_ONCE_BYTES;
    pe_status status = PE_OK;
    for (size_t got = 1; (got > 0 || pe_stream_reduces(stream)) && status == PE_OK;) {
        const size_t left = room - out->bytes;
        status =
            pe_stream_read(stream, out->data + out->bytes, left < some ? left : some, &got, why);
        out->bytes += got;
    }
    return status;
}

/* The bytes in memory for all that they can be: what is not written to costs nothing, and is given
 * back. Huge pages only where all is written to: of one that is given back in part, the system
 * keeps the rest, too. */
static pe_status read_into_memory(pe_stream *stream, size_t room, bool all, pe_buffer *out,
                                  pe_problem *why)
{
    out->data = malloc(room);
    if (out->data == NULL)
        return pe_fail_memory(why);
    if (all)
        pe_memory_use_huge_pages(out->data, room);
    const pe_status status = read_all(stream, room, out, why);
    if (status != PE_OK) {
        pe_buffer_free(out);
        return status;
    }
    char *fitting = realloc(out->data, out->bytes > 0 ? out->bytes : 1);
    if (fitting != NULL) /* where giving back fails, the larger one will do */
        out->data = fitting;
    out->capacity = out->bytes;
    return PE_OK;
}

pe_status pe_representation_render(pe_representation *representation, const pe_range *range,
                                   pe_buffer *out, pe_problem *why)
{
    const bool part = range != NULL && range->kind == PE_RANGE_PART;
    const bool known = representation->length != UINT64_MAX; /* of parts, it always is */
    const uint64_t most = part ? range->bytes : representation->length_max;
    pe_status status = pe_representation_seek(representation, range, why);
    if (status != PE_OK)
        return status;
    status = read_into_memory(representation->stream, (size_t)most + 1, known, out, why);
    pe_stream_times(representation->stream, &representation->compute, &representation->encode);
    pe_stream_free(representation->stream);
    representation->stream = NULL;
    return status;
}

/* ---- coded ---- */

/* The library's version belongs to it, and how it is used: another may code the same content
 * otherwise, and a strong tag is of bytes. */
void pe_representation_key(const pe_representation *representation, pe_coding coding,
                           bool in_blocks, pe_buffer *key)
{
    pe_buffer_add(key, representation->key.data, representation->key.bytes);
    if (coding == PE_CODING_IDENTITY)
        return;
    pe_buffer_str(key, pe_coding_name(coding));
    pe_buffer_str(key, " ");
    pe_buffer_str(key, pe_coding_maker(coding));
    pe_buffer_str(key, !in_blocks                  ? "\n"
                       : representation->expensive ? " in equal pieces\n"
                                                   : " in pieces\n");
}

bool pe_representation_coded_tag(const pe_representation *representation, pe_coding coding,
                                 bool in_blocks, char out[PE_ETAG_BYTES])
{
    pe_buffer key = {0};
    pe_representation_key(representation, coding, in_blocks, &key);
    const bool made = !key.failed && representation->resource->kind == PE_TABLE;
    if (made)
        pe_etag_make(key.data, key.bytes, out);
    pe_buffer_free(&key);
    return made;
}

pe_status pe_representation_set_coding(pe_representation *representation, pe_coding coding,
                                       bool in_blocks, pe_problem *why)
{
    pe_metadata *metadata = &representation->metadata;
    metadata->coding = pe_coding_name(coding);
    metadata->ranges = false;
    if (*metadata->etag != '\0' &&
        !pe_representation_coded_tag(representation, coding, in_blocks, metadata->etag))
        return pe_fail_memory(why);
    return PE_OK;
}
