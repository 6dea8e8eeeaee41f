/* SPDX-License-Identifier: MIT */
/* request.c - one request: what has arrived, how far it is, and the reply that was decided. */
#include "http/request/request.h"

#include <ctype.h>
#include <nettle/base16.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/percent.h"
#include "http/connection/progress.h"

const struct pe_method_name pe_method_names[] = {{PE_METHOD_GET, "GET"},
                                                 {PE_METHOD_HEAD, "HEAD"},
                                                 {PE_METHOD_POST, "POST"},
                                                 {PE_METHOD_OPTIONS, "OPTIONS"},
                                                 {0}};

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
    request->query = pe_slice_of(path + bytes + (path[bytes] == '?' ? 1 : 0));
}

void pe_target_read_method(pe_request *request, const char *method)
{
    size_t bytes = strnlen(method, sizeof request->method_text - 1);
    memcpy(request->method_text, method, bytes);
    request->method_text[bytes] = '\0';
    for (const struct pe_method_name *one = pe_method_names; one->name != NULL; one++)
        if (strcmp(method, one->name) == 0)
            request->method = one->method;
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

static enum MHD_Result keep(void *context, enum MHD_ValueKind kind PE_UNUSED, const char *name,
                            size_t name_bytes, const char *value, size_t value_bytes PE_UNUSED)
{
    gathering *to = context;
    pe_request *request = to->request;
    char *joined;
    for (size_t which = 0; which < PE_HEADERS; which++) {
        if (known[which].bytes != name_bytes ||
            strncasecmp(known[which].name, name, name_bytes) != 0)
            continue;
        if (value == NULL)
            value = "";
        if (request->header[which] == NULL) {
            request->header[which] = value;
        } else if (known[which].once) {
            to->twice = known[which].name;
        } else if (asprintf(&joined, "%s, %s", request->header[which], value) >= 0) {
            free(request->joined[which]);
            request->header[which] = request->joined[which] = joined;
        } else {
            to->failed = true;
        }
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

/* ---- its id ---- */

#define ID_LENGTH_MAX 128

bool pe_request_id_valid(const char *id)
{
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    size_t length = strspn(id, allowed);
    return length >= 1 && length <= ID_LENGTH_MAX && id[length] == '\0';
}

/* Random bytes, which tell nobody how many requests there are. The start has waited until the system
 * had some (cache/hash.c). */
void pe_request_id_make(char out[PE_REQUEST_ID_BYTES])
{
    uint8_t id[16] = {0};
    (void)!getrandom(id, sizeof id, 0);
    base16_encode_update(out, sizeof id, id);
    out[PE_REQUEST_ID_BYTES - 1] = '\0';
}

/* ---- how far it is ---- */

const char *pe_request_id(pe_request *request)
{
    if (request->id == NULL) {
        pe_request_id_make(request->id_made);
        request->id = request->id_made;
    }
    return request->id;
}

pe_outcome pe_request_defer(pe_request *request, pe_job_kind kind, pe_step *step)
{
    request->next.step = step;
    request->next.kind = kind;
    return PE_DEFERRED;
}

bool pe_request_has_turn(const pe_request *request, pe_job_kind kind)
{
    return request->stage == PE_STAGE_WORKING &&
           (request->next.kind == kind || request->next.kind == PE_JOB_HEAVY);
}

uint64_t pe_request_price(const pe_request *request)
{
    const uint64_t price = pe_price_sum(&request->price);
    return price > request->body.bytes ? price : request->body.bytes;
}
