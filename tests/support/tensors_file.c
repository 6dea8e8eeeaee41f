/* SPDX-License-Identifier: MIT */
/* tensors_file.c - a safetensors file of a few tensors. */
#include "support/tensors_file.h"

#include <stdint.h>

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

reply parts_verify(const test_server *server, const char *query, const char *type,
                   const pe_buffer *body)
{
    char target[700], line[100];
    snprintf(target, sizeof target, "/v1/verify?%s", query);
    snprintf(line, sizeof line, "Content-Type: %s", type);
    const char *const headers[] = {line, NULL};
    return fetch(server, "POST", target, headers, body->data, body->bytes);
}
