/* SPDX-License-Identifier: MIT */
/* framing.c - where requests begin and end in the bytes that arrive. */
#include "http/connection/framing.h"

#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/percent.h"
#include "base/slice.h"

/* The line before a chunk, with its extension. */
#define SIZE_LINE_MAX 1024

/* Hexadecimal digits of a chunk's size that are looked at after leading zeros. */
#define SIZE_DIGITS_MAX 15

typedef struct reader {
    pe_framing *framing;
    const pe_framing_limits *limits;
    pe_arrived *arrived;
    bool waits; /* for more bytes */
} reader;

/* One line, without its end. */
typedef struct line {
    char *text;
    size_t bytes;
    size_t whole; /* with its end */
    bool bare;    /* it ends without CR */
} line;

static pe_status refuse(const reader *r, pe_status status, const char *complaint)
{
    r->framing->complaint = complaint;
    return status;
}

static pe_status malformed(const reader *r, const char *complaint)
{
    return refuse(r, PE_MALFORMED_REQUEST, complaint);
}

/* ---- characters ---- */

/*
 * T: a token holds it: letters, digits and !#$%&'*+-.^_`|~ (RFC 9110, 5.6.2). H: a host does:
 * letters, digits and !$%&'()*+,-.:;=[]_~ (RFC 3986, 3.2.2 and 3.2.3). B: both.
 */
enum { T = 1, H = 2, B = T | H };

/* clang-format off */
static const uint8_t kinds[256] = {
    [' '] =
    0, B, 0, T, B, B, B, B, H, H, B, B, H, B, B, 0,
    B, B, B, B, B, B, B, B, B, B, H, H, 0, H, 0, 0,
    0, B, B, B, B, B, B, B, B, B, B, B, B, B, B, B,
    B, B, B, B, B, B, B, B, B, B, B, H, 0, H, T, B,
    T, B, B, B, B, B, B, B, B, B, B, B, B, B, B, B,
    B, B, B, B, B, B, B, B, B, B, B, 0, T, 0, B, 0,
};
/* clang-format on */

/* How many characters from the first are of a kind. */
static size_t span(const char *text, size_t bytes, unsigned kind)
{
    size_t n = 0;
    while (n < bytes && (kinds[(unsigned char)text[n]] & kind) != 0)
        n++;
    return n;
}

#define EACH(byte) (UINT64_MAX / 255 * (byte))

/* How many from the first, eight by eight, hold no character below `least` (at most 128) and no
 * DEL. */
static size_t skip_words(const char *text, size_t bytes, unsigned least)
{
    size_t n = 0;
    for (uint64_t word; n + sizeof word <= bytes; n += sizeof word) {
        memcpy(&word, text + n, sizeof word);
        const uint64_t other = word ^ EACH(0x7f); /* 0 for DEL */
        const uint64_t low = ((word - EACH(least)) & ~word) | ((other - EACH(1)) & ~other);
        if ((low & EACH(0x80)) != 0)
            break;
    }
    return n;
}

/* How many are neither spaces nor control characters. */
static size_t span_visible(const char *text, size_t bytes)
{
    size_t n = skip_words(text, bytes, ' ' + 1);
    while (n < bytes && (unsigned char)text[n] > ' ' && text[n] != 0x7f)
        n++;
    return n;
}

