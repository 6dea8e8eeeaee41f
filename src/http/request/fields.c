/* SPDX-License-Identifier: MIT */
/* fields.c - the fields of a request's header that something here reads. */
#include "http/request/fields.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

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
    const char *before = request->header[which];
    const size_t used = strlen(before);
    char *joined = malloc(used + strlen(value) + 3);
    if (joined == NULL)
        return false;
    memcpy(joined, before, used);
    memcpy(joined + used, ", ", 2);
    memcpy(joined + used + 2, value, strlen(value) + 1);
    free(request->joined[which]);
    request->joined[which] = joined;
    request->header[which] = joined;
    return true;
}

static enum MHD_Result keep(void *context, enum MHD_ValueKind kind, const char *name,
                            size_t name_bytes, const char *value, size_t value_bytes)
{
    (void)kind;
    (void)value_bytes;
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
