/* SPDX-License-Identifier: MIT */
/* target.c - the first line of a request: method, path and query. */
#include "http/request/target.h"

#include <stdlib.h>
#include <string.h>

#include "base/percent.h"

bool pe_target_keep(pe_request *request, const char *target)
{
    size_t bytes = strlen(target);
    if (bytes + 1 > request->target_capacity) {
        char *larger = realloc(request->target, bytes + 1);
        if (larger == NULL)
            return false;
        request->target = larger;
        request->target_capacity = bytes + 1;
    }
    memcpy(request->target, target, bytes + 1);
    request->target_bytes = bytes;
    return true;
}

static bool is_unreserved(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

/* The path with its unreserved characters decoded (RFC 3986, 6.2.2.2), cut to what fits. */
static void read_path(const char *from, size_t bytes, char *out, size_t room)
{
    size_t used = 0;
    for (size_t i = 0; i < bytes && used + 1 < room; i++) {
        const int byte = pe_percent_byte(from + i, from + bytes);
        const bool decode = byte >= 0 && is_unreserved(byte);
        out[used++] = decode ? (char)byte : from[i];
        i += decode ? 2 : 0;
    }
    out[used] = '\0';
}

void pe_target_split(pe_request *request)
{
    const char *path = request->target;
    if (strncmp(path, "http://", 7) == 0) {
        path += 7 + strcspn(path + 7, "/?");
        if (*path != '/')
            path = "/"; /* RFC 9112, 3.2.1: an empty path is "/" */
    }
    size_t bytes = strcspn(path, "?");
    read_path(path, bytes, request->path, sizeof request->path);
    request->has_query = path[bytes] == '?';
    request->query = path + bytes + (request->has_query ? 1 : 0);
    request->query_bytes = strlen(request->query);
}

void pe_target_read_method(pe_request *request, const char *method)
{
    static const struct {
        const char *name;
        pe_method method;
    } known[] = {
        {"GET", PE_METHOD_GET},
        {"HEAD", PE_METHOD_HEAD},
        {"POST", PE_METHOD_POST},
        {"OPTIONS", PE_METHOD_OPTIONS},
    };
    size_t bytes = strnlen(method, sizeof request->method_text - 1);
    memcpy(request->method_text, method, bytes);
    request->method_text[bytes] = '\0';
    for (size_t i = 0; i < PE_LEN(known); i++)
        if (strcmp(method, known[i].name) == 0)
            request->method = known[i].method;
}