/* Is it what a value can hold (RFC 9110, 5.5)? */
static bool is_text(const char *text, size_t bytes)
{
    for (size_t i = skip_words(text, bytes, ' '); i < bytes; i++)
        if (((unsigned char)text[i] < ' ' && text[i] != '\t') || text[i] == 0x7f)
            return false;
    return true;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* ---- lines ---- */

/* What has arrived and not passed, but for the lines of a header that have been read. */
static bool next_line(reader *r, line *out)
{
    const pe_arrived *arrived = r->arrived;
    const size_t from = arrived->passed + r->framing->header.at;
    char *text = arrived->data + from;
    const char *end = memchr(text, '\n', arrived->bytes - from);
    r->waits = end == NULL;
    if (end == NULL)
        return false;
    const size_t bytes = (size_t)(end - text);
    const bool bare = bytes == 0 || text[bytes - 1] != '\r';
    *out = (line){text, bare ? bytes : bytes - 1, bytes + 1, bare};
    return true;
}

static size_t waiting(const reader *r)
{
    return r->arrived->bytes - r->arrived->passed;
}

static void pass(reader *r, size_t bytes)
{
    r->arrived->passed += bytes;
}

/* ---- the request line ---- */

static pe_framing_text place(const reader *r, const char *text, size_t bytes)
{
    const char *first = r->arrived->data + r->arrived->passed;
    return (pe_framing_text){(uint32_t)(text - first), (uint32_t)bytes};
}

static pe_status read_request_line(reader *r, const line *l)
{
    static const char protocol[] = "HTTP/1.";
    pe_framing_header *header = &r->framing->header;
    const size_t method = span(l->text, l->bytes, T);
    if (method == 0 || method == l->bytes || l->text[method] != ' ')
        return malformed(r, "the method is no token that a space follows");
    const char *target = l->text + method + 1;
    const size_t rest = l->bytes - method - 1, bytes = span_visible(target, rest);
    header->target = place(r, target, bytes);
    header->head = method == 4 && memcmp(l->text, "HEAD", 4) == 0;
    header->begun = true;
    if (bytes == rest && bytes > 0)
        return malformed(r, "the request line names no version of HTTP");
    if (bytes == 0 || target[bytes] != ' ')
        return malformed(r, "the request target is empty or holds a control character");
    const char *version = target + bytes + 1;
    if (rest - bytes - 1 != sizeof protocol ||
        memcmp(version, protocol, sizeof protocol - 1) != 0 ||
        (version[7] != '0' && version[7] != '1'))
        return malformed(r, "the request line must end in HTTP/1.1 or HTTP/1.0 after one space");
    header->http_1_0 = version[7] == '0';
    return PE_OK;
}

/* The library does not look for a field of this name. */
static void hide_name(const reader *r, uint32_t at)
{
    memcpy(r->arrived->data + r->arrived->passed + at, "Unread", 6);
}

/* ---- one field ---- */

/* Spaces at the end of a value are no part of it (RFC 9112, 5.1), but the library takes them for
 * one; those before it, it skips. */
static pe_slice trim(char *text, size_t bytes)
{
    size_t used = bytes, from = 0;
    while (used > 0 && is_blank(text[used - 1]))
        used--;
    if (used < bytes) {
        memmove(text + bytes - used, text, used);
        memset(text, ' ', bytes - used);
    }
    while (from < bytes && is_blank(text[from]))
        from++;
    return (pe_slice){text + from, bytes - from};
}

/* A field's name is *name bytes long, and its value holds text. */
static pe_status check_field(const reader *r, const line *l, size_t *name)
{
    if (is_blank(*l->text))
        return malformed(r, "a header field is folded over several lines");
    *name = span(l->text, l->bytes, T);
    if (*name == 0 || *name == l->bytes || l->text[*name] != ':')
        return malformed(r, "a header field's name is no token that a colon follows");
    if (!is_text(l->text + *name + 1, l->bytes - *name - 1))
        return malformed(r,
                         "a header field's value holds a NUL, a CR or another control character");
    return PE_OK;
}

/* Fields that tell where a request ends and whom it is for, and those that the library would
 * misread: it keeps each cookie in the connection's memory, and nothing here reads one. */
typedef enum field {
    HOST,
    CONTENT_LENGTH,
    TRANSFER_ENCODING,
    CONNECTION,
    X_REQUEST_ID,
    COOKIE,
    EXPECT,
    FIELDS
} field;

static const pe_slice field_names[FIELDS] = {
    [HOST] = {"Host", 4},
    [CONTENT_LENGTH] = {"Content-Length", 14},
    [TRANSFER_ENCODING] = {"Transfer-Encoding", 17},
    [CONNECTION] = {"Connection", 10},
    [X_REQUEST_ID] = {"X-Request-Id", 12},
    [COOKIE] = {"Cookie", 6},
    [EXPECT] = {"Expect", 6},
};

static pe_status read_length(reader *r, pe_slice value)
{
    uint64_t length = 0;
    for (size_t i = 0; i < value.bytes; i++) {
        const unsigned digit = (unsigned char)value.text[i] - (unsigned)'0';
        if (digit > 9)
            return malformed(r, "Content-Length is no number");
        if (length > ((uint64_t)INT64_MAX - digit) / 10)
            return refuse(r, PE_BODY_TOO_LARGE, "Content-Length is beyond every limit");
        length = length * 10 + digit;
    }
    r->framing->header.length = length;
    return value.bytes > 0 ? PE_OK : malformed(r, "Content-Length is empty");
}

static pe_status read_value(reader *r, field which, pe_slice value)
{
    pe_framing_header *header = &r->framing->header;
    switch (which) {
    case HOST:
        header->hosts = header->hosts == 0 ? 1 : 2;
        return span(value.text, value.bytes, H) == value.bytes
                   ? PE_OK
                   : malformed(r, "Host holds a character that no host can hold");
    case CONTENT_LENGTH:
        header->lengths = header->lengths == 0 ? 1 : 2;
        return read_length(r, value);
    case TRANSFER_ENCODING:
        header->codings = header->codings == 0 ? 1 : 2;
        return value.bytes == 7 && strncasecmp(value.text, "chunked", 7) == 0
                   ? PE_OK
                   : malformed(r, "the only Transfer-Encoding read is chunked");
    case CONNECTION:
        for (size_t at = 0, bytes; at < value.bytes; at += bytes + 1) {
            bytes = span(value.text + at, value.bytes - at, T);
            header->closes |= bytes == 5 && strncasecmp(value.text + at, "close", 5) == 0;
        }
        return PE_OK;
    case X_REQUEST_ID:
        header->id = place(r, value.text, value.bytes);
        return PE_OK;
    case EXPECT: /* one is kept until it is known whether there is a body */
        if (header->expect == 0) {
            header->expect = header->at;
            return PE_OK;
        }
        break;
    case COOKIE:
    case FIELDS:
        break;
    }
    hide_name(r, header->at);
    return PE_OK;
}

static pe_status read_field(reader *r, const line *l)
{
    size_t name;
    if (check_field(r, l, &name) != PE_OK)
        return PE_MALFORMED_REQUEST;
    const pe_slice value = trim(l->text + name + 1, l->bytes - name - 1);
    r->framing->header.fields++;
    for (field which = 0; which < FIELDS; which++)
        if (field_names[which].bytes == name &&
            strncasecmp(field_names[which].text, l->text, name) == 0)
            return read_value(r, which, value);
    return PE_OK;
}

/* ---- a header ---- */

/* One row per way in which two readers could disagree about the request. */
static pe_status check_header(const reader *r)
{
    const pe_framing_header *header = &r->framing->header;
    const struct {
        bool bad;
        const char *complaint;
    } rows[] = {
        {header->hosts > 1, "the request names two hosts"},
        {header->hosts == 0 && !header->http_1_0, "the request names no host"},
        {header->lengths > 0 && header->codings > 0,
         "Content-Length and Transfer-Encoding exclude another"},
        {header->lengths > 1, "Content-Length is given twice"},
        {header->codings > 1, "Transfer-Encoding is given twice"},
        {header->codings > 0 && header->http_1_0, "HTTP/1.0 has no Transfer-Encoding"},
    };
    for (size_t i = 0; i < PE_LEN(rows); i++)
        if (rows[i].bad)
            return malformed(r, rows[i].complaint);
    return PE_OK;
}

static pe_status check_size(const reader *r, size_t bytes)
{
    if (bytes + r->framing->header.fields * r->limits->field_bytes <= r->limits->header_bytes)
        return PE_OK;
    return refuse(r, PE_HEADER_TOO_LARGE,
                  "the request's header leaves no room for that of an answer; both together have "
                  "connection_memory_bytes");
}

/* The request ends here. */
static void end_request(pe_framing *framing)
{
    const bool closes = framing->header.closes;
    framing->header = (pe_framing_header){0};
    framing->trailer_bytes = 0;
    framing->part = closes ? PE_FRAMING_OVER : PE_FRAMING_HEADER;
}

static pe_status end_header(reader *r)
{
    pe_framing *framing = r->framing;
    pe_framing_header *header = &framing->header;
    if (check_header(r) != PE_OK)
        return PE_MALFORMED_REQUEST;
    /* Where there is no body to wait for, the library takes the next request for one. */
    if (header->expect > 0 && header->length == 0 && header->codings == 0)
        hide_name(r, header->expect);
    pass(r, header->at);
    header->at = 0;
    framing->requests++;
    framing->left = header->length;
    if (header->codings > 0)
        framing->part = PE_FRAMING_SIZE;
    else if (framing->left > 0)
        framing->part = PE_FRAMING_BODY;
    else
        end_request(framing);
    return PE_OK;
}

static pe_status read_header(reader *r)
{
    line l;
    pe_framing_header *header = &r->framing->header;
    if (!next_line(r, &l)) {
        /* What is no header need not wait for the end of its line: no method begins like this. */
        const char *first = r->arrived->data + r->arrived->passed;
        if (waiting(r) > 0 && !header->begun && *first != '\r' && span(first, 1, T) == 0)
            return malformed(r, "the method is no token that a space follows");
        return check_size(r, waiting(r));
    }
    if (l.bytes == 0 && !header->begun) { /* RFC 9112, 2.2: a client may send some before it */
        pass(r, l.whole);
        return PE_OK;
    }
    pe_status status = PE_OK;
    if (l.bytes > 0)
        status = header->begun ? read_field(r, &l) : read_request_line(r, &l);
    header->at += (uint32_t)l.whole;
    if (status == PE_OK)
        status = check_size(r, header->at);
    return status == PE_OK && l.bytes == 0 ? end_header(r) : status;
}

/* ---- a body ---- */

static pe_status read_body(reader *r)
{
    pe_framing *framing = r->framing;
    const size_t here = waiting(r);
    const size_t step = framing->left < here ? (size_t)framing->left : here;
    pass(r, step);
    framing->left -= step;
    r->waits = framing->left > 0;
    if (framing->left > 0)
        return PE_OK;
    if (framing->part == PE_FRAMING_CHUNK)
        framing->part = PE_FRAMING_CHUNK_END;
    else
        end_request(framing);
    return PE_OK;
}

/* After the size nothing, or an extension: then zeros take its place. */
static bool hide_extension(const line *l, size_t digits)
{
    size_t at = digits;
    while (at < l->bytes && is_blank(l->text[at]))
        at++;
    if (at == l->bytes)
        return at == digits;
    if (l->text[at] != ';' || !is_text(l->text + at, l->bytes - at))
        return false;
    memmove(l->text + l->bytes - digits, l->text, digits);
    memset(l->text, '0', l->bytes - digits);
    return true;
}

static pe_status read_size(reader *r)
{
    line l;
    pe_framing *framing = r->framing;
    const bool whole = next_line(r, &l);
    if ((whole ? l.whole : waiting(r)) > SIZE_LINE_MAX)
        return malformed(r, "the line before a chunk is too long");
    if (!whole)
        return PE_OK;
    size_t digits = 0, counted = 0;
    for (framing->left = 0; digits < l.bytes && pe_hex_digit(l.text[digits]) >= 0; digits++) {
        framing->left = framing->left * 16 + (uint64_t)pe_hex_digit(l.text[digits]);
        counted += counted > 0 || framing->left > 0;
    }
    if (counted > SIZE_DIGITS_MAX || digits == 0 || l.bare || !hide_extension(&l, digits))
        return malformed(r, "a chunk must begin with its size in hexadecimal digits, perhaps an "
                            "extension after a semicolon, and CRLF");
    pass(r, l.whole);
    framing->part = framing->left > 0 ? PE_FRAMING_CHUNK : PE_FRAMING_TRAILER;
    return PE_OK;
}

static pe_status read_chunk_end(reader *r)
{
    const char *end = r->arrived->data + r->arrived->passed;
    const size_t here = waiting(r);
    if ((here > 0 && end[0] != '\r') || (here > 1 && end[1] != '\n'))
        return malformed(r, "a chunk must end in CRLF after as many bytes as its size says");
    r->waits = here < 2;
    if (r->waits)
        return PE_OK;
    pass(r, 2);
    r->framing->part = PE_FRAMING_SIZE;
    return PE_OK;
}

/* Its lines are taken out, since nothing reads them: hundreds would exhaust the connection's
 * memory. */
static pe_status read_trailer(reader *r)
{
    line l;
    size_t name;
    pe_framing *framing = r->framing;
    pe_arrived *arrived = r->arrived;
    const bool whole = next_line(r, &l);
    if (framing->trailer_bytes + (whole ? l.whole : waiting(r)) > r->limits->header_bytes)
        return refuse(r, PE_HEADER_TOO_LARGE, "the trailer is larger than a header can be");
    if (!whole)
        return PE_OK;
    framing->trailer_bytes += l.whole;
    if (l.bytes == 0) {
        pass(r, l.whole);
        end_request(framing);
        return PE_OK;
    }
    if (check_field(r, &l, &name) != PE_OK)
        return PE_MALFORMED_REQUEST;
    const char *rest = l.text + l.whole;
    memmove(l.text, rest, (size_t)(arrived->data + arrived->bytes - rest));
    arrived->bytes -= l.whole;
    return PE_OK;
}

/* ---- all of it ---- */

pe_status pe_framing_read(pe_framing *framing, const pe_framing_limits *limits, pe_arrived *arrived)
{
    static pe_status (*const read[])(reader *) = {
        [PE_FRAMING_HEADER] = read_header,       [PE_FRAMING_BODY] = read_body,
        [PE_FRAMING_SIZE] = read_size,           [PE_FRAMING_CHUNK] = read_body,
        [PE_FRAMING_CHUNK_END] = read_chunk_end, [PE_FRAMING_TRAILER] = read_trailer,
    };
    reader r = {.framing = framing, .limits = limits, .arrived = arrived};
    pe_status status = PE_OK;
    while (status == PE_OK && !r.waits && arrived->passed < arrived->bytes) {
        if (framing->part != PE_FRAMING_OVER)
            status = read[framing->part](&r);
        else
            arrived->bytes = arrived->passed; /* dropped */
    }
    return status;
}
