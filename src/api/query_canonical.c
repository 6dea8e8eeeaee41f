/* SPDX-License-Identifier: MIT */
/* query_canonical.c - the query string that all equal requests share. */
#include <string.h>

#include "api/query.h"

/* Names are compared up to their '='. */
static bool name_before(const char *a, size_t a_bytes, const char *b)
{
    size_t name = (size_t)((const char *)memchr(a, '=', a_bytes) - a);
    int order = strncmp(a, b, name);
    return order != 0 ? order < 0 : strlen(b) > name;
}

static void put(pe_buffer *out, size_t start, const char *text, size_t bytes)
{
    if (out->bytes > start)
        pe_buffer_str(out, "&");
    pe_buffer_add(out, text, bytes);
}

static void put_representation(pe_buffer *out, size_t start, const char *name, const char *value)
{
    put(out, start, name, strlen(name));
    pe_buffer_str(out, "=");
    pe_buffer_str(out, value);
}

/* What differs from the default, sorted by name; NULL where it does not. */
static void representation_values(const pe_query *query, const pe_format *format,
                                  const char *value[3])
{
    const bool json = format == pe_formats[0];
    value[0] = json && query->base64 ? "base64" : NULL;
    value[1] = json && !query->names_json ? NULL : format->name;
    value[2] = !format->holds_many && query->tensor[0] != '\0' ? query->tensor : NULL;
}

void pe_query_canonical_string(const pe_query *query, const pe_format *format, pe_buffer *out)
{
    static const char *const names[3] = {"encoding_format", "format", "tensor"};
    const size_t start = out->bytes;
    const char *value[3];
    pe_buffer of_values = {0};
    representation_values(query, format, value);
    pe_values_query(&query->values, &of_values);

    const char *at = pe_buffer_text(&of_values),
               *end = at + (of_values.failed ? 0 : of_values.bytes);
    for (size_t i = 0; i < PE_LEN(names); i++) {
        if (value[i] == NULL)
            continue;
        while (at < end && name_before(at, (size_t)(end - at), names[i])) {
            size_t bytes = strcspn(at, "&");
            put(out, start, at, bytes);
            at += at + bytes < end ? bytes + 1 : bytes;
        }
        put_representation(out, start, names[i], value[i]);
    }
    if (at < end)
        put(out, start, at, (size_t)(end - at));
    out->failed |= of_values.failed;
    pe_buffer_free(&of_values);
}
