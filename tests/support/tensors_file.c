/* SPDX-License-Identifier: MIT */
/* tensors_file.c - a safetensors file of a few tensors. */
#include "support/tensors_file.h"

#include <stdint.h>
#include <string.h>

void parts_safetensors(const part *parts, size_t n, pe_buffer *out)
{
    pe_buffer header = {0};
    size_t at = 0;
    pe_buffer_str(&header, "{");
    for (size_t p = 0; p < n; p++) {
        pe_buffer_format(&header,
                         "%s\"%s\":{\"dtype\":\"%s\",\"shape\":%s,\"data_offsets\":[%zu,%zu]}",
                         p == 0 ? "" : ",", parts[p].name, parts[p].dtype, parts[p].shape, at,
                         at + parts[p].bytes);
        at += parts[p].bytes;
    }
    pe_buffer_str(&header, "}");
    const uint64_t bytes = header.bytes;
    pe_buffer_add(out, &bytes, sizeof bytes);
    pe_buffer_add(out, header.data, header.bytes);
    for (size_t p = 0; p < n; p++)
        pe_buffer_add(out, parts[p].data, parts[p].bytes);
    pe_buffer_free(&header);
}

static void put_number(size_t number, size_t bytes, pe_buffer *out)
{
    for (; bytes-- > 0; number >>= 8)
        pe_buffer_add(out, &(char){(char)number}, 1);
}

/* What an entry and its row in the directory have in common, from the version on; no checksum. */
static void put_entry(const part *of, pe_buffer *out)
{
    put_number(20, 2, out);
    put_number(0, 2 + 2 + 2 + 2 + 4, out);
    put_number(of->bytes, 4, out);
    put_number(of->bytes, 4, out);
    put_number(strlen(of->name) + 4, 2, out);
    put_number(0, 2, out); /* no more fields */
}

void parts_npz(const part *parts, size_t n, pe_buffer *out)
{
    pe_buffer directory = {0};
    const size_t begin = out->bytes;
    for (size_t p = 0; p < n; p++) {
        pe_buffer_str(&directory, "PK\x01\x02\x14");
        put_number(0, 1, &directory);
        put_entry(&parts[p], &directory);
        put_number(0, 2 + 2 + 2 + 4, &directory); /* no comment; attributes */
        put_number(out->bytes - begin, 4, &directory);
        pe_buffer_format(&directory, "%s.npy", parts[p].name);
        pe_buffer_str(out, "PK\x03\x04");
        put_entry(&parts[p], out);
        pe_buffer_format(out, "%s.npy", parts[p].name);
        pe_buffer_add(out, parts[p].data, parts[p].bytes);
    }
    const size_t at = out->bytes - begin;
    pe_buffer_add(out, directory.data, directory.bytes);
    pe_buffer_str(out, "PK\x05\x06");
    put_number(0, 4, out);
    put_number(n, 2, out);
    put_number(n, 2, out);
    put_number(directory.bytes, 4, out);
    put_number(at, 4, out);
    put_number(0, 2, out);
    pe_buffer_free(&directory);
}

reply parts_verify(const test_server *server, const char *query, const char *type,
                   const pe_buffer *body)
{
    char target[700], line[100];
    snprintf(target, sizeof target, "/v1/verify?%s", query);
    snprintf(line, sizeof line, "Content-Type: %s", type);
    const char *const headers[] = {line, NULL};
    return fetch(server, "POST", target, headers, body->data, body->bytes);
}
