/* SPDX-License-Identifier: MIT */
/* rendered.c - decided answers as bytes in memory, and coded. */
#include "http/answer/rendered.h"

#include <stdlib.h>

#include "base/memory.h"
#include "formats/stream.h"

pe_status pe_representation_measure(pe_representation *representation, pe_problem *why)
{
    pe_stream *stream;
    pe_status status =
        pe_stream_make(&representation->plan, &representation->rendering, &stream, why);
    if (status != PE_OK)
        return status;
    representation->length_max = pe_stream_length_max(stream);
    if (pe_stream_length(stream, &representation->length)) {
        representation->length_max = representation->length;
        representation->metadata.ranges = representation->resource->kind == PE_TABLE;
    } else {
        representation->length = UINT64_MAX;
    }
    pe_stream_free(stream);
    return PE_OK;
}

/* Read a stream to its end, which comes before `room` is used up. */
static pe_status read_all(pe_stream *stream, char *out, size_t room, size_t *bytes, pe_problem *why)
{
    pe_status status = PE_OK;
    *bytes = 0;
    for (size_t got = 1; got > 0 && status == PE_OK; *bytes += got)
        status = pe_stream_read(stream, out + *bytes, room - *bytes, &got, why);
    return status;
}

/* The answer or the part of it, in memory for all that it can be: what is not written to costs
 * nothing, and is given back. Huge pages only where all is written to: of one that is given back in
 * part, the system keeps the rest, too. */
static pe_status render(pe_stream *stream, size_t room, bool all, char **data, size_t *bytes,
                        pe_problem *why)
{
    char *out = malloc(room);
    if (out == NULL)
        return pe_fail_memory(why);
    if (all)
        pe_memory_use_huge_pages(out, room);
    const pe_status status = read_all(stream, out, room, bytes, why);
    if (status != PE_OK) {
        free(out);
        return status;
    }
    char *fitting = realloc(out, *bytes > 0 ? *bytes : 1);
    *data = fitting != NULL ? fitting : out; /* where giving back fails, the larger one will do */
    return PE_OK;
}

pe_status pe_representation_render(pe_representation *representation, const pe_range *range,
                                   char **data, size_t *bytes, pe_problem *why)
{
    pe_stream *stream;
    uint64_t most = representation->length_max;
    const bool known = representation->length != UINT64_MAX; /* of parts, it always is */
    pe_status status =
        pe_stream_make(&representation->plan, &representation->rendering, &stream, why);
    if (status != PE_OK)
        return status;
    if (range != NULL && range->kind == PE_RANGE_PART) {
        most = range->bytes;
        status = pe_stream_seek(stream, range->first, why);
        pe_stream_limit(stream, range->first + range->bytes);
    }
    if (status == PE_OK)
        status = render(stream, (size_t)most + 1, known, data, bytes, why);
    pe_stream_times(stream, &representation->compute, &representation->encode);
    pe_stream_free(stream);
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
    pe_buffer_str(key, in_blocks ? " in pieces\n" : "\n");
}

bool pe_representation_coded_tag(const pe_representation *representation, pe_coding coding,
                                 bool in_blocks, char out[PE_ETAG_BYTES])
{
    pe_buffer key = {0};
    pe_representation_key(representation, coding, in_blocks, &key);
    bool made = !key.failed && representation->resource->kind == PE_TABLE;
    if (made)
        pe_etag_make(key.data, key.bytes, out);
    pe_buffer_free(&key);
    return made;
}

pe_status pe_representation_set_coding(pe_representation *representation, pe_coding coding,
                                       bool in_blocks, pe_problem *why)
{
    representation->metadata.coding = pe_coding_name(coding);
    representation->metadata.ranges = false;
    if (*representation->metadata.etag != '\0' &&
        !pe_representation_coded_tag(representation, coding, in_blocks,
                                     representation->metadata.etag))
        return pe_fail_memory(why);
    return PE_OK;
}
