/* SPDX-License-Identifier: MIT */
/* head.c - the header of a request: method, path, query, and the fields that something here reads. */
#include "http/request/head.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/percent.h"

/* ---- the first line ---- */

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

void pe_target_split(pe_request *request)
{
    const char *path = request->target;
    if (strncmp(path, "http://", 7) == 0) {
        path += 7 + strcspn(path + 7, "/?");
        if (*path != '/')
            path = "/"; /* RFC 9112, 3.2.1: an empty path is "/" */
    }
    size_t bytes = strcspn(path, "?");
    /* The path with its unreserved characters decoded (RFC 3986, 6.2.2.2), cut to what fits. */
    char *out = request->path;
    const size_t room = sizeof request->path;
    size_t used = 0;
    for (size_t i = 0; i < bytes && used + 1 < room; i++) {
        const int byte = pe_percent_byte(path + i, path + bytes);
        const bool decode = byte > 0 && (isalnum(byte) != 0 || strchr("-._~", byte) != NULL);
        out[used++] = decode ? (char)byte : path[i];
        i += decode ? 2 : 0;
    }
    out[used] = '\0';
    request->query = path + bytes + (path[bytes] == '?' ? 1 : 0);
    request->query_bytes = strlen(request->query);
}

void pe_target_read_method(pe_request *request, const char *method)
{
    size_t bytes = strnlen(method, sizeof request->method_text - 1);
    memcpy(request->method_text, method, bytes);
    request->method_text[bytes] = '\0';
    for (const struct pe_method_name *known = pe_method_names; known->name != NULL; known++)
        if (strcmp(method, known->name) == 0)
            request->method = known->method;
}

/* ---- its fields ---- */

typedef struct known_header {
    const char *name;
    size_t bytes;
    bool once;
} known_header;

static const known_header known[PE_HEADERS] = {
#define KNOWN(name, text, once) {text, sizeof(text) - 1, once},
    PE_HEADER_MAP(KNOWN)
#undef KNOWN
};

typedef struct gathering {
    pe_request *request;
    const char *twice; /* a field that may not be */
    bool failed;       /* no memory */
} gathering;

static bool join(pe_request *request, size_t which, const char *value)
{
    char *joined;
    if (asprintf(&joined, "%s, %s", request->header[which], value) < 0)
        return false;
    free(request->joined[which]);
    request->joined[which] = joined;
    request->header[which] = joined;
    return true;
}

static enum MHD_Result keep(void *context, enum MHD_ValueKind kind PE_UNUSED, const char *name,
                            size_t name_bytes, const char *value, size_t value_bytes PE_UNUSED)
{
    gathering *to = context;
    pe_request *request = to->request;
    for (size_t which = 0; which < PE_HEADERS; which++) {
        if (known[which].bytes != name_bytes ||
            strncasecmp(known[which].name, name, name_bytes) != 0)
            continue;
        if (value == NULL)
            value = "";
        if (request->header[which] == NULL)
            request->header[which] = value;
        else if (known[which].once)
            to->twice = known[which].name;
        else if (!join(request, which, value))
            to->failed = true;
    }
    return to->failed ? MHD_NO : MHD_YES;
}

pe_status pe_fields_read(pe_request *request, pe_problem *why)
{
    gathering to = {.request = request};
    MHD_get_connection_values_n(request->connection, MHD_HEADER_KIND, keep, &to);
    if (to.twice != NULL)
        return pe_fail(why, PE_MALFORMED_REQUEST, "", "the request has two fields %s", to.twice);
    return to.failed ? pe_fail_memory(why) : PE_OK;
}
