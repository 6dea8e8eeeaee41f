/* SPDX-License-Identifier: MIT */
/* framing.c - reads the request's header, and refuses what the library lets pass. */
#include "http/request/framing.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct known_header {
    const char *name;
    size_t bytes;
} known_header;

static const known_header known[PE_HEADERS] = {
#define KNOWN(name, text) {text, sizeof(text) - 1},
    PE_HEADER_MAP(KNOWN)
#undef KNOWN
};

/*
 * A walk over the header. The library parses in place: it overwrites colons and line ends by NUL,
 * and `at` follows it through its buffer. What lies between two of its strings is then NUL, space
 * or tab; anything else is text that a NUL byte of the client's hid from us, and a name elsewhere
 * comes from a folded line.
 */
typedef struct header_walk {
    pe_request *request;
    const char *at, *end;
    pe_problem *why;
    pe_status status;
} header_walk;

static pe_status malformed(header_walk *walk, const char *detail)
{
    return walk->status = pe_fail(walk->why, PE_MALFORMED_REQUEST, "", "%s", detail);
}

/* From walk->at up to `to` nothing is hidden; go there. */
static bool nothing_between(header_walk *walk, const char *to)
{
    if (to < walk->at || to > walk->end)
        return false;
    for (; walk->at < to; walk->at++)
        if (*walk->at != '\0' && *walk->at != ' ' && *walk->at != '\t' && *walk->at != '\r' &&
            *walk->at != '\n')
            return false;
    return true;
}

/* RFC 9110, 5.6.2. */
static bool is_token(const char *text, size_t bytes)
{
    static const char other[] = "!#$%&'*+-.^_`|~";
    for (size_t i = 0; i < bytes; i++) {
        char c = text[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!letter && (c == '\0' || strchr(other, c) == NULL))
            return false;
    }
    return bytes > 0;
}

static pe_status join(header_walk *walk, size_t which, const char *value)
{
    pe_request *request = walk->request;
    const char *before = request->header[which];
    size_t room = strlen(before) + strlen(value) + 3;
    char *joined = malloc(room);
    if (joined == NULL)
        return walk->status = pe_fail_memory(walk->why);
    size_t used = strlen(before);
    memcpy(joined, before, used);
    memcpy(joined + used, ", ", 2);
    memcpy(joined + used + 2, value, strlen(value) + 1);
    free(request->joined[which]);
    request->joined[which] = joined;
    request->header[which] = joined;
    return PE_OK;
}

static pe_status keep(header_walk *walk, const char *name, size_t bytes, const char *value)
{
    pe_request *request = walk->request;
    for (size_t which = 0; which < PE_HEADERS; which++) {
        if (known[which].bytes != bytes || strncasecmp(known[which].name, name, bytes) != 0)
            continue;
        if (request->header_count[which]++ > 0)
            return join(walk, which, value);
        request->header[which] = value;
    }
    return PE_OK;
}

static enum MHD_Result visit(void *context, enum MHD_ValueKind kind, const char *name,
                             size_t name_bytes, const char *value, size_t value_bytes)
{
    (void)kind;
    header_walk *walk = context;
    if (value == NULL)
        value = "";
    if (!is_token(name, name_bytes))
        malformed(walk, "a header field's name holds a character that no name can hold");
    else if (!nothing_between(walk, name))
        malformed(walk, "a header field holds a NUL byte or is folded over several lines");
    else if (memchr(value, '\0', value_bytes) != NULL)
        malformed(walk, "a header field's value holds a NUL byte");
    else if (keep(walk, name, name_bytes, value) == PE_OK)
        walk->at = value_bytes > 0 ? value + value_bytes : name + name_bytes + 1;
    return walk->status == PE_OK ? MHD_YES : MHD_NO;
}

static bool all_digits(const char *text)
{
    return *text != '\0' && text[strspn(text, "0123456789")] == '\0';
}

/* One row per way in which two readers could disagree about the request. */
static pe_status check_fields(header_walk *walk, bool http_1_0)
{
    const pe_request *request = walk->request;
    const char *length = request->header[PE_HEADER_CONTENT_LENGTH];
    const char *coding = request->header[PE_HEADER_TRANSFER_ENCODING];
    unsigned hosts = request->header_count[PE_HEADER_HOST];
    const struct {
        bool bad;
        const char *detail;
    } rows[] = {
        {hosts > 1, "the request names two hosts"},
        {hosts == 0 && !http_1_0, "the request names no host"},
        {length != NULL && coding != NULL, "Content-Length and Transfer-Encoding exclude another"},
        {request->header_count[PE_HEADER_CONTENT_LENGTH] > 1, "Content-Length is given twice"},
        {length != NULL && !all_digits(length), "Content-Length is no number"},
        {coding != NULL && http_1_0, "HTTP/1.0 has no Transfer-Encoding"},
        {coding != NULL && strcasecmp(coding, "chunked") != 0,
         "the only Transfer-Encoding read is chunked"},
    };
    for (size_t i = 0; i < PE_LEN(rows); i++)
        if (rows[i].bad)
            return malformed(walk, rows[i].detail);
    return PE_OK;
}

/* The request line: visible characters only, and nothing hidden behind the target. */
static pe_status check_line(header_walk *walk, const char *method, const char *version)
{
    const pe_request *request = walk->request;
    if (!is_token(method, strlen(method)))
        return malformed(walk, "the method is no token");
    for (size_t i = 0; i < request->target_bytes; i++)
        if ((unsigned char)request->target[i] <= ' ' || request->target[i] == 0x7f)
            return malformed(walk, "the request target holds a space or a control character");
    walk->at = request->target_end;
    if (!nothing_between(walk, version))
        return malformed(walk, "the request target holds a NUL byte");
    walk->at = version + strlen(version);
    return PE_OK;
}

pe_status pe_framing_read(pe_request *request, const char *method, const char *version,
                          pe_problem *why)
{
    const union MHD_ConnectionInfo *size =
        MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    header_walk walk = {.request = request, .why = why, .status = PE_OK};
    walk.end = method + (size != NULL ? size->header_size : 0);
    if (check_line(&walk, method, version) != PE_OK)
        return walk.status;
    MHD_get_connection_values_n(request->connection, MHD_HEADER_KIND, visit, &walk);
    if (walk.status != PE_OK)
        return walk.status;
    if (!nothing_between(&walk, walk.end))
        return malformed(&walk, "a header field holds a NUL byte or is folded over several lines");
    return check_fields(&walk, strcasecmp(version, "HTTP/1.0") == 0);
}
